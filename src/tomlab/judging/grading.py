"""Decides which of two options, if any, an unreadable answer means (free-form grading).

For such answers, BigToM's released code asks a language model; SimpleToM's counts them as wrong.
Graders are first tested on answers of known meaning (`rewordings`), as OmniToM's judges are (App.
B.4), then applied to a run's unreadable answers (outcome `unparsed`). A grade is "a", "b" or
"none", or None if the grader gave none. A table of answers has one row each: the answer's `text`,
and its item's `question`, both `choices` and the right `answer`.
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

BY_LIKENESS = ("token_f1", "embedding")
MARGINS = tuple(n / 100 for n in range(0, 61, 2))  # to choose a margin from
GRADE_TOKENS = 16


def calibrated(
    made: pd.DataFrame, embedder: ModelSpec, folds: int
) -> tuple[pd.DataFrame, dict[str, float]]:
    """The decisions of the graders by rule on answers known by construction (`made`), and the
    margins to use from now on, by grader. The graders are `exact` and each kind of `BY_LIKENESS`,
    which decides by a margin that is chosen on other groups.
    """
    decisions = [to_decisions(made, grades(made, "exact", {}), "exact")]
    margins = {}
    for kind in BY_LIKENESS:
        alike = likeness(made, kind, embedder)
        chosen = cross_validated_thresholds(margin_decisions(made, alike), folds)
        margins[kind] = chosen.final
        decisions.append(chosen.decisions.assign(judge=kind))
    return pd.concat(decisions, ignore_index=True), margins


# --- graders by rule -----------------------------------------------------------------------------


def grades(
    table: pd.DataFrame, judge: str, margins: Mapping[str, float], embedder: ModelSpec | None = None
) -> list[str]:
    """The grade of each answer, "none" for an empty one. judge: "exact", or a kind of likeness,
    which decides by its margin in `margins`.
    """
    if judge == "exact":
        pairs = zip(table["text"], table["choices"], strict=True)
        return [exact_grade(text, options) for text, options in pairs]
    has_text = table["text"] != ""
    results = pd.Series(NONE, table.index)
    alike = likeness(table[has_text], judge, embedder)
    results[has_text] = [nearer(likenesses, margins[judge]) for likenesses in alike]
    return results.to_list()


def exact_grade(text: str, options: Sequence[str]) -> str:
    """The key of the only option whose words stand in `text`, case and punctuation ignored; "none"
    if both or neither do.
    """
    in_text = [f" {plain(option)} " in f" {plain(text)} " for option in options]
    if in_text == [True, False]:
        return "a"
    return "b" if in_text == [False, True] else NONE


def nearer(alike: Sequence[float], margin: float) -> str:
    """The key of the option that an answer is more like by more than `margin`, else "none". alike:
    how like the answer is to option a and to option b.
    """
    gap = alike[0] - alike[1]
    if gap > margin:
        return "a"
    return "b" if -gap > margin else NONE


def likeness(table: pd.DataFrame, kind: str, embedder: ModelSpec | None = None) -> np.ndarray:
    """How like each answer is to its two options, shape (answers, 2). kind: token_f1, or embedding,
    which needs `embedder`.
    """
    vectors = None
    if kind == "embedding" and embedder and len(table):
        texts = [*table["text"], *table["choices"].explode()]
        vectors = dict(zip(texts, embed(texts, embedder), strict=True))
    rows = []
    for text, options in zip(table["text"], table["choices"], strict=True):
        rows.append(similarity(kind, [text], options, vectors)[0])
    return np.array(rows).reshape(-1, 2)


# --- a language model as the grader --------------------------------------------------------------


async def by_language_model(
    table: pd.DataFrame, model: ModelSpec, limits: Limits, **options
) -> pd.DataFrame:
    """`table` with the model's reply `said` (None if the request failed) and the `grade` read from
    it (None if unreadable). options: passed on to `attempts.request`.
    """
    responses = await ask(grade_requests(table, **options), model, limits=limits)
    replies = [response.reply.text if response.reply else None for response in responses]
    read = [None if text is None else parse_grade(text) for text in replies]
    said = pd.Series(replies, table.index, dtype=object)
    grade = pd.Series(read, table.index, dtype=object)
    return table.assign(said=said, grade=grade)


def grade_requests(table: pd.DataFrame, **options) -> list[Request]:
    """One request an answer to a language model as the grader. options: of `attempts.request`."""
    requests = []
    for row in table.itertuples():
        fields = {
            "question": row.question,
            "option_a": row.choices[0],
            "option_b": row.choices[1],
            "answer": " ".join(row.text.split()),
        }
        requests.append(request("judges/grade", fields, max_tokens=GRADE_TOKENS, **options))
    return requests


_GRADE = re.compile(r"\W*(?:(?:answer|grade|option)\W+)?(a|b|none)\W*", re.IGNORECASE)


def parse_grade(text: str) -> str | None:
    """`a`, `b` or `none` if a reply says nothing else besides punctuation and a word such as
    "Answer:"; else None.
    """
    shown, open_thought = visible(text)
    match = _GRADE.fullmatch(shown)
    return match[1].lower() if match and not open_thought else None


# --- decisions -----------------------------------------------------------------------------------


def to_decisions(table: pd.DataFrame, grades: Sequence[str | None], judge: str) -> pd.DataFrame:
    """A grader's decisions on `constructed` answers: `judge, group, unit, truth, decision`.

    A unit is an answer with one of its item's two options, and the decision says whether the answer
    means that option. grades: one for each answer; None leaves both of its units undecided.
    """
    units = _units(table)
    graded = pd.Series(np.repeat(np.array(grades, dtype=object), 2))
    decision = (graded == units["key"]).astype("boolean").mask(graded.isna())
    units = units[["group", "unit", "truth"]].assign(judge=judge, decision=decision)
    return units[["judge", "group", "unit", "truth", "decision"]]


def margin_decisions(table: pd.DataFrame, alike: np.ndarray) -> pd.DataFrame:
    """For each option of an answer, the right and the wrong one, whether the answer is more like it
    than the other by each of `MARGINS`; for `cross_validated_thresholds`.

    alike: what `likeness` returns, a row for each answer, with a column for options a and b each.
    """
    units = _units(table)  # two rows an answer
    nearer_to_a = np.repeat(alike[:, 0] - alike[:, 1], 2)
    nearer_to_option = np.where(units["key"] == "a", nearer_to_a, -nearer_to_a)
    is_above = nearer_to_option[:, None] > np.array(MARGINS)
    decisions = pd.DataFrame(is_above, columns=list(MARGINS))
    return units[["group", "unit", "truth"]].join(decisions)


def operations(made: pd.DataFrame) -> pd.Series:
    """How the answer of each unit of `to_decisions` was made, for `agreement_by_kind`."""
    return pd.Series(made["operation"].repeat(2).to_numpy(), _units(made)["unit"].to_numpy())


def _units(table: pd.DataFrame) -> pd.DataFrame:
    """Two rows for each answer, for its right and its wrong option: `group, unit, truth`
    (whether the answer means that option) and the option's `key`.
    """
    answers = table.reset_index(drop=True)
    right_key = _right_keys(answers)
    sides = []
    for option, key in (("right", right_key), ("wrong", right_key.map({"a": "b", "b": "a"}))):
        side = answers[["group"]].assign(unit=answers["unit"] + f": {option} option")
        sides.append(side.assign(truth=answers["truth"] == option, key=key))
    return pd.concat(sides).sort_index(kind="stable").reset_index(drop=True)


def _right_keys(table: pd.DataFrame) -> pd.Series:
    is_first = table["choices"].str[0] == table["answer"]
    return is_first.map({True: "a", False: "b"})


# --- what a grader would change ------------------------------------------------------------------

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
    """All answers of a run, with a grader's decisions on the unreadable ones, as `judging.people`
    takes them: `unit, group, item_id, model, method, sample, score`; `judged`, the score with the
    grader; and `read`, whether the score is known without a grader (also for empty answers).

    Unreadable answers also have `text` (the visible text, from the first "Answer:" on if it has
    one), the `grade` (see `grades`), and `becomes`: correct, wrong or still unparsed. Errors:
    `InputError` if an unreadable answer has no response or no item.
    """
    answers = scores.rename(columns={"group_id": "group"})
    answers = answers[["group", *people.KEY, "outcome", "score"]]
    answers["unit"] = answers[people.KEY].astype(str).agg("/".join, axis=1)
    unread = answers.loc[answers["outcome"] == "unparsed", ["unit", *people.KEY]]
    unread = unread.merge(responses[[*people.KEY, "response"]], on=people.KEY, how="left")
    unread = unread.merge(items[["item_id", "question", "choices", "answer"]], how="left")
    missing = unread.loc[unread[["response", "answer"]].isna().any(axis=1), "unit"]
    if len(missing):
        raise InputError(
            f"grading: found no response or no item for the score of {missing.iloc[0]}"
        )
    shown = [visible(response)[0] for response in unread["response"]]
    unread["text"] = [_MARKER.split(text, maxsplit=1)[-1].strip() for text in shown]
    unread["grade"] = grades(unread, judge, margins, embedder)
    is_right = unread["grade"] == _right_keys(unread)
    becomes = is_right.map({True: "correct", False: "wrong"})
    unread["becomes"] = becomes.mask(unread["grade"] == NONE, "unparsed")
    answers = answers.merge(unread[["unit", "text", "grade", "becomes"]], on="unit", how="left")
    graded = answers["becomes"].eq("correct").astype(float)
    return answers.assign(
        judged=answers["score"].where(answers["becomes"].isna(), graded),
        read=answers["text"].isna() | answers["text"].eq(""),
    )


def changes(answers: pd.DataFrame) -> pd.DataFrame:
    """What a grader would change, by model and method. Columns: the numbers of `answers` (all
    scored) and of those `unparsed`, which divide into `becomes_correct`, `becomes_wrong` and
    `stays_unparsed`; `accuracy` (as scored) and `accuracy_graded`. answers: from `regraded`.
    """
    becomes = answers["becomes"]
    counted = answers.assign(
        unparsed=becomes.notna(),
        becomes_correct=becomes == "correct",
        becomes_wrong=becomes == "wrong",
        stays_unparsed=becomes == "unparsed",
    )
    return counted.groupby(["model", "method"], sort=False, as_index=False).agg(
        answers=("score", "size"),
        unparsed=("unparsed", "sum"),
        becomes_correct=("becomes_correct", "sum"),
        becomes_wrong=("becomes_wrong", "sum"),
        stays_unparsed=("stays_unparsed", "sum"),
        accuracy=("score", "mean"),
        accuracy_graded=("judged", "mean"),
    )
