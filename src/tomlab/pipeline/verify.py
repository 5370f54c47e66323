"""Were the kept answers given? Files by their hashes first, then a sample asked again.

    python -m tomlab.pipeline.verify [--answers 150] [--seed 0] [--paid]

The sample is drawn from all files of `run.answers`, for all that they were asked for the same time,
and asked again by the same entries of `models`, with nothing looked up. One seed draws one sample,
so that it can be repeated. Models that cost are asked with `--paid` alone; without it their cost is
named. Where a run's results are there, both answers get their verdict, and the share that moved is
told; what another answer would change in later questions that quote it is not followed.

Exits with 1 where a file is not the one that its card describes, and where an embedded model
answers otherwise than is kept on the same kind of processor. On another kind that is a warning;
a server's other answer is counted, no more: its vendor promises no two alike.
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
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab import params, paths
from tomlab.errors import InputError
from tomlab.models import answers, embedded, specs
from tomlab.models.ask import ask
from tomlab.models.providers import provider
from tomlab.models.specs import Limits, Reply, Request
from tomlab.models.store import REPLY, reply_of, request_key
from tomlab.pipeline.answers import changed
from tomlab.records import tidy

OUTCOMES = ("identical", "another, same verdict", "another, other verdict")
OUTCOMES += ("another, verdict not known", "failed", "changed entry")
_NO_VERDICT = "asked for something else than a verdict, or `make figures` first"
_WARNED = "another kind of processor may word answers differently, so this is no error"
_ONE = ["item_id", "method", "sample"]  # what tells the answers of a model apart


def drawn(files: Sequence[Path], n: int, seed: int) -> list[dict[str, Any]]:
    """`n` kept answers with their `file`. What each file's answers were asked for gets the same
    time, by how long they took before: of what takes a minute an answer or none, by lot.
    """
    turns = []
    for path in files:
        lot = random.Random(f"verify/{seed}/{path.parent.name}/{path.stem}")
        table = answers.opened(path).read(["key", "uses", "seconds"]).to_pandas()
        for _, own in table.sort_values(["uses", "key"]).groupby("uses"):
            keys, seconds, start = [*own["key"]], own["seconds"].mean(), lot.random()
            lot.shuffle(keys)
            turns += [((k + start) * seconds, path, key) for k, key in enumerate(keys)]
    chosen, rows = {(path, key) for _, path, key in sorted(turns)[:n]}, []
    for path in files:
        for part in answers.read(path):
            rows += [row | {"file": path} for row in part if (path, row["key"]) in chosen]
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


def again(
    rows: Sequence[Mapping[str, Any]], spec: specs.ModelSpec, limits: Limits | None = None
) -> pd.DataFrame:
    """Answers of one model asked again: `model, file, uses, key`, the replies `was, now`, the
    processors `kept_on, asked_on` ("": not told), and `outcome`, one of `OUTCOMES` but for the
    verdict; changed entry: what `models` has under the name sends something else.
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
        asked = ask([*requests.values()], spec, store=Path(folder) / "s.sqlite", limits=limits)
        now = {each.request_key: each.reply for each in asyncio.run(asked)}
    here = embedded.origin()["processor"] if spec.provider == "embedded" else ""
    told = []
    for row in rows:
        was, reply = reply_of(row), now.get(row["key"])
        outcome = "failed" if row["key"] in requests else "changed entry"
        if reply:
            same = (reply.text, reply.finish_reason) == (was.text, was.finish_reason)
            outcome = "identical" if same else "another"
        where = json.loads(row["origin"]).get("processor", "")
        whose = {name: row[name] for name in ("model", "file", "uses", "key")}
        told.append(whose | {"was": was, "now": reply, "kept_on": where, "asked_on": here})
        told[-1]["outcome"] = outcome
    return pd.DataFrame(told)


def with_verdicts(found: pd.DataFrame, embedder: specs.ModelSpec) -> pd.DataFrame:
    """What `again` found, with `moved`: whether the verdict did, None where none is known."""
    moved = {}
    for file, own in found.dropna(subset="now").groupby("file"):
        was, now = (dict(zip(own["key"], own[name], strict=True)) for name in ("was", "now"))
        moved |= {(file, key): one for key, one in moved_verdicts(file, was, now, embedder).items()}
    whose = zip(found["file"], found["key"], strict=True)
    found = found.assign(moved=pd.Series(map(moved.get, whose), found.index, dtype=object))
    said = {True: "other verdict", False: "same verdict", None: "verdict not known"}
    told = "another, " + found["moved"].map(said.get)
    return found.assign(outcome=found["outcome"].mask(found["outcome"] == "another", told))


def moved_verdicts(
    file: Path, was: Mapping[str, Reply], now: Mapping[str, Reply], embedder: specs.ModelSpec
) -> dict[str, bool]:
    """By request whether the replies `now` have another outcome or score than those before, as the
    evaluation scores. Left out are those on which the results of a run hold no verdict: there is
    no such run, or it asked them for something else, such as an item.
    """
    benchmark, model = file.parent.name, file.stem
    kinds = {"items": None, "responses": model, "scores": model}
    tables = {kind: paths.result(kind, benchmark, whose) for kind, whose in kinds.items()}
    if not all(path.is_file() for path in tables.values()):
        return {}
    items, responses, scores = (tidy.read(kind, path) for kind, path in tables.items())
    asked = responses[responses["request_key"].isin([*was])].merge(scores[_ONE])
    if asked.empty:
        return {}
    score = import_module(f"tomlab.benchmarks.{benchmark}").score
    options = {"embedder": embedder} if "embedder" in signature(score).parameters else {}

    def verdicts(replies: Mapping[str, Reply]) -> pd.DataFrame:
        said = pd.DataFrame(vars(replies[key]) for key in asked["request_key"])
        said = said[[*REPLY]].rename(columns={"text": "response"})
        given = asked.assign(**said, error=None)
        scored = score(items, given, **options).set_index(_ONE)[["outcome", "score"]]
        return scored.loc[pd.MultiIndex.from_frame(asked[_ONE])].astype(object).fillna(-1)

    differ = (verdicts(was) != verdicts(now)).any(axis=1).to_numpy()
    return pd.Series(differ).groupby(asked["request_key"].to_numpy()).any().to_dict()


