"""People's ratings of items: contrasts of constructed ratings, and of the preprint's totals."""

import numpy as np
import pandas as pd
import pytest

from tomlab.benchmarks.bigtom import paper, ratings
from tomlab.errors import InputError
from tomlab.paths import PUBLISHED, ROOT

SOURCES = {"BigToM": 10, "socialIQa": 6, "Expert": 6}  # items


def constructed(lower_by: dict[str, float], seed: int = 0, people: int = 14) -> pd.DataFrame:
    """Ratings of 1 to 5 in which the items of a source are rated lower than BigToM's by so much."""
    draw = np.random.default_rng(seed)
    habits = draw.normal(0, 0.2, people)
    rows = []
    for source, n_items in SOURCES.items():
        for item, quality in enumerate(draw.normal(3.6, 0.15, n_items)):
            for person, habit in enumerate(habits):
                level = quality - lower_by.get(source, 0.0) + habit
                for question in ratings.MEASURES:
                    rating = np.clip(round(level + draw.normal(0, 0.6)), 1, 5)
                    rows.append((f"p{person}", f"{source}-{item}", question, rating, source, ""))
    columns = ["participant", "item_id", "question", "rating", "source", "data_source"]
    return pd.DataFrame(rows, columns=columns).astype({"rating": float})


def aggregate(rated: pd.DataFrame) -> pd.DataFrame:
    rated = ratings.with_aggregate(rated)
    found = ratings.contrasts(rated[rated["question"] == ratings.AGGREGATE])
    return found[found["measure"] == ratings.AGGREGATE].set_index("contrast")


def test_known_effects_are_within_their_intervals_and_clear_of_nothing():
    """Of twelve intervals, one or two may miss; measured over many more, .95 hold the truth."""
    truth = pd.Series({"BigToM-socialIQa": 1.0, "BigToM-Expert": 0.6, "socialIQa-Expert": -0.4})
    holds = []
    for seed in range(4):
        found = aggregate(constructed({"socialIQa": 1.0, "Expert": 0.6}, seed)).loc[truth.index]
        holds += truth.between(found["ci_low"], found["ci_high"]).tolist()
        assert (found.loc[["BigToM-socialIQa", "BigToM-Expert"], "ci_low"] > 0).all()
    assert sum(holds) >= 10


@pytest.mark.parametrize("seed", [0, 1])
def test_where_sources_are_alike_the_interval_holds_zero(seed):
    found = aggregate(constructed({}, seed))
    assert (found["ci_low"] < 0).all()
    assert (found["ci_high"] > 0).all()


def test_each_measure_has_its_own_contrasts():
    rated = constructed({})
    is_lower = rated["question"].eq("unambiguous") & rated["source"].eq("socialIQa")
    rated.loc[is_lower, "rating"] = 1.0
    found = ratings.contrasts(rated).query("contrast == 'BigToM-socialIQa'")
    found = found.set_index("measure")["value"]
    assert found["unambiguous"] > 2
    assert abs(found["understandability"]) < 0.5


def test_an_item_that_few_rated_tells_less_than_its_number_of_ratings():
    """Twice the people on the same items do not halve the error: items are a sample, too."""
    few, many = (aggregate(constructed({}, 3, people)) for people in (8, 32))
    width = [
        found.loc["BigToM-Expert", ["ci_low", "ci_high"]].diff().iloc[1] for found in (few, many)
    ]
    assert width[1] > 0.5 * width[0]


@pytest.mark.parametrize("only", ["one source", "one person", "one item a source"])
def test_ratings_that_cannot_tell_get_a_reason_and_no_number(only):
    rated = constructed({})
    if only == "one source":
        rated = rated[rated["source"] == "BigToM"]
    elif only == "one person":
        rated = rated[rated["participant"] == "p0"]
    else:
        rated = rated[rated["item_id"].str.endswith("-0")]
    found = ratings.contrasts(ratings.with_aggregate(rated))
    assert found["value"].isna().all()
    assert found["reason"].ne("").all()


