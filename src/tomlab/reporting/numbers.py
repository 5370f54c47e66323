"""Write and judge numbers, and put a paper's numbers into the same columns as this run's."""

import re
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import pandas as pd

from tomlab import params
from tomlab.records.published import PERCENT, Paper

BASELINES = params.BASELINES  # for these models no findings are written
PAPER, RUN = "paper", "this run"  # who reports a number
GROUPS_FOR_A_FINDING = 10
ABSENT = "–"
MARK = "*"  # put after a published number that fails an arithmetic check of its table
NAN = float("nan")
NUMBER = ("value", "ci_low", "ci_high", "n", "n_groups")


def number(value: Any) -> str:
    """A value as text: two decimals, three below .01 (".52", ".003"), "1,200", "yes", "–"."""
    if value is None or pd.isna(value):
        return ABSENT
    if isinstance(value, Integral) or not isinstance(value, Real):
        return {"True": "yes", "False": "no"}.get(str(value)) or format(value, ",")
    share = float(value)
    if 0 < abs(share) < 0.0005:
        return "< .001" if share > 0 else "> −.001"
    decimals = 3 if 0 < abs(share) < 0.01 else 2
    digits = f"{share:z,.{decimals}f}"
    return re.sub(r"^(-?)0\.", r"\1.", digits).replace("-", "−")


def cell(value: Any, low: float = NAN, high: float = NAN, mark: str = "") -> str:
    """A number or its text, its interval if it has one, and its mark: ".52 [.31, .72]", ".61*"."""
    text = value if isinstance(value, str) else number(value)
    interval = ""
    if pd.notna(low) and text != ABSENT:
        interval = f" [{number(low)}, {number(high)}]"
    return f"{text}{interval}{mark}"


def written(rows: pd.DataFrame) -> list[str]:
    """`cell` for every row, from the column value and, if they exist, ci_low, ci_high and mark."""
    columns = rows.reindex(columns=["value", "ci_low", "ci_high", "mark"])
    columns["mark"] = columns["mark"].astype(object).fillna("")
    return [cell(*row) for row in columns.itertuples(index=False)]


def span(counts: pd.Series) -> str:
    """The range of whole numbers, "18–25", or "18" if all are equal; missing ones are ignored."""
    counts = counts.dropna().astype(int)
    if counts.empty:
        return ABSENT
    low = f"{counts.min():,}"
    high = f"{counts.max():,}"
    return low if low == high else f"{low}–{high}"


def n_of(rows: pd.DataFrame, units: str, groups: str) -> str:
    """How many units this run's numbers rest on: "n = 100 answers from 100 templates"."""
    if "source" in rows:
        rows = rows[rows["source"] == RUN]
    if rows["n"].isna().all():
        return f"no {units} of this run"
    return f"n = {span(rows['n'])} {units} from {span(rows['n_groups'])} {groups}"


def few(rows: pd.DataFrame) -> pd.Series:
    """True for rows of this run that rest on fewer groups than a finding requires."""
    source = rows["source"] if "source" in rows else pd.Series(RUN, rows.index)
    groups = rows["n_groups"] if "n_groups" in rows else pd.Series(NAN, rows.index)
    return source.eq(RUN) & groups.lt(GROUPS_FOR_A_FINDING).fillna(False)


def standing(low: float, high: float, level: float, near: float = 0.1) -> str:
    """Where an interval lies: "above", "below" or "at" `level` (within `near`), "inconclusive"."""
    if low > level:
        return "above"
    if high < level:
        return "below"
    return "at" if max(high - level, level - low) <= near else "inconclusive"


def published(paper: Paper, table: str, value: str = "value") -> pd.DataFrame:
    """A published table in the columns of a run's metrics, with percentages as shares. value: the
    table's column with the numbers. `mark` is "*" if a number fails a check of its table, `reason`
    says which check, and `printed_in` where the table is printed.
    """
    rows = paper.read(table).rename(columns={value: "value"})
    _, unit = paper.tables[table]
    if unit == PERCENT:
        shares = rows.columns.intersection(["value", "ci_low", "ci_high"])
        rows[shares] = (rows[shares] / 100).round(6)
    reason = paper.reasons(table)
    mark = reason.ne("").map({True: MARK, False: ""})
    return rows.assign(source=PAPER, mark=mark, reason=reason, printed_in=paper.source(table))


def beside(paper: pd.DataFrame, run: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """The paper's rows above this run's. Columns: those given, source, `NUMBER`, mark, reason."""
    run = run.assign(source=RUN, mark="", reason="")
    names = [*dict.fromkeys([*columns, "source", *NUMBER, "mark", "reason"])]
    # As objects, so that a frame whose column is empty does not decide that column's type.
    parts = [part.reindex(columns=names).astype(object) for part in (paper, run) if len(part)]
    if not parts:
        parts = [run.reindex(columns=names)]
    table = pd.concat(parts, ignore_index=True)
    return table.infer_objects().astype({"n": "Int64", "n_groups": "Int64"})


def failing(rows: pd.DataFrame) -> list[str]:
    """A note for each check that published numbers in `rows` fail."""
    reasons = rows.loc[rows["mark"].eq(MARK), "reason"].value_counts(sort=False)
    notes = []
    for reason, n in reasons.items():
        numbers = "number fails" if n == 1 else "numbers fail"
        notes.append(f"{MARK} {n} published {numbers} a check: {reason}.")
    return notes
