"""A cell of a benchmark's notebook of filters, run on what a test gives it."""

import ast

from figures import cells


def ran(name, cell, **given):
    """The names there are after the notebook's imports and that cell. given: what it reads."""
    code = cells(name, "2_filtering")
    first = ast.parse(code["cell-02"])
    first.body = [node for node in first.body if isinstance(node, ast.Import | ast.ImportFrom)]
    for source in (ast.unparse(first), code[cell]):
        exec(source, given)  # noqa: S102
    return given
