"""Reading the belief tables that models write, and their labels (App. B.3, C.2 to C.4).

The paper asks for pipe tables; what models write strays from that. Whatever looks like a row is
either read or listed as lost. Labels: see `labels.normal_label`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import yaml

from tomlab.benchmarks.omnitom.items.labels import column, normal_label
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, WORLD, Row

EXTRACTION = ("actor", "belief", "order")
LABELLING = ("actor", "belief", *DIMENSIONS)
_PIPE = re.compile(r"(?<!\\)\|")
_OUTER_PIPES = re.compile(r"^\||(?<!\\)\|$")
# What may stand between the braces of an object: quoted texts, and anything else but braces.
_INSIDE = r'(?:"(?:[^"\\]|\\.)*(?:"|\Z)|[^{}"])*'
_LABELS = rf"""["']?labels["']?\s*:\s*\{{{_INSIDE}(?:\}}|\Z)"""
# An object that holds no other one but its labels, or how another one begins.
_OBJECT = re.compile(rf"(?is)\{{{_INSIDE}{_LABELS}{_INSIDE}(?:\}}|\Z)|\{{{_INSIDE}\}}?")


@dataclass(frozen=True)
class Parsed:
    """What was read of one answer."""

    rows: list[Row]  # the usable ones
    lost: list[str]  # the text of what looked like a row
    reason: str  # why there is no usable row, or ""
    form: str = field(default="", compare=False)  # "JSON" or "pipe table"
    dropped: int = field(default=0, compare=False)  # cells behind the last heading: for nothing


def parse(text: str, columns: Collection[str] = ()) -> Parsed:
    """The rows of an answer, as JSON if any can be read so, else as a table.

    text: the visible answer, thinking removed. columns: the keys of those asked for. A row's
    `labels` are those of the columns asked for, or of its own cells, "" where there is no legal
    one. They stay empty if Order is the only one.
    """
    if not text.strip():
        return Parsed([], [], "empty answer")
    as_json = _parse_json(text, columns)
    as_table = _parse_table(text, columns)
    if as_json.rows or (as_json.lost and not as_table.rows):
        return as_json
    return as_table


def _parse_json(text: str, columns: Collection[str]) -> Parsed:
    """The rows of the JSON objects in a text, wherever they stand. A row is an object with an actor
    and a belief, its labels beside them or in `labels`.
    """
    rows = []
    lost = []
    for match in _OBJECT.finditer(text):
        row = _row(_values_of_object(match[0]), columns)
        if row:
            rows.append(row)
        elif "actor" in match[0].lower() or _is_cut_off(match):
            lost.append(match[0].strip())
    return _parsed(rows, lost, "JSON")


def _is_cut_off(match: re.Match) -> bool:
    """Whether the answer ended where a row had just begun."""
    return match.end() == len(match.string) and match[0][-1] not in "[}"


def _values_of_object(text: str) -> dict[str, str]:
    """What an object says, by columns; nothing if it is broken."""
    try:
        # YAML has what models add to JSON: a comma behind the last value, single quotes, bare keys.
        # It wants a colon on the line of its key.
        values = yaml.load(re.sub(r'"\s+:', '":', text), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError):
        return {}
    labels = values.get("labels")
    if isinstance(labels, dict):
        values |= labels
    return {
        column(str(key)): str(value)
        for key, value in values.items()
        if isinstance(value, str | int)
    }


def _parse_table(text: str, columns: Collection[str]) -> Parsed:
    """The rows of all pipe tables in a text, prose passed over.

    - A header names Actor and Belief, perhaps among other columns. It holds up to the next header.
      Of a header without labels, where another has labels, nothing is read: it repeats the beliefs.
    - Without a header, the columns are those of Stage 1 or 2 where two rows have that many cells
      and only legal labels.
    - Cells behind the last heading are dropped, and missing ones are the last, if there are labels
      and all are legal. Else the row is lost.
    - A row without a letter in its actor or a word in its belief is lost.
    """
    lines = [line.strip() for line in text.split("\n")]
    lines = [line for line in lines if _PIPE.search(line) and re.search(r"[^\W_]", line)]
    headers = [_headings(_cells(line)) for line in lines]
    has_labels = any(DIMENSIONS.keys() & header for header in headers)
    keys = () if any(headers) else _usual_columns(lines)
    rows = []
    lost = []
    dropped = 0
    for line, header in zip(lines, headers, strict=True):
        if header:
            repeats_beliefs = has_labels and DIMENSIONS.keys().isdisjoint(header)
            keys = () if repeats_beliefs else header
            continue
        cells = _cells(line)
        row = _row(_values_of_cells(cells, keys), columns)
        if row:
            rows.append(row)
            dropped += max(0, len(cells) - len(keys))
        else:
            lost.append(line)
    return _parsed(rows, lost, "pipe table", dropped)


def _parsed(rows: list[Row], lost: list[str], form: str, dropped: int = 0) -> Parsed:
    if rows:
        return Parsed(rows, lost, "", form, dropped)
    return Parsed([], lost, "no usable row" if lost else "no table")


def _headings(cells: Sequence[str]) -> list[str | None]:
    """What the columns below a header hold (None: something else); nothing for another line.

    The release reads nine labelled cells by position, whatever stands above them: so a heading that
    names no column is taken by its place, if the others stand in the order asked for and name most
    columns.
    """
    keys = [column(cell) for cell in cells]
    width = len(LABELLING)
    in_order = all(key in (None, asked) for key, asked in zip_longest(keys, LABELLING))
    if len(keys) >= width and in_order and len(keys) - keys.count(None) > width / 2:
        keys[:width] = LABELLING
    return keys if "actor" in keys and "belief" in keys else []


def _usual_columns(lines: Sequence[str]) -> Sequence[str]:
    for keys in (EXTRACTION, LABELLING):
        tables = [_cells(line) for line in lines]
        alike = [cells for cells in tables if len(cells) == len(keys) and _has_labels(cells, keys)]
        if len(alike) > 1:
            return keys
    return ()


def _has_labels(cells: Sequence[str], keys: Sequence[str | None]) -> bool:
    """Whether there are labels among the cells, and all are legal."""
    pairs = zip(keys, cells, strict=False)
    labels = [normal_label(key, cell) for key, cell in pairs if key in DIMENSIONS]
    return bool(labels) and None not in labels


def _values_of_cells(cells: Sequence[str], keys: Sequence[str | None]) -> dict[str | None, str]:
    """The cells of a row by what they hold; nothing if that is unclear."""
    if len(cells) != len(keys) and not _has_labels(cells, keys):
        return {}
    return dict(zip(keys, cells, strict=False))


def _cells(line: str) -> list[str]:
    cells = _PIPE.split(_OUTER_PIPES.sub("", line))
    return [cell.replace(r"\|", "|") for cell in cells]


def _row(values: Mapping[str | None, str], columns: Collection[str]) -> Row | None:
    actor = re.sub(r"^([-+*•]|\d+[.)])\s+", "", _plain(values.get("actor", "")))
    belief = _plain(values.get("belief", ""))
    if not re.search(r"[^\W\d_]", actor) or not re.search(r"\w", belief):
        return None
    if actor.casefold() == WORLD:
        actor = WORLD
    labels = {
        key: normal_label(key, values.get(key, "")) or ""
        for key in DIMENSIONS
        if key in (columns or values)
    }
    return Row(actor, belief, labels.get("order", ""), labels if [*labels] != ["order"] else {})


def _plain(cell: str) -> str:
    """A cell without the marks of bold, italic or code around it."""
    return " ".join(cell.strip("*` \t").split())
