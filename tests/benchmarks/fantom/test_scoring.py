"""FANToM: items, prompts, one verdict a rule, and the released protocol written a second time."""

import random
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

import fantom_protocol
import replies
from fantom_sets import SAID, question_set, random_sets
from replies import sorted_rows
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom import scoring
from tomlab.benchmarks.fantom.items.sets import SCENARIOS
from tomlab.benchmarks.fantom.metrics import CONJUNCTIONS, SHARES, weighted_f1
from tomlab.errors import InputError
from tomlab.records.tidy import SCORED
from tomlab.scoring import embeddings
from tomlab.scoring.choices import credited_unread_in_words
from tomlab.scoring.embeddings import MINILM, embed

ITEMS = fantom.compose([question_set(), question_set("0-1-0", "accessible")])
of_baseline = partial(replies.of_baseline, fantom)


def item(kind: str, set_id: str = "0-0-0") -> dict:
    found = ITEMS[(ITEMS["group_id"] == set_id) & (ITEMS["question_type"] == kind)]
    return found.iloc[0].to_dict()


def verdict(kind: str, said: str, set_id: str = "0-0-0", **response) -> pd.Series:
    asked = item(kind, set_id)
    row = {"item_id": asked["item_id"], "model": "m", "method": "short", "response": said}
    return fantom.score(ITEMS, pd.DataFrame([row | response])).iloc[0]


# Items


def test_short_context_leaves_out_who_is_not_in_it():
    short, full = (fantom.asked(ITEMS, method) for method in ("short", "full"))
    left_out = full[~full["item_id"].isin(short["item_id"])]
    assert set(left_out["character"]) == {"sally"}
    assert len(left_out) == 4


def test_full_context_counts_a_set_as_inaccessible_when_somebody_in_it_does_not_know():
    own = ITEMS[ITEMS["group_id"] == "0-1-0"]
    assert set(own.loc[own["question_type"].str.startswith("belief"), "full_scenario"]) == {
        "accessible"
    }
    lists = own[own["question_type"].str.contains("list|yn")]
    assert set(lists["scenario"]) == {"accessible"}
    assert set(lists["full_scenario"]) == {"inaccessible"}


@settings(deadline=None)
@given(st.integers(0, 50))
def test_options_are_shuffled_by_seed_and_nothing_else(seed):
    again = fantom.compose([question_set()], seed)
    choices = again[again["question_type"] == "belief_choice"]
    for row in choices.to_dict("records"):
        assert set(row["choices"]) == {row["answer"], row["wrong_answer"]}
    reverse = fantom.compose([question_set("9-0-0"), question_set()], seed)
    reverse = reverse[reverse["group_id"] == "0-0-0"].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, reverse)


# Prompts


def prompt(kind: str, method: str = "short", **more: str) -> str:
    [message] = fantom.messages(item(kind) | more, method)
    assert message["role"] == "user"
    return message["content"]


def test_infoaccess_shows_question_and_answer_as_information():
    assert prompt("infoaccess_list").endswith(
        "\n\nInformation: What breed is Linda's dog? Linda's dog is a golden retriever.\n"
        "Question: List all the characters who know this information.\nAnswer:"
    )


def test_chain_of_thought_is_two_calls():
    first = prompt("fact", "short-reasoning")
    assert first.endswith("Answer: Let's think step by step.")
    second = prompt("fact", "short-cot", reasoning="Linda said so.")
    assert second == f"{first} Linda said so.\n\nTherefore, the answer is:"


@pytest.mark.parametrize("method", fantom.METHODS)
def test_all_questions_on_a_conversation_begin_alike(method):
    for row in ITEMS.to_dict("records"):
        text = fantom.messages(row | {"reasoning": "So."}, method)[0]["content"]
        assert text.startswith(fantom.shared_prefix(row, method))


# Verdicts, one rule each


def lettered(right: bool) -> str:
    letters = dict(zip(item("belief_choice")["choices"], "ab", strict=True))
    return f"({letters[item('belief_choice')['answer' if right else 'wrong_answer']]})"


