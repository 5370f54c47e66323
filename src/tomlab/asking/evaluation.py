"""Putting a benchmark's items to a model: which items, which requests, one table of responses."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab.asking import likelihood, prompts, taken
from tomlab.asking.protocol import Benchmark, strange_methods
from tomlab.errors import InputError, refuse
from tomlab.models.ask import ask
from tomlab.models.specs import FILTERED, PROTOCOL, Limits, ModelSpec, Reply, Request
from tomlab.paths import RESPONSE_STORE
from tomlab.records.tidy import AS_ASKED, REVERSED, check
from tomlab.scoring.answers import as_shown, failed, first_methods

# What a baseline says to the first of two calls.
_NOTHING = dict.fromkeys(("gold", "omniscient", "random"), "A baseline does not reason.")
MOST_QUESTIONS = 1_000_000  # of one benchmark to one model, which are held in memory


@dataclass(frozen=True)
class Question:
    """One item put to a model by one method."""

    item: Mapping  # as it is shown
    method: str
    sample: int  # tells repeats apart
    asked_as: str = AS_ASKED  # as in the responses table
    prompts: Mapping[str, str] = field(default_factory=dict)  # another wording's files, by name
    number: int = 0  # the sample in the tables, where no two ways of asking share one


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

    A model's entry may limit the `groups` of a method, drawn by `seed`, a smaller number among
    those of a larger one, and as `variants` those of them that are asked in other ways. A baseline
    is left out of methods to which it knows no answer, and of a model that was asked elsewhere
    there is what it answered. A method without any item is left out with a sentence that says so.
    orders: with 2, questions with two options are also asked with these swapped. wordings: folders
    for `prompts.wording`.
    """
    ways = [(AS_ASKED, {})] + ([(REVERSED, {})] if orders > 1 else [])
    ways += [prompts.wording(folder) for folder in wordings if model.provider != "baseline"]
    groups, varied = (each.get(benchmark.NAME, {}) for each in (model.groups, model.variants))
    named = {"groups": groups, "variants": varied}
    named = {f"models.{model.name}.{o}.{benchmark.NAME}": of for o, of in named.items()}
    named[f"{benchmark.NAME}.evaluation.methods"] = methods
    refuse(strange_methods(benchmark, named), "params.yaml")
    methods = _with_items(benchmark, items, methods)
    order = drawn(items, benchmark.UNIT, benchmark.STRATA, seed)
    questions = []
    for method in methods:
        own = items[items[benchmark.UNIT].isin(order[: groups.get(method)])]
        asked = benchmark.asked(own, method).to_dict("records")
        if model.provider == "taken":
            given = taken.given(model, benchmark.NAME).query("method == @method")
            by_item = {name: rows.to_dict("records") for name, rows in given.groupby("item_id")}
            for item in asked:
                for one in by_item.get(item["item_id"], []):
                    shown, n = as_shown(item, one), one["sample"]
                    questions.append(Question(shown, method, n, one["asked_as"], number=n))
            continue
        if not likelihood.is_asked_so(model, method):
            continue
        known = benchmark.reference(asked[0], method, 0) if asked else model.model
        if model.provider == "baseline" and model.model not in known:
            print(f"{model.name} is left out of {method}: no {model.model} answer to it is known")
            continue
        most = varied.get(method)
        most = most if isinstance(most, Mapping) else {REVERSED: most, "wordings": most}
        # The groups that are asked in each other way.
        among = {w: {*order[: most.get(w if w == REVERSED else "wordings")]} for w, _ in ways[1:]}
        for item in asked:
            for place, (way, files) in enumerate(ways):
                shown = as_shown(item, {"asked_as": way})
                q = Question(shown, method, 0, way, files, place * samples)
                if not way or (item[benchmark.UNIT] in among[way] and _changes(benchmark, q)):
                    _demand_few(len(questions) + samples, benchmark.NAME, model.name)
                    questions += [replace(q, sample=n, number=q.number + n) for n in range(samples)]
    return questions


