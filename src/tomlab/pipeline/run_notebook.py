"""Run a notebook as a stage: inject its parameters, execute it, write a copy that repeats exactly.

    python -m tomlab.pipeline.run_notebook notebooks/5_figures/bigtom.ipynb results/out.ipynb \\
        results/settings/5_figures/bigtom.json

The third file holds the parameters, see `pipeline.settings`.
"""

import argparse
import ast
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import nbformat
import papermill
from papermill.exceptions import PapermillExecutionError

from tomlab.errors import InputError
from tomlab.paths import RESPONSE_STORE, ROOT, WORKSPACE, writable

# Leave the kernel's own stderr alone: progress bars and engine logs go to the terminal, never
# into the notebook's outputs. Jupyter interrupts a kernel before it ends it, an error to its log.
_QUIET = ["--IPKernelApp.capture_fd_output=False", "--IPKernelApp.log_level=CRITICAL"]
_KERNEL = {"kernel_name": "python3", "language": "python", "extra_arguments": _QUIET}
_CONFLICT = re.compile(r"^(<{7} |>{7} )", re.MULTILINE)
LONG = 60.0  # seconds after which, again and again, a stage says that it goes on


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """A notebook's file. Errors: `InputError` that names it where it is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 ({error})") from None
    if _CONFLICT.search(text):
        raise InputError(f"{path}: found git's conflict marks, expected one version")
    try:
        notebook = nbformat.reads(text, as_version=4)
        for cell in notebook.cells:
            _ = cell.cell_type, cell.source, cell.metadata
    except Exception as error:  # noqa: BLE001 - nbformat raises whatever the text makes it meet
        why = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: found no notebook ({why}), expected one in JSON") from None
    return notebook


def declared(source: Path) -> dict[str, Any]:
    """The literals in the cell tagged `parameters`, by name; `InputError` for anything else."""
    cells = read_notebook(source).cells
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


def scrub(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Take out what differs from run to run: times, random ids and the version of Python."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02d}"
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
    return notebook


@contextmanager
def _signs_of_life(source: Path) -> Iterator[None]:
    began, over = time.monotonic(), Event()

    def tell() -> None:
        while not over.wait(LONG):
            print(f"{source} goes on, {time.monotonic() - began:.0f} s so far", file=sys.stderr)

    Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def run(source: Path, output: Path, values: dict[str, Any]) -> None:
    """Execute `source` with `values` and write the scrubbed copy to `output`. Errors: `InputError`
    for whatever the notebook raises, which leaves `<output>.failed.ipynb` and no output.
    """
    writable(output).unlink(missing_ok=True)
    failed = output.with_suffix(".failed.ipynb")
    # Sets of strings print in one order; files are written where the pipeline looks, see `paths`.
    os.environ |= {"PYTHONHASHSEED": "0", "TOMLAB_STAGE": str(source)}
    options = {"cwd": ROOT, "progress_bar": False} | _KERNEL
    try:
        with _signs_of_life(source):
            papermill.execute_notebook(source, failed, values, **options)
    except PapermillExecutionError as error:
        told = f"{error}\nThe notebook up to the fault: {failed}"
        raise InputError(error.evalue if error.ename == "InputError" else told) from None
    nbformat.write(scrub(nbformat.read(failed, as_version=4)), output)
    failed.unlink()


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 if the notebook ran, 1 with one clear message if not."""
    parser = argparse.ArgumentParser("python -m tomlab.pipeline.run_notebook", description=__doc__)
    for name in ("source", "output", "settings"):
        parser.add_argument(name, type=Path)
    args = parser.parse_args(arguments)
    try:
        for path in (args.source, args.settings):
            if not path.is_file():
                raise InputError(f"{path}: no such file; `make params` writes the settings")
        values = json.loads(args.settings.read_text(encoding="utf-8"))["parameters"]
        if sorted(values) != sorted(names := declared(args.source)):
            found = f"found {', '.join(values)}, expected {', '.join(names)}"
            raise InputError(f"{args.settings}: {found}; `make params` writes it anew")
        run(args.source, args.output, values)
    except InputError as error:
        print(f"\n{args.source}: {error}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        kept = f"Answers that arrived are kept in {RESPONSE_STORE.relative_to(WORKSPACE)}"
        print(f"\nStopped. {kept}; run again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
