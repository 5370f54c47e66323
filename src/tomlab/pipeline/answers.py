"""Keep a run's answers in files, take files of answers in, and show what is kept.

    python -m tomlab.pipeline.answers keep [FOLDER]   # from the response store into files
    python -m tomlab.pipeline.answers take FILE …     # from files into the response store
    python -m tomlab.pipeline.answers show [FOLDER]   # what the files of a folder hold

FOLDER is the first of `run.answers` unless it is named. Nothing that is kept is overwritten:
another answer to the same request is reported, and both stay where they are. A list names each file
of a folder with its hash: docs/answers/README.md for the project's own, answers.md elsewhere.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
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


def show(folder: Path) -> pd.DataFrame:
    """What the files of a folder hold: `file, answers, asked of` (engines, or models by the
    vendor's word), `days` (UTC), `tokens, cost_usd` and `mb`.
    """
    columns = ["origin", "created", "prompt_tokens", "completion_tokens", "cost"]
    rows = []
    for path in answers.files([folder]):
        table = answers.opened(path).read(columns).to_pandas()
        days = (datetime.fromtimestamp(table["created"].agg(f), UTC).date() for f in ("min", "max"))
        counts = Counter(map(_by, table["origin"])).most_common()
        told = [f"{who} ({n:,})" if len(counts) > 1 else who for who, n in counts]
        tokens = table[["prompt_tokens", "completion_tokens"]].sum().sum()
        row = [path, len(table), "; ".join(told), " to ".join(dict.fromkeys(map(str, days)))]
        rows.append([*row, tokens, table["cost"].sum(), path.stat().st_size / 1e6])
    names = ["file", "answers", "asked of", "days", "tokens", "cost_usd", "mb"]
    return pd.DataFrame(rows, columns=names).round({"cost_usd": 2, "mb": 2})


def _by(origin: str) -> str:
    """Who answered, in words."""
    told = json.loads(origin)
    return ", ".join(told[name] for name in told if name != "thinking") or "an unknown engine"


def describe(folder: Path, licences: Mapping[str, str]) -> None:
    """Write the list of a folder's files. licences: of answers, by model."""
    lines = []
    for path, n, who, days, tokens, cost, mb in show(folder).itertuples(index=False):
        told = [path.parent.name, path.stem, f"{n:,}", who, days, f"{tokens:,}", f"{cost:.2f}"]
        told += [licences.get(path.stem) or "not told", f"{mb:.2f}", f"`{hash_of(path)}`"]
        lines.append(f"| {' | '.join(told)} |\n")
    list_of(folder).parent.mkdir(parents=True, exist_ok=True)
    list_of(folder).write_text(LIST + "".join(lines), encoding="utf-8")


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
    for name in ("keep", "show"):
        commands.add_parser(name).add_argument("folder", type=Path, nargs="?")
    commands.add_parser("take").add_argument("files", type=Path, nargs="+")
    args = parser.parse_args(arguments)
    try:
        content = params.load()
        named = getattr(args, "folder", None) or next(
            iter(content["run"]["answers"]), params.ANSWERS
        )
        folder = from_root(named)
        if args.command == "take":
            found = take([user_file(path) for path in args.files], RESPONSE_STORE)
        elif args.command == "show":
            found = show(folder)
        else:  # a new list would vouch for what was changed
            problems = changed(answers.files([folder]), new=True)
            refuse(problems, "not those of their list; a row taken out of it vouches anew")
            found = keep(RESPONSE_STORE, folder, content["run"]["benchmarks"])
            models = content["models"].items()
            describe(folder, {name: entry.get("licence", "") for name, entry in models})
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    print(found.to_string(index=False) if len(found) else "There are no answers.")
    if args.command == "keep" and folder.is_relative_to(DATA):
        print("\n`dvc add data` makes these files the project's; nothing runs before that.")
    if "other" in found and found["other"].any():
        n = found["other"].sum()
        print(f"\n{n} requests have another answer in file and store; neither was changed.")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
