"""Who speaks near a fact, held against who hears it, on sets written for these tests."""

import pandas as pd
import pytest
import who_hears as check

from tomlab.paths import PUBLISHED, ROOT

LABELS = ROOT.parent / "shared" / "verdicts" / "fantom" / "who_hears.csv"
# In the first set the window (1 and 2) is who hears the fact; in the second, 0 hears it, too. In
# the third, everybody hears it, so it does not count.
SETS = pd.DataFrame(
    {
        "conversation": ["0", "1", "2"],
        "people": [3, 4, 2],
        "speakers": ["0 1 2 1 2 0", "0 3 1 2 1 2", "0 1 0 1"],
        "fact_line": [2, 3, 1],
        "hears": ["1 2", "0 1 2", "0 1"],
    }
)


def test_window_goes_from_one_line_before_the_fact_to_two_after_it():
    windows = [check.near_the_fact(row) for row in SETS.itertuples()]
    assert windows == [{"1", "2"}, {"1", "2"}, {"0", "1"}]


def test_facts_that_everybody_hears_do_not_count():
    lines, people = check.heard(SETS)
    assert (lines["value"], lines["n"]) == (0.5, 2)
    # Of five who hear a fact, four speak near it; of two who do not, nobody.
    assert people["value"] == pytest.approx((4 / 5 + 2 / 2) / 2)
    assert people["n"] == 7


@pytest.mark.skipif(not LABELS.is_file(), reason="the labels are not part of the project")
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="data/published is missing: `make data`")
def test_shares_that_are_kept_are_those_of_the_labels():
    kept = pd.read_csv(PUBLISHED / "fantom" / "who_hears_aggregate.csv")
    pd.testing.assert_frame_equal(kept, check.aggregate(LABELS), check_dtype=False)
