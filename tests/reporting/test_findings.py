"""What a run says of a model: one example of every kind of sentence, and what is never said."""

from itertools import product
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fantom_metrics
import omnitom_metrics
from tomlab.benchmarks.bigtom import metrics as metrics_of_bigtom
from tomlab.benchmarks.bigtom import paper as bigtom
from tomlab.benchmarks.bigtom.metrics import series
from tomlab.benchmarks.fantom import paper as fantom
from tomlab.benchmarks.omnitom import paper as omnitom
from tomlab.benchmarks.simpletom import metrics as metrics_of_simpletom
from tomlab.benchmarks.simpletom import paper as simpletom
from tomlab.papers.bigtom.tables import WORDS as OF_BIGTOM
from tomlab.papers.fantom.tables import WORDS as OF_FANTOM
from tomlab.papers.omnitom.tables import WORDS as OF_OMNITOM
from tomlab.papers.simpletom.tables import WORDS as OF_SIMPLETOM
from tomlab.reporting import findings
from tomlab.reporting.findings import Run, standing, told
from tomlab.scoring import paired
from tomlab.scoring.variants import variants

VARIABLES = ("forward_belief", "forward_action", "backward_belief")
QUESTIONS = ("mental_state", "behavior", "judgment")
NOTHING = variants(pd.DataFrame(columns=["model"]), pd.DataFrame(), "group_id")
NO_PAIRS = paired.differences("demo", [])


def answers(rows, model="mine", **same):
    """Scores of answers; rows: what differs between them, with `outcome`."""
    scores = pd.DataFrame(rows).assign(model=model, sample=0, source="authored", **same)
    scores = scores.assign(score=scores["outcome"].eq("correct").astype(float))
    read = scores["outcome"].isin(["correct", "wrong"])
    scores["chosen"] = pd.Series("an option", scores.index).where(read)
    return scores.assign(by_released_rule=scores["outcome"].eq("correct"), completion_tokens=1)


def templates(is_right, n=100, method="0-shot", **same):
    """BigToM's scores of n templates; is_right: of template, variable and whether belief is true."""
    rows = [
        {
            "item_id": f"{template}/{variable}/{condition}/1",
            "group_id": f"t{template:03}",
            "variable": variable,
            "condition": condition,
            "initial_belief": 1,
            "outcome": "correct" if is_right(template, variable, is_true) else "wrong",
        }
        for template, variable in product(range(n), VARIABLES)
        for condition, is_true in (("true_belief", True), ("false_belief", False))
    ]
    return answers(rows, method=method, **same)


def stories(outcome, n=60, method="none"):
    """SimpleToM's scores of n stories, one a set; outcome: of story and question."""
    rows = [
        {
            "item_id": f"{story}/{question}",
            "group_id": f"s{story:03}",
            "story_id": f"s{story:03}",
            "question_type": question,
            "variant": "main",
            "scenario": "locked devices accounts",
            "severity": 1,
            "outcome": outcome(story, question),
        }
        for story, question in product(range(n), QUESTIONS)
    ]
    return answers(rows, method=method)


def of_bigtom(scores, varied=NOTHING, found=NO_PAIRS):
    run = Run(metrics_of_bigtom(scores), scores, varied, found)
    return told(run, "mine", bigtom, OF_BIGTOM)


def of_simpletom(scores):
    run = Run(metrics_of_simpletom(scores), scores, NOTHING, NO_PAIRS)
    return told(run, "mine", simpletom, OF_SIMPLETOM)


def half(template, *_):
    return template % 2 == 0


def only(sentences, *parts):
    """The one sentence that has all the parts."""
    [one] = [each for each in sentences if all(part in each for part in parts)]
    return one


# ---- at chance or not ----------------------------------------------------------------------------


def test_half_right_of_400_is_at_chance_with_its_number_interval_n_and_groups():
    assert only(of_bigtom(templates(half, n=400)), "forward beliefs when the belief is false") == (
        "mine is at chance on forward beliefs when the belief is false (.50 [.45, .55], "
        "n = 400 answers of 400 templates; chance .50)."
    )


