"""Make questionnaires for people from items, or join the answers that people sent back.

python -m tomlab.questionnaire make bigtom --items 20 --participants 5 --seed 1 --to my/folder
python -m tomlab.questionnaire read my/folder/questionnaire.json returned/*.csv --to answers.csv
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tomlab.errors import InputError
from tomlab.paths import writable
from tomlab.questionnaire import items, pages, returned
from tomlab.records.files import read_text, write_form


def main(arguments: list[str] | None = None) -> int:
    """Run the command line. Returns 0 if everything was written; otherwise prints a message and
    returns 1.
    """
    parser = argparse.ArgumentParser(
        "python -m tomlab.questionnaire",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    _add_make(commands)
    _add_read(commands)
    options = parser.parse_args(arguments)
    try:
        print(options.run(options))
    except (InputError, OSError) as error:
        print(f"\nquestionnaire: {error}\n", file=sys.stderr)
        return 1
    return 0


def _add_make(commands: argparse._SubParsersAction) -> None:
    make = commands.add_parser("make", help="write one HTML file for each participant")
    make.set_defaults(run=_make)
    make.add_argument("source", help="a benchmark of the last run, items.parquet, or a CSV")
    number = make.add_mutually_exclusive_group(required=True)
    number.add_argument("--items", type=int, metavar="N", help="draw N items by lot")
    number.add_argument("--groups", type=int, metavar="N", help="draw N whole groups of items")
    number.add_argument("--ids", type=Path, metavar="FILE", help="the ids of items, one a line")
    make.add_argument("--participants", required=True, help="how many, or a file, a name a line")
    make.add_argument("--seed", type=int, required=True, help="of the draw and of all orders")
    make.add_argument("--to", type=Path, required=True, help="the folder to write to")
    make.add_argument("--where", action="append", default=[], metavar="COLUMN=VALUE,VALUE")
    make.add_argument("--method", default="", help="of the benchmark, such as FANToM's full")
    make.add_argument("--deal", action="store_true", help="give each group to one participant")
    make.add_argument("--intro", type=Path, help="a text that is shown first, such as for consent")
    make.add_argument("--checks", type=Path, help="a CSV of attention checks of your own")
    make.add_argument("--no-checks", action="store_true", help="ask no attention checks")
    make.add_argument(
        "--ratings",
        nargs="?",
        const="",
        metavar="FILE",
        help="have items rated from 1 to 5, by BigToM's three questions or those of a CSV",
    )
    make.add_argument("--overwrite", action="store_true", help="overwrite files of these names")


def _add_read(commands: argparse._SubParsersAction) -> None:
    read = commands.add_parser("read", help="join the answers that people sent back")
    read.set_defaults(run=_read)
    read.add_argument("record", type=Path, help="the questionnaire.json beside the pages")
    read.add_argument("returned", type=Path, nargs="+", help="CSV files of participants")
    read.add_argument("--to", type=Path, required=True, help="the form file to write")
    read.add_argument("--overwrite", action="store_true", help="overwrite this file")


def _make(options: argparse.Namespace) -> str:
    """Run the command `make`: write the pages. Returns what was written, in words."""
    pool = items.read_items(options.source, options.method, _conditions(options.where))
    ratings = []
    if options.ratings:
        ratings = pages.read_ratings(options.ratings)
    elif options.ratings is not None:
        ratings = pages.default_ratings()
    checks = _checks_of(options, "ratings" if ratings else "answers")
    paths = pages.write_pages(
        _chosen(pool, options),
        _names(options.participants),
        options.to,
        seed=options.seed,
        checks=checks,
        intro=read_text(options.intro) if options.intro else "",
        ratings=ratings,
        deal=options.deal,
        overwrite=options.overwrite,
    )
    record = returned.read_record(paths[-1])
    lines = []
    for name, page in record.pages.items():
        n_items = len(page) - len(checks)
        lines.append(f"{name}.html: {n_items} items, {len(checks)} attention checks")
    lines.append(f"Hand out the HTML files in {paths[-1].parent}, one to each participant.")
    lines.append(f"Keep {paths[-1]} for yourself: the answers are read by it.")
    return "\n".join(lines)


def _conditions(texts: Sequence[str]) -> dict[str, list[str]]:
    """The values that `--where` allows, by column. texts: each COLUMN=VALUE,VALUE."""
    conditions = {}
    for text in texts:
        column, equals, values = text.partition("=")
        if not equals:
            raise InputError(
                f"--where: found {text!r}, expected COLUMN=VALUE, such as condition=true_belief"
            )
        if column in conditions:
            expected = "expected its values in one, with commas between them"
            raise InputError(f"--where: found {column!r} twice, {expected}")
        conditions[column] = values.split(",")
    return conditions


def _names(text: str) -> list[str]:
    """The names of participants. text: a file with a name a line, or a number, for which the names
    are p1, p2, … (with leading zeros where needed).
    """
    if not text.isdecimal():
        lines = [line.strip() for line in read_text(text).split("\n")]
        return [line for line in lines if line]
    return [f"p{number:0{len(text)}}" for number in range(1, int(text) + 1)]


def _checks_of(options: argparse.Namespace, kind: str) -> list[items.Item]:
    """The attention checks that the options ask for. kind: `answers` or `ratings`."""
    if options.no_checks and options.checks:
        raise InputError("--checks and --no-checks: found both, expected one of them")
    if options.no_checks:
        return []
    if options.checks:
        return items.read_own_items(options.checks, checks=True)
    return items.default_checks(kind)


def _chosen(pool: Sequence[items.Item], options: argparse.Namespace) -> list[items.Item]:
    """The items of the pool that the options choose: by id, or a random draw."""
    if options.ids:
        return items.named_items(pool, options.ids)
    number = options.groups if options.items is None else options.items
    if number < 1:
        raise InputError(f"--items or --groups: found {number}, expected at least 1")
    draw = items.draw_groups if options.items is None else items.draw_items
    return draw(pool, number, options.seed)


def _read(options: argparse.Namespace) -> str:
    """Run the command `read`: write the answers of all participants to one file. Returns how each
    participant did, in words.
    """
    answers, participants = returned.read_returned(options.record, options.returned)
    target = writable(options.to)
    if target.exists() and not options.overwrite:
        found = "found a file that is there already, and nothing was written"
        raise InputError(f"{target}: {found}. Name another file, or use --overwrite")
    write_form(answers, target)
    table = participants.to_string(index=False)
    return f"{table}\n{target}: {len(answers)} rows. Nobody was left out."


if __name__ == "__main__":
    sys.exit(main())
