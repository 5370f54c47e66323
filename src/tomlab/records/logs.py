"""Answers in the files of other harnesses, read as they stand there: see docs/logs.md."""

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
LONGEST_ANSWER = 1_000_000  # characters: what is longer costs its row
_HEADERS = ("header.json", "_journal/start.json")  # the second of a run of Inspect that was stopped
_ZSTD = 93  # how Inspect packs its parts, which Python's zipfile can't unpack yet
# What reading raises where a file is cut off or spoilt.
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
_FIRST_LINES = 100  # of which one has to tell what wrote a log
Place = tuple[str | int, ...]  # where something stands in a row, see `logs.yaml`


class LeftOut(NamedTuple):
    """A row of a log that has no answer which can be read."""

    place: str
    reason: str


class Row(NamedTuple):
    """What stands in one place of a log: a line, a row, a sample."""

    place: str
    content: Any


def _answers(value: Any) -> list[str]:
    """One answer or several; log-likelihoods are none."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value
    if isinstance(value, list) and all(isinstance(part, list) for part in value):
        return []
    raise ValueError("expected a text, or a list of texts")


def _chat(value: Any) -> list[dict[str, str]]:
    """What a model was sent: a prompt, or messages up to the user's last one, perhaps as JSON."""
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
    """Options, perhaps as a JSON list."""
    return files.parsed(value) if isinstance(value, str) else value


class Entry(BaseModel, coerce_numbers_to_str=True):
    """One answer of a log, or several repeats of it; what the log does not say is empty."""

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
    """A log that is about to be read."""

    harness: str  # what wrote it, of `KINDS`
    entries: Iterator[Entry | LeftOut]
    rows: int  # at most so many entries


class _Rows(NamedTuple):
    """A log. shared: the fields of an `Entry` that all rows have; n_rows: at most so many."""

    harness: str
    shared: dict
    rows: Iterator[Row | LeftOut]
    n_rows: int


def read(path: Path) -> Log:
    """A log of a harness. Errors: `InputError` for what is none, also while entries are read."""
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
    """What each row says; a row that says again what another one said is skipped.

    Harnesses write a line for each metric, or for each filter of one and the same answer. A line of
    a filter that took something out of the answer counts only where no other line has the answer.
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
    """The answers that were read, by the fields `once` of a kind of log."""

    def __init__(self, once: dict[str, list[str]]):
        self.answer = _places(once.get("answer", []))
        self.line = _places(once.get("line", []))
        self.filter = _places(once.get("filter", []))
        self.line_of: dict[int, int] = {}  # the first line by answer

    def is_filtered(self, content: dict) -> bool:
        return _first(content, self.filter) not in (None, "", "none")

    def has_answer_of(self, content: dict) -> bool:
        """Whether an earlier row has the same answer; a row that says something new is noted."""
        if not self.answer:
            return False
        answer = hash(json.dumps([_at(content, place) for place in self.answer]))
        line = hash(json.dumps([_at(content, place) for place in self.line]))
        if answer not in self.line_of:
            self.line_of[answer] = line
            return False
        # The same line twice is a second answer, and not for this function to judge.
        return not self.line or self.line_of[answer] != line


def _entry(row: Row, shared: dict, fields: dict[str, list[Place]]) -> Entry | LeftOut:
    """What a row says, or why it says nothing that can be read."""
    values = {**shared, "place": row.place}
    for name, places in fields.items():
        value = _first(row.content, places)
        if value is not None:
            values[name] = value
    if not isinstance(values.get("how"), dict):  # of log-likelihoods, the option that was weighed
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
    """What a message says and why it ended, by the same functions as in a run of ours."""
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
    moderated = values.pop("moderated", None)  # a vendor's word where it took the answer away
    if has_error(moderated) and values.get("finish_reason") != "refusal":
        values.setdefault("error", moderated)
    if has_error(values.get("error")):
        values["error"] = str(values["error"])
        values.pop("verdict", None)
    else:
        values.pop("error", None)


def _places(texts: list[str]) -> list[Place]:
    """Places such as "output.choices.0.stop_reason" in their parts."""
    places = []
    for text in texts:
        parts = text.split(".")
        places.append(tuple(int(part) if part.lstrip("-").isdigit() else part for part in parts))
    return places


def _at(content: Any, place: Place) -> Any:
    """What stands at a place; None for nothing."""
    for part in place:
        if isinstance(content, dict):
            content = content.get(part)
        elif isinstance(content, list) and isinstance(part, int):
            content = content[part] if -len(content) <= part < len(content) else None
        else:
            return None
    return content


def _first(content: Any, places: list[Place]) -> Any:
    """What stands at the first place that has something."""
    for place in places:
        value = _at(content, place)
        if value is not None:
            return value
    return None


def _lines(path: Path) -> _Rows:
    """JSON Lines; the fields of the first lines tell the kind. The first versions of
    lm-evaluation-harness wrote one list over many lines under the same name.
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
    """What wrote these lines, by their fields."""
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
    """A log of Inspect: an archive of parts, or one JSON file."""
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
    """What an archive says of all its samples, and their names in it."""
    with ZipFile(path) as archive:
        names = dict.fromkeys(archive.namelist())
        samples = [name for name in names if name.startswith("samples/")]
        for header in _HEADERS:
            if header in names:
                return files.parsed(_unpacked(archive, header), nan=True), samples
    return None, samples


def _samples(path: Path, names: list[str]) -> Iterator[Row | LeftOut]:
    """The samples of an archive, unpacked in memory one by one."""
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
    file = cast("IO[bytes]", archive.fp)  # there is none after closing alone
    file.seek(part.header_offset + 26)  # where the lengths of two fields stand
    file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
    packed = pyarrow.BufferReader(file.read(part.compress_size))
    return pyarrow.CompressedInputStream(packed, "zstd").read().decode()


def _csv(path: Path) -> _Rows:
    """A CSV with columns of `KINDS`; an empty answer is one."""
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
