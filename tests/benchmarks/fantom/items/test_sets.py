"""Question sets: reading and writing files of them, and who says what."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_quince import own_set, question_set
from tomlab.benchmarks.fantom.items.compose import compose
from tomlab.benchmarks.fantom.items.contexts import turns
from tomlab.benchmarks.fantom.items.filtering import overlap
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.errors import InputError


@pytest.fixture
def file(tmp_path):
    """A file of records, or of any text or bytes."""

    def write(content):
        if isinstance(content, list):
            content = json.dumps(content)
        path = tmp_path / "sets.json"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def complaint(file):
    def read(content):
        path = file(content)
        with pytest.raises(InputError) as caught:
            read_sets(path)
        assert str(path) in str(caught.value)
        return str(caught.value)

    return read


# Reading


def test_released_record_is_read_as_it_stands(file):
    assert read_sets(file([question_set()])) == [question_set()]


def test_keys_of_ones_own_are_kept(file):
    record = question_set(source="authored", joining_speaker="Bruno")
    record["beliefQAs"][0]["note"] = None
    assert read_sets(file([record])) == [record]


def test_scenario_of_a_belief_that_does_not_say_it_is_that_of_its_type(file):
    without = question_set(beliefQAs__0__missed_info_accessibility=None)
    accessible = {
        "beliefQAs__0__missed_info_accessibility": None,
        "beliefQAs__0__question_type": "tom:belief:accessible",
    }
    other = question_set("13-0-0", **accessible)
    assert read_sets(file([without, other])) == [without, other]
    items = compose([without, other])
    beliefs = items[items["item_id"].str.endswith("belief_dist:0")]
    assert beliefs["scenario"].tolist() == ["inaccessible", "accessible"]
    assert beliefs["set_scenario"].tolist() == ["inaccessible", "accessible"]
    assert overlap([without, other])["scenario"].tolist()[0] == "inaccessible"
    assert compose([without]).equals(compose([question_set()]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"factQA": None}, "field factQA: found nothing"),
        ({"factQA": "tree"}, "field factQA: found 'tree', expected an object"),
        ({"factQA__correct_answer": 3}, "factQA.correct_answer: found 3, expected a valid string"),
        ({"short_context": " \n"}, "field short_context: found ' \\n', expected some text"),
        ({"full_context": ""}, "field full_context: found nothing, expected some text"),
        ({"source": "human"}, "found 'human', expected authored, llm:<model> or released"),
        ({"beliefQAs": {}}, "field beliefQAs: found {}, expected a valid list"),
        ({"beliefQAs__0__question": None}, "field beliefQAs.0.question: found nothing"),
        (
            {"beliefQAs__0__question_type": "tom:belief:possible"},
            "beliefQAs.0.question_type: found 'tom:belief:possible', expected 'tom:belief:in",
        ),
        (
            {"beliefQAs__0__tom_type": "third-order"},
            "field beliefQAs.0.tom_type: found 'third-order', expected 'first-order', 'second-",
        ),
        (
            {"infoAccessibilityQA_list__correct_answer": "Noor, Ilse"},
            "infoAccessibilityQA_list.correct_answer: found 'Noor, Ilse', expected a valid list",
        ),
        (
            {"answerabilityQAs_binary__2__correct_answer": "No"},
            "answerabilityQAs_binary.2.correct_answer: found 'No', expected 'yes', 'no' or 'no:l",
        ),
        (
            {"infoAccessibilityQAs_binary": []},
            "field infoAccessibilityQAs_binary: found [], List should have at least 1 item",
        ),
        ({"record": 3}, "field record: found 3, expected an object"),
        ({"record": own_set()["record"] | {"told": []}}, "field record.told: found []"),
        (
            {"record": own_set(record__events__0__event="naps")["record"]},
            "field record.events.0.event: found 'naps', expected 'leaves', 'returns' or 'joins'",
        ),
    ],
)
def test_field_at_fault_is_named_with_what_was_found_and_expected(complaint, changes, said):
    message = complaint([question_set("1-0-0"), question_set("1-0-1", **changes)])
    assert "record 2, set_id '1-0-1', field " in message
    assert said in message
    assert "1 problem" in message


def test_belief_with_another_scenario_than_that_of_its_type_is_refused(complaint):
    said = complaint([question_set(beliefQAs__0__question_type="tom:belief:accessible")])
    assert "set_id '12-0-1', field beliefQAs.0: missed_info_accessibility: found" in said
    assert "expected that of 'tom:belief:accessible'" in said


@pytest.mark.parametrize("set_id", ["", "12", "12-0", "12-0-1-2", "12-0-", "1 2-0-1", "12-0-1\n"])
def test_set_id_says_conversation_part_and_set(complaint, set_id):
    said = complaint([question_set(set_id)])
    found = repr(set_id) if set_id else "nothing"
    assert f"found {found}, expected conversation-part-set, such as 12-0-1" in said


def test_set_that_stands_twice_is_told_with_the_first(complaint):
    said = complaint([question_set(), question_set("1-0-0"), question_set()])
    assert "record 3, set_id '12-0-1': stands in record 1 too" in said


def test_all_problems_come_at_once(complaint):
    said = complaint(
        [question_set("1-0"), 7, question_set(beliefQAs__0__tom_type="x", factQA__question=" ")]
    )
    assert "4 problems" in said
    assert "record 2, found 7, expected an object" in said


DEEP = "[" * 900 + "]" * 900


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n ",
        "[]",
        "{}",
        "null",
        "[null]",
        "sets",
        "[[]]",
        b"\xff\xfe[]",
        b"\x1f\x8b\x08",
        json.dumps([question_set()])[:-40],
        "[" * 100_000,
        '{"a":' * 100_000,
        f'[{{"set_id": {DEEP}, "beliefQAs": {DEEP}, "factQA": {DEEP}}}]',
        '[{"set_id": NaN}]',
        "[" + "1" * 5000 + "]",
        '[{"set_id": "\\ud800-0-0"}]',
    ],
)
def test_what_holds_no_set_is_an_input_error(complaint, content):
    assert len(complaint(content)) < 3000


def test_key_that_stands_twice_is_not_chosen_from(complaint):
    twice = json.dumps(question_set())[:-1] + ', "set_id": "1-0-0"}'
    assert "set_id twice in one object" in complaint(f"[{twice}]")


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_an_input_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="any"):
        read_sets(path)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.sampled_from(sorted(question_set())), values)
@settings(max_examples=60, deadline=None)
def test_any_value_of_a_field_is_kept_or_named(tmp_path_factory, field, value):
    path = tmp_path_factory.getbasetemp() / "value.json"
    record = question_set() | {field: value}
    path.write_text(json.dumps([record]), encoding="utf-8")
    try:
        assert read_sets(path) == [record]
    except InputError as error:
        assert f"field {field}" in str(error)


# Writing

texts = st.text(min_size=1, max_size=30).filter(lambda text: text.strip())
records = st.builds(
    lambda number, *told: question_set(
        f"{number}-0-0",
        short_context=told[0],
        full_context=told[1],
        factQA__question=told[2],
        beliefQAs__0__correct_answer=told[3],
        own={"note": told[4]},
    ),
    st.integers(min_value=0),
    *[texts] * 5,
)


@given(st.lists(records, min_size=1, max_size=3, unique_by=lambda record: record["set_id"]))
@settings(max_examples=50, deadline=None)
def test_what_is_written_is_read_again(tmp_path_factory, sets):
    path = tmp_path_factory.getbasetemp() / "written.json"
    path.write_text(json.dumps(sets, indent=1, ensure_ascii=False), encoding="utf-8")
    assert read_sets(path) == sets


# Turns


def test_turn_is_a_name_and_what_is_said():
    assert turns("Ilse: I water at dawn: always.\n\n  Mary-Ann O'Neil:Hi!\r\nDr. Noor : No.") == [
        (("Ilse",), "I water at dawn: always."),
        (("Mary-Ann O'Neil",), "Hi!"),
        (("Dr. Noor",), "No."),
    ]


@pytest.mark.parametrize(
    ("said_by", "speakers"),
    [
        ("Bethany & Lyric", ("Bethany", "Lyric")),
        ("Bethany&Lyric", ("Bethany", "Lyric")),
        ("Bethany and Lyric", ("Bethany", "Lyric")),
        ("Bethany, Lyric", ("Bethany", "Lyric")),
        ("Bethany, Lyric, and Mary-Ann O'Neil", ("Bethany", "Lyric", "Mary-Ann O'Neil")),
        ("Bethany, Lyric & Sandy", ("Bethany", "Lyric", "Sandy")),
        ("Sandy", ("Sandy",)),
    ],
)
def test_turn_of_several_speakers_is_one_turn_of_each(said_by, speakers):
    assert turns(f"{said_by}: Bye!") == [(speakers, "Bye!")]


@pytest.mark.parametrize(
    "line",
    [
        *("", "Ilse:", "Ilse waters.", "so here is how: slowly", "12:30", "(Bruno leaves: bye)"),
        *("Ilse & friends: Bye!", "& Ilse: Bye!", "Ilse, : Bye!"),
    ],
)
def test_line_that_is_no_turn(line):
    assert turns(line) == []
