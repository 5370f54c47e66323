"""SimpleToM: how answers are read, what models are shown, what is composed, read and counted."""

import json
import random
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import replies
from replies import sorted_rows
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom import scoring
from tomlab.benchmarks.simpletom.items.compose import KEYS, QUESTIONS, WORDINGS
from tomlab.benchmarks.simpletom.items.stories import SCENARIOS, story_table
from tomlab.errors import InputError
from tomlab.records import tidy
from tomlab.scoring.answers import first_methods
from tomlab.scoring.choices import key_of
from tomlab.scoring.options import read_answer

# The story of Fig. 1, with the wording of App. G.1.
MARY = {
    "story_id": "chips_sev2",
    "source": "authored",
    "scenario": "food item in grocery store",
    "set_id": "chips",
    "severity": 2,
    "person_x": "Mary",
    "person_y": "",
    "object_z": "bag of potato chips",
    "key_information": "The bag of potato chips has moldy chips in it.",
    "second_sentence": "Mary picks up the bag in the supermarket and walks to the cashier.",
    "question": "What will Mary likely do next?",
    "unaware_action": "pay for the chips",
    "aware_action": "report the moldy chips",
    "negative_judgment": "Irresponsible",
}
TWELVE = [f"chips-{letter}" for letter in "abcdefghijkl"]

ANSWERING = [
    method for method in simpletom.METHODS if method not in first_methods(simpletom.METHODS)
]
answered = partial(replies.answered, method="none")
of_baseline = partial(replies.of_baseline, simpletom)


@pytest.fixture(scope="module")
def stories():
    """Twelve sets of three severities in four scenarios; the last set has no negative judgment."""
    rows = [
        {
            **MARY,
            "story_id": f"{name}_sev{severity}",
            "scenario": SCENARIOS[number % 4],
            "set_id": name,
            "severity": severity,
            "negative_judgment": "" if name == TWELVE[-1] else "Irresponsible",
        }
        for number, name in enumerate(TWELVE)
        for severity in (1, 2, 3)
    ]
    return story_table(rows)


@pytest.fixture(scope="module")
def items(stories):
    return simpletom.compose(stories)


@pytest.fixture(scope="module")
def mary():
    """The nine items of Mary's story, by question and wording."""
    items = simpletom.compose(story_table([MARY]))
    return {(item["question_type"], item["variant"]): item for item in items.to_dict("records")}


def value(metrics, metric, condition, method="none"):
    found = metrics.query("metric == @metric and condition == @condition and method == @method")
    [only] = found["value"]
    return only


# Reading an answer

PAY = pd.DataFrame(
    simpletom.compose(story_table([MARY])).query("question_type == 'behavior'")
).assign(choices=[["report the moldy chips", "pay for the chips"]])


def read(text, method="none", finish="stop", items=PAY):
    """The key of the option that an answer chose, or the outcome that stands in its place."""
    row = {"item_id": items["item_id"].item(), "model": "model", "method": method}
    responses = pd.DataFrame([{**row, "response": text, "finish_reason": finish}])
    [score] = simpletom.score(items, responses).to_dict("records")
    [choices] = items["choices"]
    if score["chosen"] is None:
        assert score["outcome"] in ("unparsed", "truncated", "refused")
        return score["outcome"]
    right = score["chosen"] == items["answer"].item()
    assert score["outcome"] == ("correct" if right else "wrong")
    return "ABC"[choices.index(score["chosen"])]


LONG = "Mary has not seen the chips. " * 1000

