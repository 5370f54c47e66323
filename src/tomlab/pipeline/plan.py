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
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pandas as pd

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.asking.protocol import Benchmark
from tomlab.errors import InputError
from tomlab.models import answers, specs
from tomlab.models.costs import CHARS_PER_TOKEN, UNLIMITED
from tomlab.models.costs import tokens_a_minute as weight
from tomlab.models.providers import prefix, provider, whole
from tomlab.models.specs import ModelSpec, Reply
from tomlab.models.store import Store, canonical, request_key
from tomlab.pipeline import settings
from tomlab.pipeline.stages import EVALUATION, read_by_stages
from tomlab.records import tidy
from tomlab.records.tidy import AS_ASKED

Find = Callable[[Collection[str]], dict[str, Reply]]
_ASKED = ["item_id", "method", "sample", "is_varied", "request_key", "characters", "prefix"]
_ASKED += ["prefix_characters", "limit", "weight"]
_TOOK = ["model", "method", "answers", "prompt_tokens", "completion_tokens"]
_TOOK += ["characters", "seconds"]
_PLANNED = ["benchmark", "model", "method", "requests", "varied", "kept", "prompt", "by", "answer"]
_PLANNED += ["by ", "usd", "min", "at"]
LEGEND = """
requests: identical ones once; varied: of them in another order or wording; kept: of them answered.
The rest is of those to ask. prompt, answer: tokens, by the model's own answers, by others' to the
same method or to other methods, by characters (three a token), or at the limit (limit).
usd: at the `price` of the entry. min: minutes at what it declares or as answers took before.
The evaluation alone: what generation, filtering and judges ask is not in it.
"""


def rounds(
    benchmark: Benchmark,
    items: pd.DataFrame,
    spec: ModelSpec,
    told: Mapping[str, Any],
    took: pd.DataFrame,
    find: Find,
) -> Iterator[pd.DataFrame]:
    """What is put to a model, round by round, as the benchmark's notebook does: a row a request.

    told: the notebook's parameters; find: looks up kept replies. In the place of an answer that is
    not kept yet a later round shows another one as long, so that its requests are counted.
    """
    known, adapter = benchmark.METHODS, provider(spec)
    drawn = {name: told[name] for name in ("samples", "orders", "wordings")}
    drawn["seed"] = told["draw_seed"]
    options = {"seed": told["sampling_seed"], "replaced": told["prompts"]}
    options["max_tokens"] = told["max_tokens"]

    def put(questions: Sequence[evaluation.Question], lost: Sequence[bool] = ()) -> pd.DataFrame:
        rows, requests = [], evaluation.requested(benchmark, questions, spec, **options)
        for q, put in zip(questions, requests, strict=True):
            row = (q.item["item_id"], q.method, q.number, q.variant.name != AS_ASKED)
            row += (request_key(whole(adapter, spec, put)), len(canonical(list(put.messages))))
            row += (hash(prefix(put)), len(put.shared_prefix), put.max_tokens, weight(put))
            rows.append(row)
        table = pd.DataFrame(rows, columns=_ASKED)
        if any(lost):  # what is shown in the place of an answer may by chance have been one
            table.loc[[*lost], "request_key"] = "? " + table["request_key"]
        found = find(table["request_key"])
        said = [found.get(key) for key in table["request_key"]]
        table["response"] = [reply and reply.text for reply in said]
        table["finish_reason"] = [reply and reply.finish_reason for reply in said]
        return table.assign(is_kept=[reply is not None for reply in said], error=None)

    later = [m for m in told["methods"] if getattr(known[m], "reminder", False)]
    now = [m for m in told["methods"] if m not in later]
    questions = evaluation.plan(benchmark, items, spec, now, **drawn)
    direct = put([q for q in questions if not getattr(known[q.method], "first", None)])
    yield direct
    if two := [q for q in questions if getattr(known[q.method], "first", None)]:
        yield (first := put(evaluation.first_calls(benchmark, two)))
        long = {m: _characters(one, took, spec) for m, one in first.groupby("method")}
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


class Known(Protocol):
    """Where answers are looked up. `took`: a row a model and method of a benchmark, with the sums
    of `_TOOK`.
    """

    def replies(self, benchmark: str, keys: Collection[str]) -> dict[str, Reply]: ...

    def took(self, benchmark: str) -> pd.DataFrame: ...


