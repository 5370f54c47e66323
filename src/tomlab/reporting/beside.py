"""The paper's numbers beside this run's: one frame of both, one printed layout, the same sentences.

A frame of such numbers has a row each: `source` (paper or this run), what the number is of, value,
ci_low, ci_high, n, n_groups, mark (beside the number in print), ci_method, reason (of the mark),
printed_in (the place in the paper).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import pandas as pd

from tomlab.errors import InputError, refuse
from tomlab.records.published import CREDIT, Paper
from tomlab.reporting import plotting, printed
from tomlab.reporting.findings import BASELINES
from tomlab.reporting.plotting import MARK
from tomlab.reporting.printed import ABSENT, PAPER, RUN

NUMBERS = ("value", "ci_low", "ci_high")
Form = Callable[[float], str]

# ---- the numbers ---------------------------------------------------------------------------------


def of_paper(publication: Paper, table: str, value: str = "value") -> pd.DataFrame:
    """A published table as printed, its column `value` renamed; cells that fail a check marked."""
    rows = publication.read(table).rename(columns={value: "value"})
    reason, place = publication.reasons(table), publication.source(table)
    mark = reason.ne("").map({True: MARK, False: ""})
    return rows.assign(source=PAPER, mark=mark, reason=reason, printed_in=place)


def of_run(metrics: pd.DataFrame, benchmark: str) -> pd.DataFrame:
    """The rows of one benchmark with source, mark, reason, printed_in. InputError: it has none."""
    rows = metrics[metrics["benchmark"] == benchmark].reset_index(drop=True)
    if rows.empty:
        there = ", ".join(metrics["benchmark"].unique()) or "none"
        raise InputError(f"metrics: no rows of benchmark {benchmark!r}; benchmarks there: {there}")
    return rows.assign(source=RUN, mark="", reason="", printed_in="")


def rates(metrics: pd.DataFrame, benchmark: str, methods: Iterable[str]) -> pd.DataFrame:
    """The outcome rates of one benchmark's answers by some methods. InputError: as `of_run`."""
    rows = of_run(metrics, benchmark)
    return rows[rows["metric"].eq("outcome_rate") & rows["method"].isin(methods)]


def without_copies(rows: pd.DataFrame, copied: pd.Series) -> pd.DataFrame:
    """Rows without the numbers that baselines owe to words of the reference, which they copy.

    copied: of which rows that would be so. Beside a model, which has words of its own, such a
    number says nothing; where only baselines were run, all rows stay.
    """
    of_baseline = rows["model"].isin(BASELINES)
    return rows if of_baseline.all() else rows[~(of_baseline & copied)]


def percent(rows: pd.DataFrame) -> pd.DataFrame:
    """Shares as percentages."""
    return rows.assign(**{name: (100 * rows[name].astype(float)).round(6) for name in NUMBERS})


def stack(columns: Sequence[str], *frames: pd.DataFrame) -> pd.DataFrame:
    """The frames below each other with the given columns, as the tidy frame of a `Table`."""
    cells = pd.concat([frame.reindex(columns=columns) for frame in frames], ignore_index=True)
    return cells.astype({"n": "Int64", "n_groups": "Int64"})


def in_order(cells: pd.DataFrame, column: str, levels: Iterable[str]) -> pd.DataFrame:
    """Rows by the given levels of a column, those of other levels after them."""
    rank = {level: place for place, level in enumerate(dict.fromkeys([*levels, *cells[column]]))}
    return cells.iloc[cells[column].map(rank).argsort(kind="stable")].reset_index(drop=True)


def known_first(known: Iterable[str], found: Iterable[str]) -> list[str]:
    """The distinct levels that were found: the known ones in their order, then the others."""
    found = dict.fromkeys(found)
    return [level for level in dict.fromkeys([*known, *found]) if level in found]


def demand_metric(rows: pd.DataFrame, benchmark: str, metric: str) -> pd.DataFrame:
    """The rows; InputError that names the metric where there are none."""
    if rows.empty:
        raise InputError(f"metrics: no rows of benchmark {benchmark!r} with metric {metric!r}")
    return rows


def demand_level(name: str, value: object, known: Iterable[object]) -> None:
    """InputError for a value that is none of the known ones."""
    if value not in (known := list(dict.fromkeys(known))):
        expected = ", ".join(map(str, known))
        raise InputError(f"{name}: found {value!r}, expected one of: {expected}")


def demand_columns(rows: pd.DataFrame, needed: Iterable[str], where: str) -> None:
    """InputError that names the columns that are missing."""
    refuse([f"column {name!r} is missing" for name in needed if name not in rows], where)


def demand_known(
    rows: pd.DataFrame, levels: Mapping[str, Sequence[str] | None], where: str
) -> None:
    """InputError for a level that is not in its column's list, if any, and for keys there twice."""
    demand_columns(rows, levels, where)
    problems = [
        f"{column}: found {level!r}, expected one of: {', '.join(known)}"
        for column, known in levels.items()
        if known is not None
        for level in rows.loc[~rows[column].isin(known), column].unique()
    ]
    twice = rows.loc[rows.duplicated(list(levels)), list(levels)]
    names = ", ".join(levels)
    problems += [f"{names} {', '.join(map(str, key))} is there twice" for key in twice.to_numpy()]
    refuse(problems, where)


