"""What the cells of FANToM's figures notebook draw, by their data; and the limits that F1 sets."""

import numpy as np
import pandas as pd
import pytest

import figures
from fantom_sets import random_sets
from replies import of_baseline
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.metrics import weighted_f1
from tomlab.reporting import draw
from tomlab.reporting.numbers import PAPER, RUN
from tomlab.scoring import readers

CELLS = figures.cells("fantom")
DRAWN = [
    "cell-04-a",
    "cell-04",
    "cell-09",
    "cell-09-figure",
    "cell-13",
    "errors",
    "errors-paper",
    "cell-17",
    "cell-18",
]


ITEMS = fantom.compose(random_sets(1))


def metrics_of(*models: str) -> pd.DataFrame:
    """The metrics of a run of models that answer at random."""
    tables = []
    for method in ("short", "full-cot"):
        responses = of_baseline(fantom, ITEMS, "random", method)
        tables += [responses.assign(model=model) for model in models]
    return fantom.metrics(fantom.score(ITEMS, pd.concat(tables)))


@pytest.fixture(scope="module")
def shallow():
    return readers.reader(fantom, ITEMS, "short")[1]


@pytest.fixture
def drawn(monkeypatch, shallow):
    """Draw the figures of a run's metrics; returns the rows of each by its name."""

    def run(metrics):
        tables = {}
        monkeypatch.setattr(draw, "save", lambda grid, name, *_: tables.update({name: _[-1]}))
        names = {"metrics": metrics, "models": list(metrics["model"].unique()), "shallow": shallow}
        names["own_people"] = metrics.iloc[:0]  # nobody has answered
        names["display"] = lambda table: None
        imports = CELLS["cell-02"].partition("\nmetrics =")[0]
        for source in (imports, *[CELLS[cell] for cell in ("rows", "published", *DRAWN)]):
            exec(source, names)  # noqa: S102
        return tables

    return run


def test_papers_models_and_this_runs_are_drawn_in_shares(drawn):
    metrics = metrics_of("smollm2-135m", "random")
    tables = drawn(metrics)
    figure2 = tables["fantom/figure2"]
    human = figure2.query("model == 'Human' and column == 'belief_choice'")
    assert human[["source", "value", "n"]].values.tolist() == [[PAPER, 0.938, 32]]
    of_run = figure2[figure2["source"] == RUN]
    assert set(of_run["row"]) == {"SmolLM2-135M"}  # a baseline is a line
    [value] = of_run.query("column == 'all' and prompting == 'none'")["value"]
    where = "metric == 'all' and condition == 'inaccessible' and method == 'short'"
    assert [value] == metrics.query(f"{where} and model == 'smollm2-135m'")["value"].tolist()
    for figure in ("fantom/figure4", "fantom/figure5"):
        errors = tables[figure]
        papers = errors[errors["source"] == PAPER].groupby(["row", "family"])["value"].sum()
        assert len(papers) == 28
        assert np.allclose(papers, 1)
    lists = tables["fantom/figure4"]
    lists = lists[lists["source"] == RUN]
    assert lists["family"].nunique() == 2
    assert "right" in set(lists["part"])


def test_no_table_of_yes_and_no_lies_outside_the_limits_of_its_f1():
    draws = np.random.default_rng(0)
    yes = draws.beta(0.5, 0.5, 20_000)
    gold = np.stack([yes, 1 - yes], axis=1)
    answers = draws.dirichlet([0.4, 0.4, 0.4], size=(20_000, 2)) * gold[..., None]
    right = answers[:, 0, 0] + answers[:, 1, 1]
    names = {}
    exec(CELLS["errors"], names)  # noqa: S102
    lowest, highest = names["share_right"](pd.Series(weighted_f1(answers.reshape(-1, 6))))
    assert (right >= lowest - 1e-9).all()
    assert (right <= highest + 1e-9).all()
