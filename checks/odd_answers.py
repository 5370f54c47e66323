"""What the parser of OmniToM's tables loses of answers in odd forms.

    python checks/odd_answers.py [REVISION]

Writes 1,000 answers in each form, of tables from the project's own stories, and reads them back.
Prints of each form how many rows were written, are lost, and are read as something else; with a git
revision, what its parser makes of the same answers before that. Exits with 1 if a row is lost or
misread now. Takes about a minute.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tomlab.benchmarks.omnitom.items.parsing import EXTRACTION, LABELLING, parse
from tomlab.benchmarks.omnitom.items.records import Row, read_records, rows

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = 1000  # in each form
HEADS = ["Actor", "Belief", "Order", "Truth-Status", "Knowledge-Access", "Representation"]
HEADS += ["Content Type", "Mental-Source", "Context"]
REMARKS = ["stated", "inferred", "see the second sentence", "1", "high confidence", "yes"]
WORDS = {"0": "zero", "1": "first", "2": "second", "3": "third"}
ORDINALS = {"0": "0th", "1": "1st", "2": "2nd", "3": "3rd"}
Table = list[list[str]]  # its lines as cells, the first of them the headings


Form = Callable[[Table, random.Random], Table]


def hyphens(mark: str) -> Form:
    return lambda table, _: [[head.replace("-", mark) for head in table[0]], *table[1:]]


def orders(told: Callable[[str], str], *heads: str) -> Form:
    """Orders told in another way, the first headings replaced."""
    return lambda table, _: [
        [*heads, *table[0][len(heads) :]],
        *([*row[:2], told(row[2]), *row[3:]] for row in table[1:]),
    ]


def plus(order: str) -> str:
    return f"{order}+" if order > "1" else order


def remarked(table: Table, draw: random.Random) -> Table:
    return [table[0], *([*row, draw.choice(REMARKS)] for row in table[1:])]


FORMS: dict[str, Form] = {
    "as asked": lambda table, _: table,
    **{f"headings with U+{ord(mark):04X}": hyphens(mark) for mark in "\u2010\u2011\u2013\u2212"},
    **{f"headings with U+{ord(mark):04X}": hyphens(mark) for mark in "\u00a0\u202f"},
    "a cell too many": remarked,
    "headings Actor, Statement, Depth": orders(plus, "Actor", "Statement", "Depth"),
    "headings Person, Claim, Level": orders(plus, "Person", "Claim", "Level"),
    "order 1st": orders(ORDINALS.get),
    "order first": orders(WORDS.get),
    "order first-order": orders(lambda order: f"{WORDS[order]}\u2011order"),
    "order order-1": orders(lambda order: f"order-{order}"),
    "order order-2+": orders(lambda order: f"order-{plus(order)}"),
}


def written(table: Table, draw: random.Random) -> str:
    """A table as text: with pipes outside, without, or with tabs."""
    form = draw.choice(["| {} |", "{}", "\t"])
    if form == "\t":
        return "\n".join("\t".join(row) for row in table)
    lines = [form.format(" | ".join(row)) for row in table]
    return "\n".join(["Here is the table.", "", lines[0], form.format("---|" * 3), *lines[1:]])


def counted(form: str, records: Sequence[dict], answers: int) -> dict[str, int]:
    """Rows of a form that were written, that are lost, and that are read as something else."""
    found = {"rows": 0, "lost": 0, "misread": 0}
    for number in range(answers):
        draw = random.Random(f"{form}/{number}")
        gold = rows(records[number % len(records)])
        gold = draw.sample(gold, min(len(gold), draw.randint(3, 12)))
        keys = draw.choice([EXTRACTION, LABELLING])
        cells = [[{**row.labels, **vars(row)}[key] for key in keys] for row in gold]
        said = parse(written(FORMS[form]([HEADS[: len(keys)], *cells], draw), draw)).rows
        right = sum(expected(row, keys) in said for row in gold)
        found["rows"] += len(gold)
        found["lost"] += max(len(gold) - len(said), 0)
        found["misread"] += min(len(gold), len(said)) - right
    return found


def expected(row: Row, keys: Sequence[str]) -> Row:
    return Row(row.actor, row.belief, row.order, dict(row.labels) if len(keys) > 3 else {})


def at(revision: str) -> dict[str, dict[str, int]]:
    """What the parser of a git revision makes of the same answers."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "src.zip"
        command = ["git", "archive", "-o", str(archive), revision, "src"]
        subprocess.run(command, cwd=ROOT, check=True)
        shutil.unpack_archive(archive, folder)
        own = os.environ | {"PYTHONPATH": str(Path(folder) / "src"), "TOMLAB_ROOT": str(ROOT)}
        command = [sys.executable, __file__, "--json"]
        ran = subprocess.run(command, env=own, check=True, capture_output=True, text=True)
    return json.loads(ran.stdout)


def main(arguments: Sequence[str]) -> int:
    records = read_records(ROOT / "data" / "omnitom" / "stories.jsonl")
    now = {form: counted(form, records, ANSWERS) for form in FORMS}
    if "--json" in arguments:
        print(json.dumps(now))
        return 0
    was = at(arguments[0]) if arguments else {}
    print(f"{ANSWERS:,} answers a form{'; rows before, now' if was else ''}")
    for form, found in now.items():
        told = [
            f"{name} {f'{was[form][name]:,} → ' if was else ''}{found[name]:,}"
            for name in ("lost", "misread")
        ]
        print(f"{form:<34} {found['rows']:>6,} rows, {', '.join(told)}")
    return int(any(found["lost"] or found["misread"] for found in now.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
