"""Reading the belief tables that models write, and their labels (App. B.3, C.2 to C.4).

The paper asks for pipe tables; what models write strays from that. Whatever looks like a row is
either read or listed as lost. Labels: see `labels.normal_label`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest

import yaml

from tomlab.benchmarks.omnitom.items.labels import DASHES, column, normal_label
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, WORLD, Row

EXTRACTION = ("actor", "belief", "order")
LABELLING = ("actor", "belief", *DIMENSIONS)
_Keys = tuple[str | None, ...]
_PIPE = re.compile(r"(?<!\\)\|")
_RULE = re.compile(rf"[\s|,:=+─━{DASHES}]*")  # also blank
_EMPHASIS = re.compile(r"(\*\*\*|\*\*|__|\*|_|`)((?:(?!\1).)+)\1")
_DECODER = json.JSONDecoder(strict=False)
_KEY = re.compile(r"""["']([\w /-]+)["']\s*:""")
_LIST_OF_ROWS = re.compile(r"""["'][\w /-]+["']\s*:\s*\[\Z""")
_LOOSE_ROW = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}")  # its labels may be an object of their own
_LONGEST_ROW = 4000  # characters
_UNDER_KEY = re.compile(r"""["']\s*:\s*\Z""")


@dataclass(frozen=True)
class Parsed:
    """What was read of one answer."""

    rows: list[Row]  # the usable ones
    lost: list[str]  # the text of what looked like a row
    reason: str  # why there is no usable row, or ""
    form: str = field(default="", compare=False)  # "JSON" or "pipe table"
    dropped: int = field(default=0, compare=False)  # cells behind the last heading: for nothing


def parse(text: str, columns: Sequence[str] | None = None) -> Parsed:
    """The rows of an answer, as JSON if any can be read so, else as a table.

    text: the visible answer, thinking removed. columns: what was asked for, as keys or as column
    names; otherwise whatever is there. A row's `labels` are those of the columns asked for, or of
    its own cells, "" where there is no legal one. They stay empty if Order is the only one.
    """
    if not text.strip():
        return Parsed([], [], "empty answer")
    as_json = parse_json(text, columns)
    if as_json.rows:
        return as_json
    as_table = parse_table(text, columns)
    fewer_lost = as_json.reason == "no table" or len(as_json.lost) < len(as_table.lost)
    return as_table if as_table.rows or fewer_lost else as_json


def parse_table(text: str, columns: Sequence[str] | None = None) -> Parsed:
    """The rows of all pipe tables in a text, prose passed over.

    - A header names Actor and Belief, perhaps among other columns. It holds up to the next header.
    - Every line below it with a pipe is a row, unless it is a rule.
    - Too many or too few cells: those behind the last heading are dropped, and missing ones are the
      last, if all labels are legal and one stands behind the belief. Else the row is lost.
    - An empty actor is the one above, in lines that only blank ones and rules part, if a label is
      legal.
    - Without a header, the columns are taken to be those asked for (else those of Stage 1 or 2)
      where at least two rows have that many cells and only legal labels.
    - A row without a letter in its actor or a word in its belief is lost, and so are the rows of a
      table without any label where another has labels: it repeats the table given.
    """
    wanted = tuple(map(column, columns or ()))
    tables = [(_Table(), [])]
    for line in re.split(r"\r\n|\r|\n", text):
        header = _header(line)
        if header:
            tables.append((header, []))
        elif not _RULE.fullmatch(line):
            tables[-1][1].append(line)
    above = tables[0][1]
    tables[0] = (_without_header(above, wanted), above)
    labelled = any(table.labels for table, _ in tables)
    rows = []
    lost = []
    dropped = 0
    for table, lines in tables:
        repeats_given = labelled and not table.labels
        part = _read(_Table() if repeats_given else table, lines, wanted)
        rows += part.rows
        lost += part.lost
        dropped += part.dropped
    if rows:
        return Parsed(rows, lost, "", "pipe table", dropped)
    has_header = any(table.keys for table, _ in tables)
    return Parsed([], lost, "no usable row" if has_header or lost else "no table")


