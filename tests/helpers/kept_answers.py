"""Files of kept answers in tests: read whole, and changed by hand."""

from pathlib import Path
from typing import Any

from tomlab.models import answers


def rows(path: Path) -> list[dict[str, Any]]:
    """All answers of a file."""
    return [row for part in answers.read(path) for row in part]


def change(path: Path, to: Path | None = None, **values: str) -> Path:
    """Let the first answer of a file be another one, in the file or in a copy; its path."""
    first, *others = rows(path)
    answers.write([first | values, *others], to or path)
    return to or path
