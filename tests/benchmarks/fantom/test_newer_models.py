"""The later table of the authors' repository: how it is read, and what its arithmetic shows."""

import pytest

from audit import results
from tomlab.benchmarks.fantom.paper import PUBLICATION
from tomlab.paths import PUBLISHED
from tomlab.reporting import numbers

pytestmark = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="data/published is missing: `make data` pulls it"
)


@pytest.fixture(scope="module")
def newer():
    return numbers.published(PUBLICATION, "newer_models")


def test_sixteen_models_on_the_task_and_thirteen_on_the_control_task(newer):
    assert len(newer) == 348
    models = newer.groupby("scenario")["model"].nunique()
    assert models.to_dict() == {"control": 13, "inaccessible": 16}
    assert set(newer["context"]) == {"short"}


def test_values_are_shares_and_name_their_source(newer):
    gpt4o = newer.query("model == 'GPT-4o-2024-05-13' and column == 'belief_choice'")
    assert gpt4o.set_index("scenario")["value"].to_dict() == {
        "inaccessible": 0.497,
        "control": 0.883,
    }
    assert gpt4o["printed_in"].str.contains("README of the authors' repository").all()


def test_no_model_is_in_both_tables(newer):
    assert set(newer["model"]).isdisjoint(PUBLICATION.read("table9_all")["model"])


def test_only_set_scores_of_one_model_fail_a_check(newer):
    """GPT-4o has .455 of sets right in the control task, and its answerability in .175 of them."""
    failing = newer[newer["mark"].eq(numbers.MARK)]
    assert failing[["scenario", "model", "column"]].values.tolist() == [
        ["control", "GPT-4o-2024-05-13", "all_star"],
        ["control", "GPT-4o-2024-05-13", "all"],
    ]


def test_its_shares_fit_the_released_file_and_not_the_papers_counts():
    check = PUBLICATION.checked("newer_models", "released_sets")
    assert "0 of 4 fail" in check
    assert "870 = 641 + 229" in check
    assert "703 = no split" in check
    assert "1540 = 993 + 547" in check
    assert "1415 = no split" in check


def test_a_share_that_no_count_gives_fails_the_check(tmp_path):
    folder = tmp_path / "fantom"
    folder.mkdir()
    PUBLICATION.read("dataset_counts").to_csv(folder / "dataset_counts.csv", index=False)
    changed = PUBLICATION.read("newer_models")
    is_list = changed["column"].eq("answerability_list") & changed["scenario"].eq("inaccessible")
    row = changed.index[is_list][0]
    assert changed.loc[row, "value"] == 41.7
    changed.loc[row, "value"] = 41.6
    changed.to_csv(folder / "newer_models.csv", index=False)
    checks = results(tmp_path, ("fantom", 37))[1].set_index("name")
    assert checks.loc["released_sets", "n_failed"] == 1
    assert "870 = no split" in checks.loc["released_sets", "finding"]
