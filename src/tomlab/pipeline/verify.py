"""Were the kept answers given? Files by their hashes first, then a sample asked again.

    python -m tomlab.pipeline.verify [--answers 150] [--seed 0] [--paid]

The sample is drawn from all files of `run.answers`, from what each was asked for in turn, and asked
again by the same entries of `models`, with nothing looked up. Models that cost are asked with
`--paid` alone, after the cost is named. Exits with 1 where a file is not the one that its card
describes, and where an embedded model answers otherwise than is kept.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab import params
from tomlab.errors import InputError
from tomlab.models import answers, specs
from tomlab.models.ask import ask
from tomlab.models.providers import provider
from tomlab.models.specs import Request
from tomlab.models.store import request_key
from tomlab.paths import ROOT
from tomlab.pipeline.answers import changed


def drawn(files: Sequence[Path], n: int, seed: int) -> list[dict[str, Any]]:
    """`n` kept answers with their `file`: of every file and what its answers are for, in turn."""
    turns = defaultdict(list)
    for path in files:
        table = answers.opened(path).read(["key", "uses"]).to_pylist()
        for row in sorted(table, key=lambda row: row["key"]):
            turns[path, row["uses"]].append((path, row["key"]))
    for (path, uses), own in turns.items():
        random.Random(f"verify/{seed}/{path.parent.name}/{path.stem}/{uses}").shuffle(own)
    chosen = [each for each in chain(*zip_longest(*turns.values())) if each][:n]
    rows = []
    for path in files:
        wanted = {key for file, key in chosen if file == path}
        for part in answers.read(path):
            rows += [row | {"file": path} for row in part if row["key"] in wanted]
    return rows


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


def again(rows: Sequence[Mapping[str, Any]], spec: specs.ModelSpec) -> pd.DataFrame:
    """Answers of one model asked again: `file, uses, key, was, now` and `outcome`: identical,
    another, failed, or changed entry where what `models` has under the name sends something else.
    """
    adapter, thinking = provider(spec), getattr(spec, "thinking_tokens", 0)
    requests = {}
    for row in rows:
        request = as_request(json.loads(row["request"]))
        if request.max_tokens is not None:
            request = replace(request, max_tokens=request.max_tokens - thinking)
        if request_key({"provider": spec.provider, **adapter.payload(request)}) == row["key"]:
            requests[row["key"]] = request
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite"
        replies = asyncio.run(ask([*requests.values()], spec, store=store)) if requests else []
    now = {each.request_key: each.reply.text for each in replies if each.reply}
    told = []
    for row in rows:
        known = {True: "identical", False: "another"}[now.get(row["key"]) == row["text"]]
        known = known if row["key"] in now else "failed"
        outcome = known if row["key"] in requests else "changed entry"
        whose = {name: row[name] for name in ("file", "uses", "key")}
        told.append(whose | {"was": row["text"], "now": now.get(row["key"]), "outcome": outcome})
    return pd.DataFrame(told)


def cost(rows: Sequence[Mapping[str, Any]], spec: specs.ModelSpec) -> float | None:
    """What asking again costs in US dollars by the tokens of before; None without a price."""
    tokens = (sum(row[f"{what}_tokens"] for row in rows) for what in ("prompt", "completion"))
    return spec.price.usd(*tokens) if spec.price else None


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 if all that was held against the kept answers is the same, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tomlab.pipeline.verify", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--answers", type=int, default=150, help="how many are asked again")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--paid", action="store_true", help="ask models that cost, too")
    args = parser.parse_args(arguments)
    try:
        files = answers.files(ROOT / folder for folder in params.load()["run"]["answers"])
        problems = changed(files)
        print("\n".join(problems) or f"{len(files)} files are those of their cards.")
        by_model = defaultdict(list)
        for row in drawn(files, args.answers, args.seed):
            by_model[row["model"]].append(row)
        found = []
        for model, rows in by_model.items():
            spec = specs.model(model)
            if spec.provider != "embedded":
                price = cost(rows, spec)
                told = "no price is declared" if price is None else f"about ${price:.2f}"
                print(f"{model}: {len(rows)} answers, {told}{'' if args.paid else '; not asked'}")
                if not args.paid:
                    continue
            found.append(again(rows, spec))
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    if not found:
        print("No answer was asked again.")
        return int(bool(problems))
    table = pd.concat(found, ignore_index=True)
    where = table["file"].map(lambda path: f"{path.parent.name}, {path.stem}")
    print(pd.crosstab(where.rename("answers of"), table["outcome"]).to_string())
    for row in table[table["outcome"] == "another"].head(5).itertuples():
        print(f"\n{row.file.stem}, {row.uses}\n  was: {row.was[:200]!r}\n  now: {row.now[:200]!r}")
    same = (table["outcome"] == "identical").mean()
    print(f"\n{same:.1%} of {len(table)} answers are identical to the byte.")
    return int(bool(problems) or (table["outcome"] == "another").any())


if __name__ == "__main__":
    sys.exit(main())
