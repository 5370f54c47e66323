"""What the cells of FANToM's figures notebook draw, by their data; and the limits that F1 sets."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import figures
from fantom_sets import random_sets
from replies import of_baseline
from tomlab import paths
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.metrics import weighted_f1
from tomlab.benchmarks.fantom.paper import PUBLICATION, share_right
from tomlab.reporting import draw
from tomlab.reporting.numbers import PAPER, RUN
from tomlab.scoring import readers

CELLS = figures.cells("fantom")
DRAWN = [
    "cell-stopped",
    "beside-a",
    "beside",
    "newer-table",
    "newer-says",
    "newer",
    "cell-04-a",
    "cell-04",
    "cell-06",
    "cell-13",
    "cell-13-figure",
    "errors-paper",
    "errors",
    "cell-17",
    "cell-18",
    "cell-09-figure",
]
GATED = ["model", "method", "questions", "metric", "gate", "value", "ci_low", "ci_high"]
FAILS = ("smollm2-135m", "short", "choices", "same_answer", "fails", 0.1, 0.05, 0.2)


ITEMS = fantom.compose(random_sets(1))


@cache
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


@pytest.fixture(scope="module")
def drawn(tmp_path_factory, shallow):
    """Draw the figures of the metrics of models, once; returns the rows of each figure by its name,
    and as "beside" the table of this run beside the paper. gated: rows of the gate's table;
    source: of the items.
    """
    patch = pytest.MonkeyPatch()

    @cache
    def run(*models, gated=(), source="authored"):
        metrics = metrics_of(*models).copy()
        folder = tmp_path_factory.mktemp("run")
        tables = {}
        patch.setattr(draw, "save", lambda grid, name, *_: tables.update({name: _[-1]}))
        patch.setattr(paths, "RESULTS", folder)
        names = {"metrics": metrics, "models": list(metrics["model"].unique()), "shallow": shallow}
        names |= {
            "items": ITEMS.assign(source=source),
            "gated": pd.DataFrame(list(gated), columns=GATED),
        }
        names["own_people"] = metrics.iloc[:0]  # nobody has answered
        names["display"] = lambda table: None
        imports = CELLS["cell-02"].partition("\nmetrics =")[0]
        for code in (imports, *[CELLS[cell] for cell in ("rows", "published", *DRAWN)]):
            exec(code, names)  # noqa: S102
        plt.close("all")
        patch.undo()
        beside = pd.read_csv(folder / "tables/fantom/beside.csv", dtype=str)
        return tables | {"beside": beside.set_index("Score")}

    yield run
    patch.undo()


def table9(kind: str) -> pd.DataFrame:
    """The printed shares of one kind of question, short context, without fine-tuning."""
    rows = PUBLICATION.read("table9_all").query("context == 'short' and prompting != 'ft'")
    rows = rows[rows["column"].str.endswith(f"_{kind}")]
    analysed = PUBLICATION.read("table3_characters")["model"].unique()
    rows = rows[rows["model"].isin(analysed)]
    return rows["value"] / 100


def test_papers_models_and_this_runs_are_drawn_in_shares(drawn):
    metrics = metrics_of("smollm2-135m", "random")
    tables = drawn("smollm2-135m", "random")
    figure2 = tables["fantom/figure2"]
    human = figure2.query("model == 'Human' and column == 'belief_choice'")
    assert human[["source", "value", "n"]].values.tolist() == [[PAPER, 0.938, 32]]
    of_run = figure2[figure2["source"] == RUN]
    assert set(of_run["row"]) == {"SmolLM2-135M"}  # baselines are in the tables
    [value] = of_run.query("column == 'all' and prompting == 'none'")["value"]
    where = "metric == 'all' and condition == 'inaccessible' and method == 'short'"
    assert [value] == metrics.query(f"{where} and model == 'smollm2-135m'")["value"].tolist()
    assert set(of_run["mark"]) == {""}


def test_errors_show_what_is_printed_of_the_paper_and_everything_of_this_run(drawn):
    tables = drawn("smollm2-135m")
    lists = tables["fantom/figure4"].query("source == @PAPER")
    assert set(lists["part"]) == {"right"}
    assert sorted(lists["value"]) == pytest.approx(sorted(table9("list")))
    yes_no = tables["fantom/figure5"].query("source == @PAPER")
    least, greatest = share_right(table9("yn"))
    totals = yes_no.groupby(["row", "family"])["value"].sum()
    assert len(totals) == 28
    assert sorted(totals) == pytest.approx(sorted(greatest))
    assert sorted(yes_no.query("part == 'right'")["value"]) == pytest.approx(sorted(least))
    for figure in ("fantom/figure4", "fantom/figure5"):
        of_run = tables[figure].query("source == @RUN")
        assert of_run["family"].nunique() == 2
        assert np.allclose(of_run.groupby(["row", "family"])["value"].sum(), 1)


def test_a_method_that_does_not_pass_the_gate_is_marked_and_no_other(drawn):
    tables = drawn("smollm2-135m", gated=(FAILS,))
    of_run = tables["fantom/figure2"].query("source == @RUN")
    assert set(of_run.query("method == 'short'")["mark"]) == {"§"}
    of_run = tables["fantom/figure4"].query("source == @RUN")
    rows = set(of_run["row"])
    assert rows == {"SmolLM2-135M, short §", "SmolLM2-135M + chain of thought, full"}


def test_a_run_stands_beside_the_paper_and_says_that_it_cannot_be_compared(drawn):
    metrics = metrics_of("smollm2-135m", "random")
    beside = drawn("smollm2-135m", "random")["beside"]
    assert len(beside) == 12
    row = beside.loc["BeliefQ [Choice]"]
    assert row["Paper's best"] == ".73 GPT-4 0613 (June)"
    assert row["Paper's worst"] == ".18 InstructGPT davinci-003"
    assert row["People"] == ".94"
    assert row["Comparable?"].startswith("no (ALL-1)")
    # Ten of fourteen models have no set right.
    assert beside.loc["All*", "Paper's worst"] == ".00 10 models"
    where = "metric == 'belief_choice' and condition == 'inaccessible' and method == 'short'"
    [value] = metrics.query(f"{where} and model == 'smollm2-135m'")["value"]
    difference = row["Run minus best"].partition(" ")[0].replace("−", "-")
    assert float(difference) == pytest.approx(value - 0.733, abs=0.006)


def test_numbers_on_released_items_can_be_compared_unless_an_encoder_decides(drawn):
    beside = drawn("smollm2-135m", source="released:fantom_v1")["beside"]
    comparable = beside["Comparable?"]
    assert comparable["All"].startswith("yes")
    assert comparable["BeliefQ [Choice]"].startswith("yes")
    by_encoder = ["All*", "BeliefQ [Dist.]", "BeliefQ [token F1]"]
    assert set(comparable[comparable.str.contains("FAN-1")].index) == set(by_encoder)


def test_newer_models_stand_below_the_best_of_table_9(drawn):
    figure = drawn("smollm2-135m")["fantom/newer_models"]
    sets = figure.query("column == 'all_star'")
    missed = sets.query("scenario == 'inaccessible'").set_index("row")["value"]
    assert len(missed) == 18
    assert missed["GPT-4 0613 (June), 2023"] == 0.082
    assert missed["GPT-4 0613 (June) + chain of thought, 2023"] == 0.184
    assert missed["GPT-4o-2024-05-13"] == 0.008
    heard = sets.query("scenario == 'control'")
    assert len(heard) == 13
    assert heard.query("mark == '*'")["model"].tolist() == ["GPT-4o-2024-05-13"]


def test_no_table_of_yes_and_no_lies_outside_the_limits_of_its_f1():
    draws = np.random.default_rng(0)
    yes = draws.beta(0.5, 0.5, 20_000)
    gold = np.stack([yes, 1 - yes], axis=1)
    answers = draws.dirichlet([0.4, 0.4, 0.4], size=(20_000, 2)) * gold[..., None]
    right = answers[:, 0, 0] + answers[:, 1, 1]
    lowest, highest = share_right(pd.Series(weighted_f1(answers.reshape(-1, 6))))
    assert (right >= lowest - 1e-9).all()
    assert (right <= highest + 1e-9).all()
