"""OmniToM's scoring: extracted tables and labels are compared with the gold ones (Sec. 5)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
import pandas as pd

from tomlab.benchmarks.omnitom import alignment
from tomlab.benchmarks.omnitom.alignment import Alignment
from tomlab.benchmarks.omnitom.items.compose import KEYS, METHODS, gold_rows
from tomlab.benchmarks.omnitom.items.labels import labels_for, paired
from tomlab.benchmarks.omnitom.items.parsing import Parsed, normal_label, parse
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, Row
from tomlab.errors import InputError
from tomlab.models.specs import ModelSpec
from tomlab.scoring.answers import failed, lost, pairs, unanswered
from tomlab.scoring.choices import judged, table_of, was_read
from tomlab.scoring.embeddings import MINILM, embed
from tomlab.scoring.options import read_answer
from tomlab.scoring.visible import visible

_read = cache(parse)  # each judge of a calibration scores the same answers
_Aligned = tuple[Alignment, str] | None  # an extracted table's matches, and who judged them


@dataclass(frozen=True)
class Judge:
    """How matches are decided: a kind of `scoring.similarity`, and the least value of a match."""

    kind: str = "embedding"
    threshold: float = 0.75


def verdict(
    item: Mapping,
    response: Mapping,
    answer: Parsed,
    aligned: _Aligned = None,
    by_text: bool = False,
) -> dict:
    """The `outcome` and `score` of one answer, the `rule` that decided (in words), and details.

    A table without a readable row scores 0. Otherwise an extracted table's score is the F1 of
    beliefs that have a match in the other table; a labelled table's score is the share of the gold
    labels that it gives in rows that repeat the actor and belief. The outcome is `correct` for any
    score above 0.

    answer: the rows that were read; aligned: the matches of an extracted table, and who judged
    them; by_text: whether a linked question's option counts if its text is given without a letter.
    """
    if item["question_type"] == "linked":
        return _linked(item, response, by_text)
    gold = gold_rows(item)
    result = _extraction(answer, gold, *aligned) if aligned else _labelling(answer, gold)
    if failed(response):
        outcome, rule = lost(response)
    elif not answer.rows:
        text, open_thought = visible(response["response"])
        outcome = unanswered(text, response["finish_reason"], open_thought)
        rule = f"not usable: {answer.reason}"
    else:
        outcome = "correct" if result["score"] > 0 else "wrong"
        rule = f"read as {answer.form}, rows: {len(answer.rows)}, lost: {len(answer.lost)}"
        if answer.dropped:
            rule += f", surplus cells dropped: {answer.dropped}"
        rule += f"; {result['rule']}"
    return {**result, "outcome": outcome, "rule": rule, "n_gold": len(gold)}


def _linked(item: Mapping, response: Mapping, by_text: bool) -> dict:
    """Score one try at a ToMBench question. In `detail`, `option` is the letter that the chosen
    option has in ToMBench's file, "" if the answer is unreadable.
    """
    read = judged(item, response, KEYS, read_answer, False, by_text)
    tried = json.loads(item["tried"])
    result = {"score": float(read.outcome == "correct"), "rule": read.rule, "outcome": read.outcome}
    if read.key is None:
        return {**result, "detail": {**tried, "option": ""}}
    number = KEYS.index(read.key)  # the chosen option's place in the prompt
    option = tried["written"][number]
    return {**result, "detail": {**tried, "option": option}, "chosen": item["choices"][number]}


def _extraction(answer: Parsed, gold: Sequence[Row], aligned: Alignment, judge: str) -> dict:
    """Score an extracted table (Stage 1) by F1 of the predicted and gold beliefs with a match."""
    precision, recall, f1 = alignment.precision_recall_f1(aligned)
    matched = _matched(aligned.mc_predicted)
    matched_gold = _matched(aligned.mc_gold)
    rule = (
        f"with a match: {matched} rows, {matched_gold} gold beliefs, F1 {f1:.2f} (judge: {judge})"
    )
    return {
        "stage": 1,
        "rule": rule,
        "detail": {
            "predicted": _counted_rows(answer.rows, aligned.mc_predicted),
            "gold": _counted_rows(gold, aligned.mc_gold),
        },
        "judge": judge,
        "score": f1,
        "precision": precision,
        "recall": recall,
    }


def _matched(counts: Sequence[int | None]) -> str:
    """How many rows have a match, in words."""
    n_matched = sum(bool(count) for count in counts)
    return f"{n_matched} of {len(counts)}"


def _counted_rows(rows: Sequence[Row], counts: Sequence[int | None]) -> list[list]:
    """Actor, belief, order and MatchCount of each row of a table."""
    counted = []
    for row, count in zip(rows, counts, strict=True):
        order = normal_label("order", row.order) or ""
        counted.append([row.actor, row.belief, order, count])
    return counted


def _labelling(answer: Parsed, gold: Sequence[Row]) -> dict:
    """Score a labelled table (Stage 2): the share of gold labels that it gives in rows that repeat
    the actor and belief. `detail` also has the labels of the row at the same place.
    """
    repeating = same_rows(gold, answer.rows)
    at_place = labels_for(gold, answer.rows)
    detail = []
    right = 0
    right_at_place = 0
    for gold_row, row, row_at_place in zip(gold, repeating, at_place, strict=True):
        predicted = _labels_of(row)
        placed = _labels_of(row_at_place)
        labels = {}
        for name in DIMENSIONS:
            gold_label = gold_row.labels[name]
            labels[name] = [gold_label, predicted[name], placed[name]]
            right += predicted[name] == gold_label
            right_at_place += placed[name] == gold_label
        detail.append([gold_row.labels["order"], labels])
    n_rows = sum(row is not None for row in repeating)
    n_labels = len(gold) * len(DIMENSIONS)
    rule = (
        f"{n_rows} of {len(gold)} given beliefs have their row, {right} of {n_labels} labels are "
        f"right (by position: {right_at_place})"
    )
    return {"stage": 2, "rule": rule, "score": right / n_labels, "detail": detail}


def _labels_of(row: Row | None) -> dict[str, str | None]:
    """A row's label for each dimension, in its legal spelling; None where there is no legal one."""
    labels = {} if row is None else {**row.labels, "order": row.order}
    return {name: normal_label(name, labels.get(name, "")) for name in DIMENSIONS}


