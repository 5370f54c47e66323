"""Putting a benchmark's items to a model: which items, which requests, one table of responses."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab.asking import prompts
from tomlab.asking.protocol import Benchmark, TwoCalls, strange_methods
from tomlab.errors import InputError, refuse
from tomlab.models.ask import ask
from tomlab.models.replies import FILTERED
from tomlab.models.specs import Limits, ModelSpec, Reply, Request, is_sampled
from tomlab.paths import RESPONSE_STORE
from tomlab.records.tidy import AS_ASKED, REVERSED, check
from tomlab.scoring.answers import as_shown, failed, first_methods


@dataclass(frozen=True)
class Variant:
    """How questions are put: as the protocol asks, `REVERSED`, or in another wording by its name.

    prompts: the files of that wording by prompt name. earlier: how many samples of an item are put
    in another way before, so that samples in the tables have numbers of their own.
    """

    name: str = AS_ASKED
    prompts: Mapping[str, str] = field(default_factory=dict)
    earlier: int = 0

    def over(self, replaced: Mapping[str, str] | None) -> dict[str, str]:
        """The files of prompts in this wording, and a user's own for the others."""
        return {**(replaced or {}), **self.prompts}


_PLAIN = Variant()
# What a baseline says to the first of two calls.
_NOTHING = dict.fromkeys(("gold", "omniscient", "random"), "A baseline does not reason.")


@dataclass(frozen=True)
class Question:
    """One item, as it is shown, put to a model by one method; `sample` tells repeats apart."""

    item: Mapping
    method: str
    sample: int
    variant: Variant = _PLAIN

    @property
    def number(self) -> int:
        """Its sample in the tables."""
        return self.variant.earlier + self.sample


def plan(
    benchmark: Benchmark,
    items: pd.DataFrame,
    model: ModelSpec,
    methods: Sequence[str],
    *,
    samples: int = 1,
    seed: int = 0,
    orders: int = 1,
    wordings: Sequence[Path | str] = (),
) -> list[Question]:
    """The questions a model is asked: by method, whole groups (of the benchmark's `UNIT`) only.

    A model that declares `groups: {<benchmark>: {<method>: n}}` is asked about n groups, drawn by
    `seed`; those of a smaller n are among those of a larger one, so methods stay comparable. A
    baseline is left out of methods to which it has no answers, and says so.

    orders: with 2, questions with two options are also asked with these swapped, but for items with
    `tried`, which come in several drawn orders as they are. wordings: folders of other prompts (see
    `prompts.wording`), which are used for items whose messages they change; a baseline reads none.
    A model may declare, as `variants`, of how many of its groups both or either are asked.
    """
    others = [(REVERSED, {})] if orders > 1 else []
    others += [prompts.wording(folder) for folder in wordings if model.provider != "baseline"]
    ways_too = [Variant(*one, samples * place) for place, one in enumerate(others, start=1)]
    allowed = model.groups.get(benchmark.NAME, {})
    varied = model.variants.get(benchmark.NAME, {})
    declared = {"groups": allowed, "variants": varied}
    named = {f"models.{model.name}.{o}.{benchmark.NAME}": of for o, of in declared.items()}
    refuse(strange_methods(benchmark, named), "params.yaml")
    order = drawn(items, benchmark.UNIT, benchmark.STRATA, seed)
    questions = []
    for method in methods:
        own = items
        if (n := allowed.get(method)) is not None:
            own = items[items[benchmark.UNIT].isin(order[:n])]
        asked = benchmark.asked(own, method).to_dict("records")
        known = benchmark.reference(asked[0], method, 0) if asked else model.model
        if model.provider == "baseline" and model.model not in known:
            print(f"{model.name} is left out of {method}: no {model.model} answer to it is known")
            continue
        # The groups of which each way is asked.
        among = {way.name: {*order[: _groups_of(way, varied, method)]} for way in ways_too}
        for item in asked:
            ways = [way for way in ways_too if item[benchmark.UNIT] in among[way.name]]
            ways = [_PLAIN, *(way for way in ways if _changes(way, benchmark, item, method))]
            questions += [
                Question(as_shown(item, way.name), method, sample, way)
                for way, sample in product(ways, range(samples))
            ]
    return questions


def as_asked(questions: Iterable[Question]) -> list[Question]:
    """Those put as the protocol puts them."""
    return [question for question in questions if question.variant.name == AS_ASKED]