PLAIN = [
    # A key that leads.
    pytest.param("(A)", "A", id="key in brackets"),
    pytest.param("A.", "A", id="key with a full stop"),
    pytest.param("A", "A", id="bare key"),
    pytest.param("B)", "B", id="key with half a bracket"),
    pytest.param("(B", "B", id="key with the other half"),
    pytest.param("**(B)**", "B", id="bold key in brackets"),
    pytest.param("`B`", "B", id="key as code"),
    pytest.param("> (B)", "B", id="key in a quotation"),
    pytest.param("[B]", "B", id="key in square brackets"),
    pytest.param("“(B)”", "B", id="key in unicode quotes"),
    pytest.param("‘B’ because she can't see it", "B", id="bare key in single unicode quotes"),
    pytest.param("（B）", "B", id="key in full-width brackets"),
    pytest.param("(B) pay for the chips", "B", id="key and option text"),
    pytest.param("(B)pay for the chips", "B", id="key and option text without a space"),
    pytest.param("B: pay for the chips", "B", id="key, colon and option text"),
    pytest.param("B - pay for the chips", "B", id="key, dash and option text"),
    pytest.param("B\npay for the chips", "B", id="key on its own line"),
    pytest.param("b", "B", id="lower-case key"),
    pytest.param("a) report the moldy chips", "A", id="lower-case key with half a bracket"),
    pytest.param("B because Mary can't know.", "B", id="bare key with a reason"),
    pytest.param("(B), since (A) would need that she looked.", "B", id="leading key, then other"),
    pytest.param(
        "(B) (A person can't see into a bag.)", "B", id="article in brackets behind a key"
    ),
    pytest.param("(B)\n\nIs Mary aware of it? No.", "B", id="question below the key"),
    # An answer that is announced.
    pytest.param("Answer: (B)", "B", id="answer with colon"),
    pytest.param("**Answer:** (B)", "B", id="bold answer with colon"),
    pytest.param("The answer is (B) because (A) is what she would do if aware.", "B", id="because"),
    pytest.param("The correct answer is: (B) pay for the chips.", "B", id="the correct answer is"),
    pytest.param("The correct answer choice is (B).", "B", id="the correct answer choice is"),
    pytest.param("The answer is Option B.", "B", id="announced option"),
    pytest.param("The answer is: pay for the chips (B).", "B", id="key behind the option text"),
    pytest.param("The answer is (A). Wait, the answer is (B).", "B", id="change of mind"),
    pytest.param("The answer is (B). This answer is based on facts.", "B", id="this answer is"),
    pytest.param(
        "The answer is (B). If she had known, the answer would be (A).", "B", id="what it would be"
    ),
    pytest.param(LONG + "The answer is (B).", "B", id="very long text before the answer"),
    # One key within a sentence.
    pytest.param("Option B", "B", id="option and key"),
    pytest.param("I would choose option **B**.", "B", id="option and bold key"),
    pytest.param("Mary will pay for the chips (B).", "B", id="key at the end"),
    pytest.param("(B) is the correct answer.", "B", id="key as a subject"),
    pytest.param("It is (B), isn't it?", "B", id="question behind the key"),
    pytest.param("It is (B), not (A).", "B", id="other key denied"),
    pytest.param("Not (A) but (B).", "B", id="first key denied"),
    pytest.param("(A) is wrong, so (B).", "B", id="wrong key, then the right one"),
    pytest.param("A: (B)", "B", id="A for answer"),
    pytest.param("(Because she can't know) (B)", "B", id="bracket that opens with a B word"),
    pytest.param(
        "I'm sorry, I am not sure, but (B) seems right.", "B", id="apology with an answer"
    ),
    # Both, none, or denied.
    pytest.param("(A) or (B)", "unparsed", id="A or B"),
    pytest.param("A, or maybe B", "unparsed", id="A, or maybe B"),
    pytest.param("(A) and (B)", "unparsed", id="A and B"),
    pytest.param("Both (A) and (B) are likely.", "unparsed", id="both"),
    pytest.param("Neither (A) nor (B)", "unparsed", id="neither"),
    pytest.param("It is not (A) or (B).", "unparsed", id="not either"),
    pytest.param("(A), (B)", "unparsed", id="both with a comma"),
    pytest.param("(A)(B)", "unparsed", id="both without a space"),
    pytest.param("A/B", "unparsed", id="both with a slash"),
    pytest.param("(A)? No, (B)?", "unparsed", id="both with question marks"),
    pytest.param("(A) report the chips\n(B) pay for the chips", "unparsed", id="list of both"),
    pytest.param("(A) if she knew, (B) otherwise.", "unparsed", id="it depends"),
    pytest.param("(A) is wrong", "unparsed", id="wrong key"),
    pytest.param("Option A can be ruled out.", "unparsed", id="key that is ruled out"),
    pytest.param("The answer is not (A).", "unparsed", id="the answer is not"),
    pytest.param("(C)", "unparsed", id="key that is no option"),
    pytest.param("pay for the chips", "unparsed", id="option text without its key"),
    pytest.param("A bag of chips", "unparsed", id="article"),
    pytest.param("The answer is a bag of chips.", "unparsed", id="announced article"),
    pytest.param("The best option a shopper has is to pay.", "unparsed", id="option and article"),
    pytest.param("A's bag", "unparsed", id="possessive letter"),
    pytest.param("A.M. or P.M.?", "unparsed", id="abbreviation"),
    pytest.param("Bob paid. Carol called. Ann did not.", "unparsed", id="words that begin so"),
    pytest.param(r"\boxed{B}", "B", id="boxed letter"),
    pytest.param(r"$\boxed{\text{(B)}}$", "B", id="boxed key in brackets"),
    pytest.param("I cannot decide.", "unparsed", id="undecided"),
    pytest.param("Answer:", "unparsed", id="announced nothing"),
    pytest.param("", "unparsed", id="empty"),
    # Thinking and refusing.
    pytest.param("<think>(A)? The answer is (A).</think>(B)", "B", id="thinking"),
    pytest.param("(A)? Answer: (A)</think>\n\n(B)", "B", id="thinking that the prompt opened"),
    pytest.param("<think>The answer is (B)</think>", "unparsed", id="nothing but thinking"),
    pytest.param("<think>The answer is (B)", "truncated", id="open thinking"),
    pytest.param("(B)<think>or is it (A)", "truncated", id="open thinking behind a key"),
    pytest.param("I'm sorry, but I can't help with that.", "refused", id="refusal by text"),
    pytest.param("As an AI, I don't judge people.", "refused", id="refusal as an AI"),
]


@pytest.mark.parametrize(("text", "verdict"), PLAIN)
def test_plain_answer(text, verdict):
    assert read(text) == verdict


REASONS = "Mary can't see into the bag. (A) would need that she looked, so it is not (A). "

COT = [
    pytest.param("Therefore, the answer is: (B)", "B", id="closing phrase alone"),
    pytest.param(REASONS + "Therefore, the answer is: (B)", "B", id="reasons, then the phrase"),
    pytest.param(REASONS + "\n\n**Therefore, the answer is:** **(B)**", "B", id="bold phrase"),
    pytest.param(REASONS + "Therefore, the answer is:\n\n(B)", "B", id="key on a line below"),
    pytest.param(REASONS + "Therefore, the answer is: (B) pay, not (A).", "B", id="other denied"),
    pytest.param(REASONS + "So the correct answer is (B).", "B", id="other words of closing"),
    pytest.param(REASONS + "Final Answer: (B)", "B", id="final answer with colon"),
    pytest.param(
        "The answer is (A). But she can't know. Therefore, the answer is: (B)",
        "B",
        id="last counts",
    ),
    pytest.param(
        "Therefore, the answer is: (B). If aware, the answer would be (A).", "B", id="if aware"
    ),
    pytest.param(
        "Therefore, the answer is: (B)\n\nThis answer is right as she can't know.",
        "B",
        id="comment on the answer",
    ),
    pytest.param("(A)? <think>(A)</think>Therefore, the answer is: (B)", "B", id="thinking"),
    pytest.param("(B)", "B", id="bare key in brackets"),
    pytest.param("Therefore, the answer is: neither (A) nor (B).", "unparsed", id="neither"),
    pytest.param("Therefore, the answer is not (A).", "unparsed", id="denied key"),
    pytest.param("Therefore, the answer is: pay for the chips", "unparsed", id="option text"),
    pytest.param("Therefore, the answer is: a purchase.", "unparsed", id="article"),
    pytest.param(REASONS + "Hence (B).", "unparsed", id="reasons without the phrase"),
    pytest.param("(B) is what people do who can't know.", "unparsed", id="reasons open with a key"),
    pytest.param("I cannot answer that.", "refused", id="refusal"),
    pytest.param("I can't answer at once. Therefore, the answer is: (B)", "B", id="no refusal"),
]