def same_rows(gold: Sequence[Row], predicted: Sequence[Row]) -> list[Row | None]:
    """The predicted row of each gold belief, or None, as in the released `run_replication.py`.

    Only rows with a cell for every label count. Actor and belief must equal those of gold, apart
    from case, spaces, quotation marks around them, and full stops at the end of the belief.
    """
    whole = [row for row in predicted if DIMENSIONS.keys() <= row.labels.keys()]
    return paired(gold, whole, _as_released)


def _as_released(row: Row) -> tuple[str, str]:
    actor = " ".join(row.actor.split())
    belief = " ".join(row.belief.split()).rstrip(".")
    return actor.lower().strip("\"'"), belief.lower().strip("\"'")


_KEY = ("item_id", "model", "method", "sample")
_OF_ITEM = ("group_id", "family", "source", "question_type", "category")
# The values of columns that do not apply to a row, such as `precision` of a linked question.
_DETAILS = {
    "stage": 0,
    "score": 0.0,
    "precision": float("nan"),
    "recall": float("nan"),
    "n_gold": 1,
    "detail": {},
    "judge": "",
    "chosen": None,
}
_STAGES = {"extraction": "stage1", "labelling": "stage2", "linked": "linked"}


def score(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    *,
    judge: Judge | None = None,
    judged: Mapping[tuple, Alignment] | None = None,
    embedder: ModelSpec | None = MINILM,
    by_text: bool = False,
) -> pd.DataFrame:
    """One row per response, with `outcome` and `score`: F1 (extraction), accuracy (labelling), or
    1 if a try at a linked question names the right option, else 0; see `verdict`.

    judge: judges extraction, by default embeddings with optimal assignment; judged: alignments by a
    language model, by (item_id, model, method, sample), which are used instead unless they leave
    all rows of a table undefined; embedder: if None, extraction that embeddings would judge is left
    out; by_text: an option's text without its letter counts as an answer to a linked question.
    Further columns: `n_predicted`, `n_gold`, `rows_lost`, `cells_dropped` (behind the last
    heading), `cut_off` (at the token limit), `precision`, `recall`, `judge`, `detail` (JSON, for
    `metrics`).
    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    answers = _of_their_stage(items, responses)
    judge = judge or Judge()
    if embedder is None and judge.kind == "embedding":
        answers = [pair for pair in answers if pair[0]["question_type"] != "extraction"]
    read = []
    for item, response in answers:
        is_linked = item["question_type"] == "linked"
        read.append((item, response, Parsed([], [], "") if is_linked else parsed(response)))
    aligned = _aligned(read, judge, judged or {}, embedder)
    rows = []
    for (item, response, answer), alignment_and_judge in zip(read, aligned, strict=True):
        decided = verdict(item, response, answer, alignment_and_judge, by_text)
        rows.append(_score_row(item, response, answer, decided))
    # `chosen` is not needed: `detail` has the chosen option's letter in ToMBench's file.
    return table_of(rows, answers, KEYS, "omnitom scores").drop(columns="chosen")


def _of_their_stage(items: pd.DataFrame, responses: pd.DataFrame) -> list[tuple]:
    """Pairs (item, response). Errors: `InputError` if a method is not of its item's stage."""
    # Unknown methods are allowed if their name begins with the stage of their item.
    methods = [name for name in responses.get("method", []) if isinstance(name, str)]
    answers = pairs(items, responses, dict.fromkeys(methods) | METHODS)
    for item, response in answers:
        kind = item["question_type"]
        method = response["method"]
        if not method.startswith(_STAGES[kind]):
            raise InputError(
                f"responses: {item['item_id']} is a question of {kind}, found method {method!r}, "
                f"expected {_STAGES[kind]}…"
            )
    return answers


