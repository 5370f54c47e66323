"""Which option an answer names, held against what a reader makes of real answers."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tomlab.benchmarks.bigtom import scoring as bigtom
from tomlab.scoring.options import read_answer

FILE = Path(__file__).with_name("option_forms.yaml")
FORMS, WRAPPED, TRAPS, LAST_WORDS = yaml.safe_load_all(FILE.read_text("utf-8"))
# The first "answer is" that names a key counts, so that the denial before it confirms nothing.
READ_OTHERWISE = ["(A) No, the answer is not (B).\n\nThe correct answer is (B"]


def read(text, how="ended", prompt="plain"):
    return read_answer(text, "length" if how == "cut off" else "stop", prompt == "cot").key


def test_real_forms_are_read_as_a_reader_does():
    assert len(FORMS) >= 200
    misread = []
    for key, how, prompt, text in FORMS:
        if (read(text, how, prompt) or "none") != key:
            misread.append(text)
    assert misread == READ_OTHERWISE


@pytest.mark.parametrize(("key", "how", "prompt", "text"), LAST_WORDS)
def test_denials_corrections_and_token_limit(key, how, prompt, text):
    assert (read(text, how, prompt) or "none") == key


READERS = {"SimpleToM and OmniToM": read_answer, "BigToM": bigtom.read_answer}
by_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
PLAIN = [(letter, text) for letter, prompt, text in WRAPPED if prompt == "plain"]


def upper(reading):
    return (reading.key or "none").upper()


@by_reader
def test_whatever_is_wrapped_round_a_letter_it_is_read(reader):
    assert len(WRAPPED) >= 96
    for letter, prompt, text in WRAPPED:
        assert upper(reader(text, "stop", prompt == "cot")) == letter, text


@by_reader
def test_letter_that_is_no_choice_is_not_read(reader):
    assert len(TRAPS) >= 96
    assert [text for text in TRAPS if reader(text, "stop", False).key is not None] == []


NEXT = "Is Tom likely to know?\n(A) Yes\n(B) No\nAnswer: (A)"
RUN_ONS = [
    f"\n\nQuestion: {NEXT}",
    f"\n\nQ: {NEXT}",
    f"\nQuestion 2: {NEXT}",
    f"\n\n**Question:** {NEXT}",
    f"\n\n### Question\n{NEXT}",
    f"\n\nNext question: {NEXT}",
    f" Question: {NEXT}",
    f"\n\n{NEXT}",
    f"\n\nStory: Tom is out.\nQuestion: {NEXT}",
    f"\n\nScenario 2\nTom is out. {NEXT}",
    f"\n\nContext: Tom is out.\n{NEXT}",
    f"\n\nExample 2:\nTom is out. {NEXT}",
    "\n\nUser: And Tom?\nAssistant: The answer is (A).",
    "\n\nHuman: And Tom?\n\nAssistant: (A)",
    "\n\n### Instruction:\nAnswer again.\n\n### Response:\nThe answer is (A).",
    "<|im_end|>\n<|im_start|>user\nAnd Tom? The answer is (A).",
    "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nThe answer is (A).",
    "</s> The answer is (A).",
    "<end_of_turn>\n<start_of_turn>user\nThe answer is (A).",
    "<|endoftext|>The answer is (A).",
    "[INST] The answer is (A). [/INST]",
]


@by_reader
@pytest.mark.parametrize("more", RUN_ONS)
def test_answer_ends_where_the_model_begins_a_new_question(reader, more):
    for letter, text in [*PLAIN, ("NONE", "She will pay.")]:
        assert upper(reader(f"{text}{more}", "stop", False)) == letter, text
    assert upper(reader(f"(B){more}", "length", False)) == "B"
    for finish in ("stop", "length"):
        reasoned = f"She can't know. Therefore, the answer is: (B){more}"
        assert upper(reader(reasoned, finish, True)) == "B"


@by_reader
@pytest.mark.parametrize(
    "text",
    [
        f"Question: {NEXT.replace('Answer: (A)', 'Therefore, the answer is: (B)')}",
        "Story: Mary is out.\nQuestion: Is she aware?\nShe can't be. The answer is (B).",
        "**Question:** Is she aware?\n**Answer:** (B)",
    ],
)
@pytest.mark.parametrize("cot", [True, False])
def test_question_put_again_before_the_answer_does_not_end_it(reader, text, cot):
    assert upper(reader(text, "stop", cot)) == "B"


THINKING = ["think", "thinking", "thought", "reasoning", "scratchpad", "tool_call"]
answers = st.sampled_from(PLAIN)
spaces = st.text(" \n", max_size=3)


@by_reader
@given(answers, st.sampled_from(THINKING), spaces, spaces)
@settings(max_examples=30, deadline=None)
def test_thinking_and_space_around_an_answer_change_nothing(reader, answer, name, before, behind):
    letter, text = answer
    thought = f"<{name}>Is it (A)? The answer is (A). Or (B)?</{name}>"
    assert upper(reader(f"{thought}{before}{text}{behind}", "stop", False)) == letter


@by_reader
@given(answers, st.sampled_from(["answer", "final", "final_answer", "response"]), spaces)
@settings(max_examples=30, deadline=None)
def test_answer_marked_as_such_is_the_answer(reader, answer, name, space):
    letter, text = answer
    assume("<" not in text)  # one section is enough
    marked = f"(A)? (B)?\n\n<{name}>{space}{text}{space}</{name}>"
    assert upper(reader(marked, "stop", False)) == letter


PIECES = (
    r"(A) (B) B a) answer is : not ? \boxed{B} $ ** Question: <think> </think> <answer> [THINK] I"
    " choose if or wait \n ` Story: A. plan"
)


@by_reader
@given(
    st.lists(st.sampled_from(re.split("(?<=.) ", PIECES)), max_size=25).map(" ".join) | st.text(),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_any_text_has_a_verdict(reader, text, cot, cut_off):
    outcome, key, rule = reader(text, "length" if cut_off else "stop", cot)
    assert (outcome == "answered") == (key is not None)
    assert rule
