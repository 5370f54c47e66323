"""What a run asks and what that costs, before anything is asked: requests, tokens, dollars.

    python -m tomlab.pipeline.plan [MODEL …]

The requests are those that the evaluation notebooks make of `params.yaml` as it stands, for its
`run.models` or for the models that are named. Items that are not there are made first, unless a
server would be asked for them.
"""

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.errors import InputError
from tomlab.models import answers, specs
from tomlab.models.providers import provider
from tomlab.models.specs import CHARS_PER_TOKEN, UNLIMITED, ModelSpec, Reply
from tomlab.models.store import Store, canonical, request_key
from tomlab.pipeline.settings import EVALUATION, check, read_by_stages
from tomlab.records import tidy

_TOOK = ["answers", "prompt_tokens", "completion_tokens", "characters"]
LEGEND = """
requests: unique ones; varied: those with swapped options or other wording; kept: those answered.
The other columns are of the requests that are left. prompt, answer: tokens, estimated by the
model's own answers (own), those of the last run (others), or three characters a token and the
limit of answers (limit). Until a model that thinks has answered, answer and usd are without
thinking, and answer_high and usd_high with all the thinking_tokens of its entry.
usd: at the `price` of the entry, without a vendor's discount for prompts in its cache.
This is the evaluation alone, without generation, filtering, judges and fresh items.
"""


def plan(
    content: Mapping[str, Any],
    models: Iterable[str],
    store: Store | None = None,
    folders: Sequence[Path] = (),
) -> pd.DataFrame:
    """By benchmark, model and method what is asked and what that costs, for benchmarks with items.

    content: a checked `params.yaml`; store, folders: where kept answers are looked up. Without a
    store nothing counts as kept, and entries that ask alike share their requests, which saves most
    of the time. Baselines and models that were asked elsewhere are left out.
    """

    def find(keys: Collection[str]) -> dict[str, Reply]:
        here = store.replies(keys) if store else {}
        return here | answers.look_up(folders, set(keys) - set(here))

    entries = [specs.model_spec(name, content["models"]) for name in models]
    entries = {spec.name: spec for spec in entries if spec.provider not in ("baseline", "taken")}
    read = read_by_stages({**content, "run": {**content["run"], "models": [*entries]}})
    rows, built = [], {}
    for benchmark in with_items(content):
        items, others = tidy.read("items", paths.result("items", benchmark)), _others(benchmark)
        for name, spec in entries.items():
            values = read[f"{EVALUATION}/{benchmark}-{name}"]["parameters"]
            asks = (spec.groups, spec.variants, spec.answer_tokens)
            alike = f"{name if store else ''} {[each.get(benchmark) for each in asks]} {benchmark}"
            if alike not in built:
                built[alike] = requests(benchmark, items, spec, values, others, find)
            for method, asked in built[alike].groupby("method", sort=False):
                each, *of_one, by = _expected(asked, others, getattr(spec, "thinking_tokens", 0))
                missing, batched = asked[~asked["is_kept"]], bool(getattr(spec, "batch", False))
                prompt = each * missing["characters"].sum()
                low, high = (tokens * len(missing) for tokens in of_one)
                usd, usd_high = math.nan, math.nan
                if price := spec.price:
                    usd, usd_high = (price.usd(prompt, n, batched=batched) for n in (low, high))
                row = {"benchmark": benchmark, "model": name, "method": method}
                row |= {"requests": len(asked), "varied": asked["is_varied"].sum()}
                row |= {"kept": len(asked) - len(missing), "prompt": prompt, "answer": low}
                rows.append(row | {"answer_high": high, "by": by, "usd": usd, "usd_high": usd_high})
    return pd.DataFrame(rows)


def with_items(content: Mapping[str, Any]) -> list[str]:
    """The benchmarks of the run whose items are there."""
    return [name for name in content["run"]["benchmarks"] if paths.result("items", name).is_file()]