def _score_row(item: Mapping, response: Mapping, answer: Parsed, decided: Mapping) -> dict:
    """A row of `score`."""
    details = {name: decided.get(name, default) for name, default in _DETAILS.items()}
    details["detail"] = json.dumps(details["detail"], ensure_ascii=False)
    return {
        **{name: response[name] for name in (*_KEY, "asked_as")},
        **{name: item[name] for name in _OF_ITEM},
        "outcome": decided["outcome"],
        **details,
        "n_predicted": len(answer.rows),
        "rows_lost": len(answer.lost),
        "cells_dropped": answer.dropped,
        "cut_off": response["finish_reason"] == "length",
        "completion_tokens": response["completion_tokens"],
    }


def rule(item: Mapping, scored: Mapping) -> str:
    """How an answer was read and scored, in words. scored: a response with its row of `score`."""
    aligned = None
    if item["question_type"] == "extraction":
        detail = json.loads(scored["detail"])
        predicted_counts = [count for *_, count in detail["predicted"]]
        gold_counts = [count for *_, count in detail["gold"]]
        aligned = Alignment(predicted_counts, gold_counts), scored["judge"]
    return verdict(item, scored, parsed(scored), aligned, was_read(scored))["rule"]


def parsed(response: Mapping) -> Parsed:
    """The rows that can be read in a response's table; none if the request failed."""
    if failed(response):
        return Parsed([], [], "failed")
    return _read(visible(response["response"])[0])


def key_of(response: Mapping) -> tuple:
    """Item, model, method and sample of a response."""
    return tuple(response[name] for name in _KEY)


def likeness(tables: Sequence[tuple], kind: str, embedder: ModelSpec | None) -> alignment.Vectors:
    """The embeddings, by text, that `alignment.align` needs for these pairs of tables; None if
    `kind` needs none or there is no embedder.
    """
    if kind != "embedding" or embedder is None:
        return None
    texts = alignment.texts_to_embed(chain.from_iterable(tables))
    if not texts:
        return {}
    return dict(zip(texts, embed(texts, embedder), strict=True))


def _aligned(
    read: Sequence[tuple],
    judge: Judge,
    judged: Mapping[tuple, Alignment],
    embedder: ModelSpec | None,
) -> Iterator[_Aligned]:
    """For each answer, the alignment of its table with gold and who judged it; None if it is not an
    extraction. A language model's alignment comes first if precision, recall and F1 are defined.
    """
    tables = []
    for item, _, answer in read:
        is_extracted = item["question_type"] == "extraction"
        tables.append((answer.rows, gold_rows(item)) if is_extracted else ())
    vectors = likeness(tables, judge.kind, embedder)
    for (_, response, _), table in zip(read, tables, strict=True):
        if not table:
            yield None
            continue
        by_model = judged.get(key_of(response))
        if by_model is None or np.isnan(alignment.precision_recall_f1(by_model)).any():
            yield alignment.align(*table, judge.kind, judge.threshold, vectors), judge.kind
        else:
            yield by_model, "llm"
