"""Reads answers from the log files of other harnesses, without scoring them: see docs/logs.md."""

import json
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple, cast
from zipfile import BadZipFile, ZipFile

import pyarrow
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator

from tomlab.errors import InputError
from tomlab.models.content import (
    LARGEST_COUNT,
    has_error,
    logged_finish_of,
    repeat_of,
    text_of,
)
from tomlab.params import complaint
from tomlab.records import files

KINDS = files.yaml_beside(__file__)
LONGEST_ANSWER = 1_000_000  # characters; a row with a longer answer is left out
_HEADERS = ("header.json", "_journal/start.json")  # the second: of a stopped run of Inspect
_ZSTD = 93  # Inspect's compression, which Python's zipfile cannot unpack yet
# The errors that reading raises if a file is cut off or damaged.
_CUT = (
    BadZipFile,
    EOFError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
_FIRST_LINES = 100  # one of them must show which harness wrote the log
Place = tuple[str | int, ...]  # the path to a value in a row, see `logs.yaml`


class LeftOut(NamedTuple):
    """A row of a log without a usable answer, and the reason."""

    place: str
    reason: str


class Row(NamedTuple):
    """The content of one place in a log: a line, a row or a sample."""

    place: str
    content: Any


def _answers(value: Any) -> list[str]:
    """The answer or answers as a list; empty for log-likelihoods. Errors: `ValueError`."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value
    if isinstance(value, list) and all(isinstance(part, list) for part in value):
        return []
    raise ValueError("expected a text, or a list of texts")


def _chat(value: Any) -> list[dict[str, str]]:
    """The messages that a model was sent, up to the user's last one.

    value: a prompt, or messages, perhaps as JSON. Errors: `ValueError` for anything else.
    """
    if isinstance(value, str):
        if not value.startswith("[{"):
            return [{"role": "user", "content": value}]
        value = files.parsed(value)
    if not isinstance(value, list) or not all(isinstance(message, dict) for message in value):
        raise ValueError("expected a text, or messages")
    last = 0
    for number, message in enumerate(value, start=1):
        if message.get("role") == "user":
            last = number
    chat = []
    for message in value[:last]:
        content = text_of(message.get("content"))
        chat.append({"role": str(message.get("role")), "content": content or ""})
    return chat


def _options(value: Any) -> Any:
    """The options; a text is parsed as a JSON list."""
    return files.parsed(value) if isinstance(value, str) else value


class Entry(BaseModel, coerce_numbers_to_str=True):
    """One answer of a log, or its repeats; fields that the log lacks keep their defaults."""

    place: str
    item_id: str = ""
    story: str = ""
    question: str = ""
    prompt: Annotated[list[dict[str, str]], BeforeValidator(_chat)] = Field(default_factory=list)
    options: Annotated[list[str], BeforeValidator(_options)] = Field(default_factory=list)
    model: str = ""
    method: str = ""
    sample: int = Field(0, ge=0, le=LARGEST_COUNT)
    answer: Annotated[list[str], BeforeValidator(_answers)] = Field(default_factory=list)
    verdict: bool | None = None
    finish_reason: str | None = None
    prompt_tokens: int = Field(0, ge=0, le=LARGEST_COUNT)
    completion_tokens: int = Field(0, ge=0, le=LARGEST_COUNT)
    error: str | None = None
    how: dict[str, Any] = Field(default_factory=dict)

    @field_validator("answer")
    @classmethod
    def _bounded(cls, answer: list[str]) -> list[str]:
        longest = max(map(len, answer), default=0)
        if longest > LONGEST_ANSWER:
            limit = f"expected at most {LONGEST_ANSWER:,}"
            raise ValueError(f"found {longest:,} characters, {limit}")
        return answer


class Log(NamedTuple):
    """A log whose entries are read as they are iterated over."""

    harness: str  # what wrote it, a key of `KINDS`
    entries: Iterator[Entry | LeftOut]
    rows: int  # the most entries that there can be


class _Rows(NamedTuple):
    """A log's raw rows. shared: fields of `Entry` common to all rows; n_rows: the most rows."""

    harness: str
    shared: dict
    rows: Iterator[Row | LeftOut]
    n_rows: int


def read(path: Path) -> Log:
    """Opens a log. Errors: `InputError` if the file is none, even later, as entries are read."""
    readers = {".eval": _inspect, ".json": _inspect, ".jsonl": _lines, ".csv": _csv}
    if path.suffix not in readers:
        expected = f"a file that ends in {', '.join(readers)}"
        raise InputError(f"{path}: no such log, expected {expected}")
    files.regular(path)
    try:
        log = readers[path.suffix](path)
    except _CUT as error:
        raise _no_log(path, error) from None
    return Log(log.harness, _entries(path, log), log.n_rows)


def _no_log(path: Path, error: Exception) -> InputError:
    if isinstance(error, InputError):
        return error
    return InputError(f"{path}: is cut off, or no log that we know ({error})")


def _entries(path: Path, log: _Rows) -> Iterator[Entry | LeftOut]:
    """Yields the entry of each row, but skips rows that repeat the answer of another row.

    Harnesses may write one answer several times, for each metric or each filter. The row of a
    filter, which extracts part of the answer, counts only if no other row has the answer.
    """
    fields = {name: _places(texts) for name, texts in KINDS[log.harness]["fields"].items()}
    repeats = _Repeats(KINDS[log.harness].get("once", {}))
    filtered = []
    try:
        for row in log.rows:
            if isinstance(row, LeftOut):
                yield row
            elif not isinstance(row.content, dict):
                found = files.shown(row.content)
                yield LeftOut(row.place, f"found {found}, expected an object")
            elif repeats.is_filtered(row.content):
                filtered.append(row)
            elif not repeats.has_answer_of(row.content):
                yield _entry(row, log.shared, fields)
        for row in filtered:
            if not repeats.has_answer_of(row.content):
                yield _entry(row, log.shared, fields)
    except _CUT as error:
        raise _no_log(path, error) from None


class _Repeats:
    """Remembers the answers read so far. once: the entry `once` of a kind of log in `logs.yaml`."""

    def __init__(self, once: dict[str, list[str]]):
        self.answer = _places(once.get("answer", []))
        self.line = _places(once.get("line", []))
        self.filter = _places(once.get("filter", []))
        self.line_of: dict[int, int] = {}  # hash of an answer: hash of its first line

    def is_filtered(self, content: dict) -> bool:
        return _first(content, self.filter) not in (None, "", "none")

    def has_answer_of(self, content: dict) -> bool:
        """Whether an earlier row has the same answer; if not, this row's answer is remembered."""
        if not self.answer:
            return False
        answer = hash(json.dumps([_at(content, place) for place in self.answer]))
        line = hash(json.dumps([_at(content, place) for place in self.line]))
        if answer not in self.line_of:
            self.line_of[answer] = line
            return False
        # The same line twice is a second answer, which is not skipped here.
        return not self.line or self.line_of[answer] != line


def _entry(row: Row, shared: dict, fields: dict[str, list[Place]]) -> Entry | LeftOut:
    """The entry of a row, or why the row is left out. fields: the places of each `Entry` field."""
    values = {**shared, "place": row.place}
    for name, places in fields.items():
        value = _first(row.content, places)
        if value is not None:
            values[name] = value
    if not isinstance(values.get("how"), dict):  # for log-likelihoods it is the weighed option
        values.pop("how", None)
    try:
        _read_content(values)
        values["sample"] = repeat_of(row.content) or 0
        entry = Entry(**values)
    except ValidationError as error:
        reasons = [complaint(case, files.shown) for case in error.errors()]
        return LeftOut(row.place, "; ".join(reasons))
    except (ValueError, RecursionError) as error:
        return LeftOut(row.place, str(error))
    if not entry.answer and entry.verdict is None and entry.error is None:
        places = fields.get("answer", []) + fields.get("content", [])
        names = [".".join(map(str, place)) for place in places]
        return LeftOut(row.place, f"found no answer, expected one in {' or '.join(names)}")
    return entry


def _read_content(values: dict) -> None:
    """Sets answer, finish_reason and error in `values` by the functions that our own runs use.

    Errors: `ValueError` for content that is no message.
    """
    content = values.pop("content", None)
    if content is not None and "answer" not in values:
        try:
            values["answer"] = text_of(content)
        except ValueError as error:
            raise ValueError(f"field answer: {error}") from None
    if "finish_reason" in values:
        values["finish_reason"] = logged_finish_of(values["finish_reason"])
    refusal = values.pop("refusal", None)
    if isinstance(refusal, str) and refusal:
        values["finish_reason"] = "refusal"
        values["answer"] = values.get("answer") or refusal
    moderated = values.pop("moderated", None)  # the vendor's message if it withheld the answer
    if has_error(moderated) and values.get("finish_reason") != "refusal":
        values.setdefault("error", moderated)
    if has_error(values.get("error")):
        values["error"] = str(values["error"])
        values.pop("verdict", None)
    else:
        values.pop("error", None)


def _places(texts: list[str]) -> list[Place]:
    """Splits texts such as "output.choices.0.stop_reason" into places; numbers become ints."""
    places = []
    for text in texts:
        parts = text.split(".")
        places.append(tuple(int(part) if part.lstrip("-").isdigit() else part for part in parts))
    return places


def _at(content: Any, place: Place) -> Any:
    """The value at a place of `content`; None if there is none."""
    for part in place:
        if isinstance(content, dict):
            content = content.get(part)
        elif isinstance(content, list) and isinstance(part, int):
            content = content[part] if -len(content) <= part < len(content) else None
        else:
            return None
    return content


def _first(content: Any, places: list[Place]) -> Any:
    """The value at the first of `places` that has one, else None."""
    for place in places:
        value = _at(content, place)
        if value is not None:
            return value
    return None


def _lines(path: Path) -> _Rows:
    """Opens JSON Lines; the fields of the first lines tell the harness. Early versions of
    lm-evaluation-harness wrote a single JSON list to a file of that name.
    """
    text = files.read_text(path)
    if re.match(r"\s*\[\s*\{", text):
        rows = [Row(f"sample {n}", row) for n, row in enumerate(files.parsed(text, nan=True), 1)]
        return _Rows(_kind(path, rows), {}, iter(rows), len(rows))
    kind = _kind(path, list(islice(_json_rows(text), _FIRST_LINES)))
    return _Rows(kind, {}, _json_rows(text), text.count("\n") + 1)


def _json_rows(text: str) -> Iterator[Row | LeftOut]:
    for number, line in enumerate(files.lines(text), start=1):
        if line.strip():
            try:
                yield Row(f"line {number}", files.parsed(line, nan=True))
            except (ValueError, RecursionError) as error:
                yield LeftOut(f"line {number}", f"not JSON ({error})")


def _kind(path: Path, rows: Sequence[Row | LeftOut]) -> str:
    """The harness that wrote these rows, told by their fields. Errors: `InputError` if none did."""
    fields_of = {name: kind["known_by"] for name, kind in KINDS.items() if "known_by" in kind}
    for row in rows:
        if isinstance(row, Row) and isinstance(row.content, dict):
            for name, known_by in fields_of.items():
                if row.content.keys() >= set(known_by):
                    return name
    if not rows:
        raise InputError(f"{path}: found no answer in it")
    place, content = rows[0]
    if isinstance(rows[0], LeftOut):
        raise InputError(f"{path}: {place}: {content}")
    fields = sorted(content) if isinstance(content, dict) else files.shown(content)
    kinds = [f"{', '.join(sorted(names))} ({kind})" for kind, names in fields_of.items()]
    raise InputError(
        f"{path}: {place}: found fields {fields}, expected those of {'; '.join(kinds)}"
    )


def _inspect(path: Path) -> _Rows:
    """Opens a log of Inspect: an `.eval` archive with a file for each sample, or one JSON file."""
    rows: Iterator[Row | LeftOut]
    if path.suffix == ".eval":
        header, names = _header(path)
        rows = _samples(path, names)
        count = len(names)
    else:
        header = files.parsed(files.read_text(path), nan=True)
        samples = _at(header, ("samples",)) or []
        rows = (Row(f"samples/{n}", sample) for n, sample in enumerate(samples, start=1))
        count = len(samples)
    model = _at(header, ("eval", "model"))
    if not model or not count:
        raise InputError(f"{path}: found no eval.model and samples, expected a log of Inspect")
    shared = {
        "model": model,
        "method": _at(header, ("eval", "task_args", "method")) or "",
        "how": _at(header, ("plan", "config")) or {},
    }
    return _Rows("Inspect", shared, rows, count)


def _header(path: Path) -> tuple[Any, list[str]]:
    """The header of an archive (None if it has none), and the names of its samples."""
    with ZipFile(path) as archive:
        names = dict.fromkeys(archive.namelist())
        samples = [name for name in names if name.startswith("samples/")]
        for header in _HEADERS:
            if header in names:
                return files.parsed(_unpacked(archive, header), nan=True), samples
    return None, samples


def _samples(path: Path, names: list[str]) -> Iterator[Row | LeftOut]:
    """Yields the samples of an archive, unpacked in memory one at a time."""
    with ZipFile(path) as archive:
        for name in names:
            try:
                yield Row(name, files.parsed(_unpacked(archive, name), nan=True))
            except _CUT as error:
                yield LeftOut(name, f"cannot be unpacked, or is no JSON ({error})")


def _unpacked(archive: ZipFile, name: str) -> str:
    """The text of a part of an archive."""
    part = archive.getinfo(name)
    if part.compress_type != _ZSTD:
        return archive.read(part).decode()
    file = cast("IO[bytes]", archive.fp)  # it is None only after closing
    file.seek(part.header_offset + 26)  # the lengths of the two fields before the data
    file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
    packed = pyarrow.BufferReader(file.read(part.compress_size))
    return pyarrow.CompressedInputStream(packed, "zstd").read().decode()


def _csv(path: Path) -> _Rows:
    """Opens a CSV with the columns in `KINDS`; an empty answer counts as an answer."""
    lines = files.csv_lines(path)
    _, header = next(lines, (1, []))
    files.demand_columns(path, header, [])
    if not {"answer", "verdict"} & {*header}:
        found = files.shown(", ".join(header))
        raise InputError(f"{path}: row 1: found the columns {found}, expected answer or verdict")
    return _Rows("CSV", {}, _csv_rows(header, lines), files.read_text(path).count("\n"))


def _csv_rows(header: list[str], lines: Iterator[tuple[int, list[str]]]) -> Iterator[Row | LeftOut]:
    for number, cells in lines:
        place = f"row {number}"
        faults = files.spoilt(header, cells)
        if len(cells) != len(header):
            yield LeftOut(place, f"found {len(cells)} fields, expected {len(header)}")
        elif faults:
            yield LeftOut(place, "; ".join(faults))
        else:
            row = dict(zip(header, cells, strict=True))
            yield Row(place, {name: row[name] for name in header if row[name] or name == "answer"})
