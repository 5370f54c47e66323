"""A cell of a notebook, run on what a test gives it."""

import ast
import re

from figures import cells


def ran(stage, name, cell, **given):
    """The names there are after a notebook's imports and one of its cells. given: what that reads.

    A long cell stands in parts: `cell-rule` is the last one, behind `cell-rule-a` and others.
    """
    code = cells(name, stage)
    parts = [source for key, source in code.items() if re.fullmatch(f"{cell}(-[a-z])?", key)]
    first = ast.parse(code["cell-02"])
    first.body = [node for node in first.body if isinstance(node, ast.Import | ast.ImportFrom)]
    for source in (ast.unparse(first), *parts):
        exec(source, given)  # noqa: S102
    return given
