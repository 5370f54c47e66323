"""What a run asks and what that costs, before anything is asked: requests, tokens, dollars, hours.

    python -m tomlab.pipeline.plan [MODEL …]

The requests are those that the evaluation notebooks make of `params.yaml` as it stands, for its
`run.models` or for the models that are named.
"""

import argparse
import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.asking.evaluation import Question
from tomlab.asking.protocol import Benchmark
from tomlab.errors import InputError
from tomlab.models import answers, specs
from tomlab.models.ask import whole
from tomlab.models.costs import CHARS_PER_TOKEN, UNLIMITED, tokens_a_minute
from tomlab.models.providers import provider
from tomlab.models.specs import ModelSpec, Reply
from tomlab.models.store import Store, canonical, request_key
from tomlab.pipeline import settings
from tomlab.pipeline.stages import EVALUATION, read_by_stages
from tomlab.records import tidy
from tomlab.records.tidy import AS_ASKED

Find = Callable[[Collection[str]], dict[str, Reply]]
# What stands for an answer that is not kept, in a later question that reminds of it.
_ANY = "(a)"
_ROUND = ["item_id", "method", "sample", "is_varied", "request_key", "characters", "prefix"]
_ROUND += ["prefix_characters", "limit", "weight", "response", "finish_reason", "is_kept", "error"]
_TOOK = [
    "model",
    "method",
    "answers",
    "prompt_tokens",
    "completion_tokens",
    "characters",
    "seconds",
]
LEGEND = """\
requests: identical ones once; varied: of them in another order or wording; kept: of them answered.
The rest is of those to ask. prompt, answer: tokens, by the model's own answers, by others' to the
same method or to other methods, by characters (three a token), or at the limit (limit).
usd: at the `price` of the entry. min: minutes at what it declares or as answers took before.
The evaluation alone: what generation, filtering and judges ask is not in it."""


class _Rounds:
    """What of a benchmark is put to one model, round by round, as its notebook does. told: the
    notebook's parameters; find: looks up kept replies.
    """

    def __init__(self, benchmark: Benchmark, spec: ModelSpec, told: Mapping[str, Any], find: Find):
        self.benchmark, self.spec, self.find = benchmark, spec, find
        self.methods, self.adapter = told["methods"], provider(spec)
        self.drawn = {name: told[name] for name in ("samples", "orders", "wordings")}
        self.drawn["seed"] = told["draw_seed"]
        self.options = {"seed": told["sampling_seed"], "replaced": told["prompts"]}
        self.options["max_tokens"] = told["max_tokens"]

    def all(self, items: pd.DataFrame) -> Iterator[pd.DataFrame]:
        """A table a round, a row a request (`_ROUND`). What goes into a later round and is not kept
        yet is filled in, so that its requests are counted if not known.
        """
        module, known = self.benchmark, self.benchmark.METHODS
        later = [m for m in self.methods if getattr(known[m], "reminder", False)]
        now = [m for m in self.methods if m not in later]
        questions = evaluation.plan(module, items, self.spec, now, **self.drawn)
        two = [q for q in questions if getattr(known[q.method], "first", None)]
        direct = self._put([q for q in questions if not getattr(known[q.method], "first", None)])
        yield direct
        if two:
            first = self._put(evaluation.first_calls(module, two))
            yield first
            said = first.assign(response=first["response"].fillna(first["request_key"]))
            second, _ = evaluation.second_calls(module, two, said)
            lost = first.loc[~first["is_kept"], ["item_id", "method", "sample"]]
            lost = set(lost.itertuples(index=False, name=None))
            one = ((q.item["item_id"], known[q.method].first, q.number) for q in second)
            yield self._put(second, [each in lost for each in one])
        if later:
            items_known = set(module.remind(items, direct)["item_id"])
            reminded = module.remind(items, direct.fillna({"response": _ANY, "finish_reason": ""}))
            second = evaluation.plan(module, reminded, self.spec, later, **self.drawn)
            yield self._put(second, [q.item["item_id"] not in items_known for q in second])

    def _put(self, questions: Sequence[Question], lost: Sequence[bool] = ()) -> pd.DataFrame:
        """One round. lost: which of the questions show an answer that is not kept."""
        rows = []
        requests = evaluation.requested(self.benchmark, questions, self.spec, **self.options)
        for number, (question, put) in enumerate(zip(questions, requests, strict=True)):
            key = request_key(whole(self.adapter, self.spec, put))
            row = (question.item["item_id"], question.method, question.number)
            row += (question.variant.name != AS_ASKED, f"? {key}" if lost and lost[number] else key)
            prefix = canonical([*put.messages[:-1], put.shared_prefix])
            row += (len(canonical(list(put.messages))), hash(prefix), len(put.shared_prefix))
            rows.append((*row, put.max_tokens, tokens_a_minute(put)))
        found = self.find([row[4] for row in rows])
        told = [found.get(row[4], Reply(None, None)) for row in rows]
        ends = [(reply.text, reply.finish_reason, reply.text is not None, None) for reply in told]
        rows = [(*row, *end) for row, end in zip(rows, ends, strict=True)]
        return pd.DataFrame(rows, columns=_ROUND).astype({"is_kept": bool, "is_varied": bool})


