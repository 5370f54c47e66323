"""Keep a run's answers in files, and take files of answers in.

    python -m tomlab.pipeline.answers keep [FOLDER]   # from the response store into files
    python -m tomlab.pipeline.answers take FILE …     # from files into the response store

FOLDER is the first of `run.answers` unless it is named. Nothing that is kept is overwritten:
another answer to the same request is reported, and both stay where they are. A list tells of each
file of a folder, with its hash: docs/answers/README.md for the project's own, answers.md elsewhere.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import file_digest
from pathlib import Path

import pandas as pd

from tomlab import params
from tomlab.errors import InputError, refuse
from tomlab.models import answers
from tomlab.models.store import Store, reply_of
from tomlab.paths import DATA, DOCS, RESPONSE_STORE, ROOT, from_root, user_file

LIST = """# Kept answers

What models answered, one file for each benchmark and model. `make verify` checks the files by
their SHA-256 and asks a sample again; `python -m tomlab.pipeline.answers keep` writes files and
this list.

| benchmark | model | answers | given by | days (UTC) | tokens | US$ | licence | MB | SHA-256 |
|---|---|---:|---|---|---:|---:|---|---:|---|
"""


def keep(store: Path | str, folder: Path, benchmarks: Sequence[str]) -> pd.DataFrame:
    """Add the answers in a store to the files of a folder, one for each benchmark and model.

    Returns a row for each file: `file, new` (answers that it did not have), `kept` (that it had)
    and `other` (that are others there, and stay so). Errors: those of `models.answers`.
    """
    told = []
    with Store(store) as kept:
        for benchmark in benchmarks:
            by_model = defaultdict(list)
            for row in kept.kept(benchmark):
                by_model[row["model"]].append(row)
            for model, rows in sorted(by_model.items()):
                path = folder / benchmark / f"{model}.parquet"
                there = answers.read(path) if path.exists() else ()
                before = {row["key"]: row for part in there for row in part}
                known = [row for row in rows if row["key"] in before]
                other = sum(reply_of(row) != reply_of(before[row["key"]]) for row in known)
                if new := [row for row in rows if row["key"] not in before]:
                    answers.write([*before.values(), *new], path)
                told.append((path, len(new), len(known) - other, other))
    return pd.DataFrame(told, columns=["file", "new", "kept", "other"])


def take(files: Sequence[Path], store: Path | str) -> pd.DataFrame:
    """Put the answers of files into a store, some thousand at a time.

    Returns a row for each file: `file, answers` and `other` (that are others in the store, and stay
    so). Errors: those of `models.answers`; what was taken until then stays.
    """
    told = []
    with Store(store) as kept:
        for path in files:
            parts = [(len(rows), len(kept.take(rows))) for rows in answers.read(path)]
            told.append((path, *map(sum, zip(*parts, strict=True))))
    return pd.DataFrame(told, columns=["file", "answers", "other"])


def describe(folder: Path, licences: Mapping[str, str]) -> None:
    """Write the list of a folder's files. licences: of answers, by model."""
    columns, lines = ["origin", "created", "prompt_tokens", "completion_tokens", "cost"], []
    for path in answers.files([folder]):
        table = answers.opened(path).read(columns).to_pandas()
        days = pd.to_datetime(table["created"], unit="s").agg(["min", "max"]).dt.date
        counts = Counter(map(given_by, table["origin"])).most_common()
        who = [f"{name} ({n:,})" if len(counts) > 1 else name for name, n in counts]
        tokens = table[["prompt_tokens", "completion_tokens"]].sum().sum()
        told = [path.parent.name, path.stem, f"{len(table):,}", "; ".join(who)]
        told += [" to ".join(map(str, days.unique())), f"{tokens:,}", f"{table['cost'].sum():.2f}"]
        told += [licences.get(path.stem) or "not told", f"{path.stat().st_size / 1e6:.2f}"]
        lines.append(f"| {' | '.join(told)} | `{hash_of(path)}` |\n")
    list_of(folder).parent.mkdir(parents=True, exist_ok=True)
    list_of(folder).write_text(LIST + "".join(lines), encoding="utf-8")


def given_by(origin: str) -> str:
    """Who answered, in words: an engine, or a model by its vendor's word."""
    told = json.loads(origin)
    return ", ".join(told[name] for name in told if name != "thinking") or "an unknown engine"


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def list_of(folder: Path) -> Path:
    """Where the list of a folder's files is; elsewhere a README may be somebody's own."""
    own = folder == ROOT / params.ANSWERS
    return DOCS / "answers" / "README.md" if own else folder / "answers.md"


def changed(files: Sequence[Path], *, new: bool = False) -> list[str]:
    """The files that are not those of their folder's list, a sentence each. new: files that the
    list does not name are left out.
    """
    said = []
    for path in files:
        kept = list_of(path.parents[1])
        text = kept.read_text(encoding="utf-8") if kept.is_file() else ""
        named = f"| {path.parent.name} | {path.stem} |" in text
        if (named or not new) and f"`{hash_of(path)}`" not in text:
            said.append(f"{path}: its SHA-256 is {hash_of(path)}, which {kept} does not name")
    return said


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0, 1 with one clear message, 3 where other answers were found."""
    parser = argparse.ArgumentParser(prog="python -m tomlab.pipeline.answers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("keep").add_argument("folder", nargs="?")
    commands.add_parser("take").add_argument("files", type=Path, nargs="+")
    args = parser.parse_args(arguments)
    try:
        content = params.load()
        if args.command == "take":
            found = take([user_file(path) for path in args.files], RESPONSE_STORE)
        else:
            run, entries = content["run"], content["models"].items()
            folder = from_root(args.folder or [*run["answers"], params.ANSWERS][0])
            # A new list would vouch for what was changed.
            problems = changed(answers.files([folder]), new=True)
            refuse(problems, "not those of their list; a row taken out of it vouches anew")
            found = keep(RESPONSE_STORE, folder, run["benchmarks"])
            describe(folder, {name: entry.get("licence", "") for name, entry in entries})
            if folder.is_relative_to(DATA):
                print("`dvc add data` makes these files the project's; nothing runs before that.")
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    print(found.to_string(index=False) if len(found) else "There are no answers.")
    if n := found["other"].sum():
        print(f"\n{n} requests have another answer in file and store; neither was changed.")
    return 3 if n else 0


if __name__ == "__main__":
    sys.exit(main())
