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
from itertools import chain, product, zip_longest

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
_LABELS = re.compile("labels", re.IGNORECASE).fullmatch
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
      legal. A row that has nothing but an actor heads such a group; it is lost if the next has one.
    - Without a header, the columns are taken to be those asked for (else those of Stage 1 or 2)
      where at least two rows have that many cells and only legal labels.
    - A row without a letter in its actor or a word in its belief is lost, and so are the rows of a
      table without any label where another has labels: it repeats the table given.
    """
    wanted = tuple(map(column, columns or ()))
    parts = [
        (layout, lines) if layout.keys else _without_header(lines, wanted)
        for layout, lines in _parts(re.split(r"\r\n|\r|\n", text))
    ]
    layouts = [layout for layout, _ in parts if layout.keys]
    labelled = any(layout.complete and layout.labels for layout in layouts)
    rows, lost, dropped, forms = [], [], 0, {}
    for layout, lines in parts:
        if labelled and not layout.labels:
            layout = _Layout(layout.delimiter)
        own, failed, surplus = _read(layout, lines, wanted)
        rows += own
        lost += failed
        dropped += surplus
        if own:
            forms[_FORMS[layout.delimiter]] = None
    if rows:
        return Parsed(rows, lost, "", " and ".join(forms), dropped)
    if any(layout.complete for layout in layouts) or (lost and not layouts):
        return Parsed([], lost, "no usable row")
    if not layouts:
        return Parsed([], lost, "no table")
    missing = [key.capitalize() for key in EXTRACTION[:2] if key not in layouts[0].keys]
    return Parsed([], lost, f"no column {', '.join(missing)}")


@dataclass(frozen=True)
class _Layout:
    """A table's delimiter, what its columns hold (None: something else), its outer pipes."""

    delimiter: str = ""
    keys: _Keys = ()
    opened: bool = False
    closed: bool = False

    @property
    def complete(self) -> bool:
        return "actor" in self.keys and "belief" in self.keys

    @property
    def labels(self) -> set[str]:
        return DIMENSIONS.keys() & self.keys

    def legal(self, cells: Sequence[str]) -> bool:
        labels = [pair for pair in zip(self.keys, cells, strict=False) if pair[0] in DIMENSIONS]
        return all(normal_label(key, cell) is not None for key, cell in labels)


def _parts(lines: Sequence[str]) -> list[tuple[_Layout, list[str]]]:
    """Each header with the lines below it; before the first, and behind fenced CSV, no header."""
    parts = [(_Layout(), [])]
    for line in lines:
        layout, below = parts[-1]
        header = _header(line)
        if header or (layout.delimiter == "," and _FENCE.match(line)):
            parts.append((header or _Layout(), []))
        else:
            below.append(line)
    return parts


def _header(line: str) -> _Layout | None:
    for delimiter in _FORMS:
        cells = [cell.strip() for cell in _cells(line, delimiter)]
        opened, closed = (delimiter == "|" and not cells[end] for end in (0, -1))
        named = _headings(cells[opened : len(cells) - closed], delimiter)
        # The first of two columns of one name is the one meant.
        first = {key: named.index(key) for key in {*named}}
        keys = tuple(key if first[key] == i else None for i, key in enumerate(named))
        layout = _Layout(delimiter, keys, opened, closed)
        if layout.complete or (len(keys) > 1 and None not in keys):
            return layout
    return None


def _headings(cells: Sequence[str], delimiter: str) -> list[str | None]:
    """What the columns hold. The release reads nine labelled cells by position, whatever stands
    above them: so a heading that names no column is taken by its place, if the others stand in the
    order asked for and name Actor and Belief or, between pipes, which prose has not, most columns.
    """
    named = [column(cell) for cell in cells]
    in_order = all(key in (None, asked) for key, asked in zip_longest(named, LABELLING))
    most = delimiter == "|" and sum(map(bool, named)) > len(LABELLING) / 2
    if len(named) >= len(LABELLING) and in_order and (most or named[:2] == [*EXTRACTION[:2]]):
        return [*LABELLING, *named[len(LABELLING) :]]
    return named


def _cells(line: str, delimiter: str) -> list[str]:
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