def plan(content: Mapping[str, Any], models: Iterable[str], store: Store) -> pd.DataFrame:
    """By benchmark, model and method what is asked and what that costs, for benchmarks with items.

    content: a checked `params.yaml`. Models that are baselines are left out.
    """
    folders, rows = specs.limits().answers, []
    entries = [specs.model_spec(name, content["models"]) for name in models]
    entries = [spec for spec in entries if spec.provider != "baseline"]
    names = [spec.name for spec in entries]
    told = read_by_stages({**content, "run": {**content["run"], "models": names}})

    def find(keys: Collection[str]) -> dict[str, Reply]:
        here = store.replies(keys)
        return here | answers.look_up(folders, set(keys) - set(here))

    for benchmark in with_items(content):
        module = import_module(f"tomlab.benchmarks.{benchmark}")
        items = tidy.read("items", paths.result("items", benchmark))
        took = _took(benchmark, folders, store)
        for spec in entries:
            values = told[f"{EVALUATION}/{benchmark}-{spec.name}"]["parameters"]
            rounds = pd.concat(_Rounds(module, spec, values, find).all(items), ignore_index=True)
            once = rounds.drop_duplicates("request_key")
            for method, asked in once.groupby("method", sort=False):
                first = getattr(module.METHODS[method], "first", None)
                limit = rounds.loc[rounds["method"] == first, "limit"].max()
                said = _answer(first, limit, took, spec)[0] if first else 0.0
                row = {"benchmark": benchmark, "model": spec.name, "method": method}
                rows.append(row | _reckoned(asked, took, spec, said))
    return pd.DataFrame(rows)


def with_items(content: Mapping[str, Any]) -> list[str]:
    """The benchmarks of the run whose items are there."""
    return [b for b in content["run"]["benchmarks"] if paths.result("items", b).is_file()]


def _took(benchmark: str, folders: Iterable[Path], store: Store) -> pd.DataFrame:
    """What answers took that are in the store or kept: see `Store.measured`."""
    stage = f"{EVALUATION}/{benchmark}"
    rows = store.measured(stage)
    for path in answers.files(folders):
        for row in (row for some in answers.read(path) for row in some if row["prompt_tokens"]):
            uses = {use.split()[1] for use in row["uses"].splitlines() if use.startswith(stage)}
            if uses:
                sent = json.loads(row["request"])
                texts = (canonical(sent[name]) for name in ("messages", "system") if name in sent)
                tokens = (row["prompt_tokens"], row["completion_tokens"], sum(map(len, texts)))
                rows += [(row["model"], use, 1, *tokens, row["seconds"]) for use in uses]
    return pd.DataFrame(rows, columns=_TOOK).groupby(["model", "method"], as_index=False).sum()


def _answer(
    method: str, limit: float | None, took: pd.DataFrame, spec: ModelSpec
) -> tuple[float, str]:
    """How many tokens an answer takes, and by what that is known."""
    thinking = getattr(spec, "thinking_tokens", 0)
    most = (UNLIMITED if pd.isna(limit) else limit) + thinking
    same = took[took["method"] == method]
    for by, rows in {"own": same[same["model"] == spec.name], "others": same}.items():
        # Another model's answers tell nothing of one that thinks first.
        if len(rows) and (by == "own" or not thinking):
            return min(rows["completion_tokens"].sum() / rows["answers"].sum(), most), by
    return most, "limit"


def _prompt(method: str, took: pd.DataFrame, spec: ModelSpec) -> tuple[float, str]:
    """How many tokens a character of a prompt takes, and by what that is known."""
    same = took[took["method"] == method]
    known = {"own": same[same["model"] == spec.name], "others": same, "methods": took}
    for by, rows in known.items():
        if len(rows) and rows["characters"].sum():
            return rows["prompt_tokens"].sum() / rows["characters"].sum(), by
    return 1 / CHARS_PER_TOKEN, "characters"


def _reckoned(
    asked: pd.DataFrame, took: pd.DataFrame, spec: ModelSpec, reasoning: float
) -> dict[str, Any]:
    """The numbers of one method. reasoning: tokens of a first call's answer, which the second shows."""
    method, missing = asked["method"].iloc[0], asked[~asked["is_kept"]]
    answer, answer_by = _answer(method, missing["limit"].max(), took, spec)
    each, prompt_by = _prompt(method, took, spec)
    # In the place of reasoning that is not kept yet stands a key.
    unknown = missing["request_key"].str.startswith("?").sum() if reasoning else 0
    prompt = each * (missing["characters"].sum() - 64 * unknown) + reasoning * unknown
    completion = answer * len(missing)
    figures = (prompt, prompt_by, completion, answer_by)
    row = {
        "requests": len(asked),
        "varied": int(asked["is_varied"].sum()),
        "kept": int(asked["is_kept"].sum()),
        **dict(zip(["prompt", "by", "answer", "by "], figures, strict=True)),
        "usd": float("nan"),
    }
    if spec.price is not None:
        batched = bool(getattr(spec, "batch", False))
        cache = {} if batched else _cache(missing, each, spec)
        row["usd"] = spec.price.usd(prompt, completion, **cache, batched=batched)
    return row | _time(missing, took, spec)


