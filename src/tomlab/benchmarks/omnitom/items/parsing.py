"""Reading the belief tables that models write, and their labels (App. B.3, C.2 to C.4).

The paper asks for pipe tables; what models write strays from that. Whatever looks like a row is
either read or listed as lost. Labels follow App. B.3: variants in writing of a legal label count as
that label, and anything else as none.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tomlab.benchmarks.omnitom.items.labels import column, normal_label
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, WORLD, Row

EXTRACTION = ("actor", "belief", "order")
LABELLING = ("actor", "belief", *DIMENSIONS)


@dataclass(frozen=True)
class Parsed:
    """What was read of one answer.

    rows: the usable rows, in order; lost: the text of what looked like a row and could not be
    used; reason: why there is no usable row ("empty answer", "no table", "no column Actor",
    "no column Belief", "no column Actor, Belief", "no usable row"), or ""; form: in which forms the
    rows stand, such as "JSON" or "pipe table and CSV", "" without rows.
    """

    rows: list[Row]
    lost: list[str]
    reason: str
    form: str = field(default="", compare=False)


def parse(text: str, columns: Sequence[str] | None = None) -> Parsed:
    """The rows of an answer, as JSON if any can be read so, else as a table.

    text: the visible answer, thinking removed. columns: what was asked for, as keys or as column
    names; otherwise whatever is there. A row's `labels` are those of the columns asked for or found
    but Actor and Belief, "" where there is no legal one. They stay empty if Order, which has its
    own field, is the only one.
    """
    as_json = parse_json(text, columns)
    if as_json.rows:
        return as_json
    as_table = parse_table(text, columns)
    fewer_lost = as_json.reason == "no table" or len(as_json.lost) < len(as_table.lost)
    return as_table if as_table.rows or fewer_lost else as_json


def parse_table(text: str, columns: Sequence[str] | None = None) -> Parsed:
    """The rows of all pipe tables, CSV and TSV in a text, prose and code fences passed over.

    - A header names Actor and Belief, in any order and spelling, perhaps among other columns. It
      holds up to the next header; in CSV, also up to the next code fence.
    - Every line below it with a pipe or a tab is a row, or with a comma in CSV, unless it holds
      nothing but rules. In CSV, where prose has commas too, a row needs a legal label
      if there are columns of labels.
    - Too many cells: a delimiter stood in the belief, if no other column takes free text and all
      labels are then legal. Too few: the last are missing, if all labels given are legal, and at
      least one is. Otherwise the row is lost.
    - An empty actor is the one above, in lines that only blank ones and rules part, if a label is
      legal. A row that has nothing but an actor heads such a group; it is lost if the next has one.
    - Without a header, the columns are taken to be those asked for (else those of Stage 1 or 2)
      where at least two rows have that many cells and only legal labels.
    - A row without a letter in its actor or a word in its belief is lost, and so are the rows of a
      table without any label where another has labels: it repeats the table given.
    """
    wanted = _keys(columns)
    if not text.strip():
        return Parsed([], [], "empty answer")
    parts = [
        (layout, lines) if layout else _without_header(lines, wanted)
        for layout, lines in _parts(re.split(r"\r\n|\r|\n", text))
    ]
    layouts = [layout for layout, _ in parts if layout]
    labelled = any(layout.complete and layout.labels for layout in layouts)
    rows, lost, forms = [], [], {}
    for layout, lines in parts:
        if layout and labelled and not layout.labels:
            layout = _Layout(layout.delimiter, ())
        own, failed = _read(layout, lines, wanted)
        rows += own
        lost += failed
        if own:
            forms[_FORMS[layout.delimiter]] = None
    if rows:
        reason = ""
    elif any(layout.complete for layout in layouts) or (lost and not layouts):
        reason = "no usable row"
    elif not layouts:
        reason = "no table"
    else:
        missing = [key.capitalize() for key in EXTRACTION[:2] if key not in layouts[0].keys]
        reason = f"no column {', '.join(missing)}"
    return Parsed(rows, lost, reason, " and ".join(forms))


def _keys(columns: Sequence[str] | None) -> tuple[str, ...] | None:
    keys = columns and tuple(map(column, columns))
    if keys and None in keys:
        raise ValueError(f"columns {columns}: not all of them are columns of a belief table")
    return keys


@dataclass(frozen=True)
class _Layout:
    """A table's delimiter, what its columns hold (None: something else), its outer pipes."""

    delimiter: str
    keys: tuple[str | None, ...]
    opened: bool = False
    closed: bool = False

    @property
    def complete(self) -> bool:
        return "actor" in self.keys and "belief" in self.keys

    @property
    def labels(self) -> list[int]:
        """Where the columns of closed sets stand."""
        return [i for i, key in enumerate(self.keys) if key not in (None, "actor", "belief")]

    def legal(self, cells: Sequence[str]) -> bool:
        """Whether all labels that are there are legal."""
        given = [i for i in self.labels if i < len(cells)]
        return all(normal_label(self.keys[i], cells[i]) is not None for i in given)