@pytest.mark.parametrize(("text", "verdict"), COT)
def test_chain_of_thought(text, verdict):
    assert read(text, "cot") == verdict


CUT_OFF = [
    pytest.param("(B) pay for the", "none", "B", id="leading key"),
    pytest.param("Answer: (B) pay for", "none", "B", id="announced key"),
    pytest.param("Mary will (B) pay for", "none", "truncated", id="key within"),
    pytest.param("(A) or", "none", "truncated", id="A or"),
    pytest.param("(A) is", "none", "truncated", id="A is"),
    pytest.param("Mary will pay for the", "none", "truncated", id="no key"),
    pytest.param("", "none", "truncated", id="empty"),
    pytest.param("<think>(B)</think>(A) rep", "none", "A", id="leading key behind thinking"),
    pytest.param("<think>The answer is (B), so", "none", "truncated", id="open thinking"),
    pytest.param(REASONS + "So Mary will", "cot", "truncated", id="reasons"),
    pytest.param("(B) would be", "cot", "truncated", id="reasons that open with a key"),
    pytest.param("(B)", "cot", "truncated", id="nothing but a key"),
    pytest.param("If she knew, the answer is (A), but", "cot", "truncated", id="answer in passing"),
    pytest.param("Option (A): the wrong answer: (A) as", "cot", "truncated", id="answer colon"),
    pytest.param("Therefore, the answer is: ", "cot", "truncated", id="phrase without its key"),
    pytest.param("Therefore, the answer is: pay (B", "cot", "truncated", id="option text first"),
    pytest.param(REASONS + "Therefore, the answer is: (B) pay f", "cot", "B", id="phrase and key"),
    pytest.param("<think>Therefore, the answer is: (B)", "cot", "truncated", id="open thought"),
]


@pytest.mark.parametrize(("text", "method", "verdict"), CUT_OFF)
def test_answer_that_hit_the_token_limit(text, method, verdict):
    assert read(text, method, "length") == verdict


@pytest.mark.parametrize("method", ["none", "cot"])
def test_refusal_by_finish_reason_is_refused(method):
    assert read("", method, "refusal") == "refused"
    assert read("This can't be", method, "refusal") == "refused"


def test_third_key_counts_where_there_are_three_options(mary):
    three = pd.DataFrame([mary["judgment", "three-way"]])
    assert read("(C)", "wordings", items=three) == "C"
    assert read("Option C", "wordings", items=three) == "C"
    assert read("(A), (B) or (C)", "wordings", items=three) == "unparsed"


def test_every_method_reads_its_own_way(mary):
    for method in ANSWERING:
        item = mary["judgment", "generated" if method == "wordings" else "main"]
        verdict = read("(B) is unlikely. Hence (A).", method, items=pd.DataFrame([item]))
        assert verdict == ("unparsed" if "cot" in method else "A")


PIECES = ["(A)", "(B)", "A", "B", "(", ")", " ", "answer", ":", "is", "the ", "Therefore, ", "\n"]
texts = st.lists(st.sampled_from([*PIECES, "x", " or ", " not ", "<think>", "</think>"])).map(
    "".join
)


