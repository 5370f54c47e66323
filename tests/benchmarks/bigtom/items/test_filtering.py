"""What the filters find, what they drop, and what raters and labels come to."""

import numpy as np
import pandas as pd
import pytest

from bigtom_templates import MEI
from one_cell import ran
from tomlab.benchmarks.bigtom.items.filtering import (
    diversity,
    ratings_form,
    screen,
)
from tomlab.benchmarks.bigtom.items.templates import template_table
from tomlab.errors import InputError
from tomlab.records.files import read_form
from tomlab.scoring.kept import survives


def templates(*changes):
    """One template each, authored and numbered t1, t2, ..., with changes to Mei's."""
    return template_table(
        [
            {**MEI, "template_id": f"t{i}", "agent": f"Name{i}", "source": "authored", **change}
            for i, change in enumerate(changes, start=1)
        ]
    )


def apart(table):
    """Vectors that are all at right angles."""
    return np.eye(len(table))


def faults(table, vectors=None, threshold=0.9):
    vectors = apart(table) if vectors is None else np.array(vectors, float)
    return screen(table, vectors, threshold)


def kept(table, found):
    return table[survives(table, found, ["template_id"])]


def rows(found):
    return found[["template_id", "filter", "reason"]].values.tolist()


# Screening


def test_templates_without_fault_are_all_kept():
    table = templates({}, {}, {})
    found = faults(table)
    assert list(found.columns) == ["template_id", "source", "filter", "reason", "dropped"]
    assert found.empty
    assert kept(table, found).equals(table)


def test_fault_of_structure_is_found_and_dropped():
    table = templates({}, {"belief": "Mei dives. She looks."})
    found = faults(table)
    assert rows(found) == [["t2", "structure", "belief: 2 sentences instead of one"]]
    assert found["dropped"].tolist() == [True]
    assert kept(table, found)["template_id"].tolist() == ["t1"]


def test_each_fault_has_a_row_and_the_template_is_dropped_once():
    table = templates({"belief": "", "action_question": "Go."}, {})
    found = faults(table)
    assert rows(found) == [
        ["t1", "structure", "belief: 0 sentences instead of one"],
        ["t1", "structure", "action_question: not a question"],
    ]
    assert kept(table, found)["template_id"].tolist() == ["t2"]


def test_story_told_twice_is_found_with_the_earlier_one():
    table = templates({}, {}, {})
    found = faults(table, [[1, 0], [0, 1], [0.6, 0.8]], threshold=0.8)
    assert rows(found) == [["t3", "near-duplicate", "cosine 0.800 to t2"]]


def test_just_below_the_threshold_is_another_story():
    assert faults(templates({}, {}), [[1, 0], [0.8, 0.6]], threshold=0.801).empty


def test_duplicate_stands_for_nothing():
    # The third is like the second, which is itself a duplicate of the first, but unlike the first.
    vectors = [[1, 0], [0.8, 0.6], [0.28, 0.96]]
    found = faults(templates({}, {}, {}), vectors, threshold=0.75)
    assert found["template_id"].tolist() == ["t2"]


def test_repeated_name_is_found_with_whose_it_was():
    table = templates({}, {"agent": "Mei"}, {"agent": "Mei"}, {"agent": "Mei"})
    table["causal_event"] = "An octopus opens the oyster."
    assert rows(faults(table)) == [
        ["t3", "repeated name", "Mei is the agent of t2 too"],
        ["t4", "repeated name", "Mei is the agent of t2 too"],
    ]


def test_missing_names_are_no_repeats():
    assert faults(templates({"agent": ""}, {"agent": ""})).empty


def test_released_templates_are_reported_and_never_dropped():
    released = {"source": "released:bigtom", "agent": "Mei"}
    table = templates({**released, "belief": ""}, released, {})
    found = faults(table, [[1, 0], [1, 0], [0, 1]])
    assert found["filter"].tolist() == ["structure", "near-duplicate", "repeated name"]
    assert not found["dropped"].any()
    assert kept(table, found).equals(table)


# Ratings


COLUMNS = ["template_id", "rater", "rater_kind", "follows_structure", "tests_behavior"]
HEADER = ",".join(COLUMNS)


@pytest.fixture
def ratings_file(tmp_path):
    def write(*lines, header=HEADER):
        path = tmp_path / "ratings.csv"
        path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return path

    return write


KNOWN = {"t1", "t2", "t3"}


def rating_report(rated):
    """What the notebook makes of ratings."""
    return ran("2_filtering", "bigtom", "cell-ratings", rated=rated)["ratings"]


def complaint(path):
    with pytest.raises(InputError) as caught:
        read_form(path, ratings_form(KNOWN))
    assert "ratings.csv" in str(caught.value)
    return str(caught.value)


def test_what_is_not_rated_counts_in_no_mean(ratings_file):
    table = read_form(ratings_file("t1,ann,human,1,", "t2,ann,human,,4"), ratings_form(KNOWN))
    report = rating_report(table).query("rater == 'ann'")
    assert report[["question", "mean", "n"]].to_numpy().tolist() == [
        ["follows_structure", 1.0, 1],
        ["tests_behavior", 4.0, 1],
    ]


