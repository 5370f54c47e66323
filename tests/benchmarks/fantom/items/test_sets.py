"""Question sets: reading and writing files of them, and who says what."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_quince import own_set, question_set
from tomlab.benchmarks.fantom.items.compose import compose
from tomlab.benchmarks.fantom.items.contexts import turns
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.errors import InputError


def test_scenario_of_a_belief_that_does_not_say_it_is_that_of_its_type(refusal):
    untold = {"beliefQAs__0__missed_info_accessibility": None}
    accessible = {"beliefQAs__0__question_type": "tom:belief:accessible"}
    sets = [question_set(**untold), question_set("13-0-0", **untold, **accessible)]
    assert refusal(sets) == ""
    beliefs = compose(sets).query("question_type == 'belief_dist'")
    assert beliefs["scenario"].tolist() == ["inaccessible", "accessible"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("factQA", None, "factQA: found nothing"),
        ("factQA__correct_answer", 3, "factQA.correct_answer: found 3, expected a valid string"),
        ("short_context", " \n", "short_context: found ' \\n', expected some text"),
        ("source", "human", "source: found 'human', expected authored, llm:<model> or released"),
        ("beliefQAs__0__question_type", "tom:belief:accessible", "expected that of 'tom:belief:ac"),
        ("beliefQAs__0__tom_type", "third-order", "found 'third-order', expected 'first-order'"),
        ("answerabilityQAs_binary__2__correct_answer", "No", "expected 'yes', 'no' or 'no:long'"),
        ("infoAccessibilityQAs_binary", [], "List should have at least 1 item"),
        ("set_id", "12-0", "found '12-0', expected conversation-part-set"),
        ("record", own_set()["record"] | {"told": []}, "record.told: found []"),
    ],
)
def test_field_at_fault_is_named_with_what_was_found_and_expected(refusal, path, value, message):
    refused = refusal([question_set("1-0-0"), question_set(**{path: value})])
    assert "1 problem" in refused
    assert message in refused


@pytest.mark.parametrize("content", ["", "[]", "{}", "[null]", "sets", b"\xff\xfe[]"])
def test_what_holds_no_set_is_an_input_error(refusal, content):
    assert refusal(content)


@given(
    st.sampled_from(sorted(question_set())),
    st.none() | st.integers() | st.text() | st.lists(st.text()),
)
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
        ("Ann, Bo, and Mary-Ann O'Neil: Bye!", [(("Ann", "Bo", "Mary-Ann O'Neil"), "Bye!")]),
        ("so here is how: slowly", []),
        ("(Bruno leaves: bye)", []),
        ("Ilse & friends: Bye!", []),
    ],
)  # fmt: skip
def test_turn_is_one_or_several_names_and_what_they_say(context, expected):
    assert turns(context) == expected
