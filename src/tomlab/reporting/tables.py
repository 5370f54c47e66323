"""Turn data frames into tables for readers: readable names, two decimals, numbers with intervals.
Names are listed in `names.yaml` here and, for a benchmark, in `names.yaml` of its folder `items`.
"""

import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from IPython.display import HTML
from pandas.io.formats.style import Styler

from tomlab import paths
from tomlab.paths import PACKAGE
from tomlab.records.files import yaml_beside
from tomlab.records.published import Wording
from tomlab.reporting import latex
from tomlab.reporting.numbers import ABSENT, cell, number

NAMES = yaml_beside(__file__, "names.yaml")
PLAIN = Wording("", {})
FEW_NOTES = 4  # a table with more notes folds them away
PROSE = 45  # a cell with more characters is prose, whose lines may break


class Shown(HTML):
    """An output that a notebook shows as HTML, or as plain text where HTML can't be shown."""

    def __init__(self, html: str, text: str) -> None:
        # Without these classes, text between two dollar signs would be set as a formula.
        super().__init__(f'<div class="tomlab tex2jax_ignore mathjax_ignore">\n{html}</div>\n')
        self.text = text

    def __repr__(self) -> str:
        return self.text


def show(
    frame: pd.DataFrame,
    wording: Wording = PLAIN,
    says: str = "",
    *,
    across: str = "",
    rows: str | list[str] = "condition",
) -> Shown:
    """A frame as a table: as `in_words` makes it or, with `across`, as `wide` does. says: a
    sentence shown below, on what the numbers mean. A frame without rows becomes a sentence.
    """
    if not len(frame):
        return say(says or NAMES["nothing"])
    texts = wide(frame, wording, rows, across) if across else in_words(frame, wording)
    below = f"<p>{escape(says)}</p>\n" if says else ""
    return Shown(html(texts) + below, "\n\n".join(filter(None, [_plain(texts), says])))


def say(sentence: str) -> Shown:
    """A sentence for a notebook's output; its characters are escaped."""
    return Shown(f"<p>{escape(sentence)}</p>\n", sentence)


def _plain(texts: pd.DataFrame) -> str:
    flat = texts.replace("\n", ", ", regex=True)
    flat.columns = flat.columns.str.replace("\n", ", ")
    return flat.to_string(index=False, max_colwidth=60)


def html(texts: pd.DataFrame, caption: str = "") -> str:
    """A frame of texts as an HTML table that scrolls in its own frame; all texts are escaped."""
    style = Styler(texts, uuid=sha256(texts.to_csv().encode()).hexdigest()[:8], cell_ids=False)
    style.hide(axis="index").format(_safe).format_index(_safe, axis="columns")
    # A row of this run beside the paper's is tinted by the book.
    run = texts.eq("this run").any(axis=1).map({True: "run ", False: ""})
    classes = texts.map(lambda text: "prose" if len(text) > PROSE else "").radd(run, axis=0)
    style.set_td_classes(classes).set_table_attributes('class="tomlab-table"')
    style.set_table_styles(NAMES["css"])
    if caption:
        style.set_caption(escape(caption))
    frame = 'class="tomlab-frame" style="overflow-x:auto" tabindex="0"'
    return f"<div {frame}>\n{style.to_html()}</div>\n"


def _safe(text: str) -> str:
    return escape(text).replace("\n", "<br />")