class Kept(NamedTuple):
    """What is in the store and in folders of kept answers."""

    store: Store
    folders: Sequence[Path] = ()

    def replies(self, benchmark: str, keys: Collection[str]) -> dict[str, Reply]:
        here = self.store.replies(keys)
        return here | answers.look_up(self.folders, set(keys) - set(here))

    def took(self, benchmark: str) -> pd.DataFrame:
        stage = f"{EVALUATION}/{benchmark}"
        rows = self.store.measured(stage)
        for path in (p for p in answers.files(self.folders) if p.parent.name == benchmark):
            for row in (row for some in answers.read(path) for row in some if row["prompt_tokens"]):
                sent = json.loads(row["request"])
                texts = [canonical(sent[name]) for name in ("messages", "system") if name in sent]
                tokens = (row["prompt_tokens"], row["completion_tokens"], sum(map(len, texts)))
                uses = {use.split()[1] for use in row["uses"].splitlines() if use.startswith(stage)}
                rows += [(row["model"], use, 1, *tokens, row["seconds"]) for use in uses]
        return _summed(rows)


class Answered:
    """What a run's tables of responses have, which are the same whatever store they came from."""

    def __init__(self, benchmarks: Iterable[str], models: Iterable[str]):
        every = {b: [paths.result("responses", b, m) for m in models] for b in benchmarks}
        self._tables = {b: tidy.read("responses", *files) for b, files in every.items()}

    def replies(self, benchmark: str, keys: Collection[str]) -> dict[str, Reply]:
        table = self._tables[benchmark].dropna(subset="response")
        table = table[table["request_key"].isin([*keys])].drop_duplicates("request_key")
        found = zip(table["request_key"], table["response"], table["finish_reason"], strict=True)
        return {key: Reply(text, reason) for key, text, reason in found}

    def took(self, benchmark: str) -> pd.DataFrame:
        table = self._tables[benchmark].drop_duplicates(["method", "request_key"])
        table = table[table["prompt_tokens"] > 0]
        said = [len(canonical(json.loads(messages))) for messages in table["messages"]]
        table = table.assign(answers=1, characters=said, seconds=math.nan)
        return _summed(table[_TOOK].to_numpy())


def plan(
    content: Mapping[str, Any], models: Iterable[str], known: Known, *, anew: bool = False
) -> pd.DataFrame:
    """By benchmark, model and method what is asked and what that costs, for benchmarks with items.

    content: a checked `params.yaml`; anew: reckon what is kept already, too. Baselines are left
    out.
    """
    rows, entries = [], [specs.model_spec(name, content["models"]) for name in models]
    entries = {spec.name: spec for spec in entries if spec.provider != "baseline"}
    read = read_by_stages({**content, "run": {**content["run"], "models": [*entries]}})
    for benchmark in with_items(content):
        module = import_module(f"tomlab.benchmarks.{benchmark}")
        items = tidy.read("items", paths.result("items", benchmark))
        took, find = known.took(benchmark), partial(known.replies, benchmark)
        for name, spec in entries.items():
            told = read[f"{EVALUATION}/{benchmark}-{name}"]["parameters"]
            asked = pd.concat(rounds(module, items, spec, told, took, find), ignore_index=True)
            for method, once in asked.drop_duplicates("request_key").groupby("method", sort=False):
                row = {"benchmark": benchmark, "model": name, "method": method}
                rows.append(row | _reckoned(once, took, spec, anew))
    return pd.DataFrame(rows, columns=_PLANNED)


def with_items(content: Mapping[str, Any]) -> list[str]:
    """The benchmarks of the run whose items are there."""
    return [name for name in content["run"]["benchmarks"] if paths.result("items", name).is_file()]


def _summed(rows: Iterable[Sequence]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=_TOOK).astype(dict.fromkeys(_TOOK[2:], float))
    return table.groupby(["model", "method"], as_index=False).sum()


class _Expected(NamedTuple):
    """Of a method's answers by a model: tokens a character of the prompt, tokens and seconds an
    answer; by what the first two are known. A model that thinks is known by its own answers alone.
    """

    each: float
    each_by: str
    answer: float
    answer_by: str
    seconds: float


def _expected(asked: pd.DataFrame, took: pd.DataFrame, spec: ModelSpec) -> _Expected:
    thinking = getattr(spec, "thinking_tokens", 0)
    most = _longest(asked) + thinking
    same, own = took["method"] == asked["method"].iloc[0], took["model"] == spec.name
    ways = {"own": same & own, "others": same, "methods": same | True}
    sums = {by: took[rows].sum(numeric_only=True) for by, rows in ways.items()}
    sums = {by: one for by, one in sums.items() if one["characters"]}
    each_by, one = next(iter(sums.items()), ("characters", None))
    each = one["prompt_tokens"] / one["characters"] if sums else 1 / CHARS_PER_TOKEN
    answer_by = each_by if each_by in ("own", "" if thinking else "others") else "limit"
    answer = most if answer_by == "limit" else one["completion_tokens"] / one["answers"]
    pace = sums.get("own", took[own].sum(numeric_only=True))
    seconds = pace["seconds"] / pace["answers"] if pace["seconds"] else math.nan
    return _Expected(each, each_by, min(answer, most), answer_by, seconds)