def _without_header(lines: Sequence[str], wanted: _Keys) -> tuple[_Layout, Sequence[str]]:
    """The layout that at least two lines share, and the lines that it may hold for."""
    for delimiter, keys in product(_FORMS, [wanted] if wanted else [EXTRACTION, LABELLING]):
        alike = [i for i, line in enumerate(lines) if _fits(line, _Layout(delimiter, keys))]
        if len(alike) < 2:
            continue
        if delimiter == ",":  # Prose has commas, but no pipes and tabs.
            return _Layout(delimiter, keys), lines[alike[0] : alike[-1] + 1]
        first = lines[alike[0]].strip()
        return _Layout(delimiter, keys, first.startswith("|"), first.endswith("|")), lines
    return _Layout(), lines


def _fits(line: str, layout: _Layout) -> bool:
    """Whether a line has all cells and only legal labels; in CSV, at least one."""
    if layout.delimiter not in line or not _like_a_row(line, layout.delimiter):
        return False
    cells, labelled = _trimmed(line, layout), layout.delimiter != "," or bool(layout.labels)
    return labelled and len(cells) == len(layout.keys) and layout.legal(cells)


def _read(layout: _Layout, lines: Sequence[str], wanted: _Keys) -> tuple[list[Row], list[str], int]:
    """The rows, the lines that are lost, and how many cells were dropped."""
    rows, lost, dropped, actor, heading = [], [], 0, "", []
    for line in lines:
        if _RULE.fullmatch(line):
            continue
        seen = _like_a_row(line, layout.delimiter)
        values, surplus = _values(line, layout) if seen and layout.complete else ({}, 0)
        own = _bare(values.get("actor", ""))
        if own or not values:
            # What stands between two rows may name another actor.
            actor = own
            lost += heading
        heading = []
        if _heads(values):
            heading = [line.strip()]
        elif row := _row({**values, "actor": actor}, wanted):
            rows.append(row)
            dropped += surplus
        elif seen:
            lost.append(line.strip())
    return rows, lost + heading, dropped


def _values(line: str, layout: _Layout) -> tuple[dict[str, str], int]:
    """The cells of a line by what they hold, none if unclear; and how many were left out."""
    cells, width = _trimmed(line, layout), len(layout.keys)
    surplus = len(cells) - width
    if surplus > 0:
        values, surplus = _of_too_many(cells, surplus, line, layout)
    elif surplus and not (DIMENSIONS.keys() & layout.keys[: len(cells)] and layout.legal(cells)):
        return {}, 0
    else:
        values, surplus = dict(zip(layout.keys, cells, strict=False)), 0
    values = {key: cell for key, cell in values.items() if key}
    # A line that may be prose, or lack its actor by mistake, needs a legal label.
    if values and not _heads(values) and (layout.delimiter == "," or not _bare(values["actor"])):
        labels = [normal_label(key, values.get(key, "")) for key in layout.labels]
        return (values, surplus) if any(labels) or not labels else ({}, 0)
    return values, surplus


def _of_too_many(cells: list[str], surplus: int, line: str, layout: _Layout) -> tuple[dict, int]:
    """As `_values`, of a line with `surplus` cells too many."""
    keys, start, delimiter = layout.keys, layout.keys.index("belief"), layout.delimiter
    by_heading = bool(DIMENSIONS.keys() & keys[start:]) and layout.legal(cells)
    # A belief that holds commas or tabs has its quotation marks for its own.
    plain = cells if delimiter == "|" else line.strip(" ").split(delimiter)
    plain = plain if plain[:start] == cells[:start] else cells
    end = start + 1 + len(plain) - len(keys)
    joined = [*plain[:start], delimiter.join(plain[start:end]), *plain[end:]]
    # Texts have commas, but hardly ever pipes and tabs.
    in_belief = None not in keys and layout.legal(joined)
    if in_belief and (delimiter == "," or not by_heading):
        return dict(zip(keys, joined, strict=True)), 0
    if by_heading and surplus < len(keys):
        return dict(zip(keys, cells, strict=False)), surplus
    return {}, 0


def _heads(values: Mapping[str, str]) -> bool:
    """Whether a row has nothing but an actor."""
    return [key for key, cell in values.items() if cell.strip()] == ["actor"]


def _trimmed(line: str, layout: _Layout) -> list[str]:
    """Cells without the empty ones outside outer pipes. An empty actor is no such cell."""
    cells, width = _cells(line, layout.delimiter), len(layout.keys)
    if layout.delimiter != "|":
        return cells
    if not cells[-1].strip() and (layout.closed or len(cells) > width):
        cells = cells[:-1]
    if cells and not cells[0].strip() and (layout.opened or len(cells) > width):
        cells = cells[1:]
    while len(cells) > width and not cells[-1].strip():
        cells = cells[:-1]
    return cells