# ---- rows of a table and of a figure -------------------------------------------------------------


def layout(
    cells: pd.DataFrame,
    labels: Mapping[str, str],
    heads: Mapping[str, str],
    *,
    across: str = "column",
    paper: Form = printed.one_decimal,
    forms: Mapping[str, Form] = MappingProxyType({}),
    is_wide: bool = False,
    n: str = "",
) -> pd.DataFrame:
    """Printed rows by the key columns `labels`, a column each of `heads`; then source.

    `heads` names levels of the column `across`. Numbers have one decimal, the paper's as `paper`
    prints them, those of a level in `forms` as that does. Wide tables have each interval below its
    number. `n`: head of a column for it, where all numbers of a row share one; else each number of
    this run has its own below, see `text_of`.
    """
    keys = ["source", *labels]
    usual = {PAPER: paper, RUN: printed.one_decimal}
    levels = zip((cells.assign(n=None) if n else cells).itertuples(), cells[across], strict=True)
    text = [text_of(cell, forms.get(level, usual[cell.source])) for cell, level in levels]
    text = [each.replace(" [", "\n[") for each in text] if is_wide else text
    rows = pd.MultiIndex.from_frame(cells[keys]).unique()
    wide = cells.assign(text=text).pivot(index=keys, columns=across, values="text")
    wide = wide.reindex(index=rows, columns=list(heads)).fillna(ABSENT)
    by_row = rows.to_frame(index=False)
    columns = {label: by_row[key] for key, label in labels.items()}
    columns |= {head: list(wide[level]) for level, head in heads.items()}
    if n:
        counts = cells.groupby(keys)[["n", "n_groups"]].apply(printed.counts)
        columns[n] = list(counts.reindex(rows).replace("", ABSENT))
    return pd.DataFrame(columns | {"Source": by_row["source"]})


def text_of(number, form: Form = printed.share) -> str:
    """The cell of one row of a frame (a tuple of `itertuples`); of this run's, n/groups below."""
    text = printed.cell(number.value, number.ci_low, number.ci_high, number.mark, form)
    n = printed.n_of(number.n, number.n_groups) if number.source == RUN else ""
    return f"{text}\nn = {n}" if n else text


def in_rows(points: pd.DataFrame, row: str = "model") -> tuple[pd.DataFrame, pd.Series]:
    """Points with their y, and `plotting.row_positions`: the paper's rows above this run's.

    `row`: the column that names a row.
    """
    rows = {source: points.loc[points["source"] == source, row] for source in (PAPER, RUN)}
    positions = plotting.row_positions({block: list(r.unique()) for block, r in rows.items()})
    y = [positions[key] for key in zip(points["source"], points[row], strict=True)]
    return points.assign(y=y), positions


# ---- sentences -----------------------------------------------------------------------------------


def n_from(rows: pd.DataFrame, unit: str, groups: str) -> str:
    """What n counts, and how many groups it is from."""
    known = [printed.span(rows[name]) for name in ("n", "n_groups")]
    return f"n = {known[0]} {unit} from {known[1]} {groups}"


def counted(rows: pd.DataFrame, unit: str, groups: str) -> str:
    """`n_from`, and how that stands beside each number."""
    return f"{n_from(rows, unit, groups)} (beside each number: n/{groups})"


def run_sentences(
    run: pd.DataFrame,
    rates: pd.DataFrame,
    told: str,
    interval: str = "intervals",
    by: str = "",
    credit: str = CREDIT,
) -> list[str]:
    """Who was run, on how much, with which interval, and how much could not be scored.

    `run`: rows of this run; `rates`: its outcome rates by the same methods; `told`: what n counts,
    in words; `by`: the groups on which intervals cluster; `credit`: as in `printed.unscored`.
    """
    if run.empty:
        return ["This run has no such answers."]
    models = ", ".join(run["model"].unique())
    how = ", ".join(each for each in run["ci_method"].unique() if each)
    about = f"This run: {models}; {told}; 95 % {interval} ({how}{by and f', by {by}'})."
    return [about, *printed.unscored(rates, credit)]


def copied(before: pd.DataFrame, after: pd.DataFrame, says: str) -> list[str]:
    """One sentence on the baselines of which `without_copies` left something out, if it did.

    before, after: rows by model; says: with {models}.
    """
    kept = after["model"].value_counts()
    counts = before.groupby("model", sort=False).size()
    models = [model for model, n in counts.items() if n > kept.get(model, 0)]
    return [says.format(models=" and ".join(models))] if models else []


def grey(points: pd.DataFrame, groups: str) -> list[str]:
    """One sentence on what a figure draws grey, if anything is, see `printed.is_few`."""
    return [f"Grey: {printed.few(groups)}."] if printed.is_few(points).any() else []


def failing(
    cells: pd.DataFrame, where: Callable[[pd.DataFrame], Iterable[str]], how: str = "fails a check"
) -> list[str]:
    """One sentence a reason why published numbers are marked; `where` names those of some rows."""
    marked = cells[cells["mark"] != ""].groupby("reason", sort=False)
    told = f"{MARK} {how} of the published table"
    return [f"{told} ({reason}): {'; '.join(where(rows))}." for reason, rows in marked]
