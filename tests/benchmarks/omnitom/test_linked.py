"""OmniToM's linked ToMBench questions: options shuffled, five tries, the majority counts."""

import json

import pandas as pd
import pytest

import replies
from omnitom_stories import record
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.items.compose import KEYS, linked_items
from tomlab.benchmarks.omnitom.metrics import by_question

OPTIONS = ["box", "bag", "bowl", "bin"]


def asked(answers):
    """Stories, each with one question that is answered so, as records and ToMBench's stories."""
    records = []
    stories = []
    for number, answer in enumerate(answers, start=1):
        story = f"Ada{number} hides key{number} in tree{number}."
        question = {"source_row": number, "question": "Where is it?", "choices": OPTIONS}
        records.append(record(story_id=number, story=story))
        stories.append(("Hinting Task Test", story, [question | {"answer": answer}]))
    return records, pd.DataFrame(stories, columns=["story_category", "story", "questions"])


def naming(items, options, **fields):
    """Responses that name these options, one a try; other texts as they stand."""
    texts = []
    for choices, option in zip(items["choices"], options, strict=True):
        texts.append(f"({KEYS[choices.index(option)]})" if option in choices else option)
    return replies.answered(items, texts, "linked", **fields)


def scored(options):
    """The scores of one question whose tries name these options; "box", its A, is right."""
    items = linked_items(*asked(["box"]), tries=len(options))
    return omnitom.score(items, naming(items, options))


def accuracy(scores, condition="all"):
    metrics = omnitom.metrics(scores).set_index(["metric", "condition"])
    return metrics.loc["linked_accuracy", condition]


def test_each_try_has_an_order_of_its_own_and_says_where_its_options_stood():
    items = linked_items(*asked(["bag"] * 20))
    assert items["item_id"].tolist()[4:6] == ["1/linked:1/try5", "2/linked:2/try1"]
    for choices, tried in zip(items["choices"], items["tried"].map(json.loads), strict=True):
        assert [OPTIONS[KEYS.index(letter)] for letter in tried["written"]] == choices
    assert set(items["answer"]) == {"bag"}
    places = [choices.index("bag") for choices in items["choices"]]
    assert min(places.count(place) for place in range(4)) >= 12


def test_order_is_fixed_by_the_seed_and_not_by_other_rows():
    records, tombench = asked(["box"] * 12)
    items = linked_items(records, tombench, 3).set_index("item_id")
    part = linked_items(records[6:4:-1], tombench[::-1], 3, tries=2).set_index("item_id")
    pd.testing.assert_frame_equal(items.loc[part.index], part)
    by_other_seed = linked_items(records, tombench, 4)
    assert items["choices"].tolist() != by_other_seed["choices"].tolist()


def test_question_is_linked_to_the_story_of_its_category_alone():
    records, tombench = asked(["box", "bag"])
    records[0]["story_category"] = "Strange Story Task"
    assert set(linked_items(records, tombench)["group_id"]) == {"2"}


@pytest.mark.parametrize(
    ("tries", "option", "votes"),
    [
        ("bag, box, bin, box, box", "A", 3),
        ("bin, bag, box, bag, box", "B", 2),  # of a tie what came up first
        ("bag, Hm., box, box, Hm.", "", 2),
        ("box, It depends., (A) or (B), Hm., box", "", 3),
        # The tenth try comes after the second.
        ("bag, bowl, bin, bag, bowl, box, box, bag, box, box", "A", 4),
    ],
)
def test_most_votes_count_whatever_the_letter_and_the_order_of_rows(tries, option, votes):
    scores = scored(tries.split(", "))
    for rows in (scores, scores[::-1]):
        [question] = by_question(rows).to_dict("records")
        assert (question["option"], question["votes"]) == (option, votes)
        assert (question["tries"], question["score"]) == (len(scores), option == "A")
    assert accuracy(scores)["value"] == (option == "A")


def test_tries_without_an_option_are_left_out_of_the_usable():
    usable = accuracy(scored(["box", "Hm.", "Hm.", "Hm.", "box"]), "all/usable")
    assert (usable["value"], usable["n"]) == (1, 1)


def test_n_counts_questions_and_intervals_cluster_on_stories():
    records, stories = asked(["box", "bag", "box"])
    for questions in stories["questions"]:
        questions.append(questions[0] | {"source_row": 10 + questions[0]["source_row"]})
    items = linked_items(records, stories)
    scores = omnitom.score(items, replies.of_baseline(omnitom, items, "gold", "linked"))
    assert accuracy(scores)[["value", "n", "n_groups"]].tolist() == [1, 6, 3]
