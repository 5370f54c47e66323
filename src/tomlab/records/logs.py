"""Answers in the files of other harnesses, read as they stand there: see docs/logs.md."""

import json
import re
import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple
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
_CUT = (BadZipFile, struct.error, OSError, EOFError, TypeError, ValueError, RecursionError)
_FIRST_LINES = 100  # of which one has to tell what wrote a log


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
        return _chat_of_text(value)
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


@lru_cache(maxsize=20_000)
def _chat_of_text(text: str) -> list[dict[str, str]]:
    if text.startswith("[{"):
        return _chat(files.parsed(text))
    return [{"role": "user", "content": text}]


@lru_cache(maxsize=20_000)
def _options_of_text(text: str) -> list[str]:
    try:
        return files.parsed(text)
    except RecursionError:
        raise ValueError("expected a JSON list") from None


def _options(value: Any) -> Any:
    return _options_of_text(value) if isinstance(value, str) else value


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


def read(path: Path) -> Log:
    """A log of a harness. Errors: `InputError` for what is none, also while entries are read."""
    readers = {".eval": _inspect, ".json": _inspect, ".jsonl": _lines, ".csv": _csv}
    if path.suffix not in readers:
        expected = f"a file that ends in {', '.join(readers)}"
        raise InputError(f"{path}: no such log, expected {expected}")
    files.regular(path)
    try:
        kind, known, rows, count = readers[path.suffix](path)
    except _CUT as error:
        raise _no_log(path, error) from None
    return Log(kind, _entries(path, kind, known, rows), count)


def _no_log(path: Path, error: Exception) -> InputError:
    if isinstance(error, InputError):
        return error
    return InputError(f"{path}: is cut off, or no log that we know ({error})")


def _entries(
    path: Path, kind: str, known: dict, rows: Iterator[Row | LeftOut]
) -> Iterator[Entry | LeftOut]:
    """What each row says; a row that says again what another one said is skipped."""
    repeated = _Repeated(KINDS[kind])
    fields = {name: [_parts(at) for at in at_all] for name, at_all in KINDS[kind]["fields"].items()}
    try:
        for row in rows:
            if isinstance(row, LeftOut):
                yield row
            elif not isinstance(row.content, dict):
                found = files.shown(row.content)
                yield LeftOut(row.place, f"found {found}, expected an object")
            elif not repeated.holds(row):
                yield _entry(row, known, fields)
        for row in repeated.late():
            yield _entry(row, known, fields)
    except _CUT as error:
        raise _no_log(path, error) from None


class _Repeated:
    """Knows which rows say again what an earlier one said, by the fields `once` of a kind.

    Harnesses write a line for each metric, or for each filter of one and the same answer. A line of
    a filter that took something out of the answer counts only where no other line has the answer.
    """

    def __init__(self, kind: dict):
        once = kind.get("once", {})
        self.answer = [_parts(at) for at in once.get("answer", [])]
        self.line = [_parts(at) for at in once.get("line", [])]
        self.filter = [_parts(at) for at in once.get("filter", [])]
        self.first: dict[int, Any] = {}
        self.filtered: list[Row] = []

    def holds(self, row: Row) -> bool:
        """Whether the row is to be skipped, for now or for good."""
        if not self.answer:
            return False
        if _first(row.content, self.filter) not in (None, "", "none"):
            self.filtered.append(row)
            return True
        return self._is_known(row)

    def late(self) -> Iterator[Row]:
        """The rows by filters, one for each answer that no other row had."""
        for row in self.filtered:
            if not self._is_known(row):
                yield row

    def _is_known(self, row: Row) -> bool:
        answer = hash(json.dumps([_at(row.content, at) for at in self.answer]))
        line = hash(json.dumps([_at(row.content, at) for at in self.line]))
        if answer not in self.first:
            self.first[answer] = line
            return False
        # The same line twice is a second answer, and not for this function to judge.
        return not self.line or self.first[answer] != line


def _entry(row: Row, known: dict, fields: dict[str, list]) -> Entry | LeftOut:
    """What a row says, or why it says nothing that can be read."""
    told = {**known, "place": row.place}
    for name, places in fields.items():
        for parts in places:
            value = _at(row.content, parts) if parts[0] in row.content else None
            if value is not None:
                told[name] = value
                break
    if not isinstance(told.get("how"), dict):  # of log-likelihoods, the option that was weighed
        told.pop("how", None)
    try:
        _read_content(told)
        told["sample"] = repeat_of(row.content) or 0
        entry = Entry(**told)
    except ValidationError as error:
        reasons = [complaint(case, files.shown) for case in error.errors()]
        return LeftOut(row.place, "; ".join(reasons))
    except (ValueError, RecursionError) as error:
        return LeftOut(row.place, str(error))
    if not entry.answer and entry.verdict is None and entry.error is None:
        return LeftOut(row.place, f"found no answer, expected one in {_named(fields)}")
    return entry


def _read_content(told: dict) -> None:
    """What a message says and why it ended, by the same functions as in a run of ours."""
    content = told.pop("content", None)
    if content is not None and "answer" not in told:
        try:
            told["answer"] = text_of(content)
        except ValueError as error:
            raise ValueError(f"field answer: {error}") from None
    if "finish_reason" in told:
        told["finish_reason"] = logged_finish_of(told["finish_reason"])
    refusal = told.pop("refusal", None)
    if isinstance(refusal, str) and refusal:
        told["finish_reason"] = "refusal"
        told["answer"] = told.get("answer") or refusal
    moderated = told.pop("moderated", None)  # a vendor's word where it took the answer away
    if has_error(moderated) and told.get("finish_reason") != "refusal":
        told.setdefault("error", moderated)
    if has_error(told.get("error")):
        told["error"] = str(told["error"])
        told.pop("verdict", None)
    else:
        told.pop("error", None)


