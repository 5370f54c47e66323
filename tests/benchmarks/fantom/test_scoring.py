"""FANToM: items, prompts, one verdict a rule, metrics beside the released protocol."""

import random
from functools import partial

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fantom_protocol
import replies
from fantom_sets import SAID, question_set, random_sets
from replies import sorted_rows
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.ignorance import states_ignorance
from tomlab.benchmarks.fantom.items.sets import SCENARIOS
from tomlab.benchmarks.fantom.scoring import right_letter, yes_or_no
from tomlab.errors import InputError
from tomlab.records.tidy import SCORED
from tomlab.scoring.embeddings import MINILM, embed

ITEMS = fantom.compose([question_set(), question_set("0-1-0", "accessible")])
KINDS = ("fact", "belief_dist", "belief_choice", "answerability_list", "infoaccess_yn")
CUT = {"finish": "length"}
of_baseline = partial(replies.of_baseline, fantom)


def item(kind: str, set_id: str = "0-0-0") -> dict:
    items = ITEMS[(ITEMS["group_id"] == set_id) & (ITEMS["question_type"] == kind)]
    return items.iloc[0].to_dict()


def verdict(kind: str, text: str | None, set_id: str = "0-0-0", **options) -> pd.Series:
    items = pd.DataFrame([item(kind, set_id)])
    return fantom.score(items, replies.answered(items, text, "short", **options)).iloc[0]


def values_of(scores: pd.DataFrame, column: str = "value") -> pd.Series:
    return fantom.metrics(scores).set_index(["metric", "condition"])[column]


RIGHT = right_letter(item("belief_choice"))
WRONG = {"a": "b", "b": "a"}[RIGHT]


# Items and prompts


def test_short_context_leaves_out_who_is_not_in_it():
    short = fantom.asked(ITEMS, "short")
    full = fantom.asked(ITEMS, "full")
    left_out = full[~full["item_id"].isin(short["item_id"])]
    assert left_out["character"].tolist() == ["sally"] * 4


def test_options_stand_in_an_order_of_their_own_whatever_stands_before():
    items = fantom.compose([question_set("9-0-0"), question_set()])
    choices = items.set_index("item_id")["choices"]
    for row in ITEMS[ITEMS["group_id"] == "0-0-0"].itertuples():
        assert choices[row.item_id] == row.choices


def prompt(kind: str, method: str, reasoning: str = "So.") -> str:
    question = item(kind) | {"reasoning": reasoning}
    [message] = fantom.messages(question, method)
    assert message["role"] == "user"
    assert message["content"].startswith(fantom.shared_prefix(question, method))
    return message["content"]


@pytest.mark.parametrize(
    ("kind", "method", "end"),
    [
        (
            "infoaccess_list",
            "short",
            "golden retriever.\nQuestion: List all the characters who know this information.\nAnswer:",
        ),
        ("fact", "short-reasoning", "\nAnswer: Let's think step by step."),
        (
            "fact",
            "short-cot",
            "\nAnswer: Let's think step by step. So.\n\nTherefore, the answer is:",
        ),
        # The release asks for no answer before the cue in batches, but leaves a choice as it is.
        ("answerability_yn", "short-reasoning-batch", "yes or no.\n Let's think step by step."),
        ("answerability_yn", "short-cot-batch", "by step. So.\n\nTherefore, the answer is:"),
        ("belief_choice", "short-reasoning-batch", "above: Let's think step by step."),
    ],
)
def test_prompt_ends_as_in_the_release(kind, method, end):
    assert prompt(kind, method).endswith(end)


# Verdicts


