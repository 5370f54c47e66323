"""OmniToM's rules for gold tables, one named example each, and files of annotators' labels."""

import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitom_stories import BELIEFS, RECORDS, belief, record
from one_cell import ran
from tomlab.benchmarks.omnitom.items import filtering
from tomlab.benchmarks.omnitom.items.filtering import read_annotations
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS
from tomlab.errors import InputError

NORTH = [1.0, 0.0]
EAST = [0.0, 1.0]
NEARLY_NORTH = [0.8, 0.6]


def faults(records, vectors=None, duplicate_cosine=0.95):
    """The faults of records; stories have nothing in common where no vectors are given."""
    if vectors is None:
        vectors = np.eye(len(records))
    return filtering.faults(records, np.array(vectors), duplicate_cosine)


def broken(*beliefs):
    """The rules that beliefs break which are added to a sound record, with the reasons."""
    table = faults([record(*BELIEFS, *beliefs)])
    return list(zip(table["filter"], table["reason"], strict=True))


def test_our_own_gold_keeps_to_every_rule():
    table = faults(RECORDS)
    assert table.empty
    assert list(table.columns) == ["story_id", "source", "filter", "reason", "dropped"]


LOST = "The key is lost"


@pytest.mark.parametrize(
    ("odd", "rule", "reason"),
    [
        (
            belief("Ben", LOST, "0"),
            "order and actor",
            "belief 5: actor 'Ben', order 0",
        ),
        (
            belief("world", LOST, "1"),
            "order and actor",
            "belief 5: actor 'world', order 1",
        ),
        (
            belief("Ben", LOST, mental_source="Narration"),
            "order and source",
            "belief 5: order 1, Mental-Source Narration",
        ),
        (
            belief("ada", "the key, is in the BOWL!"),
            "duplicate belief",
            "belief 5: ada: 'the key, is in the BOWL!' stands as belief 2 too",
        ),
        (belief("Ada's uncle", LOST), "unknown actor", "\"Ada's uncle\": the story has no 'uncle'"),
        (belief("the two", LOST), "unknown actor", "'the two': the story has no 'no name'"),
        (belief("Ada", "She is late"), "bare pronoun", "belief 5: 'She' in 'She is late'"),
        (belief("Ada", "they're late"), "bare pronoun", "belief 5: 'they' in \"they're late\""),
    ],
)
def test_each_rule_is_broken(odd, rule, reason):
    assert broken(odd) == [(rule, reason)]


@pytest.mark.parametrize(
    "actor", ["MRS ROY", "The sister", "Ben’s sisters", "Ada and Ben", "Everyone", "Ada's friends"]
)
def test_an_actor_that_the_story_names_or_a_group_is_known(actor):
    assert broken(belief(actor, "It is raining hard")) == []


def test_a_story_told_to_you_has_an_actor_of_that_name():
    assert broken(belief("Ada", "You know that Ben is out", "2"))[0][0] == "bare pronoun"
    beliefs = [belief("You", "Ben is out"), belief("Ada", "You know that Ben is out", "2")]
    assert faults([record(*beliefs, story="Ada tells you on the phone that Ben is out.")]).empty


def test_a_story_too_like_an_earlier_one_is_dropped_unless_it_is_released():
    records = [record(story_id=1), record(story_id=2), record(story_id=3, source="llm:m")]
    vectors = [NORTH, EAST, NEARLY_NORTH]
    [fault] = faults(records, vectors, 0.8).to_dict("records")
    assert fault == {
        "story_id": 3,
        "source": "llm:m",
        "filter": "near-duplicate",
        "reason": "cosine 0.800 to story 1 (authored)",
        "dropped": True,
    }
    assert faults(records, vectors, 0.81).empty
    records[2]["source"] = "released:omnitom"
    assert faults(records, vectors, 0.8)["dropped"].tolist() == [False]


def test_a_dropped_story_is_nobodys_original():
    records = [record(*BELIEFS, BELIEFS[1]), record(story_id=2)]
    table = faults(records, [NORTH, NORTH])
    assert table["filter"].tolist() == ["duplicate belief"]
    assert table["story_id"].tolist() == [1]


