"""Keep a run's answers in files, take files of answers in, and show what is kept.

    python -m tomlab.pipeline.answers keep [FOLDER]   # from the response store into files
    python -m tomlab.pipeline.answers take FILE …     # from files into the response store
    python -m tomlab.pipeline.answers show [FOLDER]   # what the files of a folder hold

FOLDER is the first of `run.answers` unless it is named. Nothing that is kept is overwritten:
another answer to the same request is reported, and both stay where they are.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from tomlab import params
from tomlab.errors import InputError
from tomlab.models import answers
from tomlab.models.store import Store, reply_of
from tomlab.paths import RESPONSE_STORE, ROOT, user_file


def keep(store: Path | str, folder: Path, benchmarks: Sequence[str]) -> pd.DataFrame:
    """Add the answers in a store to the files of a folder, a file a benchmark and model.

    Returns a row a file: `file, new` (answers that it did not have), `kept` (that it had) and
    `other` (that are others there, and stay so). Errors: those of `models.answers`.
    """
    told = []
    with Store(store) as kept:
        for benchmark in benchmarks:
            by_model = defaultdict(list)
            for row in kept.kept(benchmark):
                by_model[row["model"]].append(row)
            for model, rows in sorted(by_model.items()):
                path = folder / benchmark / f"{model}.parquet"
                before = {row["key"]: row for part in _there(path) for row in part}
                new = [row for row in rows if row["key"] not in before]
                known = [row for row in rows if row["key"] in before]
                other = sum(reply_of(row) != reply_of(before[row["key"]]) for row in known)
                if new:
                    answers.write([*before.values(), *new], path)
                told.append((path, len(new), len(known) - other, other))
    return pd.DataFrame(told, columns=["file", "new", "kept", "other"])


def _there(path: Path) -> Any:
    return answers.read(path) if path.exists() else ()


def take(files: Sequence[Path], store: Path | str) -> pd.DataFrame:
    """Put the answers of files into a store, some thousand at a time.

    Returns a row a file: `file, answers` and `other` (that are others in the store, and stay so).
    Errors: those of `models.answers`; what was taken until then stays.
    """
    told = []
    with Store(store) as kept:
        for path in files:
            count = other = 0
            bar = tqdm(total=answers.opened(path).metadata.num_rows, unit="answer", desc=path.name)
            with bar:
                for rows in answers.read(path):
                    other += len(kept.take(rows))
                    count += len(rows)
                    bar.update(len(rows))
            told.append((path, count, other))
    return pd.DataFrame(told, columns=["file", "answers", "other"])


def show(folder: Path) -> pd.DataFrame:
    """What the files of a folder hold: `file, answers, asked of` (engines, or models by the
    vendor's word), `first, last` (days, UTC), `tokens, cost_usd` and `mb`.
    """
    told = []
    for path in answers.files([folder]):
        columns = ["origin", "created", "prompt_tokens", "completion_tokens", "cost"]
        table = answers.opened(path).read(columns).to_pandas()
        days = [
            datetime.fromtimestamp(when, UTC).date().isoformat()
            for when in (table["created"].min(), table["created"].max())
        ]
        tokens = int(table[["prompt_tokens", "completion_tokens"]].sum().sum())
        size = path.stat().st_size / 1e6
        spent = table["cost"].sum()
        told.append((path, len(table), _origins(table["origin"]), *days, tokens, spent, size))
    columns = ["file", "answers", "asked of", "first", "last", "tokens", "cost_usd", "mb"]
    return pd.DataFrame(told, columns=columns).round({"cost_usd": 2, "mb": 2})


def _origins(told: pd.Series) -> str:
    counts = Counter(", ".join(json.loads(origin).values()) or "not told" for origin in told)
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{origin} ({n})" for origin, n in counts.items())


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0, 1 with one clear message, 3 where other answers were found."""
    parser = argparse.ArgumentParser(
        prog="python -m tomlab.pipeline.answers", description=__doc__.split("\n", 1)[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, does in (("keep", "from the store into files"), ("show", "what files hold")):
        commands.add_parser(name, help=does).add_argument("folder", type=Path, nargs="?")
    into = commands.add_parser("take", help="from files into the store")
    into.add_argument("files", type=Path, nargs="+")
    args = parser.parse_args(arguments)
    try:
        run = params.load()["run"]
        if args.command == "take":
            found = take([user_file(path) for path in args.files], RESPONSE_STORE)
        else:
            folder = ROOT / (args.folder or next(iter(run["answers"]), "data/answers"))
            found = (
                keep(RESPONSE_STORE, folder, run["benchmarks"])
                if args.command == "keep"
                else show(folder)
            )
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    print(found.to_string(index=False) if len(found) else "No answers.")
    if "other" in found and found["other"].any():
        n = found["other"].sum()
        print(f"\n{n} requests have another answer in file and store; neither was changed.")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
