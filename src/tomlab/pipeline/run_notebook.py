"""Run a notebook as a stage: set its parameters, execute it, and write the executed copy, without
anything that would differ if the same notebook ran again.

    python -m tomlab.pipeline.run_notebook notebooks/5_figures/bigtom.ipynb results/out.ipynb \\
        results/settings/5_figures/bigtom.json

The third path is the file with the parameters, see `pipeline.settings`.
"""

import argparse
import ast
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from tomlab.errors import InputError
from tomlab.paths import RESPONSE_STORE, ROOT, WORKSPACE, writable

# Progress bars and logs of engines go to the terminal, not into the notebook's outputs. Jupyter
# interrupts a kernel before shutting it down; with less strict logging, that shows as an error.
KERNEL_OPTIONS = ["--IPKernelApp.capture_fd_output=False", "--IPKernelApp.log_level=CRITICAL"]
CONFLICT = re.compile(r"^(<{7} |>{7} )", re.MULTILINE)
LONG = 60.0  # seconds before a stage first shows how many cells are done, and between updates


def run(source: Path, output: Path, values: Mapping[str, Any]) -> None:
    """Execute the notebook `source` with the parameters `values` and write the copy, as `scrub`
    leaves it, to `output`. Errors: `InputError` for whatever the notebook raises; then there is no
    output, but a file ending in `.failed.ipynb` beside it.
    """
    # Imported here, as code that only reads a notebook's parameters does without.
    import papermill
    from papermill.exceptions import PapermillExecutionError

    writable(output).unlink(missing_ok=True)
    failed = output.with_suffix(".failed.ipynb")
    # The first makes sets of strings print in the same order each time. The second says that a
    # stage is running, so that files are written where the pipeline looks for them, see
    # `paths.writable`.
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ["TOMLAB_STAGE"] = str(source)
    try:
        papermill.execute_notebook(
            source,
            failed,
            values,
            kernel_name="python3",
            language="python",
            progress_bar={"desc": str(source), "delay": LONG, "mininterval": LONG},
            cwd=ROOT,
            extra_arguments=KERNEL_OPTIONS,
            coalesce_streams=True,  # all that one cell prints becomes one output
        )
    except PapermillExecutionError as error:
        if error.ename == "InputError":
            raise InputError(error.evalue) from None
        raise InputError(f"{error}\nThe notebook up to the fault: {failed}") from None
    except RuntimeError as error:  # the kernel died
        raise InputError(f"{error}. The notebook up to there: {failed}") from None
    notebook = nbformat.read(failed, as_version=4)
    nbformat.write(scrub(notebook), output)
    failed.unlink()


def read_notebook(path: Path) -> NotebookNode:
    """The notebook in a file. Errors: `InputError` if it cannot be read or is no valid notebook."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 ({error})") from None
    if CONFLICT.search(text):
        raise InputError(f"{path}: found git's conflict marks, expected one version")
    try:
        notebook = nbformat.reads(text, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # noqa: BLE001 - nbformat raises whatever the text makes it meet
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: found no notebook ({reason}), expected one in JSON") from None
    return notebook


def declared(source: Path) -> dict[str, Any]:
    """The default values in the notebook's cell tagged `parameters`, by name. Errors: `InputError`
    if there is not exactly one such cell, or it has other lines than `name = literal`.
    """
    cells = read_notebook(source).cells
    cells = [cell for cell in cells if "parameters" in cell.metadata.get("tags", [])]
    parameters = {}
    try:
        [cell] = cells
        for statement in ast.parse(cell.source).body:
            [target] = statement.targets
            parameters[target.id] = ast.literal_eval(statement.value)
    except (AttributeError, SyntaxError, TypeError, ValueError) as error:
        raise InputError(
            f"{source}: found {len(cells)} cells tagged `parameters` ({error}), expected one with "
            "lines `name = literal` alone"
        ) from error
    return parameters


def scrub(notebook: NotebookNode) -> NotebookNode:
    """Remove what differs between runs from `notebook`, and return it: times, random ids of cells,
    and the version of Python.
    """
    notebook.metadata.pop("papermill", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02d}"
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
    return notebook


def read_settings(path: Path, source: Path) -> dict[str, Any]:
    """A stage's parameters, read from its settings file `path`. Errors: `InputError` if a file is
    missing, or if the names are not those that the notebook `source` declares.
    """
    for file in (source, path):
        if not file.is_file():
            raise InputError(f"{file}: no such file; `make params` writes the settings")
    values = json.loads(path.read_text(encoding="utf-8"))["parameters"]
    names = declared(source)
    if sorted(values) != sorted(names):
        found = f"found {', '.join(values)}, expected {', '.join(names)}"
        raise InputError(f"{path}: {found}; `make params` writes it anew")
    return values


def main(arguments: list[str] | None = None) -> int:
    """The command line. Returns the exit code: 0 if the notebook ran, 1 with a message if it
    failed, 130 on Ctrl-C.
    """
    parser = argparse.ArgumentParser("python -m tomlab.pipeline.run_notebook", description=__doc__)
    for name in ("source", "output", "settings"):
        parser.add_argument(name, type=Path)
    args = parser.parse_args(arguments)
    try:
        run(args.source, args.output, read_settings(args.settings, args.source))
    except InputError as error:
        print(f"\n{args.source}: {error}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        store = RESPONSE_STORE.relative_to(WORKSPACE)
        print(
            f"\nStopped. Answers that arrived are kept in {store}; run again to go on.",
            file=sys.stderr,
        )
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
