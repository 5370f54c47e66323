"""OmniToM's rules for gold tables: one named example a rule, and what is kept."""

import copy
from itertools import compress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.benchmarks.omnitom.items import filtering
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, read_records
from tomlab.paths import DATA, ROOT
from tomlab.scoring.kept import survives

WORKED = ROOT.parent / "shared" / "datasets" / "omnitom" / "worked_examples.jsonl"


def faults(records, vectors=None, duplicate_cosine=0.95):
    """The faults of records; stories have nothing in common where no vectors are given."""
    if vectors is None:
        vectors = np.eye(len(records))
    return filtering.faults(records, vectors, duplicate_cosine)


STORY = "Ada puts the key in the bowl. Ben's sister Mrs Roy is out. It starts to rain."


def belief(actor, text, order="1", source=None):
    plain = {"truth_status": "True", "knowledge_access": "Private", "representation": "Implicit"}
    plain |= {"content_type": "Location", "context": "Neutral", "order": order}
    plain["mental_source"] = source or ("Narration" if order == "0" else "Inference")
    return {"actor": actor, "belief": text, "labels": {name: plain[name] for name in DIMENSIONS}}


SOUND = (
    belief("world", "Ada puts the key in the bowl", "0"),
    belief("Ada", "The key is in the bowl"),
    belief("Ben", "It is raining"),
    belief("Ada", "Ben does not know where the key is", "2"),
)


def record(*more, story_id=1, story=STORY, source="authored", beliefs=SOUND, **extra):
    own = {"story_id": story_id, "story_category": "Hinting Task Test", "story": story}
    return own | {"source": source, "beliefs": [*beliefs, *more], **extra}


def found(*more, **changed):
    """The rules that a record breaks and their reasons."""
    table = faults([record(*more, **changed)])
    return list(zip(table["filter"], table["reason"], strict=True))


# Rules


def test_a_sound_record_has_no_fault():
    table = faults([record()])
    assert table.empty
    assert list(table.columns) == ["story_id", "source", "filter", "reason", "dropped"]
    assert table["dropped"].dtype == bool


def test_our_own_gold_keeps_to_every_rule():
    assert faults(read_records(DATA / "omnitom" / "stories.jsonl")).empty


@pytest.mark.parametrize(
    ("told", "rule", "reason"),
    [
        (("Ben", "0"), "order and actor", "actor 'Ben', order 0"),
        (("world", "1"), "order and actor", "actor 'world', order 1"),
        (("world", "0", "Inference"), "order and source", "order 0, Mental-Source Inference"),
        (("Ben", "1", "Narration"), "order and source", "order 1, Mental-Source Narration"),
    ],
)
def test_order_0_is_the_world_narrated_and_nothing_else(told, rule, reason):
    actor, *labels = told
    assert found(belief(actor, "The key is lost", *labels)) == [(rule, f"belief 5: {reason}")]


@pytest.mark.parametrize("text", ["The key is in the bowl", "the key, is in the BOWL!"])
def test_one_belief_twice(text):
    [(rule, reason)] = found(belief("ada", text))
    assert rule == "duplicate belief"
    assert reason.startswith("belief 5: ada: ")
    assert reason.endswith("stands as belief 2 too")
    assert found(belief("Ben", text)) == []


@pytest.mark.parametrize(
    ("actor", "strange"),
    [("Carl", "carl"), ("Ada's uncle", "uncle"), ("the two", "no name"), ("--", "--")],
)
def test_an_actor_that_the_story_never_names(actor, strange):
    assert found(belief(actor, "The key is lost")) == [
        ("unknown actor", f"{actor!r}: the story has no {strange!r}")
    ]


@pytest.mark.parametrize(
    "actor",
    ["Ada", "MRS ROY", "The sister", "Ben’s sisters", "Ada and Ben", "Everyone", "Ada's friends"],
)
def test_an_actor_that_the_story_names_or_a_group(actor):
    assert found(belief(actor, "The key is lost")) == []


@pytest.mark.parametrize("text", ["She has the key", "they're late", "I am late", " He is out"])
def test_a_belief_about_nobody_knows_whom(text):
    [(rule, reason)] = found(belief("Ada", text))
    assert rule == "bare pronoun"
    assert repr(text) in reason


