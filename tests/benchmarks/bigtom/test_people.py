"""People on BigToM: the scores of Figure 3 are those of the counts, and both intervals stand by."""

import pandas as pd
import pytest

from tomlab.benchmarks.bigtom import paper
from tomlab.paths import PUBLISHED

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="data/published is missing: `make data` pulls it"
)


def test_scores_of_figure_3_are_those_of_the_counts():
    question = ["contingency", "variable"]
    counts = paper.PUBLICATION.read("people_counts").query("in_figure3 == 1")
    totals = counts.groupby(question)[["right", "people"]].sum()
    printed = paper.PUBLICATION.read("release_human").set_index(question)["accuracy"]
    assert len(printed) == 9
    assert (totals["right"] / totals["people"])[printed.index].tolist() == pytest.approx(printed)


def test_every_score_has_an_interval_over_its_four_templates():
    people = paper.people()
    templates = people[people["over"] == "templates"]
    assert len(templates) == 9
    assert templates["n_groups"].eq(4).all()
    is_inside = templates["value"].between(templates["ci_low"], templates["ci_high"])
    assert is_inside.all()


def test_reliability_of_two_items_is_that_counted_by_hand():
    """Ratings 1 and 3 of one item, 4 and 4 of the other: mean squares 4 between and 1 within."""
    rated = {"people": [2, 2], "mean": [2, 4], "sd": [2**0.5, 0], "template": ["a", "b"]}
    table = paper.reliability(pd.DataFrame(rated)).set_index("of")["value"]
    assert table["one rating"] == pytest.approx((4 - 1) / (4 + 1))
    assert table["mean rating"] == pytest.approx((4 - 1) / 4)
    assert table["best judge"] == pytest.approx(0.75**0.5)


def test_no_judge_can_reach_items_that_differ_less_than_their_ratings():
    rated = {"people": [2, 2], "mean": [3, 3], "sd": [1, 1], "template": ["a", "b"]}
    table = paper.reliability(pd.DataFrame(rated)).set_index("of")["value"]
    assert table["best judge"] == 0


@pytest.mark.skipif(
    not (PUBLISHED / "bigtom/people_items.csv").is_file(), reason="people_items.csv is missing"
)
def test_items_that_people_rated_add_up_to_the_totals():
    by_item = paper.people_items().fillna({"data_source": ""})
    by_item["total"] = (by_item["people"] * by_item["mean"]).round()
    sums = by_item.groupby(["source", "data_source", "measure"])[["people", "total"]].sum()
    totals = paper.PUBLICATION.read("people_ratings").fillna({"data_source": ""})
    totals = totals.set_index(sums.index.names)
    assert sums["people"].to_dict() == totals["ratings"].to_dict()
    assert sums["total"].to_dict() == totals["total"].to_dict()
    bigtom = by_item.query("source == 'BigToM' and measure == 'unambiguous'")
    assert (len(bigtom), bigtom["template"].nunique()) == (100, 97)
