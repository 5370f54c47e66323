"""People on BigToM: the scores of Figure 3 are those of the counts, and both intervals stand by."""

import pandas as pd
import pytest

from tomlab.benchmarks.bigtom import paper
from tomlab.paths import PUBLISHED

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="data/published is missing: `make data` pulls it"
)
# Forward belief, forward action, backward belief.
QUESTIONS = ["forward_belief", "forward_action", "backward_belief"]
FALSE_BELIEF = [0.9875, 0.825, 0.9]
BOTH_RIGHT = [0.975, 0.775, 0.725]


@pytest.fixture(scope="module")
def counts() -> pd.DataFrame:
    return paper.PUBLICATION.read("people_counts")


def shares(counts: pd.DataFrame, contingency: str) -> list[float]:
    rows = counts[counts["contingency"] == contingency]
    totals = rows.groupby("variable")[["right", "people"]].sum().loc[QUESTIONS]
    return (totals["right"] / totals["people"]).round(4).tolist()


def test_false_belief_alone_and_both_right_are_those_of_the_counts(counts):
    drawn = counts.query("in_figure3 == 1")
    assert shares(drawn, "false_belief") == FALSE_BELIEF
    assert shares(drawn, "tb_and_fb") == BOTH_RIGHT


def test_scores_of_the_authors_notebook_are_those_of_the_counts(counts):
    printed = paper.PUBLICATION.read("release_human").set_index(["contingency", "variable"])
    drawn = counts.query("in_figure3 == 1")
    for contingency in ("true_belief", "false_belief", "tb_and_fb"):
        scores = printed.loc[contingency]["accuracy"].loc[QUESTIONS].tolist()
        assert scores == shares(drawn, contingency)


def test_the_papers_72_percent_is_the_share_right_in_both_versions():
    printed = paper.PUBLICATION.read("human_baseline").set_index("contingency")
    people = paper.people().query("variable == 'backward_belief' and over == 'people'")
    people = people.set_index("contingency")["value"] * 100
    called_false_belief = printed.loc["false_belief", "accuracy_percent"]
    assert abs(called_false_belief - people["tb_and_fb"]) <= 0.5
    assert abs(called_false_belief - people["false_belief"]) > 15


def test_who_is_right_in_both_versions_is_right_in_each(counts):
    wide = counts.pivot_table("right", ["row", "variable"], "contingency")
    assert (wide["tb_and_fb"] <= wide[["true_belief", "false_belief"]].min(axis=1)).all()
    assert (wide["tb_and_fb"] >= wide["true_belief"] + wide["false_belief"] - 20).all()


def test_every_score_has_an_interval_over_its_four_templates():
    people = paper.people()
    templates = people[people["over"] == "templates"]
    assert len(templates) == 9
    assert templates["n_groups"].eq(4).all()
    inside = templates["value"].between(templates["ci_low"], templates["ci_high"])
    assert inside.all()
    # The printed intervals resample people, and leave out that the templates are few.
    printed = people[people["over"] == "people"].dropna(subset="ci_low")
    assert len(printed) == 6
    width = templates["ci_high"] - templates["ci_low"]
    assert width.mean() > (printed["ci_high"] - printed["ci_low"]).mean()


def test_the_template_that_the_authors_dropped_would_lower_both_right(counts):
    assert counts.query("in_figure3 == 0")["row"].unique().tolist() == [71]
    assert shares(counts, "tb_and_fb") == [0.95, 0.76, 0.67]