@given(texts, st.booleans(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_answer_has_one_verdict(text, cot, cut_off):
    outcome, key, _ = read_answer(text, "length" if cut_off else "stop", cot)
    assert outcome in ("answered", "truncated", "unparsed")
    assert (key in ("A", "B")) == (outcome == "answered")
    assert not (cut_off and outcome == "unparsed")


@given(texts)
@settings(max_examples=200, deadline=None)
def test_swapping_the_letters_swaps_the_verdict(text):
    # A is an article as well, so brackets are all that the two letters share.
    text = text.replace("A", "(A)").replace("B", "(B)").replace("((", "(").replace("))", ")")
    swapped = text.translate(str.maketrans("AB", "BA"))
    for cot in (False, True):
        before = read_answer(text, "stop", cot)
        outcome, key, rule = read_answer(swapped, "stop", cot)
        assert (outcome, {"A": "B", "B": "A"}.get(key), rule) == before


# The rule of the released code


def released_again(text, right_key, cot):
    """The released code's verdict, by string surgery alone."""
    if cot:
        at = text.lower().rfind("the answer is")
        if at >= 0:
            text = text[at + len("the answer is") :].removeprefix(":")
    else:
        while (at := text.lower().find("answer")) >= 0:
            # A mark keeps what moves together from making a new "answer".
            text = text[:at] + "\0" + text[at + len("answer") :].removeprefix(":")
        text = text.replace("\0", "")
    text = text.strip()
    for letter in "ABCD":
        if f"({letter})" in text:
            return letter == right_key
    half_open = [letter for letter in "ABCD" if f"({letter}" in text]
    found = half_open or [letter for letter in "ABCD" if letter in text]
    return len(found) == 1 and found[0] == right_key


@given(st.lists(st.sampled_from([*PIECES, "x", "(C", "D"])).map("".join), st.booleans())
@example("ansanswerwer(A)", False)
@example("The answer is (A). THE ANSWER IS:: (B)", True)
@settings(max_examples=400, deadline=None)
def test_released_rule_is_that_of_the_released_code_on_any_text(text, cot):
    for key in "ABCD":
        assert scoring.released_rule(text, key, cot) == released_again(text, key, cot)


@pytest.mark.parametrize(
    ("text", "method", "released", "ours"),
    [
        # The right key is B in all of these.
        pytest.param("(B)", "none", True, "correct", id="key"),
        pytest.param("B", "none", True, "correct", id="bare key"),
        pytest.param("(B), not (A)", "none", False, "correct", id="A anywhere wins"),
        pytest.param("Both are likely.", "none", True, "unparsed", id="capital of a word"),
        pytest.param("Answer: (B)", "none", True, "correct", id="its A is deleted"),
        pytest.param("A bag? B", "none", False, "unparsed", id="two bare letters"),
        pytest.param("(a)", "none", False, "wrong", id="lower case"),
        pytest.param(r"\boxed{B}", "none", True, "correct", id="boxed letter"),
        pytest.param("(A)? Hence (B).", "cot", False, "unparsed", id="no closing phrase"),
        pytest.param("(A)? Therefore, the answer is: (B)", "cot", True, "correct", id="phrase"),
        pytest.param("<think>(A)</think>(B)", "none", False, "correct", id="thinking"),
        pytest.param(None, "none", None, "error", id="failed request"),
    ],
)
def test_released_rule_beside_ours(text, method, released, ours):
    [score] = simpletom.score(PAY, answered(PAY, text, method=method)).to_dict("records")
    assert (score["by_released_rule"], score["outcome"]) == (released, ours)


# Prompts

ROWS = {
    "mental-state-qa": {
        "id": "food_item_3_sev2_aware",
        "story": f"{MARY['key_information']} {MARY['second_sentence']}",
        "question": f'Is Mary likely to be aware that "{MARY["key_information"]}"?',
        "scenario_name": "food item in grocery store",
        "choices": {"text": ["Yes", "No"], "label": ["A", "B"]},
        "answerKey": "B",
    },
}
ROWS["behavior-qa"] = ROWS["mental-state-qa"] | {
    "id": "food_item_3_sev2_action",
    "question": "What will Mary likely do next?",
    "choices": {"text": ["pay for the chips", "report the moldy chips"], "label": ["A", "B"]},
    "answerKey": "A",
}
ROWS["judgment-qa"] = ROWS["mental-state-qa"] | {
    "id": "food_item_3_sev2_judge",
    "question": 'Next, Mary "pay for the chips" and not "report the moldy chips". The behavior of '
    "Mary can be best described as:",
    "choices": {"text": ["Not reasonable", "Reasonable"], "label": ["A", "B"]},
    "answerKey": "B",
}


def released_folder(path, stories=2, **changes):
    """A folder in the hub's layout; changes: the rows of a config (or its file's bytes) instead."""
    for config, row in ROWS.items():
        rows = [
            row | {"id": row["id"].replace("_3_", f"_{number}_")}
            for number in range(1, stories + 1)
        ]
        wanted = changes.get(config.replace("-", "_"), rows)
        (path / config).mkdir(parents=True, exist_ok=True)
        if wanted is None:
            continue
        if not isinstance(wanted, bytes):
            wanted = "".join(json.dumps(row) + "\n" for row in wanted).encode()
        (path / config / "test.jsonl").write_bytes(wanted)
    return path


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return simpletom.read_released(released_folder(tmp_path_factory.mktemp("hub") / "mine", 3))


def asked_again(row, final, before=""):
    """The user's turn, out of a row of the release; before: the reminder."""
    [a, b] = row["choices"]["text"]
    return (
        "Given the following story, answer the question by giving the correct answer choice, (A) "
        f"or (B).\n\nStory:\n{row['story']}\n{before}\nQuestion: {row['question']} \n(A) {a} \n"
        f'(B) {b}\n\nWhat is the correct answer? {final} "(A)" or "(B)"\n'
    )


RESPOND = "Respond with just"
STEPS = "Think step by step to arrive at an answer. "
STAR = "Think carefully about what each person is aware or not aware of. "
CLOSE = (
    "Start your response by explaining your reasoning process and end your response with "
    '"Therefore, the answer is: " followed by'
)
HELPFUL = "You are a helpful assistant."
CONSIDER = (
    " Before responding, you always consider carefully all implicit and explicit aspects of the "
    "input, including the mental state of all the entities involved."
)
AWARE = " E.g., think carefully about what each person is aware or not aware of."


@pytest.mark.parametrize(
    ("method", "system", "final"),
    [
        ("none", HELPFUL, RESPOND),
        ("sysp", HELPFUL + CONSIDER, RESPOND),
        ("sysp-star", HELPFUL + CONSIDER + AWARE, RESPOND),
        ("cot", HELPFUL, STEPS + CLOSE),
        ("cot-star", HELPFUL, STEPS + STAR + CLOSE),
    ],
)
def test_messages_are_those_of_the_release(released, method, system, final):
    items = {item["item_id"]: item for item in released.to_dict("records")}
    for row in ROWS.values():
        assert simpletom.messages(items[row["id"]], method) == [
            {"role": "system", "content": system},
            {"role": "user", "content": asked_again(row, final)},
        ]


@pytest.mark.parametrize(
    ("method", "final"), [("ms-remind", RESPOND), ("cot-star-ms", STEPS + STAR + CLOSE)]
)
def test_reminder_stands_between_story_and_question(released, method, final):
    states = released[released["question_type"] == "mental_state"]
    reminded = simpletom.remind(released, answered(states, "(B)"))
    items = {item["item_id"]: item for item in reminded.to_dict("records")}
    state = ROWS["mental-state-qa"]
    before = f"\nQuestion: {state['question']} \n(A) Yes \n(B) No\nAnswer: (B)\n"
    for config in ("behavior-qa", "judgment-qa"):
        [system, user] = simpletom.messages(items[ROWS[config]["id"]], method)
        assert system["content"] == HELPFUL
        assert user["content"] == asked_again(ROWS[config], final, before)
        assert "\n\n\n" not in user["content"]
        assert f"{state['story']}\n\nQuestion: Is" in user["content"]
        assert "Answer: (B)\n\nQuestion: " in user["content"]


def test_users_own_prompt_takes_the_place_of_ours(mary, tmp_path):
    (tmp_path / "final.txt").write_text("Say")
    replaced = {"simpletom/respond": str(tmp_path / "final.txt")}
    [_, user] = simpletom.messages(mary["behavior", "main"], "none", replaced)
    assert user["content"].endswith('What is the correct answer? Say "(A)" or "(B)"\n')


def test_shared_prefix_opens_every_question_on_the_story(mary):
    item = mary["behavior", "main"]
    prefix = simpletom.shared_prefix(item, "none")
    for method in ("none", "cot", "ms-remind"):
        reminded = {**item, "reminder": "Question: ?\nAnswer: (A)\n"}
        assert simpletom.messages(reminded, method)[1]["content"].startswith(prefix)


def test_token_limits_are_those_of_the_release():
    limits = {name: simpletom.METHODS[name].max_tokens for name in ANSWERING}
    assert limits.pop("likelihood") == 1  # nothing is generated, and a token is the least
    assert limits == {name: 500 if name.startswith("cot") else 20 for name in limits}


# Reading the released questions


def test_released_rows_become_items(released):
    main = released[released["variant"] == "main"]
    assert Counter(main["question_type"]) == dict.fromkeys(QUESTIONS, 3)
    [item] = released[released["item_id"] == "food_item_3_sev2_action"].to_dict("records")
    assert item == {
        "benchmark": "simpletom",
        "item_id": "food_item_3_sev2_action",
        "group_id": "food_item_3",
        "question_type": "behavior",
        "story": ROWS["behavior-qa"]["story"],
        "question": "What will Mary likely do next?",
        "choices": ["pay for the chips", "report the moldy chips"],
        "answer": "pay for the chips",
        "source": "released:mine",
        "scenario": "food item in grocery store",
        "severity": 2,
        "story_id": "food_item_3_sev2",
        "variant": "main",
        "reality": "report the moldy chips",
        # The release doesn't name the entities apart from its stories.
        "person_x": "",
        "person_y": "",
        "object_z": "",
    }


STATE, ACTION, JUDGE = (dict(row) for row in ROWS.values())


def without(row, field):
    return {name: value for name, value in row.items() if name != field}


# What stands in place of a config's rows, and what is told of it.
HOSTILE = [
    ({"judgment_qa": None}, ["judgment-qa/test.jsonl: cannot be read (No such file"]),
    ({"behavior_qa": b""}, ["behavior-qa/test.jsonl: no row in it"]),
    (
        {"behavior_qa": b'{"id": "x_sev1_action"}\n{"id": \n'},
        ["behavior-qa/test.jsonl: 1 problem", "line 2: not JSON"],
    ),
    (
        {"behavior_qa": [{"id": "x_sev1_action"}]},
        ["behavior-qa/test.jsonl, row 1, id 'x_sev1_action', field story: found nothing"],
    ),
    (
        {"behavior_qa": [ACTION, ACTION | {"id": "food_item_4_sev2_judge"}]},
        [
            "story 'food_item_4_sev2': expected all three questions on it",
        ],
    ),
    (
        {"mental_state_qa": [STATE | {"answerKey": "C"}]},
        [
            "mental-state-qa/test.jsonl, row 1, id 'food_item_3_sev2_aware', field choices: found",
            "answerKey 'C', expected as many different texts as labels",
        ],
    ),
    (
        {"mental_state_qa": [STATE | {"choices": {"text": ["No"], "label": ["A"]}}]},
        ["field choices: found {'label': ['A'], 'text': ['No']}, answerKey 'B', expected"],
    ),
    (
        {"mental_state_qa": [STATE | {"choices": {"text": ["No", "No"], "label": ["A", "B"]}}]},
        [
            "field choices: found {'label': ['A', 'B'], 'text': ['No', 'No']}, answerKey 'B', expected"
        ],
    ),
    (
        {"judgment_qa": [JUDGE, JUDGE]},
        ["row 2, id 'food_item_3_sev2_judge': stands in file judgment-qa/test.jsonl, row 1 too"],
    ),
    (
        {"mental_state_qa": [STATE | {"choices": {"text": 7, "label": None}}]},
        ["field choices.text: found 7, expected a valid list", "field choices.label: found None"],
    ),
    (
        {"mental_state_qa": [STATE, [STATE]]},
        ["mental-state-qa/test.jsonl, row 2, found [{", "expected an object"],
    ),
    (
        {"judgment_qa": [JUDGE | {"id": f"food_item_{n}_sev2_judge"} for n in (1, 9)]},
        [
            "story 'food_item_2_sev2'",
            "story 'food_item_9_sev2': expected all three questions on it",
        ],
    ),
    ({"judgment_qa": [JUDGE]}, ["story 'food_item_1_sev2': expected all three questions on it"]),
    (
        {
            "mental_state_qa": [without(STATE, "story")],
            "behavior_qa": [ACTION, ACTION | {"id": "?", "answerKey": "Z", "question": ""}],
        },
        [
            "3 problems\n",
            "mental-state-qa/test.jsonl, row 1, id",
            "field story: found nothing",
            "behavior-qa/test.jsonl, row 2, id",
            "field question: found nothing",
            "field id: found '?'",
        ],
    ),
]


@pytest.mark.parametrize(("changes", "told"), HOSTILE)
def test_hostile_folder_is_told_of_by_file_row_and_field(changes, told, tmp_path):
    folder = released_folder(tmp_path / "mine", **changes)
    with pytest.raises(InputError) as caught:
        simpletom.read_released(folder)
    for part in [str(folder), *told]:
        assert part in str(caught.value)


# Composition


CHOSE = 'Mary chose to "pay for the chips" and not "report the moldy chips". '
NEXT = 'Next, Mary "pay for the chips" and not "report the moldy chips". '
OVER = '"pay for the chips" over "report the moldy chips"?'
DESCRIBED = NEXT + "The behavior of Mary can be best described as:"


EITHER = f"{CHOSE}Was it wrong or reasonable for Mary to choose {OVER}"
NEXT_EITHER = f"{NEXT}Was it wrong or reasonable of Mary to {OVER.replace('over', 'and not')}"
IS_AWARE = 'Is Mary likely to be aware that "The bag of potato chips has moldy chips in it."?'
WORDED = [
    ("mental_state", "main", IS_AWARE, ["No", "Yes"]),
    ("behavior", "main", MARY["question"], ["pay for the chips", "report the moldy chips"]),
    ("judgment", "main", DESCRIBED, ["Reasonable", "Not reasonable"]),
    ("judgment", "generated", DESCRIBED, ["Reasonable", "Irresponsible"]),
    ("judgment", "three-way", DESCRIBED, ["Reasonable", "Implausible", "Irresponsible"]),
    ("judgment", "wrong", f"{CHOSE}Was it wrong of Mary to choose {OVER}", ["No", "Yes"]),
    (
        "judgment",
        "reasonable",
        f"{CHOSE}Was it reasonable for Mary to choose {OVER}",
        ["Yes", "No"],
    ),
    ("judgment", "wrong-or-reasonable", EITHER, ["Reasonable", "Wrong"]),
    ("judgment", "next-wrong-or-reasonable", NEXT_EITHER, ["Reasonable", "Wrong"]),
]


def test_wording_is_that_of_the_paper(mary):
    """The right option stands first here, the one that fits if Mary knew last."""
    assert list(mary) == [(kind, variant) for kind, variant, *_ in WORDED]
    for kind, variant, question, options in WORDED:
        item = mary[kind, variant]
        assert item["question"] == question
        assert (item["answer"], item["reality"]) == (options[0], options[-1])
        assert sorted(item["choices"]) == sorted(options)


@pytest.mark.parametrize(
    ("person", "verb"),
    [
        ("the beekeepers", "Are"),
        ("Idris's grandparents", "Are"),
        ("the firemen", "Are"),
        ("Ann and Bo", "Are"),
        ("the rowing team", "Is"),
        ("the waitress", "Is"),
        ("Lars", "Is"),
    ],
)
def test_question_agrees_with_person_x_in_number(person, verb):
    items = simpletom.compose(story_table([{**MARY, "person_x": person}]))
    [question] = items.query("question_type == 'mental_state'")["question"]
    assert question.startswith(f"{verb} {person} likely to be aware")


def test_braces_in_a_story_are_left_alone():
    action = "pay for {n} of the {x}"
    items = simpletom.compose(story_table([{**MARY, "unaware_action": action}]))
    asked = items[items["question_type"] == "judgment"]["question"]
    assert asked.str.contains(action, regex=False).all()


def test_story_without_a_negative_judgment_lacks_the_wordings_that_need_one(items):
    own = items[items["group_id"] == TWELVE[-1]]
    wordings = set(own["variant"])
    assert wordings == set(WORDINGS) - {"generated", "three-way"}
    assert len(own) == 3 * 7
    assert len(items) == 11 * 3 * 9 + 3 * 7


def test_options_depend_on_seed_and_id_alone(stories, items):
    alone = simpletom.compose(stories[7:8])
    together = items.set_index("item_id").loc[alone["item_id"], "choices"]
    assert alone["choices"].tolist() == together.tolist()
    assert simpletom.compose(stories).equals(items)
    other = simpletom.compose(stories, seed=1)
    assert other.drop(columns="choices").equals(items.drop(columns="choices"))
    changed = (other["choices"] != items["choices"]).mean()
    assert 0.3 < changed < 0.7


@pytest.mark.parametrize(
    ("method", "questions", "count"),
    [
        ("none", {"mental_state", "behavior", "judgment"}, 108),
        *(
            (method, {"behavior", "judgment"}, 72)
            for method in ("ms-remind", "sysp", "sysp-star", "cot", "cot-star", "cot-star-ms")
        ),
        ("wordings", {"judgment"}, 11 * 3 * 6 + 3 * 4),
    ],
)
def test_method_is_asked_its_questions(items, method, questions, count):
    asked = simpletom.asked(items, method)
    assert set(asked["question_type"]) == questions
    assert len(asked) == count
    assert set(asked["variant"] == "main") == {method != "wordings"}


# The reminder


@pytest.fixture(scope="module")
def states(items):
    return items[items["question_type"] == "mental_state"]


def reminded(items, responses):
    return simpletom.remind(items, responses).set_index("item_id").sort_index()


def test_reminder_is_the_models_own_answer_right_or_wrong(items, states):
    for key in "AB":
        shown = reminded(items, answered(states, f"The answer is ({key}), I think."))
        assert shown["reminder"].str.endswith(f"\nAnswer: ({key})\n").all()
        assert shown["reminder_parsed"].all()


def test_reminder_belongs_to_the_same_story(items, states):
    texts = ["(A)", "(B)"] * 18
    shown = reminded(items, answered(states, texts))
    assert set(shown["question_type"]) == {"behavior", "judgment"}
    assert set(shown["variant"]) == set(WORDINGS)
    own = dict(zip(states["story_id"], texts, strict=True))
    for item in shown.to_dict("records"):
        assert f"Answer: {own[item['story_id']]}\n" in item["reminder"]


def test_unparsed_answer_is_shown_in_its_own_words(items, states):
    shown = reminded(items, answered(states, "<think>(A)</think>\nHard\nto  say."))
    assert shown["reminder"].str.endswith("\nAnswer: Hard to say.\n").all()
    assert not shown["reminder_parsed"].any()


def test_stories_that_were_not_asked_are_left_out(items, states):
    some = states[states["group_id"].isin(TWELVE[:2])]
    shown = reminded(items, answered(some, "(A)"))
    assert set(shown["group_id"]) == set(TWELVE[:2])
    assert simpletom.remind(items, answered(some, "(A)")[:0]).empty


def test_stories_whose_request_failed_are_left_out(items, states):
    texts = [None, *["(A)"] * 35]
    shown = reminded(items, answered(states, texts))
    assert shown["story_id"].nunique() == 35
    assert states["story_id"].iloc[0] not in set(shown["story_id"])


@pytest.mark.parametrize("method", ["ms-remind", "cot-star-ms"])
def test_messages_without_the_reminder_they_need_say_so(mary, method):
    with pytest.raises(InputError, match=f"{method} needs items with a reminder; see `remind`"):
        simpletom.messages(mary["behavior", "main"], method)


# Scoring


def test_score_has_a_row_a_response_with_its_conditions(mary):
    items = pd.DataFrame([mary["judgment", "generated"]])
    responses = of_baseline(items, "gold", "wordings")
    [score] = simpletom.score(items, responses).to_dict("records")
    assert score == {
        "item_id": "chips_sev2/judgment:generated",
        "model": "gold",
        "method": "wordings",
        "sample": 0,
        "asked_as": "",
        "group_id": "chips",
        "source": "authored",
        "question_type": "judgment",
        "variant": "generated",
        "scenario": "food item in grocery store",
        "severity": 2,
        "story_id": "chips_sev2",
        "outcome": "correct",
        "score": 1.0,
        "chosen": "Reasonable",
        "by_released_rule": True,
        "completion_tokens": 2,
        "words": "",
    }


# Baselines


@pytest.mark.parametrize("method", ["none", "cot", "wordings"])
@pytest.mark.parametrize(("policy", "accuracy"), [("gold", 1), ("omniscient", 0)])
def test_baseline_is_always_right_or_always_wrong(items, policy, accuracy, method):
    scores = simpletom.score(items, of_baseline(items, policy, method))
    assert set(scores["score"]) == {accuracy}
    assert set(scores["by_released_rule"]) == {bool(accuracy)}
    metrics = simpletom.metrics(scores)
    assert set(metrics[metrics["metric"].isin(["accuracy", "average"])]["value"]) == {accuracy}


def test_guessing_is_right_at_chance(items):
    responses = pd.concat([of_baseline(items, "random", method) for method in ("none", "wordings")])
    metrics = simpletom.metrics(simpletom.score(items, responses))
    overall = metrics[(metrics["metric"] == "accuracy") & ~metrics["condition"].str.contains("/")]
    assert len(overall) == 9
    for row in overall.to_dict("records"):
        chance = 1 / 3 if row["condition"] == "judgment:three-way" else 1 / 2
        assert row["ci_low"] <= chance <= row["ci_high"], row["condition"]


# Metrics


def right_and_wrong(items, right, **options):
    """Responses that name the right option where `right` says so."""
    keys = [
        key_of(item, item["answer"] if hit else item["reality"], KEYS)
        for item, hit in zip(items.to_dict("records"), right, strict=True)
    ]
    opening = "Therefore, the answer is: "
    return answered(items, [f"{opening}({key})" for key in keys], **options)


@pytest.fixture(scope="module")
def two_methods(items):
    """Scores by `none` and `cot` of a model that is right now and then."""
    draw = random.Random(7)
    parts = []
    for method in ("none", "cot"):
        asked = simpletom.asked(items, method)
        right = [draw.random() < (0.7 if method == "cot" else 0.4) for _ in range(len(asked))]
        used = [draw.randint(1, 300) for _ in range(len(asked))]
        parts.append(right_and_wrong(asked, right, method=method, tokens=used))
    return simpletom.score(items, pd.concat(parts, ignore_index=True))


@pytest.fixture(scope="module")
def metrics(two_methods):
    return simpletom.metrics(two_methods)


def triples(scores, method):
    """The scores of the three questions by story; the mental states are those of `none`."""
    found = {}
    for row in scores.to_dict("records"):
        kind = row["question_type"]
        if row["method"] == ("none" if kind == "mental_state" else method):
            found.setdefault(row["story_id"], {})[kind] = row["score"]
    return {story: [row[kind] for kind in QUESTIONS] for story, row in found.items()}


ORDER = [*QUESTIONS, "none"]


def first_failures(rows):
    """Shares of rows by the first question that failed, counted one by one."""
    rows = list(rows)
    failures = [next((i for i in range(3) if row[i] == 0), 3) for row in rows]
    return {name: failures.count(i) / len(rows) for i, name in enumerate(ORDER)}


@pytest.mark.parametrize("method", ["none", "cot"])
def test_first_failures_are_those_counted_one_by_one(two_methods, metrics, method):
    expected = first_failures(triples(two_methods, method).values())
    found = {name: value(metrics, "first_failure", name, method) for name in ORDER}
    assert found == pytest.approx(expected)
    assert sum(found.values()) == pytest.approx(1)


@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=6, max_size=6))
@settings(max_examples=6, deadline=None)
def test_metrics_of_any_answers_are_those_counted_one_by_one(items, rows):
    own = items[items["group_id"].isin(TWELVE[:2]) & (items["variant"] == "main")]
    scores = simpletom.score(own, right_and_wrong(own, [hit for row in rows for hit in row]))
    metrics = simpletom.metrics(scores)
    shares = {name: value(metrics, "first_failure", name) for name in ORDER}
    assert shares == pytest.approx(first_failures(rows))
    assert sum(shares.values()) == pytest.approx(1)
    means = dict(zip(QUESTIONS, np.mean(rows, axis=0), strict=True))
    assert value(metrics, "average", "all") == pytest.approx(np.mean(rows))
    for kind in ("behavior", "judgment"):
        gap = means["mental_state"] - means[kind]
        assert value(metrics, "gap", kind) == pytest.approx(gap)
        [interval] = metrics.query("metric == 'gap' and condition == @kind").to_dict("records")
        assert interval["ci_low"] - 1e-9 <= gap <= interval["ci_high"] + 1e-9
    assert metrics["ci_low"].le(metrics["ci_high"]).all()


