"""Answers that were asked elsewhere, matched to the items that they answer: see docs/logs.md."""

import json
import re
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import pandas as pd

from tomlab.asking.likelihood import is_weighed
from tomlab.asking.protocol import Benchmark, strange_methods
from tomlab.errors import InputError, refuse
from tomlab.models.specs import TakenModel
from tomlab.paths import user_path
from tomlab.records import logs
from tomlab.records.tidy import AS_ASKED, REVERSED, check, read

_json = partial(json.dumps, ensure_ascii=False)
_TOLD = {"story", "full_story"}  # of which a prompt has one
_OPTION = re.compile(r"(?m)^[^\w\n]*([A-Da-d])[).:\]]+[^\S\n]*(.+)$")  # as prompts list it
_SAME = {"finish_reason", "error", "prompt_tokens", "completion_tokens", "place"}


def given(model: TakenModel, benchmark: str) -> pd.DataFrame:
    """The answers that were taken for a model. Errors: `InputError` where there are none."""
    there = read("responses", user_path(f"{model.folder}/{benchmark}.parquet"))
    return there.assign(model=model.name)


def matched(
    benchmark: Benchmark, items: pd.DataFrame, path: Path, model: str, method: str
) -> tuple[pd.DataFrame, list[str]]:
    """The answers of a log as responses with the columns of docs/logs.md, and why others are none.
    model: which of several, or its name where the log has none; method: where the log has none.
    """
    harness, entries = logs.read(path)
    entries = [each for each in entries if not each.model or model in ("", each.model)] or entries
    if len(names := {each.model or model for each in entries}) > 1 or "" in names:
        raise InputError(f"{path}: found the models {sorted(names)}, expected --model to name one")
    methods = {each.method or method for each in entries}
    refuse(strange_methods(benchmark, {"--method": methods}), str(path))
    known, rows, lost, times = _index(benchmark, items, methods), [], [], Counter()
    for entry in entries:
        way, place = entry.method or method, f"{entry.place}: {entry.item_id or entry.question!r}"
        sent = entry.prompt[-1]["content"] if entry.prompt else ""
        keys = (entry.item_id, _plain(entry.story, entry.question), (way, *_parts(sent)))
        found = next((known[key] for key in keys if key in known), [])
        # An id may be of another version of the item, with another story.
        told, *_ = _plain(entry.story or " ".join(message["content"] for message in entry.prompt))
        found = [i for i in found if not told or any(_plain(i[n])[0] in told for n in _TOLD & {*i})]
        if len({(*sorted(item["choices"]), str(item["answer"])) for item in found}) != 1:
            why = "several items have" if found else "no item has its id,"
            lost.append(f"{place}: {why} its story and question, or its prompt")
            continue
        # BigToM's backward controls are one question twice: its answers are theirs in turn.
        item = found[times[found[0]["item_id"], way, entry.sample, entry.epoch] % len(found)]
        times[found[0]["item_id"], way, entry.sample, entry.epoch] += 1
        shown = _order(sent, entry.options, own := [*item["choices"]])
        if own and entry.answer and not shown:
            why = "other options" if entry.options else "no options, and letters mean nothing"
            lost.append(f"{place}: the log has {why}")
            continue
        row = {"item_id": item["item_id"], "model": entry.model or model, "method": way}
        row |= entry.model_dump(include=_SAME) | {"log_model": entry.model, "how": _json(entry.how)}
        row["options_shown"] = _json(shown) if shown and shown != own else ""
        row |= {"messages": _json(entry.prompt), "request_key": f"{path.name}/{entry.place}"}
        row["verdict"] = None if entry.answer else entry.verdict  # on an answer, ours counts
        for n, text in enumerate(entry.answer or [None], start=entry.sample + entry.epoch - 1):
            rows.append(row | {"sample": n, "log_sample": n, "response": text})
    own = {"harness": harness, "log": path.name, "asked_as": AS_ASKED, "prompt_hash": ""}
    return pd.DataFrame(rows).assign(**own), lost


def numbered(table: pd.DataFrame) -> pd.DataFrame:
    """Answers with a number each, by item and model. Of an item that was shown with its two options
    in both orders, those in the other order than ours are `REVERSED`, with numbers behind the rest.
    """
    whose = ["item_id", "model", "method"]
    swapped = table["options_shown"].map(lambda shown: len(json.loads(shown or "[]")) == 2)
    both = swapped.groupby([table[name] for name in whose]).transform("nunique").eq(2)
    table = table.assign(asked_as=(swapped & both).map({True: REVERSED, False: AS_ASKED}))
    table = table.sort_values(["asked_as", "log_sample"], kind="stable", ignore_index=True)
    return table.assign(sample=table.groupby(whose).cumcount())


def scores(items: pd.DataFrame, taken: pd.DataFrame) -> pd.DataFrame:
    """The scores table of verdicts by others: the column `harness` says by whose."""
    told = {"outcome": taken["verdict"].map({True: "correct", False: "wrong"}), "words": ""}
    told |= {"score": taken["verdict"].astype(float), "chosen": None, "by_released_rule": None}
    conditions = ["item_id", *items.columns.difference(taken.columns)]
    return check(taken.assign(**told).merge(items[conditions], on="item_id"), "scores", "verdicts")


def _plain(*texts: str) -> tuple[str, ...]:
    return tuple(" ".join(text.split()) for text in texts)


def _parts(prompt: str) -> tuple[str, ...]:
    """A prompt without its options, and these in no order."""
    options = sorted(option for _, option in _OPTION.findall(prompt))
    return _plain(_OPTION.sub("", prompt), *options)


def _index(benchmark: Benchmark, items: pd.DataFrame, methods: set[str]) -> dict:
    """Items by id, by story and question, and by what a method that makes one call sends."""
    known = defaultdict(list)
    for item in items.to_dict("records"):
        known[item["item_id"]].append(item)
        known[_plain(item["story"], item["question"])].append(item)
    for method in methods:
        how = benchmark.METHODS[method]
        is_one_call = not (getattr(how, "first", None) or getattr(how, "reminder", False))
        if is_one_call and not is_weighed(method):  # which shows no options to know an item by
            for item in benchmark.asked(items, method).to_dict("records"):
                sent = benchmark.messages(item, method)[-1]["content"]
                known[method, *_parts(sent)].append(item)
    return known


def _order(prompt: str, listed: list[str], own: list[str]) -> list[str]:
    """An item's options as they were shown: as the prompt lists them, else as the log does."""
    texts = dict(zip(_plain(*own), own, strict=True))
    lettered = [(key.upper(), *_plain(option)) for key, option in _OPTION.findall(prompt)]
    lettered = [each for each in lettered if each[1] in texts][-len(own) :]
    for told in ([option for _, option in sorted(lettered)], _plain(*listed)):
        if sorted(told) == sorted(texts):
            return [texts[option] for option in told]
    return []
