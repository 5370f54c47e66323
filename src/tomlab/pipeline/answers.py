"""Copy answers from the response store to files and back, and check that the files are genuine.

    python -m tomlab.pipeline.answers keep [FOLDER]   # from the response store into files
    python -m tomlab.pipeline.answers take FILE …     # from files into the response store
    python -m tomlab.pipeline.answers take LOG … --benchmark NAME --to FOLDER     # docs/logs.md
    python -m tomlab.pipeline.answers verify          # by hashes and by asking a sample again
    python -m tomlab.pipeline.answers account [--spent USD]     # docs/cost.md

FOLDER defaults to the first of `run.answers`. `keep` also writes a list of the folder's files with
their hashes: docs/answers/README.md for the project's own folder, answers.md in any other. `verify`
asks only embedded models again, as no vendor promises the same answer twice. It fails if a file's
hash is not the listed one, or if a model answers otherwise on the same kind of processor; on
another kind that is only shown. `account` shows what the response store counts as spent, and
corrects it.
"""

import argparse
import asyncio
import json
import math
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab import params
from tomlab.asking import taken
from tomlab.errors import InputError, refuse
from tomlab.models import answers, embedded, specs
from tomlab.models.ask import ask
from tomlab.models.providers import provider
from tomlab.models.store import Store, reply_of, request_key
from tomlab.paths import (
    DOCS,
    RESPONSE_STORE,
    ROOT,
    from_root,
    hash_of,
    result,
    user_path,
    writable,
)
from tomlab.pipeline.settings import FRESH
from tomlab.records import tidy
from tomlab.reporting import markup
from tomlab.scoring import embeddings

LIST = """# Kept answers

What models answered, one file for each benchmark and model. `make verify` checks the files by
their SHA-256 and asks a sample again; `python -m tomlab.pipeline.answers keep` writes files and
this list.

| benchmark | model | answers | given by | days (UTC) | tokens | US$ | licence | MB | SHA-256 |
|---|---|---:|---|---|---:|---:|---|---:|---|
"""


ORIGINS = 10  # at most this many engines or models, those with most answers, are listed for a file


def keep(store: Path | str, folder: Path, benchmarks: Sequence[str]) -> pd.DataFrame:
    """Add the answers in a store to the files of a folder, one file for each benchmark and model.

    Returns a row for each file: `file`, and the numbers of answers that are `new` in it, that it
    already had (`kept`), and that are different in it (`other`); the file's answer then stays.
    Errors: those of `models.answers`.
    """
    counts = []
    with Store(store) as responses:
        for benchmark in benchmarks:
            rows_by_model = defaultdict(list)
            for row in responses.kept(benchmark):
                rows_by_model[row["model"]].append(row)
            for model, rows in sorted(rows_by_model.items()):
                path = folder / benchmark / f"{model}.parquet"
                counts.append((path, *_add_to_file(rows, path)))
    return pd.DataFrame(counts, columns=["file", "new", "kept", "other"])


def _add_to_file(rows: Sequence[Mapping], path: Path) -> tuple[int, int, int]:
    """Add answers to a file. Returns how many are new in it, how many it already had, and to how
    many requests it has a different answer, which is not replaced.
    """
    earlier = {row["key"]: row for row in _rows(path)} if path.exists() else {}
    new = [row for row in rows if row["key"] not in earlier]
    repeated = [row for row in rows if row["key"] in earlier]
    differing = [row for row in repeated if reply_of(row) != reply_of(earlier[row["key"]])]
    if new:
        answers.write([*earlier.values(), *new], path)
    return len(new), len(repeated) - len(differing), len(differing)


def _rows(path: Path) -> list[dict[str, Any]]:
    """All answers in a file."""
    rows = []
    for part in answers.read(path):
        rows += part
    return rows


