"""Reading the belief tables that models write, and their labels (App. B.3, C.2 to C.4).

The paper asks for pipe tables; what models write strays from that. Whatever looks like a row is
either read or listed as lost. Labels: see `labels.normal_label`.
"""

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product, zip_longest

import yaml

from tomlab.benchmarks.omnitom.items.labels import DASHES, column, normal_label
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, WORLD, Row

EXTRACTION = ("actor", "belief", "order")
LABELLING = ("actor", "belief", *DIMENSIONS)
_Keys = tuple[str | None, ...]
_FORMS = {"|": "pipe table", "\t": "TSV", ",": "CSV"}  # by delimiter
_PIPE = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"\s*(```|~~~)")
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
    form: str = field(default="", compare=False)  # such as "JSON" or "pipe table and CSV"
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
    """The rows of all pipe tables, CSV and TSV in a text, prose and code fences passed over.

    - A header names Actor and Belief, perhaps among other columns. It holds up to the next header;
      in CSV, also up to the next code fence.
    - Every line below it with a pipe or a tab (in CSV, a comma) is a row, unless it is a rule. In
      CSV, as prose has commas, it needs a legal label if columns hold any.
    - Too many cells: those behind the last heading are dropped, if there are fewer of them than of
      headings and all labels are legal, some behind the belief. Else (in CSV, first) a delimiter
      stood in the belief, if no other column takes free text and all labels are then legal.
    - Too few cells: the last are missing, if all labels given are legal, and one is. Else: lost.
    - An empty actor is the one above, in lines that only blank ones and rules part, if a label is
      legal.
    - Without a header, the columns are taken to be those asked for (else those of Stage 1 or 2)
      where at least two rows have that many cells and only legal labels.
    - A row without a letter in its actor or a word in its belief is lost, and so are the rows of a
      table without any label where another has labels: it repeats the table given.
    """
    wanted = tuple(map(column, columns or ()))
    tables = _tables(re.split(r"\r\n|\r|\n", text), wanted)
    labelled = any(table.labels for table, _ in tables)
    rows = []
    lost = []
    dropped = 0
    forms = {}
    for table, lines in tables:
        if labelled and not table.labels:
            table = _Table(table.delimiter)
        part = _read(table, lines, wanted)
        rows += part.rows
        lost += part.lost
        dropped += part.dropped
        if part.rows:
            forms[_FORMS[table.delimiter]] = True
    reason = ""
    if not rows:
        has_header = any(table.keys for table, _ in tables)
        reason = "no usable row" if has_header or lost else "no table"
    return Parsed(rows, lost, reason, " and ".join(forms), dropped)


@dataclass(frozen=True)
class _Table:
    """A table's delimiter, what its columns hold (None: something else), its outer pipes."""

    delimiter: str = ""
    keys: _Keys = ()
    opened: bool = False
    closed: bool = False

    @property
    def labels(self) -> list[str]:
        return [key for key in self.keys if key in DIMENSIONS]

    def legal(self, cells: Sequence[str]) -> bool:
        columns = zip(self.keys, cells, strict=False)
        return all(normal_label(key, cell) for key, cell in columns if key in DIMENSIONS)


def _tables(lines: Sequence[str], wanted: _Keys) -> list[tuple[_Table, list[str]]]:
    """Each header with the lines below it; before the first, and behind fenced CSV, no header."""
    tables = [(_Table(), [])]
    for line in lines:
        table, below = tables[-1]
        header = _header(line)
        if header:
            tables.append((header, []))
        elif table.delimiter == "," and _FENCE.match(line):
            tables.append((_Table(), []))
        else:
            below.append(line)
    return [part if part[0].keys else _without_header(part[1], wanted) for part in tables]


def _header(line: str) -> _Table | None:
    for delimiter in _FORMS:
        cells = [cell.strip() for cell in _split(line, delimiter)]
        opened = delimiter == "|" and not cells[0]
        closed = delimiter == "|" and not cells[-1]
        keys = _headings(cells[opened : len(cells) - closed], delimiter)
        # The first of two columns of one name is the one meant.
        keys = tuple(None if key in keys[:i] else key for i, key in enumerate(keys))
        if {"actor", "belief"}.issubset(keys):
            return _Table(delimiter, keys, opened, closed)
    return None


def _headings(cells: Sequence[str], delimiter: str) -> list[str | None]:
    """What the columns hold. The release reads nine labelled cells by position, whatever stands
    above them: so a heading that names no column is taken by its place, if the others stand in the
    order asked for and name Actor and Belief or, between pipes, which prose has not, most columns.
    """
    keys = [column(cell) for cell in cells]
    width = len(LABELLING)
    in_order = all(key in (None, asked) for key, asked in zip_longest(keys, LABELLING))
    most = delimiter == "|" and len(keys) - keys.count(None) > width / 2
    if len(keys) >= width and in_order and (most or keys[:2] == ["actor", "belief"]):
        keys[:width] = LABELLING
    return keys