def test_header_alone_is_no_ratings_and_no_error(ratings_file):
    table = read_form(ratings_file(), ratings_form(KNOWN))
    assert table.empty
    assert rating_report(table).empty


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("t9,ann,human,1,5", "row 2, field template_id: found 't9', expected the id of a template"),
        ("t1,,human,1,5", "row 2, field rater: found nothing"),
        ("t1,ann,person,1,5", "field rater_kind: found 'person', expected human or llm:<model>"),
        ("t1,ann,human,2,5", "field follows_structure: found '2', expected 0 to 1"),
        ("t1,ann,human,1,0", "field tests_behavior: found '0', expected 1 to 5"),
        ("t1,ann,human,1,4.5", "field tests_behavior: found '4.5', expected 1 to 5"),
        ("t1,ann,human,1", "row 2: found 4 fields, expected 5"),
    ],
)
def test_bad_rating_is_named_by_row_and_field(ratings_file, line, said):
    assert said in complaint(ratings_file(line))


# The report on ratings


RATINGS = pd.DataFrame(
    [
        ("t1", "ann", "human", 1, 5),
        ("t2", "ann", "human", 1, 4),
        ("t3", "ann", "human", 0, 1),
        ("t1", "gpt", "llm:gpt-4", 1, 5),
        ("t2", "gpt", "llm:gpt-4", 0, 4),
        ("t3", "gpt", "llm:gpt-4", 0, 2),
        ("t4", "gpt", "llm:gpt-4", 0, 3),
    ],
    columns=COLUMNS,
)


PEOPLE = RATINGS.assign(rater_kind="human")


def reported(question, rater, ratings=RATINGS):
    table = rating_report(ratings)
    [row] = table[(table["question"] == question) & (table["rater"] == rater)].to_dict("records")
    return row


@pytest.mark.parametrize(
    ("question", "rater", "mean", "median", "n"),
    [
        ("follows_structure", "ann", 2 / 3, 1, 3),
        ("follows_structure", "gpt", 1 / 4, 0, 4),
        ("tests_behavior", "ann", 10 / 3, 4, 3),
        ("tests_behavior", "gpt", 3.5, 3.5, 4),
    ],
)
def test_mean_and_median_of_each_rater(question, rater, mean, median, n):
    row = reported(question, rater)
    assert row["mean"] == pytest.approx(mean)
    assert row["median"] == median
    assert row["n"] == n
    assert row["ci_low"] < mean < row["ci_high"]


def test_people_and_models_are_never_pooled():
    table = rating_report(RATINGS)
    together = table[table["rater"] == "all"]
    assert together["rater_kind"].tolist() == ["human", "llm"] * 2
    assert together["n"].tolist() == [0] * 4


def test_agreement_is_over_what_both_rated():
    # Nominal alpha by hand: pairs 11, 10, 00; D_o = 2/6, D_e = 2 * 3 * 3 / (6 * 5) = 3/5.
    row = reported("follows_structure", "all", PEOPLE)
    assert row["n"] == 3
    assert row["percent_agreement"] == pytest.approx(2 / 3)
    assert row["alpha"] == pytest.approx(1 - (2 / 6) / (3 / 5))


# Diversity


def labelled(table, by_model=None):
    found = diversity(table, by_model or {}).set_index(["source", "dimension"])
    return found[["distinct", "templates", "unlabelled", "labelled_by"]].T.to_dict("list")


def test_labels_of_the_authors_are_counted_without_regard_to_case():
    state = [{"state": s, "mechanism": "cat"} for s in ("color", "Color", "place")]
    found = labelled(templates(*state))
    assert found["authored", "state"] == [2, 3, 0, "authors"]
    assert found["authored", "mechanism"] == [1, 3, 0, "authors"]


def test_medium_is_read_off_the_verb_whatever_the_label():
    told = ["Mei sees it.", "Mei hears it.", "Mei watches it.", "Mei knows it."]
    found = labelled(templates(*({"aware_of_event": t, "medium": "taste"} for t in told)))
    assert found["authored", "medium"] == [2, 4, 1, "rule"]


def test_labels_of_a_model_fill_in_where_the_authors_gave_none():
    by_model = {"t1": {"state": "color", "mechanism": "rain"}, "t2": {"state": "Color"}}
    found = labelled(templates({}, {}, {}), by_model)
    assert found["authored", "state"] == [1, 3, 1, "model"]
    assert found["authored", "mechanism"] == [1, 3, 2, "model"]


def test_label_of_an_author_goes_before_that_of_a_model():
    by_model = {"t1": {"state": "size"}, "t2": {"state": "place"}}
    found = labelled(templates({"state": "color"}, {}), by_model)
    assert found["authored", "state"] == [2, 2, 0, "authors and model"]


def test_sources_are_counted_apart():
    found = labelled(templates({"state": "color"}, {"source": "llm:smol"}), {"t2": {"state": "x"}})
    assert found["authored", "state"] == [1, 1, 0, "authors"]
    assert found["llm:smol", "state"] == [1, 1, 0, "model"]
