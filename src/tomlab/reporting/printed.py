"""Tables as a paper prints them: the numbers (CSV), for a paper (LaTeX), for the web (HTML).

A `Table` holds each number twice: `tidy` for whoever computes on, `printed` for whoever reads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pandas as pd
from IPython.display import HTML
from pandas.io.formats.style import Styler

from tomlab.records.files import yaml_beside
from tomlab.records.published import CREDIT
from tomlab.records.tidy import OUTCOMES
from tomlab.reporting import tex

PAPER, RUN = "paper", "this run"  # who reports a number
TIDY_COLUMNS = ("source", "value", "ci_low", "ci_high", "n", "n_groups", "mark")
ABSENT = "–"
WORDS = yaml_beside(__file__, "words.yaml")
P_FLOOR = 0.001
# Of fewer groups no finding is told, and what is drawn of them is grey.
GROUPS_FOR_A_FINDING = 10


@dataclass(frozen=True)
class Table:
    """One table.

    `tidy` has one row a number, with `TIDY_COLUMNS` at least: `source` says who reports it, ci_*
    and n_groups are empty where nobody does, `mark` is what stands beside the number in print.
    `printed` holds strings, laid out as in the paper; a line break in a cell is "\\n", and a row
    whose first cell is not blank begins a block, if some are blank. Both are written without index.
    """

    name: str
    tidy: pd.DataFrame
    printed: pd.DataFrame
    caption: str
    notes: list[str]

    def __post_init__(self) -> None:
        missing = [column for column in TIDY_COLUMNS if column not in self.tidy]
        if missing:
            raise ValueError(f"table {self.name}: the tidy frame lacks {', '.join(missing)}")


def share(value: float) -> str:
    """A share as the papers print it: .68, 1.00."""
    return f"{value:.2f}".removeprefix("0")


def one_decimal(value: float) -> str:
    """A percentage or a mean count as the papers print it: 9.6, 100.0."""
    return f"{value:.1f}"


def cell(
    value: float, ci_low: float, ci_high: float, mark: str = "", form: Callable = share
) -> str:
    """A number with its interval if it has one, and its mark: ".52 [.31, .72]", ".61*".

    `form` prints each number: `share`, or `one_decimal` for percentages.
    """
    if pd.isna(value):
        return ABSENT
    interval = "" if pd.isna(ci_low) else f" [{form(ci_low)}, {form(ci_high)}]"
    return f"{form(value)}{interval}{mark}"


def n_of(n: float, n_groups: float) -> str:
    """n of a number, and the groups it is from where they are known: "35/12"; "" without n."""
    known = [f"{count:.0f}" for count in (n, n_groups) if pd.notna(count)]
    return "/".join(known) if pd.notna(n) else ""


def is_few(rows: pd.DataFrame) -> pd.Series:
    """Which numbers of this run are from too few groups for a finding; rows: source, n_groups."""
    return rows["source"].eq(RUN) & rows["n_groups"].lt(GROUPS_FOR_A_FINDING)


def few(groups: str) -> str:
    """How a legend and a caption call what is drawn grey."""
    return WORDS["few"]["label"].format(least=GROUPS_FOR_A_FINDING, groups=groups)


def counts(rows: pd.DataFrame) -> str:
    """`n_of` of several numbers: "35/12", or "35/12, 30/12" where they differ."""
    return ", ".join(dict.fromkeys(map(n_of, rows["n"], rows["n_groups"])))


def span(values: pd.Series) -> str:
    """The whole numbers in `values` as a range: "25" or "18–25"; missing ones are left out."""
    known = values.dropna().astype(int)
    ends = dict.fromkeys([known.min(), known.max()])
    return ABSENT if known.empty else "–".join(map(str, ends))


def signed(value: float) -> str:
    """A coefficient with two decimals and a minus sign: "1.07", "−0.13"."""
    return ABSENT if pd.isna(value) else f"{value:z.2f}".replace("-", "−")


def p_value(p: float, is_bound: bool = False) -> str:
    """A p value as the papers print it: ".620", "< .001"; `is_bound` if only a bound is known."""
    digits = f"{max(p, P_FLOOR):.3f}".removeprefix("0")
    return f"< {digits}" if is_bound or p < P_FLOOR else digits


def once(rows: pd.DataFrame, levels: list[list[str]]) -> pd.DataFrame:
    """`rows` with labels blank where they repeat the row above, for nested `levels` of columns.

    Of a level, the last column is blanked; a change in an outer level shows the inner ones again.
    """
    printed = rows.copy()
    changes = pd.Series(False, index=rows.index)
    for columns in levels:
        changes |= rows[columns].ne(rows[columns].shift()).any(axis=1)
        printed[columns[-1]] = rows[columns[-1]].where(changes, "")
    return printed


def unscored(rates: pd.DataFrame, credit: str = CREDIT) -> list[str]:
    """One sentence: each model's share of answers without a verdict, over the methods in `rates`.

    `rates` are rows of the metrics table with metric outcome_rate; without any, no sentence.
    credit: which outcome earns some, in words.
    """
    if rates.empty:
        return []
    lost = rates[rates["condition"].isin(OUTCOMES[2:])]
    shares = lost.groupby(["model", "method"])["value"].sum()
    told = []
    for model in rates["model"].unique():
        known = shares.get(model, pd.Series([0.0]))
        ends = dict.fromkeys([share(known.min()), share(known.max())])
        told.append(f"{model} {'–'.join(ends)}")
    kinds = ", ".join(OUTCOMES[2:])
    return [f"{credit}; share of answers that were not scored ({kinds}): {', '.join(told)}."]


def with_n(caption: str, rows: pd.DataFrame) -> str:
    """A caption, and the n and n_groups of this run's numbers in `rows` where they are known."""
    counts = [rows.loc[rows["source"] == RUN, name] for name in ("n", "n_groups")]
    told = [
        kind for kind, known in zip(("n", "groups"), counts, strict=True) if known.notna().any()
    ]
    if "n" not in told:
        return caption
    n, groups = map(span, counts)
    return f"{caption} {WORDS['caption'][' '.join(told)].format(n=n, groups=groups)}"


