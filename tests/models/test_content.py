"""One message in the forms that vendors and harnesses write it in."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.models.content import finish_of, has_refusal, repeat_of, text_of

THOUGHT = {"type": "thinking", "thinking": "Perhaps (A)."}
ANSWER = {"type": "text", "text": "(B)"}
REFUSAL = {"type": "refusal", "refusal": "I can't."}
FORMS = {
    "nothing": (None, None),
    "thinking alone": ([THOUGHT], ""),
    "two texts": ([ANSWER, THOUGHT, ANSWER], "(B)\n(B)"),
    "no type": ([{"text": "Perhaps (A).", "thought": True}, {"text": "(B)"}], "(B)"),
    "response": (
        [
            {"type": "reasoning", "summary": [], "content": None},
            {"type": "message", "content": [{"type": "output_text", "text": "(B)"}]},
        ],
        "(B)",
    ),
    "objects": ([SimpleNamespace(**THOUGHT), SimpleNamespace(**ANSWER)], "(B)"),
    "list of texts": (["(B)"], "(B)"),
    "refusal beside a text": ([REFUSAL, ANSWER], "(B)"),
    "refusing response": ([{"type": "message", "content": [REFUSAL]}], "I can't."),
}


@pytest.mark.parametrize("name", FORMS)
def test_an_answer_is_the_same_in_every_form(name):
    content, text = FORMS[name]
    assert text_of(content) == text
    assert has_refusal(content) == ("refus" in name)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("stop", ["stop", "end_turn", "COMPLETE", "stop: </s>"]),
        ("length", ["length", "MAX_TOKENS"]),
        ("filtered", ["content_filter", "SAFETY"]),
        ("other", ["tool_calls"]),
        (None, [None, "", "unknown", 5]),
    ],
)
def test_reasons_are_known_in_every_vendors_words_and_no_other(reason, words):
    assert {finish_of(word) for word in words} == {reason}


@pytest.mark.parametrize(
    ("record", "repeat"),
    [
        ({"metadata": {"trial": "first", "epoch": 2}}, 1),
        ({"sample": "3"}, 3),
        ({"trial": 2.0}, 2),
        ({"sample": ""}, None),
    ],
)
def test_repeats_count_from_0_wherever_they_stand(record, repeat):
    assert repeat_of(record) == repeat


@pytest.mark.parametrize("value", [-1, 1.5, "first", 10**30])
def test_what_is_no_count_of_repeats_is_an_error(value):
    with pytest.raises(ValueError, match="sample"):
        repeat_of({"sample": value})


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "content"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=50)
@given(JSON)
def test_whatever_stands_there_is_a_text_or_an_error(content):
    try:
        assert isinstance(text_of(content), str | None)
    except ValueError as error:
        assert "expected" in str(error)