def _groups_of(way: Variant, varied: Mapping, method: str) -> int | None:
    """How many groups a model that declares `variants` is asked about in one way, None for all."""
    declared = varied.get(method)
    kind = "reversed" if way.name == REVERSED else "wordings"
    return declared.get(kind) if isinstance(declared, Mapping) else declared


def _changes(way: Variant, benchmark: Benchmark, item: Mapping, method: str) -> bool:
    """Whether a variant asks anything else of an item than the protocol does."""
    if way.name == REVERSED:
        return len(item["choices"]) == 2 and "tried" not in item
    told = {"reasoning": "", **item}  # which a second call has only once it is asked
    return benchmark.messages(told, method, way.prompts) != benchmark.messages(told, method)


def drawn(items: pd.DataFrame, unit: str, strata: Sequence[str], seed: int) -> list[str]:
    """All groups in the order in which they are drawn: by `seed`, levels of each stratum in turn.

    What intervals cluster on comes first among the strata, so that n groups are of as many clusters
    as can be, and a cluster's own of as many levels.
    """
    # Each has its own draw, so that leaving some out does not change the order of the others.
    order = sorted(items[unit].unique(), key=lambda name: random.Random(f"{seed}/{name}").random())
    if not strata:
        return order
    levels = items.drop_duplicates(unit).set_index(unit).loc[order, [*strata]]
    levels = levels.loc[levels.groupby([*strata]).cumcount().sort_values(kind="stable").index]
    turns = pd.DataFrame(index=levels.index)
    for stratum in strata:
        before = [turns[name] for name in turns]
        turns[stratum] = levels.groupby([*before, levels[stratum]]).cumcount()
    return list(turns.sort_values([*strata], kind="stable").index)


def request(
    benchmark: Benchmark,
    question: Question,
    *,
    seed: int = 0,
    replaced: Mapping[str, str] | None = None,
    max_tokens: Mapping[str, int | None] | None = None,
) -> Request:
    """The request for one question. max_tokens: a user's own limits by method, None for none."""
    item, method, way = question.item, question.method, question.variant
    # A baseline that guesses guesses anew.
    drawn = random.Random(f"{seed}/{way.name}").getrandbits(32) if way.name else seed
    is_first = method in first_methods(benchmark.METHODS)
    return Request(
        messages=tuple(benchmark.messages(item, method, way.over(replaced))),
        max_tokens=(max_tokens or {}).get(method, benchmark.METHODS[method].max_tokens),
        sample=question.sample,
        seed=seed,
        shared_prefix=benchmark.shared_prefix(item, method),
        reference=_NOTHING if is_first else benchmark.reference(item, method, drawn),
        schema=benchmark.schema(method),
        purpose=" ".join(filter(None, (method, way.name))),
    )


def requested(
    benchmark: Benchmark, questions: Iterable[Question], model: ModelSpec, **options: Any
) -> Iterator[Request]:
    """The requests of `evaluate`, in the order of the questions. options: as of `request`."""
    limits = (options.get("max_tokens") or {}) | model.answer_tokens.get(benchmark.NAME, {})
    where = f"{benchmark.NAME}, {model.name}"
    refuse(strange_methods(benchmark, {"limits of answers": limits}), where)
    for question in questions:
        put = request(benchmark, question, **{**options, "max_tokens": limits})
        if is_sampled(model):
            # By one seed for all questions, an engine's chance would be the same in each, and the
            # answers of one repeat would go wrong together.
            lot = f"{put.seed}/{question.item['item_id']}/{question.method}"
            put = replace(put, seed=random.Random(lot).getrandbits(30))
        yield put


