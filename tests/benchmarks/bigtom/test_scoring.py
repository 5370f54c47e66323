"""BigToM: how answers are read and scored, how items are composed and asked, what is counted."""

import random
from functools import partial

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

import figures
import replies
from bigtom_templates import MEI
from replies import sorted_rows
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom import scoring
from tomlab.benchmarks.bigtom.items.compose import VARIABLES, main_cells
from tomlab.benchmarks.bigtom.items.templates import template_table
from tomlab.errors import InputError
from tomlab.records import tidy
from tomlab.records.tidy import OUTCOMES
from tomlab.scoring.answers import first_methods

ANSWERING = [method for method in bigtom.METHODS if method not in first_methods(bigtom.METHODS)]
answered = partial(replies.answered, method="0-shot")
of_baseline = partial(replies.of_baseline, bigtom)


@pytest.fixture(scope="module")
def templates():
    """Twenty-four divers; all but their names is Mei's."""
    names = [f"Mei{letter}" for letter in "abcdefghijklmnopqrstuvwx"]
    rows = [{key: text.replace("Mei", name) for key, text in MEI.items()} for name in names]
    return template_table(
        [{**row, "template_id": name} for row, name in zip(rows, names, strict=True)]
    )


@pytest.fixture(scope="module")
def items(templates):
    return bigtom.compose(templates)


@pytest.fixture(scope="module")
def mei():
    """The 25 items of the paper's own template, by variable, condition and initial belief."""
    items = bigtom.compose(template_table([MEI]))
    key = ["variable", "condition", "initial_belief"]
    return {tuple(item[k] for k in key): item for item in items.to_dict("records")}


def value(metrics, metric, condition):
    [found] = metrics.query("metric == @metric and condition == @condition")["value"]
    return found


# Reading an answer


def read(text, finish="stop", cot=False):
    """The key that an answer names, or the outcome that stands in its place."""
    outcome, key, rule = scoring.read_answer(text, finish, cot)
    assert rule
    assert (outcome == "answered") == (key is not None)
    return key or outcome


PLAIN = [
    ("Answer: a)Mei believes the oyster is empty.", "a"),  # key after answer is read
    ("a) Mei believes the oyster is empty.", "a"),  # key that opens the answer is read
    ("(b)", "b"),  # key in brackets is read
    ("**b)** Mei believes the oyster is empty.", "b"),  # bold key is read
    ("a. Mei believes the oyster is empty.", "a"),  # key with a full stop is read
    ("b", "b"),  # bare letter is read
    ("A) Mei believes the oyster is empty.", "a"),  # capital key is read
    ("Answer: b\nMei did not notice the octopus.", "b"),  # bare letter on a line of its own is read
    # Only key within a sentence is read:
    ("The right option is b) Mei believes the oyster is empty.", "b"),
    ("It is a) or b), who knows.", "unparsed"),  # both keys without one that leads name no option
    # Leading key counts though the other one follows:
    ("a) Mei believes it is empty. Not b), since she saw it.", "a"),
    ("c) Mei believes neither.", "unparsed"),  # key of no option is unparsed
    # Letter within a word is no key:
    ("Mei thinks of it as a diver (by schema) and dives.", "unparsed"),
    ("", "unparsed"),  # empty answer is unparsed
    # Option text without its key is unparsed:
    ("Mei believes the oyster she spotted contains a pearl.", "unparsed"),
    # First answer counts:
    ("Answer: b) It is empty.\n\nQuestion: And Kofi?\nAnswer: a) He does.", "b"),
    ("<think>a) or b)? Answer: a)</think>b) Mei dives.", "b"),  # closed thinking is not read
    ("<think>She did not see it. Answer: b)", "truncated"),  # open thinking is truncated as well
    # Thinking that the prompt opened is not read:
    ("a) or b)? Answer: a)</think>\n\nb) Mei dives.", "b"),
    ("I'm sorry, but I can't help with that.", "refused"),  # refusal by text is refused
    ("I cannot decide. Answer: b)", "b"),  # undecided opening before an answer is no option a
    ("I'm sorry, I am not sure, but b) seems right.", "b"),  # apology with an option is an answer
    # Formats.
    ("Answer:b", "b"),
    ("ANSWER: B) MEI DIVES.", "b"),
    ("**Answer:** b) Mei dives.", "b"),
    ("Answer:\n\nb) Mei dives.", "b"),
    ("Answer: [b] Mei dives.", "b"),
    ("Answer:<b>)<Mei dives.>", "b"),
    ("Answer: `a)`", "a"),
    ('Answer: "b) Mei dives."', "b"),
    ("Answer: b .", "b"),
    ("Answer: b )Mei dives.", "b"),
    ("Answer: __a__", "a"),
    ("Answer: **b**) Mei dives.", "b"),
    ("The answer is _b)_.", "b"),
    ("Answer: **b**\nMei dives.", "b"),
    ("  \n\tb)Mei dives.", "b"),
    ("Final answer: b) Mei dives.", "b"),
    ("Answer: option b) Mei dives.", "b"),
    ("Answer: The answer is (a).", "a"),
    ("Answer: Mei dives (b).", "b"),
    ("Mei dives, so b) b) b)!", "b"),
    ("Answer: a) Answer: b)", "a"),
    ("Answer: neither.\nAnswer: b)", "b"),
    ("a\n\nBecause she noticed.", "a"),
    # Not an option, or not one alone.
    ("Answer:", "unparsed"),
    ("Answer: <option>)<answer>", "unparsed"),
    ("Answer: ab)", "unparsed"),
    ("Answer: 2b)", "unparsed"),
    ("Answer: éa) y", "unparsed"),
    ("Answer: both a) and b)", "unparsed"),
    ("Answer: not a) but b)", "b"),
    ("A: Mei dives.", "unparsed"),
    ("Answer: A diver named Mei dives (in schema).", "unparsed"),
    ("Answer: a pearl.", "unparsed"),
    ("Answer: because b and a.", "unparsed"),
    ("Answer: Option B", "b"),
    ("Vitamin B, plan A and the ab) muscles.", "unparsed"),
    ("1) She did not see it. 2) She dives.", "unparsed"),
    ("Mei is (a diver) and (boldly) dives.", "unparsed"),
    ("…", "unparsed"),
    ("a) and b)", "unparsed"),
    ("a) is wrong. b) is right.", "b"),
    ("a)? No, b).", "b"),
    ("b) It is empty.\n\nQuestion: And Kofi?\nAnswer: a) He does.", "b"),
    ("[THINK]a)? The answer is a).[/THINK]b)", "b"),
    ("b) It is empty. The answer is a) It is full.", "b"),  # a key that leads settles it
    ("a) Mei dives. Wait, b) is what she knows.", "unparsed"),
    ("a" * 500, "unparsed"),
]