def take(files: Sequence[Path], store: Path | str) -> pd.DataFrame:
    """Add the answers in files to a store. Returns a row for each file: `file`, its number of
    `answers`, and how many are different in the store (`other`); the store's answer then stays.
    Errors: those of `models.answers`; answers that were added before the error stay.
    """
    counts = []
    with Store(store) as responses:
        for path in files:
            for rows in answers.read(path):
                counts.append((path, len(rows), len(responses.take(rows))))
    table = pd.DataFrame(counts, columns=["file", "answers", "other"])
    return table.groupby("file", sort=False, as_index=False).sum()


def take_logs(args: argparse.Namespace) -> int:
    """Add the answers in logs of other evaluation tools to a folder. Rows with a verdict go to a
    file of their own, `<benchmark>_verdicts.parquet`. args: as `parser` reads them. Returns the
    exit code, 0. Errors: `InputError`, also if too many answers fit no item.
    """
    name = args.benchmark
    if from_root(args.to).resolve() == ROOT:
        raise InputError(f"--to: found {args.to!r}, the project itself; expected a folder in it")
    benchmark = import_module(f"tomlab.benchmarks.{name}")
    items = tidy.read("items", result("items", name))
    tables = []
    unlike: list[str] = []
    unreadable: list[str] = []
    for path in args.files:
        table, left_out = taken.matched(benchmark, items, path, args.model, args.method)
        tables.append(table.assign(log_sha256=hash_of(path)))
        for line in left_out:
            lines = unreadable if isinstance(line, taken.Unreadable) else unlike
            lines.append(f"{path}: {line}")
    table = pd.concat(tables, ignore_index=True)
    readable = len(table) + len(unlike)
    if len(unlike) > args.unmatched * readable or not len(table):
        limit = f"more than --unmatched {args.unmatched}"
        refuse(unlike, f"{len(unlike)} of {readable} answers fit no item, {limit}", 5)
    for kind, rows in table.groupby(table["verdict"].notna().map({True: "_verdicts", False: ""})):
        _add(rows, kind, items, from_root(args.to) / f"{name}{kind}.parquet")
    print(f"{len(table)} of {readable + len(unreadable)} answers go to {args.to}.")
    _list(unlike, "fit no item")
    _list(unreadable, "cannot be read, and are left out")
    return 0


def _add(rows: pd.DataFrame, kind: str, items: pd.DataFrame, path: Path) -> None:
    """Add rows to the table of answers (kind "") or verdicts in a file. Errors: `InputError` for a
    second answer to an item, unless it has a number of its own.
    """
    new = taken.scores(items, rows) if kind else rows.drop(columns="verdict")
    earlier = [tidy.parquet(path)] if path.is_file() else []
    table = taken.without_superseded(pd.concat([*earlier, new], ignore_index=True))
    repeated = table[table.duplicated(taken.ANSWER)]
    problems = [*(repeated["log"] + ": " + repeated["place"] + ": " + repeated["item_id"])]
    refuse(problems, f"{path}: a second answer to an item, without a number of its own")
    tidy.write(taken.numbered(table), "scores" if kind else "responses", path)


def _list(lines: list[str], problem: str) -> None:
    """Print how many lines have the problem, and the first five; nothing if there are none."""
    if lines:
        print(f"{len(lines)} {problem}:", *lines[:5], sep="\n  ")


def describe(folder: Path, licences: Mapping[str, str]) -> None:
    """Write the list of a folder's files. licences: the licence of each model's answers."""
    text = LIST
    for path in answers.files([folder]):
        table = pd.DataFrame(_rows(path))
        days = pd.to_datetime(table["created"], unit="s").agg(["min", "max"]).dt.date.unique()
        tokens = table["prompt_tokens"].sum() + table["completion_tokens"].sum()
        licence = licences.get(path.stem) or "not told"
        cells = [
            markup.markdown(path.parent.name),
            markup.markdown(path.stem),
            f"{len(table):,}",
            _given_by(table["origin"]),
            " to ".join(map(str, days)),
            f"{tokens:,}",
            f"{table['cost'].sum():.2f}",
            markup.markdown(licence),
            f"{path.stat().st_size / 1e6:.2f}",
            f"`{hash_of(path)}`",
        ]
        text += f"| {' | '.join(cells)} |\n"
    writable(list_of(folder)).write_text(text, encoding="utf-8")