_FORMS = {"|": "pipe table", "\t": "TSV", ",": "CSV"}
_PIPE = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"\s*(```|~~~)")
_RULE = re.compile(r"[\s|,:=+─━–—-]*")  # also blank


def _parts(lines: Sequence[str]) -> Iterator[tuple[_Layout | None, list[str]]]:
    """Each header with the lines below it; before the first, and behind fenced CSV, no header."""
    layout, below = None, []
    for line in lines:
        header = _header(line)
        fenced = layout and layout.delimiter == "," and _FENCE.match(line)
        if header or fenced:
            yield layout, below
            layout, below = header, []
        else:
            below.append(line)
    yield layout, below


def _header(line: str) -> _Layout | None:
    for delimiter in "|\t,":
        if delimiter not in line:
            continue
        cells = [cell.strip() for cell in _cells(line, delimiter)]
        opened, closed = (delimiter == "|" and not cells[end] for end in (0, -1))
        cells = cells[opened : len(cells) - closed]
        # The first of two columns of one name is the one meant.
        first: dict[str | None, int] = {}
        named = map(column, cells)
        keys = tuple(key if first.setdefault(key, i) == i else None for i, key in enumerate(named))
        layout = _Layout(delimiter, keys, opened, closed)
        if layout.complete or (len(keys) > 1 and None not in keys):
            return layout
    return None


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == "|":
        return [cell.replace(r"\|", "|") for cell in _PIPE.split(line.strip())]
    line = line.strip(" ")
    if '"' in line:
        try:
            lines = csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True)
            return next(lines)
        except csv.Error:
            pass  # Quotation marks that are part of the text.
    return line.split(delimiter)


def _like_a_row(line: str, delimiter: str) -> bool:
    if _FENCE.match(line) or _RULE.fullmatch(line):
        return False
    return bool(_PIPE.search(line)) or "\t" in line.lstrip() or (delimiter == "," and "," in line)


def _without_header(
    lines: Sequence[str], wanted: tuple[str, ...] | None
) -> tuple[_Layout | None, Sequence[str]]:
    """The layout that at least two lines share, and the lines that it may hold for."""
    shapes = [wanted] if wanted else [EXTRACTION, LABELLING]
    for layout in (_Layout(delimiter, keys) for delimiter in "|\t," for keys in shapes):
        alike = [i for i, line in enumerate(lines) if _fits_exactly(line, layout)]
        if len(alike) < 2:
            continue
        if layout.delimiter == ",":  # Prose has commas, but no pipes and tabs.
            return layout, lines[alike[0] : alike[-1] + 1]
        first = lines[alike[0]].strip()
        ends = (first.startswith("|"), first.endswith("|"))
        return _Layout(layout.delimiter, layout.keys, *ends), lines
    return None, lines


def _fits_exactly(line: str, layout: _Layout) -> bool:
    if layout.delimiter not in line or not _like_a_row(line, layout.delimiter):
        return False
    cells = _trimmed(_cells(line, layout.delimiter), layout)
    if len(cells) != len(layout.keys) or (layout.delimiter == "," and not layout.labels):
        return False
    return layout.legal(cells)


def _read(
    layout: _Layout | None, lines: Sequence[str], wanted: tuple[str, ...] | None
) -> tuple[list[Row], list[str]]:
    rows, lost = [], []
    actor, heading = "", None
    for line in lines:
        if _RULE.fullmatch(line):
            continue
        seen = _like_a_row(line, layout.delimiter if layout else "")
        values = _values(line, layout) if seen and layout and layout.complete else None
        own = _bare(values["actor"]) if values else ""
        continues = bool(values) and not own
        if heading and not continues:
            lost.append(heading)
        heading = None
        # What stands between two rows may name another actor.
        actor = own or (actor if continues else "")
        if values and _heads(values):
            heading = line.strip()
        elif values and (row := _row({**values, "actor": actor}, wanted)):
            rows.append(row)
        elif seen:
            lost.append(line.strip())
    return rows, lost + ([heading] if heading else [])


def _values(line: str, layout: _Layout) -> dict[str, str] | None:
    """The cells of a line by what they hold, None if it cannot be told."""
    cells = _trimmed(_cells(line, layout.delimiter), layout)
    if layout.delimiter != "|" and len(cells) > len(layout.keys):
        # The belief holds delimiters, so the quotation marks in it are its own.
        plain, before = line.strip(" ").split(layout.delimiter), layout.keys.index("belief")
        cells = plain if plain[:before] == cells[:before] else cells
    surplus = len(cells) - len(layout.keys)
    if surplus > 0:
        if None in layout.keys:
            return None
        start = layout.keys.index("belief")
        end = start + surplus + 1
        cells = [*cells[:start], layout.delimiter.join(cells[start:end]), *cells[end:]]
    elif surplus < 0 and not any(i < len(cells) for i in layout.labels):
        return None
    if surplus and not layout.legal(cells):
        return None
    cells = cells + [""] * -surplus
    values = {key: cell for key, cell in zip(layout.keys, cells, strict=True) if key}
    # A line that may be prose, or lack its actor by mistake, needs a legal label.
    if layout.delimiter == "," or not _bare(values["actor"]):
        labels = [normal_label(key, cell) for key, cell in values.items() if key in DIMENSIONS]
        if labels and not any(labels) and not _heads(values):
            return None
    return values


