"""OmniToM's verdicts: extracted tables against gold tables, given labels against gold labels (Sec. 5)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tomlab.benchmarks.omnitom.alignment import (
    Alignment,
    align,
    precision_recall_f1,
    texts_to_embed,
)
from tomlab.benchmarks.omnitom.items.compose import KEYS, gold_rows
from tomlab.benchmarks.omnitom.items.labels import labels_for
from tomlab.benchmarks.omnitom.items.parsing import Parsed, normal_label, parse
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, Row
from tomlab.errors import InputError
from tomlab.models.specs import ModelSpec
from tomlab.records.tidy import check
from tomlab.scoring.answers import failed, pairs, unanswered, visible
from tomlab.scoring.choices import judged
from tomlab.scoring.embeddings import MINILM, embed
from tomlab.scoring.options import read_answer


@dataclass(frozen=True)
class Judge:
    """Who says which extracted beliefs match gold beliefs. kind: exact, token_f1 or embedding;
    threshold: the least similarity of a match.
    """

    kind: str = "embedding"
    threshold: float = 0.75


def _verdict(item: Mapping, response: Mapping, said: Parsed, aligned: Mapping) -> dict:
    """By the rule for the question's type: `outcome`, `score`, their details, and `rule`, in words.

    said: the table in the answer; aligned: by key, the alignment of an extracted table with the
    gold one and the judge that made it.
    """
    if item["question_type"] == "linked":
        read = judged(item, response, KEYS, read_answer, cot=False)
        hit = float(read.outcome == "correct")
        return {"rule": read.rule, "outcome": read.outcome, "score": hit}
    gold = gold_rows(item)
    if item["question_type"] == "extraction":
        found = _extraction(said, gold, *aligned[_key(response)])
    else:
        found = _labelling(said, gold)
    found |= {"n_gold": len(gold)}
    if failed(response):
        return found | {"outcome": "error", "rule": "the request failed"}
    if not said.rows:
        text, open_thought = visible(response["response"])
        outcome = unanswered(text, response["finish_reason"], open_thought)
        return found | {"outcome": outcome, "rule": f"not usable: {said.reason}"}
    how = f"read as {said.form}, rows: {len(said.rows)}, lost: {len(said.lost)}"
    outcome = "correct" if found["score"] > 0 else "wrong"
    return found | {"outcome": outcome, "rule": f"{how}; {found['rule']}"}


def _extraction(said: Parsed, gold: Sequence[Row], aligned: Alignment, judge: str) -> dict:
    """F1 of the share of predicted and the share of gold beliefs that have a match (Stage 1)."""
    precision, recall, f1 = precision_recall_f1(aligned)
    sides = {"predicted": (said.rows, aligned.mc_predicted), "gold": (gold, aligned.mc_gold)}
    detail = {
        side: [
            [row.actor, row.belief, normal_label("order", row.order) or "", count]
            for row, count in zip(rows, counts, strict=True)
        ]
        for side, (rows, counts) in sides.items()
    }
    predicted, expected = (
        f"{sum((count or 0) > 0 for count in counts)} of {len(rows)}"
        for rows, counts in sides.values()
    )
    return {
        "rule": f"with a match: {predicted} rows, {expected} gold beliefs (judge: {judge})",
        "stage": 1,
        "score": f1,
        "precision": precision,
        "recall": recall,
        "detail": json.dumps(detail, ensure_ascii=False),
        "judge": judge,
    }


def _labelling(said: Parsed, gold: Sequence[Row]) -> dict:
    """The share of the labels of gold beliefs that are given as they are (Stage 2)."""
    labelled = labels_for(gold, said.rows)
    detail = [
        [own.labels["order"], {name: [own.labels[name], _label(row, name)] for name in DIMENSIONS}]
        for own, row in zip(gold, labelled, strict=True)
    ]
    right = [gold == given for _, labels in detail for gold, given in labels.values()]
    found = sum(row is not None for row in labelled)
    return {
        "rule": f"{found} of {len(gold)} given beliefs have a row, "
        f"{sum(right)} of {len(right)} labels are right",
        "stage": 2,
        "score": float(np.mean(right)),
        "detail": json.dumps(detail, ensure_ascii=False),
    }


def _label(row: Row | None, dimension: str) -> str | None:
    if row is None:
        return None
    text = row.order if dimension == "order" else row.labels.get(dimension, "")
    return normal_label(dimension, text)


# ---- From responses to scores --------------------------------------------------------------------

_KEYS = ("item_id", "model", "method", "sample")
_STAGES = {"extraction": "stage1", "labelling": "stage2", "linked": "linked"}


def score(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    *,
    judge: Judge | None = None,
    judged: Mapping[tuple, Alignment] | None = None,
    embedder: ModelSpec = MINILM,
) -> pd.DataFrame:
    """One row a response, with `outcome` and `score`: F1 (extraction), mean accuracy (labelling), or
    1 for a linked question answered right.

    judge: of extraction, by default embeddings with optimal assignment; judged: alignments made
    elsewhere, such as by a language model, by (item_id, model, method, sample); they come first,
    unless they leave all rows of a table undefined.
    A usable table has a row at least; `correct` if it earns anything, else `wrong`. Details:
    `n_predicted`, `n_gold`, `rows_lost` (lines that could not be used), `cut_off` (at the token
    limit, its whole rows count), `precision`, `recall`, `judge`, and `detail` (JSON), which
    `metrics.belief_rows` and `label_rows` read.
    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    methods = responses["method"].unique() if "method" in responses else []
    known = [method for method in methods if str(method).startswith(tuple(_STAGES.values()))]
    both = pairs(items, responses, known)
    for item, response in both:
        kind = item["question_type"]
        if not response["method"].startswith(_STAGES[kind]):
            raise InputError(
                f"responses: {item['item_id']} is a question of {kind}, found method "
                f"{response['method']!r}, expected {_STAGES[kind]}…"
            )
    read = [(item, response, parsed(response)) for item, response in both]
    aligned = _alignments(read, judge or Judge(), judged or {}, embedder)
    rows = [
        _row(item, response, said, _verdict(item, response, said, aligned))
        for item, response, said in read
    ]
    return check(pd.DataFrame(rows), "scores", "omnitom scores")


