"""Reading CSV files that people write: every fault has a line number."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from tomlab.errors import InputError


def read_rows(
    path: Path | str, columns: Sequence[str]
) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    """The rows of a CSV with their line numbers, and the rows with too many or too few fields.

    Errors: `InputError` if it cannot be read or lacks one of `columns`.
    """
    try:
        lines = csv.reader(io.StringIO(Path(path).read_text(encoding="utf-8-sig")))
        (_, header), *found = [(lines.line_num, line) for line in lines if line] or [(1, [])]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV ({error})") from None
    if missing := [name for name in columns if name not in header]:
        raise InputError(f"{path}: row 1: missing columns {', '.join(missing)}")
    rows, problems = [], []
    for number, line in found:
        if len(line) == len(header):
            rows.append((number, dict(zip(header, line, strict=True))))
        else:
            problems.append(f"row {number}: found {len(line)} fields, expected {len(header)}")
    return rows, problems