async def evaluate(
    benchmark: Benchmark,
    questions: Sequence[Question],
    model: ModelSpec,
    *,
    seed: int = 0,
    replaced: Mapping[str, str] | None = None,
    max_tokens: Mapping[str, int | None] | None = None,
    limits: Limits | None = None,
    store: Path | str = RESPONSE_STORE,
) -> pd.DataFrame:
    """Ask all questions; one row each in the responses table, and one for each first call.

    First calls are asked together with all methods of one call, and second calls after them. The
    rows are in this order; questions that lost their first call come last. seed: sent to engines
    that take one (for a sampled model, one drawn by it for each question); the baseline `random`
    guesses by it. max_tokens: limits of answers by method; a model's `answer_tokens` come before
    them. Errors: those of `models.ask`, and `InputError` when more than `limits.max_error_share`
    failed. What a vendor's content filter took away is no such failure: it would come for ever.
    """
    where = f"{benchmark.NAME}, {model.name}"
    if not questions:
        raise InputError(f"{where}: nothing to ask; see `methods`, `items`")
    options = {"seed": seed, "replaced": replaced, "max_tokens": max_tokens}
    how = model, limits or Limits(), store, options
    later = [q for q in questions if getattr(benchmark.METHODS[q.method], "first", None)]
    now = [q for q in questions if not getattr(benchmark.METHODS[q.method], "first", None)]
    first = await _asked(benchmark, [*now, *first_calls(benchmark, later)], how)
    if not later:
        return first
    ready, lost = second_calls(benchmark, later, first)
    second = [await _asked(benchmark, ready, how)] if ready else []
    return check(pd.concat([first, *second, lost], ignore_index=True), "responses", where)


async def _asked(benchmark: Benchmark, questions: Sequence[Question], how: tuple) -> pd.DataFrame:
    """The answers to one call of each question. how: model, limits, store, `request`'s options."""
    model, limits, store, options = how
    where, replaced = f"{benchmark.NAME}, {model.name}", options["replaced"]
    requests = list(requested(benchmark, questions, model, **options))
    responses = await ask(requests, model, store=store, limits=limits)
    errors = [r.error for r in responses if r.error is not None and not r.filtered]
    if len(errors) > limits.max_error_share * len(responses):
        raise InputError(
            f"{where}: {len(errors)} of {len(responses)} requests failed (the last: {errors[-1]}), "
            f"more than limits.max_error_share = {limits.max_error_share}. The other answers are "
            "kept; running again asks only for the failed ones"
        )
    hashes = {}
    for key, way in {(q.method, q.variant.name): q.variant for q in questions}.items():
        own = way.over(replaced)
        texts = [prompts.load(name, own) for name in benchmark.METHODS[key[0]].prompts]
        hashes[key] = prompts.prompt_hash(*texts)
    rows = []
    for question, put, response in zip(questions, requests, responses, strict=True):
        reply = response.reply or Reply(None, FILTERED if response.filtered else None)
        row = {
            "item_id": question.item["item_id"],
            "model": model.name,
            "method": question.method,
            "sample": question.number,
            "asked_as": question.variant.name,
            "messages": json.dumps(list(put.messages), ensure_ascii=False),
            "prompt_hash": hashes[question.method, question.variant.name],
            "response": reply.text,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "error": response.error,
            "request_key": response.request_key,
        }
        rows.append(row)
    return check(pd.DataFrame(rows), "responses", where)


def first_calls(benchmark: TwoCalls, questions: Sequence[Question]) -> list[Question]:
    """For questions by methods that name their `first` call: those that make it."""
    return [replace(q, method=benchmark.METHODS[q.method].first) for q in questions]


def second_calls(
    benchmark: TwoCalls, questions: Sequence[Question], first: pd.DataFrame
) -> tuple[list[Question], pd.DataFrame]:
    """The questions that ask for the answer, each item with the `reasoning` of its first call.

    first: the responses to `first_calls(questions)`. The second value holds responses with an error
    for the questions whose first call failed, so that none is lost.
    """
    rows = first.to_dict("records")
    said = {(row["item_id"], row["method"], row["sample"]): row for row in rows}
    asked, lost = [], []
    for q in questions:
        row = said[q.item["item_id"], benchmark.METHODS[q.method].first, q.number]
        if failed(row):
            error = f"first call: {row['error']}"
            lost.append({**row, "method": q.method, "response": None, "error": error})
        else:
            reasoning = benchmark.reasoning_of(row["response"], q.method)
            asked.append(replace(q, item={**q.item, "reasoning": reasoning}))
    return asked, pd.DataFrame(lost, columns=first.columns).astype(first.dtypes)


def usage(responses: pd.DataFrame, model: ModelSpec) -> pd.DataFrame:
    """Answers, tokens and list price by method: what it costs to ask all this once."""
    tokens = ["prompt_tokens", "completion_tokens"]
    by_method = responses.groupby("method", sort=False)
    table = by_method.agg(answers=("item_id", "size"), failed=("error", "count"))
    table[tokens] = by_method[tokens].sum()
    if model.price is not None:
        table["list_price_usd"] = model.price.usd(*(table[name] for name in tokens))
    return table
