"""A cell of a notebook, run on what a test gives it."""

import ast

from figures import cells


def ran(stage, name, cell, **given):
    """The names there are after a notebook's imports and one of its cells. given: what that reads."""
    code = cells(name, stage)
    first = ast.parse(code["cell-02"])
    first.body = [node for node in first.body if isinstance(node, ast.Import | ast.ImportFrom)]
    for source in (ast.unparse(first), code[cell]):
        exec(source, given)  # noqa: S102
    return given
