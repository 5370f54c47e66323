"""What BigToM's authors print of people, recomputed from what they released of them."""

import pandas as pd
import people_of_bigtom as check
import pytest

from tomlab.benchmarks.bigtom.paper import PUBLICATION
from tomlab.paths import PUBLISHED, ROOT

RELEASED = ROOT.parent / "shared" / "verdicts" / "bigtom"
pytestmark = [
    pytest.mark.skipif(
        not (RELEASED / "people_ratings.csv").is_file(),
        reason="no ../shared/verdicts/bigtom: these files are not part of the project",
    ),
    pytest.mark.skipif(
        not (PUBLISHED / "bigtom").is_dir(), reason="data/published is missing: `make data`"
    ),
]


@pytest.fixture(scope="module")
def totals() -> pd.DataFrame:
    return check.totals_of(pd.read_csv(RELEASED / "people_ratings.csv"))


def test_the_preprints_contrasts_and_table_4_are_had_from_its_people(totals):
    contrasts = check.contrasts(totals)
    assert contrasts["printed"].tolist() == [1.175, 0.296, -0.878]
    sources = check.expert_sources(totals)
    assert len(sources) == 3
    figure3 = check.figure3(pd.read_csv(RELEASED / "people_counts.csv"))
    assert len(figure3) == 9
    for table in (contrasts, sources, figure3):
        assert table["apart"].max() < check.APART


def test_the_projects_totals_are_those_of_the_items(totals):
    ours = PUBLICATION.read("people_ratings").fillna({"data_source": ""})
    pd.testing.assert_frame_equal(ours, totals, check_dtype=False)
