"""The page on readers who track no mind, run as the book runs it, without a run of its own."""

from pathlib import Path

import nbformat
import pandas as pd
import pytest

from tomlab.paths import PUBLISHED

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="data/published is missing: `make data` pulls it"
)


@pytest.fixture(scope="module")
def root(front) -> Path:
    return front


@pytest.fixture(scope="module")
def two_options(root) -> pd.DataFrame:
    table = pd.read_csv(root / "results/tables/knowing/two_options.csv")
    return table.set_index(["reader", "order", "context", "scenario"]).sort_index()


def test_page_warns_of_nothing_and_draws_both_figures(root):
    cells = nbformat.read(root / "results/index/09_no_mind.ipynb", as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []
    figures = sorted(path.name for path in (root / "results/figures/knowing").glob("no_mind*.png"))
    assert figures == ["no_mind.png", "no_mind_own.png"]


def test_rule_gets_what_was_counted_before(two_options):
    """Numbers of the file's README: .70, .77 and .74 over both scenarios."""
    means = two_options.xs("mean", level="scenario").loc["who speaks near the fact", "value"]
    assert means.round(2).to_dict() == {
        ("first", "short"): 0.70,
        ("second", "full"): 0.74,
        ("second", "short"): 0.77,
    }


def test_constants_share_each_question_between_them(two_options):
    nobody = two_options.loc["nobody ever knows", "value"]
    everybody = two_options.loc["everybody always knows", "value"]
    assert (nobody + everybody).round(9).eq(1).all()
    right = nobody.drop("mean", level="scenario").groupby("scenario").agg(["min", "max"]).round(2)
    assert right.loc["inaccessible"].to_list() == [0.82, 0.92]
    assert right.loc["accessible"].to_list() == [0.05, 0.15]


def test_intervals_hold_their_values_and_are_over_fewer_conversations_than_there_are(two_options):
    assert two_options["value"].between(two_options["ci_low"], two_options["ci_high"]).all()
    assert two_options["n_groups"].between(100, 270).all()
