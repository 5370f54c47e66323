"""Show what a run will ask and cost (requests, tokens, US dollars) before it asks anything.

    python -m tomlab.pipeline.plan [MODEL …]

The requests are those that the evaluation notebooks would send with the present `params.yaml`, to
its `run.models` or to the models that are named, about the items made so far.
"""

import argparse
import json
import math
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.asking.evaluation import Question
from tomlab.asking.protocol import Benchmark
from tomlab.errors import InputError
from tomlab.models import answers, specs
from tomlab.models.providers import provider
from tomlab.models.specs import CHARS_PER_TOKEN, UNLIMITED, ModelSpec, Reply
from tomlab.models.store import Store, canonical, request_key
from tomlab.pipeline.settings import EVALUATION, check, read_by_stages
from tomlab.records import tidy

USAGE = ["answers", "prompt_tokens", "completion_tokens", "characters"]
LEGEND = """
requests: unique ones; varied: those with swapped options, other wording or no story; kept: those
answered. The other columns are of the requests that are left. prompt, answer: tokens, estimated by
the model's own answers (own), those of the last run (others), or three characters a token and the
limit of answers (limit). Until a model that thinks has answered, answer and usd are without
thinking, and answer_high and usd_high with all the thinking_tokens of its entry.
usd: at the `price` of the entry, without a vendor's discount for prompts in its cache.
This is the evaluation alone, without generation, filtering, judges and fresh items.
"""


class Kept(NamedTuple):
    """Where kept answers are looked up: the response store, and folders of answer files."""

    store: Store | None
    folders: Sequence[Path]

    def replies(self, keys: Collection[str]) -> dict[str, Reply]:
        """The kept replies to those of the requests that have one, by request key."""
        replies = self.store.replies(keys) if self.store else {}
        missing = set(keys) - set(replies)
        return replies | answers.look_up(self.folders, missing)


class Estimate(NamedTuple):
    """The estimated tokens of one request of a method; `answer`: tokens of its answer."""

    tokens_per_character: float  # in prompts
    answer: float
    answer_high: float  # with all the thinking that the model's entry allows
    source: str  # own, others or limit, see `LEGEND`


def plan(
    content: Mapping[str, Any],
    models: Iterable[str],
    store: Store | None = None,
    folders: Sequence[Path] = (),
) -> pd.DataFrame:
    """What is asked and what it costs: a row for each benchmark that has items, model and method,
    with the columns of `costs`.

    content: a checked `params.yaml`; store, folders: where kept answers are looked up. Without a
    store, models whose entries lead to the same requests share them, which saves most of the time.
    Baselines and models that were asked elsewhere are left out.
    """
    entries = [specs.model_spec(name, content["models"]) for name in dict.fromkeys(models)]
    entries = [spec for spec in entries if spec.provider not in ("baseline", "taken")]
    run = content["run"] | {"models": [spec.name for spec in entries]}
    settings = read_by_stages({**content, "run": run})
    kept_answers = Kept(store, folders)
    rows = []
    for benchmark in with_items(content):
        items = tidy.read("items", paths.result("items", benchmark))
        usage = usage_of_last_run(benchmark)
        shared = {}
        for spec in entries:
            values = settings[f"{EVALUATION}/{benchmark}-{spec.name}"]["parameters"]
            reach = [
                part.get(benchmark) for part in (spec.groups, spec.variants, spec.answer_tokens)
            ]
            key = (spec.name if store else "", repr([*reach, spec.no_story]))
            if key not in shared:
                shared[key] = requests(benchmark, items, spec, values, usage, kept_answers)
            for method, asked in shared[key].groupby("method", sort=False):
                row = {"benchmark": benchmark, "model": spec.name, "method": method}
                rows.append(row | costs(asked, spec, usage))
    return pd.DataFrame(rows)


def costs(asked: pd.DataFrame, spec: ModelSpec, usage: pd.DataFrame) -> dict[str, Any]:
    """The columns of a plan for the requests `asked` of one method (rows of `requests`): numbers of
    requests, estimated tokens and US dollars, see `LEGEND`. usd is NaN without a price. usage: as
    of `usage_of_last_run`.
    """
    estimate = estimated(asked, usage, getattr(spec, "thinking_tokens", 0))
    missing = asked[~asked["is_kept"]]
    columns = {
        "requests": len(asked),
        "varied": asked["is_varied"].sum(),
        "kept": len(asked) - len(missing),
        "prompt": estimate.tokens_per_character * missing["characters"].sum(),
        "answer": estimate.answer * len(missing),
        "answer_high": estimate.answer_high * len(missing),
        "by": estimate.source,
        "usd": math.nan,
        "usd_high": math.nan,
    }
    if spec.price:
        batched = bool(getattr(spec, "batch", False))
        for usd, answer in (("usd", "answer"), ("usd_high", "answer_high")):
            columns[usd] = spec.price.usd(columns["prompt"], columns[answer], batched=batched)
    return columns


