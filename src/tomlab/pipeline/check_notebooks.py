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
    """The names in a notebook's one cell tagged `parameters`, with their default literals."""
    cells = nbformat.read(source, as_version=4).cells
    tagged = [cell.source for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    try:
        (code,) = tagged
        statements = [(*s.targets, s.value) for s in ast.parse(code).body]
        return {target.id: ast.literal_eval(value) for target, value in statements}
    except (AttributeError, SyntaxError, TypeError, ValueError) as error:
        raise InputError(
            f"{source}: found {len(tagged)} cells tagged `parameters` ({error}), expected one with "
            "lines `name = literal` alone"
        ) from error


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


if __name__ == "__main__":
    paths = [path for folder in sys.argv[1:] for path in sorted(Path(folder).rglob("*.ipynb"))]
    sources = [path for path in paths if ".ipynb_checkpoints" not in path.parts]
    found = [problem for path in sources for problem in problems(path)]
    print("\n".join([*found, f"{len(sources)} notebooks checked, {len(found)} problems"]))
    sys.exit(bool(found) or not sources)
