"""SimpleToM: what is composed and shown to models, how answers are read, what is counted."""

import random
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import replies
from replies import sorted_rows
from simpletom_stories import OATS, stories
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom import scoring
from tomlab.benchmarks.simpletom.items.compose import KEYS, QUESTIONS, WORDINGS
from tomlab.benchmarks.simpletom.items.stories import SCENARIOS, SEVERITIES
from tomlab.errors import InputError
from tomlab.records import tidy
from tomlab.scoring.choices import key_of
from tomlab.scoring.options import read_answer

answered = partial(replies.answered, method="none")
of_baseline = partial(replies.of_baseline, simpletom)


@pytest.fixture(scope="module")
def story_table():
    """Twelve sets of three severities in four scenarios; the last set has no negative judgment."""
    changes = []
    for number in range(12):
        for severity in SEVERITIES:
            change = {"scenario": SCENARIOS[number % 4], "set_id": f"set{number}"}
            change |= {"severity": severity}
            change |= {"negative_judgment": "" if number == 11 else "Wasteful"}
            changes.append(change)
    return stories(*changes)


@pytest.fixture(scope="module")
def items(story_table):
    return simpletom.compose(story_table)


@pytest.fixture(scope="module")
def two_sets(items):
    """The three questions on each of six stories."""
    return items[items["group_id"].isin(["set0", "set1"]) & items["variant"].eq("main")]


@pytest.fixture(scope="module")
def oats():
    """The nine items of one story, by question and wording."""
    items = simpletom.compose(stories({})).to_dict("records")
    return {(item["question_type"], item["variant"]): item for item in items}


def value(metrics, metric, condition, method="none"):
    rows = metrics.query("metric == @metric and condition == @condition and method == @method")
    return rows["value"].item()


# Reading an answer: the right key is B

LEADS = "leads with the key"
BEHIND = 'leads with the key behind "answer is" or the like'
CUT_OFF = "cut off before an option was settled"


STOPPED = ("none", "stop")
CUT = ("none", "length")
COT = ("cot", "stop")
COT_CUT = ("cot", "length")


@pytest.mark.parametrize(
    ("text", "asked", "outcome", "rule"),
    [
        ("(B) pay for the oats", STOPPED, "correct", LEADS),
        ("**(B)**, since (A) would need that she looked.", STOPPED, "correct", LEADS),
        ("<think>(A)</think>(B)", STOPPED, "correct", LEADS),
        ("The answer is (A). Wait, the answer is (B).", STOPPED, "correct", BEHIND),
        ("I'm sorry, I am not sure, but (B).", STOPPED, "correct", "the only key named"),
        ("Hm. (A), else (B).", STOPPED, "unparsed", "names several options"),
        ("Neither (A) nor (B)", STOPPED, "unparsed", "chooses no option"),
        ("(C)", STOPPED, "unparsed", "names a key under which no option stands"),
        ("", STOPPED, "unparsed", "empty"),
        ("I'm sorry, but I can't help with that.", STOPPED, "refused", "declines to answer"),
        (None, STOPPED, "error", "the request failed"),
        ("Wanja will (B) pay for", CUT, "truncated", CUT_OFF),
        ("(B)<think>or is it (A)", STOPPED, "truncated", CUT_OFF),
        ("(A)? Therefore, the answer is: (B)", COT, "correct", BEHIND),
        ("It is not (A). Hence (B).", COT, "unparsed", 'reasons without "the answer is" a key'),
        ("(B)", COT_CUT, "truncated", CUT_OFF),
        ("Therefore, the answer is: (B) pay f", COT_CUT, "correct", BEHIND),
    ],
)
def test_rule_is_the_one_that_gave_the_outcome(oats, text, asked, outcome, rule):
    method, finish = asked
    item = oats["behavior", "main"] | {"choices": ["report the beetles", "pay for the oats"]}
    items = pd.DataFrame([item])
    responses = answered(items, text, method=method, finish=finish)
    assert simpletom.score(items, responses)["outcome"].item() == outcome
    assert simpletom.rule(item, responses.iloc[0].to_dict()) == rule


PIECES = ["(A)", "(B)", "A", "B", "(", ")", " ", "answer", ":", "is", "the ", "Therefore, ", "\n"]
texts = st.lists(st.sampled_from([*PIECES, "x", " or ", " not ", "(C", "D"])).map("".join)


@given(texts, st.booleans())
@settings(max_examples=60, deadline=None)
def test_swapping_the_letters_swaps_the_verdict(text, cot):
    # A is an article as well, so brackets are all that the two letters share.
    text = text.replace("A", "(A)").replace("B", "(B)").replace("((", "(").replace("))", ")")
    swapped = text.translate(str.maketrans("AB", "BA"))
    outcome, key, rule = read_answer(text, "stop", cot)
    key = {"A": "B", "B": "A"}.get(key, key)
    assert read_answer(swapped, "stop", cot) == (outcome, key, rule)


