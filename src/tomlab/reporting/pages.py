"""Functions that all pages of figures use: numbers laid out as a table, panels of dots, and the
tables that appear on the page of every benchmark.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from tomlab.records.published import Wording
from tomlab.reporting import differences, draw, gate, tables
from tomlab.reporting.numbers import ABSENT, RUN, n_of, number, written
from tomlab.scoring import paired, participants, readers, variants
from tomlab.scoring.series import Measures

GATE_NOTES = [
    "§ does not pass; –§ was not asked with swapped options, so nobody knows.",
    "Guessing keeps .50 of answers; whoever always picks the same place keeps none.",
]
APART = 0.02  # a larger gap between two ways to read answers is shown in a table


def laid_out(
    rows: pd.DataFrame,
    index: str | Sequence[str],
    columns: str,
    order: Collection[str] = (),
    *,
    sort: bool = False,
) -> pd.DataFrame:
    """A table of texts with a column for each value of `columns`, from rows of one number each.

    order: the columns to show, if they exist; by default all, as they come. sort: whether to sort
    by index and columns. Numbers have their interval and mark; rows with `text` show that instead.
    """
    if "text" not in rows:
        rows = rows.assign(text=written(rows))
    wide = rows.pivot_table("text", index, columns, "first", sort=sort, observed=True)
    if order:
        wide = wide[[column for column in order if column in wide]]
    return wide.astype(object).fillna(ABSENT)


def wide_table(
    rows: pd.DataFrame,
    index: str | Sequence[str],
    columns: str,
    name: str,
    caption: str,
    notes: Sequence[str] = (),
    *,
    order: Collection[str] = (),
    heads: Mapping[str, str] | None = None,
    wording: Wording = tables.PLAIN,
    data: pd.DataFrame | None = None,
    none: str = "",
    sort: bool = False,
) -> tables.Shown:
    """Lay rows out (`laid_out`), then save and show the table (`tables.table`). heads: new names of
    columns and index levels; none: the sentence shown instead if there are no rows.
    """
    if rows.empty and none:
        return tables.say(none)
    wide = laid_out(rows, index, columns, order, sort=sort)
    heads = {"source": "Source", **(heads or {})}
    wide = wide.rename(columns=heads).rename_axis(index=heads)
    return tables.table(wide, name, caption, notes, wording=wording, data=data)


def in_words(
    rows: pd.DataFrame, wording: Wording, columns: Sequence[str] = ("model", "method")
) -> pd.DataFrame:
    """The rows with slugs in some columns replaced by readable names."""
    rows = rows.copy()
    for column in columns:
        rows[column] = [tables.name(value, column, wording) for value in rows[column]]
    return rows


def in_order(rows: pd.DataFrame, column: str, order: Iterable[str]) -> pd.DataFrame:
    """The rows sorted by the rank of a column's values in `order`. A value listed twice has its
    last rank; rows whose value is not listed come last.
    """
    ranks = {value: rank for rank, value in enumerate(order)}
    return rows.sort_values(column, key=lambda values: values.map(ranks), kind="stable")


def dot_panels(
    data: pd.DataFrame,
    rows: str,
    xlabel: str,
    order: Sequence[str] = (),
    *,
    shares: bool = False,
    references: Mapping[float, str] | None = None,
    hue: str = "",
    palette: Mapping[str, str] | None = None,
    dodge: float = 0.3,
    lines: int = 0,
    **facets,
) -> sns.FacetGrid:
    """Draw numbers with their intervals as dots (`draw.dots`), a panel for each facet's value.

    rows: the column whose values label the rows; order: these values from the top down, by default
    as they come. shares: whether the axis goes from 0 to 1. references: vertical lines in all
    panels, dash style by x value. lines: how many dots a row has below one another, by default one
    for each colour of the palette if `dodge` is not 0. facets: `row`, `col` etc. for seaborn.
    """
    order = list(order) or list(data[rows].unique())
    if not lines:
        lines = len(palette) if palette and dodge else 1
    grid = draw.grid(data, len(order), lines=lines, **facets)
    look = {"hue": hue, "palette": palette, "dodge": dodge}
    grid.map_dataframe(draw.dots, rows=rows, order=order, **look)
    grid.set_titles(row_template="{row_name}", col_template="{col_name}")
    grid.set_xlabels(xlabel)
    for axes in grid.axes.flat:
        if shares:
            draw.share_axis(axes)
        for value, dash in (references or {}).items():
            draw.reference(axes, value, dash)
    return grid


def row_line(axes: Axes, value: float, row: int, dash: str) -> None:
    """A thin vertical line across one row of a panel, such as what guessing gives there."""
    ends = [row - 0.5, row + 0.5]
    axes.plot([value, value], ends, color=draw.COLOURS["grey"], linestyle=dash, linewidth=1)


def gate_table(
    gated: pd.DataFrame,
    models: Collection[str],
    wording: Wording,
    index: Sequence[str] = ("model", "method"),
    addition: str = "",
) -> tables.Shown:
    """The shares of `gate.gate` for some models, marked § if they do not pass, saved as "…/gate".

    addition: a text to put after the caption.
    """
    rows = gated[gated["model"].isin(models)]
    rows = rows.assign(mark=rows["gate"].eq(gate.PASSES).map({True: "", False: "§"}))
    wide = laid_out(in_words(rows, tables.PLAIN, ["metric"]), list(index), "metric")
    groups = wording.groups
    caption = f"{wording.name}: the gate. Shares of answers, with 95 % intervals over {groups}."
    notes = [*GATE_NOTES, f"{n_of(rows, 'answers or pairs of answers', groups)} per number."]
    path = f"{wording.name.lower()}/gate"
    return tables.table(wide, path, caption + addition, notes, wording=wording, data=gated)


def gain_table(
    scores: pd.DataFrame,
    shallow: pd.DataFrame,
    series: Callable[[pd.DataFrame], Measures],
    headlines: Mapping[str, tuple[str, str]],
    wording: Wording,
    units: str,
) -> tables.Shown:
    """The score of each model minus that of the shallow reader on the same questions, by method,
    saved as "…/gain".

    shallow: the reader's scores; series: the benchmark's function of that name; headlines: metric
    and condition by name; units: what n counts, in the plural.
    """
    reader = [shallow.assign(method=method) for method in scores["method"].unique()]
    measures = series(pd.concat([scores, *reader]))
    gains = paired.differences(wording.name.lower(), measures, headlines.values())
    gains = gains[gains["b"].eq(readers.NAME)]
    if gains.empty:
        return tables.say("No model of this run answered what the shallow reader answers.")
    rows = differences.labelled(gains, headlines, wording)
    wide = laid_out(rows, ["shared", "pair"], "headline")
    caption = (
        f"{wording.name}: score minus that of the shallow reader on the same questions, "
        "95 % intervals."
    )
    notes = [f"{n_of(rows, units, wording.groups)} per difference."]
    return tables.table(wide, f"{wording.name.lower()}/gain", caption, notes, data=gains)


def differences_in_words(
    compared: pd.DataFrame, headlines: Mapping[str, tuple[str, str]], wording: Wording
) -> pd.DataFrame:
    """`differences.labelled`, with the mark § if a side does not pass the gate.

    compared: differences with the column `gate` of `gate.marked`.
    """
    rows = differences.labelled(compared, headlines, wording)
    return rows.assign(mark=rows["mark"].mask(rows["gate"].ne(""), "§"))


def released_rule_table(
    scores: pd.DataFrame, index: Sequence[str], wording: Wording
) -> tables.Shown:
    """The shares of right answers as we read them and as the released code reads them, if these
    differ by more than `APART`; saved as "…/released_rule". index: the columns to group scores by.
    """
    scores = scores.assign(released=scores["by_released_rule"].eq(True))
    shares = scores.groupby(list(index), sort=False).agg(
        ours=("score", "mean"), released=("released", "mean"), n=("score", "size")
    )
    gap = (shares["ours"] - shares["released"]).abs().round(3)
    apart = shares[gap > APART].reset_index()
    if apart.empty:
        subjects = " and ".join(index[1:]).replace("question_type", "question")
        limit = number(APART)
        return tables.say(f"The two rules are within {limit} of each other for every {subjects}.")
    table = apart.rename(columns={"question_type": "question"}).set_index(["model", "method"])
    for rule in ("ours", "released"):
        table[rule] = table[rule].map(number)
    caption = (
        f"{wording.name}: share right by our reading and by the release's, where they are apart."
    )
    path = f"{wording.name.lower()}/released_rule"
    return tables.table(table, path, caption, wording=wording, data=apart)


def both_orders(
    scores: pd.DataFrame, items: pd.DataFrame, groups: str, keys: Sequence[str]
) -> pd.DataFrame:
    """The mean score over both orders of the options, for questions that were asked in both: a row
    for each model, method and value of the columns `keys`. Models are named "…, both orders".
    """
    no_rows = variants.variants(scores.iloc[:0], items, groups)
    parts = [no_rows.assign(**dict.fromkeys(keys, ""))]
    for values, part in scores.groupby(list(keys)):
        varied = variants.variants(part, items, groups)
        parts.append(varied.assign(**dict(zip(keys, values, strict=True))))
    means = pd.concat([part for part in parts if len(part)] or parts)
    means = means.query("metric == 'both' and asked_as == 'reversed'")
    return means.assign(source=RUN, mark="", model=means["model"] + ", both orders")


def without_failed(rows: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The rows of participants who failed no attention check, and how many participants failed."""
    failed = rows.loc[rows["passed"] == participants.FAILED, "participant"].unique()
    return rows[~rows["participant"].isin(failed)], len(failed)
