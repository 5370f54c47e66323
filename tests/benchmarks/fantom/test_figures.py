"""What the cells of FANToM's figures notebook draw, by their data; and the limits that F1 sets."""

import numpy as np
import pandas as pd
import pytest

import fantom_metrics
import figures
from fantom_sets import random_sets
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.metrics import weighted_f1
from tomlab.reporting import draw
from tomlab.reporting.numbers import PAPER, RUN
from tomlab.scoring import readers

CELLS = figures.cells("fantom")


@pytest.fixture
def drawn(monkeypatch):
    """Run cells on a run's metrics; returns the rows of each figure by its name."""

    def run(metrics, *cells):
        found = {}
        monkeypatch.setattr(draw, "save", lambda grid, name, *_: found.update({name: _[-1]}))
        imports = CELLS["cell-02"].partition("\nmetrics =")[0]
        names = {"metrics": metrics, "models": list(metrics["model"].unique())}
        _, names["shallow"] = readers.reader(fantom, fantom.compose(random_sets(1)), "short")
        names["own_people"] = metrics.iloc[:0]  # nobody has answered
        names["display"] = lambda shown: found.update(said=str(shown))
        for source in (imports, *map(CELLS.get, ("rows", "published", *cells))):
            exec(source, names)  # noqa: S102
        return found

    return run


def test_figure2_has_the_papers_models_and_this_runs_in_shares(drawn):
    metrics = fantom_metrics.metrics("smollm2-135m", "random")
    shown = drawn(metrics, "cell-04-a", "cell-04")["fantom/figure2"]
    human = shown.query("model == 'Human' and column == 'belief_choice'")
    assert human[["source", "value", "n"]].values.tolist() == [[PAPER, 0.938, 32]]
    own = shown[shown["source"].eq(RUN)]
    assert set(own["row"]) == {"SmolLM2-135M"}  # a baseline is a line
    [value] = own.query("column == 'all' and prompting == 'none'")["value"]
    where = "metric == 'all' and condition == 'inaccessible' and method == 'short'"
    assert [value] == metrics.query(f"{where} and model == 'smollm2-135m'")["value"].tolist()


def test_parts_of_a_bar_make_up_all_answers(drawn):
    metrics = fantom_metrics.metrics("smollm2-135m")
    found = drawn(metrics, "errors", "errors-paper", "cell-17", "cell-18")
    for figure in ("fantom/figure4", "fantom/figure5"):
        theirs = found[figure][found[figure]["source"].eq(PAPER)]
        whole = theirs.groupby(["row", "family"])["value"].sum()
        assert len(whole) == 28 and np.allclose(whole, 1)
    lists = found["fantom/figure4"].query("source == @RUN", local_dict={"RUN": RUN})
    assert lists["family"].nunique() == 2 and "right" in set(lists["part"])


@pytest.mark.parametrize("models", [("random",), ("GPT-4 0314",)])
def test_any_models_are_drawn(drawn, models):
    metrics = fantom_metrics.metrics(*models, methods=("short", "full-cot"))
    cells = ("cell-04-a", "cell-04", "cell-09", "cell-09-figure", "cell-13")
    cells += ("errors", "errors-paper", "cell-17", "cell-18")
    assert {"fantom/figure2", "fantom/figure4", "fantom/scenarios"} <= {*drawn(metrics, *cells)}


def test_no_table_of_yes_and_no_lies_outside_the_limits_of_its_f1():
    random = np.random.default_rng(0)
    shares = random.beta(0.5, 0.5, 20_000)
    gold = np.stack([shares, 1 - shares], axis=1)
    said = random.dirichlet([0.4, 0.4, 0.4], size=(20_000, 2)) * gold[..., None]
    right = said[:, 0, 0] + said[:, 1, 1]
    exec(CELLS["errors"], names := {})  # noqa: S102
    least, most = names["share_right"](pd.Series(weighted_f1(said.reshape(-1, 6))))
    assert (right >= least - 1e-9).all()
    assert (right <= most + 1e-9).all()
