"""Which of two options, if any, an answer means that names no option key (free-form grading).

BigToM's released code asks a language model there, SimpleToM's counts a wrong answer. Graders are
first held against answers of known meaning (`rewordings`), as OmniToM's judges are (App. B.4), then
applied to a run's `unparsed` answers. A grade is a, b or none; None where a grader gave none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from tomlab.asking import prompts
from tomlab.errors import InputError
from tomlab.judging.rewordings import NONE
from tomlab.judging.thresholds import cross_validated_thresholds
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, ModelSpec, Request
from tomlab.scoring.answers import pairs, visible
from tomlab.scoring.embeddings import embed
from tomlab.scoring.similarity import plain, similarity

KEYS = ("a", "b")  # of the two options, in the order in which they are shown
BY_LIKENESS = ("token_f1", "embedding")
MARGINS = tuple(n / 100 for n in range(0, 61, 2))  # to choose a margin from
GRADE_TOKENS = 16
_UNIT = "{}: {} option"  # an answer and one of its options

# ---- Graders -------------------------------------------------------------------------------------


def exact_grade(text: str, options: Sequence[str]) -> str:
    """The key of the one option whose words stand in `text`, case and punctuation aside."""
    said = f" {plain(text)} "
    held = [key for key, o in zip(KEYS, options, strict=True) if f" {plain(o)} " in said]
    return held[0] if len(held) == 1 else NONE


def nearer(alike: Sequence[float], margin: float) -> str:
    """The key of the option that an answer is more like by over `margin`, else none."""
    gap = alike[0] - alike[1]
    return KEYS[int(gap < 0)] if abs(gap) > margin else NONE


def likeness(
    table: pd.DataFrame, items: pd.DataFrame, kind: str, embedder: ModelSpec | None = None
) -> np.ndarray:
    """How like each answer of `table` (`item_id`, `text`) is to both options, shape (answers, 2).
    kind: token_f1, or embedding, which needs the embedder.
    """
    said = [(row.text, row.choices) for row in _with_items(table, items)]
    texts = list(dict.fromkeys(t for text, options in said for t in (text, *options)))
    embeds = kind == "embedding" and texts
    vectors = dict(zip(texts, embed(texts, embedder), strict=True)) if embeds else None
    found = [similarity(kind, [text], options, vectors)[0] for text, options in said]
    return np.array(found).reshape(-1, 2)


def grades(
    table: pd.DataFrame,
    items: pd.DataFrame,
    judge: str,
    margins: Mapping[str, float],
    embedder: ModelSpec | None = None,
) -> list[str]:
    """What `judge`, `exact` or one of `margins`' kinds of likeness, says of each answer of `table`;
    none of an empty one.
    """
    if judge == "exact":
        return [exact_grade(row.text, row.choices) for row in _with_items(table, items)]
    alike = iter(likeness(table[table["text"] != ""], items, judge, embedder))
    return [nearer(next(alike), margins[judge]) if text else NONE for text in table["text"]]


def grade_requests(
    table: pd.DataFrame,
    items: pd.DataFrame,
    replaced: Mapping[str, str] | None = None,
    *,
    seed: int = 0,
) -> list[Request]:
    """One request an answer to a language model as the grader. replaced: as in `prompts.load`."""
    asked = []
    for row in _with_items(table, items):
        fields = {"question": row.question, "answer": " ".join(row.text.split())}
        fields |= {"option_a": row.choices[0], "option_b": row.choices[1]}
        content = prompts.filled("judges/grade", replaced, **fields)
        asked.append(Request(({"role": "user", "content": content},), GRADE_TOKENS, seed=seed))
    return asked


_GRADE = re.compile(r"\W*(?:(?:answer|grade|option)\W+)?(a|b|none)\W*", re.IGNORECASE)


def parse_grade(text: str) -> str | None:
    """`a`, `b` or `none` if an answer says this alone, marks and "Answer:" aside; else None."""
    said, open_thought = visible(text)
    found = _GRADE.fullmatch(said)
    return found[1].lower() if found and not open_thought else None


def _with_items(table: pd.DataFrame, items: pd.DataFrame) -> Iterator:
    """Each answer of `table` (columns `item_id`, `text`) with its item's question and options."""
    if unknown := sorted(set(table["item_id"]) - set(items["item_id"])):
        raise InputError(f"grading: no item {unknown[0]!r} ({len(unknown)} unknown in all)")
    asked = items.set_index("item_id")[["question", "choices", "answer"]]
    return table[["item_id", "text"]].join(asked, on="item_id").itertuples()


# ---- Calibration ---------------------------------------------------------------------------------


def calibrated(
    made: pd.DataFrame, items: pd.DataFrame, embedder: ModelSpec, folds: int
) -> tuple[pd.DataFrame, dict[str, float]]:
    """The decisions of `exact` and, each by a margin chosen on other groups, of each kind of
    `BY_LIKENESS` on answers known by construction; and the margins to use from now on.
    """
    exact, margins = grades(made, items, "exact", {}), {}
    decided = [to_decisions(made, items, exact, "exact")]
    for kind in BY_LIKENESS:
        alike = likeness(made, items, kind, embedder)
        chosen = cross_validated_thresholds(margin_decisions(made, items, alike), folds)
        margins[kind] = chosen.final
        decided.append(chosen.decisions.assign(judge=kind))
    return pd.concat(decided, ignore_index=True), margins


