"""Check that source notebooks are sources: no outputs or counts, a `parameters` cell, short cells.

    python -m tomlab.pipeline.check_notebooks notebooks

A check that fails, not a git filter: filters go stale on clones.
"""

import sys
from pathlib import Path

import nbformat

from tomlab.errors import InputError
from tomlab.pipeline.stages import declared

LONGEST_CELL = 25  # lines; longer logic belongs in src


def problems(path: Path) -> list[str]:
    """What is wrong with one source notebook, a sentence each."""
    notebook = nbformat.read(path, as_version=4)
    found = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        if cell.outputs or cell.execution_count:
            found.append(f"{path}: cell {number} carries outputs; clear them before committing")
        if len(cell.source.splitlines()) > LONGEST_CELL:
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
