"""One message in the forms that vendors and harnesses write it in."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tomlab.models.content import finish_of, has_refusal, repeat_of, text_of

THOUGHT = {"type": "thinking", "thinking": "Perhaps (A)."}
FORMS = {
    "text": "(B)",
    "parts": [{"type": "text", "text": "(B)"}],
    "thinking before": [THOUGHT, {"type": "text", "text": "(B)"}],
    "thinking in parts": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Perhaps (A)."}]},
        {"type": "text", "text": "(B)"},
    ],
    "reasoning": [{"type": "reasoning", "reasoning": "(A)"}, {"type": "text", "text": "(B)"}],
    "redacted": [{"type": "redacted_thinking", "data": "xy"}, {"type": "text", "text": "(B)"}],
    "a text in two": [{"type": "text", "text": "("}, {"type": "text", "text": "B)"}],
    "no type": [{"text": "Perhaps (A).", "thought": True}, {"text": "(B)"}],
    "no type, reasoning": [{"reasoningContent": {"text": "(A)"}}, {"text": "(B)"}],
    "response": [
        {"type": "reasoning", "summary": [], "content": None},
        {"type": "message", "content": [{"type": "output_text", "text": "(B)"}]},
    ],
    "objects": [
        SimpleNamespace(type="thinking", thinking="(A)"),
        SimpleNamespace(type="text", text="(B)"),
    ],
    "tool": [{"type": "tool_use", "name": "x", "input": {}}, {"type": "text", "text": "(B)"}],
    "list of texts": ["(B)"],
}


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_is_the_same_in_every_form(form):
    assert text_of(FORMS[form]) == "(B)"
    assert not has_refusal(FORMS[form])


def test_no_content_is_told_from_an_empty_text():
    assert text_of(None) is None
    assert text_of("") == ""
    assert text_of([THOUGHT]) == ""


def test_a_refusal_has_its_words_unless_there_is_a_text():
    refusal = {"type": "refusal", "refusal": "I can't."}
    assert text_of([refusal]) == "I can't." and has_refusal([refusal])
    assert text_of([refusal, {"type": "output_text", "text": "(B)"}]) == "(B)"
    item = [{"type": "message", "content": [refusal]}]
    assert text_of(item) == "I can't." and has_refusal(item)


def test_texts_with_something_between_them_do_not_run_together():
    parts = [{"type": "text", "text": "Let me see."}, THOUGHT, {"type": "text", "text": "B"}]
    assert text_of(parts) == "Let me see.\nB"


@pytest.mark.parametrize("content", [5, True, [5], [[1]], [{"type": "text", "text": 5}]])
def test_what_is_no_content_is_an_error(content):
    with pytest.raises(ValueError, match="expected"):
        text_of(content)


def test_reasons_are_known_in_every_vendors_words_and_no_other():
    assert {finish_of(w) for w in ("stop", "end_turn", "STOP", "COMPLETE", "completed")} == {"stop"}
    assert {finish_of(w) for w in ("length", "max_tokens", "MAX_TOKENS", "model_length")} == {
        "length"
    }
    assert {finish_of(w) for w in ("content_filter", "SAFETY")} == {"filtered"}
    assert finish_of("tool_calls") == "other"
    assert {finish_of(word) for word in (None, "", "error", "unknown", 5, [])} == {None}


def test_repeats_count_from_0_wherever_they_stand():
    assert repeat_of({"epoch": 1}) == 0 and repeat_of({"epoch": 2}) == 1
    assert repeat_of({"metadata": {"epoch": 2}}) == 1
    assert repeat_of({"sample": "3"}) == 3 and repeat_of({"trial": 2.0}) == 2
    assert repeat_of({"sample": ""}) is None and repeat_of({"metadata": None}) is None
    for value in (-1, 1.5, True, "first", 10**30, "1" * 5000, float("nan")):
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


@given(JSON)
def test_whatever_stands_there_is_a_text_or_an_error(content):
    try:
        assert isinstance(text_of(content), str | None)
    except ValueError as error:
        assert "expected" in str(error)