texts = st.text(min_size=1, max_size=12).filter(str.strip)
labels = st.fixed_dictionaries({name: st.sampled_from(DIMENSIONS[name]) for name in DIMENSIONS})
beliefs = st.fixed_dictionaries(
    {
        "actor": texts | st.sampled_from(["world", "Ada", "Ben"]),
        "belief": texts | st.sampled_from(["She is late", "Ben thinks so", "..."]),
        "labels": labels,
    }
)
sources = st.sampled_from(["authored", "llm:m", "released:omnitom"])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(texts, st.lists(beliefs, min_size=1, max_size=4)), min_size=1), sources)
def test_any_records_are_reported_on_and_left_as_they_are(stories, source):
    records = []
    for number, (story, own_beliefs) in enumerate(stories):
        records.append(record(*own_beliefs, story_id=number, story=story, source=source))
    before = copy.deepcopy(records)
    table = faults(records)
    assert records == before
    assert (table["reason"].str.len() > 0).all()
    assert table["dropped"].eq(not source.startswith("released:")).all()


# Files of labels

COLUMNS = ["story_id", "belief", "annotator", "annotator_type", "dimension", "label"]
LABEL = dict(zip(COLUMNS, ["1001", "1", "a1", "human", "order", "0"], strict=True))


def complaint(path):
    with pytest.raises(InputError, match=path.name) as error:
        read_annotations(path, RECORDS)
    return str(error.value)


def test_every_bad_value_of_a_file_is_named(tmp_path):
    rows = [
        LABEL | {"story_id": "7"},
        LABEL | {"belief": "99"},
        LABEL | {"belief": "１"},
        LABEL | {"belief": "2", "annotator_type": "llm:m"},
        LABEL | {"annotator": "a2", "annotator_type": "Human"},
        LABEL | {"dimension": "Order"},
        LABEL | {"annotator": "a3", "label": "4"},
        LABEL,
        LABEL,
    ]
    path = tmp_path / "annotations.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    message = complaint(path)
    for fault in (
        "row 2, field story_id: found '7', expected the id of a",
        "row 3, field belief: found '99', expected 1 to ",
        "row 4, field belief: found '１'",
        "row 5, field annotator_type: found 'llm:m', expected human",
        "row 6, field annotator_type: found 'Human', expected human or llm:<model>",
        "row 7, field dimension: found 'Order', expected order",
        "row 8, field label: found '4', expected 0, 1, 2, 3",
        "row 10: annotator 'a1', story_id '1001', belief '1', dimension 'order' stands in row 9",
    ):
        assert fault in message


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"story_id,belief\n1,2\n", b'"story_id\n', b"\0"]
)
def test_a_file_that_is_no_such_table_is_refused(tmp_path, content):
    path = tmp_path / "hostile.csv"
    path.write_bytes(content)
    complaint(path)
    complaint(tmp_path / "missing.csv")


# Agreement, as the notebook computes it


def annotated(labels_by_cell, kind="human"):
    """The labels of cells (story, belief), by one letter an annotator: True, False, "-" for none."""
    rows = []
    for (story, number), letters in labels_by_cell.items():
        for annotator, letter in enumerate(letters):
            if letter != "-":
                label = {"T": "True", "F": "False"}[letter]
                name = f"{kind}-{annotator}"
                rows.append((story, number, name, kind, "truth_status", label))
    return pd.DataFrame(rows, columns=COLUMNS)


def reliability(annotations):
    table = ran("2_filtering", "omnitom", "cell-agreement", annotations=annotations)["reliability"]
    return table.set_index("dimension")


def test_agreement_counts_the_cells_on_which_all_people_agree():
    people = annotated({(1, 1): "TTT", (1, 2): "TTF", (2, 1): "FF-", (2, 2): "T--"})
    models = annotated({(1, 1): "FF", (1, 2): "T"}, "llm:m")
    table = reliability(pd.concat([people, models]))
    assert list(table.index) == [*DIMENSIONS, "overall"]
    for name in ("truth_status", "overall"):
        row = table.loc[name]
        assert row[["annotators", "n", "agree", "stories"]].tolist() == [3, 3, 2, 2]
        assert row["ci_low"] <= row["agreement"] <= row["ci_high"]
    assert np.isnan(table.loc["order", "agreement"])
    assert reliability(models).empty
