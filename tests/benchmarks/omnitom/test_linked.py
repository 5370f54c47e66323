"""OmniToM's linked ToMBench questions: options shuffled, five tries, the majority counts."""

import json
import random

import pandas as pd
import pytest

import replies
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.items.compose import KEYS, linked_items
from tomlab.benchmarks.omnitom.metrics import by_question
from tomlab.records import tidy

YES_NO, FOUR = ["Yes", "No"], ["box", "bag", "bowl", "bin"]


def told(answers, options=YES_NO):
    """Stories, each with one question that is answered so, as records and ToMBench's stories."""
    records, stories = [], []
    for number, answer in enumerate(answers, start=1):
        story = f"Ada{number} hides key{number} in tree{number}."
        own = {"story_id": number, "story_category": "Hinting Task Test", "source": "authored"}
        records.append(own | {"story": story, "beliefs": []})
        asked = {"source_row": number, "question": "Where is it?"}
        asked |= {"choices": list(options), "answer": answer}
        known = {"story_category": "Hinting Task Test", "story": story}
        stories.append(known | {"questions": [asked]})
    return records, pd.DataFrame(stories)


def names(items, options, **response):
    """Responses that name these options, one a try; None: no answer, other texts as they stand."""
    said = []
    for item, option in zip(items.to_dict("records"), options, strict=True):
        choices = list(item["choices"])
        said.append(f"({KEYS[choices.index(option)]})" if option in choices else option)
    return replies.answered(items, said, "linked", **response)


def accuracy(scores, condition="all"):
    metrics = omnitom.metrics(scores).set_index(["metric", "condition"])
    return metrics.loc[("linked_accuracy", condition)]


def answered(options, right="box", written=FOUR, tries=None):
    """The scores of one question whose tries name these options."""
    items = linked_items(*told([right], written), tries=tries or len(options))
    return omnitom.score(items, names(items, options))


# The items


def test_each_try_has_an_order_of_its_own_and_says_where_its_options_stood():
    items = linked_items(*told(["bag"] * 20, FOUR))
    assert items["item_id"].tolist()[:2] == ["1/linked:1/try1", "1/linked:1/try2"]
    assert len(items) == 100
    tried = items["tried"].map(json.loads)
    for choices, how in zip(items["choices"], tried, strict=True):
        assert [FOUR[KEYS.index(letter)] for letter in how["written"]] == choices
    assert [(how["question"], how["try"]) for how in tried[5:7]] == [
        ("2/linked:2", 1),
        ("2/linked:2", 2),
    ]
    assert set(items["answer"]) == {"bag"}
    places = items["choices"].map(lambda choices: choices.index("bag")).value_counts()
    assert sorted(places.index) == [0, 1, 2, 3]
    assert places.min() >= 12
    assert items.groupby("group_id")["choices"].agg(lambda own: len(set(map(tuple, own)))).max() > 3


def test_order_is_fixed_by_the_seed_and_not_by_the_order_of_rows():
    records, tombench = told(["Yes"] * 12)
    items = linked_items(records, tombench, 3).set_index("item_id")
    turned = linked_items(records[::-1], tombench[::-1], 3).set_index("item_id")
    pd.testing.assert_frame_equal(items, turned.loc[items.index])
    few = linked_items(records[4:6], tombench, 3, tries=2).set_index("item_id")
    pd.testing.assert_frame_equal(items.loc[few.index], few)
    other = linked_items(records, tombench, 4).set_index("item_id")
    assert (items["choices"].map(tuple) != other["choices"].map(tuple)).any()


def test_question_is_linked_to_the_story_of_its_category_alone():
    records, tombench = told(["Yes", "No"])
    records[0]["story_category"] = "Strange Story Task"
    assert set(linked_items(records, tombench)["group_id"]) == {"2"}


# Answers in the form that ToMBench asks for


@pytest.mark.parametrize("form", ["[[{}]]", "[[{}]].", "**[[{}]]**", "**[[{}]]**.", "`[[{}]]`\n"])
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_letter_in_two_brackets_alone_is_an_answer(form, finish):
    items = linked_items(*told(["bag"], FOUR), tries=4)
    places = [KEYS[list(choices).index("bag")] for choices in items["choices"]]
    said = [form.format(letter) for letter in places]
    scores = omnitom.score(items, replies.answered(items, said, "linked", finish=finish))
    assert scores["outcome"].tolist() == ["correct"] * 4


# The majority