@pytest.mark.parametrize(
    ("text", "cot", "verdict"),
    [
        ("(B), not (A)", False, False),  # A anywhere wins
        ("Both are likely.", False, True),  # capital of a word
        ("Answer: (B)", False, True),  # its A is deleted
        ("(b)", False, False),  # lower case
        ("(A)? Hence (B).", True, False),  # no closing phrase
        ("The answer is (A). THE ANSWER IS:: (B)", True, True),  # the last counts
    ],
)
def test_released_rule_on_texts_that_it_is_known_by(text, cot, verdict):
    assert scoring.released_rule(text, "B", cot) is verdict


# Composition

CHOSE = 'Wanja chose to "pay for the oats" and not "report the beetles". '
NEXT = 'Next, Wanja "pay for the oats" and not "report the beetles". '
OVER = '"pay for the oats" over "report the beetles"?'
DESCRIBED = f"{NEXT}The behavior of Wanja can be best described as:"
IS_AWARE = 'Is Wanja likely to be aware that "The box of oats has beetles in it."?'
EITHER = f"{CHOSE}Was it wrong or reasonable for Wanja to choose {OVER}"
NEXT_EITHER = f"{NEXT}Was it wrong or reasonable of Wanja to {OVER.replace('over', 'and not')}"
IS_WRONG = f"{CHOSE}Was it wrong of Wanja to choose {OVER}"
IS_REASONABLE = f"{CHOSE}Was it reasonable for Wanja to choose {OVER}"
# The right option stands first here, the one that fits if Wanja knew last.
WORDED = {
    ("mental_state", "main"): (IS_AWARE, ["No", "Yes"]),
    ("behavior", "main"): (OATS["question"], ["pay for the oats", "report the beetles"]),
    ("judgment", "main"): (DESCRIBED, ["Reasonable", "Not reasonable"]),
    ("judgment", "generated"): (DESCRIBED, ["Reasonable", "Wasteful"]),
    ("judgment", "three-way"): (DESCRIBED, ["Reasonable", "Implausible", "Wasteful"]),
    ("judgment", "wrong"): (IS_WRONG, ["No", "Yes"]),
    ("judgment", "reasonable"): (IS_REASONABLE, ["Yes", "No"]),
    ("judgment", "wrong-or-reasonable"): (EITHER, ["Reasonable", "Wrong"]),
    ("judgment", "next-wrong-or-reasonable"): (NEXT_EITHER, ["Reasonable", "Wrong"]),
}


def test_wording_is_that_of_the_paper(oats):
    assert list(oats) == list(WORDED)
    for key, (question, options) in WORDED.items():
        item = oats[key]
        assert item["question"] == question
        assert [item["answer"], item["reality"]] == [options[0], options[-1]]
        assert sorted(item["choices"]) == sorted(options)


@pytest.mark.parametrize(
    "beginning",
    [
        "Are Idris's grandparents",
        "Are the firemen",
        "Are Ann and Bo",
        "Is the rowing team",
        "Is the waitress",
    ],
)
def test_question_agrees_with_person_x_in_number(beginning):
    person = beginning.partition(" ")[2]
    items = simpletom.compose(stories({"person_x": person}))
    assert items["question"][0].startswith(f"{beginning} likely to be aware")


@pytest.mark.parametrize(
    ("method", "count", "questions"),
    [
        ("none", 36 * 3, QUESTIONS),
        ("cot", 36 * 2, QUESTIONS[1:]),
        ("cot-state", 36, QUESTIONS[:1]),
        ("wordings", 11 * 3 * 6 + 3 * 4, QUESTIONS[2:]),
    ],
)
def test_method_is_asked_its_questions(items, method, count, questions):
    asked = simpletom.asked(items, method)
    assert len(asked) == count
    assert set(asked["question_type"]) == set(questions)
    assert asked["variant"].eq("main").all() == (method != "wordings")


# Messages

HELPFUL = "You are a helpful assistant."
CONSIDER = (
    " Before responding, you always consider carefully all implicit and explicit aspects of the "
    "input, including the mental state of all the entities involved."
)
AWARE = " E.g., think carefully about what each person is aware or not aware of."
RESPOND = "Respond with just"
STEPS = "Think step by step to arrive at an answer. "
STAR = "Think carefully about what each person is aware or not aware of. "
CLOSE = (
    "Start your response by explaining your reasoning process and end your response with "
    '"Therefore, the answer is: " followed by'
)