def cost(rows: Sequence[Mapping[str, Any]], spec: specs.ModelSpec) -> float | None:
    """What asking again costs in US dollars by the tokens of before; None without a price."""
    tokens = (sum(row[f"{what}_tokens"] for row in rows) for what in ("prompt", "completion"))
    return spec.price.usd(*tokens) if spec.price else None


def announced(rows: Sequence[Mapping[str, Any]], spec: specs.ModelSpec, paid: bool) -> bool:
    """Whether a model is asked; says how many answers, what they cost and how long they take."""
    price, told = cost(rows, spec), f"{spec.name}: {len(rows)} answers"
    if spec.provider != "embedded":
        told += ", no price is declared" if price is None else f", about ${price:.4f}"
        if not paid:
            print(f"{told}; not asked: `python -m tomlab.pipeline.verify --paid` asks")
            return False
    minutes = sum(row["seconds"] for row in rows) / spec.max_concurrency / 60
    print(f"{told}, about {minutes:.1f} minutes by how long they took before", flush=True)
    return True


def against(found: pd.DataFrame) -> pd.Series:
    """Which answers speak against what is kept: of embedded models, which are those that repeat."""
    another = found["outcome"].str.startswith("another")
    lost = another & ~_elsewhere(found) | (found["outcome"] == "failed")
    return lost & (found["asked_on"] != "")


def _elsewhere(found: pd.DataFrame) -> pd.Series:
    """Which answers were kept on another kind of processor than they were asked on again."""
    return (found["kept_on"] != "") & (found["kept_on"] != found["asked_on"])


def report(found: pd.DataFrame) -> str:
    """What was found, in a table and sentences."""
    where = found["file"].map(lambda path: f"{path.parent.name}, {path.stem}")
    table = pd.crosstab(where.rename("answers of"), found["outcome"])
    lines = [table[[name for name in OUTCOMES if name in table]].to_string()]
    for row in found[found["outcome"].str.startswith("another")].head(5).itertuples():
        lines.append(f"\n{row.file.stem}, {row.uses}: {row.outcome}")
        lines += [f"  was: {row.was.text[:200]!r}", f"  now: {row.now.text[:200]!r}"]
    for model, own in found.groupby("model"):
        same, known = own["outcome"] == "identical", own["moved"].dropna()
        lines.append(
            f"\n{model}: {same.mean():.1%} of {len(own)} answers are identical to the byte."
        )
        if len(known):
            share = known.astype(bool).mean()
            lines.append(f"{known.sum()} of {len(known)} known verdicts moved ({share:.1%}).")
        if lost := len(own) - len(known):
            lines.append(f"{lost} have no verdict in {paths.RESULTS}: {_NO_VERDICT}.")
        other = own[_elsewhere(own)]
        for (kept_on, asked_on), part in other.groupby(["kept_on", "asked_on"]):
            count = f"{(part['outcome'] == 'identical').sum()} of {len(part)} are identical"
            lines.append(f"Kept on {kept_on}, asked again on {asked_on}: {count}; {_WARNED}.")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 if nothing speaks against the kept answers, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tomlab.pipeline.verify", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--answers", type=int, default=150, help="how many are asked again")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--paid", action="store_true", help="ask models that cost, too")
    args = parser.parse_args(arguments)
    try:
        return verify(args.answers, args.seed, args.paid)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1


def verify(n: int, seed: int, paid: bool) -> int:
    """Hold the files against their cards and a sample against what is said again; the exit code."""
    limits, content = specs.limits(), params.load()
    if not (files := answers.files(limits.answers)):
        where = ", ".join(map(str, limits.answers)) or "run.answers"
        print(f"No kept answers in {where}; `python -m tomlab.pipeline.answers keep` writes them.")
        return 0
    problems = changed(files)
    print("\n".join(problems) or f"Files by their cards: {len(files)}, all as described.")
    by_model, asked = defaultdict(list), {}
    for row in drawn(files, n, seed):
        by_model[row["model"]].append(row)
    # What all of it costs is said before anything is asked.
    for model, rows in by_model.items():
        if model not in content["models"]:
            print(f"{model}: {len(rows)} answers; not asked: `models` has no such entry")
            continue
        spec = specs.model(model)
        if announced(rows, spec, paid):
            asked[model] = spec
    if not asked:
        print("No answer was asked again.")
        return int(bool(problems))
    limits = limits.model_copy(update={"ask": "missing", "answers": ()})
    found = pd.concat([again(by_model[model], asked[model], limits) for model in asked])
    embedder = specs.model(content["run"]["embedder"])
    found = with_verdicts(found.reset_index(drop=True), embedder)
    print(f"\n{report(found)}")
    return int(bool(problems) or against(found).any())


if __name__ == "__main__":
    sys.exit(main())