def test_choice_is_read_by_letter():
    right = "ab"[list(item("belief_choice")["choices"]).index(item("belief_choice")["answer"])]
    wrong = "ba"["ab".index(right)]
    for said in (
        f"({right})",
        f"{right}) She",
        right.upper(),
        f"It is ({right}).",
        f"{right}, yes",
    ):
        assert verdict("belief_choice", said)["outcome"] == "correct"
    for said in (f"({wrong})", f"{wrong}."):
        assert verdict("belief_choice", said)["outcome"] == "wrong"
    assert verdict("belief_choice", "Kailey does not know.")["outcome"] == "unparsed"


def test_choice_that_names_both_options_counts_as_in_the_release_and_is_doubtful():
    row = verdict("belief_choice", "(a) or (b)")
    assert (row["outcome"], row["doubtful"]) == ("correct", True)


def test_only_what_follows_the_last_answer_cue_counts():
    assert verdict("answerability_yn", "Answer: no. Answer: yes")["outcome"] == "correct"


def test_distance_prefers_the_belief_of_person_x():
    near = verdict("belief_dist", "Kailey does not know which breed Linda's dog is.")
    far = verdict("belief_dist", "Kailey thinks that Linda's dog is a golden retriever.")
    assert (near["outcome"], far["outcome"]) == ("correct", "wrong")
    assert near["word_overlap"] > 0.3


NOTHING = "Kailey does not know which breed Linda's dog is."
RETRIEVER = "Kailey thinks that Linda's dog is a golden retriever."


def test_a_long_answer_about_a_belief_is_read_to_its_end():
    preamble = "Let us see who says what in this conversation, and when. " * 12  # 684 characters
    near, far = (verdict("belief_dist", preamble + end) for end in (NOTHING * 3, RETRIEVER * 3))
    assert (near["outcome"], near["cut"]) == ("correct", False)
    assert (far["outcome"], far["cut"]) == ("wrong", False)


@pytest.mark.parametrize("more", [RETRIEVER * 60, "词" * 600])
def test_an_answer_that_the_encoder_cannot_read_to_its_end_is_cut_and_said_to_be(more):
    row = verdict("belief_dist", f"{NOTHING * 40} {more}")
    assert (row["outcome"], row["cut"]) == ("correct", True)


def test_list_needs_every_aware_name_and_no_other():
    assert verdict("answerability_list", "Linda and David")["score"] == 1
    both = verdict("answerability_list", "Linda and Kailey")
    assert both["excluded_aware"] and both["included_unaware"]
    assert verdict("answerability_list", "linda")["excluded_aware"]
    assert verdict("infoaccess_list", "linda, david, sally")["included_unaware"]
    assert verdict("infoaccess_list", "Nobody at all")["outcome"] == "unparsed"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Yes, he does", 1),
        ("'yes'", 1),
        ("True.", 1),
        ("I think she knows it", 1),
        ("It is yes.", 1),
        ("no", 0),
        ("False", 0),
        ("She does not know it", 0),
        ("She doesn't know it", 0),
        ("Not sure", 0),
        ("No, but Ann knows it", 1),
        ("She does know", -1),
        ("Perhaps", -1),
        ("", -1),
    ],
)
def test_yes_and_no(said, value):
    assert scoring.yes_or_no(said) == value


def test_yes_beside_no_is_doubtful():
    row = verdict("answerability_yn", "No, but Ann knows it")
    assert (row["outcome"], row["doubtful"]) == ("correct", True)


@pytest.mark.parametrize(
    ("said", "f1"),
    [
        ("linda's dog is a golden retriever.", 1),
        ("linda's dog is a poodle", 2 * 4 / (6 + 5)),
        ("I would say that a cat sleeps on the sofa over there, as ever.", 2 * 1 / (6 + 14)),
        (
            "I would say that a cat sleeps on the sofa over there, as ever, and so do many birds.",
            0.08,
        ),
        ("nothing of the kind", 0),
    ],
)
def test_fact_earns_its_token_f1_and_is_neither_correct_nor_wrong(said, f1):
    row = verdict("fact", said)
    assert (row["outcome"], row["doubtful"]) == ("scored", False)
    assert row["score"] == row["word_overlap"] == pytest.approx(f1)


CUT = {"finish_reason": "length"}