@pytest.mark.parametrize(
    ("kind", "text", "outcome", "rule"),
    [
        ("fact", "Linda's dog", "scored", "shares words with the right answer"),
        ("belief_dist", "gold", "correct", "nearer to the right belief than to the other"),
        ("belief_dist", "omniscient", "wrong", "not nearer to the right belief than to the other"),
        ("belief_dist", "", "unparsed", "says nothing"),
        ("belief_choice", "gold", "correct", "names the right option"),
        ("belief_choice", "omniscient", "wrong", "names the other option"),
        ("belief_choice", "(a) or (b)", "correct", "names both options, which counts"),
        ("belief_choice", "She does not know.", "unparsed", "names no option"),
        ("belief_choice", "I'm sorry, I cannot help with that.", "refused", "names no option"),
        ("belief_dist", None, "error", "the request failed"),
        ("infoaccess_list", "linda, David", "correct", "has every aware name and no unaware one"),
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
def test_the_rule_that_decided_is_told_in_words(kind, text, outcome, rule):
    text = fantom.reference(item(kind), "short", 0).get(text, text)
    row = verdict(kind, text).to_dict()
    assert row["outcome"] == outcome
    assert row["doubtful"] == ("both options" in rule or "yes and of no" in rule)
    error = None if text is not None else "server said no"
    scored = row | {"response": text, "error": error, "finish_reason": "stop"}
    assert fantom.rule(item(kind), scored) == rule


RELEASED_FORMS = ["({})", "{}) She", "{}", "It is ({}).", "{}, yes", "{}."]
OTHER_FORMS = [
    "\\boxed{{{}}}",
    "The correct option is {}.",
    "**{}**",
    "（{}）",
    '{{"answer": "{}"}}',
]


@pytest.mark.parametrize("form", [*RELEASED_FORMS, *OTHER_FORMS])
def test_choice_is_read_by_letter(form):
    right = verdict("belief_choice", form.format(RIGHT.upper()))
    wrong = verdict("belief_choice", form.format(WRONG.upper()))
    assert (right["outcome"], wrong["outcome"]) == ("correct", "wrong")
    assert right["by_released_rule"] == (form in RELEASED_FORMS)
    assert wrong["by_released_rule"] == 0


THOUGHT = "It is a golden retriever. Linda and David know it, so yes, no, (a) or (b)."


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("text", "finish", "outcome"),
    [
        ("  \n", "stop", "unparsed"),
        (f"<think>{THOUGHT}</think>", "stop", "unparsed"),
        (f"<think>{THOUGHT}", "stop", "truncated"),
        ("Let me", "length", "truncated"),
        ("", "refusal", "refused"),
    ],
)
def test_what_says_nothing_earns_nothing(kind, text, finish, outcome):
    row = verdict(kind, text, finish=finish)
    assert (row["outcome"], row["score"], row["doubtful"]) == (outcome, 0, False)
    assert row["excluded_aware"] == (kind == "answerability_list")
    assert (row["yn"], row["named"]) == (-1, [])


@pytest.mark.parametrize("kind", KINDS)
def test_thinking_before_an_answer_is_not_read(kind):
    gold = fantom.reference(item(kind), "short", 0)["gold"]
    row = verdict(kind, gold)
    assert row["score"] == 1
    pd.testing.assert_series_equal(row, verdict(kind, f"<think>{THOUGHT}</think>\n{gold}"))


@pytest.mark.parametrize(
    ("text", "f1"),
    [
        ("linda's dog is a golden retriever.", 1),
        ("linda's dog is a poodle", 2 * 4 / (6 + 5)),
        ("nothing of the kind", 0),
    ],
)
def test_fact_earns_its_token_f1_and_is_neither_correct_nor_wrong(text, f1):
    row = verdict("fact", text)
    assert row["outcome"] == SCORED
    assert row["score"] == row["word_overlap"] == pytest.approx(f1)


NEAR = "Kailey does not know which breed Linda's dog is."
FAR = "Kailey thinks that Linda's dog is a golden retriever."
LEAD = "Let us see who says what in this conversation, and when. "


@pytest.mark.parametrize(
    ("text", "outcome", "is_cut"),
    [
        (LEAD * 12 + NEAR * 3, "correct", False),
        (LEAD * 12 + FAR * 3, "wrong", False),
        (NEAR * 40 + FAR * 60, "correct", True),
    ],
)
def test_a_long_answer_about_a_belief_is_read_to_its_end_or_said_to_be_cut(text, outcome, is_cut):
    assert verdict("belief_dist", text)[["outcome", "cut"]].tolist() == [outcome, is_cut]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("fact", "Linda's dog", (SCORED, 2 * 2 / (2 + 6), 2 * 2 / (2 + 6), True)),
        ("belief_choice", f"({RIGHT}) since", ("correct", 1, 1, True)),
        ("belief_dist", "Kailey does not know what breed", ("truncated", 0, 1, False)),
        ("answerability_list", "Linda and David", ("truncated", 0, 1, False)),
    ],
)
def test_what_was_cut_off_earns_only_what_more_text_could_not_change(kind, text, expected):
    row = verdict(kind, text, **CUT)
    assert tuple(row[["outcome", "score", "by_released_rule", "doubtful"]]) == expected


@settings(deadline=None, max_examples=20)
@given(st.text(max_size=80))
def test_any_text_has_a_verdict(text):
    for kind in ("fact", "belief_choice", "answerability_list", "infoaccess_yn"):
        row = verdict(kind, text)
        assert row["outcome"] in (SCORED, "correct", "wrong", "unparsed", "truncated", "refused")
        assert (row["outcome"] == SCORED) <= (kind == "fact")