def rule(item: Mapping, scored: Mapping) -> str:
    """How an answer was read and what decided, in words. scored: a response with its row of `score`."""
    aligned = {}
    if item["question_type"] == "extraction":
        counts = json.loads(scored["detail"])
        sides = [[count for *_, count in counts[side]] for side in ("predicted", "gold")]
        aligned[_key(scored)] = (Alignment(*sides, []), scored["judge"])
    return _verdict(item, scored, parsed(scored), aligned)["rule"]


def parsed(response: Mapping) -> Parsed:
    """What can be read of a response's table; no rows for a failed request."""
    return Parsed([], [], "failed") if failed(response) else parse(visible(response["response"])[0])


def _key(response: Mapping) -> tuple:
    return tuple(response[name] for name in _KEYS)


def _alignments(
    read: Sequence[tuple], judge: Judge, judged: Mapping[tuple, Alignment], embedder: ModelSpec
) -> dict[tuple, tuple[Alignment, str]]:
    """The alignment of each extracted table with the gold one, and who made it."""
    tables = {
        _key(response): (said.rows, gold_rows(item))
        for item, response, said in read
        if item["question_type"] == "extraction"
    }
    vectors = None
    if judge.kind == "embedding":
        texts = texts_to_embed(rows for pair in tables.values() for rows in pair)
        vectors = dict(zip(texts, embed(texts, embedder), strict=True)) if texts else {}
    found = {}
    for key, (predicted, gold) in tables.items():
        own, by = judged.get(key), "llm"
        if own is None or np.isnan(precision_recall_f1(own)).any():
            own, by = align(predicted, gold, judge.kind, judge.threshold, vectors), judge.kind
        found[key] = own, by
    return found


# Of a linked question, of which no table was asked, and of what a stage does not have.
_DETAILS = {"stage": 0, "score": 0.0, "precision": float("nan"), "recall": float("nan")}
_DETAILS |= {"n_gold": 1, "detail": "{}", "judge": ""}


def _row(item: Mapping, response: Mapping, said: Parsed, verdict: Mapping) -> dict:
    if item["question_type"] == "linked":
        said = Parsed([], [], "")
    return {
        **{name: response[name] for name in _KEYS},
        **{name: item[name] for name in ("group_id", "source", "question_type", "category")},
        "outcome": verdict["outcome"],
        **{name: verdict.get(name, default) for name, default in _DETAILS.items()},
        "n_predicted": len(said.rows),
        "rows_lost": len(said.lost),
        "cut_off": response["finish_reason"] == "length",
        "completion_tokens": response["completion_tokens"],
    }
