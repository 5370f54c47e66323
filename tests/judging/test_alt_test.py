"""Whether a judge may stand in for an annotator."""

import numpy as np
import pandas as pd
import pytest

from tomlab.errors import InputError
from tomlab.judging import people


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
    good = people.alt_test(said, pd.Series(truth))
    assert good["rejected"].all() and (good["judge_wins"] > good["annotator_wins"]).all()
    by_lot = people.alt_test(said, pd.Series(draw.random(len(truth)) < 0.5))
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
    found = people.alt_test(table, pd.Series({1: 1, 2: 1, 3: 0})).set_index("annotator")
    # In unit 2 the judge says what p says: it beats q before p, and is as far from q as p is.
    assert found.loc["q", ["units", "judge_wins", "annotator_wins"]].tolist() == [2, 1.0, 0.5]
    assert found.loc["p", ["units", "judge_wins", "annotator_wins"]].tolist() == [2, 1.0, 1.0]


def test_one_annotator_is_no_test():
    said, truth = labels(np.random.default_rng(0), 1, 0.1)
    with pytest.raises(InputError, match="found 1 annotators, expected two or more"):
        people.alt_test(said, pd.Series(truth))
