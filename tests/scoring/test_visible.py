"""Thinking, tools and channels are no part of an answer, however they are marked."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.benchmarks.bigtom import scoring as bigtom
from tomlab.scoring.options import read_answer
from tomlab.scoring.visible import visible

T = "At first sight the answer is (A). But she was out."
NAMES = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reflection",
    "scratchpad",
    "seed:think",
    "mm:think",
    "antml:thinking",
    "longcat_think",
    "REASONING_SCRATCHPAD",
    "inner_monologue",
    "analysis",
    "plan",
    "tool_call",
    "function_call",
    "function_calls",
    "tool_response",
    "tool_code",
]
TAGGED = [f"<{name}>{T}</{name}>(B)" for name in NAMES]
TAGGED += [f"<|{name}|>{T}<|/{name}|>(B)" for name in ("think", "thinking")]
TAGGED += [f"[{name}]{T}[/{name}](B)" for name in ("THINK", "THINKING", "REASONING", "reasoning")]
ANALYSIS = f"<|channel|>analysis<|message|>{T}<|end|><|start|>assistant"
COMMENTARY = "<|channel|>commentary to=f.g<|constrain|>json<|message|>{}<|call|><|start|>assistant"
FINAL = "<|channel|>final<|message|>"
MARKED = [
    f"\u25c1think\u25b7{T}\u25c1/think\u25b7(B)",
    f"<|START_THINKING|>{T}<|END_THINKING|><|START_RESPONSE|>(B)<|END_RESPONSE|>",
    f"<|START_THINKING|>{T}<|END_THINKING|><|START_ACTION|>[]<|END_ACTION|>(B)",
    f"<|begin_of_thought|>{T}<|end_of_thought|>\n<|begin_of_solution|>(B)<|end_of_solution|>",
    f"<|inner_prefix|>{T}<|inner_suffix|>(B)",
    f"<|think:start|>{T}<|think:end|>(B)",
    f"[unused16]{T}[unused17](B)",
    f"<|channel>thought\n{T}<channel|>(B)<turn|>",
    f"{ANALYSIS}{FINAL}(B)<|return|>",
    f"{ANALYSIS}{COMMENTARY}{FINAL}(B)",
    f"analysis<|message|>{T}<|end|><|start|>assistant<|channel|>final<|message|>(B)",
    f"analysis{T}assistantfinal(B)",
    f"<|im_start|>think\n{T}<|im_start|>answer\n(B)",
    f"Here is my thought process: {T} Here is my response: (B)",
    f"**Here's my thought process:**\n{T}\n**Here is my response:**\n(B)",
    f"Here are my reasoning steps:\n{T}\n[BEGIN FINAL RESPONSE]\n(B)\n[END FINAL RESPONSE]",
    f"```thinking\n{T}\n```\n(B)",
    f"~~~thinking\n{T}\n~~~\n(B)",
    f'<details type="reasoning"><summary>Thought</summary>{T}</details>(B)',
    f"<\uff5ctool\u2581calls\u2581begin\uff5c>{T}<\uff5ctool\u2581calls\u2581end\uff5c>(B)",
    f"<think>{T}</think><answer>(B)</answer>",
    f"<think>{T}</think>{T} <final_answer>(B)</final_answer>",
    f"<think>{T}<tool_call>{{}}</tool_call>{T}</think>(B)",
    f"<thinking>{T}</think>(B)",
    f"{T}</think>(B)",
    f"{T}[/THINK](B)",
    f"{T}<|end_of_thought|>(B)",
    f"<think>{T}<answer>(B)</answer>",
    "<|start_header_id|>assistant<|end_header_id|>\n\n(B)<|eot_id|>",
    "<s>(B)</s>",
]
OPEN = [
    f"{mark}{T}"
    for mark in (
        *("<think>", "[THINK]", "<reasoning>", "<tool_call>", "\u25c1think\u25b7", "analysis"),
        *("<|START_THINKING|>", "<|begin_of_thought|>", "<|channel|>analysis<|message|>"),
        *("```thinking\n", "<|channel>thought\n", "Here is my thought process: ", "<seed:think>"),
        *("<|think:start|>", "[TOOL_CALLS]", "<think><answer>"),
    )
]


@pytest.mark.parametrize("text", [*TAGGED, *MARKED])
def test_what_is_marked_as_no_answer_is_not_read(text):
    assert visible(text) == ("(B)", False)
    assert read_answer(text, "stop", False).key == "B"
    assert bigtom.read_answer(text, "stop", False).key == "b"


@pytest.mark.parametrize("text", OPEN)
def test_what_was_left_open_holds_no_answer(text):
    assert visible(text) == ("", True)
    assert read_answer(text, "stop", False).outcome == "truncated"


@pytest.mark.parametrize(
    "text",
    [
        "Answer: <option>)",
        "Answer:<b>)<Mei dives.>",
        "The answer is [B] because [reason]",
        "a < b and (B)",
        "Analysis: she was out. (B)",
        "[Kai joined the conversation]\n(B)",
        '```json\n{"answer": "B"}\n```',
        "| Actor | Belief |\n|---|---|\n| Ana | She thinks |",
    ],
)
def test_what_only_looks_like_a_mark_stays(text):
    assert visible(text) == (text, False)


MARKS = st.sampled_from(
    [
        "<think>",
        "</think>",
        "[THINK]",
        "[/THINK]",
        "<answer>",
        "</answer>",
        "```",
        "```thinking",
        "<|channel|>analysis<|message|>",
        "<|end|>",
        "<|im_start|>",
        "</s>",
        "(B)",
        "x",
    ]
)


@given(st.lists(MARKS, max_size=20).map(" ".join) | st.text())
@settings(max_examples=30, deadline=None)
def test_any_text_has_a_visible_part_that_has_no_thinking(text):
    said, _ = visible(text)
    assert said == said.strip()
    for mark in ("<think>", "</think>", "[THINK]", "[/THINK]"):
        assert mark not in said