def _without_header(lines: list[str], wanted: _Keys) -> tuple[_Table, list[str]]:
    """The table that at least two lines share, and the lines that it may hold for."""
    for delimiter, keys in product(_FORMS, [wanted] if wanted else [EXTRACTION, LABELLING]):
        table = _Table(delimiter, keys)
        alike = [i for i, line in enumerate(lines) if _fits(line, table)]
        if len(alike) < 2:
            continue
        first = lines[alike[0]].strip()
        if delimiter == ",":  # Prose has commas, but no pipes and tabs.
            lines = lines[alike[0] : alike[-1] + 1]
        return _Table(delimiter, keys, first.startswith("|"), first.endswith("|")), lines
    return _Table(), lines


def _fits(line: str, table: _Table) -> bool:
    """Whether a line has all cells and only legal labels; in CSV, at least one."""
    if not _like_a_row(line, table.delimiter) or (table.delimiter == "," and not table.labels):
        return False
    cells = _cells(line, table)
    return len(cells) == len(table.keys) and table.legal(cells)


def _read(table: _Table, lines: Sequence[str], wanted: _Keys) -> Parsed:
    """The rows below a header, the lines that are lost, and how many cells were dropped."""
    rows = []
    lost = []
    dropped = 0
    actor = ""
    for line in lines:
        if _RULE.fullmatch(line):
            continue
        like_a_row = _like_a_row(line, table.delimiter)
        values = {}
        if like_a_row and table.keys:
            values, surplus = _values(line, table)
        # What stands between two rows may name another actor.
        actor = _bare(values["actor"]) or actor if values else ""
        row = _row({**values, "actor": actor}, wanted)
        if row:
            rows.append(row)
            dropped += surplus
        elif like_a_row:
            lost.append(line.strip())
    return Parsed(rows, lost, "", dropped=dropped)


def _values(line: str, table: _Table) -> tuple[dict[str, str], int]:
    """The cells of a line by what they hold, none if unclear; and how many were left out."""
    cells = _cells(line, table)
    surplus = len(cells) - len(table.keys)
    if surplus > 0:
        cells, surplus = _of_too_many(cells, line, table)
    elif surplus < 0:
        given = table.keys[: len(cells)]
        if not (DIMENSIONS.keys() & given and table.legal(cells)):
            cells = []
        surplus = 0
    values = {key: cell for key, cell in zip(table.keys, cells, strict=False) if key}
    if "actor" not in values:
        return {}, 0
    # A line that may be prose, or lack its actor by mistake, needs a legal label.
    unsure = table.delimiter == "," or not _bare(values["actor"])
    labels = [normal_label(key, values.get(key, "")) for key in table.labels]
    if unsure and labels and not any(labels):
        return {}, 0
    return values, surplus


def _of_too_many(cells: list[str], line: str, table: _Table) -> tuple[list[str], int]:
    """As many cells as there are headings, none if unclear; and how many were left out."""
    width = len(table.keys)
    surplus = len(cells) - width
    start = table.keys.index("belief")
    plain = cells
    if table.delimiter != "|":
        # A belief that holds commas or tabs has its quotation marks for its own.
        plain = line.strip(" ").split(table.delimiter)
        if plain[:start] != cells[:start]:
            plain = cells
    end = start + 1 + len(plain) - width
    joined = [*plain[:start], table.delimiter.join(plain[start:end]), *plain[end:]]
    by_heading = table.legal(cells) and bool(DIMENSIONS.keys() & table.keys[start:])
    # Texts have commas, but hardly ever pipes and tabs.
    comes_first = table.delimiter == "," or not by_heading
    if comes_first and None not in table.keys and table.legal(joined):
        return joined, 0
    if by_heading and surplus < width:
        return cells[:width], surplus
    return [], 0


def _cells(line: str, table: _Table) -> list[str]:
    """Cells without the empty ones outside outer pipes. An empty actor is no such cell."""
    cells = _split(line, table.delimiter)
    if table.delimiter != "|":
        return cells
    width = len(table.keys)
    if not cells[-1].strip() and (table.closed or len(cells) > width):
        cells = cells[:-1]
    if cells and not cells[0].strip() and (table.opened or len(cells) > width):
        cells = cells[1:]
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    return cells


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter == "|":
        return [cell.replace(r"\|", "|") for cell in _PIPE.split(line.strip())]
    line = line.strip(" ")
    if '"' in line:
        with suppress(csv.Error):  # Quotation marks that are part of the text.
            return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    return line.split(delimiter)


def _like_a_row(line: str, delimiter: str) -> bool:
    if _FENCE.match(line) or _RULE.fullmatch(line):
        return False
    return bool(_PIPE.search(line)) or "\t" in line.lstrip() or (delimiter == "," and "," in line)


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