def test_fact_that_was_cut_off_earns_the_share_of_what_it_says_so_far():
    row = verdict("fact", "Linda's dog", **CUT)
    assert (row["outcome"], row["doubtful"]) == ("scored", True)
    assert row["score"] == row["by_released_rule"] == pytest.approx(2 * 2 / (2 + 6))
    row = verdict("fact", "Let me", **CUT)
    assert (row["outcome"], row["score"], row["by_released_rule"]) == ("truncated", 0, 0)


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ({"response": ""}, "unparsed"),
        ({"response": "Let me", "finish_reason": "length"}, "truncated"),
        ({"response": "<think>hm"}, "truncated"),
        ({"response": "I'm sorry, I cannot help with that."}, "refused"),
        ({"response": "", "finish_reason": "refusal"}, "refused"),
        ({"response": None, "error": "APIError"}, "error"),
    ],
)
@pytest.mark.parametrize("kind", ["belief_choice", "answerability_list", "infoaccess_yn"])
def test_what_has_no_verdict_is_told_apart(kind, response, outcome):
    row = verdict(
        kind,
        **{"said": response["response"]} | {k: v for k, v in response.items() if k != "response"},
    )
    assert (row["outcome"], row["score"]) == (outcome, 0)


KINDS = ("fact", "belief_dist", "belief_choice", "answerability_list", "infoaccess_yn")
THOUGHT = "It is a golden retriever. Linda and David know it, so yes, no, (a) or (b)."


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("", "unparsed"),
        ("  \n", "unparsed"),
        ("Answer:", "unparsed"),
        (f"<think>{THOUGHT}</think>", "unparsed"),
        (f"{THOUGHT}</think>", "unparsed"),
        (f"<think>{THOUGHT}", "truncated"),
    ],
)
def test_empty_answers_and_thinking_alone_earn_nothing(kind, said, outcome):
    row = verdict(kind, said)
    assert (row["outcome"], row["score"], row["doubtful"]) == (outcome, 0, False)
    assert row["excluded_aware"] == (kind == "answerability_list")
    assert (row["yn"], row["named"]) == (-1, [])


@pytest.mark.parametrize("kind", KINDS)
def test_thinking_before_an_answer_is_not_read(kind):
    gold = fantom.reference(item(kind), "short", 0)["gold"]
    alone, thought = verdict(kind, gold), verdict(kind, f"<think>{THOUGHT}</think>\n{gold}")
    assert alone["score"] == 1
    pd.testing.assert_series_equal(alone, thought)


FORMS = ["\\boxed{%s}", "The correct option is %s.", "**%s**", "（%s）", '{"answer": "%s"}']


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_right", [True, False])
def test_letter_in_a_form_that_the_release_does_not_know_is_read(form, is_right):
    letter = lettered(is_right)[1]
    row = verdict("belief_choice", form % letter.upper())
    assert row["outcome"] == ("correct" if is_right else "wrong")
    assert row["by_released_rule"] == 0


def test_choice_ends_where_the_model_begins_a_new_question():
    right, wrong = lettered(True), lettered(False)
    row = verdict("belief_choice", f"{right}\n\nQuestion: And Tom?\nAnswer: {wrong}")
    assert (row["outcome"], row["by_released_rule"]) == ("correct", 0)


def test_answers_that_only_the_release_credits_are_counted():
    row = verdict("belief_choice", f"<think>{lettered(True)}")
    assert (row["outcome"], row["by_released_rule"]) == ("truncated", 1)
    assert "credit 1 more answers" in credited_unread_in_words(pd.DataFrame([row]))


def test_a_credited_choice_that_was_cut_off_is_doubtful():
    row = verdict("belief_choice", f"{lettered(True)} since", **CUT)
    assert (row["outcome"], row["score"], row["doubtful"]) == ("correct", 1, True)


@pytest.mark.parametrize(
    ("said", "by_statement"),
    [
        # More text could bring it nearer to the other belief, and the sentence may go on to deny it.
        ("Kailey does not know what breed", False),
        ("Kailey knows nothing about the breed of Linda's", False),
        # A whole sentence that states ignorance decides, whatever would have come after it.
        ("Kailey does not know anything about the breed. That is because", True),
    ],
)
def test_a_belief_that_was_cut_off_is_right_only_by_what_a_whole_sentence_states(
    said, by_statement
):
    row = verdict("belief_dist", said, **CUT)
    assert (row["outcome"], row["score"], row["by_released_rule"]) == ("truncated", 0, 1)
    assert row["by_statement"] == by_statement


