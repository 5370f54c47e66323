"""A benchmark's notebook of figures, run on a small run in a folder apart."""

import json
from itertools import islice

import pandas as pd
import pytest

from replies import of_baseline
from tomlab import paths
from tomlab.params import BASELINES
from tomlab.records import tidy
from tomlab.reporting import draw as reporting
from tomlab.scoring import cues, readers

N_READERS = 4


def cells(name, stage="5_figures"):
    """The code of a benchmark's notebook by the ids of its cells."""
    path = paths.ROOT / f"notebooks/{stage}/{name}.ipynb"
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {c["id"]: "".join(c["source"]) for c in found if c["cell_type"] == "code"}


def by_baseline(benchmark, items, policy, methods):
    """What a baseline answers by several methods."""
    answers = [of_baseline(benchmark, items, policy, method) for method in methods]
    return pd.concat(answers, ignore_index=True)


def write(folder, patch, benchmark, items, answers, **options):
    """The tables of a run in the folder, where notebooks look for them; returns its scores.

    answers: responses by model; options: of `score`.
    """
    patch.setattr(paths, "RESULTS", folder)
    patch.setattr(paths, "DOCS", folder / "docs")
    tidy.write(items, "items", paths.result("items", benchmark.NAME))
    every = []
    for model, responses in answers.items():
        own = responses.assign(model=model)
        scores = benchmark.score(items, own, **options)
        made = {"responses": own, "scores": scores, "metrics": benchmark.metrics(scores)}
        place = paths.baseline if model in BASELINES else paths.result
        for kind, table in made.items():
            tidy.write(table, kind, place(kind, benchmark.NAME, model))
        every.append(scores)
    return pd.concat(every, ignore_index=True)


def keep_readers(benchmark, items):
    """Write what the first few readers choose, as the notebook that makes items does. All readers
    take longer than the page that draws them.
    """

    def few(options, by_lines):
        return islice(cues.readers_of(options, by_lines), N_READERS)

    [code] = [
        code for code in cells(benchmark.NAME, "2_filtering").values() if "readers.keep" in code
    ]
    names = {"readers": readers, benchmark.NAME: benchmark, "items": items}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "readers_of", few)
        exec(code, names)  # noqa: S102


def draw(name, models, **options):
    """Run all cells of a benchmark's notebook for these models of the run. options: its other
    parameters, where they are not as the notebook has them.
    """
    parameters, *code = cells(name).values()
    assert parameters.startswith("models =")
    names = {}
    exec(parameters, names)  # noqa: S102
    names |= {"models": models, **options}
    with pytest.MonkeyPatch.context() as patch:
        # The tests of whole chains see to the PDFs.
        patch.setattr(reporting, "_save_for_papers", lambda figure, path: None)
        for source in code:
            exec(source, names)  # noqa: S102
