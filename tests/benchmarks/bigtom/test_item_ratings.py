"""People's ratings of items: contrasts of constructed ratings, and of the preprint's totals."""

import numpy as np
import pandas as pd
import pytest

from tomlab.benchmarks.bigtom import paper, ratings
from tomlab.errors import InputError
from tomlab.paths import PUBLISHED, ROOT

SOURCES = {"BigToM": 8, "socialIQa": 5, "Expert": 5}  # items


def constructed(lower_by: dict[str, float], seed: int = 0, people: int = 10) -> pd.DataFrame:
    """Ratings of 1 to 5 in which the items of a source are rated lower than BigToM's by so much."""
    draw = np.random.default_rng(seed)
    habits = draw.normal(0, 0.2, people)
    rows = []
    for source, n_items in SOURCES.items():
        for item, quality in enumerate(draw.normal(3.6, 0.15, n_items)):
            for person, habit in enumerate(habits):
                level = quality - lower_by.get(source, 0.0) + habit
                for measure in ratings.MEASURES:
                    rating = np.clip(round(level + draw.normal(0, 0.6)), 1, 5)
                    rows.append((f"p{person}", f"{source}-{item}", measure, rating, source, ""))
    columns = ["participant", "item_id", "measure", "rating", "source", "data_source"]
    return pd.DataFrame(rows, columns=columns).astype({"rating": float})


def aggregate(rated: pd.DataFrame) -> pd.DataFrame:
    rated = ratings.with_aggregate(rated)
    table = ratings.contrasts(rated[rated["measure"] == ratings.AGGREGATE])
    return table[table["measure"] == ratings.AGGREGATE].set_index("contrast")


def coverage(lower_by: dict[str, float], truth: dict[str, float]) -> list[bool]:
    """Whether each interval of four sets of ratings holds the truth; one in twenty may miss."""
    holds = []
    for seed in range(4):
        table = aggregate(constructed(lower_by, seed))
        for contrast, value in truth.items():
            holds.append(table.at[contrast, "ci_low"] < value < table.at[contrast, "ci_high"])
    return holds


def test_intervals_of_known_effects_hold_them():
    lower_by = {"socialIQa": 1.0, "Expert": 0.6}
    truth = {"BigToM-socialIQa": 1.0, "BigToM-Expert": 0.6, "socialIQa-Expert": -0.4}
    assert sum(coverage(lower_by, truth)) >= 10


def test_intervals_hold_zero_where_sources_are_alike():
    assert sum(coverage({}, dict.fromkeys(ratings.CONTRASTS, 0.0))) >= 10


def test_a_large_effect_is_told_from_none():
    table = aggregate(constructed({"socialIQa": 1.5}))
    assert table.at["BigToM-socialIQa", "ci_low"] > 0
    assert table.at["socialIQa-Expert", "ci_high"] < 0


def test_each_measure_has_its_own_contrasts():
    rated = constructed({})
    is_lower = rated["measure"].eq("unambiguous") & rated["source"].eq("socialIQa")
    rated.loc[is_lower, "rating"] = 1.0
    table = ratings.contrasts(rated).query("contrast == 'BigToM-socialIQa'")
    table = table.set_index("measure")["value"]
    assert table["unambiguous"] > 2
    assert abs(table["understandability"]) < 0.5


def test_an_item_that_few_rated_tells_less_than_its_number_of_ratings():
    """Four times the people on the same items do not halve the error: items are a sample, too."""
    few = aggregate(constructed({}, 3, people=8)).loc["BigToM-Expert"]
    many = aggregate(constructed({}, 3, people=32)).loc["BigToM-Expert"]
    assert many["ci_high"] - many["ci_low"] > 0.5 * (few["ci_high"] - few["ci_low"])


@pytest.mark.parametrize("only", ["one source", "one person", "one item a source"])
def test_ratings_that_cannot_tell_get_a_reason_and_no_number(only):
    rated = constructed({})
    if only == "one source":
        rated = rated[rated["source"] == "BigToM"]
    elif only == "one person":
        rated = rated[rated["participant"] == "p0"]
    else:
        rated = rated[rated["item_id"].str.endswith("-0")]
    table = ratings.contrasts(ratings.with_aggregate(rated))
    assert table["value"].isna().all()
    assert table["reason"].ne("").all()


def test_two_sources_have_the_one_contrast_between_them():
    rated = constructed({"Expert": 0.5})
    table = aggregate(rated[rated["source"] != "socialIQa"])
    assert table["value"].notna().tolist() == [False, True, False]


def test_the_aggregate_is_of_those_who_rated_an_item_on_all_three():
    rated = constructed({}).query("not (participant == 'p0' and measure == 'unambiguous')")
    table = ratings.with_aggregate(rated).query("measure == 'aggregate'")
    assert "p0" not in set(table["participant"])
    assert len(table) == 9 * sum(SOURCES.values())


# The form


def test_ratings_are_read_with_the_sources_of_their_items(tmp_path):
    form, items = tmp_path / "ratings.csv", tmp_path / "items.csv"
    form.write_text(
        "participant,item_id,question,rating\np1,ours/1,coherent_q_a,5\np1,theirs-1,unambiguous,2\n",
        encoding="utf-8",
    )
    items.write_text("item_id,source,data_source\ntheirs-1,Expert,Ullman\n", encoding="utf-8")
    table = ratings.read(form, items, {"ours/1"})
    assert table["source"].tolist() == ["BigToM", "Expert"]
    assert table["data_source"].tolist() == ["", "Ullman"]
    assert table["rating"].tolist() == [5.0, 2.0]
    assert table["measure"].tolist() == ["coherent_question_answer", "unambiguous"]


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
    table = ratings.contrasts_of_totals(paper.PUBLICATION.read("people_ratings"))
    table = table.query("measure == 'aggregate'").set_index("contrast")["value"]
    printed = paper.PUBLICATION.read("table3_rating_contrasts")
    printed = printed.query("version == 'preprint'").set_index("contrast")["estimate"]
    assert len(printed) == 3
    assert (table[printed.index] - printed).abs().max() < 0.01


@needs_data
def test_table_4_is_that_of_the_preprints_peoples_totals():
    totals = paper.PUBLICATION.read("people_ratings").dropna(subset="data_source")
    table = ratings.means_of_totals(totals, "data_source")
    table = table.query("measure == 'aggregate'").set_index("data_source")["value"]
    printed = paper.PUBLICATION.read("table4_expert_sources")
    printed = printed.query("metric == 'aggregate'").set_index("data_source")["value"]
    assert len(printed) == 3
    assert (table[printed.index] - printed).abs().max() < 0.01
