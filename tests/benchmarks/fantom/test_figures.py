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
from tomlab.reporting import draw, numbers
from tomlab.reporting.numbers import PAPER, RUN
from tomlab.scoring import readers

CELLS = figures.cells("fantom")
DRAWN = [
    "cell-stopped",
    "beside-a",
    "beside",
    "beside-table",
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
BESIDE = ["cell-stopped", "beside-a", "beside", "beside-table"]
GATED = ["model", "method", "questions", "metric", "gate", "value", "ci_low", "ci_high"]
FAILS = ["smollm2-135m", "short", "choices", "same_answer", "fails", 0.1, 0.05, 0.2]


ITEMS = fantom.compose(random_sets(1))


@cache
def scores_of(*models: str) -> pd.DataFrame:
    """The scores of a run of models that answer at random."""
    tables = []
    for method in ("short", "full-cot"):
        responses = of_baseline(fantom, ITEMS, "random", method)
        tables += [responses.assign(model=model) for model in models]
    return fantom.score(ITEMS, pd.concat(tables))


@cache
def metrics_of(*models: str) -> pd.DataFrame:
    """The metrics of a run of models that answer at random."""
    return fantom.metrics(scores_of(*models))


@pytest.fixture(scope="module")
def shallow():
    return readers.reader(fantom, ITEMS, "short")[1]


def draw_cells(folder, metrics, shallow, *gated, source="authored", scores=None, drawn=DRAWN):
    """Draw the figures of a run's metrics, and write its tables into the folder; returns the rows
    of each figure by its name. gated: rows of the gate's table; source: of the items; scores: of
    which the metrics are, by default those of all questions; drawn: the ids of the cells.
    """
    tables = {}
    models = list(metrics["model"].unique())
    names = {"metrics": metrics, "models": models, "shallow": shallow}
    names["items"] = ITEMS.assign(source=source)
    names["gated"] = pd.DataFrame(list(gated), columns=GATED)
    names["scores"] = scores_of(*models) if scores is None else scores
    names["own_people"] = metrics.iloc[:0]  # nobody has answered
    names["display"] = lambda table: None
    imports = CELLS["cell-02"].partition("\nmetrics =")[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draw, "save", lambda grid, name, *_: tables.update({name: _[-1]}))
        patch.setattr(paths, "RESULTS", folder)
        for code in (imports, *[CELLS[cell] for cell in ("rows", "published", *drawn)]):
            exec(code, names)  # noqa: S102
    plt.close("all")
    return tables


def beside_in(folder) -> pd.DataFrame:
    """The table of this run beside the paper that was written into the folder."""
    return pd.read_csv(folder / "tables/fantom/beside.csv", dtype=str).set_index("Score")


@pytest.fixture(scope="module")
def of_model(shallow, tmp_path_factory):
    """The rows of each figure of a run of one model."""
    return draw_cells(tmp_path_factory.mktemp("model"), metrics_of("smollm2-135m"), shallow)


@pytest.fixture(scope="module")
def with_random(shallow, tmp_path_factory):
    """The rows of each figure of a run of a model and a baseline, and the table beside the paper."""
    folder = tmp_path_factory.mktemp("random")
    tables = draw_cells(folder, metrics_of("smollm2-135m", "random"), shallow)
    return tables, beside_in(folder)


def table9(kind: str) -> pd.DataFrame:
    """The printed shares of one kind of question, short context, without fine-tuning."""
    rows = PUBLICATION.read("table9_all").query("context == 'short' and prompting != 'ft'")
    rows = rows[rows["column"].str.endswith(f"_{kind}")]
    analysed = PUBLICATION.read("table3_characters")["model"].unique()
    rows = rows[rows["model"].isin(analysed)]
    return rows["value"] / 100


def test_papers_models_and_this_runs_are_drawn_in_shares(with_random):
    metrics = metrics_of("smollm2-135m", "random")
    tables, _ = with_random
    figure2 = tables["fantom/figure2"]
    human = figure2.query("model == 'Human' and column == 'belief_choice'")
    assert human[["source", "value", "n"]].values.tolist() == [[PAPER, 0.938, 32]]
    of_run = figure2[figure2["source"] == RUN]
    assert set(of_run["row"]) == {"SmolLM2-135M"}  # baselines are in the tables
    [value] = of_run.query("column == 'all' and prompting == 'none'")["value"]
    where = "metric == 'all' and condition == 'inaccessible' and method == 'short'"
    assert [value] == metrics.query(f"{where} and model == 'smollm2-135m'")["value"].tolist()
    assert set(of_run["mark"]) == {""}


def test_errors_show_what_is_printed_of_the_paper_and_everything_of_this_run(of_model):
    lists = of_model["fantom/figure4"].query("source == @PAPER")
    assert set(lists["part"]) == {"right"}
    assert sorted(lists["value"]) == pytest.approx(sorted(table9("list")))
    yes_no = of_model["fantom/figure5"].query("source == @PAPER")
    least, greatest = share_right(table9("yn"))
    totals = yes_no.groupby(["row", "family"])["value"].sum()
    assert len(totals) == 28
    assert sorted(totals) == pytest.approx(sorted(greatest))
    assert sorted(yes_no.query("part == 'right'")["value"]) == pytest.approx(sorted(least))
    for figure in ("fantom/figure4", "fantom/figure5"):
        of_run = of_model[figure].query("source == @RUN")
        assert of_run["family"].nunique() == 2
        assert np.allclose(of_run.groupby(["row", "family"])["value"].sum(), 1)


def test_a_method_that_does_not_pass_the_gate_is_marked_and_no_other(shallow, tmp_path):
    tables = draw_cells(tmp_path, metrics_of("smollm2-135m"), shallow, FAILS)
    of_run = tables["fantom/figure2"].query("source == @RUN")
    assert set(of_run.query("method == 'short'")["mark"]) == {"§"}
    of_run = tables["fantom/figure4"].query("source == @RUN")
    rows = set(of_run["row"])
    assert rows == {"SmolLM2-135M, short §", "SmolLM2-135M + chain of thought, full"}


def test_a_run_stands_beside_the_paper_and_says_that_it_cannot_be_compared(with_random):
    metrics = metrics_of("smollm2-135m", "random")
    _, beside = with_random
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
    difference = row["Minus the paper's best"].partition(" ")[0].replace("−", "-")
    assert float(difference) == pytest.approx(value - 0.733, abs=0.006)


def test_baselines_and_reader_answer_the_questions_of_the_row(tmp_path, shallow):
    scores = scores_of("smollm2-135m", "random")
    choices = ITEMS.query("question_type == 'belief_choice' and scenario == 'inaccessible'")
    asked = choices["item_id"].iloc[:3]
    is_left_out = scores["item_id"].isin(choices["item_id"].iloc[3:])
    scores = scores[scores["model"].ne("smollm2-135m") | ~is_left_out]
    draw_cells(tmp_path, fantom.metrics(scores), shallow, scores=scores, drawn=BESIDE)
    beside = beside_in(tmp_path)
    row = beside.loc["BeliefQ [Choice]"]
    assert row["n"] == "3"
    right = shallow[shallow["item_id"].isin(asked)]["score"].mean()
    assert row["Shallow reader"].partition(" ")[0] == numbers.number(right)
    by_guess = scores.query("model == 'random' and method == 'short' and item_id in @asked")[
        "score"
    ]
    assert row["Random"].partition(" ")[0] == numbers.number(by_guess.mean())


def test_numbers_on_released_items_can_be_compared_unless_an_encoder_decides(tmp_path, shallow):
    metrics = metrics_of("smollm2-135m")
    draw_cells(tmp_path, metrics, shallow, source="released:fantom_v1", drawn=BESIDE)
    beside = beside_in(tmp_path)
    comparable = beside["Comparable?"]
    assert comparable["All"].startswith("yes")
    assert comparable["BeliefQ [Choice]"].startswith("yes")
    by_encoder = ["All*", "BeliefQ [Dist.]", "BeliefQ [token F1]"]
    assert set(comparable[comparable.str.contains("FAN-1")].index) == set(by_encoder)


def test_newer_models_stand_below_the_best_of_table_9(of_model):
    figure = of_model["fantom/newer_models"]
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
