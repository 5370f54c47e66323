"""BigToM: how items are composed and asked, how answers are read and scored, what is counted."""

import random
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import replies
from bigtom_templates import MEI, divers
from replies import sorted_rows
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom import scoring
from tomlab.benchmarks.bigtom.items.compose import VARIABLES
from tomlab.benchmarks.bigtom.items.templates import template_table
from tomlab.errors import InputError

answered = partial(replies.answered, method="0-shot")
of_baseline = partial(replies.of_baseline, bigtom)


@pytest.fixture(scope="module")
def items():
    """The items of 24 templates."""
    return bigtom.compose(divers(24))


@pytest.fixture(scope="module")
def mei():
    """The 25 items of the paper's own template, by variable, condition and initial belief."""
    items = bigtom.compose(template_table([MEI]))
    keys = zip(items["variable"], items["condition"], items["initial_belief"], strict=True)
    return dict(zip(keys, items.to_dict("records"), strict=True))


def value(metrics, metric, condition):
    rows = metrics.query("metric == @metric and condition == @condition")
    return rows["value"].item()


# Reading an answer: the right key is b

LEADS = "leads with the key"
BEHIND = 'leads with the key behind "Answer:"'
ANSWER_IS = 'leads with the key behind "answer is" or the like'
SEVERAL = "names several options"
SEVERAL_ARE = 'names several options behind "answer is" or the like'
CUT_OFF = "cut off before an option was settled"
NO_ANSWER_IS = 'reasons without "the answer is" a key'
DECLINES = "declines to answer"


@pytest.mark.parametrize(
    ("text", "method", "finish", "outcome", "rule"),
    [
        ("Answer:<b>)<Mei dives.>", "0-shot", "stop", "correct", BEHIND),
        ("Answer: b\n\nQuestion: And Kofi?\nAnswer: a)", "0-shot", "stop", "correct", BEHIND),
        ("Answer: Mei (b).", "0-shot", "stop", "correct", 'the only key named behind "Answer:"'),
        ("Answer: a) or b)", "0-shot", "stop", "unparsed", f'{SEVERAL} behind "Answer:"'),
        ("a) Mei dives. Not b).", "0-shot", "stop", "wrong", LEADS),
        ("b) It is empty. The answer is a) It is full.", "0-shot", "stop", "correct", LEADS),
        ("a) Mei dives. Wait, b).", "0-shot", "stop", "unparsed", "takes its answer back"),
        ("Mei would take b) today.", "1-shot", "stop", "correct", "the only key named"),
        ("Both a) and b).", "0-shot", "stop", "unparsed", SEVERAL),
        ("c) Mei", "0-shot", "stop", "unparsed", "names a key under which no option stands"),
        ("A: a diver dives (by schema).", "0-shot", "stop", "unparsed", "chooses no option"),
        ("", "0-shot", "refusal", "refused", DECLINES),
        (None, "0-shot", "stop", "error", "the request failed"),
        ("Answer: b) Mei believes the oys", "0-shot", "length", "correct", BEHIND),
        ("Answer: Mei chooses b) since", "0-shot", "length", "truncated", CUT_OFF),
        ("Thought: the final answer is b).", "0-shot-cot", "stop", "correct", ANSWER_IS),
        ("b) Mei dives.", "0-shot-cot", "stop", "correct", LEADS),
        ("a) is unlikely, so b).", "0-shot-cot", "stop", "unparsed", NO_ANSWER_IS),
        ("a)\n\nThe answer is b).", "0-shot-cot", "stop", "unparsed", "names both options"),
        ("b)Wait, b)(a)", "0-shot-cot", "stop", "unparsed", SEVERAL_ARE),
        ("b) would be right if", "0-shot-cot", "length", "truncated", CUT_OFF),
        ("Thought: b). Answer: (b", "0-shot-cot", "length", "correct", BEHIND),
    ],
)
def test_rule_is_the_one_that_gave_the_outcome(mei, text, method, finish, outcome, rule):
    choices = [MEI["belief_answer_aware"], MEI["belief_answer_not_aware"]]
    item = mei["forward_belief", "false_belief", 0] | {"choices": choices}
    responses = answered(pd.DataFrame([item]), text, method=method, finish=finish)
    assert bigtom.score(pd.DataFrame([item]), responses)["outcome"].item() == outcome
    assert bigtom.rule(item, responses.iloc[0].to_dict()) == rule


