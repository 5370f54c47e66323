"""Files that users hand in, broken in every way a file can be: each must be refused in words."""

import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from faults_binary import parquet
from faults_samples import Case, Sample, samples, table

BIG = 10_000_000  # characters of a gigantic field
DEEP = 100_000  # brackets


def file_faults(folder: Path) -> Iterator[Case]:
    """Every kind of file with every kind of damage; each first as it should be."""
    for number, (name, sample) in enumerate(samples().items()):
        place = folder / str(number)
        yield from _cases(name, sample, place)
    yield from parquet(folder / "parquet")


def right_files(folder: Path) -> Iterator[Case]:
    """Every kind of file as it should be, and with a mark of byte order."""
    for number, (name, sample) in enumerate(samples().items()):
        yield Case(name, _handed_in(sample, folder / str(number), None))
        content = b"\xef\xbb\xbf" + sample.files[sample.path]
        yield Case(f"{name}: BOM", _handed_in(sample, folder / str(number), content))


def _handed_in(sample: Sample, folder: Path, content: bytes | None) -> Callable[[], Any]:
    """Reads the sample with other content in the file that is broken."""

    def read() -> Any:
        for name, own in sample.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(own if content is None or name != sample.path else content)
        return sample.read(folder / sample.given)

    return read


def _cases(name: str, sample: Sample, folder: Path) -> Iterator[Case]:
    content, suffix = sample.files[sample.path], Path(sample.path).suffix
    file = Path(sample.path).name
    kinds = {".csv": _csv, ".json": _json, ".jsonl": _json, ".txt": _prompt}
    own = kinds[suffix](sample, content)
    for what, damaged, *named in [*_bytes(content, suffix), *own]:
        if damaged is not None and damaged != content:
            yield Case(f"{name}: {what}", _handed_in(sample, folder, damaged), (file, *named))
    for what, spoil in _PLACES.items():
        yield Case(f"{name}: {what}", _spoilt(sample, folder / what, spoil), (file,))


# Places


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _unreadable(path: Path) -> None:
    path.write_bytes(b"secret")
    path.chmod(0)


_PLACES: dict[str, Callable[[Path], None]] = {
    "a folder": _folder,
    "a symlink to itself": _loop,
    "unreadable": _unreadable,
    "missing": lambda path: None,
}


def _spoilt(sample: Sample, folder: Path, spoil: Callable[[Path], None]) -> Callable[[], Any]:
    """Reads the sample with something else in the place of the file."""

    def read() -> Any:
        _handed_in(sample, folder, None)()
        path, mine = folder / sample.path, os.geteuid()
        path.unlink()
        spoil(path)
        if spoil is _unreadable and mine == 0:  # whom no file's mode stops
            os.seteuid(65534)
        try:
            return sample.read(folder / sample.given)
        finally:
            os.seteuid(mine)

    return read


# Bytes