def table(
    frame: pd.DataFrame,
    name: str | Path,
    caption: str,
    notes: Sequence[str] = (),
    *,
    wording: Wording = PLAIN,
    data: pd.DataFrame | None = None,
) -> Shown:
    """Save a table, and show it with its caption above and its notes below.

    name: such as "bigtom/table7", or a whole path. Writes `results/tables/<name>.csv` (`data`, a
    row for each number, or else the frame), `.html` and `.tex`.
    """
    texts = in_words(frame, wording).astype(str)
    path = paths.writable(paths.RESULTS / "tables" / name)
    below = "".join(f"<li>{escape(note)}</li>\n" for note in notes)
    if notes:
        below = f'<ul class="tomlab-notes">\n{below}</ul>\n'
    if len(notes) > FEW_NOTES:
        below = f"<details>\n<summary>{len(notes)} notes</summary>\n{below}</details>\n"
    page = html(texts, caption) + below
    path.with_suffix(".html").write_text(page, encoding="utf-8")
    setting = latex.table(texts, caption, notes, f"{path.parent.name}/{path.name}")
    path.with_suffix(".tex").write_text(setting, encoding="utf-8")
    if data is None:
        frame.to_csv(path.with_suffix(".csv"), index=any(frame.index.names))
    else:
        data.to_csv(path.with_suffix(".csv"), index=False)
    return Shown(page, "\n\n".join([caption, _plain(texts), *notes]))


def in_words(frame: pd.DataFrame, wording: Wording = PLAIN) -> pd.DataFrame:
    """The frame as texts: a named index becomes columns, slugs become readable names, intervals are
    put beside their numbers, and counts become "300 of 100 templates".
    """
    flat = frame.reset_index(drop=not any(frame.index.names))
    # How an interval was made is explained in the prose.
    flat = flat.drop(columns=["ci_method", "benchmark"], errors="ignore")
    flat.columns = flat.columns.map(str)
    columns = list(flat.columns)
    # `ci_low` belongs to `value` and to the column before it.
    main = ["value"]
    if "ci_low" in columns:
        main.append(columns[columns.index("ci_low") - 1])
    table = {}
    for column in columns:
        if _stands_in_another(column, columns):
            continue
        texts = [text(value, column, wording) for value in _whole(flat[column])]
        interval = "ci" if column in main else column
        if f"{interval}_low" in columns:
            texts = list(map(cell, texts, flat[f"{interval}_low"], flat[f"{interval}_high"]))
        elif column == "n" and "n_groups" in columns:
            counts = flat[["n", "n_groups"]].values
            texts = [counted(n, n_groups, wording.groups) for n, n_groups in counts]
        title = head(column, wording)
        if title in table:
            title = f"{title} ({column.replace('_', ' ')})"
        table[title] = texts
    return pd.DataFrame(table, index=flat.index, dtype=object)


def _stands_in_another(column: str, columns: Sequence[str]) -> bool:
    """Whether a column is an interval's end or a number of groups, shown in another column."""
    if column == "n_groups":
        return "n" in columns
    number_column, _, end = column.rpartition("_")
    return end in ("low", "high") and number_column in [*columns, "ci"]


def _whole(values: pd.Series) -> pd.Series:
    """Floats that are counts with some missing become whole numbers; other columns stay as is."""
    if not pd.api.types.is_float_dtype(values) or not values.abs().max() > 1:
        return values
    is_whole = (values.dropna() % 1).eq(0).all()
    return values.astype("Int64") if is_whole else values


def wide(frame: pd.DataFrame, wording: Wording, rows: str | list[str], across: str) -> pd.DataFrame:
    """The numbers of a frame with the columns `NUMBER` as texts, laid out by `rows` and `across`.

    n is shown in the heads if it is the same within each column, in a column of its own if it is
    the same within each row, and otherwise in every cell.
    """
    rows = [rows] if isinstance(rows, str) else rows
    keys = [*rows, across]
    long = frame[keys].map(lambda key: key if isinstance(key, str) else number(key))
    long["cell"] = list(map(cell, frame["value"], frame["ci_low"], frame["ci_high"]))
    counts = frame[["n", "n_groups"]].values
    long["n"] = [counted(n, n_groups, wording.groups) for n, n_groups in counts]
    order = long[rows].drop_duplicates().set_index(rows).index
    columns = long[across].unique()
    spread = long.set_index(keys)[["cell", "n"]].unstack(across).reindex(order)
    cells = spread["cell"][columns]
    counts = spread["n"][columns]

    table = {}
    for column in rows:
        values = order.get_level_values(column)
        table[head(column, wording)] = [name(value, column, wording) for value in values]
    table = pd.DataFrame(table)
    is_by_column = counts.nunique().le(1).all()
    is_by_row = not is_by_column and counts.nunique(axis=1).le(1).all()
    for column in columns:
        title = name(column, across, wording)
        values = cells[column].fillna(ABSENT)
        if is_by_column:
            title += f"\nn = {counts[column].dropna().iloc[0]}"
        elif not is_by_row:
            numbers = counts[column].str.removesuffix(f" {wording.groups}")
            values += ("\nn = " + numbers).fillna("")
        table[title[:1].upper() + title[1:]] = [*values]
    if is_by_row:
        table["n"] = [*counts.bfill(axis=1).iloc[:, 0]]
    return table


