"""Which of two options, if any, an answer means that names no option key (free-form grading).

BigToM's released code turns to a language model there, SimpleToM's counts a wrong answer. Graders
are first held against answers whose meaning is known by construction (`rewordings`), as OmniToM
does with its judges (App. B.4), then applied to the `unparsed` answers of a run, whose scores they
leave as they are. A grade is a, b or none; None where a grader gave none.
"""

import re
from collections.abc import Mapping, Sequence

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

# ---- Graders -------------------------------------------------------------------------------------


def exact_grade(text: str, options: Sequence[str]) -> str:
    """The key of the option whose words stand in `text` as they are, if the other's do not.

    Case and punctuation aside.
    """
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
    """How like each answer of `table` is to both options, shape (answers, 2).

    table: columns `item_id`, `text`; kind: token_f1, or embedding, which needs the embedder.
    """
    said = with_options(table, items)
    texts = list(dict.fromkeys(t for text, options in said for t in (text, *options)))
    vectors = None
    if kind == "embedding" and texts:
        vectors = dict(zip(texts, embed(texts, embedder), strict=True))
    found = [similarity(kind, [text], options, vectors)[0] for text, options in said]
    return np.array(found).reshape(-1, 2)


def grades(
    table: pd.DataFrame,
    items: pd.DataFrame,
    judge: str,
    margins: Mapping[str, float],
    embedder: ModelSpec | None = None,
) -> list[str]:
    """What a grader says of each answer of `table`; none of an empty one.

    judge: `exact`, or one of `margins`, which have the margin of each kind of `BY_LIKENESS`.
    """
    said = with_options(table, items)
    if judge == "exact":
        return [exact_grade(text, options) for text, options in said]
    if judge not in margins:
        known = ", ".join(["exact", *margins])
        raise InputError(f"grading: found judge {judge!r}, expected one of {known}")
    there = (table["text"] != "").to_numpy()
    alike = iter(likeness(table[there], items, judge, embedder))
    return [nearer(next(alike), margins[judge]) if text else NONE for text, _ in said]


def grade_requests(
    table: pd.DataFrame, items: pd.DataFrame, replaced: Mapping[str, str] | None = None
) -> list[Request]:
    """One request an answer to a language model as the grader. replaced: as in `prompts.load`."""
    questions = items.set_index("item_id")["question"]
    return [
        Request(({"role": "user", "content": _grade_text(question, said, replaced)},), GRADE_TOKENS)
        for question, said in zip(
            questions[table["item_id"]], with_options(table, items), strict=True
        )
    ]


def _grade_text(question: str, said: tuple, replaced: Mapping[str, str] | None) -> str:
    # The answer comes last: what stands in braces in it is then no field any more.
    text, (first, second) = said
    fields = {"question": question, "option_a": first, "option_b": second}
    return prompts.filled("judges/grade", replaced, **fields, answer=" ".join(text.split()))


_GRADE = re.compile(r"\W*(?:(?:answer|grade|option)\W+)?(a|b|none)\W*", re.IGNORECASE)


def parse_grade(text: str) -> str | None:
    """`a`, `b` or `none` from a grader's answer that says this and nothing else; None otherwise.

    Marks around it and "Answer:" before it are let pass.
    """
    said, open_thought = visible(text)
    found = _GRADE.fullmatch(said)
    return found[1].lower() if found and not open_thought else None


