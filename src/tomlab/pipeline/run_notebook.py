"""Run a notebook as a stage: inject its parameters, execute it, write a copy that repeats exactly.

    python -m tomlab.pipeline.run_notebook notebooks/3_evaluation/bigtom.ipynb results/out.ipynb \\
        --section bigtom.evaluation --section run --set model=smollm2-135m

The cell tagged `parameters` names what the notebook takes, as plain literals. Each name must stand
in exactly one of the sections of `params.yaml` or be set by hand.
"""

import argparse
import ast
import os
import sys
from pathlib import Path
from typing import Any

import nbformat
import papermill
import yaml
from papermill.exceptions import PapermillExecutionError

from tomlab import params
from tomlab.errors import InputError
from tomlab.paths import PARAMS, RESPONSE_STORE, ROOT
from tomlab.pipeline import settings

# Leave the kernel's own stderr alone: progress bars and engine logs go to the terminal, never
# into the notebook's outputs.
_KERNEL_ARGUMENTS = ["--IPKernelApp.capture_fd_output=False", "--IPKernelApp.log_level=ERROR"]


def declared(notebook: nbformat.NotebookNode, name: str) -> dict[str, Any]:
    """The names of the cell tagged `parameters` with their default literals."""
    cells = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    if len(cells) != 1:
        raise InputError(f"{name}: found {len(cells)} cells tagged `parameters`, expected one")
    try:
        statements = ast.parse(cells[0].source).body
    except SyntaxError as error:
        raise InputError(f"{name}: the parameters cell is not Python: {error}") from error
    found = {}
    for statement in statements:
        try:
            (target,) = statement.targets
            found[target.id] = ast.literal_eval(statement.value)
        except (AttributeError, TypeError, ValueError) as error:
            line = ast.unparse(statement)
            raise InputError(
                f"{name}: the parameters cell may hold only `name = literal`, found `{line}`"
            ) from error
    return found


def parameters(
    names: dict[str, Any], content: dict[str, Any], sections: list[str], given: dict[str, Any]
) -> dict[str, Any]:
    """A value for each name, from `given` or from exactly one of the sections of `content`."""
    if unknown := sorted(set(given) - set(names)):
        raise InputError(
            f"no parameter {unknown[0]!r} in the notebook; it takes: {', '.join(names)}"
        )
    found = {name: params.section(content, name) for name in sections}
    values = {}
    for name in names:
        places = [section for section in sections if name in found[section]]
        if name in given:
            values[name] = given[name]
        elif len(places) == 1:
            values[name] = found[places[0]][name]
        else:
            where = " and ".join(places) or "none"
            raise InputError(
                f"parameter {name!r}: expected in one of the sections {', '.join(sections)} of "
                f"params.yaml, found in {where}"
            )
    return values


def scrub(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Take out what differs from run to run: times and random ids."""
    notebook.metadata.pop("papermill", None)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02d}"
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
    return notebook


def run(source: Path, output: Path, values: dict[str, Any]) -> None:
    """Execute `source` with `values` and write the scrubbed copy to `output`.

    A run that fails leaves `<output>.failed.ipynb` to look into, and no output.
    Errors: `InputError` with the message of one that was raised in the notebook;
    `PapermillExecutionError` for any other fault in it.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    output.unlink(missing_ok=True)
    failed = output.with_suffix(".failed.ipynb")
    # Sets of strings print in one order, whatever the run.
    os.environ["PYTHONHASHSEED"] = "0"
    # So that it writes where the pipeline looks, see `paths`.
    os.environ["TOMLAB_STAGE"] = str(source)
    try:
        papermill.execute_notebook(
            source,
            failed,
            values,
            cwd=ROOT,
            progress_bar=False,
            kernel_name="python3",
            language="python",
            extra_arguments=_KERNEL_ARGUMENTS,
        )
    except PapermillExecutionError as error:
        if error.ename == "InputError":
            raise InputError(error.evalue) from None
        raise
    nbformat.write(scrub(nbformat.read(failed, as_version=4)), output)
    failed.unlink()


def assignments(entries: list[str]) -> dict[str, Any]:
    """What `--set NAME=VALUE` gives; the values are read as YAML."""
    given = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals:
            raise InputError(f"--set {entry}: expected NAME=VALUE")
        try:
            given[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InputError(f"--set {entry}: the value is not YAML") from error
    return given


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0 if the notebook ran, 1 with one clear message if not."""
    parser = argparse.ArgumentParser(
        prog="python -m tomlab.pipeline.run_notebook", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("source", type=Path, help="the notebook, without outputs")
    parser.add_argument("output", type=Path, help="where the executed copy goes")
    parser.add_argument("--section", action="append", default=[], help="a section of params.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="given")
    args = parser.parse_args(arguments)
    try:
        if not args.source.is_file():
            raise InputError(f"{args.source}: no such notebook")
        names = declared(nbformat.read(args.source, as_version=4), str(args.source))
        given = assignments(args.given)
        values = parameters(names, settings.check(PARAMS), args.section, given)
        run(args.source, args.output, values)
    except InputError as error:
        print(f"\n{args.source}: {error}\n", file=sys.stderr)
        return 1
    except PapermillExecutionError as error:
        where = args.output.with_suffix(".failed.ipynb")
        print(f"\n{error}\nThe notebook up to the fault: {where}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        kept = f"Answers that arrived are kept in {RESPONSE_STORE.relative_to(ROOT)}"
        print(f"\nStopped. {kept}; run again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
