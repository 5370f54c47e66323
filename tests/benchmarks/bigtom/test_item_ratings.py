"""People's ratings of items: contrasts of constructed ratings, and of the preprint's totals."""

import numpy as np
import pandas as pd
import people_of_bigtom as check
import pytest

from tomlab.benchmarks.bigtom import paper, ratings
from tomlab.errors import InputError
from tomlab.paths import PUBLISHED

SOURCES = {"BigToM": 8, "socialIQa": 5, "Expert": 5}  # items


def constructed(lower_by: dict[str, float], seed: int = 0, people: int = 10) -> pd.DataFrame:
    """Ratings of 1 to 5 in which the items of a source are rated lower than BigToM's by so much."""
    draw = np.random.default_rng(seed)
    items = [f"{source}-{item}" for source, count in SOURCES.items() for item in range(count)]
    participants = [f"p{number}" for number in range(people)]
    cells = pd.MultiIndex.from_product([participants, items, ratings.MEASURES])
    rated = cells.to_frame(index=False, name=["participant", "item_id", "measure"])
    rated["source"] = rated["item_id"].str.partition("-")[0]
    quality = pd.Series(draw.normal(3.6, 0.15, len(items)), items)
    habit = pd.Series(draw.normal(0, 0.2, people), participants)
    level = rated["item_id"].map(quality) + rated["participant"].map(habit)
    level -= rated["source"].map(lower_by).fillna(0)
    rating = np.clip(np.round(level + draw.normal(0, 0.6, len(rated))), 1, 5)
    return rated.assign(rating=rating, data_source="")


def aggregate(rated: pd.DataFrame) -> pd.DataFrame:
    table = ratings.contrasts(ratings.with_aggregate(rated))
    return table[table["measure"] == ratings.AGGREGATE].set_index("contrast")


@pytest.mark.parametrize("lower_by", [{"socialIQa": 1.0, "Expert": 0.6}, {}])
def test_intervals_of_known_effects_hold_them(lower_by):
    """Of twelve intervals of 95 %, two may miss."""
    holds = []
    for seed in range(4):
        table = aggregate(constructed(lower_by, seed))
        for contrast, (first, second) in ratings.CONTRASTS.items():
            difference = lower_by.get(second, 0) - lower_by.get(first, 0)
            row = table.loc[contrast]
            holds.append(row["ci_low"] < difference < row["ci_high"])
    assert sum(holds) >= 10


@pytest.mark.parametrize(
    "rows",
    ["source == 'BigToM'", "participant == 'p0'", "item_id.str.endswith('-0')"],
    ids=["one source", "one person", "one item of each source"],
)
def test_too_few_ratings_get_a_reason_and_no_number(rows):
    rated = constructed({}).query(rows)
    table = ratings.contrasts(ratings.with_aggregate(rated))
    assert table["value"].isna().all()
    assert table["reason"].ne("").all()


def test_two_sources_have_the_one_contrast_between_them():
    table = aggregate(constructed({"Expert": 0.5}).query("source != 'socialIQa'"))
    assert table["value"].notna().tolist() == [False, True, False]


# The form


@pytest.fixture
def read(tmp_path):
    """Reads lines of the form of ratings, beside one item that is not of this run."""

    def write_and_read(*lines: str) -> pd.DataFrame:
        form = tmp_path / "ratings.csv"
        items = tmp_path / "items.csv"
        form.write_text("\n".join(["participant,item_id,question,rating", *lines]))
        items.write_text("item_id,source,data_source\ntheirs-1,Expert,Ullman\n")
        return ratings.read(form, items, {"ours/1"})

    return write_and_read


def test_ratings_are_read_with_the_sources_of_their_items(read):
    table = read("p1,ours/1,coherent_q_a,5", "p1,theirs-1,unambiguous,2")
    columns = ["source", "data_source", "rating", "measure"]
    assert table[columns].values.tolist() == [
        ["BigToM", "", 5.0, "coherent_question_answer"],
        ["Expert", "Ullman", 2.0, "unambiguous"],
    ]


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("p1,unknown,unambiguous,5", "item_id"),
        ("p1,ours/1,beautiful,5", "question"),
        ("p1,ours/1,unambiguous,6", "rating"),
        ("llm:gpt-4,ours/1,unambiguous,5", "participant"),
    ],
)
def test_a_faulty_rating_is_named_with_its_field(read, row, field):
    with pytest.raises(InputError, match=f"row 2, field {field}: found .*, expected "):
        read(row)


# The preprint's people, of whom only totals are known

needs_data = pytest.mark.skipif(
    not (PUBLISHED / "bigtom/people_ratings.csv").is_file(),
    reason="data/published is missing: `make data` pulls it",
)


@needs_data
def test_the_preprints_contrasts_are_those_of_its_peoples_totals():
    table = check.contrasts_of_totals(paper.PUBLICATION.read("people_ratings"))
    table = table.query("measure == 'aggregate'").set_index("contrast")["value"]
    printed = paper.PUBLICATION.read("table3_rating_contrasts")
    printed = printed.query("version == 'preprint'").set_index("contrast")["estimate"]
    assert len(printed) == 3
    assert (table[printed.index] - printed).abs().max() < 0.01