def _bytes(content: bytes, suffix: str) -> Iterator[tuple]:
    first = content.partition(b"\n")[0]
    middle = len(content) // 2
    yield "empty", b""
    yield "blank", b" \n\n \n"
    yield "Latin-1", content[:middle] + b"\n\xe4\xf6" + content[middle:]
    yield "cp1252 quotes", content.replace(b" ", b"\x93\x94", 3)
    yield "zeros", bytes(400)
    yield "noise", Random(0).randbytes(3000)
    yield "a NUL in it", content[:middle] + b"\0" + content[middle:]
    yield "a surrogate in UTF-8", content[:middle] + b"\xed\xa0\x80" + content[middle:]
    yield "another file", b"%PDF-1.7\n1 0 obj\n<< >>\nendobj\n"
    yield "gzipped", gzip.compress(content)
    yield "half of its first line", first[: len(first) // 2]
    yield "UTF-16", content.decode().encode("utf-16")
    yield "UTF-16 without BOM", content.decode().encode("utf-16-le")
    yield "UTF-32", content.decode().encode("utf-32")
    if suffix != ".txt":
        # In the first field of its last row.
        last = content.rstrip().rfind(b"\n") + 3
        yield "cut in the middle", content[:last]
        yield "a page of HTML", b"<!DOCTYPE html><html><body>404</body></html>\n"
        yield "JSON null", b"null"
        yield "a conflict of git", b"<<<<<<< HEAD\n" + content + b"=======\n>>>>>>> x\n"
        yield "a pointer of Git LFS", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"


# CSV


def _csv(sample: Sample, content: bytes) -> Iterator[tuple]:
    text = content.decode()
    if not sample.wrong and sample.path == "bigtom.csv":
        yield from _released(text)
        return
    rows = list(csv.DictReader(io.StringIO(text)))
    header, lines = [*rows[0]], text.splitlines()
    yield "a row too short", content + b"x\r\n", f"row {_last(text) + 1}"
    yield "a row too long", content.rstrip() + b",x\r\n", f"row {_last(text)}"
    yield "an unclosed quote", content + b'"x,' + b"y," * len(header) + b"\r\n"
    yield "an unclosed quote in the middle", content.replace(b"\r\n", b'\r\n"', 1)
    yield "another delimiter", text.replace(",", ";").encode()
    yield "tabs", text.replace(",", "\t").encode()
    if sample.wrong and sample.once:
        yield "a doubled row", (text + text[len(lines[0]) + 2 :]).encode()
    if sample.needs_rows:
        yield "its header alone", f"{lines[0]}\r\n".encode()
    yield "no header", text[len(lines[0]) + 2 :].encode()
    for column in header:
        others = [name for name in header if name != column]
        twice = [",".join([*line, line[header.index(column)]]) for line in _parsed(text)]
        yield f"{column} twice", "\r\n".join([*twice, ""]).encode(), column
        if column in sample.spare:
            continue
        yield f"{column} missing", table(*[{n: row[n] for n in others} for row in rows]), column
        yield f"{column} misspelt", text.replace(column, f"{column}x", 1).encode(), column
        yield f"{column} in capitals", text.replace(column, column.upper(), 1).encode(), column
        yield f"{column} gigantic", table(rows[0] | {column: "x" * BIG}, *rows[1:])
        for spoilt in ("#NAME?", "#REF!", "#VALUE!"):
            cells = [*rows[:-1], rows[-1] | {column: spoilt}]
            yield f"{column} = {spoilt}", table(*cells), f"row {_last(text)}", column
        for wrong in sample.wrong.get(column, ()):
            spoilt = [*rows[:-1], rows[-1] | {column: wrong}]
            yield f"{column} = {wrong!r}", table(*spoilt), f"row {_last(text)}", column


def _parsed(text: str) -> list[list[str]]:
    """The cells as they stand in a line, quotes and all."""
    quoted = ['"' + cell.replace('"', '""') + '"' for row in csv.reader(io.StringIO(text)) for cell in row]  # fmt: skip
    width = len(next(csv.reader(io.StringIO(text))))
    found = [quoted[start : start + width] for start in range(0, len(quoted), width)]
    return [[cell.strip('"') for cell in found[0]], *found[1:]]


def _last(text: str) -> int:
    return text.count("\n")


def _released(text: str) -> Iterator[tuple]:
    """The released bigtom.csv has no header: fields and their number tell what is what."""
    *before, last = text.splitlines()
    row = f"row {len(before) + 1}"
    cells = last.split(";")
    yield "a field too few", "\n".join([*before, ";".join(cells[:-1])]).encode(), row
    yield "a field too many", "\n".join([*before, f"{last};x"]).encode(), row
    yield "commas", text.replace(";", ",").encode()
    yield "an unclosed quote", "\n".join([*before, f'"{last}']).encode()
    yield "a sentence less", "\n".join([*before, last.replace(".", "", 1)]).encode(), row, "story"
    yield "a row twice", "\n".join([*before, last, last, ""]).encode(), f"row {len(before) + 2}"
    for place in range(len(cells) - 2):
        spoilt = [*cells[:place], " ", *cells[place + 1 :]]
        yield f"field {place} empty", "\n".join([*before, ";".join(spoilt)]).encode(), row
    spoilt = [cells[0], "x" * BIG, *cells[2:]]
    yield "a gigantic field", "\n".join([*before, ";".join(spoilt)]).encode()


# JSON and YAML


def _places(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """Every place in a value, those of the first entry alone in a list."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()  # fmt: skip
    for key, one in inner:
        yield from _places(one, (*path, key))


_ODD = [None, True, 7, -1, 1.5, float("nan"), float("inf"), "", " ", "odd \0", [], {}, [[]], "7"]


def _fitting(there: Any, odd: Any) -> bool:
    """Whether odd content may stand where something else is."""
    if isinstance(there, str):
        return odd in ("7", "odd \0") if isinstance(odd, str) else False
    if isinstance(there, list):
        return odd == [] and isinstance(odd, list)
    return isinstance(there, int) and odd in (7, -1) and odd is not True


def _at(value: Any, path: tuple) -> Any:
    for key in path:
        value = value[key]
    return value


def _replaced(value: Any, path: tuple, new: Any) -> Any:
    copy = deepcopy(value)
    _at(copy, path[:-1])[path[-1]] = new
    return copy


def _without(value: Any, path: tuple, *, misspelt: bool = False) -> Any:
    copy = deepcopy(value)
    inner = _at(copy, path[:-1])
    gone = inner.pop(path[-1])
    return _replaced(copy, (*path[:-1], f"{path[-1]}x"), gone) if misspelt else copy


def _json(sample: Sample, content: bytes) -> Iterator[tuple]:
    text, whole = content.decode(), sample.path.endswith(".json")
    values = json.loads(text) if whole else [json.loads(line) for line in text.splitlines()]

    def written(*values: Any) -> bytes:
        lines = [json.dumps(value, ensure_ascii=False) for value in values]
        joined = f"[{','.join(lines)}]" if whole else "\n".join(lines) + "\n"
        return joined.encode("utf-8", "surrogatepass")

    where = "record" if whole else ""
    yield "deep lists", b"[" * DEEP
    yield "deep lists, closed", b"[" * DEEP + b"]" * DEEP
    yield "deep objects", b'{"a":' * DEEP
    yield "a deep value", written(*values)[:-2] + b"," + b"[" * DEEP + b"]" * DEEP + b"]"
    yield "an empty list", b"[]"
    yield "an object in place of a list", b"{}"
    yield "text after its end", content + b"x"
    yield "single quotes", text.replace('"', "'").encode()
    yield "a comma too many", text.replace("}", ",}", 1).encode()
    yield "a comment", b"// mine\n" + content
    yield "a value twice", written(*values, values[0])
    yield "lone surrogate", text.replace('": "', '": "\\ud800', 1).encode()
    yield "a key twice", text.replace('{"', '{"story": "x", "story": "y", "', 1).encode()
    yield "a number of 5,000 digits", written(*values, 0)[:-3] + b"9" * 5000 + b"]"
    for odd in _ODD:
        yield f"an entry {odd!r}", written(*values[:-1], odd), where
    last = values[-1]
    for path in [path for path in _places(last) if path]:
        there, name = _at(last, path), ".".join(map(str, path))
        # The name that a message has to hold. It may have two lines, and an entry of `beliefs` is
        # called a belief.
        told = next(str(key) for key in reversed(path) if isinstance(key, str)).split("\n")[-1]
        told = told.removesuffix("s" if told == "beliefs" else "")
        for odd in [odd for odd in _ODD if not _fitting(there, odd) and told not in sample.unread]:
            if not (told in sample.spare and str(odd) == "nan"):
                # Of our own records a number that is not finite is no JSON, which has its line.
                finite = whole or "ABILITY" in text or str(odd) not in ("nan", "inf")
                named = told if finite else "line"
                yield f"{name} = {odd!r}", written(*values[:-1], _replaced(last, path, odd)), named
        if not isinstance(there, str):
            big = written(*values[:-1], _replaced(last, path, "x" * BIG))
            yield f"{name} gigantic", big, told
        if isinstance(path[-1], str) and told not in (*_OPTIONAL, *sample.unread):
            yield f"{name} missing", written(*values[:-1], _without(last, path)), told
            misspelt = _without(last, path, misspelt=True)
            yield f"{name} misspelt", written(*values[:-1], misspelt), told


# Fields that a file may leave out: they are filled in, or their absence means something.
_OPTIONAL = ("source", "paraphrases", "question_type", "missed_info_accessibility")


# Prompts


def _prompt(sample: Sample, content: bytes) -> Iterator[tuple]:
    text = content.decode()
    yield "a placeholder missing", text.replace("{story}", "").encode(), "story"
    yield "a placeholder misspelt", text.replace("{story}", "{stroy}").encode(), "stroy"
    yield "an unknown placeholder", f"{text} {{mood}}".encode(), "mood"
    yield "a placeholder with spaces", text.replace("{story}", "{ story }").encode(), "story"
    yield "a placeholder in capitals", text.replace("{story}", "{STORY}").encode(), "STORY"
