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
from tomlab.benchmarks.omnitom.items import KEYS, gold_rows
from tomlab.benchmarks.omnitom.labels import labels_for
from tomlab.benchmarks.omnitom.parsing import Parsed, normal_label, parse
from tomlab.benchmarks.omnitom.records import DIMENSIONS, Row
from tomlab.errors import InputError
from tomlab.models.specs import ModelSpec
from tomlab.records.tables import check
from tomlab.scoring.answers import failed, pairs, unanswered, visible
from tomlab.scoring.embeddings import MINILM, embed
from tomlab.scoring.options import read_answer

_KEYS = ("item_id", "model", "method", "sample")
STAGE1, STAGE2, LINKED = "stage1", "stage2", "linked"


@dataclass(frozen=True)
class Judge:
    """Who says which extracted beliefs match gold beliefs. kind: exact, token_f1 or embedding;
    threshold: the least similarity of a match.
    """

    kind: str = "embedding"
    threshold: float = 0.75


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
    known = [method for method in methods if str(method).startswith((STAGE1, STAGE2, LINKED))]
    both = pairs(items, responses, known)
    _check_stages(both)
    read = [
        (item, response, parsed(response), [] if _is_linked(item) else gold_rows(item))
        for item, response in both
    ]
    judge = judge or Judge()
    extracted = [
        (said.rows, gold) for item, _, said, gold in read if item["question_type"] == "extraction"
    ]
    vectors = _vectors(extracted, embedder) if judge.kind == "embedding" else None
    rows = []
    for item, response, said, gold in read:
        if item["question_type"] == "extraction":
            key = tuple(response[name] for name in _KEYS)
            aligned, by = (judged or {}).get(key), "llm"
            if aligned is None or np.isnan(precision_recall_f1(aligned)).any():
                aligned = align(said.rows, gold, judge.kind, judge.threshold, vectors)
                by = judge.kind
            found = _extraction(said.rows, gold, aligned) | {"judge": by}
        elif _is_linked(item):
            rows.append(_linked(item, response))
            continue
        else:
            found = _labelling(said.rows, gold)
        rows.append(_row(item, response, said, found))
    return check(pd.DataFrame(rows), "scores", "omnitom scores")


def _is_linked(item: Mapping) -> bool:
    return item["question_type"] == "linked"


def _check_stages(both: Sequence[tuple[Mapping, Mapping]]) -> None:
    stages = {"extraction": STAGE1, "labelling": STAGE2, "linked": LINKED}
    for item, response in both:
        if not response["method"].startswith(stages[item["question_type"]]):
            raise InputError(
                f"responses: {item['item_id']} is a question of {item['question_type']}, found "
                f"method {response['method']!r}, expected {stages[item['question_type']]}…"
            )


def parsed(response: Mapping) -> Parsed:
    """What can be read of a response's table; no rows for a failed request."""
    return Parsed([], [], "failed") if failed(response) else parse(visible(response["response"])[0])


def _vectors(extracted: Sequence[tuple], embedder: ModelSpec) -> dict[str, np.ndarray]:
    """A vector for every text of the tables, each embedded once."""
    texts = texts_to_embed(rows for pair in extracted for rows in pair)
    return dict(zip(texts, embed(texts, embedder), strict=True)) if texts else {}


def _extraction(predicted: Sequence[Row], gold: Sequence[Row], aligned: Alignment) -> dict:
    precision, recall, f1 = precision_recall_f1(aligned)
    sides = {
        "predicted": (predicted, aligned.mc_predicted),
        "gold": (gold, aligned.mc_gold),
    }
    detail = {
        side: [
            [row.actor, row.belief, normal_label("order", row.order) or "", count]
            for row, count in zip(rows, counts, strict=True)
        ]
        for side, (rows, counts) in sides.items()
    }
    return {
        "stage": 1,
        "score": f1,
        "precision": precision,
        "recall": recall,
        "n_gold": len(gold),
        "detail": json.dumps(detail, ensure_ascii=False),
    }


def _labelling(predicted: list[Row], gold: list[Row]) -> dict:
    labelled = labels_for(gold, predicted)
    detail = [
        [
            own.labels["order"],
            {name: [own.labels[name], _label(said, name)] for name in DIMENSIONS},
        ]
        for own, said in zip(gold, labelled, strict=True)
    ]
    right = [gold == said for _, labels in detail for gold, said in labels.values()]
    return {
        "stage": 2,
        "score": float(np.mean(right)),
        "precision": float("nan"),
        "recall": float("nan"),
        "n_gold": len(gold),
        "judge": "",
        "detail": json.dumps(detail, ensure_ascii=False),
    }


def _label(said: Row | None, dimension: str) -> str | None:
    if said is None:
        return None
    text = said.order if dimension == "order" else said.labels.get(dimension, "")
    return normal_label(dimension, text)


def _linked(item: Mapping, response: Mapping) -> dict:
    """The verdict on a ToMBench question: the option that an answer names, as in SimpleToM."""
    right, key, outcome = KEYS[list(item["choices"]).index(item["answer"])], None, "error"
    if not failed(response):
        outcome, key, _ = read_answer(response["response"], response["finish_reason"], cot=False)
        if key is not None and KEYS.index(key) >= len(item["choices"]):
            outcome, key = "unparsed", None
    if key is not None:
        outcome = "correct" if key == right else "wrong"
    nothing = {"precision": float("nan"), "recall": float("nan"), "judge": "", "detail": "{}"}
    found = {"stage": 0, "score": float(outcome == "correct"), "n_gold": 1, **nothing}
    return _row(item, response, Parsed([], [], ""), found) | {"outcome": outcome}


def _row(item: Mapping, response: Mapping, said: Parsed, found: Mapping) -> dict:
    if failed(response):
        outcome = "error"
    elif said.rows:
        outcome = "correct" if found["score"] > 0 else "wrong"
    else:
        text, open_thought = visible(response["response"])
        outcome = unanswered(text, response["finish_reason"], open_thought)
    return {
        **{name: response[name] for name in _KEYS},
        **{name: item[name] for name in ("group_id", "source", "question_type", "category")},
        "outcome": outcome,
        **found,
        "n_predicted": len(said.rows),
        "rows_lost": len(said.lost),
        "cut_off": response["finish_reason"] == "length",
        "completion_tokens": response["completion_tokens"],
    }
