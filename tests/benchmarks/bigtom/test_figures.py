"""The notebook of BigToM's figures, run on small tables: the numbers that it draws and prints."""

import csv
from collections import Counter
from functools import partial

import pandas as pd
import pytest
from scipy.stats import beta

import figures
from bigtom_templates import divers
from tomlab import paths
from tomlab.asking.attempts import stacked
from tomlab.benchmarks import bigtom


def started(folder, patch, templates, asked, edit=lambda answers: answers, **options):
    """Runs the notebook's cells on templates; returns the folder of its results.

    asked: a baseline and the methods that it is asked by, by model; options: of the notebook.
    """
    items = bigtom.compose(templates)
    answers = {m: edit(figures.by_baseline(bigtom, items, *how)) for m, how in asked.items()}
    figures.write(folder, patch, bigtom, items, answers)
    figures.keep_readers(bigtom, items)
    (folder / "raw/bigtom").mkdir(parents=True)
    stacked("template", templates).to_parquet(paths.raw("bigtom", "templates.parquet"))
    figures.draw("bigtom", list(asked), **options)
    return folder


@pytest.fixture
def run(tmp_path, monkeypatch):
    return partial(started, tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Of a run of one model and a baseline."""
    asked = {"mine": ("gold", ["0-shot", "1-shot"]), "random": ("random", ["0-shot"])}
    with pytest.MonkeyPatch.context() as patch:
        return started(tmp_path_factory.mktemp("run"), patch, divers(12), asked)


def test_figures_and_tables_have_the_papers_numbers_and_this_runs(results):
    drawn = pd.read_csv(results / "figures/bigtom/figure3.csv")
    assert set(drawn["method"]) == {"0-shot"}
    assert set(drawn.loc[drawn["source"] == "this run", "model"]) == {"mine"}
    assert (drawn.loc[drawn["model"] == "mine", "value"] == 1).all()
    cell = "model == 'gpt-4' and variable == 'backward_belief' and initial_belief == 1"
    gpt4 = drawn.query(cell).set_index("contingency")["value"]
    assert gpt4.to_dict() == {"true_belief": 0.62, "false_belief": 0.77, "tb_and_fb": 0.4}
    assert drawn["model"].str.startswith("people").sum() == 18
    table7 = pd.read_csv(results / "tables/bigtom/table7.csv")
    marked = table7.query("model == 'claude-2' and method == '1-shot' and mark == '*'")
    assert "forward_action" in set(marked["variable"])
    models = set(table7.loc[table7["source"] == "this run", "model"])
    assert models == {"mine", "random", "shallow reader"}
    pairs = pd.read_csv(results / "figures/bigtom/card_differences.csv")
    assert {"mine − random", "1-shot − 0-shot"} <= set(pairs["pair"])
    beside = pd.read_csv(results / "tables/bigtom/beside.csv").set_index(["variable", "model"])
    gpt4 = beside.loc[("forward_belief", "gpt-4")]
    assert (gpt4["value"], gpt4["n_groups"]) == (0.9, 200)
    # Clopper and Pearson's interval of 180 in 200 by the quantiles of its beta distributions.
    assert gpt4["ci_low"] == pytest.approx(beta.ppf(0.025, 180, 21))
    assert gpt4["ci_high"] == pytest.approx(beta.ppf(0.975, 181, 20))
    mine = beside.loc[("forward_belief", "mine")]
    assert (mine["value"], mine["difference"][:5]) == (1, ".10 [")
    assert mine["comparable"] == "yes: its items"


@pytest.mark.skipif(
    not (paths.PUBLISHED / "bigtom/people_items.csv").is_file(),
    reason="data/published is missing: `make data` pulls it",
)
def test_completions_are_right_on_both_versions_as_counted_by_hand(results):
    right = {}
    with (paths.PUBLISHED / "bigtom/completions.csv").open() as file:
        for row in csv.DictReader(file):
            key = (row["model"], row["initial_belief"], row["row"])
            right[key] = right.get(key, True) and row["verdict"] == "correct"
    counts = Counter((model, stated) for (model, stated, _), both in right.items() if both)
    assert counts["gpt-3.5-turbo", "1"] == 41 and counts["text-davinci-003", "1"] == 34
    form = pd.read_csv(results / "tables/bigtom/form.csv").query("contingency == 'tb_and_fb'")
    shares = form.set_index(["model", "initial_belief"])["value"]
    assert shares["gpt-3.5", 1] == 41 / 50 and shares["dav-003", 1] == 34 / 50
    assert form["n_groups"].eq(50).all()
    agreement = pd.read_csv(results / "tables/bigtom/agreement.csv")
    of_bigtom = agreement.query("source == 'BigToM' and measure == 'unambiguous'")
    best = of_bigtom.set_index("of")["value"]
    assert best["one rating"] == pytest.approx(0.037, abs=0.002)  # from single ratings: .037
    assert best["best judge"] == pytest.approx(0.66, abs=0.01)


def test_another_method_alone_gives_the_papers_figures(run):
    results = run(divers(2), {"mine": ("gold", ["perspective"])})
    drawn = {path.name for path in results.rglob("figures/bigtom/*.png")}
    assert {"figure2b.png", "figure3.png", "card_outcomes.png"} <= drawn
    assert len(pd.read_csv(results / "tables/bigtom/table8.csv"))


def without_keys(answers):
    """The texts of the options alone, in every answer about a forward belief."""
    of_belief = answers["item_id"].str.contains("forward_belief")
    texts = answers["response"].str.replace(r"^Answer: [ab]\)", "", regex=True)
    return answers.assign(response=answers["response"].where(~of_belief, texts))


def test_second_source_and_answers_without_a_key_have_rows_of_their_own(run):
    templates = divers(12)
    templates.loc[1::2, "source"] = "llm:claude-2"
    asked = {"random": ("random", ["0-shot"]), "mine": ("omniscient", ["0-shot"])}
    results = run(templates, asked, edit=without_keys, answers_without_letter="text")
    for name, column in (("table10", "data_source"), ("table12", "templates_of")):
        table = pd.read_csv(results / f"tables/bigtom/{name}.csv")
        rows = table[table["source"] == "this run"]
        assert {"released:fig5", "llm:claude-2"} <= set(rows[column]), name
    table11 = pd.read_csv(results / "tables/bigtom/table11.csv")
    assert {"random", "mine"} <= set(table11.loc[table11["source"] == "this run", "model"])
    terms = pd.read_csv(results / "tables/bigtom/circularity.csv")
    rows = terms[terms["source"] == "this run"]
    assert rows["term"].str.contains("]:", regex=False).sum() == 1
    assert rows[["b", "se", "p"]].notna().all(axis=None)
    assert rows["n_groups"].eq(12).all()
    table7 = pd.read_csv(results / "tables/bigtom/table7.csv")
    rows = table7.query("variable == 'forward_belief' and contingency == 'true_belief'")
    values = rows[rows["model"].str.startswith("mine")].groupby("model")["value"].max()
    assert values.to_dict() == {"mine": 0, "mine, answers without a key by text": 1}
