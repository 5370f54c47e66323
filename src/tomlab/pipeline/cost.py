"""What it would cost to put a run's questions to a model with a price.

    python -m tomlab.pipeline.cost gpt-4o

Questions are counted as the run would ask them. Each is reckoned at the tokens that answers of this
run took by the same method (else by the others of the benchmark); a model that thinks takes more.
"""

import argparse
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pandas as pd

from tomlab import params, paths
from tomlab.asking.evaluation import plan
from tomlab.errors import InputError
from tomlab.models.specs import ModelSpec, model_spec
from tomlab.records import tidy
from tomlab.records.tidy import AS_ASKED

TOKENS = ["prompt_tokens", "completion_tokens"]


def questions(benchmark: str, settings: Mapping[str, Any], spec: ModelSpec) -> pd.DataFrame:
    """How many requests a benchmark makes: a row a method and way of asking (`is_varied`)."""
    module, run = import_module(f"tomlab.benchmarks.{benchmark}"), settings["run"]
    # A reminder of an earlier answer is there once that was given.
    items = tidy.read("items", paths.result("items", benchmark)).assign(reminder="")
    methods = settings[benchmark]["evaluation"]["methods"]
    folders = [paths.user_path(name) / benchmark for name in run.get("wordings", ())]
    ways = {"orders": run.get("orders", 1), "wordings": [f for f in folders if f.is_dir()]}
    asked = plan(module, items, spec, methods, **ways, samples=run.get("samples", 1))
    rows = [(q.method, q.variant.name != AS_ASKED) for q in asked]
    # Chain of thought in two calls asks for the reasoning first.
    firsts = {name: getattr(module.METHODS[name], "first", None) for name in methods}
    rows += [(firsts[method], varied) for method, varied in rows if firsts[method]]
    return pd.DataFrame(rows, columns=["method", "is_varied"]).value_counts().reset_index()


def tokens(benchmark: str, models: list[str]) -> pd.DataFrame:
    """The mean tokens of an answer of this run, by method, of those that took any. Errors:
    `InputError` where none did.
    """
    tables = [paths.result("responses", benchmark, model) for model in models]
    found = tidy.read("responses", *(path for path in tables if path.is_file()))
    found = found[found["prompt_tokens"].fillna(0) > 0]
    if found.empty:
        raise InputError(f"{benchmark}: no answer of this run took tokens to reckon by")
    return found.groupby("method")[TOKENS].mean()


def cost(settings: Mapping[str, Any], spec: ModelSpec) -> pd.DataFrame:
    """By benchmark the requests as the protocol asks and in other orders and wordings, millions of
    tokens of both, and US dollars at the model's price.
    """
    if spec.price is None:
        raise InputError(f"models.{spec.name}: no price; add `price: {{input: …, output: …}}`")
    rows = {}
    for benchmark in settings["run"]["benchmarks"]:
        asked = questions(benchmark, settings, spec)
        known = tokens(benchmark, settings["run"]["models"])
        each = known.reindex(asked["method"]).fillna(known.mean()).to_numpy()
        both = pd.DataFrame(each * asked[["count"]].to_numpy(), columns=TOKENS)
        usd = spec.price.usd(both[TOKENS[0]], both[TOKENS[1]])
        plain, count = ~asked["is_varied"], asked["count"]
        rows[benchmark] = {
            "requests": count[plain].sum(),
            "varied": count[~plain].sum(),
            "prompt_mtok": both[TOKENS[0]].sum() / 1e6,
            "answer_mtok": both[TOKENS[1]].sum() / 1e6,
            "usd": usd[plain].sum(),
            "usd_with_varied": usd.sum(),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    return pd.concat([table, table.sum().to_frame("all").T])


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 with a table, 1 with a message."""
    parser = argparse.ArgumentParser(
        prog="python -m tomlab.pipeline.cost", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("model", help="a name in `models` of params.yaml, with a price")
    args = parser.parse_args(arguments)
    try:
        settings = params.load()
        spec = model_spec(args.model, settings["models"])
        table = cost(settings, spec)
    except (InputError, FileNotFoundError) as error:
        print(f"\ncost: {error}\n", file=sys.stderr)
        return 1
    print(f"{args.model} at ${spec.price.input:g} and ${spec.price.output:g} a million tokens in")
    print("and out (`price` in params.yaml; prices change: look them up before you run).\n")
    whole = {"requests": int, "varied": int}
    print(table.astype(whole).round(2).to_string())
    return 0


if __name__ == "__main__":
    sys.exit(main())