@pytest.mark.parametrize(
    "text", ["It is raining hard", "Ada lost her key", '"I am late" is a joke', "Henry is out"]
)
def test_a_belief_about_somebody_known(text):
    assert found(belief("Ada", text)) == []


def test_a_story_told_to_you_has_an_actor_of_that_name():
    story = "Ada tells you on the phone that Ben is out."
    you = [belief("You", "Ben is out"), belief("Ada", "You know that Ben is out", "2")]
    assert found(*you, story=story, beliefs=[]) == []


# Stories told twice

NORTH, EAST, NEARLY_NORTH = [1.0, 0.0], [0.0, 1.0], [0.8, 0.6]


def three(*sources, **extra):
    return [record(story_id=i, source=s, **extra) for i, s in enumerate(sources, start=1)]


def test_a_story_too_like_an_earlier_one():
    records = three("authored", "grammar", "llm:m")
    table = faults(records, np.array([NORTH, EAST, NEARLY_NORTH]), 0.8)
    assert table.to_dict("records") == [
        {"story_id": 3, "source": "llm:m", "filter": "near-duplicate"}
        | {"reason": "cosine 0.800 to story 1 (authored)", "dropped": True}
    ]
    assert faults(records, np.array([NORTH, EAST, NEARLY_NORTH]), 0.81).empty
    assert faults(records).empty


def test_a_dropped_story_is_nobodys_original():
    records = three("authored", "authored")
    records[0]["beliefs"] = [*SOUND, SOUND[1]]
    table = faults(records, np.array([NORTH, NORTH]))
    assert table["filter"].tolist() == ["duplicate belief"]
    assert [r["story_id"] for r in kept(records, table)] == [2]


# What is kept


def kept(records, found):
    key = ["story_id", "source"]
    return list(compress(records, survives(pd.DataFrame(records, columns=key), found, key)))


ODD = {
    "order and actor": {"more": belief("Ben", "The key is lost", "0")},
    "order and source": {"more": belief("Ben", "The key is lost", "1", "Narration")},
    "duplicate belief": {"more": SOUND[1]},
    "unknown actor": {"more": belief("Carl", "The key is lost")},
    "bare pronoun": {"more": belief("Ben", "She is late")},
    "near-duplicate": {},
}


@pytest.mark.parametrize("rule", ODD)
def test_a_fault_drops_its_record_unless_it_is_released(rule):
    odd = dict(ODD[rule])
    more = [odd.pop("more")] if "more" in odd else []
    records = [record(), record(*more, story_id=2, **odd)]
    vectors = np.array([NORTH, NORTH if rule == "near-duplicate" else EAST])
    table = faults(records, vectors)
    assert table["filter"].tolist() == [rule]
    assert table["dropped"].tolist() == [True]
    assert kept(records, table) == records[:1]
    released = [{**r, "source": "released:omnitom"} for r in records]
    table = faults(released, vectors)
    assert table["dropped"].tolist() == [False]
    assert kept(released, table) == released


_TEXT = st.text(min_size=1, max_size=12).filter(str.strip)
_LABELS = st.fixed_dictionaries({name: st.sampled_from(v) for name, v in DIMENSIONS.items()})
_BELIEFS = st.builds(
    lambda actor, text, labels: {"actor": actor, "belief": text, "labels": labels},
    _TEXT | st.sampled_from(["world", "Ada", "Ben"]),
    _TEXT | st.sampled_from(["She is late", "Ben thinks so", "..."]),
    _LABELS,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(_TEXT, st.lists(_BELIEFS, min_size=1, max_size=4)), min_size=1, max_size=4),
    st.sampled_from(["authored", "llm:m", "released:omnitom"]),
)
def test_any_records_are_reported_on_and_left_as_they_are(told, source):
    records = [
        record(story_id=i, story=story, source=source, beliefs=beliefs)
        for i, (story, beliefs) in enumerate(told)
    ]
    before = copy.deepcopy(records)
    table = faults(records)
    assert records == before
    assert set(table["filter"]) <= set(ODD)
    assert (table["reason"].str.len() > 0).all()
    left = kept(records, table)
    dropped = set(table.loc[table["dropped"], "story_id"])
    assert [r["story_id"] for r in left] == [
        r["story_id"] for r in records if r["story_id"] not in dropped
    ]
    if source.startswith("released:"):
        assert left == records