def test_a_list_that_was_cut_off_is_right_only_if_nobody_is_unaware():
    row = verdict("answerability_list", "Linda and David", **CUT)
    assert (row["outcome"], row["score"], row["by_released_rule"]) == ("truncated", 0, 1)
    asked = item("answerability_list")
    alone = pd.DataFrame([asked | {"unaware": []}])
    answer = {"item_id": asked["item_id"], "model": "m", "method": "short"}
    answer |= {"response": "Linda and David"} | CUT
    [row] = fantom.score(alone, pd.DataFrame([answer])).to_dict("records")
    assert (row["outcome"], row["score"]) == ("correct", 1)


# The second reading of free beliefs: what an answer states of the person's ignorance

FACT = "Linda's dog is a golden retriever"


@pytest.mark.parametrize(
    ("kind", "said", "is_stated"),
    [
        (
            "away",
            f"Kailey was away when it was said that {FACT}, so Kailey does not know it.",
            True,
        ),
        ("away", f"Kailey was away when Linda said that {FACT}, so she can’t know it.", True),
        ("away", f"Kailey, who had left, won't know that {FACT}.", True),
        ("away", "Kailey was away for a while.", False),
        ("does not know that", f"Kailey doesn't know that {FACT}.", True),
        ("unaware that", f"Kailey remains completely unaware that {FACT}.", True),
        ("unaware that", f"Kailey would probably not be aware that {FACT}.", True),
        ("no way of knowing", f"Kailey has no way of knowing that {FACT}.", True),
        ("fact quoted", f'Linda said "{FACT}", but Kailey never heard it.', True),
        ("fact quoted", 'Kailey would say: "I was not there, so I have no idea."', True),
        ("pronoun", "Kailey left early. Therefore she does not have any specific idea.", True),
        ("pronoun", "Kailey left early and does not know it.", True),
        ("hedged", f"It seems that Kailey probably does not know that {FACT}.", True),
        ("hedged", "I do not know what Kailey believes.", False),
        ("hedged", "If Kailey does not know it, she will ask.", False),
        ("fact told", f"Kailey believes that {FACT}.", False),
        ("wrong person", f"Sally does not know that {FACT}, but Kailey does.", False),
        ("wrong person", "Sally was away, so she has no idea of what Kailey knows.", False),
        ("wrong person", "Kailey knows that Sally does not know it.", False),
        ("denied", f"It is not true that Kailey does not know that {FACT}.", False),
        ("denied", f"It would be wrong to say that Kailey does not know that {FACT}.", False),
        ("denied", "That Kailey does not know is false.", False),
        ("denied", "Nobody thinks that Kailey does not know.", False),
        ("denied", f"Kailey does know that {FACT}.", False),
        ("denied", "Kailey is not unaware of it.", False),
        ("of a thing", "Kailey believes that it is a breed that she has never heard of.", False),
        ("denied", "Kailey did not know at first, but was told of it later.", False),
    ],
)
def test_stated_ignorance_of_the_person_asked_about(kind, said, is_stated):
    assert scoring.states_ignorance(item("belief_dist"), said) == is_stated


@pytest.mark.parametrize(
    ("said", "is_stated"),
    [
        ("Linda believes that Kailey does not know it.", True),
        (
            f"Linda knows that Kailey was away when it was said that {FACT}, so she can't know.",
            True,
        ),
        ('Linda thinks that Kailey would say: "I have no idea."', True),
        ("Kailey does not know it.", True),
        ("Kailey does not know it, but Linda believes that she does.", False),
        ("Linda does not know what Kailey believes.", False),
        ("Linda does not believe that Kailey does not know it.", False),
        ("Linda does not know that Kailey does not know it.", False),
        ("Linda believes that David does not know it.", False),
        ("Kailey believes that Linda does not know it.", False),
    ],
)
def test_stated_ignorance_in_the_second_order_is_what_x_believes_of_y(said, is_stated):
    second = ITEMS["tom_order"].str.startswith("second") & ITEMS["group_id"].eq("0-0-0")
    [asked] = ITEMS[second & ITEMS["question_type"].eq("belief_dist")].to_dict("records")
    assert scoring.states_ignorance(asked, said) == is_stated


