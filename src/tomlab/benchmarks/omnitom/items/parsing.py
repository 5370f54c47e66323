"""Reading the belief tables that models write, and their labels (App. B.3, C.2 to C.4).

The paper asks for pipe tables, but models often write other forms. Whatever looks like a row is
either read or listed as lost. `labels.normal_label` reads labels.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tomlab.benchmarks.omnitom.items.labels import column, normal_label
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, WORLD, Row
from tomlab.records import files

EXTRACTION = ("actor", "belief", "order")
LABELLING = ("actor", "belief", *DIMENSIONS)
_PIPE = re.compile(r"(?<!\\)\|")
_OUTER_PIPES = re.compile(r"^\||(?<!\\)\|$")
# What may stand between the braces of an object: quoted texts, and anything else but braces.
_INSIDE = r'(?:"(?:[^"\\]|\\.)*(?:"|\Z)|[^{}"])*'
_LABELS = rf'"labels"\s*:\s*\{{{_INSIDE}(?:\}}|\Z)'
# An object that contains no other object but `labels`, or the beginning of an object that does.
_OBJECT = re.compile(rf"(?is)\{{{_INSIDE}{_LABELS}{_INSIDE}(?:\}}|\Z)|\{{{_INSIDE}\}}?")


@dataclass(frozen=True)
class Parsed:
    """What was read of one answer."""

    rows: list[Row]  # the usable rows
    lost: list[str]  # the text of each unusable row
    reason: str  # why there is no usable row, or ""
    form: str = ""  # "JSON" or "pipe table"
    dropped: int = 0  # how many cells behind the last heading were ignored


def parse(text: str) -> Parsed:
    """The rows of an answer, read as JSON if that gives any row, else as a pipe table.

    text: the visible answer, thinking removed. A row's `labels` are those of its cells, "" for an
    illegal label. They stay empty if the row has no label but Order.
    """
    if not text.strip():
        return Parsed([], [], "empty answer")
    parsed = _parse_table(text)
    as_json = _parse_json(text)
    if as_json.rows or (as_json.lost and not parsed.rows):
        parsed = as_json
    if parsed.rows:
        return parsed
    return Parsed([], parsed.lost, "no usable row" if parsed.lost else "no table")


def _parse_json(text: str) -> Parsed:
    """The rows of the JSON objects in a text, wherever they stand. A row is an object with an actor
    and a belief, its labels beside them or in `labels`.
    """
    rows = []
    lost_texts = []
    for match in _OBJECT.finditer(text):
        row = _row(_values_of_object(match[0]))
        is_cut_off = match.end() == len(text) and match[0][-1] not in "[}"
        if row:
            rows.append(row)
        elif is_cut_off or "actor" in match[0].lower():
            lost_texts.append(match[0].strip())
    return Parsed(rows, lost_texts, "", "JSON")


def _values_of_object(text: str) -> dict[str | None, str]:
    """The values of a JSON object's text, by column; {} if the JSON is broken."""
    try:
        values = files.parsed(text)
        values |= values.get("labels") or {}
    except (ValueError, TypeError):
        return {}
    texts = {}
    for key, value in values.items():
        if isinstance(value, str | int):
            texts[column(key)] = str(value)
    return texts


def _parse_table(text: str) -> Parsed:
    """The rows of all pipe tables in a text; prose is ignored.

    - A header names Actor and Belief, perhaps among other columns, and holds up to the next header.
      If some header has labels, tables whose header has none are not read: they repeat the beliefs.
    - Without any header, the columns are those of Stage 1 or 2, if at least two rows have that many
      cells and only legal labels.
    - A row with more or fewer cells than headings is read from the left if it has labels and all
      are legal: surplus cells are dropped. Otherwise it is lost.
    - A row without a letter in its actor or a word in its belief is lost.
    """
    lines = [line.strip() for line in text.split("\n")]
    lines = [line for line in lines if _PIPE.search(line) and re.search(r"[^\W_]", line)]
    table = [_cells(line) for line in lines]
    headers = [_headings(cells) for cells in table]
    has_labels = any(DIMENSIONS.keys() & header for header in headers)
    columns: Sequence[str | None] = () if any(headers) else _usual_columns(table)
    rows = []
    lost_texts = []
    n_dropped = 0
    for line, cells, header in zip(lines, table, headers, strict=True):
        if header:
            repeats_beliefs = has_labels and DIMENSIONS.keys().isdisjoint(header)
            columns = () if repeats_beliefs else header
            continue
        values: dict[str | None, str] = dict(zip(columns, cells, strict=False))
        row = _row(values)
        if row and (len(cells) == len(columns) or _has_labels(values)):
            rows.append(row)
            n_dropped += max(0, len(cells) - len(columns))
        else:
            lost_texts.append(line)
    return Parsed(rows, lost_texts, "", "pipe table", n_dropped)


def _headings(cells: Sequence[str]) -> list[str | None]:
    """The columns that a header line names, None for unknown ones; [] if the line is no header.

    The release reads nine labelled cells by position, whatever their headings. So unknown headings
    are taken by position, if the known ones stand in the order asked for and are more than half.
    """
    keys = [column(cell) for cell in cells]
    by_place = [key or name for key, name in zip(keys, LABELLING, strict=False)]
    n_named = len(keys) - keys.count(None)
    if tuple(by_place) == LABELLING and n_named > len(LABELLING) / 2:
        keys[: len(LABELLING)] = LABELLING
    return keys if "actor" in keys and "belief" in keys else []


def _usual_columns(table: Sequence[Sequence[str]]) -> Sequence[str]:
    for columns in (EXTRACTION, LABELLING):
        whole = [cells for cells in table if len(cells) == len(columns)]
        legal = [cells for cells in whole if _has_labels(dict(zip(columns, cells, strict=True)))]
        if len(legal) > 1:
            return columns
    return ()


def _has_labels(values: Mapping[str | None, str]) -> bool:
    """Whether a row has labels and all of them are legal."""
    labels = [normal_label(key, values[key]) for key in DIMENSIONS if key in values]
    return bool(labels) and None not in labels


def _cells(line: str) -> list[str]:
    cells = _PIPE.split(_OUTER_PIPES.sub("", line))
    return [cell.replace(r"\|", "|") for cell in cells]


def _row(values: Mapping[str | None, str]) -> Row | None:
    actor = re.sub(r"^([-+*•]|\d+[.)])\s+", "", _plain(values.get("actor", "")))
    belief = _plain(values.get("belief", ""))
    if not re.search(r"[^\W\d_]", actor) or not re.search(r"\w", belief):
        return None
    if actor.casefold() == WORLD:
        actor = WORLD
    labels = {key: normal_label(key, values[key]) or "" for key in DIMENSIONS if key in values}
    return Row(actor, belief, labels.get("order", ""), labels if [*labels] != ["order"] else {})


def _plain(cell: str) -> str:
    """A cell without the marks of bold, italic or code around it."""
    return " ".join(cell.strip("*` \t").split())