@pytest.mark.parametrize(
    ("text", "by_release", "by_paper"),
    [
        ("Yes", 1, 1),
        ("No.", 0, 0),
        ("She does know", -1, 1),
        ("She does not know", -1, 0),
        ("She does not know it", 0, 0),
        ("She doesn't know.", -1, 0),
        ("Not sure", 0, -1),
        ("No, but yes, she heard it.", 1, 0),
        ("I would say: false", -1, 0),
        ("Notably, she left.", 0, -1),
        ("", -1, -1),
    ],
)
def test_yes_and_no_are_read_by_the_release_or_by_the_paper(text, by_release, by_paper):
    assert yes_or_no(text) == by_release
    assert yes_or_no(text, "paper") == by_paper


def test_papers_reading_decides_verdicts_and_leaves_what_the_release_credits():
    question = item("answerability_yn")  # Linda knows
    items = pd.DataFrame([question])
    responses = replies.answered(items, "She does know", "short")
    row = fantom.score(items, responses, yes_no_as="paper").iloc[0].to_dict()
    assert (row["outcome"], row["by_released_rule"]) == ("correct", 0)
    assert fantom.rule(question, responses.iloc[0].to_dict() | row) == "reads as yes"
    with pytest.raises(InputError, match="expected 'release' or 'paper'"):
        fantom.score(items, responses, yes_no_as="App. A.4")


# The second reading of free beliefs: what an answer states of the person's ignorance


@pytest.mark.parametrize(
    "text",
    [
        "Kailey was away when it was said that Linda has a dog, so Kailey does not know it.",
        "Kailey was away when Linda said that she has a dog, so she can’t know it.",
        "Kailey, who had left, won't know that Linda has a dog.",
        "Kailey remains completely unaware that Linda has a dog.",
        "Kailey would probably not be aware that Linda has a dog.",
        "Kailey has no way of knowing that Linda has a dog.",
        'Linda said "I have a dog", but Kailey never heard it.',
        'Kailey would say: "I was not there, so I have no idea."',
        "Kailey left early. Therefore she does not have any specific idea.",
        "Kailey left early and does not know it.",
    ],
)
def test_ignorance_of_the_person_asked_about_is_stated(text):
    assert states_ignorance(item("belief_dist"), text) is True


@pytest.mark.parametrize(
    "text",
    [
        "Kailey was away for a while.",
        "I do not know what Kailey believes.",
        "If Kailey does not know it, she will ask.",
        "Sally does not know that Linda has a dog, but Kailey does.",
        "Sally was away, so she has no idea of what Kailey knows.",
        "Kailey knows that Sally does not know it.",
        "It is not true that Kailey does not know that Linda has a dog.",
        "That Kailey does not know is false.",
        "Nobody thinks that Kailey does not know.",
        "Kailey does know that Linda has a dog.",
        "Kailey is not unaware of it.",
        "Kailey believes that it is a breed that she has never heard of.",
        "Kailey did not know at first, but was told of it later.",
    ],
)
def test_ignorance_of_the_person_asked_about_is_not_stated(text):
    assert states_ignorance(item("belief_dist"), text) is False


@pytest.mark.parametrize(
    ("text", "is_stated"),
    [
        ("Linda believes that Kailey does not know it.", True),
        ('Linda thinks that Kailey would say: "I have no idea."', True),
        ("Kailey does not know it.", True),
        ("Kailey does not know it, but Linda believes that she does.", False),
        ("Linda does not know what Kailey believes.", False),
        ("Linda does not believe that Kailey does not know it.", False),
        ("Linda believes that David does not know it.", False),
        ("Kailey believes that Linda does not know it.", False),
    ],
)
def test_stated_ignorance_in_the_second_order_is_what_x_believes_of_y(text, is_stated):
    second_order = ITEMS.set_index("item_id").loc["0-0-0/belief_dist:1"].to_dict()
    assert states_ignorance(second_order, text) == is_stated


@pytest.mark.parametrize(
    ("text", "response", "of_who_missed_it", "of_who_heard_it"),
    [
        ("Kailey was away, so Kailey does not know that Linda has a dog.", {}, True, False),
        # Nothing is said of ignorance, so the distance decides.
        ("Kailey believes that Linda's dog is a golden retriever.", {}, False, True),
        ("", {}, False, False),
        # The sentence may go on to deny it.
        ("Kailey knows nothing about the breed of Linda's", CUT, False, False),
        ("Kailey does not know anything about the breed. That is because", CUT, True, False),
    ],
)
def test_by_statement_ignorance_is_right_of_who_missed_it_and_wrong_of_who_heard_it(
    text, response, of_who_missed_it, of_who_heard_it
):
    assert verdict("belief_dist", text, "0-0-0", **response)["by_statement"] == of_who_missed_it
    assert verdict("belief_dist", text, "0-1-0", **response)["by_statement"] == of_who_heard_it


# Baselines and the encoder