def captioned(table: Table) -> str:
    """The caption of a table with the n of this run, if it has one and does not say so itself."""
    return table.caption if "n = " in table.caption else with_n(table.caption, table.tidy)


def save(table: Table, folder: Path | str) -> list[Path]:
    """Write `name`.csv (the tidy frame), .tex and .html into `folder`, making it; the paths.

    A folder is named as the benchmark, and the label in LaTeX begins with its name.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tidy = table.tidy.to_csv(index=False)
    texts = {"csv": tidy, "tex": latex(table, folder.name), "html": html(table)}
    for suffix, text in texts.items():
        (folder / f"{table.name}.{suffix}").write_text(text, encoding="utf-8")
    return [folder / f"{table.name}.{suffix}" for suffix in texts]


def tabulate(folder: Path | str, table: Table) -> HTML:
    """Save a table into `folder`; it for a notebook's output."""
    save(table, folder)
    return show(table)


def show(table: Table) -> HTML:
    """The table for a notebook's output."""
    return HTML(html(table))


def latex(table: Table, benchmark: str) -> str:
    """The table as `tex.table` has it, its label "tab:bigtom-table9"."""
    label = f"tab:{benchmark}-{table.name}".replace("_", "-")
    return tex.table(table.printed, captioned(table), table.notes, label)


# ---- HTML ----------------------------------------------------------------------------------------


def html(table: Table) -> str:
    """The table as a fragment that stands alone: its CSS, its caption and its notes. Cells of this
    run's rows have the class "run", which the book tints.
    """
    printed = table.printed.reset_index(drop=True)
    classes = printed.map(lambda _: "")
    classes[printed.eq(RUN).any(axis=1)] = "run"
    starts = tex.block_starts(printed)
    classes.iloc[starts] = (classes.iloc[starts] + " block").map(str.strip)
    body = (
        Styler(printed, uuid=table.name, cell_ids=False)
        .hide(axis="index")
        .format(lambda text: escape(text).replace("\n", "<br />"))
        .format_index(escape, axis="columns")
        .set_td_classes(classes)
        .set_table_styles(WORDS["css"]["table"])
        .set_caption(escape(captioned(table)))
        .to_html()
    )
    notes = "".join(f"<li>{escape(note)}</li>\n" for note in table.notes)
    under = f'<ul style="font-size:85%">\n{notes}</ul>\n' if notes else ""
    return f"<div>\n{body}{under}</div>\n"
