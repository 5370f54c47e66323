"""Were the kept answers given? Checks the files by their hashes, then asks a sample again.

    python -m tomlab.pipeline.verify [--answers 150] [--seed 0]

The sample is drawn by the seed from all answers of embedded models in `run.answers` and asked of
the same entries of `models`, with nothing looked up. No vendor promises the same answer twice, so
that asking a server again would prove nothing.

Exits with 1 where a file is not the one that is listed, and where a model answers otherwise than is
kept on the same kind of processor. On another kind of processor that is a warning.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab import params
from tomlab.errors import InputError
from tomlab.models import answers, embedded, specs
from tomlab.models.ask import ask
from tomlab.models.providers import provider
from tomlab.models.specs import Request
from tomlab.models.store import reply_of, request_key
from tomlab.pipeline.answers import changed


def drawn(files: Sequence[Path], n: int, seed: int) -> pd.DataFrame:
    """`n` kept answers drawn from all files, with their `file`."""
    keys = [(p, key) for p in files for key in answers.opened(p).read(["key"])["key"].to_pylist()]
    chosen = {*random.Random(f"verify/{seed}").sample(keys, min(n, len(keys)))}
    rows = (row | {"file": p} for p in files for part in answers.read(p) for row in part)
    return pd.DataFrame(row for row in rows if (row["file"], row["key"]) in chosen)


def as_request(sent: Mapping[str, Any]) -> Request:
    """The request behind what an embedded model was sent; by the same entry it has the same key."""
    form = sent.get("response_format", {}).get("json_schema", {})
    names = ("max_tokens", "temperature", "seed", "shared_prefix")
    own = {name: sent[name] for name in names}
    return Request(tuple(sent["messages"]), schema=form.get("schema"), **own)


def again(rows: pd.DataFrame, spec: specs.ModelSpec, limits: specs.Limits) -> pd.DataFrame:
    """The kept answers of one model with what it says `now`, the `outcome` (identical, another,
    failed, or changed entry, where `models` would send something else), and whether that speaks
    `against` the kept answer.
    """
    adapter, requests = provider(spec), {}
    for row in rows.itertuples():
        request = as_request(json.loads(row.request))
        if request_key(adapter.payload(request)) == row.key:
            requests[row.key] = request
    with tempfile.TemporaryDirectory() as folder:
        asked = ask([*requests.values()], spec, store=Path(folder) / "s.sqlite", limits=limits)
        now = {each.request_key: each.reply for each in asyncio.run(asked)}
    here, found = embedded.origin()["processor"], []
    for row in rows.to_dict("records"):
        was, reply = reply_of(row), now.get(row["key"])
        outcome = "failed" if row["key"] in requests else "changed entry"
        if reply:
            same = (reply.text, reply.finish_reason) == (was.text, was.finish_reason)
            outcome = "identical" if same else "another"
        there = json.loads(row["origin"]).get("processor", here)
        against = outcome == "failed" or (outcome == "another" and there == here)
        own = {"processor": there, "against": against, "outcome": outcome}
        found.append(row | own | {"now": reply and reply.text})
    return pd.DataFrame(found)


def report(found: pd.DataFrame) -> str:
    """What was found, as a table with the first answers that differ."""
    names = found["file"].map(lambda path: f"{path.parent.name}, {path.stem}")
    lines = [pd.crosstab(names.rename("answers of"), found["outcome"]).to_string()]
    for row in found[found["outcome"] == "another"].head(5).itertuples():
        lines.append(f"\n{row.file.stem}, {row.uses}, kept on {row.processor}:")
        lines.append(f"  was: {row.text[:200]!r}\n  now: {row.now[:200]!r}")
    share = (found["outcome"] == "identical").mean()
    return "\n".join([*lines, f"\n{share:.1%} of {len(found)} answers are identical to the byte."])


def verify(n: int, seed: int) -> int:
    """Check the files by their hashes and a sample by what is said now; the exit code."""
    limits, registry = specs.limits(), params.load()["models"]
    if not (files := answers.files(limits.answers)):
        print("There are no kept answers; `python -m tomlab.pipeline.answers keep` writes them.")
        return 0
    problems = changed(files)
    print("\n".join(problems) or f"Files by their hashes: {len(files)}, all as listed.")
    entries = {p.stem: specs.model_spec(p.stem, registry) for p in files if p.stem in registry}
    entries = {name: spec for name, spec in entries.items() if spec.provider == "embedded"}
    if others := sorted({path.stem for path in files} - {*entries}):
        print(f"Not asked again, as no embedded model in `models`: {', '.join(others)}")
    sample = drawn([path for path in files if path.stem in entries], n, seed)
    if sample.empty:
        return int(bool(problems))
    alone = limits.model_copy(update={"ask": "missing", "answers": ()})
    found = [again(rows, entries[name], alone) for name, rows in sample.groupby("model")]
    print(f"\n{report(found := pd.concat(found))}")
    return int(bool(problems) or found["against"].any())


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 if nothing speaks against the kept answers, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.verify", description=__doc__)
    parser.add_argument("--answers", type=int, default=150, help="how many are asked again")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    args = parser.parse_args(arguments)
    try:
        return verify(args.answers, args.seed)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
