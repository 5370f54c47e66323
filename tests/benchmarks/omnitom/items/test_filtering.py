"""OmniToM's rules for gold tables, one named example each, and files of annotators' labels."""

import numpy as np
import pandas as pd
import pytest

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
        (belief("Ben", LOST, "0"), "order and actor", "actor 'Ben', order 0"),
        (belief("world", LOST), "order and actor", "actor 'world', order 1"),
        (
            belief("Ben", LOST, mental_source="Narration"),
            "order and source",
            "order 1, Mental-Source Narration",
        ),
        (belief("ada", "the key, is in the BOWL!"), "duplicate belief", "stands as belief 2 too"),
        (belief("Ada's uncle", LOST), "unknown actor", "\"Ada's uncle\": the story has no 'uncle'"),
        (belief("Ada", "She is late"), "bare pronoun", "belief 5: 'She' in 'She is late'"),
        (belief("Ada", "they're late"), "bare pronoun", "belief 5: 'they' in \"they're late\""),
    ],
)
def test_each_rule_is_broken(odd, rule, reason):
    [(broken_rule, message)] = broken(odd)
    assert broken_rule == rule
    assert reason in message


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
    assert (fault["story_id"], fault["dropped"]) == (3, True)
    assert fault["reason"] == "cosine 0.800 to story 1 (authored)"
    assert faults(records, vectors, 0.81).empty
    records[2]["source"] = "released:omnitom"
    assert faults(records, vectors, 0.8)["dropped"].tolist() == [False]


def test_a_dropped_story_is_nobodys_original():
    records = [record(*BELIEFS, BELIEFS[1]), record(story_id=2)]
    assert faults(records, [NORTH, NORTH])["story_id"].tolist() == [1]


# Files of labels

COLUMNS = ["story_id", "belief", "annotator", "annotator_type", "dimension", "label"]
LABEL = dict(zip(COLUMNS, ["1001", "1", "a1", "human", "order", "0"], strict=True))


def test_every_bad_value_of_a_file_is_named(tmp_path):
    rows = [
        LABEL | {"story_id": "7"},
        LABEL | {"belief": "99"},
        LABEL | {"belief": "2", "annotator_type": "llm:m"},
        LABEL | {"annotator": "a2", "annotator_type": "Human"},
        LABEL | {"dimension": "Order"},
        LABEL | {"annotator": "a3", "label": "4"},
        LABEL,
        LABEL,
    ]
    path = tmp_path / "annotations.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"annotations\.csv") as error:
        read_annotations(path, RECORDS)
    for fault in (
        "row 2, field story_id: found '7', expected the id of a",
        "row 3, field belief: found '99', expected 1 to ",
        "row 4, field annotator_type: found 'llm:m', expected human",
        "row 5, field annotator_type: found 'Human', expected human or llm:<model>",
        "row 6, field dimension: found 'Order', expected order",
        "row 7, field label: found '4', expected 0, 1, 2, 3",
        "row 9: annotator 'a1', story_id '1001', belief '1', dimension 'order' stands in row 8",
    ):
        assert fault in str(error.value)


# Agreement, as the notebook computes it


def annotated(labels_by_cell, kind="human"):
    """The labels of cells (story, belief), one word an annotator."""
    rows = []
    for (story, number), labels in labels_by_cell.items():
        for annotator, label in enumerate(labels.split()):
            rows.append((story, number, f"{kind}-{annotator}", kind, "truth_status", label))
    return pd.DataFrame(rows, columns=COLUMNS)


def reliability(annotations):
    table = ran("2_filtering", "omnitom", "cell-agreement", annotations=annotations)["reliability"]
    return table.set_index("dimension")


def test_agreement_counts_the_cells_on_which_all_people_agree():
    people = {(1, 1): "True True True", (1, 2): "True True False", (2, 1): "False False"}
    models = annotated({(1, 1): "False False", (1, 2): "True"}, "llm:m")
    table = reliability(pd.concat([annotated(people | {(2, 2): "True"}), models]))
    assert list(table.index) == [*DIMENSIONS, "overall"]
    for name in ("truth_status", "overall"):
        row = table.loc[name]
        assert row[["annotators", "n", "agree", "stories"]].tolist() == [3, 3, 2, 2]
        assert row["ci_low"] <= row["agreement"] <= row["ci_high"]
    assert reliability(models).empty