@pytest.mark.parametrize(("text", "verdict"), PLAIN)
def test_plain_answer(text, verdict):
    assert read(text) == verdict


COT = [
    # Reasoning before answer does not count:
    ("Thought: a) would need that she saw it.\nAnswer: b) It is empty.", "b"),
    # Reasoning without answer is unparsed:
    ("Thought: she did not see it, so it must be b) then.", "unparsed"),
    # Chain of thought that is a bare option counts:
    ("b)Mei believes the oyster she spotted is empty.", "b"),
    # Chain of thought that weighs both options without answer is unparsed:
    ("a) would need that she saw it, so b).", "unparsed"),
    ("Thought: Let's think step by step:\n1) She missed it.\nAnswer: b)Mei dives.", "b"),
    ("a) is wrong, b) is right.\nAnswer: b) Mei dives.", "b"),
    ("Thought: what is the answer? It is a).\n\n**Answer: b)**", "b"),
    ("Answer: b) Mei dives.\nThought: a) would need that she saw it.", "b"),
    ("Thought: a) or b).\nAnswer: Mei dives, as in b).", "b"),
    ("Thought: a) or b).\nAnswer: Mei dives.", "unparsed"),
    ("Thought: a) or b).\nAnswer: a mix of a) and b).", "unparsed"),
    ("Thought: the final answer is b) Mei dives.", "b"),
    ("Thought: b)", "unparsed"),
    ("Thought: possible answers: a) or b).", "unparsed"),
    ("b", "b"),
    ("", "unparsed"),
    ("<think>Answer: a)</think>Thought: no.\nAnswer: b)", "b"),
    ("<think>Answer: a)</think>", "unparsed"),
    ("a) Mei dives.\n\nThe answer is b) Mei leaves.", "unparsed"),
    ("a) Mei dives. The answer is a) Mei dives. The other answer is b) Mei leaves.", "a"),
    ("I cannot answer that.", "refused"),
    ("Thought: I cannot answer that yet.\nAnswer: b)", "b"),
]


@pytest.mark.parametrize(("text", "verdict"), COT)
def test_chain_of_thought(text, verdict):
    assert read(text, cot=True) == verdict