def _given_by(origins: pd.Series) -> str:
    """The engines, or the models as their vendors name them, that gave the answers, in Markdown;
    with the number of answers by each, if there are several.
    """
    names = []
    for origin in origins:
        parts = [part for name, part in json.loads(origin).items() if name != "thinking"]
        names.append(", ".join(parts) or "an unknown engine")
    counts = Counter(names).most_common()
    if len(counts) == 1:
        return markup.markdown(counts[0][0])
    engines = [f"{markup.markdown(name)} ({n:,})" for name, n in counts[:ORIGINS]]
    if len(counts) > ORIGINS:
        engines.append(f"{len(counts) - ORIGINS:,} others")
    return "; ".join(engines)


def list_of(folder: Path) -> Path:
    """The path of the list of a folder's files. Other folders than the project's have it in
    `answers.md`, as they may have a README of their own.
    """
    if folder == ROOT / params.ANSWERS:
        return DOCS / "answers" / "README.md"
    return folder / "answers.md"


def changed(files: Sequence[Path], *, new: bool = False) -> list[str]:
    """A message for each file whose hash is not in the list of its folder. new: files that the list
    does not name at all are accepted.
    """
    problems = []
    for path in files:
        file = list_of(path.parents[1])
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        cells = f"| {markup.markdown(path.parent.name)} | {markup.markdown(path.stem)} |"
        is_expected = cells in text or not new
        if is_expected and f"`{hash_of(path)}`" not in text:
            problems.append(f"{path}: its SHA-256 is {hash_of(path)}, which {file} does not name")
    return problems


def drawn(files: Sequence[Path], n: int, seed: int) -> pd.DataFrame:
    """A random sample of `n` kept answers from all files, a row each, with its `file`."""

    def lot(row: Mapping) -> float:
        """A random number that depends only on the seed and the request."""
        return random.Random(f"verify/{seed}/{row['key']}").random()

    sample: list[dict] = []
    for path in files:
        for rows in answers.read(path):
            rows = [row | {"file": path} for row in rows]
            sample = nsmallest(n, [*sample, *rows], key=lot)
    return pd.DataFrame(sample)


def as_request(sent: Mapping[str, Any]) -> specs.Request:
    """The request that led to what an embedded model was sent (`sent`). If the model's entry has
    not changed since, it has the same key as the original request.
    """
    if "weighed" in sent:
        parts = tuple((prompt, tuple(options)) for prompt, options in sent["weighed"])
        messages = tuple({"role": "user", "content": prompt} for prompt, _ in parts)
        return specs.Request(messages, 1, weighed=parts)
    form = sent.get("response_format", {}).get("json_schema", {})
    options = {name: sent[name] for name in ("max_tokens", "temperature", "seed", "shared_prefix")}
    return specs.Request(tuple(sent["messages"]), schema=form.get("schema"), **options)


def again(rows: pd.DataFrame, spec: specs.ModelSpec, limits: specs.Limits) -> pd.DataFrame:
    """Ask a model again for its kept answers, `rows`. Returns them with four columns: its
    answer `now`; the `outcome` (identical, another, failed, or changed entry: its entry in `models`
    now leads to another request); and whether this speaks `against` the kept answer. `processor` is
    the kind that gave the kept answer.
    """
    adapter = provider(spec)
    requests = {}
    for row in rows.itertuples():
        request = as_request(json.loads(row.request))
        if request_key(adapter.payload(request)) == row.key:
            requests[row.key] = request
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "s.sqlite"
        responses = asyncio.run(ask([*requests.values()], spec, store=store, limits=limits))
    replies = {response.request_key: response.reply for response in responses}
    processor = embedded.origin()["processor"]
    compared = []
    for row in rows.to_dict("records"):
        reply = replies.get(row["key"])
        outcome = "changed entry" if row["key"] not in requests else _outcome(row, reply)
        processor_of_kept = json.loads(row["origin"]).get("processor", processor)
        # A different kind of processor may well lead to another answer.
        is_surprise = outcome == "another" and processor_of_kept == processor
        compared.append(
            {
                **row,
                "processor": processor_of_kept,
                "outcome": outcome,
                "against": outcome == "failed" or is_surprise,
                "now": reply.text if reply else None,
            }
        )
    return pd.DataFrame(compared)


