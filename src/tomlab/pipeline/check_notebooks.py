"""Check that source notebooks are sources: no outputs or counts, a `parameters` cell, short cells.

    python -m tomlab.pipeline.check_notebooks notebooks

A check that fails, not a git filter: filters go stale on clones.
"""

import ast
import sys
from pathlib import Path
from typing import Any

import nbformat

from tomlab.errors import InputError

LONGEST_CELL = 40  # lines; longer logic belongs in src


def declared(source: Path) -> dict[str, Any]:
    """The names in a notebook's cell tagged `parameters`, with their default literals."""
    cells = nbformat.read(source, as_version=4).cells
    cells = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    if len(cells) != 1:
        raise InputError(f"{source}: found {len(cells)} cells tagged `parameters`, expected one")
    try:
        statements = ast.parse(cells[0].source).body
    except SyntaxError as error:
        raise InputError(f"{source}: the parameters cell is not Python: {error}") from error
    found = {}
    for statement in statements:
        try:
            (target,) = statement.targets
            found[target.id] = ast.literal_eval(statement.value)
        except (AttributeError, TypeError, ValueError) as error:
            line = ast.unparse(statement)
            raise InputError(
                f"{source}: the parameters cell may hold only `name = literal`, found `{line}`"
            ) from error
    return found


def problems(path: Path) -> list[str]:
    """What is wrong with one source notebook, a sentence each."""
    found = []
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if cell.get("outputs") or cell.get("execution_count"):
            found.append(f"{path}: cell {number} carries outputs; clear them before committing")
        if cell.cell_type == "code" and len(cell.source.splitlines()) > LONGEST_CELL:
            found.append(f"{path}: cell {number} is longer than {LONGEST_CELL} lines")
    try:
        declared(path)
    except InputError as error:
        found.append(str(error))
    return found


def main(folders: list[str]) -> int:
    """0 if all notebooks under `folders` are clean, else 1 with a line a problem."""
    notebooks = [path for folder in folders for path in sorted(Path(folder).rglob("*.ipynb"))]
    sources = [path for path in notebooks if ".ipynb_checkpoints" not in path.parts]
    found = [problem for path in sources for problem in problems(path)]
    print("\n".join([*found, f"{len(sources)} notebooks checked, {len(found)} problems"]))
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
