"""The notebook of BigToM's figures, run on small tables: the numbers that it draws and prints."""

import pandas as pd
import pytest

import figures
from bigtom_templates import divers
from tomlab import paths
from tomlab.asking.attempts import stacked
from tomlab.benchmarks import bigtom


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the notebook's cells on so many templates and returns the folder of its results.

    asked: a baseline's answers by model and the methods it was asked by; source: who wrote every
    other template, changed: what becomes of the answers, options: parameters of the notebook.
    """

    def started(n, asked, source="", changed=lambda answers, items: answers, **options):
        templates = divers(n)
        if source:
            templates.loc[1::2, "source"] = source
        items = bigtom.compose(templates)
        answers = {m: figures.by_baseline(bigtom, items, *how) for m, how in asked.items()}
        answers = {m: changed(table, items) for m, table in answers.items()}
        figures.write(tmp_path, monkeypatch, bigtom, items, answers)
        (tmp_path / "raw/bigtom").mkdir(parents=True)
        stacked("template", templates).to_parquet(paths.raw("bigtom", "templates.parquet"))
        figures.draw("bigtom", list(asked), **options)
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
    models = set(table7.loc[table7["source"] == "this run", "model"])
    assert models == {"mine", "random", "shallow reader"}
    pairs = pd.read_csv(results / "figures/bigtom/differences.csv")
    assert {"mine − random", "1-shot − 0-shot"} <= set(pairs["pair"])


@pytest.mark.parametrize(
    "asked",
    [
        {"mine": ("gold", ["perspective"])},
        {"mine": ("gold", ["0-shot", "1-shot-cot"]), "yours": ("omniscient", ["0-shot"])},
    ],
    ids=["another method alone", "two models"],
)
def test_any_models_and_methods_give_the_papers_figures(run, asked):
    results = run(2, asked)
    drawn = {path.name for path in results.rglob("figures/bigtom/*.png")}
    assert {"figure2b.png", "figure3.png", "outcomes.png"} <= drawn
    assert len(pd.read_csv(results / "tables/bigtom/table8.csv"))


# Answers without a key


def without_keys(answers, items):
    """The texts of the options alone, in every answer about a forward belief."""
    of_belief = answers["item_id"].str.contains("forward_belief")
    texts = answers["response"].str.replace(r"^Answer: [ab]\)", "", regex=True)
    return answers.assign(response=answers["response"].where(~of_belief, texts))


def test_protocols_number_and_the_one_by_text_stand_beside_each_other(run):
    asked = {"mine": ("gold", ["0-shot"])}
    results = run(12, asked, changed=without_keys, answers_without_letter="text")
    both = pd.read_csv(results / "tables/bigtom/without_key.csv")
    cell = "variable == 'forward belief' and contingency == 'both right'"
    values = both.query(cell).groupby("answers")["value"].unique().map(list).to_dict()
    assert values == {"the protocol": [0], "answers without a key by text": [1]}
    table7 = pd.read_csv(results / "tables/bigtom/table7.csv")
    rows = table7.query("variable == 'forward_belief' and contingency == 'tb_and_fb'")
    shown = rows[rows["model"].str.startswith("mine")].groupby("model")["value"].unique()
    assert shown.map(list).to_dict() == {
        "mine": [0],
        "mine, answers without a key by text": [1],
    }


def test_without_the_parameter_there_is_the_protocols_number_alone(run):
    results = run(2, {"mine": ("gold", ["0-shot"])}, changed=without_keys)
    assert not (results / "tables/bigtom/without_key.csv").exists()
    table7 = pd.read_csv(results / "tables/bigtom/table7.csv")
    assert not table7["model"].str.contains("without a key").any()


# Items from a second source


def test_second_source_gives_rows_to_tables_10_11_and_12_and_a_regression(run):
    asked = {"random": ("random", ["0-shot"]), "omniscient": ("omniscient", ["0-shot"])}
    results = run(12, asked, source="llm:claude-2")
    for name, column in (("table10", "data_source"), ("table12", "templates_of")):
        table = pd.read_csv(results / f"tables/bigtom/{name}.csv")
        rows = table[table["source"] == "this run"]
        assert {"released:fig5", "llm:claude-2"} <= set(rows[column]), name
    table11 = pd.read_csv(results / "tables/bigtom/table11.csv")
    assert {"random", "omniscient"} <= set(table11.loc[table11["source"] == "this run", "model"])
    terms = pd.read_csv(results / "tables/bigtom/circularity.csv")
    rows = terms[terms["source"] == "this run"]
    is_interaction = rows["term"].str.contains("]:", regex=False)
    assert is_interaction.sum() == 1
    assert rows[["b", "se", "p"]].notna().all(axis=None)
    assert rows["n_groups"].eq(12).all()