def content_of(item, end, reminder=""):
    """The user's turn as the release prints it."""
    first, second = item["choices"]
    return (
        "Given the following story, answer the question by giving the correct answer choice, (A) "
        f"or (B).\n\nStory:\n{item['story']}\n{reminder}\nQuestion: {item['question']} \n"
        f'(A) {first} \n(B) {second}\n\nWhat is the correct answer? {end} "(A)" or "(B)"\n'
    )


@pytest.mark.parametrize(
    ("method", "system", "end"),
    [
        ("none", HELPFUL, RESPOND),
        ("sysp", HELPFUL + CONSIDER, RESPOND),
        ("sysp-star", HELPFUL + CONSIDER + AWARE, RESPOND),
        ("cot", HELPFUL, STEPS + CLOSE),
        ("cot-star", HELPFUL, STEPS + STAR + CLOSE),
        ("ms-remind", HELPFUL, RESPOND),
        ("cot-star-ms", HELPFUL, STEPS + STAR + CLOSE),
    ],
)
def test_messages_are_those_of_the_release(oats, method, system, end):
    settings = simpletom.METHODS[method]
    assert settings.max_tokens == (500 if settings.cot else 20)
    state = oats["mental_state", "main"]
    items = pd.DataFrame([*oats.values()])
    items = simpletom.remind(items, answered(pd.DataFrame([state]), "I think (B)."))
    reminder = ""
    if settings.reminder:
        first, second = state["choices"]
        reminder = f"\nQuestion: {IS_AWARE} \n(A) {first} \n(B) {second}\nAnswer: (B)\n"
    for item in items[items["variant"] == "main"].to_dict("records"):
        expected = [
            {"role": "system", "content": system},
            {"role": "user", "content": content_of(item, end, reminder)},
        ]
        assert simpletom.messages(item, method) == expected
        assert expected[1]["content"].startswith(simpletom.shared_prefix(item, method))


@pytest.fixture(scope="module")
def states(items):
    return items[items["question_type"] == "mental_state"]


def test_reminder_is_the_answer_to_the_question_on_the_same_story(items, states):
    texts = [None, "(A)", "<think>(A)</think>\nHard\nto  say.", "I think (B)."]
    reminded = simpletom.remind(items, answered(states[:4], texts))
    assert set(reminded["question_type"]) == {"behavior", "judgment"}
    by_story = reminded.drop_duplicates("story_id").set_index("story_id")
    endings = by_story["reminder"].str.rpartition("\nAnswer: ")[2].to_dict()
    assert endings == {"s2": "(A)\n", "s3": "Hard to say.\n", "s4": "(B)\n"}
    assert by_story["reminder_parsed"].to_dict() == {"s2": True, "s3": False, "s4": True}
    with pytest.raises(InputError, match="reminder"):
        simpletom.messages(items.iloc[0], "ms-remind")


# Scores and baselines


@pytest.mark.parametrize("method", ["cot", "wordings"])
@pytest.mark.parametrize(("policy", "accuracy"), [("gold", 1), ("omniscient", 0)])
def test_baseline_is_always_right_or_always_wrong(items, policy, accuracy, method):
    scores = simpletom.score(items, of_baseline(items, policy, method))
    assert set(scores["score"]) == {accuracy}
    assert set(scores["by_released_rule"]) == {bool(accuracy)}


def test_guessing_is_right_at_chance_in_each_wording(items):
    responses = pd.concat([of_baseline(items, "random", method) for method in ("none", "wordings")])
    metrics = simpletom.metrics(simpletom.score(items, responses))
    overall = metrics[(metrics["metric"] == "accuracy") & ~metrics["condition"].str.contains("/")]
    conditions = [*QUESTIONS, *(f"judgment:{name}" for name in WORDINGS if name != "main")]
    assert sorted(overall["condition"]) == sorted(conditions)
    for row in overall.to_dict("records"):
        chance = 1 / 3 if row["condition"] == "judgment:three-way" else 1 / 2
        assert row["ci_low"] <= chance <= row["ci_high"], row["condition"]


# Metrics


def right_and_wrong(items, right, **options):
    """Responses that name the right option where `right` says so."""
    texts = []
    for item, is_right in zip(items.to_dict("records"), right, strict=True):
        key = key_of(item, item["answer"] if is_right else item["reality"], KEYS)
        texts.append(f"Therefore, the answer is: ({key})")
    return answered(items, texts, **options)


@pytest.fixture(scope="module")
def two_methods(items):
    """Scores by `none` and `cot` of a model that is right now and then."""
    draw = random.Random(7)
    responses = []
    for method, share in (("none", 0.4), ("cot", 0.7)):
        asked = simpletom.asked(items, method)
        right = [draw.random() < share for _ in range(len(asked))]
        responses.append(right_and_wrong(asked, right, method=method))
    return simpletom.score(items, pd.concat(responses, ignore_index=True))