def _heads(values: Mapping[str, str]) -> bool:
    """Whether a row has nothing but an actor."""
    return [key for key, cell in values.items() if cell.strip()] == ["actor"]


def _trimmed(cells: list[str], layout: _Layout) -> list[str]:
    """Cells without the empty ones outside outer pipes. An empty actor is no such cell."""
    if layout.delimiter != "|":
        return cells
    if not cells[-1].strip() and (layout.closed or len(cells) > len(layout.keys)):
        cells = cells[:-1]
    if cells and not cells[0].strip() and (layout.opened or len(cells) > len(layout.keys)):
        cells = cells[1:]
    while len(cells) > len(layout.keys) and not cells[-1].strip():
        cells = cells[:-1]
    return cells


def _row(values: Mapping[str, str], wanted: tuple[str, ...] | None) -> Row | None:
    actor, belief = _bare(values.get("actor", "")), _bare(values.get("belief", ""))
    actor = re.sub(r"^([-+*•]|\d+[.)])\s+", "", actor)
    if not re.search(r"[^\W\d_]", actor) or not re.search(r"\w", belief):
        return None
    actor = WORLD if actor.casefold() == WORLD else actor
    found = [key for key in DIMENSIONS if key in (wanted or values)]
    labels = {key: normal_label(key, values.get(key, "")) or "" for key in found}
    return Row(actor, belief, labels.get("order", ""), labels if [*labels] != ["order"] else {})


_EMPHASIS = re.compile(r"(\*\*\*|\*\*|__|\*|_|`)((?:(?!\1).)+)\1")


def _bare(cell: str) -> str:
    """A cell without the spaces and the bold, italic or code marks around it."""
    # JSON can spell half of a surrogate pair, which no file can hold.
    cell = " ".join(cell.encode("utf-8", "replace").decode().split())
    while marked := _EMPHASIS.fullmatch(cell):
        cell = marked[2].strip()
    return cell


_DECODER = json.JSONDecoder(strict=False)
_KEY = re.compile(r"""["']([\w /-]+)["']\s*:""")
_LIST_OF_ROWS = re.compile(r"""["'][\w /-]+["']\s*:\s*\[\Z""")
_UNDER_KEY = re.compile(r"""["']\s*:\s*\Z""")


def parse_json(text: str, columns: Sequence[str] | None = None) -> Parsed:
    """The rows of the JSON objects in a text: `{"beliefs": [...]}`, a list, or one after the other.

    A row is an object with an actor and a belief, its labels beside them or in `labels`; keys may
    be spelt as columns may. In JSON that is cut off or broken, whole objects are read, and the
    others lost.
    """
    wanted = _keys(columns)
    if not text.strip():
        return Parsed([], [], "empty answer")
    rows, lost, found, start = [], [], False, text.find("{")
    while start >= 0:
        end = start + 1
        under_key = bool(_UNDER_KEY.search(text, max(0, start - 40), start))
        try:
            value, after = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            lost += _broken(text, start, under_key)
        else:
            found = True
            if not _holds_rows(value):
                end = after
                if row := _row(_flat(value), wanted):
                    rows.append(row)
                elif not under_key or _named(value):
                    lost.append(text[start:end])
        start = text.find("{", end)
    if rows:
        return Parsed(rows, lost, "", "JSON")
    return Parsed([], lost, "no usable row" if found or lost else "no table")


def _named(names: Iterable[str]) -> set[str]:
    return {key for name in names if (key := column(name)) in ("actor", "belief")}


def _holds_rows(value: dict) -> bool:
    """Whether an object is no row itself, but has objects in it that may be."""
    inner = {k: v for k, v in value.items() if isinstance(v, dict | list) and not _is_labels(k)}
    own = _named(value.keys() - inner.keys())
    lists = [v for v in inner.values() if isinstance(v, list)]
    grouped = any(isinstance(one, dict) for items in lists for one in items)
    return bool(inner) and (not own or (grouped and len(own) == 1))


def _is_labels(key: str) -> bool:
    return key.casefold() == "labels"


def _flat(value: dict) -> dict[str, str]:
    parts = [value, *(v for k, v in value.items() if _is_labels(k) and isinstance(v, dict))]
    return {
        column(key): str(v)
        for part in parts
        for key, v in part.items()
        if column(key) and isinstance(v, str | int)  # true and false are integers, too
    }


def _broken(text: str, start: int, under_key: bool) -> list[str]:
    """The text of an object that cannot be decoded, if it looks like a row: up to the next one."""
    following = text.find("{", start + 1)
    piece = text[start : following if following >= 0 else None].strip()
    if _LIST_OF_ROWS.search(piece) or not re.match(r"""\{\s*(["']|\Z)""", piece):
        return []
    keys = [key for name in _KEY.findall(piece) if (key := column(name))]
    if under_key:  # Such as the labels of an object, which is lost as a whole.
        return [piece] if {"actor", "belief"} & {*keys} else []
    return [piece] if keys or following < 0 else []
