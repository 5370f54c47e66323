"""Keep a run's answers in files, take files of answers in, and show what is kept.

    python -m tomlab.pipeline.answers keep [FOLDER]   # from the response store into files
    python -m tomlab.pipeline.answers take FILE …     # from files into the response store
    python -m tomlab.pipeline.answers show [FOLDER]   # what the files of a folder hold

FOLDER is the first of `run.answers` unless it is named. Nothing that is kept is overwritten:
another answer to the same request is reported, and both stay where they are. Each file has a card,
and the folder an index of them: in docs/answers for the project's own, beside the files elsewhere.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import file_digest
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd
from tqdm import tqdm

from tomlab import params
from tomlab.errors import InputError, refuse
from tomlab.models import answers
from tomlab.models.store import Store, reply_of
from tomlab.paths import DATA, DOCS, RESPONSE_STORE, ROOT, from_root, user_file

UNKNOWN = "an unknown engine"  # of answers that came without a word on it
NONE = {
    "keep": "No answers that a stage asked for and ended with are in the response store.",
    "show": "No answers.",
}
CARD, INDEX = (
    Template(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("card.md", "cards.md")
)


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
    columns = ["file", "answers", "asked of", "first", "last", "tokens", "cost_usd", "mb"]
    return pd.DataFrame(_rows(folder), columns=columns).round({"cost_usd": 2, "mb": 2})


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [{"file": path, **_told(path)} for path in answers.files([folder])]


def _told(path: Path) -> dict[str, Any]:
    columns = ["origin", "created", "prompt_tokens", "completion_tokens", "cost"]
    table = answers.opened(path).read(columns).to_pandas()
    days = [
        datetime.fromtimestamp(when, UTC).date().isoformat()
        for when in (table["created"].min(), table["created"].max())
    ]
    counts = Counter(map(_by, table["origin"]))
    origins = [f"{origin} ({n:,})" for origin, n in counts.most_common()]
    return {
        "answers": len(table),
        "asked of": "; ".join(origins if len(counts) > 1 else counts),
        "first": days[0],
        "last": days[1],
        "tokens": int(table[["prompt_tokens", "completion_tokens"]].sum().sum()),
        "cost_usd": table["cost"].sum(),
        "mb": path.stat().st_size / 1e6,
    }


def _by(origin: str) -> str:
    """Who answered, in words."""
    told = json.loads(origin)
    return ", ".join(told[name] for name in told if name != "thinking") or UNKNOWN


def _days(told: Mapping[str, str]) -> str:
    return " to ".join(dict.fromkeys([told["first"], told["last"]]))


# ---- Cards ---------------------------------------------------------------------------------------


def card(path: Path, told: Mapping[str, Any], licence: str) -> str:
    """What a file of answers is, as Markdown: by whom, when, what for, its hash. told: a row of
    `show`.
    """
    uses = Counter()
    for lines in answers.opened(path).read(["uses"])["uses"].to_pylist():
        uses.update(lines.splitlines())
    named = [(*use.split("/", 1)[0].split("_", 1)[1:], use.split(" ", 1)[1]) for use in uses]
    rows = [
        f"| {stage} | {purpose or 'all'} | {n:,} |"
        for (stage, purpose), n in sorted(zip(named, uses.values(), strict=True))
    ]
    return CARD.substitute(
        model=path.stem,
        benchmark=path.parent.name,
        answers=f"{told['answers']:,}",
        origin=told["asked of"],
        days=_days(told),
        tokens=f"{told['tokens']:,}",
        cost=f"{told['cost_usd']:.2f}",
        licence=licence or "not told",
        sha256=hash_of(path),
        uses="\n".join(rows),
    )


def hash_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def index_of(folder: Path) -> Path:
    """Where the index of a folder of answers is; elsewhere a README may be somebody's own."""
    own = folder == ROOT / params.ANSWERS
    return DOCS / "answers" / "README.md" if own else folder / "answers.md"


def card_of(path: Path) -> Path:
    """Where the card of a file of answers is."""
    return index_of(path.parents[1]).parent / path.parent.name / f"{path.stem}.md"


def index(files: Sequence[Mapping[str, Any]]) -> str:
    """Files as Markdown, a line each, with links to their cards. files: rows of `show`."""
    rows = [
        f"| {path.parent.name} | [{path.stem}]({path.parent.name}/{path.stem}.md) "
        f"| {told['answers']:,} | {told['asked of']} | {_days(told)} | {told['mb']:.2f} |"
        for told in files
        for path in [told["file"]]
    ]
    return INDEX.substitute(rows="\n".join(rows) or "| none yet | | | | | |")


def describe(folder: Path, licences: Mapping[str, str]) -> None:
    """Write the card of each file of a folder, and their index. licences: of answers, by model."""
    files = _rows(folder)
    pages = {index_of(folder): index(files)}
    for told in files:
        path = told["file"]
        pages[card_of(path)] = card(path, told, licences.get(path.stem, ""))
    for page, text in pages.items():
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")


def changed(files: Sequence[Path]) -> list[str]:
    """The files that are not those of which their cards tell, a sentence each."""
    said = []
    for path in files:
        if not (kept := card_of(path)).is_file():
            said.append(f"{path}: has no card, expected {kept}, which comes along with it")
        elif f"`{hash_of(path)}`" not in kept.read_text(encoding="utf-8"):
            said.append(f"{path}: its SHA-256 is {hash_of(path)}, which {kept} does not name")
    return said


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
        content = params.load()
        run = content["run"]
        if args.command == "take":
            found = take([user_file(path) for path in args.files], RESPONSE_STORE)
        else:
            folder = from_root(args.folder or next(iter(run["answers"]), params.ANSWERS))
            if args.command == "keep":
                # A new card would vouch for what was changed.
                described = [path for path in answers.files([folder]) if card_of(path).is_file()]
                refuse(changed(described), "not those of their cards, whose removal vouches anew")
                found = keep(RESPONSE_STORE, folder, run["benchmarks"])
                models = content["models"].items()
                describe(folder, {name: entry.get("licence", "") for name, entry in models})
            else:
                found = show(folder)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    print(found.to_string(index=False) if len(found) else NONE[args.command])
    if args.command == "keep" and folder.is_relative_to(DATA):
        print("\n`dvc add data` makes these files the project's; nothing runs before that.")
    if "other" in found and found["other"].any():
        n = found["other"].sum()
        print(f"\n{n} requests have another answer in file and store; neither was changed.")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