@cache
def _names(benchmark: str) -> dict[str, dict]:
    """Readable names, general and a benchmark's own: of `columns`, and of `values` by column."""
    path = PACKAGE / "benchmarks" / benchmark / "items" / "names.yaml"
    of_benchmark = {}
    if benchmark and path.is_file():
        of_benchmark = yaml.safe_load(path.read_bytes())
    values = dict(NAMES["values"])
    for column, names in of_benchmark.get("values", {}).items():
        values[column] = values.get(column, {}) | names
    return {"columns": NAMES["columns"] | of_benchmark.get("columns", {}), "values": values}


def head(column: str, wording: Wording = PLAIN) -> str:
    """The head of a column: "n_groups" becomes "Templates" if intervals cluster on templates."""
    title = _names(wording.name.lower())["columns"].get(column, column)
    if column in ("n_groups", "groups"):
        title = wording.groups
    is_condition = "/" in title and " " not in title  # not so "AnswerabilityQ [Y/N]"
    title = name(title, "", wording) if is_condition else title.replace("_", " ")
    return title if title == "n" else title[:1].upper() + title[1:]


def name(value: str, column: str, wording: Wording = PLAIN) -> str:
    """The readable name of a value, by the names listed for its column. Compound names such as
    "forward_belief/true_belief" are translated part by part. In a column without listed names, the
    value is returned unchanged.
    """
    values = _names(wording.name.lower())["values"]
    if column and column not in values:
        return value
    names = values["any"] | values.get(column, {})
    if column == "method":
        names = values["any"] | wording.methods | values[column]
    if value in names:
        return names[value]
    parts = [part for part in re.split(r"[/:]|, ", value) if part]
    if len(parts) > 1:
        return ", ".join(name(part, column, wording) for part in parts)
    return value if " " in value else value.replace("_", " ")


def text(value: Any, column: str, wording: Wording = PLAIN) -> str:
    """The text of a cell: a readable name, a number, yes or no, a list's members, or "–"."""
    if isinstance(value, str):
        return name(value, column, wording) or ABSENT
    if not hasattr(value, "__len__"):
        names = _names(wording.name.lower())["values"].get(column, {})
        return names.get(str(value), number(value))
    return ", ".join(text(member, column, wording) for member in value) or ABSENT


def counted(n: Any, n_groups: Any, groups: str) -> str:
    """The number of units and of their groups: "300 of 100 templates"; "3 templates" if equal."""
    if pd.isna(n) or pd.isna(n_groups) or n_groups == 0:
        return ABSENT if pd.isna(n) else f"{int(n):,}"
    of_groups = f"{int(n_groups):,} {singular(groups) if n_groups == 1 else groups}"
    return of_groups if n == n_groups else f"{int(n):,} of {of_groups}"


def count(n: int, nouns: str) -> str:
    """A number of things: "no template", "1 template", "1,200 templates"."""
    if n > 1:
        return f"{n:,} {nouns}"
    return f"{'1' if n else 'no'} {singular(nouns)}"


def singular(nouns: str) -> str:
    """The singular of nouns such as "entity sets" and "stories"."""
    return re.sub("ies$", "y", nouns) if nouns.endswith("ies") else nouns.removesuffix("s")