def _outcome(row: Mapping, reply: specs.Reply | None) -> str:
    """The outcome of comparing a new reply (None: it failed) with the kept answer, `row`."""
    if reply is None:
        return "failed"
    is_same = (reply.text, reply.finish_reason) == (row["text"], row["finish_reason"])
    return "identical" if is_same else "another"


def verify(n: int, seed: int) -> int:
    """Check the hashes of all files of kept answers, and ask for a sample of `n` answers again.
    Returns the exit code: 1 if a hash differs or a new answer speaks against the kept one, else 0.
    """
    limits = specs.limits()
    files = answers.files(limits.answers)
    if not files:
        print("There are no kept answers; `python -m tomlab.pipeline.answers keep` writes them.")
        return 0
    problems = changed(files)
    print("\n".join(problems) or f"Files by their hashes: {len(files)}, all as listed.")

    asked = _embedded_models({path.stem for path in files})
    sample = drawn([path for path in files if path.stem in asked], n, seed)
    if sample.empty:
        return int(bool(problems))

    asking = limits.model_copy(update={"ask": "missing", "answers": ()})
    tables = [again(rows, asked[name], asking) for name, rows in sample.groupby("model")]
    compared = pd.concat(tables)
    _print_comparison(compared)
    return int(bool(problems) or compared["against"].any())


def _embedded_models(names: set[str]) -> dict[str, specs.EmbeddedModel]:
    """The entries of the embedded ones among `names`, by name. Prints the names of the others."""
    registry = params.load()["models"]
    entries = {}
    for name in names & registry.keys():
        spec = specs.model_spec(name, registry)
        if isinstance(spec, specs.EmbeddedModel):
            entries[name] = spec
    others = sorted(names - entries.keys())
    if others:
        print(f"Not asked again, as no embedded model in `models`: {', '.join(others)}")
    return entries


def _print_comparison(compared: pd.DataFrame) -> None:
    """Print the outcomes by file, up to five differing answers, and the share of identical ones."""
    names = compared["file"].map(lambda path: f"{path.parent.name}, {path.stem}")
    print(f"\n{pd.crosstab(names.rename('answers of'), compared['outcome'])}")
    for row in compared[compared["outcome"] == "another"].head(5).itertuples():
        print(f"\n{row.file.stem}, {row.uses}, kept on {row.processor}:")
        print(f"  was: {row.text[:200]!r}\n  now: {row.now[:200]!r}")
    share = (compared["outcome"] == "identical").mean()
    print(f"\n{share:.1%} of {len(compared)} answers are identical to the byte.")


def account(store: Path, spent: float | None) -> int:
    """Print what a response store counts as spent, by model. spent: if given, the US dollars that
    it shall count from now on, such as the sum of a vendor's bill, which includes killed runs.
    Returns the exit code, 0. Errors: `InputError` if there is no store or `spent` is no such
    amount.
    """
    if not store.is_file():
        raise InputError(f"{store}: found no response store")
    if spent is not None and not 0 <= spent < math.inf:
        raise InputError(f"--spent: found {spent}, expected US dollars, 0 or more")
    with Store(store) as ledger:
        query = "SELECT model, COUNT(*), TOTAL(cost) FROM responses GROUP BY model ORDER BY model"
        by_model = pd.DataFrame(ledger.all(query), columns=["model", "answers", "US$"])
        earlier = ledger.spending()
        if spent is not None:
            ledger.correct(spent)
        now = ledger.spending()
    if len(by_model):
        print(f"Answers in {store}, by what was booked for them:\n")
        print(by_model.to_string(index=False, float_format="{:,.4f}".format))
    if spent is not None:
        print(f"\nBefore, ${sum(earlier[:2]):,.4f} counted as spent.")
    print(
        f"\n${now.answers:,.4f} count as spent, ${now.lost:,.4f} may have been paid for requests "
        f"of killed runs, and ${now.under_way:,.4f} are reserved for requests under way.\n"
        "limits.max_cost_usd holds for the sum. `account --spent USD` sets the first to what your "
        "vendor's bill says, and the second to 0."
    )
    return 0