def requests(
    name: str,
    items: pd.DataFrame,
    spec: ModelSpec,
    told: Mapping[str, Any],
    others: pd.DataFrame,
    find: Callable[[Collection[str]], dict[str, Reply]],
) -> pd.DataFrame:
    """What is put to a model as a benchmark's notebook does it, a row a request, each once.
    told: the notebook's parameters; others: of `_others`; find: looks up kept replies. In the
    place of an answer that is not kept yet a later request shows another one as long.
    """
    benchmark, adapter = import_module(f"tomlab.benchmarks.{name}"), provider(spec)
    drawn = {name: told[name] for name in ("samples", "orders", "wordings")}
    drawn["seed"] = told["draw_seed"]
    options = {"seed": told["sampling_seed"], "replaced": told["prompts"]}
    options["max_tokens"] = told["max_tokens"]

    def put(questions: Sequence[evaluation.Question]) -> pd.DataFrame:
        rows, made = [], evaluation.requested(benchmark, questions, spec, **options)
        keys = [request_key(adapter.payload(request)) for request in made]
        found = find({*keys})
        for q, request, key in zip(questions, made, keys, strict=True):
            row = {"item_id": q.item["item_id"], "method": q.method, "sample": q.number}
            row |= {"is_varied": request.purpose != q.method, "request_key": key, "error": None}
            row |= {"limit": request.max_tokens or UNLIMITED, "is_kept": key in found}
            row |= {"characters": len(canonical([*request.messages]))}
            rows.append(row | vars(found.get(key, Reply(None, None))))
        return pd.DataFrame(rows).rename(columns={"text": "response"})

    known = {method: benchmark.METHODS[method] for method in told["methods"]}
    later = [method for method, how in known.items() if getattr(how, "reminder", False)]
    now = [method for method in known if method not in later]
    questions = evaluation.plan(benchmark, items, spec, now, **drawn)
    two = [q for q in questions if getattr(known[q.method], "first", None)]
    tables = [put([q for q in questions if not getattr(known[q.method], "first", None)])]
    if two:
        first = put([replace(q, method=known[q.method].first) for q in two])
        for _, one in first.groupby("method"):
            each, answer, *_ = _expected(one, others)
            as_long = one["request_key"].str.ljust(int(answer / each), ".")
            first["response"] = first["response"].fillna(as_long)
        second, _ = evaluation.second_calls(benchmark, two, first)
        tables += [first, put(second)]
    if later:
        other = tables[0].fillna({"response": "(a)", "finish_reason": "stop"})
        reminded = benchmark.remind(items, other)
        tables.append(put(evaluation.plan(benchmark, reminded, spec, later, **drawn)))
    return pd.concat(tables).drop_duplicates("request_key")


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
) -> tuple[float, float, float, str]:
    """The tokens of a character of a method's prompts, those of an answer without and with all
    `thinking`, which a model's own answers have in them, and by what that is known.
    """
    method, limit = asked["method"].iloc[0], asked["limit"].iloc[0]
    own = asked[asked["prompt_tokens"] > 0].assign(answers=1)
    if own.empty and method not in others.index:
        return 1 / CHARS_PER_TOKEN, limit, limit + thinking, "limit"
    by, sums = ("others", others.loc[method]) if own.empty else ("own", own[_TOOK].sum())
    each, answer = sums["prompt_tokens"] / sums["characters"], sums["completion_tokens"]
    low = min(answer / sums["answers"], limit + (0 if own.empty else thinking))
    return each, low, low + (thinking if own.empty else 0), by


def make_items(content: Mapping[str, Any]) -> None:
    """Run the stages that make the items which are not there, where no server is asked for them."""
    read, stages = read_by_stages(content), []
    for name in content["run"]["benchmarks"].keys() - {*with_items(content)}:
        named = read[f"1_generation/{name}"]["models"] | read[f"2_filtering/{name}"]["models"]
        if all(entry["provider"] in ("embedded", "baseline") for entry in named.values()):
            stages.append(f"filtering@{name}")
    if stages:
        command = [sys.executable, "-m", "tomlab.pipeline.run"]
        command += [sys.executable, "-m", "dvc", "repro", *sorted(stages)]
        subprocess.run(command, cwd=paths.ROOT, stdout=sys.stderr, check=False)


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 with a table, 1 with a message."""
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.plan", description=__doc__)
    parser.add_argument("model", nargs="*", help="names in `models` of params.yaml")
    args = parser.parse_args(arguments)
    try:
        content, limits = check(), specs.limits()
        names, limit = args.model or content["run"]["models"], limits.max_cost_usd
        make_items(content)
        with Store(paths.RESPONSE_STORE) as store:
            table, spent = plan(content, names, store, limits.answers), sum(store.spending()[:2])
    except InputError as error:
        print(f"\nplan: {error}\n", file=sys.stderr)
        return 1
    if lost := sorted({*content["run"]["benchmarks"]} - {*with_items(content)}):
        stages = " ".join(f"filtering@{name}" for name in lost)
        print(f"Without {', '.join(lost)}: no items yet; `dvc repro {stages}` makes them,", end=" ")
        print("and asks the models that `run.benchmarks` names for that.")
    if table.empty:
        print("There is nothing to plan: no model here is asked.")
        return int(bool(lost))
    shown = table.astype({"prompt": int, "answer": int, "answer_high": int})
    if table["answer"].equals(table["answer_high"]):
        shown = shown.drop(columns=["answer_high", "usd_high"])
    print(shown.round(2).to_string(index=False, na_rep="?"), LEGEND, sep="\n")
    sums = table.sum(numeric_only=True, min_count=1)

    def span(column: str, form: str) -> str:
        ends = dict.fromkeys(form.format(sums[column + end]) for end in ("", "_high"))
        return " to ".join(ends)

    if limit is not None and spent + sums["usd_high"] > limit:
        does = "stops" if spent + sums["usd"] > limit else "may stop"
        print(f"limits.max_cost_usd = {limit} {does} that on the way: ${spent:.2f} are spent here.")
    cost = "no price declared" if math.isnan(sums["usd"]) else f"about {span('usd', '${:,.2f}')}"
    tokens = f"{sums['prompt']:,.0f} tokens of prompts, {span('answer', '{:,.0f}')} of answers"
    print(f"In all: {sums['requests']:,.0f} requests, {sums['kept']:,.0f} kept; left: ", end="")
    print(f"{tokens}; {cost}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
