"""How numbers are written and judged, and the paper's numbers in the columns of this run's."""

import re
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import pandas as pd

from tomlab import params
from tomlab.records.published import PERCENT, Paper

BASELINES = params.BASELINES  # they get no findings
PAPER, RUN = "paper", "this run"  # who reports a number
GROUPS_FOR_A_FINDING = 10
ABSENT = "–"
MARK = "*"  # beside a published number that fails an arithmetic check of its own table
NAN = float("nan")
NUMBER = ("value", "ci_low", "ci_high", "n", "n_groups")


def number(value: Any) -> str:
    """Two decimals, three below .01 (".52", ".003"), "1,200", "yes", or "–" of nothing."""
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
    """`cell` of every row: value, and ci_low, ci_high, mark where the columns are there."""
    columns = rows.reindex(columns=["value", "ci_low", "ci_high", "mark"])
    columns["mark"] = columns["mark"].astype(object).fillna("")
    return [cell(*row) for row in columns.itertuples(index=False)]


def span(counts: pd.Series) -> str:
    """Whole numbers as a range, "18–25", or as the one they all are; missing ones are left out."""
    counts = counts.dropna().astype(int)
    if counts.empty:
        return ABSENT
    low = f"{counts.min():,}"
    high = f"{counts.max():,}"
    return low if low == high else f"{low}–{high}"


def n_of(rows: pd.DataFrame, units: str, groups: str) -> str:
    """What this run's numbers are from, for a caption: "n = 100 answers from 100 templates"."""
    if "source" in rows:
        rows = rows[rows["source"] == RUN]
    if rows["n"].isna().all():
        return f"no {units} of this run"
    return f"n = {span(rows['n'])} {units} from {span(rows['n_groups'])} {groups}"


def few(rows: pd.DataFrame) -> pd.Series:
    """Which numbers of this run are from fewer groups than a finding takes."""
    source = rows["source"] if "source" in rows else pd.Series(RUN, rows.index)
    groups = rows["n_groups"] if "n_groups" in rows else pd.Series(NAN, rows.index)
    return source.eq(RUN) & groups.lt(GROUPS_FOR_A_FINDING).fillna(False)


def standing(low: float, high: float, level: float, near: float = 0.1) -> str:
    """An interval beside a level: "above", "below", "at" (within `near`) or "inconclusive"."""
    if low > level:
        return "above"
    if high < level:
        return "below"
    return "at" if max(high - level, level - low) <= near else "inconclusive"


def published(paper: Paper, table: str, value: str = "value") -> pd.DataFrame:
    """A published table in the columns of a run's metrics, percentages as shares. `mark` is "*"
    where a number fails a check of its table and `reason` says which; `printed_in`: the place.
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
    """The paper's rows above this run's, with the given columns and those of every number."""
    run = run.assign(source=RUN, mark="", reason="")
    names = [*dict.fromkeys([*columns, "source", *NUMBER, "mark", "reason"])]
    # Frames without a value in some column would settle its type by what they lack.
    parts = [part.reindex(columns=names).astype(object) for part in (paper, run) if len(part)]
    if not parts:
        parts = [run.reindex(columns=names)]
    table = pd.concat(parts, ignore_index=True)
    return table.infer_objects().astype({"n": "Int64", "n_groups": "Int64"})


def failing(rows: pd.DataFrame) -> list[str]:
    """One note for each check that published numbers in `rows` fail; none if all pass."""
    reasons = rows.loc[rows["mark"].eq(MARK), "reason"].value_counts(sort=False)
    notes = []
    for reason, n in reasons.items():
        numbers = "number fails" if n == 1 else "numbers fail"
        notes.append(f"{MARK} {n} published {numbers} a check: {reason}.")
    return notes