def keep_for_others(content: Mapping[str, Any], folder: str | None) -> pd.DataFrame:
    """The command `keep`: add the store's answers to the files of a folder (None: the default) and
    write their list. Returns the counts of `keep`. Errors: `InputError` if a file that is listed
    has been changed.
    """
    run = content["run"]
    path = from_root(folder or [*run["answers"], params.ANSWERS][0])
    # Otherwise the new list would have the hashes of files that somebody changed.
    problems = changed(answers.files([path]), new=True)
    refuse(problems, "not those of their list; a row taken out of it vouches anew")
    counts = keep(RESPONSE_STORE, path, [*run["benchmarks"], FRESH])
    if path == ROOT / params.ANSWERS:  # the project's own answers have embeddings beside them
        embeddings.keep()
    licences = {name: entry.get("licence", "") for name, entry in content["models"].items()}
    describe(path, licences)
    return counts


def take_kept(files: Sequence[Path]) -> pd.DataFrame:
    """The command `take` for files of kept answers. Returns the counts of `take`."""
    problems = [f"found {path}" for path in files if path.suffix != ".parquet"]
    refuse(problems, "expected files of kept answers (.parquet), or --benchmark for a log")
    return take([user_path(path) for path in files], RESPONSE_STORE)


def parser() -> argparse.ArgumentParser:
    """The parser of the command line, with all commands and their options."""
    commands = argparse.ArgumentParser(
        prog="python -m tomlab.pipeline.answers", description=__doc__
    )
    subparsers = commands.add_subparsers(dest="command", required=True)
    subparsers.add_parser("keep").add_argument("folder", nargs="?")
    taking = subparsers.add_parser("take")
    taking.add_argument("files", type=Path, nargs="+")
    taking.add_argument("--benchmark", choices=specs.BENCHMARKS, help="of logs of other harnesses")
    taking.add_argument("--unmatched", type=float, default=0.02, help="the share that may be lost")
    for name, default in {"--to": "taken", "--model": "", "--method": ""}.items():
        taking.add_argument(name, default=default, help="see docs/logs.md")
    verifying = subparsers.add_parser("verify")
    verifying.add_argument("--answers", type=int, default=150, help="how many are asked again")
    verifying.add_argument("--seed", type=int, default=0, help="which ones")
    accounting = subparsers.add_parser("account")
    accounting.add_argument("--spent", type=float, help="US dollars that are to count as spent")
    return commands


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit code: 0; 1 with a message if something is wrong; 3 if the
    files and the store have different answers to a request.
    """
    args = parser().parse_args(arguments)
    try:
        if args.command == "account":
            return account(Path(RESPONSE_STORE), args.spent)
        content = params.load()
        if args.command == "verify":
            return verify(args.answers, args.seed)
        if args.command == "keep":
            counts = keep_for_others(content, args.folder)
        elif args.benchmark:
            return take_logs(args)
        else:
            counts = take_kept(args.files)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    except OSError as error:
        path = error.filename or "a file"
        print(f"\n{path}: cannot be read or written ({error.strerror})\n", file=sys.stderr)
        return 1
    print(counts.to_string(index=False) if len(counts) else "There are no answers.")
    differing = counts["other"].sum()
    if differing:
        print(f"\n{differing} requests have another answer in file and store; neither was changed.")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