@given(st.text(st.sampled_from("abcAB).:( *\n<>think/Answer")), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_case_of_any_answer_changes_nothing(text, cot, is_cut):
    finish = "length" if is_cut else "stop"
    reading = scoring.read_answer(text, finish, cot)
    assert reading.key in ("a", "b", None)
    other = scoring.read_answer(text.swapcase(), finish, cot)
    assert (other.outcome, other.key) == (reading.outcome, reading.key)


def released_again(text, right_key, method):
    """True if the right key with its bracket is anywhere, False if another is, None without one."""
    answer = text.strip()
    if method == "0-shot-cot":
        _, cue, behind = answer.partition("Answer:")
        # A character behind the cue is lost; without a cue, the first seven are.
        answer = behind[1:] if cue else answer[7:]
    keys = [key for key in ("a", "b") if f"{key})" in answer.lower()]
    return right_key in keys if keys else None


PIECES = ["Answer:", "answer:", "Thought: ", "a)", "b)", "A)", "B)", "(a)", "(b)", "a", "b.", " "]
PIECES += ["Mei dives.", "schema)", "not ", " or ", "\n"]


@given(st.lists(st.sampled_from(PIECES)).map("".join), st.sampled_from(["0-shot", "0-shot-cot"]))
@example("Answer:a)Mei", "0-shot-cot")
@example("Thought: a) or b)?\nAnswer: b)", "0-shot-cot")
@settings(max_examples=100, deadline=None)
def test_released_rule_is_that_of_the_released_code_on_any_text(text, method):
    for key in ("a", "b"):
        assert scoring.released_rule(text, key, method) is released_again(text, key, method)


def test_graders_reading_counts_for_unreadable_answers_and_for_no_others():
    outcomes = ["correct", "unparsed", "unparsed", "unparsed"]
    scores = pd.DataFrame({"item_id": list("1234"), "outcome": outcomes, "score": [1.0, 0, 0, 0]})
    scores = scores.assign(model="m", method="0-shot", sample=0)
    grades = scores[1:].assign(becomes=["correct", "wrong", "unparsed"])
    graded = scoring.with_grades(scores, grades)
    assert graded["outcome"].tolist() == ["correct", "correct", "wrong", "unparsed"]
    assert graded["score"].tolist() == [1, 1, 0, 0]
    with pytest.raises(InputError, match="unreadable answers, such as 4"):
        scoring.with_grades(scores, grades[:-1])


# Composition

EVENTS = {
    ("forward_belief", "true_belief"): "causal_event aware_of_event",
    ("forward_belief", "false_belief"): "causal_event not_aware_of_event",
    ("forward_belief", "true_control"): "random_event aware_of_random_event",
    ("forward_belief", "false_control"): "random_event not_aware_of_random_event",
    ("backward_belief", "true_belief"): "causal_event action_new_state",
    ("backward_belief", "false_belief"): "causal_event action_initial_state",
    ("backward_belief", "true_control"): "random_event action_initial_state",
    ("backward_belief", "false_control"): "random_event action_initial_state",
}


@pytest.mark.parametrize(("variable", "condition"), EVENTS)
@pytest.mark.parametrize("initial_belief", [0, 1])
def test_story_is_made_of_these_sentences(mei, variable, condition, initial_belief):
    belief = ["belief"] * initial_belief
    names = ["context", "desire", "percept", *belief, *EVENTS[variable, condition].split()]
    story = " ".join(MEI[name] for name in names)
    item = mei[variable, condition, initial_belief]
    assert (item["story"], item["question"]) == (story, MEI["belief_question"])
    if variable == "forward_belief":
        action = mei["forward_action", condition, initial_belief]
        assert (action["story"], action["question"]) == (story, MEI["action_question"])


def test_answer_and_reality_depend_on_what_the_agent_perceives_and_what_happens(mei, items):
    for (variable, condition, _), item in mei.items():
        kind = "action" if variable == "forward_action" else "belief"
        new, initial = MEI[f"{kind}_answer_aware"], MEI[f"{kind}_answer_not_aware"]
        # The percept_to_belief story stops before the event.
        is_event_told = condition.endswith("_belief") and variable != "percept_to_belief"
        is_aware = is_event_told and condition == "true_belief"
        assert item["answer"] == (new if is_aware else initial)
        assert item["reality"] == (new if is_event_told else initial)
        assert item["question_type"] == kind
    assert len(mei) == 25
    opening = " ".join(MEI[name] for name in ("context", "desire", "percept"))
    assert mei["percept_to_belief", "true_belief", 0]["story"] == opening


@pytest.mark.parametrize("initial_belief", [0, 1])
def test_backward_controls_are_one_item_and_the_second_is_marked(mei, initial_belief):
    first = mei["backward_belief", "true_control", initial_belief]
    second = mei["backward_belief", "false_control", initial_belief]
    assert second["duplicate_of"] == first["item_id"]


def test_shuffling_depends_on_seed_and_item_alone(items):
    backwards = bigtom.compose(divers(24)[::-1]).set_index("item_id")
    assert backwards["choices"][items["item_id"]].tolist() == items["choices"].tolist()
    other = bigtom.compose(divers(24), seed=1)
    assert other["choices"].tolist() != items["choices"].tolist()


# Asking

INSTRUCTION = (
    "Answer the questions based on the context. Keep your answer concise, few words are enough, "
    "maximum one sentence. Answer as 'Answer:<option>)<answer>'."
)
INSTRUCTION_COT = (
    "Answer the questions based on the context. Reason step by step before answering in 'Thought: "
    "Let's think step by step'. Write your final answer as 'Answer:<option>)<answer>'. Always pick "
    "an option, do not say none of the above or that there is not enough information."
)
QUESTION = (
    "Story: Mei is a pearl diver in a small coastal village in Japan. Mei wants to find a perfect "
    "pearl to give to her grandmother for her birthday. Mei spots an oyster at the bottom of the "
    "sea that looks to be the right size and age to contain a pearl.\n"
    "Question: Does Mei believe the oyster she spotted contains a pearl or that it is empty?\n"
    "Choose one of the following:\n"
    "a)Mei believes the oyster she spotted is empty.\n"
    "b)Mei believes the oyster she spotted contains a pearl."
)


@pytest.mark.parametrize(
    ("method", "instruction", "roles"),
    [
        ("0-shot", INSTRUCTION, ["system", "user"]),
        ("0-shot-cot", INSTRUCTION_COT, ["system", "user"]),
        ("1-shot-cot", INSTRUCTION_COT, ["system", "user", "assistant", "user"]),
    ],
)
def test_messages_are_instruction_example_and_question(mei, method, instruction, roles):
    choices = [MEI["belief_answer_aware"], MEI["belief_answer_not_aware"]]
    item = mei["percept_to_belief", "true_belief", 0] | {"choices": choices}
    messages = bigtom.messages(item, method)
    assert [message["role"] for message in messages] == roles
    assert messages[0]["content"] == instruction
    assert messages[-1]["content"] == QUESTION


@pytest.mark.parametrize("method", bigtom.METHODS)
def test_shared_prefix_opens_the_last_message(items, method):
    for item in items[:25].to_dict("records"):
        content = bigtom.messages(item | {"reasoning": "So."}, method)[-1]["content"]
        assert content.startswith(bigtom.shared_prefix(item, method))


@pytest.mark.parametrize("method", bigtom.METHODS)
def test_method_is_asked_of_all_conditions_or_of_the_twelve_of_table_7(items, method):
    asked = bigtom.asked(items, method)
    if method in ("0-shot", "likelihood"):
        assert asked.equals(items)
    else:
        assert len(asked) == 12 * 24
        assert set(asked["condition"]) == {"true_belief", "false_belief"}
        assert set(asked["variable"]) == set(VARIABLES)


# What the baselines must come to, and what must not matter

METHODS = ["0-shot", "1-shot-cot", "likelihood"]


@pytest.mark.parametrize("method", METHODS)
def test_gold_is_right_and_who_takes_all_to_know_all_fails_false_belief_alone(items, method):
    for policy in ("gold", "omniscient"):
        scores = bigtom.score(items, of_baseline(items, policy, method))
        is_wrong = scores["condition"].eq("false_belief") & (policy == "omniscient")
        assert scores["score"].eq(0).equals(is_wrong)


@pytest.fixture(scope="module")
def texts():
    """Answers at random that name no option now and then; one fails."""
    draw = random.Random(0)
    answers = ["a)", "b)", "a) Mei.", "Answer: b) Mei.", "Mei."]
    return [None, *draw.choices(answers, k=599)]


@pytest.fixture(scope="module")
def metrics(items, texts):
    return bigtom.metrics(bigtom.score(items, answered(items, texts)))


def test_order_of_rows_changes_no_metric(items, texts, metrics):
    responses = answered(items, texts).sample(frac=1, random_state=0)
    shuffled = bigtom.metrics(bigtom.score(items.sample(frac=1, random_state=1), responses))
    assert sorted_rows(shuffled).equals(sorted_rows(metrics))


def test_turning_options_around_changes_no_metric_of_answers_that_turn_along(items, texts, metrics):
    turned = items.assign(choices=items["choices"].map(lambda options: options[::-1]))
    # None of the texts has another a or b in lower case.
    swapped = [text and text.translate(str.maketrans("ab", "ba")) for text in texts]
    assert bigtom.metrics(bigtom.score(turned, answered(items, swapped))).equals(metrics)


# Metrics


def scores_of(items, right, conditions=("true_belief", "false_belief"), sample=0):
    """Scores on the first templates: which of the two versions of a story were right."""
    rows = items.query("variable == 'forward_belief' and initial_belief == 0")
    rows = rows[rows["condition"].isin(conditions)][: 2 * len(right)]
    is_right_first = rows["choices"].str[0] == rows["answer"]
    texts = np.where(is_right_first == np.ravel(right), "a)", "b)").tolist()
    return bigtom.score(rows, answered(rows, texts, sample=sample))


@given(right=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=24))
@settings(max_examples=15, deadline=None)
def test_true_and_false_belief_is_a_count_of_pairs(items, right):
    metrics = bigtom.metrics(scores_of(items, right))
    both = value(metrics, "tb_and_fb", "forward_belief/tb_and_fb/0")
    assert both == pytest.approx(np.all(right, axis=1).mean())
    for condition, accuracy in zip(("true", "false"), np.mean(right, axis=0), strict=True):
        cell = f"forward_belief/{condition}_belief/0"
        assert value(metrics, "accuracy", cell) == pytest.approx(accuracy)


def test_controls_have_a_joint_score_of_their_own(items):
    scores = scores_of(items, [(1, 1), (1, 0)], ("true_control", "false_control"))
    joint = bigtom.metrics(scores).query("metric == 'tb_and_fb'")[["condition", "value"]]
    assert joint.to_numpy().tolist() == [["forward_belief/control_tb_and_fb/0", 0.5]]


def test_pairs_are_made_within_a_template_and_a_sample(items):
    first = scores_of(items, [(1, 0), (1, 1), (1, 1)])[:-1]
    second = scores_of(items, [(0, 1), (1, 1)], sample=1)
    metrics = bigtom.metrics(pd.concat([first, second], ignore_index=True))
    joint = metrics.query("metric == 'tb_and_fb'")[["value", "n", "n_groups"]]
    assert joint.to_numpy().tolist() == [[0.5, 4, 2]]


def test_released_rule_takes_both_keys_for_right(items):
    metrics = bigtom.metrics(bigtom.score(items, answered(items, "a) or b)")))
    assert value(metrics, "released_rule", "all") == 1
    assert value(metrics, "outcome_rate", "correct") == 0