def test_delta_leaves_out_what_only_one_of_the_two_was_asked(two_methods, metrics):
    asked_less = two_methods["group_id"].isin(TWELVE[3:]) | (two_methods["method"] == "none")
    part = two_methods[asked_less]
    after = simpletom.metrics(part)
    same = two_methods[two_methods["group_id"].isin(TWELVE[3:])]
    for kind in ("behavior", "judgment"):
        own = same[same["question_type"] == kind].groupby("method")["score"].mean()
        assert value(after, "delta", kind, "cot") == pytest.approx(own["cot"] - own["none"])


def test_accuracies_are_those_of_a_groupby(two_methods, metrics):
    for keys, form in (
        ([], "{}"),
        (["scenario"], "{}/{}"),
        (["severity"], "{}/severity {}"),
    ):
        for key, mean in (
            two_methods.groupby(["method", "question_type", *keys])["score"].mean().items()
        ):
            method, *condition = key
            found = value(metrics, "accuracy", form.format(*condition), method)
            assert found == pytest.approx(mean)
    counted = metrics.query("metric == 'accuracy' and method == 'none'")
    assert len(counted) == 3 * (1 + 4 + 3)


def test_outcome_rates_and_released_rule_are_over_all_answers(items):
    asked = simpletom.asked(items, "none")
    texts = [None, "", "I cannot answer.", *["It is (A) or (B)."] * (len(asked) - 3)]
    metrics = simpletom.metrics(simpletom.score(items, answered(asked, texts)))
    rates = {name: value(metrics, "outcome_rate", name) for name in tidy.OUTCOMES}
    assert sum(rates.values()) == pytest.approx(1)
    assert rates["error"] == rates["refused"] == pytest.approx(1 / 108)
    assert rates["unparsed"] == pytest.approx(106 / 108)
    right = [item["choices"][0] == item["answer"] for item in asked[3:].to_dict("records")]
    assert value(metrics, "released_rule", "all") == pytest.approx(sum(right) / 108)
    assert value(metrics, "accuracy", "behavior") == 0