def test_half_right_of_20_can_not_be_told_from_chance():
    sentence = only(of_bigtom(templates(half, n=20)), "forward actions when the belief is true")
    assert sentence.startswith("mine can't be told from chance on forward actions")


def test_always_right_is_above_chance_and_both_versions_are_held_against_a_quarter():
    found = of_bigtom(templates(lambda *_: True))
    assert only(found, "above", "backward beliefs when the belief is true")
    assert "chance .25" in only(found, "above chance on both versions of a forward belief")


def test_never_right_is_below_chance_and_says_what_unread_answers_count_as():
    sentence = only(of_simpletom(stories(lambda *_: "wrong")), "questions about behavior")
    assert sentence.startswith("mine is below chance on questions about behavior (.00 [.00, ")
    assert sentence.endswith("what can't be read counts as wrong).")


def test_without_a_known_chance_the_number_stands_alone():
    found = of_omnitom(extraction(0.5, 0.5))
    assert only(found, "F1 of extraction: ").startswith("mine, F1 of extraction: .")


# ---- which way it errs ---------------------------------------------------------------------------


def test_who_is_right_where_the_belief_is_true_alone_answers_as_if_everybody_knew():
    found = of_bigtom(templates(lambda template, variable, is_true: is_true))
    assert "leans to what is true of the world" in only(found, "1.00 [", "n = 600 answers")


def test_who_is_right_where_the_belief_is_false_alone_leans_away_from_the_world():
    assert only(of_bigtom(templates(lambda *a: not a[2])), "leans away from what is true", ".00 [")


def test_who_is_always_right_leans_nowhere():
    assert only(of_bigtom(templates(lambda *_: True)), "leans neither to what is true", ".50 [")


def test_a_pair_of_which_one_answer_is_unread_tells_no_lean():
    scores = templates(lambda *a: a[2])
    lost = scores["condition"].eq("false_belief")
    scores.loc[lost, ["outcome", "chosen"]] = "unparsed", None
    assert not [sentence for sentence in of_bigtom(scores) if "lean" in sentence]


def choices(outcome, n=40):
    rows = [
        {"group_id": f"s{n}", "conversation_id": f"c{n}", "item_id": f"c{n}", "outcome": outcome}
        for n in range(n)
    ]
    return answers(rows, method="short", question_type="belief_choice", scenario="inaccessible")


def of_fantom(scores, n_groups=20):
    made = fantom_metrics.metrics("mine").assign(n_groups=n_groups)
    return told(Run(made, scores, NOTHING, NO_PAIRS), "mine", fantom, OF_FANTOM)


def test_wrong_choices_about_what_someone_missed_are_the_omniscient_view():
    sentence = only(of_fantom(choices("wrong")), "the omniscient view")
    assert sentence.startswith("mine leans to the omniscient view: 1.00 [")
    assert "n = 40 readable choices of 40 conversations" in sentence
    assert only(of_fantom(choices("correct")), "but to X's own: .00 [")


def test_wrong_judgments_are_not_reasonable_and_unread_ones_are_left_out():
    found = of_simpletom(stories(lambda story, _: "wrong" if story % 3 else "unparsed"))
    assert "n = 40 readable judgments" in only(found, 'errs to "not reasonable": 1.00 [')
    assert only(of_simpletom(stories(lambda *_: "correct")), 'leans to "reasonable": .00 [')


def extraction(precision, recall, n=30):
    rows = [{"item_id": f"s{n}", "group_id": f"s{n}", "outcome": "correct"} for n in range(n)]
    scores = answers(rows, method="stage1-L3", stage=1, precision=precision, recall=recall)
    return scores.assign(family=scores["group_id"]).drop(columns="chosen")


def of_omnitom(scores, made=None):
    made = omnitom_metrics.metrics("mine") if made is None else made
    return told(Run(made, scores, NOTHING, NO_PAIRS), "mine", omnitom, OF_OMNITOM)


def test_precision_against_recall_says_whether_beliefs_are_added_or_left_out():
    assert only(of_omnitom(extraction(0.9, 0.2)), "leaves out more beliefs", "0.70 [")
    assert only(of_omnitom(extraction(0.2, 0.9)), "adds more beliefs", "−0.70 [")


