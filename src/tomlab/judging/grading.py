"""Which of two options, if any, an answer means that names no option key (free-form grading).

BigToM's released code turns to a language model there, SimpleToM's counts a wrong answer. Here
graders are first held against answers whose meaning is known by construction (`constructed`), then
applied to the `unparsed` answers of a run, whose scores they leave as they are.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from tomlab.asking import prompts
from tomlab.errors import InputError
from tomlab.judging.rewordings import NONE
from tomlab.models.specs import ModelSpec, Request
from tomlab.scoring.answers import pairs, visible
from tomlab.scoring.embeddings import embed
from tomlab.scoring.similarity import plain, similarity

KEYS = ("a", "b")  # of the two options, in the order in which they are shown
MARGINS = tuple(n / 100 for n in range(0, 61, 2))  # to choose a margin from
GRADE_TOKENS = 16

# ---- Graders: from an answer and its options to a, b or none -------------------------------------


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


def overlap_grade(text: str, options: Sequence[str], margin: float) -> str:
    """The option that shares more words with the answer, by token F1 (0 to 1) and a margin."""
    return nearer(similarity("token_f1", [text], options)[0], margin)


def embedding_scores(
    text: str, options: Sequence[str], vectors: Mapping[str, np.ndarray]
) -> tuple[float, float]:
    """The cosines of the answer to both options, for `nearer`. vectors: of `texts_to_embed`."""
    return tuple(similarity("embedding", [text], options, vectors)[0].tolist())


def texts_to_embed(table: pd.DataFrame, items: pd.DataFrame) -> list[str]:
    """The distinct texts that `likeness` needs vectors of: answers and options."""
    texts = [t for text, options in with_options(table, items) for t in (text, *options)]
    return list(dict.fromkeys(texts))


def likeness(
    table: pd.DataFrame,
    items: pd.DataFrame,
    kind: str,
    vectors: Mapping[str, np.ndarray] | None = None,
) -> np.ndarray:
    """How like each answer of `table` is to both options, shape (answers, 2).

    table: columns `item_id`, `text`; kind: token_f1 or embedding.
    """
    found = [
        similarity(kind, [t], options, vectors)[0] for t, options in with_options(table, items)
    ]
    return np.array(found).reshape(-1, 2)


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


def grader(
    judge: str, margins: Mapping[str, float], embedder: ModelSpec
) -> Callable[[str, Sequence[str]], str]:
    """The grader that a calibration named: `exact`, `token_f1` or `embedding`, with its margin."""
    if judge == "exact":
        return exact_grade
    if judge == "token_f1":
        return lambda text, options: overlap_grade(text, options, margins[judge])
    if judge != "embedding":
        known = "exact, token_f1, embedding"
        raise InputError(f"grading: found judge {judge!r}, expected one of {known}")

    def by_embedding(text: str, options: Sequence[str]) -> str:
        texts = list(dict.fromkeys([text, *options]))
        vectors = dict(zip(texts, embed(texts, embedder), strict=True))
        return nearer(embedding_scores(text, options, vectors), margins[judge])

    return by_embedding


# ---- What `judging` needs ------------------------------------------------------------------------


def to_decisions(
    table: pd.DataFrame, items: pd.DataFrame, grades: Sequence[str | None], judge: str
) -> pd.DataFrame:
    """A grader's decisions on `constructed` answers: `judge, group, unit, truth, decision`.

    A unit is an answer and one of its item's two options, and the question is whether the answer
    means that option. grades: one an answer; None: not readable, so undecided for both options.
    """
    known = _units(table)
    keys = _keys(table, items)
    said = pd.Series(list(grades), index=table.index, dtype=object)
    decision = [
        pd.NA if pd.isna(grade) else grade == key
        for grade, both in zip(said, keys, strict=True)
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
    """The decisions at each margin, for `judging.cross_validated_thresholds`: `group, unit, truth`
    and a bool column a margin. alike: `likeness` of the table. Folds of groups keep templates whole.
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
    return pd.DataFrame(rows, columns=["group", "unit", "truth"])


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


def graded(
    scores: pd.DataFrame,
    items: pd.DataFrame,
    responses: pd.DataFrame,
    grader: Callable[[str, Sequence[str]], str | None],
) -> pd.DataFrame:
    """What a grader would make of a run's `unparsed` answers; the scores stay as they are.

    grader: from an answer and its options to a, b, none, or None where it gave no grade. Returns
    `unparsed_answers` with `grade` and `becomes`: correct, wrong or, as before, unparsed.
    """
    found = unparsed_answers(scores, items, responses)
    # An empty answer means nothing, whatever a grader would say of it.
    grades = [grader(t, options) if t else NONE for t, options in with_options(found, items)]
    becomes = [
        "unparsed" if grade not in KEYS else "correct" if grade == right else "wrong"
        for grade, (right, _) in zip(grades, _keys(found, items), strict=True)
    ]
    return found.assign(grade=grades, becomes=becomes)


def changes(regraded: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Counts of what a grader would change, by model and method. regraded: by `graded`.

    `answers` (all scored), `unparsed` (before), of which `becomes_correct`, `becomes_wrong` and
    `stays_unparsed`; `accuracy` over all answers as scored, and `accuracy_graded`.
    """
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        own = regraded[(regraded["model"] == model) & (regraded["method"] == method)]["becomes"]
        correct = int((own == "correct").sum())
        rows.append(
            {
                "model": model,
                "method": method,
                "answers": len(part),
                "unparsed": len(own),
                "becomes_correct": correct,
                "becomes_wrong": int((own == "wrong").sum()),
                "stays_unparsed": int((own == "unparsed").sum()),
                "accuracy": part["score"].mean(),
                "accuracy_graded": (part["score"].sum() + correct) / len(part),
            }
        )
    return pd.DataFrame(rows)
