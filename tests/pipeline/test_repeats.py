"""Repeated questions at a temperature, from the model to the table and figure of the notebook."""

import pandas as pd
import pytest

from laboratory import Laboratory, laboratory
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items import templates
from tomlab.paths import DATA
from tomlab.records import tidy
from tomlab.reporting import printed
from tomlab.scoring.repeats import split

MODEL = "smollm2-135m"
SHOWN = ["forward_belief/true_belief/1", "forward_belief/false_belief/1"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Laboratory:
    """Both versions of one question on two templates, asked three times each of the real model."""

    def change(content: dict) -> None:
        content["run"] |= {"models": [MODEL], "samples": 3, "orders": 1, "wordings": []}
        own = {"temperature": 0.7, "groups": {}, "answer_tokens": {"bigtom": {"0-shot": 16}}}
        content["models"][MODEL] |= own

    lab = laboratory(tmp_path_factory.mktemp("repeats"), change)
    items = bigtom.compose(templates.read_templates(DATA / "bigtom/templates.csv").head(2))
    cell = items[["variable", "condition", "initial_belief"]].astype(str).agg("/".join, axis=1)
    path = lab.root / "results/items/bigtom.parquet"
    path.parent.mkdir(parents=True)
    tidy.write(items[cell.isin(SHOWN)], "items", path)
    lab.run(f"evaluation@bigtom-{MODEL}")
    return lab


def scores(lab: Laboratory) -> pd.DataFrame:
    return tidy.read("scores", lab.root / f"results/scores/bigtom/{MODEL}.parquet")


def outputs(lab: Laboratory) -> list:
    """What the cell below "What would repeats bring?" shows."""
    cells = lab.executed(f"evaluation@bigtom-{MODEL}").cells
    sources = [cell.source for cell in cells]
    [at] = [n for n, text in enumerate(sources) if text.startswith("## What would repeats bring?")]
    return cells[at + 1].outputs


def test_each_question_is_asked_three_times_and_not_all_answers_repeat(lab):
    assert scores(lab).groupby("item_id")["sample"].apply(list).tolist() == [[0, 1, 2]] * 4
    path = lab.root / f"results/responses/bigtom/{MODEL}.parquet"
    assert tidy.read("responses", path).groupby("item_id")["response"].nunique().max() > 1


def test_notebook_shows_the_split_of_its_scores_and_draws_it(lab):
    table, figure, caption = (output["data"] for output in outputs(lab))
    found = split(scores(lab), "group_id")
    share = found.share
    assert printed.cell(share.value, share.ci_low, share.ci_high) in table["text/html"]
    assert f"{found.half_width(20):.3f}" in table["text/html"]
    assert "12/2" in table["text/html"]
    assert "image/png" in figure
    assert "BigToM: half-width" in caption["text/html"]