@pytest.mark.parametrize(
    ("said", "missed", "heard"),
    [
        (f"Kailey was away when it was said that {FACT}, so Kailey does not know it.", True, False),
        # Nothing is said of ignorance, so the distance decides.
        (f"Kailey believes that {FACT}.", False, True),
        (f"Kailey does know that {FACT}.", False, True),
        ("", False, False),
    ],
)
def test_by_statement_ignorance_is_right_of_who_missed_it_and_wrong_of_who_heard_it(
    said, missed, heard
):
    found = [verdict("belief_dist", said, of)["by_statement"] for of in ("0-0-0", "0-1-0")]
    assert found == [missed, heard]


def test_both_readings_and_the_released_rule_have_a_metric_each():
    of = {"0-0-0/belief_dist:0": f"Kailey was away, so she does not know that {FACT}."}
    of["0-0-0/belief_dist:1"] = "Linda believes that Kailey does not know anything"
    rows = [{"item_id": i, "model": "m", "method": "short", "response": r} for i, r in of.items()]
    rows[1] |= CUT
    found = fantom.metrics(fantom.score(ITEMS, pd.DataFrame(rows)))
    found = found.set_index(["metric", "condition"])["value"]
    assert found["belief_dist", "inaccessible"] == 0
    assert found["belief_statement", "inaccessible"] == 0.5
    assert found["released_rule", "inaccessible/belief_dist"] == 0.5


# The rule that decided, in words


@pytest.mark.parametrize(
    ("kind", "said", "outcome", "rule"),
    [
        ("fact", "Linda's dog", "scored", "shares words with the right answer"),
        ("fact", "Nothing", "scored", "shares no word with the right answer"),
        ("belief_dist", "gold", "correct", "nearer to the right belief than to the other"),
        ("belief_dist", "omniscient", "wrong", "not nearer to the right belief than to the other"),
        ("belief_dist", "", "unparsed", "says nothing"),
        ("belief_choice", lettered(True), "correct", "names the right option"),
        ("belief_choice", lettered(False), "wrong", "names the other option"),
        ("belief_choice", "(a) or (b)", "correct", "names both options, which counts"),
        ("belief_choice", "She does not know.", "unparsed", "names no option"),
        ("belief_choice", None, "error", "the request failed"),
        ("infoaccess_list", "Linda, David", "correct", "has every aware name and no unaware one"),
        ("infoaccess_list", "Linda", "wrong", "lacks an aware name"),
        ("infoaccess_list", "Linda, David, Sally", "wrong", "has an unaware one"),
        ("infoaccess_list", "Sally", "wrong", "lacks an aware name and has an unaware one"),
        ("infoaccess_list", "The dog", "unparsed", "has no name"),
        ("answerability_yn", "Yes, she does", "correct", "reads as yes"),
        ("answerability_yn", "not sure", "wrong", "reads as no"),
        ("answerability_yn", "No, Ann knows it", "correct", "has signs of yes and of no: yes"),
        ("answerability_yn", "Perhaps", "unparsed", "has no sign of yes or no"),
    ],
)
def test_the_rule_that_decided_is_told_in_words(kind, said, outcome, rule):
    asked = item(kind)
    said = fantom.reference(asked, "short", 0).get(said, said)
    error = "APIError" if said is None else None
    row = verdict(kind, said, error=error).to_dict()
    answer = row | {"response": said, "error": error, "finish_reason": "stop"}
    assert (row["outcome"], scoring.rule(asked, answer)) == (outcome, rule)


def test_no_rule_stands_for_both_a_right_and_a_wrong_answer_but_yes_and_no():
    items = fantom.compose(random_sets(3))
    responses = of_baseline(items, "random", "short").assign(error=None, finish_reason="stop")
    by_id = {row["item_id"]: row for row in items.to_dict("records")}
    both = responses.merge(fantom.score(items, responses)).to_dict("records")
    found = {(scoring.rule(by_id[row["item_id"]], row), row["score"] > 0) for row in both}
    rules = [rule for rule, _ in found if not rule.startswith("reads as")]
    assert len(rules) > 5
    assert len(rules) == len(set(rules))


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_has_a_verdict(said):
    for kind in ("fact", "belief_choice", "answerability_list", "infoaccess_yn"):
        outcome = verdict(kind, said)["outcome"]
        judged = [SCORED] if kind == "fact" else ["correct", "wrong"]
        assert outcome in (*judged, "unparsed", "truncated", "refused")


def test_reasoning_is_never_scored():
    row = {"item_id": item("fact")["item_id"], "model": "m", "method": "short-reasoning"}
    scored = {**row, "method": "short", "response": "a dog"}
    scores = fantom.score(ITEMS, pd.DataFrame([row | {"response": "So."}, scored]))
    assert scores["method"].tolist() == ["short"]