def _cache(missing: pd.DataFrame, each: float, spec: ModelSpec) -> dict[str, float]:
    """Tokens of the prompts that the vendor's cache is told to keep: the first of a prefix is
    written, the others are read. What a vendor caches unasked is not reckoned with.
    """
    if not getattr(spec, "prompt_caching", False):
        return {}
    from tomlab.models.anthropic import CACHED_CHARACTERS  # the client takes a second to import

    long = missing[missing["prefix_characters"] >= CACHED_CHARACTERS]
    again = long["prefix"].duplicated()
    tokens = long["prefix_characters"] * each
    return {"cached": tokens[again].sum(), "written": tokens[~again].sum()}


def _time(missing: pd.DataFrame, took: pd.DataFrame, spec: ModelSpec) -> dict[str, Any]:
    """Minutes at the declared limits or at the pace of the model's answers, whichever is more."""
    if getattr(spec, "batch", False):
        return {"min": float("nan"), "at": "the vendor's pace"}
    own, n = took[took["model"] == spec.name], len(missing)
    same = own[own["method"] == missing["method"].iloc[0]] if n else own
    rows = same if len(same) else own
    found = []
    if len(rows):
        seconds = rows["seconds"].sum() / rows["answers"].sum()
        found.append((n * seconds / spec.max_concurrency / 60, "the measured rate"))
    weights = {"requests_per_minute": n, "tokens_per_minute": missing["weight"].sum()}
    for option, weight in weights.items():
        if rate := getattr(spec, option, None):
            found.append((weight / rate, "the declared limits"))
    minutes, at = max(found, default=(float("nan"), "no known rate"))
    return {"min": minutes, "at": at}


def told(table: pd.DataFrame) -> list[str]:
    """A plan in a sentence a model, and one of all where there are several."""
    models = table["model"].unique() if len(table) else []
    lines = [_sentence(name, table[table["model"] == name]) for name in models]
    return [*lines, _sentence("in all", table)] if len(models) > 1 else lines


def _sentence(name: str, rows: pd.DataFrame) -> str:
    said = f"{name}: {rows['requests'].sum():,} requests, {rows['kept'].sum():,} kept"
    rows = rows[rows["kept"] < rows["requests"]]
    if rows.empty:
        return f"{said}: nothing is left to ask"
    usd = rows["usd"].dropna()
    free = " and what has no price" if len(usd) and len(usd) < len(rows) else ""
    cost = f"about ${usd.sum():,.2f}{free}" if len(usd) else "no price declared"
    if rows["min"].isna().any():
        return f"{said}, {cost}, in an unknown time"
    minutes, at = rows["min"].sum(), " and ".join(sorted(rows["at"].unique()))
    time = f"{minutes / 60:.1f} h" if minutes >= 90 else f"{minutes:.0f} min"
    return f"{said}, {cost}, about {time} at {at}"


def stops(table: pd.DataFrame, limits: specs.Limits, spent: float) -> str:
    """What `limits.max_cost_usd` makes of a plan, "" where it leaves room for it."""
    limit, cost = limits.max_cost_usd, table["usd"].sum() if len(table) else 0.0
    if limit is None or not cost or spent + cost <= limit:
        return ""
    return f"limits.max_cost_usd = {limit} stops that on the way: ${spent:.2f} of it are spent here"


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 with a table, 1 with a message."""
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.plan", description=__doc__)
    parser.add_argument("model", nargs="*", help="names in `models` of params.yaml")
    args = parser.parse_args(arguments)
    try:
        content = settings.check()
        ready = with_items(content)
        if missing := [b for b in content["run"]["benchmarks"] if b not in ready]:
            todo = f"run `dvc repro {' '.join(f'filtering@{name}' for name in missing)}` first"
            print(f"No items of {', '.join(missing)} yet: {todo}.", file=sys.stderr)
            if not ready:
                return 1
        with Store(paths.RESPONSE_STORE) as store:
            table = plan(content, args.model or content["run"]["models"], store)
            room = stops(table, specs.limits(), store.spent())
    except InputError as error:
        print(f"\nplan: {error}\n", file=sys.stderr)
        return 1
    if table.empty:
        print("Baselines are not asked over a wire: there is nothing to plan.")
        return 0
    whole_numbers = dict.fromkeys(["prompt", "answer"], int)
    shown = table.round({"usd": 2, "min": 1, "prompt": 0, "answer": 0}).astype(whole_numbers)
    print(shown.to_string(index=False, na_rep="?"))
    print("\n".join(["", LEGEND, "", *([room] if room else []), *told(table)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