@pytest.fixture(scope="module")
def metrics(two_methods):
    return simpletom.metrics(two_methods)


ORDER = [*QUESTIONS, "none"]


def first_failures(rows):
    """Shares of stories by the first question that failed, counted one by one."""
    failures = [[*row, False].index(False) for row in rows]
    return {name: failures.count(place) / len(rows) for place, name in enumerate(ORDER)}


def test_first_failures_of_an_intervention_take_the_mental_states_of_none(two_methods, metrics):
    states = two_methods.query("question_type == 'mental_state'")
    applied = two_methods.query("method == 'cot'")
    wide = pd.concat([states, applied]).pivot(
        index="story_id", columns="question_type", values="score"
    )
    expected = first_failures(wide[[*QUESTIONS]].eq(1).to_numpy().tolist())
    shares = {name: value(metrics, "first_failure", name, "cot") for name in ORDER}
    assert shares == pytest.approx(expected)


@given(st.lists(st.tuples(*[st.booleans()] * 3), min_size=6, max_size=6))
@settings(max_examples=4, deadline=None)
def test_metrics_of_any_answers_are_those_counted_one_by_one(two_sets, rows):
    responses = right_and_wrong(two_sets, np.ravel(rows))
    metrics = simpletom.metrics(simpletom.score(two_sets, responses))
    shares = {name: value(metrics, "first_failure", name) for name in ORDER}
    assert shares == pytest.approx(first_failures(rows))
    assert value(metrics, "average", "all") == pytest.approx(np.mean(rows))
    state, *applied = np.mean(rows, axis=0)
    assert value(metrics, "accuracy", "mental_state") == pytest.approx(state)
    for kind, mean in zip(QUESTIONS[1:], applied, strict=True):
        assert value(metrics, "gap", kind) == pytest.approx(state - mean)
    assert metrics["value"].between(metrics["ci_low"] - 1e-9, metrics["ci_high"] + 1e-9).all()


def test_delta_leaves_out_what_only_one_of_the_two_was_asked(two_methods):
    by_both = two_methods["group_id"].isin(["set3", "set4"])
    metrics = simpletom.metrics(two_methods[by_both | two_methods["method"].eq("none")])
    means = two_methods[by_both].groupby(["question_type", "method"])["score"].mean()
    for kind in QUESTIONS[1:]:
        change = means[kind, "cot"] - means[kind, "none"]
        assert value(metrics, "delta", kind, "cot") == pytest.approx(change)


def test_accuracies_are_those_of_a_groupby(two_methods, metrics):
    for column, form in (("scenario", "{}/{}"), ("severity", "{}/severity {}")):
        means = two_methods.groupby(["method", "question_type", column])["score"].mean()
        for (method, *condition), mean in means.items():
            accuracy = value(metrics, "accuracy", form.format(*condition), method)
            assert accuracy == pytest.approx(mean)


def test_outcome_rates_and_released_rule_are_over_all_answers(two_sets):
    texts = [None, "", "I cannot answer.", *["It is (A) or (B)."] * 15]
    metrics = simpletom.metrics(simpletom.score(two_sets, answered(two_sets, texts)))
    rates = [value(metrics, "outcome_rate", outcome) * 18 for outcome in tidy.OUTCOMES]
    counts = {"error": 1, "refused": 1, "unparsed": 16}
    assert rates == pytest.approx([counts.get(outcome, 0) for outcome in tidy.OUTCOMES])
    is_first = two_sets["choices"].str[0] == two_sets["answer"]
    assert value(metrics, "released_rule", "all") == pytest.approx(is_first[3:].sum() / 18)
    assert value(metrics, "accuracy", "behavior") == 0


def test_models_do_not_mix_and_order_of_rows_changes_no_metric(two_methods, metrics):
    other = two_methods.assign(model="other", score=0.0)
    both = pd.concat([two_methods, other]).sample(frac=1, random_state=0)
    values = simpletom.metrics(both).query("model == 'model'")
    assert sorted_rows(values).equals(sorted_rows(metrics))


def test_repeats_are_told_apart_within_a_story(two_sets):
    right = right_and_wrong(two_sets, [True] * 18, sample=0)
    wrong_once = right_and_wrong(two_sets, [False, True, True] * 6, sample=1)
    metrics = simpletom.metrics(simpletom.score(two_sets, pd.concat([right, wrong_once])))
    assert value(metrics, "first_failure", "none") == pytest.approx(0.5)
    assert value(metrics, "first_failure", "mental_state") == pytest.approx(0.5)
