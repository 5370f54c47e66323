"""Which of two options, if any, an answer means that names no option key (free-form grading).

BigToM's released code asks a language model there, SimpleToM's counts a wrong answer. Graders are
first held against answers of known meaning (`rewordings`), as OmniToM's judges are (App. B.4), then
applied to a run's `unparsed` answers. A grade is a, b or none; None where a grader gave none. A
table of answers has a row each: `text`, and of its item `question`, both `choices` and `answer`.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tomlab.asking.attempts import request
from tomlab.errors import InputError
from tomlab.judging import people
from tomlab.judging.rewordings import NONE
from tomlab.judging.thresholds import cross_validated_thresholds
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, ModelSpec, Request
from tomlab.scoring.embeddings import embed
from tomlab.scoring.similarity import plain, similarity
from tomlab.scoring.visible import visible

KEYS = ("a", "b")  # of the two options, in the order shown
BY_LIKENESS = ("token_f1", "embedding")
MARGINS = tuple(n / 100 for n in range(0, 61, 2))  # to choose a margin from
GRADE_TOKENS = 16
_UNIT = "{}: {} option"  # an answer and one of its options


def exact_grade(text: str, options: Sequence[str]) -> str:
    """The key of the one option whose words stand in `text`, case and punctuation aside."""
    said = f" {plain(text)} "
    held = [key for key, o in zip(KEYS, options, strict=True) if f" {plain(o)} " in said]
    return held[0] if len(held) == 1 else NONE


def nearer(alike: Sequence[float], margin: float) -> str:
    """The key of the option that an answer is more like by over `margin`, else none."""
    gap = alike[0] - alike[1]
    return KEYS[int(gap < 0)] if abs(gap) > margin else NONE


def likeness(table: pd.DataFrame, kind: str, embedder: ModelSpec | None = None) -> np.ndarray:
    """How like each answer is to both options (answers, 2). kind: token_f1, or embedding."""
    said = list(zip(table["text"], table["choices"], strict=True))
    texts = list(dict.fromkeys(t for text, options in said for t in (text, *options)))
    embeds = kind == "embedding" and texts
    vectors = dict(zip(texts, embed(texts, embedder), strict=True)) if embeds else None
    found = [similarity(kind, [text], options, vectors)[0] for text, options in said]
    return np.array(found).reshape(-1, 2)


def grades(
    table: pd.DataFrame, judge: str, margins: Mapping[str, float], embedder: ModelSpec | None = None
) -> list[str]:
    """What exact, or a kind of likeness in `margins`, says of each answer; none of an empty."""
    if judge == "exact":
        return [*map(exact_grade, table["text"], table["choices"])]
    alike = iter(likeness(table[table["text"] != ""], judge, embedder))
    return [nearer(next(alike), margins[judge]) if text else NONE for text in table["text"]]


def grade_requests(table: pd.DataFrame, **options) -> list[Request]:
    """One request an answer to a language model as the grader. options: of `attempts.request`."""
    asked = []
    for row in table.itertuples():
        fields = dict(zip(("option_a", "option_b"), row.choices, strict=True))
        fields |= {"question": row.question, "answer": " ".join(row.text.split())}
        asked.append(request("judges/grade", fields, max_tokens=GRADE_TOKENS, **options))
    return asked


_GRADE = re.compile(r"\W*(?:(?:answer|grade|option)\W+)?(a|b|none)\W*", re.IGNORECASE)


def parse_grade(text: str) -> str | None:
    """`a`, `b` or `none` if an answer says this alone, marks and "Answer:" aside; else None."""
    said, open_thought = visible(text)
    found = _GRADE.fullmatch(said)
    return found[1].lower() if found and not open_thought else None


async def by_language_model(
    table: pd.DataFrame, model: ModelSpec, limits: Limits, **options
) -> pd.DataFrame:
    """`table` with what a model `said` (None: it failed) and `grade`. options: of `request`."""
    replies = await ask(grade_requests(table, **options), model, limits=limits)
    said = [response.reply and response.reply.text for response in replies]
    read = [None if text is None else parse_grade(text) for text in said]
    said, read = (pd.Series(column, table.index, dtype=object) for column in (said, read))
    return table.assign(said=said, grade=read)


def calibrated(
    made: pd.DataFrame, embedder: ModelSpec, folds: int
) -> tuple[pd.DataFrame, dict[str, float]]:
    """The decisions of `exact` and, each by a margin chosen on other groups, of each kind of
    `BY_LIKENESS` on answers known by construction; and the margins to use from now on.
    """
    decided, margins = [to_decisions(made, grades(made, "exact", {}), "exact")], {}
    for kind in BY_LIKENESS:
        alike = likeness(made, kind, embedder)
        chosen = cross_validated_thresholds(margin_decisions(made, alike), folds)
        margins[kind] = chosen.final
        decided.append(chosen.decisions.assign(judge=kind))
    return pd.concat(decided, ignore_index=True), margins


def to_decisions(table: pd.DataFrame, grades: Sequence[str | None], judge: str) -> pd.DataFrame:
    """A grader's decisions on `constructed` answers: `judge, group, unit, truth, decision`.

    A unit is an answer and one of its item's options: does it mean that one? grades: one an answer;
    None: not readable, so undecided for both options.
    """
    rows = []
    for row, grade, keys in zip(table.itertuples(), grades, _keys(table), strict=True):
        for option, key in zip(("right", "wrong"), keys, strict=True):
            decision = None if pd.isna(grade) else grade == key
            unit = _UNIT.format(row.unit, option)
            rows.append((judge, row.group, unit, row.truth == option, decision))
    columns = ["judge", "group", "unit", "truth", "decision"]
    return pd.DataFrame(rows, columns=columns).astype({"truth": bool, "decision": "boolean"})


def operations(made: pd.DataFrame) -> pd.Series:
    """How the answer of each unit of `to_decisions` was made, for `agreement_by_kind`."""
    done = zip(made["unit"], made["operation"], strict=True)
    return pd.Series({_UNIT.format(u, option): o for u, o in done for option in ("right", "wrong")})


def margin_decisions(table: pd.DataFrame, alike: np.ndarray) -> pd.DataFrame:
    """Decisions at each of `MARGINS`, for `cross_validated_thresholds`. alike: by `likeness`."""
    decided = [to_decisions(table, [nearer(a, m) for a in alike], "") for m in MARGINS]
    at_each = {m: one["decision"] for m, one in zip(MARGINS, decided, strict=True)}
    return decided[0][["group", "unit", "truth"]].join(pd.DataFrame(at_each))


def _keys(table: pd.DataFrame) -> list[tuple[str, str]]:
    """The keys of the right and the wrong option of each answer's item."""
    both = zip(table["choices"], table["answer"], strict=True)
    return [KEYS if choices[0] == answer else KEYS[::-1] for choices, answer in both]


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
    """All answers of a run and what a grader makes of those that name no option, as in
    `judging.people`: `unit, group, item_id, model, method, sample, score`; `judged`, the score with
    the grader; and `read`, whether it is known without one, as that of an empty answer is.

    Of what names no option also `text` (what is seen of it from "Answer:" on), the `grade` (see
    `grades`), and what it `becomes`: correct, wrong or, as before, unparsed.
    """
    found = scores.rename(columns={"group_id": "group"})[["group", *people.KEY, "outcome", "score"]]
    found["unit"] = ["/".join(map(str, key)) for key in found[people.KEY].itertuples(index=False)]
    asked = items[["item_id", "question", "choices", "answer"]]
    unread = found.loc[found["outcome"] == "unparsed", ["unit", *people.KEY]]
    unread = unread.merge(responses[[*people.KEY, "response"]], on=people.KEY, how="left")
    unread = unread.merge(asked, on="item_id", how="left")
    if (lacks := unread[["response", "answer"]].isna().any(axis=1)).any():
        unit = unread.loc[lacks, "unit"].iloc[0]
        raise InputError(f"grading: found no response or no item for the score of {unit}")
    texts = [visible(said)[0] for said in unread["response"]]
    unread["text"] = [_MARKER.split(text, maxsplit=1)[-1].strip() for text in texts]
    unread["grade"] = grades(unread, judge, margins, embedder)
    unread["becomes"] = [
        "unparsed" if grade == NONE else "correct" if grade == right else "wrong"
        for grade, (right, _) in zip(unread["grade"], _keys(unread), strict=True)
    ]
    found = found.merge(unread[["unit", "text", "grade", "becomes"]], on="unit", how="left")
    graded = found["becomes"].eq("correct").astype(float)
    judged = found["score"].where(found["becomes"].isna(), graded)
    return found.assign(judged=judged, read=found["text"].isna() | found["text"].eq(""))


def changes(answers: pd.DataFrame) -> pd.DataFrame:
    """What a grader would change, by model and method: `answers` (all scored), `unparsed`, of which
    `becomes_correct`, `becomes_wrong`, `stays_unparsed`, `accuracy` (as scored), `accuracy_graded`.
    """
    becomes = answers["becomes"]
    parts = {"unparsed": becomes.notna(), "becomes_correct": becomes == "correct"}
    parts |= {"becomes_wrong": becomes == "wrong", "stays_unparsed": becomes == "unparsed"}
    counts = {name: (name, "sum") for name in parts}
    means = {"accuracy": ("score", "mean"), "accuracy_graded": ("judged", "mean")}
    by = answers.assign(**parts).groupby(["model", "method"], sort=False)
    return by.agg(answers=("score", "size"), **counts, **means).reset_index()