# ---- places, orders and wordings -----------------------------------------------------------------


def varied_of(first, second, n=40, name="reversed", method="0-shot"):
    """Rows of `variants` of n questions; first, second: what was chosen as asked and otherwise."""
    items = pd.DataFrame({"item_id": [f"q{i}" for i in range(n)], "choices": [["yes", "no"]] * n})
    parts = [
        pd.DataFrame({"item_id": items["item_id"], "group_id": items["item_id"], "sample": sample})
        .assign(model="mine", method=method, asked_as=asked_as, outcome="wrong", chosen=chosen)
        .assign(score=float(chosen == "yes"))
        for sample, (asked_as, chosen) in enumerate((("", first), (name, second)))
    ]
    return variants(pd.concat(parts), items, "group_id")


def test_who_takes_what_stands_first_in_both_orders_prefers_the_place():
    found = of_bigtom(templates(half), varied_of("yes", "no"))
    assert only(found, "prefers the option shown first (1.00 [", "n = 80 answers of 40 templates")
    assert only(found, "keeps its answer when the two options change places less often")
    assert only(of_bigtom(templates(half), varied_of("no", "yes")), "prefers the option shown last")


def test_who_says_the_same_in_both_orders_prefers_no_place():
    found = of_bigtom(templates(half), varied_of("yes", "yes", n=200))
    assert only(found, "prefers no place among the options", ".50 [")
    assert only(found, "keeps its answer", "more often than a guess would (1.00 [")
    assert only(found, "scores about the same when the two options change places")


def test_a_wording_is_told_by_its_name_without_a_guess_beside_it():
    found = of_bigtom(templates(half), varied_of("yes", "no", name="plainer"))
    same = only(found, 'gives the same answer in the wording "plainer": .00 [')
    assert "guess" not in same
    assert only(found, 'scores less in the wording "plainer" (difference −1.00 [')


# ---- which question fails first ------------------------------------------------------------------


def test_the_question_that_most_stories_fail_first_is_named():
    def outcome(story, question):
        return "wrong" if question == ("behavior" if story % 6 else "judgment") else "correct"

    sentence = only(of_simpletom(stories(outcome)), "fails first at")
    assert sentence.startswith("mine most often fails first at behavior (.83 [")
    assert "First failures: mental state .00 [" in sentence and "judgment .17 [" in sentence
    assert only(of_simpletom(stories(outcome)), "all three questions of a story right: .00 [")


def test_which_fails_first_is_open_where_two_do_alike():
    def is_right(template, variable, is_true):
        return variable != VARIABLES[template % 2]

    sentence = only(of_bigtom(templates(is_right)), "First failures")
    assert sentence.startswith("Which question mine most often fails first can't be told.")
    assert "forward belief .50 [" in sentence and "n = 100 templates)" in sentence


def test_fantoms_sets_fail_at_the_first_kind_of_question_that_is_not_all_right():
    kinds = {"belief_choice": "correct", "answerability_list": "correct"}
    kinds |= {"answerability_yn": "wrong", "infoaccess_list": "wrong", "infoaccess_yn": "wrong"}
    parts = [choices(outcome).assign(question_type=kind) for kind, outcome in kinds.items()]
    found = of_fantom(pd.concat(parts))
    assert only(found, "most often fails first at answerability (1.00 [", "40 question sets of 40")


def test_orders_of_belief_that_lose_most_are_named_if_intervals_part_them():
    made = omnitom_metrics.metrics("mine")
    for place, value in (("order 0", 0.9), ("order 1", 0.5), ("order 2+", 0.1)):
        own = made["metric"].eq("f1") & made["condition"].eq(place)
        made.loc[own, ["value", "ci_low", "ci_high"]] = value, value - 0.05, value + 0.05
    found = of_omnitom(extraction(0.5, 0.5), made)
    assert only(
        found, "F1 of extraction is lowest on order 2 and above (.10 [", "on order 0 (.90 ["
    )
    made.loc[made["condition"].str.startswith("order"), ["ci_low", "ci_high"]] = 0.0, 1.0
    assert only(of_omnitom(extraction(0.5, 0.5), made), "Where mine's F1 of extraction is lowest")