def _characters(first: pd.DataFrame, took: pd.DataFrame, spec: ModelSpec) -> int:
    """How long the texts of first calls are that a second call shows: without thinking."""
    one = _expected(first, took, spec)
    return int(min(one.answer, _longest(first)) / one.each)


def _longest(asked: pd.DataFrame) -> float:
    """The tokens to which a method's answers are limited, or reckoned at without a limit."""
    limit = asked["limit"].iloc[0]
    return UNLIMITED if pd.isna(limit) else limit


def _reckoned(
    asked: pd.DataFrame, took: pd.DataFrame, spec: ModelSpec, anew: bool
) -> dict[str, Any]:
    """The numbers of one method."""
    missing, one = asked[~asked["is_kept"] | anew], _expected(asked, took, spec)
    n, batched = len(missing), bool(getattr(spec, "batch", False))
    prompt, answer, cache = one.each * missing["characters"].sum(), one.answer * n, {}
    if getattr(spec, "prompt_caching", False) and not batched:
        from tomlab.models.anthropic import CACHED_CHARACTERS  # takes a second to import

        # The first of a prefix is written, the others are read.
        long = missing[missing["prefix_characters"] >= CACHED_CHARACTERS]
        tokens, again = long["prefix_characters"] * one.each, long["prefix"].duplicated()
        cache = {"cached": tokens[again].sum(), "written": tokens[~again].sum()}
    usd = spec.price and spec.price.usd(prompt, answer, **cache, batched=batched)
    weights = {"requests_per_minute": n, "tokens_per_minute": missing["weight"].sum()}
    times = [(n * one.seconds / spec.max_concurrency / 60, "the measured rate")]
    times += [
        (weight / getattr(spec, option), "the declared limits")
        for option, weight in weights.items()
        if getattr(spec, option, None)
    ]
    times = [] if batched else [time for time in times if not math.isnan(time[0])]
    minutes, at = max(times, default=(math.nan, "no known rate"))
    counts = {
        "requests": len(asked),
        "varied": asked["is_varied"].sum(),
        "kept": asked["is_kept"].sum(),
    }
    tokens = {"prompt": prompt, "by": one.each_by, "answer": answer, "by ": one.answer_by}
    usd = math.nan if usd is None else usd
    return counts | tokens | {"usd": usd, "min": minutes, "at": at}


def told(table: pd.DataFrame) -> list[str]:
    """A plan in a sentence a model, and one of all where there are several."""
    models = dict(list(table.groupby("model", sort=False))) if len(table) else {}
    models |= {"in all": table} if len(models) > 1 else {}
    return [_sentence(name, rows) for name, rows in models.items()]


def _sentence(name: str, rows: pd.DataFrame) -> str:
    said = f"{name}: {rows['requests'].sum():,} requests, {rows['kept'].sum():,} kept"
    rows = rows[rows["kept"] < rows["requests"]]
    if rows.empty:
        return f"{said}, nothing left to ask"
    usd, minutes = rows["usd"].dropna(), rows["min"].sum(skipna=False)
    free = " and what has no price" if len(usd) < len(rows) else ""
    cost = f"about ${usd.sum():,.2f}{free}" if len(usd) else "no price declared"
    if math.isnan(minutes):
        return f"{said}, {cost}, in an unknown time"
    time = f"{minutes / 60:.1f} h" if minutes >= 90 else f"{minutes:.0f} min"
    return f"{said}, {cost}, about {time} at {' and '.join(sorted(rows['at'].unique()))}"


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 with a table, 1 with a message."""
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.plan", description=__doc__)
    parser.add_argument("model", nargs="*", help="names in `models` of params.yaml")
    args = parser.parse_args(arguments)
    try:
        content, limits = settings.check(), specs.limits()
        names, limit = args.model or content["run"]["models"], limits.max_cost_usd
        with Store(paths.RESPONSE_STORE) as store:
            table, spent = plan(content, names, Kept(store, limits.answers)), store.spent()
    except InputError as error:
        print(f"\nplan: {error}\n", file=sys.stderr)
        return 1
    if lost := set(content["run"]["benchmarks"]) - {*with_items(content)}:
        stages = " ".join(f"filtering@{name}" for name in sorted(lost))
        print(f"Without {', '.join(sorted(lost))}: no items yet; `dvc repro {stages}` makes them.")
    if table.empty:
        print("There is nothing to plan: no model here is asked.")
        return int(bool(lost))
    shown = table.astype({"prompt": int, "answer": int}).round({"usd": 2, "min": 1})
    print(shown.to_string(index=False, na_rep="?"), LEGEND, sep="\n")
    if limit is not None and spent + table["usd"].sum() > limit:
        print(f"limits.max_cost_usd = {limit} stops that on the way: ${spent:.2f} are spent here.")
    print("\n".join(told(table)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