CUT_OFF = [
    # Reasoning cut off before answer is truncated:
    ("Thought: she did not see it, so", True, "truncated"),
    # Answer cut off after its leading key counts:
    ("Thought: no.\nAnswer: b) Mei believes the oys", True, "b"),
    # Answer cut off without a leading key is truncated:
    ("Mei saw it, which excludes b) and leaves", False, "truncated"),
    ("<think>She did not see it. Answer: b)", False, "truncated"),  # open thinking is truncated
    ("b) Mei believes the oys", False, "b"),
    ("Answer: b) Mei believes the oys", False, "b"),
    ("Answer: Mei chooses b) since", False, "truncated"),
    ("", False, "truncated"),
    ("I'm sorry, but", False, "truncated"),
    ("b) would be right if", True, "truncated"),
    ("Thought: b) would be right if", True, "truncated"),
    ("Thought: it is b). Answer:", True, "truncated"),
    ("Thought: it is b). Answer: (a", True, "a"),
    ("<think>Answer: b)", True, "truncated"),
    ("<think>a)</think>Answer: b) Mei", True, "b"),
]


def test_refusal_by_finish_reason_is_refused():
    assert read("", "refusal") == "refused"


@pytest.mark.parametrize(("text", "cot", "verdict"), CUT_OFF)
def test_answer_that_hit_the_token_limit(text, cot, verdict):
    assert read(text, "length", cot) == verdict


