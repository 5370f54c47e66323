"""Question sets: reading and writing files of them, and who says what."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_quince import own_set, question_set
from tomlab.benchmarks.fantom.items.compose import compose
from tomlab.benchmarks.fantom.items.contexts import turns
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.errors import InputError


def test_released_record_and_keys_of_ones_own_are_read_as_they_stand(refusal):
    own = question_set("1-0-0", source="authored", joining_speaker="Bruno")
    own["beliefQAs"][0]["note"] = None
    assert refusal([question_set(), own]) == ""


def test_scenario_of_a_belief_that_does_not_say_it_is_that_of_its_type(refusal):
    missed = question_set(beliefQAs__0__missed_info_accessibility=None)
    heard = question_set(
        "13-0-0",
        beliefQAs__0__missed_info_accessibility=None,
        beliefQAs__0__question_type="tom:belief:accessible",
    )
    assert refusal([missed, heard]) == ""
    items = compose([missed, heard])
    beliefs = items[items["question_type"] == "belief_dist"]
    assert beliefs["scenario"].tolist() == ["inaccessible", "accessible"]
    assert beliefs["set_scenario"].tolist() == ["inaccessible", "accessible"]
    assert compose([missed]).equals(compose([question_set()]))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("factQA", None, "factQA: found nothing"),
        ("factQA", "tree", "factQA: found 'tree', expected an object"),
        ("factQA__correct_answer", 3, "factQA.correct_answer: found 3, expected a valid string"),
        ("short_context", " \n", "short_context: found ' \\n', expected some text"),
        ("source", "human", "source: found 'human', expected authored, llm:<model> or released"),
        ("beliefQAs", {}, "beliefQAs: found {}, expected a valid list"),
        ("beliefQAs__0__question_type", "tom:belief:possible", "found 'tom:belief:possible'"),
        ("beliefQAs__0__question_type", "tom:belief:accessible", "expected that of 'tom:belief:ac"),
        ("beliefQAs__0__tom_type", "third-order", "found 'third-order', expected 'first-order'"),
        ("infoAccessibilityQA_list__correct_answer", "Noor, Ilse", "expected a valid list"),
        ("answerabilityQAs_binary__2__correct_answer", "No", "expected 'yes', 'no' or 'no:long'"),
        ("infoAccessibilityQAs_binary", [], "List should have at least 1 item"),
        ("record", own_set()["record"] | {"told": []}, "record.told: found []"),
    ],
)
def test_field_at_fault_is_named_with_what_was_found_and_expected(refusal, path, value, message):
    refused = refusal([question_set("1-0-0"), question_set("1-0-1", **{path: value})])
    assert "1 problem" in refused
    assert "record 2, set_id '1-0-1', field " in refused
    assert message in refused


@pytest.mark.parametrize("set_id", ["12-0", "12-0-1-2", "12-0-", "1 2-0-1", "12-0-1\n"])
def test_set_id_says_conversation_part_and_set(refusal, set_id):
    message = f"found {set_id!r}, expected conversation-part-set, such as 12-0-1"
    assert message in refusal([question_set(set_id)])


def test_all_problems_come_at_once(refusal):
    empty = question_set(beliefQAs__0__tom_type="x", factQA__question=" ")
    message = refusal([question_set("1-0"), 7, empty, question_set()])
    assert "5 problems" in message
    assert "record 2, found 7, expected an object" in message
    assert "record 4, set_id '12-0-1': stands in record 3 too" in message


DEEP = "[" * 900 + "]" * 900


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "[null]",
        "sets",
        b"\xff\xfe[]",
        b"\x1f\x8b\x08",
        json.dumps([question_set()])[:-40],
        "[" * 100_000,
        f'[{{"set_id": {DEEP}, "beliefQAs": {DEEP}, "factQA": {DEEP}}}]',
        '[{"set_id": NaN}]',
        "[" + "1" * 5000 + "]",
        '[{"set_id": "\\ud800-0-0"}]',
        f'[{json.dumps(question_set())[:-1]}, "set_id": "1-0-0"}}]',
    ],
)
def test_what_holds_no_set_is_an_input_error(refusal, content):
    assert 0 < len(refusal(content)) < 3000


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.sampled_from(sorted(question_set())), VALUES | st.text(min_size=1))
@settings(max_examples=40, deadline=None)
def test_any_value_of_a_field_is_kept_or_named(file_of, field, value):
    record = question_set() | {field: value}
    try:
        assert read_sets(file_of([record])) == [record]
    except InputError as error:
        assert f"field {field}" in str(error)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("Ilse: I water at dawn: always.", [(("Ilse",), "I water at dawn: always.")]),
        ("Dr. Noor : No.\r\n\n  Ann O'Neil:Hi!", [(("Dr. Noor",), "No."), (("Ann O'Neil",), "Hi!")]),
        ("Bethany&Lyric: Bye!", [(("Bethany", "Lyric"), "Bye!")]),
        ("Bethany and Lyric: Bye!", [(("Bethany", "Lyric"), "Bye!")]),
        ("Ann, Bo, and Mary-Ann O'Neil: Bye!", [(("Ann", "Bo", "Mary-Ann O'Neil"), "Bye!")]),
        ("Ann, Bo & Sandy: Bye!", [(("Ann", "Bo", "Sandy"), "Bye!")]),
        ("Ilse:", []),
        ("so here is how: slowly", []),
        ("12:30", []),
        ("(Bruno leaves: bye)", []),
        ("Ilse & friends: Bye!", []),
        ("Ilse, : Bye!", []),
    ],
)  # fmt: skip
def test_turn_is_one_or_several_names_and_what_they_say(context, expected):
    assert turns(context) == expected
