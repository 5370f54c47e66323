"""What a run asks and what that costs, before anything is asked: requests, tokens, dollars, hours.

    python -m tomlab.pipeline.plan [MODEL …]

The requests are those that the evaluation notebooks make of `params.yaml` as it stands, for its
`run.models` or for the models that are named.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.asking.protocol import Benchmark
from tomlab.errors import InputError
from tomlab.models import answers, specs
from tomlab.models.costs import CHARS_PER_TOKEN, UNLIMITED, tokens_a_minute
from tomlab.models.providers import provider
from tomlab.models.specs import ModelSpec, Reply
from tomlab.models.store import Store, canonical, request_key
from tomlab.pipeline import settings
from tomlab.pipeline.stages import EVALUATION, read_by_stages
from tomlab.records import tidy
from tomlab.records.tidy import AS_ASKED

Find = Callable[[Collection[str]], dict[str, Reply]]
_SAID = ["finish_reason", "prompt_tokens", "completion_tokens"]
_TOOK = ["answers", "prompt_tokens", "completion_tokens", "characters"]
_PLANNED = ["benchmark", "model", "method", "requests", "varied", "kept", "prompt", "by", "answer"]
_PLANNED += ["by ", "usd", "min"]
LEGEND = """
requests: unique ones; varied: those with swapped options or other wording; kept: those answered.
The other columns are of the requests that are left. prompt, answer: tokens, estimated from the
model's own answers (own), those of the last run (others), three characters a token, or the limit.
usd: at the `price` of the entry, without a vendor's discount for prompts in its cache.
min: minutes at the limits that the entry declares, or as long as the model's answers took before.
This is the evaluation alone, without generation, filtering and judges.
"""


def rounds(
    benchmark: Benchmark,
    items: pd.DataFrame,
    spec: ModelSpec,
    told: Mapping[str, Any],
    others: pd.DataFrame,
    find: Find,
) -> Iterator[pd.DataFrame]:
    """What is put to a model, round by round, as the benchmark's notebook does: a row a request.

    told: the notebook's parameters; others: of `_others`; find: looks up kept replies. In the
    place of an answer that is not kept yet a later round shows another one as long, so that its
    requests are counted.
    """
    known, adapter = benchmark.METHODS, provider(spec)
    drawn = {name: told[name] for name in ("samples", "orders", "wordings")}
    drawn["seed"] = told["draw_seed"]
    options = {"seed": told["sampling_seed"], "replaced": told["prompts"]}
    options["max_tokens"] = told["max_tokens"]

    def put(questions: Sequence[evaluation.Question], lost: Sequence[bool] = ()) -> pd.DataFrame:
        requests = evaluation.requested(benchmark, questions, spec, **options)
        keys = [request_key(adapter.payload(request)) for request in requests]
        if any(lost):  # what is shown in the place of an answer may by chance have been one
            keys = [f"? {key}" if is_lost else key for key, is_lost in zip(keys, lost, strict=True)]
        found, rows = find({*keys}), []
        for q, request, key in zip(questions, requests, keys, strict=True):
            row = {"item_id": q.item["item_id"], "method": q.method, "sample": q.number}
            row |= {"is_varied": q.asked_as != AS_ASKED, "request_key": key, "error": None}
            row |= {"characters": len(canonical([*request.messages]))}
            row |= {"limit": request.max_tokens or UNLIMITED, "weight": tokens_a_minute(request)}
            row |= {"is_kept": key in found, "response": getattr(found.get(key), "text", None)}
            rows.append(row | {name: getattr(found.get(key), name, None) for name in _SAID})
        return pd.DataFrame(rows)

    later = [m for m in told["methods"] if getattr(known[m], "reminder", False)]
    now = [m for m in told["methods"] if m not in later]
    questions = evaluation.plan(benchmark, items, spec, now, **drawn)
    direct = put([q for q in questions if not getattr(known[q.method], "first", None)])
    if len(direct):
        yield direct
    if two := [q for q in questions if getattr(known[q.method], "first", None)]:
        yield (first := put(evaluation.first_calls(benchmark, two)))
        long = {}  # how many characters of a first answer a second call shows
        for method, one in first.groupby("method"):
            each, _, answer, _ = _expected(one, others)
            long[method] = int(answer / each)
        other = [row.request_key.ljust(long[row.method], ".") for row in first.itertuples()]
        other = pd.Series(other, first.index, object)  # as one array they would all be as long
        said = first.assign(response=first["response"].where(first["is_kept"], other))
        second, _ = evaluation.second_calls(benchmark, two, said)
        lost = said.loc[~said["is_kept"], ["item_id", "method", "sample"]]
        lost = set(lost.itertuples(index=False, name=None))
        shows = [(q.item["item_id"], known[q.method].first, q.number) for q in second]
        yield put(second, [each in lost for each in shows])
    if later:
        ready = set(benchmark.remind(items, direct)["item_id"])
        other = direct.fillna({"response": "(a)", "finish_reason": "stop"})
        after = evaluation.plan(benchmark, benchmark.remind(items, other), spec, later, **drawn)
        yield put(after, [q.item["item_id"] not in ready for q in after])


def plan(
    content: Mapping[str, Any],
    models: Iterable[str],
    store: Store | None = None,
    folders: Sequence[Path] = (),
) -> pd.DataFrame:
    """By benchmark, model and method what is asked and what that costs, for benchmarks with items.

    content: a checked `params.yaml`; store, folders: where kept answers are looked up. Without a
    store nothing counts as kept, and entries that ask alike share their requests, which saves most
    of the time. Baselines are left out.
    """

    def find(keys: Collection[str]) -> dict[str, Reply]:
        here = store.replies(keys) if store else {}
        return here | answers.look_up(folders, set(keys) - set(here))

    entries = [specs.model_spec(name, content["models"]) for name in models]
    entries = {spec.name: spec for spec in entries if spec.provider != "baseline"}
    read = read_by_stages({**content, "run": {**content["run"], "models": [*entries]}})
    rows, built = [], {}
    for benchmark in with_items(content):
        module = import_module(f"tomlab.benchmarks.{benchmark}")
        items, others = tidy.read("items", paths.result("items", benchmark)), _others(benchmark)
        took = store.measured(f"{EVALUATION}/{benchmark}") if store else []
        for name, spec in entries.items():
            values = read[f"{EVALUATION}/{benchmark}-{name}"]["parameters"]
            asks = (spec.groups, spec.variants, spec.answer_tokens)
            alike = f"{name if store else ''} {[each.get(benchmark) for each in asks]} {benchmark}"
            if alike not in built:
                asked = pd.concat(rounds(module, items, spec, values, others, find))
                built[alike] = asked.drop_duplicates("request_key")
            own = [(n, seconds) for entry, _, n, seconds in took if entry == name]
            seconds = sum(s for _, s in own) / sum(n for n, _ in own) if own else math.nan
            for method, once in built[alike].groupby("method", sort=False):
                row = {"benchmark": benchmark, "model": name, "method": method}
                rows.append(row | _estimated(once, others, spec, seconds))
    return pd.DataFrame(rows, columns=_PLANNED)


def with_items(content: Mapping[str, Any]) -> list[str]:
    """The benchmarks of the run whose items are there."""
    return [name for name in content["run"]["benchmarks"] if paths.result("items", name).is_file()]


def _others(benchmark: str) -> pd.DataFrame:
    """By method what answers of the last run took: `answers`, tokens and characters of prompts."""
    files = sorted((paths.RESULTS / "responses" / benchmark).glob("*.parquet"))
    if not files:
        return pd.DataFrame(columns=["method", *_TOOK]).set_index("method")
    table = tidy.read("responses", *files).query("prompt_tokens > 0")
    said = [len(canonical(json.loads(messages))) for messages in table["messages"]]
    return table.assign(characters=said, answers=1).groupby("method")[_TOOK].sum()


def _expected(
    asked: pd.DataFrame, others: pd.DataFrame, thinking: int = 0
) -> tuple[float, str, float, str]:
    """The tokens of a character of a method's prompts, and by what they are known; the same of the
    tokens of an answer. thinking: how many the model may think, which others' answers do not tell.
    """
    method, most = asked["method"].iloc[0], asked["limit"].iloc[0] + thinking
    own = asked[asked["prompt_tokens"] > 0].assign(answers=1)
    if own.empty and method not in others.index:
        return 1 / CHARS_PER_TOKEN, "characters", most, "limit"
    by, sums = ("others", others.loc[method]) if own.empty else ("own", own[_TOOK].sum())
    each, answer = sums["prompt_tokens"] / sums["characters"], sums["completion_tokens"]
    if by == "others" and thinking:
        return each, by, most, "limit"
    return each, by, min(answer / sums["answers"], most), by


def _estimated(
    asked: pd.DataFrame, others: pd.DataFrame, spec: ModelSpec, seconds: float
) -> dict[str, Any]:
    """The numbers of one method. seconds: how long an answer of the model took, nan if unknown."""
    missing, batched = asked[~asked["is_kept"]], bool(getattr(spec, "batch", False))
    each, each_by, answer, answer_by = _expected(asked, others, getattr(spec, "thinking_tokens", 0))
    n = len(missing)
    prompt, answer = each * missing["characters"].sum(), answer * n
    amounts = {"requests_per_minute": n, "tokens_per_minute": missing["weight"].sum()}
    limits = [amount / (getattr(spec, name, None) or math.inf) for name, amount in amounts.items()]
    times = [n * seconds / spec.max_concurrency / 60, max(limits) or math.nan]
    return {
        "requests": len(asked),
        "varied": asked["is_varied"].sum(),
        "kept": asked["is_kept"].sum(),
        "prompt": prompt,
        "by": each_by,
        "answer": answer,
        "by ": answer_by,
        "usd": spec.price.usd(prompt, answer, batched=batched) if spec.price else math.nan,
        "min": math.nan if batched else pd.Series(times).max(),
    }


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 with a table, 1 with a message."""
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.plan", description=__doc__)
    parser.add_argument("model", nargs="*", help="names in `models` of params.yaml")
    args = parser.parse_args(arguments)
    try:
        content, limits = settings.check(), specs.limits()
        names, limit = args.model or content["run"]["models"], limits.max_cost_usd
        with Store(paths.RESPONSE_STORE) as store:
            table, spent = plan(content, names, store, limits.answers), store.spent()
    except InputError as error:
        print(f"\nplan: {error}\n", file=sys.stderr)
        return 1
    if lost := sorted({*content["run"]["benchmarks"]} - {*with_items(content)}):
        stages = " ".join(f"filtering@{name}" for name in lost)
        print(f"Without {', '.join(lost)}: no items yet; `dvc repro {stages}` makes them.")
    if table.empty:
        print("There is nothing to plan: no model here is asked.")
        return int(bool(lost))
    shown = table.astype({"prompt": int, "answer": int}).round({"usd": 2, "min": 1})
    print(shown.to_string(index=False, na_rep="?"), LEGEND, sep="\n")
    if limit is not None and spent + table["usd"].sum() > limit:
        print(f"limits.max_cost_usd = {limit} stops that on the way: ${spent:.2f} are spent here.")
    n, kept, usd, minutes = table[["requests", "kept", "usd", "min"]].sum(min_count=1)
    time = "unknown" if math.isnan(minutes) else f"about {minutes:,.0f} minutes"
    cost = "no price declared" if math.isnan(usd) else f"about ${usd:,.2f}"
    print(f"In all: {n:,.0f} requests, {kept:,.0f} kept; cost: {cost}; time: {time}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