def test_two_sources_have_the_one_contrast_between_them():
    rated = constructed({"Expert": 0.5})
    found = aggregate(rated[rated["source"] != "socialIQa"])
    assert found["value"].notna().tolist() == [False, True, False]


def test_the_aggregate_is_of_those_who_rated_an_item_on_all_three():
    rated = constructed({}).query("not (participant == 'p0' and question == 'unambiguous')")
    found = ratings.with_aggregate(rated).query("question == 'aggregate'")
    assert "p0" not in set(found["participant"])
    assert len(found) == 13 * sum(SOURCES.values())


# The form


def test_ratings_are_read_with_the_sources_of_their_items(tmp_path):
    form, items = tmp_path / "ratings.csv", tmp_path / "items.csv"
    form.write_text(
        "participant,item_id,question,rating\np1,ours/1,unambiguous,5\np1,theirs-1,unambiguous,2\n",
        encoding="utf-8",
    )
    items.write_text("item_id,source,data_source\ntheirs-1,Expert,Ullman\n", encoding="utf-8")
    found = ratings.read(form, items, {"ours/1"})
    assert found["source"].tolist() == ["BigToM", "Expert"]
    assert found["data_source"].tolist() == ["", "Ullman"]
    assert found["rating"].tolist() == [5.0, 2.0]


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("p1,unknown,unambiguous,5", "item_id"),
        ("p1,ours/1,beautiful,5", "question"),
        ("p1,ours/1,unambiguous,6", "rating"),
        ("p1,ours/1,unambiguous,", "rating"),
        ("llm:gpt-4,ours/1,unambiguous,5", "participant"),
    ],
)
def test_a_faulty_rating_is_named_with_its_field(tmp_path, row, field):
    form, items = tmp_path / "ratings.csv", tmp_path / "items.csv"
    form.write_text(f"participant,item_id,question,rating\n{row}\n", encoding="utf-8")
    items.write_text("item_id,source,data_source\n", encoding="utf-8")
    with pytest.raises(InputError, match=f"row 2, field {field}: found .*, expected "):
        ratings.read(form, items, {"ours/1"})


def test_an_item_of_this_run_has_its_source_already(tmp_path):
    form, items = tmp_path / "ratings.csv", tmp_path / "items.csv"
    form.write_text("participant,item_id,question,rating\n", encoding="utf-8")
    items.write_text("item_id,source,data_source\nours/1,Expert,\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 2, field item_id"):
        ratings.read(form, items, {"ours/1"})


def test_the_projects_forms_have_their_headers_alone():
    form = ROOT / "forms/bigtom/item_ratings.csv"
    assert ratings.read(form, ROOT / "forms/bigtom/rated_items.csv", set()).empty


# The preprint's people, of whom only totals are known

needs_data = pytest.mark.skipif(
    not (PUBLISHED / "bigtom/people_ratings.csv").is_file(),
    reason="data/published is missing: `make data` pulls it",
)


@needs_data
def test_the_preprints_contrasts_are_those_of_its_peoples_totals():
    found = ratings.contrasts_of_totals(paper.PUBLICATION.read("people_ratings"))
    found = found.query("measure == 'aggregate'").set_index("contrast")["value"]
    printed = paper.PUBLICATION.read("table3_rating_contrasts")
    printed = printed.query("version == 'preprint'").set_index("contrast")["estimate"]
    assert len(printed) == 3
    assert (found[printed.index] - printed).abs().max() < 0.01


@needs_data
def test_table_4_is_that_of_the_preprints_peoples_totals():
    totals = paper.PUBLICATION.read("people_ratings").dropna(subset="data_source")
    found = ratings.means_of_totals(totals, "data_source")
    found = found.query("measure == 'aggregate'").set_index("data_source")["value"]
    printed = paper.PUBLICATION.read("table4_expert_sources")
    printed = printed.query("metric == 'aggregate'").set_index("data_source")["value"]
    assert len(printed) == 3
    assert (found[printed.index] - printed).abs().max() < 0.01