@dataclass(frozen=True)
class _Table:
    """What the columns of a table hold (None: something else), and its outer pipes."""

    keys: _Keys = ()
    opened: bool = False
    closed: bool = False

    @property
    def labels(self) -> list[str]:
        return [key for key in self.keys if key in DIMENSIONS]

    def legal(self, cells: Sequence[str]) -> bool:
        columns = zip(self.keys, cells, strict=False)
        return all(normal_label(key, cell) for key, cell in columns if key in DIMENSIONS)


def _header(line: str) -> _Table | None:
    cells = [cell.strip() for cell in _split(line)]
    opened = not cells[0]
    closed = not cells[-1]
    keys = _headings(cells[opened : len(cells) - closed])
    # The first of two columns of one name is the one meant.
    keys = tuple(None if key in keys[:i] else key for i, key in enumerate(keys))
    is_header = "actor" in keys and "belief" in keys
    return _Table(keys, opened, closed) if is_header else None


def _headings(cells: Sequence[str]) -> list[str | None]:
    """What the columns hold. The release reads nine labelled cells by position, whatever stands
    above them: so a heading that names no column is taken by its place, if the others stand in the
    order asked for and name most columns.
    """
    keys = [column(cell) for cell in cells]
    width = len(LABELLING)
    in_order = all(key in (None, asked) for key, asked in zip_longest(keys, LABELLING))
    if len(keys) >= width and in_order and len(keys) - keys.count(None) > width / 2:
        keys[:width] = LABELLING
    return keys


def _without_header(lines: Sequence[str], wanted: _Keys) -> _Table:
    """The table that at least two lines share."""
    for keys in [wanted] if wanted else [EXTRACTION, LABELLING]:
        table = _Table(keys)
        alike = []
        for line in lines:
            cells = _cells(line, table)
            if len(cells) == len(keys) and table.legal(cells):
                alike.append(line.strip())
        if len(alike) > 1:
            return _Table(keys, alike[0].startswith("|"), alike[0].endswith("|"))
    return _Table()


def _read(table: _Table, lines: Sequence[str], wanted: _Keys) -> Parsed:
    """The rows below a header, the lines that are lost, and how many cells were dropped."""
    rows = []
    lost = []
    dropped = 0
    actor = ""
    for line in lines:
        values = _values(line, table)
        # What stands between two rows may name another actor.
        actor = _bare(values["actor"]) or actor if values else ""
        row = _row({**values, "actor": actor}, wanted)
        if row:
            rows.append(row)
            dropped += max(0, len(_cells(line, table)) - len(table.keys))
        elif _PIPE.search(line):
            lost.append(line.strip())
    return Parsed(rows, lost, "", dropped=dropped)


def _values(line: str, table: _Table) -> dict[str, str]:
    """The cells of a line by what they hold, none if that is unclear."""
    cells = _cells(line, table)
    values = {key: cell for key, cell in zip(table.keys, cells, strict=False) if key}
    if not _PIPE.search(line) or "actor" not in values:
        return {}
    if len(cells) != len(table.keys):
        behind = table.keys[table.keys.index("belief") : len(cells)]
        certain = DIMENSIONS.keys() & behind and table.legal(cells)
        if not certain or len(cells) >= 2 * len(table.keys):
            return {}
    labels = [normal_label(key, values.get(key, "")) for key in table.labels]
    # A line may lack its actor by mistake.
    if labels and not any(labels) and not _bare(values["actor"]):
        return {}
    return values


def _cells(line: str, table: _Table) -> list[str]:
    """Cells without the empty ones outside outer pipes. An empty actor is no such cell."""
    cells = _split(line)
    width = len(table.keys)
    if not cells[-1].strip() and (table.closed or len(cells) > width):
        cells = cells[:-1]
    if cells and not cells[0].strip() and (table.opened or len(cells) > width):
        cells = cells[1:]
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    return cells


def _split(line: str) -> list[str]:
    return [cell.replace(r"\|", "|") for cell in _PIPE.split(line.strip())]


