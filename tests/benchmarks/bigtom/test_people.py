"""People on BigToM: the scores of Figure 3 are those of the counts, and both intervals stand by."""

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