def with_items(content: Mapping[str, Any]) -> list[str]:
    """The benchmarks of the run whose table of items exists."""
    return [name for name in content["run"]["benchmarks"] if paths.result("items", name).is_file()]


def requests(
    name: str,
    items: pd.DataFrame,
    spec: ModelSpec,
    values: Mapping[str, Any],
    usage: pd.DataFrame,
    kept_answers: Kept,
) -> pd.DataFrame:
    """The requests that a benchmark's evaluation notebook sends to a model: the columns of `put`,
    one row for each distinct request.

    values: the notebook's parameters. Some methods quote an earlier answer in a second request; if
    that answer is not kept yet, a made-up one stands in for it.
    """
    benchmark = import_module(f"tomlab.benchmarks.{name}")
    draw = {option: values[option] for option in ("samples", "orders", "wordings")}
    draw["seed"] = values["draw_seed"]
    options = {"seed": values["sampling_seed"], "replaced": values["prompts"]}
    options["max_tokens"] = values["max_tokens"]
    methods = {method: benchmark.METHODS[method] for method in values["methods"]}
    reminding = [m for m in methods if getattr(methods[m], "reminder", False)]
    direct = [method for method in methods if method not in reminding]
    questions = evaluation.plan(benchmark, items, spec, direct, **draw)
    one_call: list[Question] = []
    two_calls: list[Question] = []
    for question in questions:
        has_first = getattr(methods[question.method], "first", None)
        (two_calls if has_first else one_call).append(question)
    tables = [put(benchmark, one_call, spec, options, kept_answers)]
    if two_calls:
        first_calls = [replace(q, method=methods[q.method].first) for q in two_calls]
        first = put(benchmark, first_calls, spec, options, kept_answers)
        first["response"] = first["response"].fillna(placeholders(first, usage))
        second_calls, _ = evaluation.second_calls(benchmark, two_calls, first)
        tables += [first, put(benchmark, second_calls, spec, options, kept_answers)]
    if reminding:
        answered = tables[0].fillna({"response": "(a)", "finish_reason": "stop"})
        reminded = benchmark.remind(items, answered)
        questions = evaluation.plan(benchmark, reminded, spec, reminding, **draw)
        tables.append(put(benchmark, questions, spec, options, kept_answers))
    return pd.concat(tables).drop_duplicates("request_key")


def put(
    benchmark: Benchmark,
    questions: Sequence[Question],
    spec: ModelSpec,
    options: Mapping[str, Any],
    kept_answers: Kept,
) -> pd.DataFrame:
    """A row for each question: its request's key, length in characters and limit of tokens, and the
    kept answer with its tokens, if there is one (`is_kept`). `is_varied`: with swapped options,
    other wording or no story.
    """
    adapter = provider(spec)
    requests = evaluation.requested(benchmark, questions, spec, **options)
    keys = [request_key(adapter.payload(request)) for request in requests]
    replies = kept_answers.replies(set(keys))
    rows = []
    for question, request, key in zip(questions, requests, keys, strict=True):
        row = {
            "item_id": question.item["item_id"],
            "method": question.method,
            "sample": question.number,
            "is_varied": request.purpose != question.method,
            "request_key": key,
            "limit": request.max_tokens or UNLIMITED,
            "is_kept": key in replies,
            "characters": len(canonical([*request.messages])),
            "response": None,
            "finish_reason": None,
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "error": None,
        }
        if key in replies:
            for field in ("finish_reason", "prompt_tokens", "completion_tokens"):
                row[field] = getattr(replies[key], field)
            row["response"] = replies[key].text
        rows.append(row)
    return pd.DataFrame(rows)


def placeholders(asked: pd.DataFrame, usage: pd.DataFrame) -> pd.Series:
    """For each request a meaningless text, as long as an answer by its method is expected to be."""
    texts = []
    for _, rows in asked.groupby("method"):
        estimate = estimated(rows, usage)
        length = int(estimate.answer / estimate.tokens_per_character)
        texts.append(rows["request_key"].str.ljust(length, "."))
    return pd.concat(texts)