def test_wordings_have_an_accuracy_each_and_no_gap(items):
    metrics = simpletom.metrics(simpletom.score(items, of_baseline(items, "gold", "wordings")))
    conditions = set(metrics[metrics["metric"] == "accuracy"]["condition"])
    assert conditions == {f"judgment:{name}" for name in WORDINGS if name != "main"}
    assert not set(metrics["metric"]) & {"gap", "delta", "average", "first_failure"}


def test_models_do_not_mix(two_methods):
    own = two_methods[two_methods["scenario"] == SCENARIOS[0]]
    other = own.assign(model="other", score=0.0)
    both = simpletom.metrics(pd.concat([own, other], ignore_index=True))
    alone = simpletom.metrics(own)
    assert sorted_rows(both[both["model"] == "model"]).equals(sorted_rows(alone))


def test_repeats_are_told_apart_within_a_story(items):
    own = items[items["group_id"].isin(TWELVE[:2]) & (items["variant"] == "main")]
    rows = [[1, 1, 1]] * 6, [[0, 1, 1]] * 6
    responses = [
        right_and_wrong(own, [hit for row in part for hit in row], sample=sample)
        for sample, part in enumerate(rows)
    ]
    metrics = simpletom.metrics(simpletom.score(own, pd.concat(responses)))
    assert value(metrics, "first_failure", "none") == pytest.approx(0.5)
    assert value(metrics, "first_failure", "mental_state") == pytest.approx(0.5)


