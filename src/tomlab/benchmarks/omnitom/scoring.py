"""OmniToM's verdicts: extracted tables against gold tables, labels against gold labels (Sec. 5)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

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
    """Who says which beliefs match: a kind of `scoring.similarity`, its least value of a match."""

    kind: str = "embedding"
    threshold: float = 0.75


def verdict(
    item: Mapping, response: Mapping, said: Parsed, aligned: _Aligned = None, by_text: bool = False
) -> dict:
    """The outcome and the score of one answer, and the rule that decided, in words.

    A table without a row that can be read earns nothing. Else the score of an extracted table is
    F1 of the beliefs that have a match in the other table, and the score of a labelled one is the
    share of labels that are gold's, in rows that repeat a given actor and belief. The outcome is
    `correct` for any score above 0.

    said: the rows that were read; aligned: the matches of an extracted table, and who judged them.
    """
    if item["question_type"] == "linked":
        return _linked(item, response, by_text)
    gold = gold_rows(item)
    if item["question_type"] == "extraction":
        found = _extraction(said, gold, *aligned)
    else:
        found = _labelling(said, gold)
    if failed(response):
        outcome, rule = lost(response)
    elif not said.rows:
        text, open_thought = visible(response["response"])
        outcome = unanswered(text, response["finish_reason"], open_thought)
        rule = f"not usable: {said.reason}"
    else:
        outcome = "correct" if found["score"] > 0 else "wrong"
        surplus = f", surplus cells dropped: {said.dropped}" if said.dropped else ""
        rule = f"read as {said.form}, rows: {len(said.rows)}, lost: {len(said.lost)}{surplus}; "
        rule += found["rule"]
    return found | {"outcome": outcome, "rule": rule, "n_gold": len(gold)}


def _linked(item: Mapping, response: Mapping, by_text: bool) -> dict:
    """A try at a ToMBench question; `option` is the letter of the one it names, as in the file."""
    read = judged(item, response, KEYS, read_answer, False, by_text)
    tried = json.loads(item["tried"])
    # Of a key under which no option stands, `judged` makes none.
    option = "" if read.key is None else tried["written"][KEYS.index(read.key)]
    chosen = None if read.key is None else item["choices"][KEYS.index(read.key)]
    found = {"score": float(read.outcome == "correct"), "detail": tried | {"option": option}}
    return found | {"rule": read.rule, "outcome": read.outcome, "chosen": chosen}


def _extraction(said: Parsed, gold: Sequence[Row], aligned: Alignment, judge: str) -> dict:
    """F1 of the share of predicted and the share of gold beliefs that have a match (Stage 1)."""
    precision, recall, f1 = alignment.precision_recall_f1(aligned)
    sides = {"predicted": (said.rows, aligned.mc_predicted), "gold": (gold, aligned.mc_gold)}
    detail, matched = {}, []
    for side, (rows, counts) in sides.items():
        orders = [normal_label("order", row.order) or "" for row in rows]
        lines = zip(rows, orders, counts, strict=True)
        detail[side] = [[row.actor, row.belief, order, count] for row, order, count in lines]
        matched.append(f"{sum((count or 0) > 0 for count in counts)} of {len(rows)}")
    told = f"{matched[0]} rows, {matched[1]} gold beliefs, F1 {f1:.2f} (judge: {judge})"
    found = {"stage": 1, "rule": f"with a match: {told}", "detail": detail, "judge": judge}
    return found | {"score": f1, "precision": precision, "recall": recall}


def _labelling(said: Parsed, gold: Sequence[Row]) -> dict:
    """The share of labels that are gold's (Stage 2) in rows that repeat actor and belief."""
    labelled, detail = same_rows(gold, said.rows), []
    for own, *found in zip(gold, labelled, labels_for(gold, said.rows), strict=True):
        given = [{} if row is None else {**row.labels, "order": row.order} for row in found]
        labels = {
            name: [own.labels[name], *(normal_label(name, row.get(name, "")) for row in given)]
            for name in DIMENSIONS
        }
        detail.append([own.labels["order"], labels])
    cells = [cell for _, labels in detail for cell in labels.values()]
    right, by_place = (sum(cell[0] == cell[i] for cell in cells) for i in (1, 2))
    rows = f"{sum(row is not None for row in labelled)} of {len(gold)} given beliefs have their row"
    told = f"{rows}, {right} of {len(cells)} labels are right (by position: {by_place})"
    return {"stage": 2, "rule": told, "score": right / len(cells), "detail": detail}


def same_rows(gold: Sequence[Row], predicted: Sequence[Row]) -> list[Row | None]:
    """The predicted row of each gold belief, or None, as in the released `run_replication.py`.

    Only a row with all its labels' cells counts. Actor and belief are gold's but for case, spaces,
    quotation marks around them, and full stops at the end of the belief.
    """
    whole = [row for row in predicted if DIMENSIONS.keys() <= row.labels.keys()]
    return paired(gold, whole, _as_released)


