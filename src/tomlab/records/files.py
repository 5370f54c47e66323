"""Reads CSV forms and JSON that people write; error messages name the line and field of a fault."""

import csv
import json
import re
import reprlib
import stat
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa
import yaml
from pydantic import BaseModel, ValidationError

from tomlab.errors import InputError, refuse
from tomlab.models.content import logged_finish_of
from tomlab.params import complaint
from tomlab.paths import writable

# A check of a table yields the row and field of each fault, and what was expected there.
Check = Callable[[pd.DataFrame], Iterator[tuple[int, str, str]]]
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80
_LONGEST = 300
LARGEST = 500_000_000  # most bytes of a file that is read into memory
# The first bytes of files that are not UTF-8 text, and what such files are.
_BEGINNINGS = {
    b"PK\x03\x04": "a zip archive, such as an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\xff\xfe": "a text in UTF-16",
    b"\xfe\xff": "a text in UTF-16",
    b"\x1f\x8b": "a file packed by gzip",
    b"\x28\xb5\x2f\xfd": "a file packed by zstd",
    b"PAR1": "a Parquet table",
    b"%PDF": "a PDF",
}
_COUNTS = ("sample", "prompt_tokens", "completion_tokens")
_DELIMITERS = {";": "a semicolon", "\t": "a tab", "|": "a vertical bar", ",": "a comma"}
# How a cell begins that a spreadsheet takes for a formula, perhaps after apostrophes against that.
_FORMULA = "('*[=+\\-−@#])"
_SPOILT = re.compile(r"#(N/A|NV|[A-ZÀ-Ý0/]+[?!])|Err:5\d\d")  # how spreadsheets show a failure


def yaml_beside(module: str, name: str = "") -> Any:
    """The content of the YAML file `name` beside a module; by default, the module's namesake.

    module: the `__file__` of the module.
    """
    path = Path(module).parent / name if name else Path(module).with_suffix(".yaml")
    return yaml.safe_load(path.read_bytes())


def regular(path: Path | str) -> Path:
    """Returns `path` if it is a file that fits into memory. Errors: `InputError` if it is missing,
    a folder, a pipe, a device, or larger than `LARGEST`.
    """
    path = Path(path)
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read ({reason})") from None
    if stat.S_ISDIR(status.st_mode):
        problem = "found a folder, expected a file"
    elif not stat.S_ISREG(status.st_mode):
        problem = "found a pipe or a device, expected a file"
    elif status.st_size > LARGEST:
        problem = f"found {status.st_size:,} bytes, expected a file of at most {LARGEST:,}"
    else:
        return path
    raise InputError(f"{path}: cannot be read: {problem}")


def read_text(path: Path | str) -> str:
    """A UTF-8 text without a byte order mark, with "\\n" line ends; `InputError` with the line."""
    try:
        content = regular(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    for beginning, kind in _BEGINNINGS.items():
        if content.startswith(beginning):
            raise InputError(f"{path}: cannot be read: found {kind}, expected a text in UTF-8")
    content = content.removeprefix(BOM_UTF8).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        text = content.decode()
        place = content.find(b"\0")  # valid UTF-8, but never part of a text
        problem = "found a NUL, expected text"
    except UnicodeDecodeError as error:
        place = error.start
        problem = f"found the byte 0x{content[place]:02x}, expected UTF-8"
    if place < 0:
        return text
    line = content[:place].count(b"\n") + 1
    raise InputError(f"{path}: cannot be read: line {line}: {problem}")


def lines(text: str) -> Iterator[str]:
    """The lines of a text with their line ends; only "\\n" ends a line."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def csv_lines(path: Path | str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yields the line number and the cells of each CSV row that is not blank; cells are stripped.

    Errors: `InputError` for a file that is no CSV.
    """
    csv.field_size_limit(LARGEST)
    rows = csv.reader(lines(read_text(path)), delimiter=delimiter, strict=True)
    begins = 1
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if begins == 1:
                _demand_delimiter(path, cells, delimiter)
            if cells:
                yield rows.line_num, cells
            begins = rows.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}: row {begins}: cannot be read as CSV ({error})") from None


