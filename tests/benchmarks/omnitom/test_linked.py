"""OmniToM's linked ToMBench questions: options shuffled, five tries, the majority counts."""

import json
import random

import pandas as pd
import pytest

import replies
from omnitom_stories import record
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.items.compose import KEYS, linked_items
from tomlab.benchmarks.omnitom.metrics import by_question

YES_NO = ["Yes", "No"]
FOUR = ["box", "bag", "bowl", "bin"]


def asked(answers, options=FOUR):
    """Stories, each with one question that is answered so, as records and ToMBench's stories."""
    records = []
    stories = []
    for number, answer in enumerate(answers, start=1):
        story = f"Ada{number} hides key{number} in tree{number}."
        question = {
            "source_row": number,
            "question": "Where is it?",
            "choices": options,
            "answer": answer,
        }
        records.append(record(story_id=number, story=story))
        stories.append(("Hinting Task Test", story, [question]))
    return records, pd.DataFrame(stories, columns=["story_category", "story", "questions"])


def named(items, options, **fields):
    """Responses that name these options, one a try; other texts, and None, as they stand."""
    texts = []
    for choices, option in zip(items["choices"], options, strict=True):
        texts.append(f"({KEYS[choices.index(option)]})" if option in choices else option)
    return replies.answered(items, texts, "linked", **fields)


def scored(options):
    """The scores of one question whose tries name these options; "box", its A, is right."""
    items = linked_items(*asked(["box"]), tries=len(options))
    return omnitom.score(items, named(items, options))


def accuracy(scores, condition="all"):
    metrics = omnitom.metrics(scores).set_index(["metric", "condition"])
    return metrics.loc["linked_accuracy", condition]


def test_each_try_has_an_order_of_its_own_and_says_where_its_options_stood():
    items = linked_items(*asked(["bag"] * 20))
    assert items["item_id"].tolist()[4:6] == ["1/linked:1/try5", "2/linked:2/try1"]
    for choices, tried in zip(items["choices"], items["tried"].map(json.loads), strict=True):
        assert [FOUR[KEYS.index(letter)] for letter in tried["written"]] == choices
    assert set(items["answer"]) == {"bag"}
    places = [choices.index("bag") for choices in items["choices"]]
    assert min(places.count(place) for place in range(4)) >= 12


def test_order_is_fixed_by_the_seed_and_not_by_the_order_of_rows():
    records, tombench = asked(["box"] * 12)
    items = linked_items(records, tombench, 3).set_index("item_id")
    turned = linked_items(records[::-1], tombench[::-1], 3).set_index("item_id")
    pd.testing.assert_frame_equal(items, turned.loc[items.index])
    few = linked_items(records[4:6], tombench, 3, tries=2).set_index("item_id")
    pd.testing.assert_frame_equal(items.loc[few.index], few)
    other = linked_items(records, tombench, 4)
    assert items["choices"].tolist() != other["choices"].tolist()


def test_question_is_linked_to_the_story_of_its_category_alone():
    records, tombench = asked(["box", "bag"])
    records[0]["story_category"] = "Strange Story Task"
    assert set(linked_items(records, tombench)["group_id"]) == {"2"}


@pytest.mark.parametrize(
    ("options", "option", "votes"),
    [
        (["bag", "box", "bin", "box", "box"], "A", 3),
        (["bin", "bag", "box", "bag", "box"], "B", 2),  # of a tie what came up first
        (["bowl", "bin", "box", "bag"], "C", 1),
        (["bag", "Hm.", "box", "box", "Hm."], "", 2),
        (["box", "It depends.", "(A) or (B)", None, "box"], "", 3),
        # The tenth try comes after the second.
        (["bag", "bowl", "bin", "bag", "bowl", "box", "box", "bag", "box", "box"], "A", 4),
    ],
)
def test_most_votes_count_whatever_the_letter(options, option, votes):
    scores = scored(options)
    for rows in (scores, scores[::-1]):
        [question] = by_question(rows).to_dict("records")
        assert (question["option"], question["votes"]) == (option, votes)
        assert (question["tries"], question["score"]) == (len(options), option == "A")
    assert accuracy(scores)["value"] == (option == "A")


def test_tries_without_an_option_are_left_out_of_the_usable():
    usable = accuracy(scored(["box", "Hm.", "Hm.", "Hm.", "box"]), "all/usable")
    assert (usable["value"], usable["n"]) == (1, 1)


def test_letter_without_an_option_votes_for_none():
    items = linked_items(*asked(["Yes"], YES_NO), tries=3)
    scores = omnitom.score(items, named(items, ["(D)", "(C)", "Yes"]))
    assert scores["outcome"].tolist() == ["unparsed", "unparsed", "correct"]
    assert by_question(scores)["option"].tolist() == [""]


def test_n_counts_questions_and_intervals_cluster_on_stories():
    records, stories = asked(["box", "bag", "box"])
    stories["questions"] = [
        [question, question | {"source_row": 10 + question["source_row"]}]
        for [question] in stories["questions"]
    ]
    items = linked_items(records, stories)
    scores = omnitom.score(items, replies.of_baseline(omnitom, items, "gold", "linked"))
    row = accuracy(scores)
    assert (row["value"], len(scores), row["n"], row["n_groups"]) == (1, 30, 6, 3)
    assert omnitom.metrics(scores).query("metric == 'unusable'")["n"].tolist() == [30]


def test_repeats_of_a_question_are_counted_apart():
    items = linked_items(*asked(["box"]), tries=3)
    samples = [["box", "box", "bag"], ["bag", "bin", "bag"]]
    responses = [named(items, options, sample=number) for number, options in enumerate(samples)]
    scores = omnitom.score(items, pd.concat(responses))
    assert by_question(scores)["option"].tolist() == ["A", "B"]
    assert accuracy(scores)["value"] == 0.5


def test_numbers_do_not_depend_on_the_order_of_rows():
    draw = random.Random(0)
    items = linked_items(*asked(draw.choices(FOUR, k=30)))
    responses = named(items, draw.choices([*FOUR, "Hm."], k=len(items)))
    scores = omnitom.score(items, responses)
    mixed = omnitom.score(items.sample(frac=1), responses.sample(frac=1))
    pd.testing.assert_frame_equal(by_question(scores), by_question(mixed))
    metrics = [replies.sorted_rows(omnitom.metrics(rows)) for rows in (scores, mixed)]
    pd.testing.assert_frame_equal(*metrics)


def test_answering_b_to_everything_earns_what_chance_does():
    items = linked_items(*asked(["No"] * 256 + ["Yes"] * 144, YES_NO))
    scores = omnitom.score(items, replies.answered(items, "(B)", "linked"))
    assert accuracy(scores)["value"] == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("(B)", "B"),
        ("**[[B]]**.", "B"),
        ("`[[B]]`\n", "B"),
        ("Ada looks where she left it, so [[D]]", "D"),
        ("Not [[A]] but [[B]].", "B"),
        ("[[A]] or [[B]]", ""),
    ],
)
def test_letters_in_tombenchs_double_brackets_are_read_too(text, letter):
    items = linked_items(*asked(["box"]), tries=1)
    scores = omnitom.score(items, replies.answered(items, text, "linked"))
    written = json.loads(items["tried"][0])["written"]
    expected = written[KEYS.index(letter)] if letter else ""
    assert json.loads(scores["detail"][0])["option"] == expected
