"""Were the kept answers given? Checks the files by their cards, then asks a sample again.

    python -m tomlab.pipeline.verify [--answers 150] [--seed 0] [--paid]

The sample is drawn by the seed from all files of `run.answers` and asked of the same entries of
`models`, with nothing looked up. Models behind a server are asked with `--paid` alone.

Exits with 1 where a file is not the one that its card describes, and where an embedded model
answers otherwise than is kept on the same kind of processor. On another kind that is a warning; a
server's other answers are only counted, because no vendor promises the same answer twice.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
    """The request behind what was sent for it; by the same entry it has the same key."""
    messages, prefix = [], sent.get("shared_prefix", "")
    if system := sent.get("system"):
        messages.append({"role": "system", "content": system})
    for message in sent["messages"]:
        if isinstance(content := message["content"], list):  # a prefix that the vendor caches
            prefix, content = content[0]["text"], "".join(block["text"] for block in content)
        messages.append({**message, "content": content})
    form = (sent.get("response_format") or {}).get("json_schema") or {}
    form = form or (sent.get("output_config") or {}).get("format") or {}
    warmth = (sent.get("extra_body") or {}).get("temperature", 0.0)
    return Request(
        tuple(messages),
        sent.get("max_tokens", sent.get("max_completion_tokens")),
        temperature=sent.get("temperature", warmth),
        sample=sent.get("sample", 0),
        seed=sent.get("seed", 0),
        shared_prefix=prefix,
        schema=form.get("schema"),
    )


def again(rows: pd.DataFrame, spec: specs.ModelSpec, limits: specs.Limits) -> pd.DataFrame:
    """The kept answers of one model with what it says `now`, the `outcome` (identical, another,
    failed, or changed entry, where `models` would send something else), and whether that speaks
    `against` the kept answer.
    """
    adapter, requests = provider(spec), {}
    for row in rows.itertuples():
        request = as_request(json.loads(row.request))
        if request.max_tokens is not None:
            own = request.max_tokens - getattr(spec, "thinking_tokens", 0)
            request = replace(request, max_tokens=own)
        if request_key({"provider": spec.provider, **adapter.payload(request)}) == row.key:
            requests[row.key] = request
    with tempfile.TemporaryDirectory() as folder:
        asked = ask([*requests.values()], spec, store=Path(folder) / "s.sqlite", limits=limits)
        now = {each.request_key: each.reply for each in asyncio.run(asked)}
    here = embedded.origin()["processor"] if spec.provider == "embedded" else None
    found = []
    for row in rows.to_dict("records"):
        was, reply = reply_of(row), now.get(row["key"])
        outcome = "failed" if row["key"] in requests else "changed entry"
        if reply:
            same = (reply.text, reply.finish_reason) == (was.text, was.finish_reason)
            outcome = "identical" if same else "another"
        there = json.loads(row["origin"]).get("processor", here)
        counts = outcome == "failed" or (outcome == "another" and there == here)
        own = {"processor": there, "against": here is not None and counts}
        found.append(row | own | {"now": reply and reply.text, "outcome": outcome})
    return pd.DataFrame(found)


def report(found: pd.DataFrame) -> str:
    """What was found, as a table with the first answers that differ."""
    names = found["file"].map(lambda path: f"{path.parent.name}, {path.stem}")
    lines = [pd.crosstab(names.rename("answers of"), found["outcome"]).to_string()]
    for row in found[found["outcome"] == "another"].head(5).itertuples():
        lines.append(f"\n{row.file.stem}, {row.uses}, kept on {row.processor or 'a server'}:")
        lines += [f"  was: {row.text[:200]!r}", f"  now: {row.now[:200]!r}"]
    share = (found["outcome"] == "identical").mean()
    return "\n".join([*lines, f"\n{share:.1%} of {len(found)} answers are identical to the byte."])


def verify(n: int, seed: int, paid: bool) -> int:
    """Check the files against their cards and a sample against what is said now; the exit code."""
    limits, registry = specs.limits(), params.load()["models"]
    if not (files := answers.files(limits.answers)):
        print("There are no kept answers; `python -m tomlab.pipeline.answers keep` writes them.")
        return 0
    problems = changed(files)
    print("\n".join(problems) or f"Files by their cards: {len(files)}, all as described.")
    alone = limits.model_copy(update={"ask": "missing", "answers": ()})
    found = []
    for name, rows in drawn(files, n, seed).groupby("model"):
        if name not in registry:
            print(f"{name}: {len(rows)} answers are not asked again: `models` has no such entry")
            continue
        spec = specs.model_spec(name, registry)
        tokens = rows["prompt_tokens"].sum(), rows["completion_tokens"].sum()
        cost = f"about ${spec.price.usd(*tokens):.4f}" if spec.price else "no declared price"
        if spec.provider != "embedded" and not paid:
            print(f"{name}: {len(rows)} answers, {cost}; `--paid` asks this model, too")
            continue
        minutes = rows["seconds"].sum() / spec.max_concurrency / 60
        print(f"{name}: {len(rows)} answers, {cost}, about {minutes:.1f} minutes", flush=True)
        found.append(again(rows, spec, alone))
    if found:
        print(f"\n{report(every := pd.concat(found))}")
    return int(bool(problems) or (bool(found) and every["against"].any()))


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 if nothing speaks against the kept answers, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tomlab.pipeline.verify", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--answers", type=int, default=150, help="how many are asked again")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--paid", action="store_true", help="ask models behind a server, too")
    args = parser.parse_args(arguments)
    try:
        return verify(args.answers, args.seed, args.paid)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
