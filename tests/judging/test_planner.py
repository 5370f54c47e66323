"""How many stories to label, which, and whether a judge may stand in for an annotator."""

import numpy as np
import pandas as pd
import pytest

from tomlab.errors import InputError
from tomlab.judging import planner
from tomlab.judging.error import by_labels


def scores(stories: int, spread: float = 0.2) -> pd.DataFrame:
    judged = 0.5 + spread * np.random.default_rng(0).standard_normal(stories)
    table = pd.DataFrame({"group": [f"s{n}" for n in range(stories)], "judged": judged})
    return table.assign(model="m", method="stage1-L3")


def test_a_better_judge_and_a_wider_wish_need_fewer_labels():
    [good], [useless] = (planner.plan(scores(100), r, 0.08)["to_label"] for r in (0.9, 0.0))
    [wide] = planner.plan(scores(100), 0.9, 0.15)["to_label"]
    assert wide < good < useless <= 100


def test_a_wish_that_all_stories_do_not_fulfil_is_told():
    [row] = planner.plan(scores(5), 0.9, 0.01).to_dict("records")
    assert (row["groups"], row["to_label"]) == (5, 5)
    assert row["reaches"] > 0.01
    [alike] = planner.plan(scores(5).assign(judged=0.0), 0.9, 0.1).to_dict("records")
    assert alike["to_label"] == 5 and np.isnan(alike["reaches"])
    with pytest.raises(InputError, match="half_width: found 0, expected more than 0"):
        planner.plan(scores(5), 0.9, 0)


def test_what_is_planned_is_what_labels_then_reach():
    draw, widths = np.random.default_rng(1), []
    for _ in range(40):
        true = np.clip(draw.normal(0.5, 0.15, 100), 0, 1)
        judged = np.clip(true + draw.normal(0, 0.08, 100), 0, 1)
        chosen = draw.permutation(100) < 20
        table = pd.DataFrame({"group": range(100), "judged": judged})
        found = by_labels(table.assign(labelled=np.where(chosen, true, np.nan)))
        widths.append((found.ci_high - found.ci_low) / 2)
    correlation = 0.15 / np.hypot(0.15, 0.08)
    assert np.mean(widths) == pytest.approx(
        planner.half_widths(100, 0.15, correlation)[20], rel=0.2
    )


def test_the_stories_are_drawn_by_the_seed_and_more_of_them_include_the_fewer():
    stories = [f"s{n}" for n in range(30)]
    assert planner.drawn(stories, 5, 1) == planner.drawn(stories[::-1], 10, 1)[:5]
    assert planner.drawn(stories, 5, 1) != planner.drawn(stories, 5, 2)


def labels(
    draw, annotators: int, noise: float, units: int = 200
) -> tuple[pd.DataFrame, np.ndarray]:
    """What annotators who err alike often say of the same units, ten a group; and the truth."""
    truth = draw.random(units) < 0.5
    parts = [
        pd.DataFrame(
            {
                "group": np.arange(units) // 10,
                "unit": np.arange(units),
                "annotator": f"p{n}",
                "label": truth ^ (draw.random(units) < noise),
            }
        )
        for n in range(annotators)
    ]
    return pd.concat(parts, ignore_index=True), truth


def test_a_judge_as_good_as_people_may_stand_in_and_one_by_lot_may_not():
    draw = np.random.default_rng(3)
    said, truth = labels(draw, 3, 0.1)
    good = planner.alt_test(said, pd.Series(truth))
    assert good["rejected"].all() and (good["judge_wins"] > good["annotator_wins"]).all()
    by_lot = planner.alt_test(said, pd.Series(draw.random(len(truth)) < 0.5))
    assert not by_lot["rejected"].any()
    assert (by_lot["judge_wins"] < 0.7).all() and by_lot["groups"].eq(20).all()


def test_by_hand_of_two_annotators_and_a_unit_that_one_left_out():
    said = [
        ("a", 1, "p", 1),
        ("a", 1, "q", 1),
        ("b", 2, "p", 1),
        ("b", 2, "q", 0),
        ("b", 3, "p", 1),
    ]
    table = pd.DataFrame(said, columns=["group", "unit", "annotator", "label"])
    found = planner.alt_test(table, pd.Series({1: 1, 2: 1, 3: 0})).set_index("annotator")
    # In unit 2 the judge says what p says: it beats q before p, and is as far from q as p is.
    assert found.loc["q", ["units", "judge_wins", "annotator_wins"]].tolist() == [2, 1.0, 0.5]
    assert found.loc["p", ["units", "judge_wins", "annotator_wins"]].tolist() == [2, 1.0, 1.0]


def test_one_annotator_is_no_test():
    said, truth = labels(np.random.default_rng(0), 1, 0.1)
    with pytest.raises(InputError, match="found 1 annotators, expected two or more"):
        planner.alt_test(said, pd.Series(truth))