def usage_of_last_run(benchmark: str) -> pd.DataFrame:
    """The sums over the last run's answers, a row for each method: number of `answers`,
    `prompt_tokens`, `completion_tokens`, and `characters` of prompts.
    """
    files = sorted((paths.RESULTS / "responses" / benchmark).glob("*.parquet"))
    if not files:
        return pd.DataFrame(columns=["method", *USAGE]).set_index("method")
    table = tidy.read("responses", *files).query("prompt_tokens > 0")
    characters = [len(canonical(json.loads(messages))) for messages in table["messages"]]
    table = table.assign(characters=characters, answers=1)
    return table.groupby("method")[USAGE].sum()


def estimated(asked: pd.DataFrame, usage: pd.DataFrame, thinking: int = 0) -> Estimate:
    """The estimate for one request of a method, from the model's own kept answers, or else the last
    run's, or else the limit. thinking: how many tokens the model may think; they are added unless
    the estimate is from its own answers, which include them.
    """
    method = asked["method"].iloc[0]
    limit = asked["limit"].iloc[0]
    answered = asked[asked["prompt_tokens"] > 0].assign(answers=1)
    if len(answered):
        sums = answered[USAGE].sum()
        answer = min(sums["completion_tokens"] / sums["answers"], limit + thinking)
        return Estimate(sums["prompt_tokens"] / sums["characters"], answer, answer, "own")
    if method in usage.index:
        sums = usage.loc[method]
        answer = min(sums["completion_tokens"] / sums["answers"], limit)
        per_character = sums["prompt_tokens"] / sums["characters"]
        return Estimate(per_character, answer, answer + thinking, "others")
    return Estimate(1 / CHARS_PER_TOKEN, limit, limit + thinking, "limit")


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit code: 0, or 1 after a message on what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.plan", description=__doc__)
    parser.add_argument("model", nargs="*", help="names in `models` of params.yaml")
    args = parser.parse_args(arguments)
    try:
        content = check()
        limits = specs.limits()
        models = args.model or content["run"]["models"]
        with Store(paths.RESPONSE_STORE) as store:
            table = plan(content, models, store, limits.answers)
            spent = sum(store.spending()[:2])
    except InputError as error:
        print(f"\nplan: {error}\n", file=sys.stderr)
        return 1
    without_items = sorted(set(content["run"]["benchmarks"]) - set(with_items(content)))
    if without_items:
        stages = " ".join(f"filtering@{name}" for name in without_items)
        print(
            f"Without {', '.join(without_items)}: no items yet; `dvc repro {stages}` makes them, "
            "and asks the models that `run.benchmarks` names for that."
        )
    if table.empty:
        print("There is nothing to plan: no model here is asked.")
        return 1 if without_items else 0
    report(table, spent, limits.max_cost_usd)
    return 0


def report(table: pd.DataFrame, spent: float, limit: float | None) -> None:
    """Print a plan and its sums, and whether the cost would exceed the limit. spent: US dollars
    spent so far; limit: US dollars that may be spent in all, None for no limit.
    """
    rows = table.astype({"prompt": int, "answer": int, "answer_high": int})
    if table["answer"].equals(table["answer_high"]):
        rows = rows.drop(columns=["answer_high", "usd_high"])
    print(rows.round(2).to_string(index=False, na_rep="?"), LEGEND, sep="\n")
    sums = table.sum(numeric_only=True, min_count=1)
    if limit is not None and spent + sums["usd_high"] > limit:
        verb = "stops" if spent + sums["usd"] > limit else "may stop"
        print(f"limits.max_cost_usd = {limit} {verb} that on the way: ${spent:.2f} are spent here.")
    cost = "no price declared"
    if not math.isnan(sums["usd"]):
        cost = f"about {span(f'${sums.usd:,.2f}', f'${sums.usd_high:,.2f}')}"
    answer_tokens = span(f"{sums['answer']:,.0f}", f"{sums['answer_high']:,.0f}")
    print(
        f"In all: {sums['requests']:,.0f} requests, {sums['kept']:,.0f} kept; left: "
        f"{sums['prompt']:,.0f} tokens of prompts, {answer_tokens} of answers; {cost}"
    )


def span(low: str, high: str) -> str:
    """The range "low to high" in words; one number if both are written alike."""
    return low if low == high else f"{low} to {high}"


if __name__ == "__main__":
    sys.exit(main())
