"""The notebook of BigToM's figures, run on small tables: the numbers that it draws and prints."""

import pandas as pd
import pytest

import figures
from bigtom_templates import MEI
from tomlab import paths
from tomlab.asking.attempts import stacked
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items.templates import template_table


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the notebook's cells on so many templates and returns the folder of its results.

    asked: a baseline's answers by model and the methods it was asked by.
    """

    def started(n, asked):
        names = [f"Mei{letter}" for letter in "abcdefghijkl"[:n]]
        rows = [{key: text.replace("Mei", name) for key, text in MEI.items()} for name in names]
        rows = [row | {"template_id": name} for row, name in zip(rows, names, strict=True)]
        items = bigtom.compose(template_table(rows))
        answers = {m: figures.by_baseline(bigtom, items, *how) for m, how in asked.items()}
        figures.write(tmp_path, monkeypatch, bigtom, items, answers)
        (tmp_path / "raw/bigtom").mkdir(parents=True)
        stacked("template", template_table(rows)).to_parquet(
            paths.raw("bigtom", "templates.parquet")
        )
        figures.draw("bigtom", list(asked))
        return tmp_path

    return started


def test_figures_and_tables_have_the_papers_numbers_and_this_runs(run):
    results = run(12, {"mine": ("gold", ["0-shot", "1-shot"]), "random": ("random", ["0-shot"])})
    drawn = pd.read_csv(results / "figures/bigtom/figure3.csv")
    assert set(drawn["method"]) == {"0-shot"}
    assert set(drawn.loc[drawn["source"] == "this run", "model"]) == {"mine"}
    assert (drawn.loc[drawn["model"] == "mine", "value"] == 1).all()
    cell = "model == 'gpt-4' and variable == 'backward_belief' and initial_belief == 1"
    gpt4 = drawn.query(cell).set_index("contingency")["value"]
    assert gpt4.to_dict() == {"true_belief": 0.62, "false_belief": 0.77, "tb_and_fb": 0.4}
    people = drawn[drawn["model"].str.startswith("people")]
    backward = people[people["variable"] == "backward_belief"]
    scores = backward.groupby("contingency")["value"].unique().map(list).to_dict()
    assert scores == {"true_belief": [0.8125], "false_belief": [0.9], "tb_and_fb": [0.725]}
    assert len(people) == 18
    table7 = pd.read_csv(results / "tables/bigtom/table7.csv")
    marked = table7.query("model == 'claude-2' and method == '1-shot' and mark == '*'")
    assert "forward_action" in set(marked["variable"])
    told = set(table7.loc[table7["source"] == "this run", "model"])
    assert told == {"mine", "random", "shallow reader"}
    pairs = pd.read_csv(results / "figures/bigtom/differences.csv")
    assert {"mine − random", "1-shot − 0-shot"} <= set(pairs["pair"])


@pytest.mark.parametrize(
    "asked",
    [
        {"omniscient": ("omniscient", ["0-shot"])},
        {"mine": ("gold", ["perspective"])},
        {"mine": ("gold", ["0-shot", "1-shot-cot"]), "yours": ("omniscient", ["0-shot"])},
    ],
    ids=["a baseline alone", "another method alone", "two models"],
)
def test_any_models_and_methods_give_the_papers_figures(run, asked):
    results = run(2, asked)
    drawn = {path.name for path in results.rglob("figures/bigtom/*.png")}
    assert {"figure2b.png", "figure3.png", "outcomes.png"} <= drawn
    assert len(pd.read_csv(results / "tables/bigtom/table8.csv"))
