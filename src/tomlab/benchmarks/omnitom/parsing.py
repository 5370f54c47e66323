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

from tomlab.benchmarks.omnitom.labels import column, normal_label
from tomlab.benchmarks.omnitom.records import DIMENSIONS, WORLD, Row

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
    no_json = as_json.reason == "no table"
    fewer_lost = len(as_json.lost) < len(as_table.lost)
    return as_table if as_table.rows or no_json or fewer_lost else as_json


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
    return Parsed(rows, lost, "" if rows else _reason(layouts, lost), " and ".join(forms))


def _reason(layouts: Sequence["_Layout"], lost: Sequence[str]) -> str:
    if not layouts:
        return "no usable row" if lost else "no table"
    if any(layout.complete for layout in layouts):
        return "no usable row"
    missing = [key.capitalize() for key in ("actor", "belief") if key not in layouts[0].keys]
    return f"no column {', '.join(missing)}"


def _keys(columns: Sequence[str] | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    keys = tuple(column(name) for name in columns)
    if None in keys:
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
    return all(normal_label(layout.keys[i], cells[i]) is not None for i in layout.labels)


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
    cells = _fitted(cells, layout)
    if cells is None:
        return None
    values = {key: cell for key, cell in zip(layout.keys, cells, strict=True) if key}
    return None if _doubtful(values, layout) else values


def _doubtful(values: Mapping[str, str], layout: _Layout) -> bool:
    """Whether a line that may be prose, or lack its actor by mistake, has no legal label at all."""
    if layout.delimiter != "," and _bare(values["actor"]):
        return False
    labels = [normal_label(key, cell) for key, cell in values.items() if key in DIMENSIONS]
    return bool(labels) and not any(labels) and not _heads(values)


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


def _fitted(cells: list[str], layout: _Layout) -> list[str] | None:
    surplus = len(cells) - len(layout.keys)
    if surplus == 0:
        return cells
    given = [i for i in layout.labels if i < len(cells)]
    if (surplus < 0 and not given) or (surplus > 0 and None in layout.keys):
        return None
    if surplus > 0:
        start = layout.keys.index("belief")
        end = start + surplus + 1
        cells = [*cells[:start], layout.delimiter.join(cells[start:end]), *cells[end:]]
    else:
        cells = cells + [""] * -surplus
    legal = all(normal_label(layout.keys[i], cells[i]) is not None for i in given)
    return cells if legal else None


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
                elif not under_key or _named(value) & {"actor", "belief"}:
                    lost.append(text[start:end])
        start = text.find("{", end)
    if rows:
        return Parsed(rows, lost, "", "JSON")
    return Parsed([], lost, "no usable row" if found or lost else "no table")


def _named(names: Iterable[str]) -> set[str]:
    return {key for name in names if (key := column(name))}


def _holds_rows(value: dict) -> bool:
    """Whether an object is no row itself, but has objects in it that may be."""
    inner = {k for k, v in value.items() if isinstance(v, dict | list) and k.casefold() != "labels"}
    own = _named(value.keys() - inner) & {"actor", "belief"}
    lists = [value[key] for key in inner if isinstance(value[key], list)]
    grouped = any(isinstance(one, dict) for items in lists for one in items)
    return bool(inner) and (not own or (grouped and len(own) == 1))


def _flat(value: dict) -> dict[str, str]:
    inner = [v for key, v in value.items() if key.casefold() == "labels" and isinstance(v, dict)]
    cells = {}
    for part in (value, *inner):
        for key, v in part.items():
            if column(key) and isinstance(v, str | int):  # true and false are integers, too
                cells[column(key)] = str(v)
    return cells


def _broken(text: str, start: int, under_key: bool) -> list[str]:
    """The text of an object that cannot be decoded, if it looks like a row: up to the next one."""
    following = text.find("{", start + 1)
    piece = text[start : following if following >= 0 else None].strip()
    if _LIST_OF_ROWS.search(piece) or not re.match(r"""\{\s*(["']|\Z)""", piece):
        return []
    named = _named(_KEY.findall(piece))
    if under_key:  # Such as the labels of an object, which is lost as a whole.
        return [piece] if named & {"actor", "belief"} else []
    return [piece] if named or following < 0 else []