def test_option_named_by_most_tries_counts_whatever_its_letter():
    scores = answered(["bag", "box", "bin", "box", "box"])
    assert scores["score"].tolist() == [0, 1, 0, 1, 1]
    [question] = by_question(scores).to_dict("records")
    assert (question["option"], question["votes"], question["tries"]) == ("A", 3, 5)
    assert question["score"] == 1
    assert accuracy(scores)["value"] == 1


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (["box", "bag", "bag", "box", "bag"], "B"),
        (["bin", "bag", "box", "bag", "box"], "B"),
        (["bin", "box", "bag", "bag", "box"], "A"),
        (["bowl", "bin", "box", "bag"], "C"),
        (["bag", "Hm.", "box", "box", "Hm."], ""),
    ],
)
def test_most_votes_count_and_a_tie_goes_to_what_came_up_first(options, option):
    scores = answered(options)
    for rows in (scores, scores[::-1]):
        assert by_question(rows)["option"].tolist() == [option]
    assert accuracy(scores)["value"] == (option == "A")


@pytest.mark.parametrize("lost", ["It depends.", "(A) or (B)", "", "I'm sorry, no.", None])
def test_try_without_an_option_votes_for_none_and_is_left_out_of_the_usable(lost):
    scores = answered(["box", lost, lost, lost, "box"])
    [question] = by_question(scores).to_dict("records")
    assert (question["option"], question["votes"], question["score"]) == ("", 3, 0)
    assert accuracy(scores)["value"] == 0
    usable = accuracy(scores, "all/usable")
    assert (usable["value"], usable["n"]) == (1, 1)
    scores = answered(["box", lost, lost, "box", "box"])
    assert accuracy(scores)["value"] == 1


def test_letter_without_an_option_votes_for_none():
    scores = answered(["(D)", "(C)", "(D)", "Yes", "Yes"], "Yes", YES_NO)
    assert scores["outcome"].tolist() == ["unparsed"] * 3 + ["correct"] * 2
    assert by_question(scores)["option"].tolist() == [""]


def test_tenth_try_comes_after_the_second():
    options = ["bin", "bag", "bowl", "bin", "bag", "bowl", "box", "box", "bag", "box", "bin"]
    assert by_question(answered(options))["option"].tolist() == ["D"]
    assert by_question(answered([*options[1:-1], "box"]))["option"].tolist() == ["A"]


# The numbers


def test_n_counts_questions_and_intervals_cluster_on_stories():
    records, stories = told(["Yes", "No", "Yes"])
    second = [q | {"source_row": q["source_row"] + 10} for [q] in stories["questions"]]
    own = zip(stories["questions"], second, strict=True)
    stories["questions"] = [[*first, other] for first, other in own]
    items = linked_items(records, stories)
    scores = omnitom.score(items, names(items, items["answer"].tolist()))
    row = accuracy(scores)
    assert (len(scores), row["n"], row["n_groups"]) == (30, 6, 3)
    metrics = omnitom.metrics(scores)
    assert metrics.query("metric == 'unusable'")["n"].tolist() == [30]


def test_repeats_of_a_question_are_counted_apart():
    items = linked_items(*told(["box"], FOUR), tries=3)
    samples = [["box", "box", "bag"], ["bag", "bin", "bag"]]
    both = [names(items, options, sample=number) for number, options in enumerate(samples)]
    scores = omnitom.score(items, pd.concat(both))
    assert by_question(scores)["option"].tolist() == ["A", "B"]
    assert accuracy(scores)["value"] == 0.5


def test_numbers_do_not_depend_on_the_order_of_rows():
    draw = random.Random(0)
    items = linked_items(*told(draw.choices(FOUR, k=30), FOUR))
    responses = names(items, draw.choices([*FOUR, "Hm."], k=len(items)))
    scores = omnitom.score(items, responses)
    mixed = omnitom.score(
        items.sample(frac=1, random_state=1), responses.sample(frac=1, random_state=2)
    )
    same = [by_question(rows) for rows in (scores, mixed)]
    pd.testing.assert_frame_equal(*same)
    one, other = (replies.sorted_rows(omnitom.metrics(rows)) for rows in (scores, mixed))
    assert one.equals(other)


def test_answering_b_to_everything_earns_what_chance_does_as_options_are_shuffled():
    items = linked_items(*told(["No"] * 256 + ["Yes"] * 144))
    responses = replies.answered(items, "(B)", "linked")
    assert accuracy(omnitom.score(items, responses))["value"] == pytest.approx(0.5, abs=0.06)


# The reading


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ("(B)", "B"),
        ("[[B]]", "B"),
        ("The answer is [[C]].", "C"),
        ("Ada looks where she left it, so [[D]]", "D"),
        ("Not [[A]] but [[B]].", "B"),
        ("[[A]] or [[B]]", ""),
    ],
)
def test_letters_in_tombenchs_double_brackets_are_read_too(said, option):
    items = linked_items(*told(["box"], FOUR), tries=1)
    scores = omnitom.score(items, replies.answered(items, said, "linked"))
    written = json.loads(items["tried"][0])["written"]
    place = written[KEYS.index(option)] if option else ""
    assert json.loads(scores["detail"][0])["option"] == place
    assert tidy.check(scores, "scores") is scores
