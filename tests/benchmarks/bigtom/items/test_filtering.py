"""What the filters find, what they drop, and what raters and labels come to."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest

from bigtom_templates import MEI
from one_cell import ran
from tomlab.benchmarks.bigtom.items.filtering import diversity, ratings_form, screen
from tomlab.benchmarks.bigtom.items.templates import template_table
from tomlab.errors import InputError
from tomlab.records.files import read_form


def templates(*changes):
    """One template each, authored and numbered t1, t2, ..., with changes to Mei's."""
    rows = []
    for number, change in enumerate(changes, start=1):
        names = {"template_id": f"t{number}", "agent": f"Name{number}", "source": "authored"}
        rows.append(MEI | names | change)
    return template_table(rows)


# Screening


@pytest.mark.parametrize(
    ("changes", "vectors", "faults"),
    [
        ([{}, {}], [[1, 0], [0.79, np.sqrt(1 - 0.79**2)]], []),
        ([{"belief": ""}, {}], np.eye(2), ["t1 structure: belief: 0 sentences instead of one"]),
        # The third is like the second, which is itself a duplicate of the first.
        (
            [{}, {}, {}],
            [[1, 0], [0.8, 0.6], [0.28, 0.96]],
            ["t2 near-duplicate: cosine 0.800 to t1"],
        ),
        (
            [{"agent": "Ana"}, {"agent": "Ana"}, {"agent": ""}, {"agent": ""}],
            np.eye(4),
            ["t2 repeated name: Ana is the agent of t1 too"],
        ),
    ],
    ids=["none", "form", "chain", "name"],
)
def test_faults_are_found_and_released_templates_are_not_dropped(changes, vectors, faults):
    table = templates(*changes)
    vectors = np.array(vectors, float)
    screened = screen(table, vectors, 0.8)
    columns = screened["template_id"] + " " + screened["filter"] + ": " + screened["reason"]
    assert columns.tolist() == faults
    assert screened["dropped"].all()
    assert not screen(table.assign(source="released:bigtom"), vectors, 0.8)["dropped"].any()


# Ratings

COLUMNS = ["template_id", "rater", "rater_kind", "follows_structure", "tests_behavior"]


def report(ratings):
    """What the notebook makes of ratings."""
    return ran("2_filtering", "bigtom", "cell-ratings", rated=ratings)["ratings"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("t9,ann,human,1,5", "field template_id: found 't9'"),
        ("t1,,human,1,5", "field rater: found nothing"),
        ("t1,ann,person,1,5", "field rater_kind: found 'person'"),
        ("t1,ann,human,2,5", "field follows_structure: found '2'"),
    ],
)
def test_bad_rating_is_named_by_row_and_field(tmp_path, line, fault):
    path = tmp_path / "ratings.csv"
    path.write_text(",".join(COLUMNS) + f"\n{line}\n")
    with pytest.raises(InputError, match=rf"ratings\.csv(.|\n)*row 2, {fault}"):
        read_form(path, ratings_form({"t1"}))


RATINGS = pd.read_csv(
    StringIO("""template_id,rater,rater_kind,follows_structure,tests_behavior
t1,ann,human,1,5
t2,ann,human,1,4
t3,ann,human,0,1
t4,ann,human,,
t1,gpt,llm:gpt-4,1,5
t2,gpt,llm:gpt-4,0,4
t3,gpt,llm:gpt-4,0,2
t4,gpt,llm:gpt-4,0,3
"""),
    dtype={"follows_structure": "Int64", "tests_behavior": "Int64"},
)


def test_mean_and_median_of_each_rater_and_people_and_models_are_never_pooled():
    table = report(RATINGS)
    raters = table[table["rater"] != "all"].set_index(["question", "rater"])
    columns = ["mean", "median", "n"]
    for key, values in {
        ("follows_structure", "ann"): [2 / 3, 1, 3],
        ("follows_structure", "gpt"): [1 / 4, 0, 4],
        ("tests_behavior", "ann"): [10 / 3, 4, 3],
        ("tests_behavior", "gpt"): [3.5, 3.5, 4],
    }.items():
        assert raters.loc[key, columns].tolist() == pytest.approx(values)
    assert raters["mean"].between(raters["ci_low"], raters["ci_high"]).all()
    together = table[table["rater"] == "all"]
    assert together[["rater_kind", "n"]].to_numpy().tolist() == [["human", 0], ["llm", 0]] * 2


# Diversity


def test_labels_are_counted_by_source_without_regard_to_case_and_authors_come_first():
    table = templates(
        {"state": "color", "aware_of_event": "Mei hears it.", "medium": "taste"},
        {"state": "Color", "aware_of_event": "Mei knows it."},
        {"source": "llm:smol"},
    )
    by_model = {"t1": {"state": "size"}, "t3": {"mechanism": "rain"}}
    columns = ["source", "dimension", "distinct", "unlabelled", "labelled_by"]
    assert diversity(table, by_model)[columns].to_numpy().tolist() == [
        ["authored", "state", 1, 0, "authors"],
        ["authored", "mechanism", 0, 2, "nobody"],
        ["authored", "medium", 1, 1, "rule"],
        ["llm:smol", "state", 0, 1, "nobody"],
        ["llm:smol", "mechanism", 1, 0, "model"],
        ["llm:smol", "medium", 1, 0, "rule"],
    ]
