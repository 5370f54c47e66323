"""Plans a run, makes it by the evaluation notebooks' own cells, and plans it again; prints JSON.

TOMLAB_ROOT=… python planned.py BENCHMARK…
"""

import ast
import asyncio
import inspect
import io
import json
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any

import nbformat

from tomlab import paths
from tomlab.models.store import Store
from tomlab.pipeline import plan, settings
from tomlab.pipeline.settings import read_by_stages


def ask(source: str, values: Mapping[str, Any]) -> None:
    """Run a notebook's cells up to the last that asks."""
    os.environ["TOMLAB_STAGE"] = source
    cells = nbformat.read(paths.ROOT / source, as_version=4).cells
    _, *code = [cell.source for cell in cells if cell.cell_type == "code"]
    last = max(n for n, cell in enumerate(code) if "evaluation.evaluate(" in cell)
    scope = dict(values)
    for cell in code[: last + 1]:
        made = eval(compile(cell, source, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), scope)
        if inspect.iscoroutine(made):
            asyncio.run(made)


def planned(content: Mapping[str, Any]) -> tuple[list[dict], tuple]:
    """The rows of a plan, and what was spent."""
    with Store(paths.RESPONSE_STORE) as store:
        table = plan.plan(content, content["run"]["models"], store)
        return table.to_dict("records"), store.spending()


def main(benchmarks: list[str]) -> None:
    content, said = settings.check(), io.StringIO()
    with redirect_stdout(said):
        before, spent = planned(content)
        plan.main([])
        [model] = content["run"]["models"]
        told = read_by_stages(content)
        for name in benchmarks:
            values = told[f"3_evaluation/{name}-{model}"]["parameters"]
            ask(f"notebooks/3_evaluation/{name}.ipynb", values)
        after, spent_after = planned(content)
    found = {"before": before, "after": after, "spent": [spent, spent_after]}
    print(json.dumps(found | {"said": said.getvalue()}, default=int))


if __name__ == "__main__":
    main(sys.argv[1:])