def _row(values: Mapping[str, str], wanted: _Keys) -> Row | None:
    actor = re.sub(r"^([-+*•]|\d+[.)])\s+", "", _bare(values.get("actor", "")))
    belief = _bare(values.get("belief", ""))
    if not re.search(r"[^\W\d_]", actor) or not re.search(r"\w", belief):
        return None
    if actor.casefold() == WORLD:
        actor = WORLD
    labels = {
        key: normal_label(key, values.get(key, "")) or ""
        for key in DIMENSIONS
        if key in (wanted or values)
    }
    return Row(actor, belief, labels.get("order", ""), labels if [*labels] != ["order"] else {})


def _bare(cell: str) -> str:
    """A cell without the spaces and the bold, italic or code marks around it."""
    # JSON can spell half of a surrogate pair, which no file can hold.
    cell = " ".join(cell.encode("utf-8", "replace").decode().split())
    while marked := _EMPHASIS.fullmatch(cell):
        cell = marked[2].strip()
    return cell


def parse_json(text: str, columns: Sequence[str] | None = None) -> Parsed:
    """The rows of the JSON objects in a text: `{"beliefs": [...]}`, a list, or one after the other.
    A row is an object with an actor and a belief, its labels beside them or in `labels`. In JSON
    that is cut off or broken, whole objects are read, and the others lost.
    """
    wanted = tuple(map(column, columns or ()))
    rows = []
    lost = []
    has_object = False
    start = text.find("{")
    while start >= 0:
        end = start + 1
        under_key = bool(_UNDER_KEY.search(text, max(0, start - 40), start))
        decoded = _decoded(text, start)
        if decoded is None:
            following = text.find("{", end)
            piece = text[start : following if following >= 0 else None].strip()
            if _like_a_broken_row(piece, under_key, following < 0):
                lost.append(piece)
        else:
            has_object = True
            value, after = decoded
            if not _holds_rows(value):
                end = after
                row = _row(_flat(value), wanted)
                if row:
                    rows.append(row)
                elif value and (not under_key or _named(value)):
                    lost.append(text[start:end])
        start = text.find("{", end)
    if rows:
        return Parsed(rows, lost, "", "JSON")
    return Parsed([], lost, "no usable row" if has_object or lost else "no table")


def _decoded(text: str, start: int) -> tuple[dict, int] | None:
    """The object that starts at a brace and where it ends; None if it is no JSON, nor a row in the
    like of JSON that models write: a comma behind the last value, single quotes or bare keys.
    """
    with suppress(ValueError, RecursionError):
        return _DECODER.raw_decode(text, start)
    loose = _LOOSE_ROW.match(text, start, start + _LONGEST_ROW)
    if loose and loose[0].count('"') % 2 == 0:
        with suppress(yaml.YAMLError, ValueError, RecursionError):
            # YAML's flow mappings allow all that. Its basic loader takes every value as text.
            value = yaml.load(loose[0].replace("\\'", "''"), Loader=yaml.CBaseLoader)
            if len(_named(value)) == 2:
                return value, loose.end()
    return None


def _named(names: Iterable[str]) -> set[str]:
    return {"actor", "belief"}.intersection(map(column, names))


def _holds_rows(value: dict) -> bool:
    """Whether an object is no row itself, but has objects in it that may be."""
    inner = {k for k, v in value.items() if isinstance(v, dict | list) and k.lower() != "labels"}
    return bool(inner) and len(_named(value.keys() - inner)) < 2


def _flat(value: dict) -> dict[str, str]:
    cells = dict(value)
    for key, labels in value.items():
        if key.lower() == "labels" and isinstance(labels, dict):
            cells |= labels
    # true and false are integers, too.
    return {column(key): str(cell) for key, cell in cells.items() if isinstance(cell, str | int)}


def _like_a_broken_row(piece: str, under_key: bool, is_last: bool) -> bool:
    """Whether an object that cannot be decoded looks like a row, by its text up to the next one."""
    if _LIST_OF_ROWS.search(piece) or not re.match(r"""\{\s*(["']|\Z)""", piece):
        return False
    names = _KEY.findall(piece)
    if under_key:  # It may be the labels of an object, which is lost as a whole.
        return bool(_named(names))
    return is_last or any(map(column, names))