def _with_items(benchmark: Benchmark, items: pd.DataFrame, methods: Sequence[str]) -> Sequence[str]:
    """The methods that some item fits; of every other one it is said why it is left out. Errors:
    `InputError` where no method is left.
    """
    if items.empty:
        return methods
    without = [method for method in methods if benchmark.asked(items, method).empty]
    reasons = getattr(benchmark, "WITHOUT_ITEMS", {})
    lines = [
        f"{benchmark.NAME}: {method} is left out: "
        f"{reasons.get(method, 'it has no item to ask about')}"
        for method in without
    ]
    if len(without) == len(methods):
        refuse(lines, "params.yaml")
    for line in lines:
        print(line)
    return [method for method in methods if method not in without]


def _demand_few(questions: int, benchmark: str, model: str) -> None:
    if questions > MOST_QUESTIONS:
        found = f"{benchmark}: found more than {MOST_QUESTIONS:,} questions to {model}"
        fewer = f"ask about fewer with models.{model}.groups.{benchmark}"
        raise InputError(f"{found}; {fewer}, or repeat each less often with run.samples")


def _changes(benchmark: Benchmark, question: Question) -> bool:
    """Whether another way asks anything else of an item; one with `tried` has orders of its own."""
    item, method = question.item, question.method
    if likelihood.is_weighed(method):  # no options are shown, in an order or otherwise
        return False
    if question.asked_as == REVERSED:
        return len(item["choices"]) == 2 and "tried" not in item
    told = {"reasoning": "", **item}  # which a second call has only once it is asked
    return benchmark.messages(told, method, question.prompts) != benchmark.messages(told, method)