def _as_released(row: Row) -> tuple[str, str]:
    actor = " ".join(row.actor.split())
    belief = " ".join(row.belief.split()).rstrip(".")
    return actor.lower().strip("\"'"), belief.lower().strip("\"'")


_KEY = ("item_id", "model", "method", "sample")
_OF_ITEM = ("group_id", "family", "source", "question_type", "category")
# Of a linked question, of which no table was asked, and of what a stage does not have.
_DETAILS = {"stage": 0, "score": 0.0, "precision": float("nan"), "recall": float("nan")}
_DETAILS |= {"n_gold": 1, "detail": {}, "judge": "", "chosen": None}
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
    """A row a response, with `outcome` and `score`: F1 (extraction), mean accuracy (labelling), or
    1 for a try at a linked question that names the right option; see `verdict`.

    judge: of extraction, by default embeddings with optimal assignment; judged: alignments by a
    language model, by (item_id, model, method, sample), which come first unless they leave all rows
    of a table undefined; embedder: None leaves extraction out where embeddings would judge it;
    by_text: a linked option's text without its letter counts, too.
    Details: `n_predicted`, `n_gold`, `rows_lost`, `cells_dropped` (behind the last heading),
    `cut_off` (at the token limit), `precision`, `recall`, `judge`, `detail` (JSON, for `metrics`).
    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    # Any method will do whose name begins with the stage of its item.
    named = [name for name in responses.get("method", []) if isinstance(name, str)]
    both = pairs(items, responses, dict.fromkeys(named) | METHODS)
    for item, response in both:
        kind, method = item["question_type"], response["method"]
        if not method.startswith(_STAGES[kind]):
            found = f"{item['item_id']} is a question of {kind}, found method {method!r}"
            raise InputError(f"responses: {found}, expected {_STAGES[kind]}…")
    judge = judge or Judge()
    if embedder is None and judge.kind == "embedding":
        both = [one for one in both if one[0]["question_type"] != "extraction"]
    no_table = Parsed([], [], "")
    read = [(i, r, no_table if i["question_type"] == "linked" else parsed(r)) for i, r in both]
    aligned = _aligned(read, judge, judged or {}, embedder)
    rows = []
    for (item, response, said), own in zip(read, aligned, strict=True):
        found = verdict(item, response, said, own, by_text)
        details = {name: found.get(name, default) for name, default in _DETAILS.items()}
        details["detail"] = json.dumps(details["detail"], ensure_ascii=False)
        row = {name: response[name] for name in (*_KEY, "asked_as")}
        row |= {name: item[name] for name in _OF_ITEM} | {"outcome": found["outcome"]} | details
        row |= {"n_predicted": len(said.rows), "rows_lost": len(said.lost)}
        row |= {"cells_dropped": said.dropped, "cut_off": response["finish_reason"] == "length"}
        rows.append(row | {"completion_tokens": response["completion_tokens"]})
    # `detail` has the option of a linked question, by its letter in the file.
    return table_of(rows, both, KEYS, "omnitom scores").drop(columns="chosen")


def rule(item: Mapping, scored: Mapping) -> str:
    """How an answer was read, what decided. scored: a response with its row of `score`."""
    aligned = None
    if item["question_type"] == "extraction":
        counts = json.loads(scored["detail"])
        sides = ([count for *_, count in counts[side]] for side in ("predicted", "gold"))
        aligned = Alignment(*sides, []), scored["judge"]
    return verdict(item, scored, parsed(scored), aligned, was_read(scored))["rule"]


def parsed(response: Mapping) -> Parsed:
    """What can be read of a response's table; no rows for a failed request."""
    return Parsed([], [], "failed") if failed(response) else _read(visible(response["response"])[0])


def key_of(response: Mapping) -> tuple:
    return tuple(response[name] for name in _KEY)


def likeness(tables: Sequence[tuple], kind: str, embedder: ModelSpec) -> alignment.Vectors:
    """What `alignment.align` needs to know of these predicted and gold tables for a kind."""
    if kind != "embedding":
        return None
    texts = alignment.texts_to_embed(rows for pair in tables for rows in pair)
    return dict(zip(texts, embed(texts, embedder), strict=True)) if texts else {}


def _aligned(
    read: Sequence[tuple], judge: Judge, judged: Mapping[tuple, Alignment], embedder: ModelSpec
) -> Iterator[_Aligned]:
    """The alignment of each extracted table with the gold one, and who made it."""
    tables = [
        (said.rows, gold_rows(item)) if item["question_type"] == "extraction" else ()
        for item, _, said in read
    ]
    vectors = likeness(tables, judge.kind, embedder)
    for (_, response, _), table in zip(read, tables, strict=True):
        own = judged.get(key_of(response)) if table else None
        if own is not None and not np.isnan(alignment.precision_recall_f1(own)).any():
            yield own, "llm"
        elif table:
            yield alignment.align(*table, judge.kind, judge.threshold, vectors), judge.kind
        else:
            yield None