@pytest.mark.parametrize("method", ["short", "full"])
def test_gold_scores_one_everywhere(method):
    items = fantom.compose(random_sets(3))
    table = fantom.metrics(fantom.score(items, of_baseline(items, "gold", method)))
    is_share = table["condition"].str.startswith(("accessible", "inaccessible"))
    # Of these random sets, answers and scenarios need not fit as the second reading takes them.
    is_other = table["metric"].str.endswith(("_error", "released_rule", "_statement"))
    values = table.loc[is_share & ~is_other, "value"]
    assert len(values) > 20
    assert set(values) == {1}


def test_without_an_encoder_everything_else_is_scored_and_counted():
    responses = of_baseline(ITEMS, "gold")
    without = fantom.score(ITEMS, responses, embedder=None)
    scores = fantom.score(ITEMS, responses)
    rest_of_scores = scores[scores["question_type"] != "belief_dist"]
    pd.testing.assert_frame_equal(without, rest_of_scores.reset_index(drop=True))
    lacking = set(fantom.metrics(scores)["metric"]) - set(fantom.metrics(without)["metric"])
    beliefs = {"belief_dist", "belief_order", "belief_f1", "belief_statement"}
    assert lacking == {"all_star", "all_characters"} | beliefs


# Metrics


@pytest.mark.parametrize(("context", "seed"), [("short", 0), ("full", 1)])
def test_twelve_columns_are_those_of_the_release(context, seed):
    sets = random_sets(seed)
    draw = random.Random(seed)
    items = fantom.compose(sets, seed)
    responses = of_baseline(items, "gold", context)
    responses["response"] = [draw.choice([gold, gold, *SAID]) for gold in responses["response"]]
    keys = responses["item_id"].str.split("/").map(tuple)
    answers = dict(zip(keys, responses["response"].str.removeprefix("Answer: "), strict=True))
    choices = items[items["question_type"] == "belief_choice"].to_dict("records")
    letters = {tuple(choice["item_id"].split("/")): right_letter(choice) for choice in choices}
    texts = [*answers.values(), *items["answer"], *items["wrong_answer"]]
    vectors = dict(zip(texts, embed(texts, MINILM), strict=True))

    def is_nearer(text: str, right: str, wrong: str) -> bool:
        return vectors[text] @ vectors[right] > vectors[text] @ vectors[wrong]

    values = values_of(fantom.score(items, responses))
    for scenario in SCENARIOS:
        columns = fantom_protocol.columns(sets, answers, letters, is_nearer, context, scenario)
        for metric, value in columns.items():
            if pd.notna(value):
                assert values[metric, scenario] == pytest.approx(value), metric


def test_control_task_counts_in_all_only_sets_in_which_every_question_is_accessible():
    mixed = question_set("1-0-0", "accessible")
    mixed["answerabilityQA_list"]["missed_info_accessibility"] = "inaccessible"
    items = fantom.compose([question_set("0-0-0", "accessible"), mixed, question_set("2-0-0")])
    n = values_of(fantom.score(items, of_baseline(items, "gold")), "n")
    for metric in ("all", "all_star"):
        assert n[metric, "accessible"] == n[metric, "accessible/part"] == 1
        assert n[metric, "inaccessible"] == 2
    # All other columns are of every question of the kind.
    assert n["belief_choice", "accessible"] == 4
    assert n["infoaccess_all", "accessible"] == 2


def test_shuffled_rows_change_nothing():
    items = fantom.compose(random_sets(1))
    texts = random.Random(0).choices(SAID, k=len(items))
    responses = replies.answered(items, texts, "full")
    shuffled = responses.sample(frac=1, random_state=0)
    first = fantom.metrics(fantom.score(items, responses))
    second = fantom.metrics(fantom.score(items, shuffled))
    pd.testing.assert_frame_equal(sorted_rows(first), sorted_rows(second), check_exact=True)


def test_orders_have_the_papers_plain_mean_beside_all_questions_pooled():
    items = fantom.compose([question_set(f"{number}-0-0") for number in range(8)])
    items = items[items["item_id"].str.endswith("belief_dist:0")]
    second = ["second-order:cyclic"] + ["second-order:acyclic"] * 3
    items["tom_order"] = ["first-order"] * 4 + second
    is_right = [True, True, False, False, True, True, False, False]
    texts = items["answer"].where(is_right, items["wrong_answer"])
    scores = fantom.score(items, replies.answered(items, texts.tolist(), "short"))
    accuracies = values_of(scores)["belief_order"]
    assert accuracies["inaccessible/second-order"] == 2 / 4
    assert accuracies["inaccessible/second-order:mean"] == pytest.approx(2 / 3)
    assert accuracies["inaccessible/orders:mean"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    # A kind of belief that nobody was asked about leaves no plain mean.
    without_acyclic = values_of(scores[scores["tom_order"] != "second-order:acyclic"])
    assert not without_acyclic["belief_order"].index.str.endswith("mean").any()
