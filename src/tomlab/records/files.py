"""Files that people write: CSV forms (pandera schemas of texts) and JSON, read so that every fault
has its line and field.
"""

import csv
import io
import json
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa

from tomlab.errors import InputError, refuse

Check = Callable[[pd.DataFrame], Iterator[tuple[int, str, str]]]
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def _read_table(path: Path | str, required: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """The rows of a CSV by line number, and which ones have too many or too few fields."""
    try:
        lines = csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8-sig")))
        (_, header), *found = [(lines.line_num, line) for line in lines if line] or [(1, [])]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV ({error})") from None
    if missing := [name for name in required if name not in header]:
        raise InputError(f"{path}: row 1: missing columns {', '.join(missing)}")
    cells = {number: [cell.strip() for cell in line] for number, line in found}
    uneven = {number: len(line) for number, line in cells.items() if len(line) != len(header)}
    problems = [f"row {row}: found {n} fields, expected {len(header)}" for row, n in uneven.items()]
    whole = {number: line for number, line in cells.items() if number not in uneven}
    table = pd.DataFrame.from_dict(whole, orient="index", columns=header, dtype=str)
    return table.loc[:, ~table.columns.duplicated(keep="last")].rename_axis(index="row"), problems


def read_form(path: Path | str, form: pa.DataFrameSchema, *checks: Check) -> pd.DataFrame:
    """The rows of a CSV form as texts without spaces around them; the index is the line number.

    form: columns as `text`, `one_of`, `known` and `person_kind` make them; `unique` names what may
    stand once; `strict="filter"` leaves other columns out. checks: what one column does not show,
    as row, field and what was expected. Errors: `InputError` with all rows and fields at fault.
    """
    required = [name for name, column in form.columns.items() if column.required]
    table, problems = _read_table(path, required)
    others = [] if form.strict == "filter" else table.columns.difference(form.columns, sort=False)
    table = table[[*(name for name in form.columns if name in table), *others]]
    expected = {(row, name): said for check in checks for row, name, said in check(table)}
    try:
        form.validate(table, lazy=True)
    except pa.errors.SchemaErrors as errors:
        cases = errors.failure_cases.query("check != 'multiple_fields_uniqueness'")
        for row, name, said in cases[["index", "column", "check"]].itertuples(index=False):
            expected.setdefault((row, name), said)
    faults = [
        (row, f"row {row}, field {name}: found {shown(table.at[row, name])}, expected {said}")
        for (row, name), said in expected.items()
    ]
    key = form.unique or []
    for row, earlier in _earlier(table, key):  # which pandera does not name
        what = ", ".join(f"{name} {shown(table.at[row, name])}" for name in key)
        faults.append((row, f"row {row}: {what} stands in row {earlier} too, expected once"))
    refuse(problems + [what for _, what in sorted(faults, key=lambda fault: fault[0])], str(path))
    return table


def _earlier(table: pd.DataFrame, key: list[str]) -> Iterator[tuple[int, int]]:
    """The rows whose key stands in an earlier row, and the first such row."""
    first: dict[tuple, int] = {}
    rows = table[key].itertuples(name=None) if key else ()
    found = ((row, first.setdefault(tuple(values), row)) for row, *values in rows)
    return ((row, earlier) for row, earlier in found if row != earlier)


def text(
    pattern: str = r"(?s).+", expected: str = "some text", *, required: bool = True
) -> pa.Column:
    """A column of texts, each of which fits `pattern` as a whole; `expected` says so in words."""
    fits = pa.Check(
        lambda value: bool(re.fullmatch(pattern, value)), element_wise=True, error=expected
    )
    return pa.Column(str, fits, required=required)


def one_of(allowed: Collection) -> pa.Column:
    """A column of some texts or numbers."""
    texts = {str(value) for value in allowed}
    return pa.Column(str, pa.Check(lambda column: column.isin(texts), error=_listed(allowed)))


def known(
    ids: Collection[str] | None, what: str, pattern: str = ".*", expected: str = ""
) -> pa.Column:
    """A column of ids of what there is, such as `what="story"`; of any if `ids` is None. The id has
    to fit `pattern`, of which `expected` tells, before it is looked up.
    """
    column, what_for = text(pattern, expected), f"the id of a {what} that there is"
    if ids is not None:
        column.checks.append(pa.Check(lambda column: column.isin(ids), error=what_for))
    return column


def person_kind() -> pa.Column:
    """A column that says of whoever filled in the form whether that is a person: never assumed."""
    return text(r"human|llm:\S+", "human or llm:<model>")


def one_kind(name: str, kind: str) -> Check:
    """A check that whoever is called `name` is of one kind all over the form."""

    def faults(table: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
        for row, earlier in _earlier(table, [name]):
            who, before = table.loc[earlier, [name, kind]]
            if table.at[row, kind] != before:
                yield row, kind, f"{shown(before)}, which {shown(who)} is in row {earlier}"

    return faults


def fitting(name: str, by: str, allowed: Mapping[str, Collection]) -> Check:
    """A check that a column holds what is allowed for the value of another column of its row."""

    def faults(table: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
        for row, key, found in table[[by, name]].itertuples():
            if key in allowed and found not in map(str, allowed[key]):
                yield row, name, _listed(allowed[key])

    return faults


def _listed(allowed: Collection) -> str:
    if isinstance(allowed, range):
        return f"{allowed[0]} to {allowed[-1]}"
    return ", ".join(map(str, allowed))


# JSON and what pydantic says of it


def parsed(text: str, *, nan: bool = False) -> Any:
    """The value of a JSON text. nan: whether NaN and the like may be in it. Errors: `ValueError`,
    also for a key that stands twice in one object.
    """
    constant = float if nan else _no_constant
    value = json.loads(text, object_pairs_hook=_object, parse_constant=constant)
    if "\\u" in text:  # an escape may be half of a character, which no file can hold
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict:
    if doubled := sorted(k for k, times in Counter(k for k, _ in pairs).items() if times > 1):
        raise ValueError(f"{', '.join(doubled)} twice in one object")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def json_lines(text: str, *, nan: bool = False) -> tuple[list[tuple[int, Any]], list[str]]:
    """The values of JSON Lines with their line numbers, and what is wrong with other lines."""
    found, problems = [], []
    # Not `splitlines`: only line ends divide values, a text may hold any other separator.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append((number, parsed(line, nan=nan)))
            except (ValueError, RecursionError) as error:
                problems.append(f"line {number}: not JSON ({error})")
    return found, problems


def field_at(place: Sequence[str | int]) -> str:
    """Where pydantic found something, such as "field questions[0].answer: "; "" for the whole."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return f"field {steps.removeprefix('.')}: " if steps else ""


_EXPECTED = {
    "missing": "a value",
    "extra_forbidden": "no such field",
    "model_type": "an object",
    "int_type": "an integer",
    "list_type": "a list",
    "string_type": "text",
    "string_pattern_mismatch": "some text",
}


def complaint(case: Mapping[str, Any], expected: str | None = None) -> str:
    """One error of pydantic's in words: what was found, and what was expected."""
    if case["type"] == "too_short":
        return f"found {case['ctx']['actual_length']}, expected {case['ctx']['min_length']} or more"
    found = "nothing" if case["type"] == "missing" else shown(case["input"])
    said = re.sub("^(Value error, )?(Input should be )?(expected )?", "", case["msg"])
    return f"found {found}, expected {expected or _EXPECTED.get(case['type'], said)}"


def shown(value: Any) -> str:
    """A value for a message: long and deeply nested ones cut short, "nothing" for no text."""
    return "nothing" if value == "" else _SHORT.repr(value)
