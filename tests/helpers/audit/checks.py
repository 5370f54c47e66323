"""What every check of the published tables is made of: registration, verdicts, comparisons."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tomlab.paths import PUBLISHED
from tomlab.records.published import Paper

EPS = 1e-9  # decimal fractions are not exact in binary
NO_KEYS = {"accuracy", "value", "count", "estimate", "ci_low", "ci_high", "f1", "unusable_percent"}
NO_KEYS |= {"params", "footnote_as_printed", "count_as_printed", "condition"}
MARKS = ["paper", "table", "row", "note", "reason"]
CHECKED = ["paper", "table", "note", "name", "check", "n_tested", "n_failed", "finding"]
CHECKS = []  # (paper, note, tables, function), filled by @check


class Outcome(NamedTuple):
    """Units tested and failed, one sentence, and row label of the audited table → reason."""

    tested: int
    failed: int
    finding: str
    marks: dict[int, str]


def check(paper: str, note: int, *table_lists: list[str]):
    """Register a function as one check for each list of tables."""

    def register(test):
        CHECKS.extend((paper, note, tables, test) for tables in table_lists)
        return test

    return register


def only(table: pd.DataFrame, **levels) -> pd.DataFrame:
    """The rows that have the given level, or one of a list of levels, in each named column."""
    for column, level in levels.items():
        table = table[table[column].isin(level if isinstance(level, list) else [level])]
    return table


def matched(rows: pd.DataFrame, values: pd.Series) -> pd.Series:
    """`values`, indexed by key columns, brought to the labels of `rows`."""
    return rows.join(values.rename("matched"), on=values.index.names)["matched"]


def sentence(failing: list[str], tested: int, also: str = "") -> str:
    return f"{len(failing)} of {tested} fail" + f" ({'; '.join(failing)})" * bool(failing) + also


def outcome(rows: pd.DataFrame, bad: pd.Series, reason: pd.Series, also: str = "") -> Outcome:
    """One verdict for each of `rows`; the finding names those that fail."""
    names = rows[rows.columns.difference(NO_KEYS, sort=False)].astype(str).agg(" ".join, axis=1)
    marks = {row: reason[row] for row in rows.index[bad]}
    failing = [f"{names[row]}: {why}" for row, why in marks.items()]
    return Outcome(len(rows), len(marks), sentence(failing, len(rows), also), marks)


def compare(table, value, expected: pd.Series, slack, basis, got="printed", also="") -> Outcome:
    """Outcome of a column against `expected`, indexed by keys; rows without one are not tested."""
    expected = matched(table, expected).dropna()
    rows = table.loc[expected.index]
    gap = (rows[value] - expected).abs()
    reason = f"{got} " + rows[value].map("{:g}".format) + f", {basis} "
    reason += expected.map("{:.5g}".format)
    return outcome(rows, gap > slack + EPS, reason, f"; largest gap {gap.max():.4f}{also}")


def results(folder: Path = PUBLISHED, *only: tuple) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What `marks.csv` and `checks.csv` of a folder of published tables have to hold. only: papers
    with the numbers of notes; all if empty.
    """
    marked, checked = [], []
    for paper, note, tables, test in CHECKS:
        if only and (paper, note) not in only:
            continue
        found = test(*(Paper(paper, paper, "", {}).read(table, folder) for table in tables))
        checked.append((paper, tables[0], note, test.__name__, test.__doc__, *found[:3]))
        marked.extend((paper, tables[0], row, note, why) for row, why in found.marks.items())
    return pd.DataFrame(marked, columns=MARKS), pd.DataFrame(checked, columns=CHECKED)