# ---- differences, and what could not be read -----------------------------------------------------


def test_a_method_that_differs_is_named_and_one_that_does_not_is_not():
    thinks, same = (templates(f, method=m) for f, m in ((lambda *_: True, "1-shot"), (half, "cot")))
    scores = pd.concat([templates(half), thinks, same])
    found = paired.differences("bigtom", series(scores), bigtom.HEADLINES.values(), ["0-shot"])
    sentence = only(of_bigtom(scores, found=found), "on forward-belief than with 0-shot")
    assert sentence.startswith("With 1-shot mine scores more on forward-belief than with 0-shot")
    assert "difference 0.50 [" in sentence and "n = 100 pairs of 100 templates" in sentence


def test_answers_that_could_not_be_read_are_told_from_one_in_twenty_on():
    def lost(share):
        return of_simpletom(stories(lambda story, _: "truncated" if story < share else "correct"))

    assert only(lost(6), "With method none, .10 of the answers of mine", "truncated .10 [")
    assert not [sentence for sentence in lost(3) if "could not be scored" in sentence]


# ---- what is never said --------------------------------------------------------------------------

OUTCOMES = st.sampled_from(["correct", "wrong", "unparsed"])


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 9), st.data())
def test_nothing_is_found_in_fewer_than_ten_groups(n, data):
    drawn = data.draw(st.lists(OUTCOMES, min_size=3 * n, max_size=3 * n))
    place = {name: number for number, name in enumerate(QUESTIONS)}
    found = of_simpletom(stories(lambda story, question: drawn[3 * story + place[question]], n=n))
    [sentence] = found
    assert sentence.startswith("Nothing can be said of mine yet: ")
    assert sentence.endswith("are of fewer than 10 entity sets.")


@settings(max_examples=15, deadline=None)
@given(st.integers(5, 60), st.booleans())
def test_who_is_at_chance_is_never_called_above_or_below(n, turned):
    found = of_bigtom(templates(lambda *of: half(*of) is not turned, n=2 * n))
    single = [each for each in found if "chance .50" in each]
    assert len(single) == 6
    assert not [each for each in single if "above" in each or "below" in each]


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_an_interval_that_holds_a_level_is_at_it_or_open(one, other, even):
    low, high = sorted((one, other))
    found = standing(SimpleNamespace(ci_low=low, ci_high=high), even)
    assert (found in ("at", "open")) == (low <= even <= high)
    assert found != "at" or high - low <= 2 * findings.NEAR + 1e-9


def test_ten_groups_are_enough_and_those_left_out_are_counted():
    found = of_simpletom(stories(lambda *_: "wrong", n=10))
    assert only(found, "below chance on questions about judgment")
    mixed = pd.concat([stories(lambda *_: "wrong", n=12), stories(half_right, n=4, method="cot")])
    assert only(of_simpletom(mixed), "Left out: 1 of ", "fewer than 10 entity sets")


def half_right(story, question):
    return "correct" if story % 2 else "wrong"


# ---- how it is shown -----------------------------------------------------------------------------


def test_baselines_get_no_findings_and_signs_of_markdown_are_shown_as_they_are():
    scores = pd.concat([templates(half), templates(half, n=20)], keys=["my$model_1", "random"])
    scores = scores.assign(model=scores.index.get_level_values(0)).reset_index(drop=True)
    run = Run(metrics_of_bigtom(scores), scores, NOTHING, NO_PAIRS)
    text = findings.show(run, ["my$model_1", "random"], bigtom, OF_BIGTOM).data
    assert text.startswith("**my\\$model\\_1**, method 0-shot where no other is named:\n\n- my\\$")
    assert "random" not in text
    alone = findings.show(run, ["random", "omniscient"], bigtom, OF_BIGTOM).data
    assert alone.startswith("Only baselines were run.")


@pytest.mark.parametrize("words", [OF_BIGTOM, OF_FANTOM, OF_SIMPLETOM, OF_OMNITOM])
def test_no_sentence_speaks_of_significance(words):
    assert "significan" not in str(words["findings"]).lower()
    assert "significan" not in str(findings.WORDS["findings"]).lower()