# The control task


def test_control_task_counts_in_all_only_sets_in_which_every_question_is_accessible():
    mixed = question_set("1-0-0", "accessible")
    mixed["answerabilityQA_list"]["missed_info_accessibility"] = "inaccessible"
    items = fantom.compose([question_set("0-0-0", "accessible"), mixed, question_set("2-0-0")])
    table = fantom.metrics(fantom.score(items, of_baseline(items, "gold")))
    counted = table.set_index(["metric", "condition"])["n"]
    for metric in ("all", "all_star"):
        assert counted[metric, "accessible"] == 1
        assert counted[metric, "accessible/part"] == 1
        assert counted[metric, "inaccessible"] == 2
    # All other columns are of every question of the kind.
    assert counted["belief_choice", "accessible"] == 4
    assert counted["infoaccess_all", "accessible"] == 2


# Baselines


@pytest.mark.parametrize("method", ["short", "full"])
def test_gold_scores_one_everywhere(method):
    items = fantom.compose(random_sets(3))
    table = fantom.metrics(fantom.score(items, of_baseline(items, "gold", method)))
    more = ["belief_f1", "fact_f1", "answerability_yn", "infoaccess_yn", "belief_order"]
    more += ["all_characters", "consistency"]
    shares = table[table["metric"].isin([*CONJUNCTIONS, *SHARES, *more])]
    assert len(shares) > 20
    assert (shares["value"] == 1).all()


def test_omniscient_misses_every_belief_that_somebody_missed_and_has_all_others():
    table = fantom.metrics(fantom.score(ITEMS, of_baseline(ITEMS, "omniscient")))
    choice = table[table["metric"] == "belief_choice"].set_index("condition")["value"]
    assert choice.to_dict() == {"inaccessible": 0, "accessible": 1}


def test_without_an_encoder_everything_else_is_scored_and_counted():
    """What BeliefQ[Dist.] is a part of is left out with it, and nothing is embedded."""
    free = of_baseline(ITEMS, "gold").assign(response="Kailey knows of a golden retriever.")
    scores = fantom.score(ITEMS, free, embedder=None)
    every = fantom.score(ITEMS, free)
    is_other = every["question_type"] != "belief_dist"
    pd.testing.assert_frame_equal(scores, every[is_other].reset_index(drop=True))
    wanted, found = (fantom.metrics(t).set_index(["metric", "condition"]) for t in (every, scores))
    lost = {"all_star", "all_characters", "belief_dist", "belief_order", "belief_f1"}
    lost |= {"belief_statement"}
    assert set(found.index.unique("metric")) == set(wanted.index.unique("metric")) - lost
    of_beliefs = found.index.get_level_values("metric").isin(["outcome_rate", "completion_tokens"])
    assert found["value"][~of_beliefs].equals(wanted["value"].reindex(found.index)[~of_beliefs])


def test_a_default_encoder_that_is_not_there_is_named_with_the_ways_out(monkeypatch, tmp_path):
    monkeypatch.setattr(embeddings, "_WEIGHTS", tmp_path / "none.gguf")
    free = of_baseline(ITEMS, "gold").assign(response="Kailey knows of a golden retriever.")
    with pytest.raises(InputError, match=r"(?s)embedder=EmbeddedModel\(.*embedder=None"):
        fantom.score(ITEMS, free)


# The released protocol


@pytest.fixture(scope="module")
def closer():
    known: dict = {}

    def nearer(said: str, right: str, wrong: str) -> bool:
        if (said, right, wrong) not in known:
            a, b, c = embed([said, right, wrong], MINILM)
            known[said, right, wrong] = bool(np.dot(a, b) > np.dot(a, c))
        return known[said, right, wrong]

    return nearer


