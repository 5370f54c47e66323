"""A cell of a notebook, run on what a test gives it."""

import ast
import asyncio
import inspect
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
        run(source, given)
    return given


def run(source, names):
    """Run code as a notebook does: it may await."""
    code = compile(source, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    done = eval(code, names)
    if inspect.iscoroutine(done):
        asyncio.run(done)