# Invariants


@given(draw=st.randoms(use_true_random=False))
@settings(max_examples=2, deadline=None)
def test_order_of_rows_changes_no_metric(items, draw):
    items = items[items["scenario"].isin(SCENARIOS[:2])]
    responses = of_baseline(items, "random")
    before = simpletom.metrics(simpletom.score(items, responses))
    order, other = (draw.sample(range(len(t)), len(t)) for t in (items, responses))
    scores = simpletom.score(items.iloc[order], responses.iloc[other])
    after = simpletom.metrics(scores)
    assert sorted_rows(after).equals(sorted_rows(before))


@given(draw=st.randoms(use_true_random=False))
@settings(max_examples=2, deadline=None)
def test_order_of_options_changes_no_metric(items, draw):
    items = items[items["scenario"].isin(SCENARIOS[:2])]
    turned = items.assign(choices=[draw.sample(c, len(c)) for c in items["choices"]])
    metrics = []
    for table in (items, turned):
        chosen = right_and_wrong(
            simpletom.asked(table, "none"), [i % 7 > 2 for i in range(54)], method="cot"
        )
        scores = simpletom.score(table, chosen.assign(method="none"))
        metrics.append(simpletom.metrics(scores))
    assert metrics[0].equals(metrics[1])


# The rule that decided