async def by_language_model(
    table: pd.DataFrame,
    items: pd.DataFrame,
    model: ModelSpec,
    limits: Limits,
    replaced: Mapping[str, str] | None = None,
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """`table` with a language model's `answer` as it came (None: it failed) and `grade`."""
    asked = grade_requests(table, items, replaced, seed=seed)
    replies = await ask(asked, model, limits=limits)
    answers = [response.reply and response.reply.text for response in replies]
    read = [None if answer is None else parse_grade(answer) for answer in answers]
    said = pd.DataFrame({"answer": answers, "grade": read}, index=table.index, dtype=object)
    return table.join(said)


def to_decisions(
    table: pd.DataFrame, items: pd.DataFrame, grades: Sequence[str | None], judge: str
) -> pd.DataFrame:
    """A grader's decisions on `constructed` answers: `judge, group, unit, truth, decision`.

    A unit is an answer and one of its item's options: does it mean that one? grades: one an answer;
    None: not readable, so undecided for both options.
    """
    rows = []
    for row, grade, keys in zip(table.itertuples(), grades, _keys(table, items), strict=True):
        for option, key in zip(("right", "wrong"), keys, strict=True):
            decision = None if pd.isna(grade) else grade == key
            unit = _UNIT.format(row.unit, option)
            rows.append((judge, row.group, unit, row.truth == option, decision))
    columns = ["judge", "group", "unit", "truth", "decision"]
    return pd.DataFrame(rows, columns=columns).astype({"truth": bool, "decision": "boolean"})


def operations(made: pd.DataFrame) -> pd.Series:
    """How the answer of each unit of `to_decisions` was made, for `agreement_by_kind`."""
    of_options = [
        made.set_index(made["unit"].map(lambda unit, o=option: _UNIT.format(unit, o)))["operation"]
        for option in ("right", "wrong")
    ]
    return pd.concat(of_options)


def margin_decisions(table: pd.DataFrame, items: pd.DataFrame, alike: np.ndarray) -> pd.DataFrame:
    """Decisions at each of `MARGINS`, for `cross_validated_thresholds`. alike: by `likeness`."""
    decided = [to_decisions(table, items, [nearer(a, m) for a in alike], "") for m in MARGINS]
    at_each = {m: one["decision"] for m, one in zip(MARGINS, decided, strict=True)}
    return decided[0][["group", "unit", "truth"]].join(pd.DataFrame(at_each))


def _keys(table: pd.DataFrame, items: pd.DataFrame) -> list[tuple[str, str]]:
    """The keys of the right and the wrong option of each answer's item."""
    asked = _with_items(table, items)
    return [KEYS if row.choices[0] == row.answer else KEYS[::-1] for row in asked]


# ---- What a grader would change ------------------------------------------------------------------

_RESPONSE = ["item_id", "model", "method", "sample"]
# As in `bigtom.read_answer`: the first "Answer:" opens the answer.
_MARKER = re.compile(r"answer\W{0,4}:", re.IGNORECASE)


def regraded(
    scores: pd.DataFrame,
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    margins: Mapping[str, float],
    embedder: ModelSpec | None = None,
) -> pd.DataFrame:
    """The answers that name no option: `unit, group, item_id, model, method, sample`, `text` (what
    is seen of it from "Answer:" on), a grader's `grade` (see `grades`), and what the answer
    `becomes`: correct, wrong or, as before, unparsed.
    """
    answered = pairs(items, responses, responses["method"].unique())
    said = {tuple(r[name] for name in _RESPONSE): r["response"] for _, r in answered}
    rows = []
    for group, *key in scores[scores["outcome"] == "unparsed"][["group_id", *_RESPONSE]].values:
        if tuple(key) not in said:
            raise InputError(f"grading: found no response for the score of {tuple(key)}")
        text = _MARKER.split(visible(said[tuple(key)])[0], maxsplit=1)[-1].strip()
        rows.append(("/".join(map(str, key)), group, *key, text))
    found = pd.DataFrame(rows, columns=["unit", "group", *_RESPONSE, "text"])
    graded = grades(found, items, judge, margins, embedder)
    becomes = [
        "unparsed" if grade == NONE else "correct" if grade == right else "wrong"
        for grade, (right, _) in zip(graded, _keys(found, items), strict=True)
    ]
    return found.assign(grade=graded, becomes=becomes)


def judged_answers(scores: pd.DataFrame, regraded: pd.DataFrame) -> pd.DataFrame:
    """All answers of a run with what a grader makes of them, as in `judging.people`. Of what names
    an option, and of an empty answer, its score is known. regraded: of `regraded`.
    """
    said = regraded[["unit", *_RESPONSE, "text", "becomes"]]
    found = scores.rename(columns={"group_id": "group"})[["group", *_RESPONSE, "score"]]
    found = found.merge(said, on=_RESPONSE, how="left")
    graded = (found["becomes"] == "correct").astype(float)
    judged = found["score"].where(found["becomes"].isna(), graded)
    return found.assign(judged=judged, read=found["text"].fillna("") == "")


def changes(regraded: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """What a grader would change, by model and method: `answers` (all scored), `unparsed`, of which
    `becomes_correct`, `becomes_wrong`, `stays_unparsed`, `accuracy` (as scored), `accuracy_graded`.
    """
    by, kinds = ["model", "method"], ["correct", "wrong", "unparsed"]
    own = scores.groupby(by, sort=False)["score"]
    counts = regraded.groupby(by)["becomes"].value_counts().unstack()
    counts = counts.reindex(index=own.size().index, columns=kinds).fillna(0).astype(int)
    counts.columns = ["becomes_correct", "becomes_wrong", "stays_unparsed"]
    table = own.agg(answers="size").assign(unparsed=counts.sum(axis=1)).join(counts)
    graded = (own.sum() + table["becomes_correct"]) / table["answers"]
    return table.assign(accuracy=own.mean(), accuracy_graded=graded).reset_index()