@given(st.text(st.sampled_from("abcAB).:( *\n<>think/Answer")), st.booleans(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_answer_has_one_verdict(text, cot, cut_off):
    verdict = read(text, "length" if cut_off else "stop", cot)
    assert verdict in ({"a", "b", "truncated"} if cut_off else {"a", "b", "unparsed", "truncated"})
    assert read(text.swapcase(), "length" if cut_off else "stop", cot) == verdict


# The rule of the released code beside ours; the right key is b in all of these.


@pytest.mark.parametrize(
    ("text", "method", "released", "ours"),
    [
        ("Answer: b) Mei dives.", "0-shot", True, "correct"),
        ("Answer: a) Mei dives.", "0-shot", False, "wrong"),
        ("a) Mei dives, not b).", "0-shot", True, "wrong"),
        ("It is a) or b).", "0-shot", True, "unparsed"),
        ("By schema) of b-movies, a).", "0-shot", False, "wrong"),
        ("As in (stab) wounds.", "0-shot", True, "unparsed"),
        ("(b)", "0-shot", True, "correct"),
        ("b. Mei dives.", "0-shot", None, "correct"),
        ("b", "0-shot", None, "correct"),
        ("Mei dives.", "0-shot", None, "unparsed"),
        ("I'm sorry, I can't help.", "0-shot", None, "refused"),
        ("Answer: a) Kofi.\nAnswer: b) Mei.", "1-shot", True, "wrong"),
        ("Thought: a) or b)?\nAnswer: a) Mei.", "1-shot-cot", True, "wrong"),
        ("Thought: a) or b)?\nAnswer: a) Mei.", "0-shot-cot", False, "wrong"),
        ("Thought: a) or b)?\nAnswer: b) Mei.", "0-shot-cot", True, "correct"),
        ("Thought: no.\nAnswer:b)Mei.", "0-shot-cot", None, "correct"),
        ("Thought: no.\nAnswer:a)Mei, not b).", "0-shot-cot", True, "wrong"),
        ("Thought: it must be b).", "0-shot-cot", True, "unparsed"),
        ("b) Mei dives.", "0-shot-cot", None, "correct"),
        ("  Answer: b) Mei dives.", "0-shot-cot", True, "correct"),
    ],
)
def test_released_rule_beside_ours(mei, text, method, released, ours):
    item = {
        **mei["forward_belief", "true_belief", 0],
        "choices": [MEI["belief_answer_not_aware"], MEI["belief_answer_aware"]],
    }
    items = pd.DataFrame([item])
    [score] = bigtom.score(items, answered(items, text, method=method)).to_dict("records")
    assert score["by_released_rule"] is released
    assert score["outcome"] == ours


# Scoring


def test_score_has_a_row_a_response_with_its_conditions(mei):
    item = mei["backward_belief", "false_belief", 1]
    items = pd.DataFrame([item])
    [score] = bigtom.score(items, of_baseline(items, "gold")).to_dict("records")
    assert score == {
        "item_id": "mei/backward_belief/false_belief/1",
        "model": "gold",
        "method": "0-shot",
        "sample": 0,
        "asked_as": "",
        "group_id": "mei",
        "source": "released:fig5",
        "variable": "backward_belief",
        "condition": "false_belief",
        "initial_belief": 1,
        "outcome": "correct",
        "score": 1.0,
        "chosen": "Mei believes the oyster she spotted contains a pearl.",
        "by_released_rule": True,
        "words": "same",
    }


# Composition


TOLD = {
    ("forward_belief", "true_belief"): "causal_event aware_of_event",
    ("forward_belief", "false_belief"): "causal_event not_aware_of_event",
    ("forward_belief", "true_control"): "random_event aware_of_random_event",
    ("forward_belief", "false_control"): "random_event not_aware_of_random_event",
    ("backward_belief", "true_belief"): "causal_event action_new_state",
    ("backward_belief", "false_belief"): "causal_event action_initial_state",
    ("backward_belief", "true_control"): "random_event action_initial_state",
}


@pytest.mark.parametrize("cell", TOLD, ids="/".join)
def test_story_is_made_of_these_sentences(mei, cell):
    for initial, belief in enumerate(["", "belief "]):
        names = f"context desire percept {belief}{TOLD[cell]}".split()
        assert mei[*cell, initial]["story"] == " ".join(MEI[name] for name in names)
    opening = " ".join(MEI[name] for name in ("context", "desire", "percept"))
    assert mei["percept_to_belief", "true_belief", 0]["story"] == opening


def test_there_are_25_conditions_a_template(items):
    cells = items.groupby(["variable", "condition", "initial_belief"]).size()
    assert len(cells) == 25
    assert (cells == 24).all()
    assert cells["percept_to_belief", "true_belief", 0] == 24


def test_forward_action_tells_the_story_of_forward_belief_and_asks_for_the_action(mei):
    actions = [cell for cell in mei if cell[0] == "forward_action"]
    assert len(actions) == 8
    for _, *rest in actions:
        action, belief = mei["forward_action", *rest], mei["forward_belief", *rest]
        assert action["story"] == belief["story"]
        assert action["question"] == MEI["action_question"]
        assert belief["question"] == MEI["belief_question"]
        assert action["question_type"] == "action"


def test_only_true_belief_has_the_aware_answer(mei):
    for (variable, condition, _), item in mei.items():
        kind = "action" if variable == "forward_action" else "belief"
        aware = condition == "true_belief" and variable != "percept_to_belief"
        assert item["answer"] == MEI[f"{kind}_answer_{'aware' if aware else 'not_aware'}"]


def test_reality_is_the_new_state_wherever_the_event_is_told(mei):
    for (variable, condition, _), item in mei.items():
        kind = "action" if variable == "forward_action" else "belief"
        told = condition.endswith("_belief") and variable != "percept_to_belief"
        assert item["reality"] == MEI[f"{kind}_answer_{'aware' if told else 'not_aware'}"]


@pytest.mark.parametrize("initial", [0, 1])
def test_backward_controls_are_one_item_and_the_second_is_marked(mei, initial):
    first = mei["backward_belief", "true_control", initial]
    second = mei["backward_belief", "false_control", initial]
    for field in ("story", "question", "answer", "reality"):
        assert first[field] == second[field]
    assert second["duplicate_of"] == first["item_id"]


def test_shuffling_depends_on_seed_and_item_alone(templates, items):
    turned = bigtom.compose(templates.iloc[::-1]).set_index("item_id").loc[items["item_id"]]
    assert turned["choices"].tolist() == items["choices"].tolist()
    assert bigtom.compose(templates, seed=1)["choices"].tolist() != items["choices"].tolist()


def test_no_templates_is_an_input_error():
    with pytest.raises(InputError, match="no templates"):
        bigtom.compose(template_table([]))


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
KOFI = (
    "Story: Kofi is a fisherman from a small village in Ghana. He wants to catch enough fish today "
    "to provide for his family and sell the surplus at the market. Kofi repaired his fishing net "
    "last night. While Kofi is away from his boat, a group of monkeys comes and plays with the "
    "fishing net, tearing it apart. Kofi does not see the monkeys damaging his fishing net.\n"
    "Question: Does Kofi believe his fishing net is in good condition or torn apart?\n"
    "Choose one of the following:\n"
    "a)Kofi believes his fishing net is in good condition.\n"
    "b)Kofi believes his fishing net is torn apart."
)
KOFIS_ANSWER = "Answer: a)Kofi believes his fishing net is in good condition."
KOFIS_THOUGHT = (
    "Thought: Let's think step by step:\n"
    "1) Kofi repaired his fishing net last night. So last night he believes that his net is "
    "fixed.\n"
    "2) While Kofi is away from his boat, a group of monkeys comes and plays with the fishing net, "
    "tearing it apart.\n"
    "3) Kofi does not see the monkeys damaging his fishing net. So, his belief about his net stays "
    "the same. He thinks that it is fixed.\n"
    "4) Does Kofi believe his fishing net is in good condition or torn apart?\n"
    "5) Kofi believes his fishing net is in good condition.\n"
) + KOFIS_ANSWER
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
    ("method", "turns"),
    [
        ("0-shot", [INSTRUCTION, QUESTION]),
        ("0-shot-cot", [INSTRUCTION_COT, QUESTION]),
        ("1-shot", [INSTRUCTION, KOFI, KOFIS_ANSWER, QUESTION]),
        ("1-shot-cot", [INSTRUCTION_COT, KOFI, KOFIS_THOUGHT, QUESTION]),
    ],
)
def test_messages_are_these_word_for_word(mei, method, turns):
    choices = [MEI["belief_answer_aware"], MEI["belief_answer_not_aware"]]
    item = {**mei["percept_to_belief", "true_belief", 0], "choices": choices}
    roles = ["system", "user", "assistant", "user"] if len(turns) == 4 else ["system", "user"]
    expected = [{"role": r, "content": t} for r, t in zip(roles, turns, strict=True)]
    assert bigtom.messages(item, method) == expected


def test_users_prompt_takes_its_place_in_the_messages(mei, tmp_path):
    (tmp_path / "mine.txt").write_text("Pick one.")
    item = mei["forward_belief", "true_belief", 0]
    replaced = {"bigtom/instruction": str(tmp_path / "mine.txt")}
    first, *rest = bigtom.messages(item, "1-shot", replaced)
    assert first == {"role": "system", "content": "Pick one."}
    assert rest == bigtom.messages(item, "1-shot")[1:]


@pytest.mark.parametrize("method", bigtom.METHODS)
def test_shared_prefix_opens_the_last_message(items, method):
    for item in items[:25].to_dict("records"):
        last = bigtom.messages(item | {"reasoning": "So."}, method)[-1]["content"]
        assert last.startswith(bigtom.shared_prefix(item, method))


@pytest.mark.parametrize(
    ("method", "count"), [("0-shot", 25), ("0-shot-cot", 12), ("1-shot", 12), ("1-shot-cot", 12)]
)
def test_method_is_asked_of_all_conditions_or_of_the_twelve_of_table_7(mei, method, count):
    asked = bigtom.asked(pd.DataFrame(mei.values()), method)
    assert len(asked) == count
    if count == 12:
        assert set(asked["condition"]) == {"true_belief", "false_belief"}
        assert set(asked["variable"]) == {"forward_belief", "forward_action", "backward_belief"}


# What the baselines must come to


@pytest.mark.parametrize("method", ANSWERING)
def test_gold_is_right_in_every_cell(items, method):
    metrics = bigtom.metrics(bigtom.score(items, of_baseline(items, "gold", method)))
    cells = metrics[metrics["metric"].isin(["accuracy", "tb_and_fb"])]
    assert len(cells) == (25 + 12 if method in ("0-shot", "likelihood") else 12 + 6)
    assert (cells["value"] == 1).all()


@pytest.mark.parametrize("method", ANSWERING)
def test_who_thinks_all_know_all_passes_true_and_fails_false_belief(items, method):
    metrics = bigtom.metrics(bigtom.score(items, of_baseline(items, "omniscient", method)))
    for variable in VARIABLES:
        for initial in (0, 1):
            assert value(metrics, "accuracy", f"{variable}/true_belief/{initial}") == 1
            assert value(metrics, "accuracy", f"{variable}/false_belief/{initial}") == 0
            assert value(metrics, "tb_and_fb", f"{variable}/tb_and_fb/{initial}") == 0


def test_who_thinks_all_know_all_passes_controls_and_percept_to_belief(items):
    metrics = bigtom.metrics(bigtom.score(items, of_baseline(items, "omniscient")))
    for variable in VARIABLES:
        assert value(metrics, "tb_and_fb", f"{variable}/control_tb_and_fb/1") == 1
    assert value(metrics, "accuracy", "percept_to_belief/true_belief/0") == 1


# What must not matter


def answers_at_random():
    draw = random.Random(0)
    texts = [draw.choice(["a)", "b)", "a) Mei.", "Answer: b) Mei.", "Mei."]) for _ in range(599)]
    return [None, *texts]


@pytest.fixture(scope="module")
def responses(items):
    """A model that answers at random, names no option now and then and fails once."""
    return answered(items, answers_at_random())


@given(st.randoms(use_true_random=False))
@settings(max_examples=5, deadline=None)
def test_order_of_rows_changes_no_metric(items, responses, draw):
    before = bigtom.metrics(bigtom.score(items, responses))
    order, other = (draw.sample(range(len(items)), len(items)) for _ in range(2))
    scores = bigtom.score(items.iloc[order], responses.iloc[other])
    after = bigtom.metrics(scores)
    assert sorted_rows(after).equals(sorted_rows(before))


def test_turning_options_around_changes_no_metric_of_answers_that_turn_along(items, responses):
    before = bigtom.metrics(bigtom.score(items, responses))
    turned = items.assign(choices=[list(reversed(choices)) for choices in items["choices"]])
    # None of the texts has another a or b in lower case.
    other = str.maketrans("ab", "ba")
    texts = [text and text.translate(other) for text in answers_at_random()]
    after = bigtom.metrics(bigtom.score(turned, answered(items, texts)))
    assert after.equals(before)


# Metrics


def scores_of(right, condition=("true_belief", "false_belief"), **columns):
    """Scores by template: which of the two versions were right."""
    rows = [
        {
            "item_id": f"{name}/{version}",
            "group_id": str(name),
            "model": "model",
            "method": "0-shot",
            "sample": 0,
            "source": "authored",
            "variable": "forward_belief",
            "condition": version,
            "initial_belief": 0,
            "outcome": "correct" if hit else "wrong",
            "score": float(hit),
            "chosen": None,
            "by_released_rule": None,
            **columns,
        }
        for name, pair in enumerate(right)
        for version, hit in zip(condition, pair, strict=True)
    ]
    return tidy.check(pd.DataFrame(rows), "scores")


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
@settings(max_examples=25, deadline=None)
def test_true_and_false_belief_is_a_count_of_pairs_within_its_bounds(right):
    metrics = bigtom.metrics(scores_of(right))
    both = value(metrics, "tb_and_fb", "forward_belief/tb_and_fb/0")
    true = value(metrics, "accuracy", "forward_belief/true_belief/0")
    false = value(metrics, "accuracy", "forward_belief/false_belief/0")
    assert both == pytest.approx(sum(t and f for t, f in right) / len(right))
    assert max(0, true + false - 1) - 1e-9 <= both <= min(true, false) + 1e-9


def test_controls_have_a_joint_score_of_their_own():
    scores = scores_of([(1, 1), (1, 0)], condition=("true_control", "false_control"))
    metrics = bigtom.metrics(scores)
    assert value(metrics, "tb_and_fb", "forward_belief/control_tb_and_fb/0") == 0.5
    assert "forward_belief/tb_and_fb/0" not in set(metrics["condition"])


def test_template_with_one_version_alone_makes_no_pair():
    scores = scores_of([(1, 1), (1, 1), (1, 1), (0, 1)])[:-1]
    [joint] = bigtom.metrics(scores).query("metric == 'tb_and_fb'").to_dict("records")
    assert (joint["value"], joint["n"], joint["n_groups"]) == (1, 3, 3)


def test_pairs_are_made_within_a_sample():
    first = scores_of([(1, 0), (1, 1)])
    second = scores_of([(0, 1), (1, 1)], sample=1)
    metrics = bigtom.metrics(pd.concat([first, second], ignore_index=True))
    [joint] = metrics.query("metric == 'tb_and_fb'").to_dict("records")
    assert (joint["value"], joint["n"], joint["n_groups"]) == (0.5, 4, 2)


def test_outcome_rates_are_shares_of_all_answers(items, responses):
    metrics = bigtom.metrics(bigtom.score(items, responses))
    rates = metrics[metrics["metric"] == "outcome_rate"].set_index("condition")
    assert list(rates.index) == list(OUTCOMES)
    assert rates["value"].sum() == pytest.approx(1)
    assert rates.loc["error", "value"] == pytest.approx(1 / 600)
    assert set(rates["n"]) == {600}
    assert set(rates["n_groups"]) == {24}


def test_released_rule_takes_both_keys_for_right(items):
    metrics = bigtom.metrics(bigtom.score(items, answered(items, "a) or b)")))
    assert value(metrics, "released_rule", "all") == 1
    assert value(metrics, "outcome_rate", "correct") == 0


def test_models_and_methods_are_kept_apart(items):
    responses = pd.concat(
        [
            of_baseline(items, "gold"),
            of_baseline(items, "omniscient"),
            of_baseline(items, "omniscient", "1-shot"),
        ]
    )
    metrics = bigtom.metrics(bigtom.score(items, responses))
    correct = metrics[metrics["condition"] == "correct"].set_index(["model", "method"])["value"]
    assert correct["gold", "0-shot"] == 1
    assert correct["omniscient", "0-shot"] == pytest.approx(19 / 25)
    assert correct["omniscient", "1-shot"] == pytest.approx(6 / 12)


# Circularity (App. F)

CELL = {"pd": pd, "main_cells": main_cells}
exec(figures.cells("bigtom")["cell-regression"], CELL)  # noqa: S102
circularity = CELL["circularity"]


def simulated(coefficients, templates=500):
    """Scores of two models on two sources whose log odds are known: two items a template."""
    intercept, by_model, by_source, together = coefficients
    rng = np.random.default_rng(1)
    parts = []
    for second_model in (0, 1):
        for second_source in (0, 1):
            odds = intercept + by_model * second_model + by_source * second_source
            odds += together * second_model * second_source
            right = rng.random((templates, 2)) < 1 / (1 + np.exp(-odds))
            names = {"model": f"model-{second_model}", "source": f"source-{second_source}"}
            part = scores_of(right, **names)
            prefix = names["source"] + "/"
            parts.append(
                part.assign(item_id=prefix + part.item_id, group_id=prefix + part.group_id)
            )
    return pd.concat(parts, ignore_index=True)


def test_regression_finds_the_coefficients_that_made_the_data():
    truth = (0.2, 1.0, -0.4, 0.3)
    fit = circularity(simulated(truth))
    assert fit["term"].tolist() == [
        "Intercept",
        "model[T.model-1]",
        "source[T.source-1]",
        "model[T.model-1]:source[T.source-1]",
    ]
    assert (abs(fit["b"] - np.array(truth)) < 3 * fit["se"]).all()
    assert (fit["se"] < 0.16).all()
    assert set(fit["n"]) == {4000}
    assert set(fit["n_groups"]) == {1000}


def test_standard_errors_are_clustered_by_template():
    scores = simulated((0.2, 1.0, -0.4, 0.3), templates=50)
    twice = pd.concat(
        [scores, scores.assign(item_id=scores["item_id"] + "/again")], ignore_index=True
    )
    assert circularity(twice)["se"].tolist() == pytest.approx(
        circularity(scores)["se"].tolist(), rel=0.02
    )


def alike(rng, templates=12, items=6):
    """Scores of two models alike on two sources alike, six templates each, some harder than others."""
    odds = np.repeat(rng.normal(0.4, 1, templates), 2 * items)
    rows = [
        (f"{template}/{item}", str(template), model, "ab"[template % 2])
        for template in range(templates)
        for item in range(items)
        for model in ("one", "other")
    ]
    scores = pd.DataFrame(rows, columns=["item_id", "group_id", "model", "source"])
    scores["score"] = (rng.random(len(rows)) < 1 / (1 + np.exp(-odds))).astype(float)
    return scores.assign(condition="true_belief", variable="forward_belief", method="0-shot")


def test_regression_rejects_what_is_true_about_as_often_as_it_says():
    # With plain clustered errors and the normal distribution 11 % of these, for the source.
    rng = np.random.default_rng(0)
    fits = [circularity(alike(rng)) for _ in range(300)]
    rejected = np.mean([fit["p"] < 0.05 for fit in fits], axis=0)
    by_term = dict(zip(fits[0]["term"], rejected, strict=True))
    for term in ("model[T.other]", "source[T.b]", "model[T.other]:source[T.b]"):
        assert 0.01 < by_term[term] < 0.09, term


def test_errors_of_few_templates_are_corrected_and_p_is_of_students_t():
    scores = alike(np.random.default_rng(1))
    found = circularity(scores)
    equation, family = "score ~ model * source", sm.families.Binomial()
    fit = sm.GEE.from_formula(equation, scores["group_id"], scores, family=family)
    plain = fit.fit(cov_type="robust")
    assert found["b"].tolist() == pytest.approx(plain.params.tolist())
    # Of six templates a source, by so much at least.
    assert (found["se"].to_numpy() > 1.05 * plain.bse.to_numpy()).all()
    expected = 2 * student.sf((found["b"] / found["se"]).abs(), 12 - 1)
    assert found["p"].tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize("column", ["model", "source"])
def test_no_regression_with_one_model_or_one_source(column):
    scores = simulated((0, 1, 0, 0), templates=20)
    reason = circularity(scores[scores[column] == f"{column}-0"])
    assert "two data sources and two models" in reason


def test_regression_reads_the_twelve_cells_alone():
    scores = simulated((0.2, 1.0, -0.4, 0.3), templates=50)
    control = scores.assign(
        condition="true_control", item_id=scores["item_id"] + "/c", score=0.0, outcome="wrong"
    )
    percept = scores.assign(variable="percept_to_belief", item_id=scores["item_id"] + "/p")
    padded = pd.concat([scores, control, percept], ignore_index=True)
    assert circularity(padded).equals(circularity(scores))


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_model_that_is_always_right_or_wrong_on_a_source_is_named(score):
    scores = simulated((0, 1, 0, 0), templates=20)
    stuck = (scores["model"] == "model-1") & (scores["source"] == "source-0")
    scores.loc[stuck, "score"] = score
    assert "model-1 is always right" in circularity(scores)


# The rule that decided

NO_KEY = 'reasons without "the answer is" a key'

RULES = [
    ("Answer: a) Mei dives.", "0-shot", "stop", "answered", 'leads with the key behind "Answer:"'),
    ("a) Mei dives. Not b).", "0-shot", "stop", "answered", "leads with the key"),
    ("a) Mei dives beca", "0-shot", "length", "answered", "leads with the key"),
    ("Mei would take a) today.", "1-shot", "stop", "answered", "the only key named"),
    ("Both a) and b).", "0-shot", "stop", "unparsed", "names several options"),
    (
        "Answer:\na) dives\nb) leaves",
        "0-shot",
        "stop",
        "unparsed",
        'names several options behind "Answer:"',
    ),
    ("Mei dives.", "0-shot", "stop", "unparsed", "chooses no option"),
    ("", "0-shot", "stop", "unparsed", "empty"),
    ("So a) and b).", "0-shot-cot", "stop", "unparsed", NO_KEY),
    ("It is a)", "0-shot-cot", "stop", "answered", "leads with the key"),
    ("She would take a) then.", "0-shot-cot", "stop", "unparsed", NO_KEY),
    ("She takes a) to", "0-shot", "length", "truncated", "cut off before an option was settled"),
    ("<think>a)", "0-shot", "stop", "truncated", "cut off before an option was settled"),
    ("I'm sorry, no.", "0-shot", "stop", "refused", "declines to answer"),
    (None, "0-shot", "stop", "error", "the request failed"),
]


@pytest.mark.parametrize(("text", "method", "finish", "outcome", "rule"), RULES)
def test_rule_is_the_one_that_gave_the_outcome(mei, text, method, finish, outcome, rule):
    item = mei["forward_belief", "true_belief", 1]
    responses = answered(pd.DataFrame([item]), text, method=method, finish=finish)
    [response] = responses.to_dict("records")
    right = item["choices"][0] == item["answer"]
    expected = ("correct" if right else "wrong") if outcome == "answered" else outcome
    assert bigtom.score(pd.DataFrame([item]), responses)["outcome"].item() == expected
    assert bigtom.rule(item, response) == rule


# Answers without a key, as a grader reads them


def test_graders_reading_counts_for_unreadable_answers_and_for_no_others():
    scores = pd.DataFrame(
        {
            "item_id": ["1", "2", "3", "4"],
            "model": "m",
            "method": "0-shot",
            "sample": 0,
            "outcome": ["correct", "unparsed", "unparsed", "unparsed"],
            "score": [1.0, 0.0, 0.0, 0.0],
        }
    )
    becomes = {"2": "correct", "3": "wrong", "4": "unparsed"}
    grades = scores[["item_id", "model", "method", "sample"]]
    grades = grades.assign(becomes=grades["item_id"].map(becomes)).dropna()
    graded = scoring.with_grades(scores, grades)
    assert graded["outcome"].tolist() == ["correct", "correct", "wrong", "unparsed"]
    assert graded["score"].tolist() == [1, 1, 0, 0]
    with pytest.raises(InputError, match="found none for 1 unreadable answers, such as 4"):
        scoring.with_grades(scores, grades[grades["item_id"] != "4"])