def _row(values: Mapping[str, str], wanted: _Keys) -> Row | None:
    actor, belief = _bare(values.get("actor", "")), _bare(values.get("belief", ""))
    actor = re.sub(r"^([-+*•]|\d+[.)])\s+", "", actor)
    if not re.search(r"[^\W\d_]", actor) or not re.search(r"\w", belief):
        return None
    actor = WORLD if actor.casefold() == WORLD else actor
    found = [key for key in DIMENSIONS if key in (wanted or values)]
    labels = {key: normal_label(key, values.get(key, "")) or "" for key in found}
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
    rows, lost, found, start = [], [], False, text.find("{")
    while start >= 0:
        end = start + 1
        under_key = bool(_UNDER_KEY.search(text, max(0, start - 40), start))
        decoded = _decoded(text, start)
        if decoded is None:
            lost += _broken(text, start, under_key)
        else:
            value, after = decoded
            found = True
            if not _holds_rows(value):
                end = after
                if row := _row(_flat(value), wanted):
                    rows.append(row)
                elif value and (not under_key or _named(value)):
                    lost.append(text[start:end])
        start = text.find("{", end)
    if rows:
        return Parsed(rows, lost, "", "JSON")
    return Parsed([], lost, "no usable row" if found or lost else "no table")


def _decoded(text: str, start: int) -> tuple[dict, int] | None:
    """The object that starts at a brace and where it ends; None if it is no JSON, nor a row in the
    like of JSON that models write: a comma behind the last value, single quotes or bare keys.
    """
    with suppress(ValueError, RecursionError):
        return _DECODER.raw_decode(text, start)
    end = _end_of_object(text, start)
    if end is None:
        return None
    with suppress(yaml.YAMLError, ValueError, RecursionError):
        # YAML's flow mappings allow all that. Its basic loader takes every value as text.
        row = text[start:end].replace("\\'", "''")
        value = yaml.load(row, Loader=yaml.CBaseLoader)
        names = [key for key in value if isinstance(key, str)]
        if len(names) == len(value) and len(_named(names)) == 2:
            return value, end
    return None


_LONGEST_ROW = 4000  # characters
_DEEPEST_ROW = 2  # its labels may be an object of their own
_BRACES = re.compile(r""""(?:[^"\\]|\\.)*"|(?<=[:{,\[\s])'(?:[^'\\]|\\.|(?<=\w)'(?=\w))*'|[{}]""")


def _end_of_object(text: str, start: int) -> int | None:
    """Where the brace that opens at `start` closes, braces within quotes aside."""
    depth = 0
    for token in _BRACES.finditer(text, start, start + _LONGEST_ROW):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
        if depth == 0:
            return token.end()
        if depth > _DEEPEST_ROW:
            return None
    return None


def _named(names: Iterable[str]) -> set[str]:
    return {"actor", "belief"}.intersection(map(column, names))


def _holds_rows(value: dict) -> bool:
    """Whether an object is no row itself, but has objects in it that may be."""
    inner = {k: v for k, v in value.items() if isinstance(v, dict | list) and not _LABELS(k)}
    own = _named(value.keys() - inner.keys())
    within = chain.from_iterable(v for v in inner.values() if isinstance(v, list))
    grouped = any(isinstance(one, dict) for one in within)
    return bool(inner) and (not own or (grouped and len(own) == 1))


def _flat(value: dict) -> dict[str, str]:
    labels = [v.items() for k, v in value.items() if _LABELS(k) and isinstance(v, dict)]
    cells = [(column(key), cell) for key, cell in chain(value.items(), *labels)]
    # true and false are integers, too.
    return {key: str(cell) for key, cell in cells if key and isinstance(cell, str | int)}


def _broken(text: str, start: int, under_key: bool) -> list[str]:
    """The text of an object that cannot be decoded, if it looks like a row: up to the next one."""
    following = text.find("{", start + 1)
    piece = text[start : following if following >= 0 else None].strip()
    if _LIST_OF_ROWS.search(piece) or not re.match(r"""\{\s*(["']|\Z)""", piece):
        return []
    names = _KEY.findall(piece)
    # What stands under a key may be the labels of an object, which is lost as a whole.
    like_a_row = _named(names) if under_key else following < 0 or any(map(column, names))
    return [piece] if like_a_row else []
