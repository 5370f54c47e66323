"""Tables of items, answers and results as a reader wants to see them, in a notebook of one's own.

from tomlab.show import show
show(items, responses, scores)
"""

from importlib import import_module

import pandas as pd

from tomlab.errors import InputError
from tomlab.records.published import Wording
from tomlab.reporting import readings, tables
from tomlab.reporting.cards import cards, conversation
from tomlab.reporting.tables import PLAIN, Shown

SHOWN = 6  # examples


def show(*frames: pd.DataFrame, n: int = SHOWN, seed: int = 0) -> Shown:
    """What the frames hold, told apart by their columns, in any order.

    items: n of them with story, question, options and gold. items, responses and scores: answers
    of different kinds, each with its verdict and the rule that decided, drawn by `seed`. Scores
    or responses without items: these alone. responses alone: the first as it was asked, if it says
    so (`messages`). Any other: the table in words, with intervals beside their numbers. n: how many
    examples. InputError: items of several benchmarks, several frames of one kind, none at all.
    """
    found = {}
    for frame in frames:
        if (kind := _kind(frame)) in found:
            raise InputError(f"show: found two tables of {kind}, expected one")
        found[kind] = frame
    if "items" in found:
        return _of_items(found["items"], found.get("responses"), found.get("scores"), n, seed)
    if "scores" in found:
        return _answers(_with_responses(found["scores"], found.get("responses")), n)
    if not found:
        raise InputError("show: found no table, expected items, responses, scores or results")
    [(kind, frame), *_] = found.items()
    if kind == "responses":
        row = frame.head(1).to_dict("records")
        return conversation(row[0]) if row and "messages" in frame else _answers(frame, n)
    return tables.show(frame, _wording(frame))


def _kind(frame: pd.DataFrame) -> str:
    kinds = {"items": "story", "responses": "response", "scores": "outcome"}
    kept = [kind for kind, column in kinds.items() if column in frame and "item_id" in frame]
    return kept[0] if kept else "results"


def _of_items(
    items: pd.DataFrame,
    responses: pd.DataFrame | None,
    scores: pd.DataFrame | None,
    n: int,
    seed: int,
) -> Shown:
    names = items["benchmark"].unique()
    if len(names) != 1:
        raise InputError(
            f"show: found items of {', '.join(names) or 'none'}, expected one benchmark"
        )
    benchmark, wording = import_module(f"tomlab.benchmarks.{names[0]}"), _wording(items)
    if responses is None or scores is None:
        return readings.examples(benchmark, items.head(n), wording)
    told = {"sample": 0, "error": None, "finish_reason": "stop"}
    given = responses.assign(**{k: v for k, v in told.items() if k not in responses})
    return readings.show(readings.readings(benchmark, items, given, scores, n, seed), wording)


def _with_responses(scores: pd.DataFrame, responses: pd.DataFrame | None) -> pd.DataFrame:
    if responses is None:
        return scores
    keys = [key for key in readings.KEY if key in responses]
    return scores.merge(responses[[*keys, "response"]], on=keys)


def _answers(table: pd.DataFrame, n: int) -> Shown:
    """Answers of which the items are not at hand."""
    own = table.head(n).rename(
        columns={"item_id": "item", "response": "answer", "outcome": "verdict"}
    )
    own = own.set_index([name for name in ("item", "model", "method") if name in own])
    return cards(own[[name for name in ("answer", "chosen", "verdict") if name in own]])


def _wording(frame: pd.DataFrame) -> Wording:
    """How the benchmark of a table words things, if it is of one."""
    names = frame["benchmark"].unique() if "benchmark" in frame else []
    if len(names) != 1:
        return PLAIN
    return import_module(f"tomlab.benchmarks.{names[0]}.paper").WORDING