def drawn(items: pd.DataFrame, unit: str, strata: Sequence[str], seed: int) -> list[str]:
    """All groups in the order in which they are drawn: by `seed`, levels of each stratum in turn,
    so that the first n are of as many levels of the first stratum as can be, then of the second.
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


def requested(
    benchmark: Benchmark,
    questions: Sequence[Question],
    model: ModelSpec,
    *,
    seed: int = 0,
    replaced: Mapping[str, str] | None = None,
    max_tokens: Mapping[str, int | None] | None = None,
) -> list[Request]:
    """The requests of `evaluate`, in the order of the questions. seed: sent to engines, and what
    `random` guesses by; a sampled model gets another for each question. max_tokens: limits of
    answers by method, None for none, after a model's own.
    """
    limits = {**(max_tokens or {}), **model.answer_tokens.get(benchmark.NAME, {})}
    refuse(strange_methods(benchmark, {"max_tokens": limits}), f"{benchmark.NAME}, {model.name}")
    first, requests = first_methods(benchmark.METHODS), []
    # All protocols ask at temperature 0.
    is_sampled = getattr(model, "temperature", PROTOCOL) not in (0, PROTOCOL)
    for q in questions:
        item, method, way = q.item, q.method, q.asked_as
        # A baseline that guesses guesses anew.
        guess = random.Random(f"{seed}/{way}").getrandbits(32) if way else seed
        # With one seed for all questions, the answers of one repeat would go wrong together.
        lot = f"{seed}/{item['item_id']}/{method}"
        own = random.Random(lot).getrandbits(30) if is_sampled else seed
        weighed, files = (), {**(replaced or {}), **q.prompts}
        if likelihood.is_weighed(method):
            weighed = likelihood.weighed(benchmark, item, files)
            messages = [{"role": "user", "content": prompt} for prompt, _ in weighed]
        else:
            messages = benchmark.messages(item, method, files)
        request = Request(
            messages=tuple(messages),
            max_tokens=limits.get(method, benchmark.METHODS[method].max_tokens),
            sample=q.sample,
            seed=own,
            shared_prefix="" if weighed else benchmark.shared_prefix(item, method),
            reference=_NOTHING if method in first else benchmark.reference(item, method, guess),
            schema=benchmark.schema(method),
            purpose=f"{method} {way}".rstrip(),
            weighed=weighed,
        )
        requests.append(request)
    return requests


async def evaluate(
    benchmark: Benchmark,
    questions: Sequence[Question],
    model: ModelSpec,
    *,
    limits: Limits | None = None,
    store: Path | str = RESPONSE_STORE,
    **options: Any,
) -> pd.DataFrame:
    """Ask all questions; one row each in the responses table, and one for each first call.

    In the order of asking: single and first calls, second calls, those that lost their first call.
    options: of `requested`. Errors: those of `models.ask`, and `InputError` when more than
    `limits.max_error_share` failed; what a content filter took away is no failure.
    """
    where, limits = f"{benchmark.NAME}, {model.name}", limits or Limits()
    if not questions:
        raise InputError(f"{where}: nothing to ask; see `methods`, `items`")
    if model.provider == "taken":
        keys = [(q.item["item_id"], q.method, q.number) for q in questions]
        found = taken.given(model, benchmark.NAME).set_index(["item_id", "method", "sample"])
        return check(found.loc[keys].reset_index(), "responses", where)

    async def answered(questions: Sequence[Question]) -> pd.DataFrame:
        """The answers to one call of each question."""
        requests = requested(benchmark, questions, model, **options)
        responses = await ask(requests, model, store=store, limits=limits)
        errors = [r.error for r in responses if r.error is not None and not r.filtered]
        if len(errors) > limits.max_error_share * len(responses):
            found = f"{len(errors)} of {len(responses)} requests failed (the last: {errors[-1]})"
            most = f"more than limits.max_error_share = {limits.max_error_share}"
            kept = "Other answers are kept: running again asks for these alone"
            raise InputError(f"{where}: {found}, {most}. {kept}")
        hashes = {}
        wordings = {}
        rows = []
        for (method, way), files in {(q.method, q.asked_as): q.prompts for q in questions}.items():
            own = {**(options.get("replaced") or {}), **files}
            names = benchmark.METHODS[method].prompts
            texts = [prompts.load(name, own) for name in names]
            hashes[method, way] = sha256("\0".join(texts).encode()).hexdigest()[:12]
            wordings[method, way] = "; ".join(
                prompts.origins(names, own)["prompt_wording"].unique()
            )
        for q, put, response in zip(questions, requests, responses, strict=True):
            reply = response.reply or Reply(None, FILTERED if response.filtered else None)
            row = {
                "item_id": q.item["item_id"],
                "model": model.name,
                "method": q.method,
                "sample": q.number,
                "asked_as": q.asked_as,
                "messages": json.dumps([*put.messages], ensure_ascii=False),
                "prompt_hash": hashes[q.method, q.asked_as],
                "prompt_wording": wordings[q.method, q.asked_as],
                "response": reply.text,
                "finish_reason": reply.finish_reason,
                "prompt_tokens": reply.prompt_tokens,
                "completion_tokens": reply.completion_tokens,
                "error": response.error,
                "request_key": response.request_key,
            }
            if put.weighed and reply.text is not None:
                row["log_likelihoods"] = reply.text
                told = (put.weighed, reply.text)
                row["response"] = likelihood.said(benchmark, q.item, q.method, *told)
            rows.append(row)
        return pd.DataFrame(rows)

    later = [q for q in questions if getattr(benchmark.METHODS[q.method], "first", None)]
    now = [q for q in questions if not getattr(benchmark.METHODS[q.method], "first", None)]
    first = [replace(q, method=benchmark.METHODS[q.method].first) for q in later]
    tables = [await answered([*now, *first])]
    if later:
        ready, lost = second_calls(benchmark, later, tables[0])
        tables += [await answered(ready), lost] if ready else [lost]
    return check(pd.concat(tables, ignore_index=True), "responses", where)


def second_calls(
    benchmark: Benchmark, questions: Sequence[Question], first: pd.DataFrame
) -> tuple[list[Question], pd.DataFrame]:
    """The questions that ask for the answer, each item with the `reasoning` of its first call, and
    responses with an error for those whose first call failed. first: responses to the first calls.
    """
    said = {(r["item_id"], r["method"], r["sample"]): r for r in first.to_dict("records")}
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
    how = {"answers": ("item_id", "size"), "failed": ("error", "count")}
    tokens = {name: (name, "sum") for name in ("prompt_tokens", "completion_tokens")}
    table = responses.groupby("method", sort=False).agg(**how, **tokens)
    if model.price is not None:
        table["list_price_usd"] = model.price.usd(*(table[name] for name in tokens))
    return table