def with_options(table: pd.DataFrame, items: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Each answer of `table` (columns `item_id`, `text`) with the options of its item."""
    options = items.set_index("item_id")["choices"]
    if unknown := sorted(set(table["item_id"]) - set(options.index)):
        raise InputError(f"grading: no item {unknown[0]!r} ({len(unknown)} unknown in all)")
    chosen = [list(options[item_id]) for item_id in table["item_id"]]
    return list(zip(table["text"], chosen, strict=True))


# ---- Calibration ---------------------------------------------------------------------------------


def calibrated(
    made: pd.DataFrame, items: pd.DataFrame, embedder: ModelSpec, folds: int
) -> tuple[pd.DataFrame, dict[str, float]]:
    """The decisions of `exact` and of each kind of `BY_LIKENESS` on answers known by construction,
    each by a margin chosen on other groups; and the margins to use from now on.
    """
    exact = grades(made, items, "exact", {})
    decided, margins = [to_decisions(made, items, exact, "exact")], {}
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
) -> pd.DataFrame:
    """`table` with a language model's `answer` as it came (None: it failed) and `grade`.

    replaced: as in `prompts.load`.
    """
    replies = await ask(grade_requests(table, items, replaced), model, limits=limits)
    answers = [response.reply and response.reply.text for response in replies]
    read = [None if answer is None else parse_grade(answer) for answer in answers]
    said = pd.DataFrame({"answer": answers, "grade": read}, index=table.index, dtype=object)
    return table.join(said)


def to_decisions(
    table: pd.DataFrame, items: pd.DataFrame, grades: Sequence[str | None], judge: str
) -> pd.DataFrame:
    """A grader's decisions on `constructed` answers: `judge, group, unit, truth, decision`.

    A unit is an answer and one of its item's two options, and the question is whether the answer
    means that option. grades: one an answer; None: not readable, so undecided for both options.
    """
    known = _units(table)
    decision = [
        pd.NA if pd.isna(grade) else grade == key
        for grade, both in zip(grades, _keys(table, items), strict=True)
        for key in both
    ]
    decided = known.assign(judge=judge, decision=pd.array(decision, dtype="boolean"))
    return decided[["judge", *known, "decision"]]


def margin_decisions(
    table: pd.DataFrame,
    items: pd.DataFrame,
    alike: np.ndarray,
    margins: Sequence[float] = MARGINS,
) -> pd.DataFrame:
    """The decisions at each margin, for `cross_validated_thresholds`: `group, unit, truth` and a
    bool column a margin. alike: `likeness` of the table.
    """
    decided = {
        margin: to_decisions(table, items, [nearer(a, margin) for a in alike], "")["decision"]
        for margin in margins
    }
    return _units(table).join(pd.DataFrame(decided))


def _keys(table: pd.DataFrame, items: pd.DataFrame) -> list[tuple[str, str]]:
    """The keys of the right and the wrong option of each answer's item."""
    right = items.set_index("item_id")["answer"]
    chosen = zip(table["item_id"], with_options(table, items), strict=True)
    places = [options.index(right[item_id]) for item_id, (_, options) in chosen]
    return [(KEYS[place], KEYS[1 - place]) for place in places]


def _units(table: pd.DataFrame) -> pd.DataFrame:
    options = ("right", "wrong")
    rows = [
        {"group": row.group, "unit": f"{row.unit}: {option} option", "truth": row.truth == option}
        for row in table.itertuples()
        for option in options
    ]
    return pd.DataFrame(rows, columns=["group", "unit", "truth"]).astype({"truth": bool})


# ---- What a grader would change ------------------------------------------------------------------

_RESPONSE = ["item_id", "model", "method", "sample"]
# As in `bigtom.read_answer`: the first "Answer:" opens the answer.
_MARKER = re.compile(r"answer\W{0,4}:", re.IGNORECASE)


def unparsed_answers(
    scores: pd.DataFrame, items: pd.DataFrame, responses: pd.DataFrame
) -> pd.DataFrame:
    """The answers that name no option: `unit, group, item_id, model, method, sample, text`.

    text: what is seen of the answer, from "Answer:" on. Errors: `InputError` for responses to
    unknown items, and for a score without its response.
    """
    said = {
        tuple(r[k] for k in _RESPONSE): r
        for _, r in pairs(items, responses, responses["method"].unique())
    }
    rows = []
    for row in scores[scores["outcome"] == "unparsed"].to_dict("records"):
        key = tuple(row[name] for name in _RESPONSE)
        if key not in said:
            raise InputError(f"grading: found no response for the score of {key}")
        text = _MARKER.split(visible(said[key]["response"])[0], maxsplit=1)[-1].strip()
        names = {"unit": "/".join(map(str, key)), "group": row["group_id"]}
        rows.append(names | dict(zip(_RESPONSE, key, strict=True)) | {"text": text})
    return pd.DataFrame(rows, columns=["unit", "group", *_RESPONSE, "text"])


def regraded(
    scores: pd.DataFrame,
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    margins: Mapping[str, float],
    embedder: ModelSpec | None = None,
) -> pd.DataFrame:
    """What a grader (see `grades`) would make of a run's `unparsed` answers.

    Returns `unparsed_answers` with `grade` and `becomes`: correct, wrong or, as before, unparsed.
    """
    found = unparsed_answers(scores, items, responses)
    said = grades(found, items, judge, margins, embedder)
    becomes = [
        "unparsed" if grade == NONE else "correct" if grade == right else "wrong"
        for grade, (right, _) in zip(said, _keys(found, items), strict=True)
    ]
    return found.assign(grade=said, becomes=becomes)


def changes(regraded: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Counts of what a grader would change, by model and method. regraded: by `regraded`.

    `answers` (all scored), `unparsed` (before), of which `becomes_correct`, `becomes_wrong` and
    `stays_unparsed`; `accuracy` over all answers as scored, and `accuracy_graded`.
    """
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        own = regraded[(regraded["model"] == model) & (regraded["method"] == method)]["becomes"]
        correct, wrong, unparsed = (int((own == o).sum()) for o in ("correct", "wrong", "unparsed"))
        row = {"model": model, "method": method, "answers": len(part), "unparsed": len(own)}
        row |= {"becomes_correct": correct, "becomes_wrong": wrong, "stays_unparsed": unparsed}
        row["accuracy"] = part["score"].mean()
        rows.append(row | {"accuracy_graded": (part["score"].sum() + correct) / len(part)})
    return pd.DataFrame(rows)