def csv_rows(path: Path | str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """The rows of `csv_lines`, without the apostrophes that `write_form` adds. Errors: `InputError`
    also names every cell that a spreadsheet has spoilt.
    """
    header: list[str] = []
    problems = []
    for number, cells in csv_lines(path, delimiter):
        header = header or cells
        problems += [f"row {number}, {fault}" for fault in spoilt(header, cells)]
        yield number, [unescaped(cell) for cell in cells]
    refuse(problems, str(path))


def spoilt(header: list[str], cells: list[str]) -> list[str]:
    """A message for each cell of a row that holds a spreadsheet's error, such as "#N/A"."""
    faults = []
    for column, cell in enumerate(cells):
        if cell.startswith(("#", "Err:5")) and _SPOILT.fullmatch(cell):
            name = header[column][:40] if column < len(header) else column + 1
            found = f"field {name}: found {cell!r} by a spreadsheet"
            faults.append(f"{found}, expected the text it was made of")
    return faults


def unescaped(cell: str) -> str:
    """A cell without the apostrophe by which `write_form` keeps it from being a formula."""
    return re.sub(f"^'{_FORMULA}", r"\1", cell) if cell.startswith("'") else cell


def _demand_delimiter(path: Path | str, header: list[str], delimiter: str) -> None:
    """Raises `InputError` if another character divides the first row of a CSV."""
    if len(header) != 1:
        return
    for other, name in _DELIMITERS.items():
        if other != delimiter and other in header[0]:
            expected = _DELIMITERS.get(delimiter, repr(delimiter))
            found = f"found {name} between the columns, expected {expected}"
            raise InputError(f"{path}: row 1: {found}")


def write_form(table: pd.DataFrame, path: Path) -> None:
    """Write a CSV that people fill in. Texts that a spreadsheet would take for a formula get an
    apostrophe before them, which `csv_rows` takes away.
    """
    shown = table.replace(f"^{_FORMULA}", r"'\1", regex=True)
    shown.to_csv(writable(path), index=False, lineterminator="\n")


def read_form(
    path: Path | str,
    form: pa.DataFrameSchema,
    *checks: Check,
    delimiter: str = ",",
    header: Sequence[str] = (),
) -> pd.DataFrame:
    """The rows of a CSV form as stripped texts; the index is the line number.

    form: its columns come from the functions below; `unique` names columns whose values together
    may occur once; `strict="filter"` drops other columns. checks: for rules across columns. header:
    for a file without one. Errors: `InputError` with all faults by row and field.
    """
    table, problems = _form_table(path, form, delimiter, header)
    expected_at = _unmet(form, table, [*_checks_of_pairs(form, table), *checks])
    faults = []
    for (row, field), expected in expected_at.items():
        cell = shown(table.at[row, field])
        faults.append((row, f"row {row}, field {field}: found {cell}, expected {expected}"))
    if form.unique:
        faults += _repeated(table, form.unique)
    faults.sort(key=lambda fault: fault[0])
    refuse([*problems, *(message for _, message in faults)], str(path))
    return table


def _form_table(
    path: Path | str, form: pa.DataFrameSchema, delimiter: str, header: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """The rows that have as many cells as the header, and a message for each other row."""
    rows = list(csv_rows(path, delimiter))
    if not header:
        header = rows.pop(0)[1] if rows else []
    required = [name for name, column in form.columns.items() if column.required]
    demand_columns(path, header, required)
    table, problems = _table(header, rows)
    names = [name for name in form.columns if name in table]
    if form.strict != "filter":
        names += [name for name in table if name not in form.columns]
    return table[names], problems


def _table(
    header: Sequence[str], rows: Iterable[tuple[int, list[str]]]
) -> tuple[pd.DataFrame, list[str]]:
    """The rows with as many cells as the header, by number, and a message for each other row."""
    cells_by_row = {}
    problems = []
    for row, cells in rows:
        if len(cells) == len(header):
            cells_by_row[row] = cells
        else:
            problems.append(f"row {row}: found {len(cells)} fields, expected {len(header)}")
    table = pd.DataFrame.from_dict(cells_by_row, orient="index", columns=header, dtype=str)
    return table.rename_axis(index="row"), problems


def _unmet(
    form: pa.DataFrameSchema, table: pd.DataFrame, checks: Iterable[Check]
) -> dict[tuple[int, str], str]:
    """What was expected in each faulty cell, by row and field; `checks` take precedence."""
    expected_at = {}
    for check in checks:
        for row, field, expected in check(table):
            expected_at[row, field] = expected
    try:
        form.validate(table, lazy=True)
    except pa.errors.SchemaErrors as errors:
        cases = errors.failure_cases.query("check != 'multiple_fields_uniqueness'")
        for row, field, expected in cases[["index", "column", "check"]].itertuples(index=False):
            expected_at.setdefault((row, field), expected)
    return expected_at


def _repeated(table: pd.DataFrame, key: list[str]) -> Iterator[tuple[int, str]]:
    """Number and message for each row whose `key` an earlier row has, which pandera cannot name."""
    first = table.index.to_series().groupby([table[name] for name in key]).transform("min")
    for row, earlier in first[first < table.index].items():
        cells = ", ".join(f"{name} {shown(table.at[row, name])}" for name in key)
        yield row, f"row {row}: {cells} stands in row {earlier} too, expected once"


def _checks_of_pairs(form: pa.DataFrameSchema, table: pd.DataFrame) -> list[Check]:
    """Checks across two columns, from the metadata of the form's columns. `allowed` and `by`: the
    allowed values for each value of the column `by`. `kind`: each person has one value there.
    """
    checks = []
    for name, column in form.columns.items():
        rule = column.metadata or {}
        if "by" in rule:
            checks.append(_fitting(name, rule["by"], rule["allowed"]))
        kind = rule.get("kind")
        if kind:
            first_kind = table.drop_duplicates(name).set_index(name)[kind]
            checks.append(_fitting(kind, name, {value: [of] for value, of in first_kind.items()}))
    return checks


def read_answers(path: Path | str) -> pd.DataFrame:
    """Reads a CSV of answers for a benchmark's `score`: columns item_id, model, method, response
    and perhaps sample, finish_reason, error. Answers are literal texts, also "None", "N/A" and
    empty ones. Errors: `InputError` by row and field, and for a column options: `score` takes a
    letter for the option at its place in the item's `choices`.
    """
    rows = csv_lines(path)
    _, header = next(rows, (1, []))
    demand_columns(path, header, ["item_id", "model", "method", "response"])
    if "options" in header:
        raise InputError(
            f"{path}: row 1: found a column options, expected none, as `score` reads letters in "
            "the order of the items' choices; `python -m tomlab.pipeline.answers take` reads it"
        )
    table, problems = _table(header, rows)
    counts = [name for name in _COUNTS if name in table]
    for name in counts:
        is_count = table[name].str.fullmatch(r"[0-9]{1,9}")
        for row, cell in table.loc[~is_count, name].items():
            found = f"found {shown(cell)}, expected a whole number"
            problems.append(f"row {row}, field {name}: {found}")
    refuse(problems, str(path))
    table = table.astype(dict.fromkeys(counts, int))
    if "finish_reason" in table:
        table["finish_reason"] = table["finish_reason"].map(logged_finish_of).fillna("stop")
    return table


def demand_columns(path: Path | str, header: Sequence[str], required: Iterable[str]) -> None:
    """Raises `InputError` if the first row of a CSV lacks columns or repeats one."""
    missing = [name for name in required if name not in header]
    if missing:
        there = _SHORT.repr(", ".join(header))
        raise InputError(f"{path}: row 1: missing columns {', '.join(missing)}; found {there}")
    doubled = [name for name, times in Counter(header).items() if times > 1]
    if doubled:
        raise InputError(f"{path}: row 1: found {', '.join(doubled)} twice, expected columns once")


def text(
    pattern: str = r"(?s).+", expected: str = "some text", *, required: bool = True
) -> pa.Column:
    """A column of texts that match `pattern` in full; `expected` describes the pattern in words."""
    fits = pa.Check(lambda v: bool(re.fullmatch(pattern, v)), element_wise=True, error=expected)
    return pa.Column(str, fits, required=required)


def one_of(allowed: Collection, *, open_: str = "") -> pa.Column:
    """A column of `allowed` texts or numbers. Empty cells fit if `open_` says what they mean."""
    texts = [str(value) for value in allowed]
    expected = _listed(allowed)
    fitting_texts = list(texts)
    if open_:
        expected += f" or, {open_}, nothing"
        fitting_texts.append("")
    check = pa.Check.isin(fitting_texts, error=expected)
    return pa.Column(str, check, metadata={"allowed": texts})


def one_of_each(by: str, allowed: Mapping[str, Collection]) -> pa.Column:
    """A column whose allowed values depend on the value of the column `by` in the same row."""
    return pa.Column(str, metadata={"allowed": allowed, "by": by})


def known(ids: Collection[str] | None, what: str) -> pa.Column:
    """A column of ids; None allows any. what: the thing that has the id, such as "story"."""
    column = text(".*")
    if ids is not None:
        column.checks.append(pa.Check.isin([*ids], error=f"the id of a {what} that there is"))
    return column


def person(kind: str = "", pattern: str = "(?s).+") -> pa.Column:
    """A column of the names of who filled in the form. kind: the name of a `person_kind` column."""
    column = text(pattern)
    column.metadata = {"kind": kind}
    return column


def person_kind() -> pa.Column:
    """A column that says whether a person or a model filled in the form; there is no default."""
    return text(r"human|llm:\S+", "human or llm:<model>")


def _fitting(name: str, by: str, allowed: Mapping[str, Collection]) -> Check:
    """A check that the column `name` holds what is allowed for the row's value in `by`."""

    def faults(table: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
        for row, key, found in table[[by, name]].itertuples():
            if key in allowed and found not in map(str, allowed[key]):
                yield row, name, _listed(allowed[key])

    return faults


def _listed(allowed: Collection) -> str:
    if isinstance(allowed, range):
        return f"{allowed[0]} to {allowed[-1]}"
    return ", ".join(map(str, allowed))


def parsed(text: str, *, nan: bool = False) -> Any:
    """The value of a JSON text. Errors: `RecursionError` for deep nesting; `ValueError` also for
    repeated keys in one object, lone surrogates and, unless `nan` is set, non-finite numbers.
    """
    value = json.loads(text, object_pairs_hook=_object)
    # Only an escape sequence can make a lone surrogate.
    if not nan or "\\ud" in text or "\\uD" in text:
        json.dumps(value, allow_nan=nan, ensure_ascii=False).encode()
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    times = Counter(key for key, _ in pairs)
    doubled = sorted(key for key in times if times[key] > 1)
    raise ValueError(f"{', '.join(doubled)[:80]} twice in one object")


def json_lines(text: str) -> tuple[list[tuple[int, Any]], list[str]]:
    """The line number and value of each line of JSON Lines, and a message for each bad line."""
    values = []
    problems = []
    # Not `splitlines`, which also splits at separators that may stand within a JSON text.
    for number, line in enumerate(lines(text), start=1):
        if line.strip():
            try:
                values.append((number, parsed(line)))
            except (ValueError, RecursionError) as error:
                problems.append(f"line {number}: not JSON ({error})")
    return values, problems


def unfit(
    records: Iterable[tuple[int | str, Any]], model: type[BaseModel], key: str, what: str
) -> Iterator[str]:
    """Yields a message for each field of numbered records that does not fit the model, and for each
    id (in the field `key`) that an earlier record has. what: what is numbered, such as "line".
    """
    first: dict[int | str, int | str] = {}
    for number, record in records:
        name = record.get(key) if isinstance(record, dict) else None
        where = f"{what} {number}"
        if name is not None:
            where += f", {key} {shown(name)}"
        try:
            model.model_validate(record)
        except ValidationError as error:
            for case in error.errors(include_url=False):
                yield f"{where}, {complaint(case, shown)}"
        if isinstance(name, (str, int)) and first.setdefault(name, number) != number:
            yield f"{where}: stands in {what} {first[name]} too, expected once"


def shown(value: Any) -> str:
    """A value as messages show it: cut short if long or deeply nested, "nothing" if it is ""."""
    text = "nothing" if value == "" else _SHORT.repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