@pytest.mark.parametrize("context", ["short", "full"])
@pytest.mark.parametrize("seed", range(2))
def test_twelve_columns_are_those_of_the_release(context, seed, closer):
    sets, draw = random_sets(seed), random.Random(seed)
    items, rows, answers, letters = fantom.compose(sets, seed), [], {}, {}
    for question in fantom.asked(items, context).to_dict("records"):
        key = tuple(question["item_id"].split("/"))
        gold = fantom.reference(question, context, 0)["gold"]
        answers[key] = said = draw.choice([gold, gold, *SAID])
        if question["question_type"] == "belief_choice":
            letters[key] = "ab"[list(question["choices"]).index(question["answer"])]
        row = {"item_id": question["item_id"], "model": "m", "method": context}
        rows.append(row | {"response": said})
    answers = {key: said.removeprefix("Answer: ") for key, said in answers.items()}
    scores = fantom.score(items, pd.DataFrame(rows))
    table = fantom.metrics(scores)
    for scenario in SCENARIOS:
        ours = table[table["condition"] == scenario].set_index("metric")["value"]
        theirs = fantom_protocol.columns(sets, answers, letters, closer, context, scenario)
        present = {name: value for name, value in theirs.items() if value is not None}
        assert {name: ours[name] for name in present} == pytest.approx(present)


# Metrics