def _named(fields: dict[str, list]) -> str:
    places = fields.get("answer", []) + fields.get("content", [])
    return " or ".join(".".join(map(str, parts)) for parts in places)


def _parts(place: str) -> tuple[str | int, ...]:
    """A place such as "output.choices.0.stop_reason" in its parts."""
    return tuple(int(part) if part.lstrip("-").isdigit() else part for part in place.split("."))


def _at(content: Any, parts: tuple[str | int, ...]) -> Any:
    """What stands at a place; None for nothing."""
    for part in parts:
        if isinstance(content, dict):
            content = content.get(part)
        elif isinstance(content, list) and isinstance(part, int) and -len(content) <= part:
            content = content[part] if part < len(content) else None
        else:
            return None
    return content


def _first(content: Any, places: list[tuple[str | int, ...]]) -> Any:
    """What stands at the first place that has something."""
    for parts in places:
        value = _at(content, parts)
        if value is not None:
            return value
    return None


def _lines(path: Path) -> tuple[str, dict, Iterator[Row | LeftOut], int]:
    """JSON Lines; the fields of the first lines tell the kind. The first versions of
    lm-evaluation-harness wrote one list over many lines under the same name.
    """
    text = files.read_text(path)
    if re.match(r"\s*\[\s*\{", text):
        rows = [Row(f"sample {n}", row) for n, row in enumerate(files.parsed(text, nan=True), 1)]
        return _kind(path, rows), {}, iter(rows), len(rows)
    first = []
    for row in _json_rows(text):
        first.append(row)
        if len(first) == _FIRST_LINES:
            break
    return _kind(path, first), {}, _json_rows(text), text.count("\n") + 1


def _json_rows(text: str) -> Iterator[Row | LeftOut]:
    for number, line in enumerate(files.lines(text), start=1):
        if line.strip():
            try:
                yield Row(f"line {number}", files.parsed(line, nan=True))
            except (ValueError, RecursionError) as error:
                yield LeftOut(f"line {number}", f"not JSON ({error})")


def _kind(path: Path, rows: list[Row | LeftOut]) -> str:
    """What wrote these lines, by their fields."""
    known_by = {kind: set(told["known_by"]) for kind, told in KINDS.items() if "known_by" in told}
    for row in rows:
        for kind, names in known_by.items():
            if isinstance(row, Row) and isinstance(row.content, dict) and names <= {*row.content}:
                return kind
    if not rows:
        raise InputError(f"{path}: found no answer in it")
    place, content = rows[0]
    if isinstance(rows[0], LeftOut):
        raise InputError(f"{path}: {place}: {content}")
    found = sorted(content) if isinstance(content, dict) else files.shown(content)
    expected = "; ".join(f"{', '.join(sorted(names))} ({kind})" for kind, names in known_by.items())
    raise InputError(f"{path}: {place}: found fields {found}, expected those of {expected}")


def _inspect(path: Path) -> tuple[str, dict, Iterator[Row | LeftOut], int]:
    """A log of Inspect: an archive of parts, or one JSON file."""
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
    known = {
        "model": model,
        "method": _at(header, ("eval", "task_args", "method")) or "",
        "how": _at(header, ("plan", "config")) or {},
    }
    return "Inspect", known, rows, count


def _header(path: Path) -> tuple[Any, list[str]]:
    """What an archive says of all its samples, and their names in it."""
    with ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("samples/")]
        for header in _HEADERS:
            if header in archive.namelist():
                content = files.parsed(_unpacked(archive, header), nan=True)
                return content, list(dict.fromkeys(names))
    return None, names


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
    archive.fp.seek(part.header_offset + 26)  # where the lengths of two fields stand
    archive.fp.seek(sum(struct.unpack("<HH", archive.fp.read(4))), 1)
    packed = pyarrow.BufferReader(archive.fp.read(part.compress_size))
    return pyarrow.CompressedInputStream(packed, "zstd").read().decode()


def _csv(path: Path) -> tuple[str, dict, Iterator[Row | LeftOut], int]:
    """A CSV with columns of `KINDS`; an empty answer is one."""
    lines = files.csv_lines(path)
    _, header = next(lines, (1, []))
    files.demand_columns(path, header, [])
    fields = KINDS["CSV"]["fields"]
    if not {*fields["answer"], *fields["verdict"]} & {*header}:
        found = files.shown(", ".join(header))
        raise InputError(f"{path}: row 1: found the columns {found}, expected answer or verdict")
    return "CSV", {}, _csv_rows(header, lines), files.read_text(path).count("\n")


def _csv_rows(header: list[str], lines: Iterator[tuple[int, list[str]]]) -> Iterator[Row | LeftOut]:
    answers = KINDS["CSV"]["fields"]["answer"]
    for number, cells in lines:
        place = f"row {number}"
        faults = files.spoilt(header, cells)
        if len(cells) != len(header):
            yield LeftOut(place, f"found {len(cells)} fields, expected {len(header)}")
        elif faults:
            yield LeftOut(place, "; ".join(faults))
        else:
            cells_by_name = zip(header, cells, strict=True)
            yield Row(
                place, {name: cell for name, cell in cells_by_name if cell or name in answers}
            )