RULES = [
    ("(A) pay for the chips", "none", "stop", "A", "leads with the key"),
    (
        "The answer is (B).",
        "none",
        "stop",
        "B",
        'leads with the key behind "answer is" or the like',
    ),
    ("(A) pay for the", "none", "length", "A", "leads with the key"),
    ("She would choose (B).", "none", "stop", "B", "the only key named"),
    ("Not (A), so option B.", "none", "stop", "B", "the only key named"),
    ("Hm. (A), else (B).", "none", "stop", "unparsed", "names several options"),
    ("(A) or (B)", "none", "stop", "unparsed", "names several options"),
    ("(C)", "none", "stop", "unparsed", "names a key under which no option stands"),
    ("She will pay.", "none", "stop", "unparsed", "chooses no option"),
    ("(A) is wrong.", "none", "stop", "unparsed", "chooses no option"),
    ("Answer: not (A).", "none", "stop", "unparsed", "chooses no option"),
    ("", "none", "stop", "unparsed", "empty"),
    ("She knows, so (A).", "cot", "stop", "unparsed", 'reasons without "the answer is" a key'),
    ("She chooses (A)", "none", "length", "truncated", "cut off before an option was settled"),
    ("The answer is (A)", "cot", "length", "truncated", "cut off before an option was settled"),
    ("I'm sorry, no.", "none", "stop", "refused", "declines to answer"),
    (None, "none", "stop", "error", "the request failed"),
]


@pytest.mark.parametrize(("text", "method", "finish", "verdict", "rule"), RULES)
def test_rule_is_the_one_that_gave_the_verdict(text, method, finish, verdict, rule):
    [item] = PAY.to_dict("records")
    responses = answered(PAY, text, method=method, finish=finish)
    [response] = responses.to_dict("records")
    if verdict in ("A", "B"):
        right = item["choices"]["AB".index(verdict)] == item["answer"]
        verdict = "correct" if right else "wrong"
    assert simpletom.score(PAY, responses)["outcome"].item() == verdict
    assert scoring.verdict(item, response)[::2] == (verdict, rule)
    assert simpletom.rule(item, response) == rule