@given(st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_weighted_f1_is_that_of_scikit_learn(counts):
    if sum(counts) == 0:
        return
    labels = [(gold, said) for gold in (1, 0) for said in (1, 0, -1)]
    pairs = [pair for pair, times in zip(labels, counts, strict=True) for _ in range(times)]
    gold, said = zip(*pairs, strict=True)
    expected = f1_score(gold, said, average="weighted", zero_division=0)
    assert weighted_f1(np.array(counts)) == pytest.approx(expected)


@settings(max_examples=5, deadline=None)
@given(st.randoms(use_true_random=False))
def test_shuffled_rows_change_nothing(draw):
    items = fantom.compose(random_sets(1))
    beliefs = items["question_type"] == "belief_dist"
    # Right beliefs put otherwise, so that there are fractions of shared words to add up.
    responses = of_baseline(items, "random").set_index("item_id")
    reworded = items[beliefs].set_index("item_id")["answer"]
    responses.loc[reworded.index, "response"] = [
        " ".join(belief.split()[: draw.randint(3, 9)]) for belief in reworded
    ]
    responses = responses.reset_index()
    order = draw.sample(range(len(responses)), len(responses))
    first, second = (
        fantom.metrics(scoring.score(items, table)) for table in (responses, responses.iloc[order])
    )
    assert sorted_rows(first).equals(sorted_rows(second))


def test_conjunctions_fall_as_more_must_be_right_at_once():
    items = fantom.compose(random_sets(2))
    table = fantom.metrics(fantom.score(items, of_baseline(items, "random", "full")))
    values = table[table["metric"] == "answerability_all"].set_index("condition")["value"]
    for scenario in SCENARIOS:
        if scenario in values:
            assert values[f"{scenario}/conversation"] <= values[f"{scenario}/part"] <= 1


def test_errors_and_right_answers_make_up_all_lists():
    items = fantom.compose(random_sets(2))
    table = fantom.metrics(fantom.score(items, of_baseline(items, "random")))
    errors = table[(table["metric"] == "list_error") & ~table["condition"].str.endswith("/any")]
    right = table[table["metric"] == "answerability_list"].set_index("condition")["value"]
    for scenario, share in right.items():
        own = errors[errors["condition"].str.startswith(f"{scenario}/answerability/")]
        assert own["value"].sum() + share == pytest.approx(1)


def test_consistency_and_all_characters_by_hand():
    sets = [question_set()]
    items = fantom.compose(sets)
    responses = of_baseline(items, "gold").set_index("item_id")
    # Linda is denied once; David is left out of one list.
    responses.loc["0-0-0/answerability_yn:0", "response"] = "no"
    responses.loc["0-0-0/infoaccess_list", "response"] = "Linda"
    table = fantom.metrics(fantom.score(items, responses.reset_index()))
    values = table.set_index("metric")["value"]
    assert values["consistency"] == pytest.approx(1 / 3)
    assert values["all_characters"] == pytest.approx(1 / 3)


def by_order(**answers: str) -> pd.Series:
    """The orders' accuracies of beliefs that are right (+) and wrong (-) in so many answers."""
    said = [(order, right) for order, rights in answers.items() for right in rights]
    items = fantom.compose([question_set(f"{n}-0-0") for n in range(len(said))])
    items = items[(items["question_type"] == "belief_dist") & (items["tom_order"] == "first-order")]
    names = {"first": "first-order"} | {k: f"second-order:{k}" for k in ("cyclic", "acyclic")}
    items = items.assign(tom_order=[names[order] for order, _ in said])
    row = {"model": "m", "method": "short", "sample": 0}
    rows = [
        row | {"item_id": i["item_id"], "response": i["answer" if right == "+" else "wrong_answer"]}
        for i, (_, right) in zip(items.to_dict("records"), said, strict=True)
    ]
    table = fantom.metrics(fantom.score(items, pd.DataFrame(rows)))
    found = table[table["metric"].isin(["belief_order", "belief_dist"])]
    told = found.dropna(subset="ci_low")  # not where few conversations have a right answer
    assert told["value"].between(told["ci_low"], told["ci_high"]).all()
    return found.set_index("condition")["value"].rename(lambda of: of.removeprefix("inaccessible"))


def test_orders_have_the_papers_plain_mean_beside_all_questions_pooled():
    found = by_order(first="++--", cyclic="+", acyclic="+--")
    assert found["/second-order"] == pytest.approx(2 / 4)
    assert found["/second-order:mean"] == pytest.approx((1 + 1 / 3) / 2)
    assert found[""] == pytest.approx(4 / 8)
    assert found["/orders:mean"] == pytest.approx((1 / 2 + (1 + 1 / 3) / 2) / 2)


def test_a_kind_of_belief_that_nobody_was_asked_about_leaves_no_plain_mean():
    assert not by_order(first="+-", cyclic="+").index.str.endswith("mean").any()
    found = by_order(cyclic="+", acyclic="-")
    assert found["/second-order:mean"] == 0.5 and "/orders:mean" not in found


# Chain of thought as the release asks for it in batches


def test_in_batches_reasoning_is_asked_for_without_answer_before_the_cue():
    first = prompt("answerability_yn", "short-reasoning-batch")
    assert first.endswith("Answer yes or no.\n Let's think step by step.")
    second = prompt("answerability_yn", "short-cot-batch", reasoning="She left.")
    assert second == f"{first} She left.\n\nTherefore, the answer is:"
    # A choice ends with its own line, which the release leaves as it is.
    assert prompt("belief_choice", "short-reasoning-batch") == prompt(
        "belief_choice", "short-reasoning"
    )


def test_in_batches_reasoning_is_repeated_whole():
    reasoning = "She left. Answer: no"
    assert fantom.reasoning_of(reasoning, "short-cot-batch") == reasoning
    assert fantom.reasoning_of(reasoning, "short-cot") == "no"


# Yes and no by App. A.4 of the paper


@pytest.mark.parametrize(
    ("said", "by_release", "by_paper"),
    [
        ("Yes", 1, 1),
        ("No.", 0, 0),
        ("She does know", -1, 1),
        ("She does not know", -1, 0),
        ("She doesn't know.", -1, 0),
        ("Not sure", 0, -1),
        ("No, but yes, she heard it.", 1, 0),
        ("Everybody knows that.", 1, 1),
        ("That is true", -1, 1),
        ("I would say: false", -1, 0),
        ("Notably, she left.", 0, -1),
        ("I have no idea", 0, 0),
        ("", -1, -1),
    ],
)
def test_yes_and_no_are_read_by_the_release_or_by_the_paper(said, by_release, by_paper):
    assert scoring.yes_or_no(said) == by_release
    assert scoring.yes_or_no(said, "paper") == by_paper


def test_papers_reading_decides_verdicts_and_leaves_what_the_release_credits():
    asked = item("answerability_yn")  # Linda knows
    row = {"item_id": asked["item_id"], "model": "m", "method": "short"}
    responses = pd.DataFrame([row | {"response": "She does know"}])
    by_release = fantom.score(ITEMS, responses).iloc[0]
    by_paper = fantom.score(ITEMS, responses, yes_no_as="paper").iloc[0]
    assert (by_release["outcome"], by_paper["outcome"]) == ("unparsed", "correct")
    assert by_release["by_released_rule"] == by_paper["by_released_rule"] == 0
    scored = responses.iloc[0].to_dict() | by_paper.to_dict() | {"error": None}
    assert fantom.rule(asked, scored | {"finish_reason": "stop"}) == "reads as yes"


def test_another_word_for_whose_rule_is_an_error():
    with pytest.raises(InputError, match="expected 'release' or 'paper'"):
        fantom.score(ITEMS, of_baseline(ITEMS, "gold", "short"), yes_no_as="App. A.4")
