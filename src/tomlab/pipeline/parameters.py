"""What a source notebook takes: the names in its cell tagged `parameters`."""

import ast
from pathlib import Path
from typing import Any

import nbformat

from tomlab.errors import InputError


def declared(source: Path) -> dict[str, Any]:
    """The names with their default literals. Errors: `InputError` where there is anything else."""
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
