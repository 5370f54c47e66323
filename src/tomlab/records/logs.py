"""Answers in the files of other harnesses, read as they stand there: see docs/logs.md."""

import struct
from pathlib import Path
from typing import Annotated, Any
from zipfile import BadZipFile, ZipFile

import pandera.pandas as pa
import pyarrow
from pydantic import BaseModel, BeforeValidator, Field, Json, ValidationError

from tomlab.errors import InputError, refuse
from tomlab.params import complaint
from tomlab.records import files

KINDS = files.yaml_beside(__file__)
MOST_BYTES = 500_000_000  # of a log, unpacked: what has more is no log of a benchmark
_ZSTD = 93  # how Inspect packs its parts, which Python's zipfile can't unpack yet
_STOPS = KINDS.pop("stops")
_CUT = (BadZipFile, struct.error, OSError, EOFError, TypeError, ValueError, RecursionError)
Records = tuple[str, dict, dict]  # their kind, records by their places, and what all share


def _answers(value: Any) -> Any:
    """One answer or several; one of a model that reasons is in parts, log-likelihoods are none."""
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        value = "\n".join(str(p.get("text", "")) for p in value if p.get("type") == "text")
    is_list = isinstance(value, list) and all(isinstance(part, list) for part in value)
    return [value] if isinstance(value, str) else [] if is_list else value


def _chat(value: Any) -> Any:
    """What a model was sent: a prompt, or messages up to the user's last one, perhaps as JSON."""
    if isinstance(value, str) and not value.startswith("[{"):
        return [{"role": "user", "content": value}]
    chat = files.parsed(value) if isinstance(value, str) else value
    if not isinstance(chat, list) or not all(isinstance(message, dict) for message in chat):
        raise ValueError("expected a text, or messages")
    asked = [n for n, message in enumerate(chat, start=1) if message.get("role") == "user"]
    told = [(m.get("role"), m.get("content")) for m in chat[: max(asked, default=0)]]
    told = [(role, _answers(said) if isinstance(said, str | list) else []) for role, said in told]
    return [{"role": str(role), "content": "\n".join(map(str, texts))} for role, texts in told]


class Entry(BaseModel, coerce_numbers_to_str=True):
    """One answer of a log, or several repeats of it; what the log does not say is empty."""

    place: str
    item_id: str = ""
    story: str = ""
    question: str = ""
    prompt: Annotated[list[dict[str, str]], BeforeValidator(_chat)] = []
    options: Json[list[str]] | list[str] = []
    model: str = ""
    method: str = ""
    sample: int = Field(0, ge=0)
    epoch: int = Field(1, ge=1)  # in Inspect, where the first sample is 1
    answer: Annotated[list[str], BeforeValidator(_answers)] = []
    verdict: bool | None = None
    finish_reason: Annotated[str, BeforeValidator(lambda v: _STOPS.get(str(v), "other"))] = None
    prompt_tokens: int = Field(0, ge=0)
    completion_tokens: int = Field(0, ge=0)
    error: str | None = None
    how: dict[str, Any] = {}


def read(path: Path) -> tuple[str, list[Entry]]:
    """What wrote a file, of `KINDS`, and the answers in it. Errors: `InputError` by line."""
    readers = {".eval": _inspect, ".json": _inspect, ".jsonl": _lines, ".csv": _csv}
    if path.suffix not in readers or not path.exists() or path.stat().st_size > MOST_BYTES:
        expected = f"one of at most {MOST_BYTES:,} bytes that ends in {', '.join(readers)}"
        raise InputError(f"{path}: no such log, expected {expected}")
    try:
        kind, rows, known = readers[path.suffix](path)
    except _CUT as error:
        cut = InputError(f"{path}: is cut off, or no log that we know ({error})")
        raise (error if isinstance(error, InputError) else cut) from None
    keys, other = KINDS[kind].get("once", ((), "place"))
    fields, first, found, problems = KINDS[kind]["fields"], {}, [], []
    for place, row in rows.items():
        key = tuple(str(_at(row, name)) for name in keys) or place
        if first.setdefault(key, _at(row, other)) != _at(row, other):
            continue
        told = known | {"place": place}
        for name, at in ((name, at) for name, places in fields.items() for at in reversed(places)):
            told |= {name: value} if (value := _at(row, at)) is not None else {}
        try:
            found.append(Entry(**told))
            if not found[-1].answer and (found[-1].verdict, found[-1].error) == (None, None):
                problems.append(f"{place}: found no answer, expected {fields['answer']}")
        except ValidationError as error:
            problems += [f"{place}, {complaint(case, files.shown)}" for case in error.errors()]
    refuse(problems if rows else ["found no answer in it"], str(path))
    return kind, found


def _at(row: Any, place: str) -> Any:
    """What stands at a place such as "output.choices.0.stop_reason"; None for nothing."""
    for part in place.split("."):
        row = dict(enumerate(row)) if isinstance(row, list) else row
        row = row.get(int(part) if part.isdigit() else part) if isinstance(row, dict) else None
    return row


def _lines(path: Path) -> Records:
    """JSON Lines, of which the first one's fields tell the kind."""
    rows, problems = files.json_lines(files.read_text(path), nan=True)
    refuse(problems, str(path))
    there = {*rows[0][1]} if rows and isinstance(rows[0][1], dict) else set()
    known = {kind: told["known_by"] for kind, told in KINDS.items() if "known_by" in told}
    if kinds := [kind for kind, names in known.items() if there.issuperset(names)]:
        return kinds[0], {f"line {number}": row for number, row in rows}, {}
    raise InputError(f"{path}: line 1: found fields {sorted(there)}, expected those of {known}")


def _inspect(path: Path) -> Records:
    """A log of Inspect: an archive of parts, or one JSON file."""
    if path.suffix == ".eval":
        rows = _archive(path)
        header = rows.pop("header.json", None)
    else:
        header = files.parsed(files.read_text(path), nan=True)
        rows = {f"samples/{n}": row for n, row in enumerate(_at(header, "samples") or [], start=1)}
    if not (model := _at(header, "eval.model")) or not rows:
        raise InputError(f"{path}: found no eval.model and samples, expected a log of Inspect")
    known = {"model": model, "how": _at(header, "plan.config") or {}}
    return "Inspect", rows, known | {"method": _at(header, "eval.task_args.method") or ""}


def _archive(path: Path) -> dict[str, Any]:
    """The header and the samples by their names, unpacked in memory."""
    found, left = {}, MOST_BYTES
    with ZipFile(path) as archive:
        names = [n for n in archive.namelist() if n == "header.json" or n.startswith("samples/")]
        for info in map(archive.getinfo, names):
            if info.compress_type == _ZSTD:
                archive.fp.seek(info.header_offset + 26)  # where the lengths of two fields stand
                archive.fp.seek(sum(struct.unpack("<HH", archive.fp.read(4))), 1)
                packed = pyarrow.BufferReader(archive.fp.read(info.compress_size))
                content = pyarrow.CompressedInputStream(packed, "zstd").read(left + 1)
            else:
                content = archive.open(info).read(left + 1)
            left -= len(content)
            refuse([f"unpacks to more than {MOST_BYTES:,} bytes"] if left < 0 else [], str(path))
            found[info.filename] = files.parsed(content.decode(), nan=True)
    return found


def _csv(path: Path) -> Records:
    """A CSV with columns of `KINDS`; an empty answer is one."""
    rows = files.read_form(path, pa.DataFrameSchema()).to_dict("index").items()
    told = {n: {name: v for name, v in row.items() if v or name == "answer"} for n, row in rows}
    return "CSV", {f"row {number}": row for number, row in told.items()}, {}
