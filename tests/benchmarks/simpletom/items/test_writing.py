"""Asking models for entities, stories, annotations, words and ratings, and what becomes of answers."""

import pandas as pd
import pytest

from scripted_writers import ERROR, asked, said, wrote
from simpletom_stories import stories
from simpletom_texts import (
    EXAM,
    GOOD,
    GOOD_ANSWERS,
    GROCERY,
    OATS_SET,
    OTHER_TRIO,
    PARSED,
    PLAIN,
    QUIZ_SET,
    TRIO,
    WRITTEN,
    written_sets,
)
from tomlab.benchmarks.simpletom.items import writing
from tomlab.benchmarks.simpletom.items.filtering import ANNOTATION_COLUMNS
from tomlab.benchmarks.simpletom.items.formats import written_out
from tomlab.benchmarks.simpletom.items.stories import COLUMNS, story_table

SCENARIO_TEXTS = pd.DataFrame(
    [[GROCERY, "Boxes are closed", "X buys Z."], [EXAM, "X is elsewhere", "Y does Z."]],
    columns=["scenario", "reason", "description"],
)
SEED_STORIES = story_table([*TRIO, *OTHER_TRIO])
SCENARIOS = writing.scenario_drafts(SCENARIO_TEXTS, SEED_STORIES, "smol-r1")
SETS = [
    OATS_SET | {"set_id": "a", "scenario": GROCERY},
    QUIZ_SET | {"set_id": "b", "scenario": EXAM},
]
DRAFTS = {
    "entity sets": SCENARIOS,
    "stories": writing.set_drafts(SETS, SCENARIOS, "smol-r1"),
    "annotation": SEED_STORIES.to_dict("records"),
}


def answered(step, *responses, **options):
    """The rows of a step to whose first drafts a model gave these responses."""
    drafts = DRAFTS[step][: len(responses)]
    return wrote(writing.STEPS[step], drafts, responses, **options).rows


# Requests

OATS_ENTITIES = "ENTITIES: Person X = Wanja; Object Z = box of oats"
OATS_KEY = "KEY INFORMATION: The box of oats has beetles in it."
QUIZ_ENTITIES = "Person X = Ligaya; Person Y = classmate; Action Z = copied in the quiz"
OATS_IN_SCENARIO = f"SCENARIO: [Boxes are closed] X buys Z.\n\n{OATS_ENTITIES}\n\n"
ANNOTATED = (
    f"Person X: Wanja\n{OATS_KEY}\nStory: {TRIO[1]['story']}\n"
    "What happens next: What will Wanja likely do next?\n"
    "Action A: pay for the oats\nAction B: report the beetles"
)


@pytest.mark.parametrize(
    ("step", "temperature", "number", "part"),
    [
        ("entity sets", 0.7, 0, "[Boxes are closed] X buys Z."),
        ("entity sets", 0.7, 0, f"{OATS_ENTITIES}\n{OATS_KEY}\n"),
        ("entity sets", 0.7, 1, QUIZ_ENTITIES),
        ("stories", 0.7, 0, OATS_IN_SCENARIO + written_out(TRIO)),
        ("stories", 0.7, 1, QUIZ_ENTITIES),
        ("annotation", 0, 1, ANNOTATED),
    ],
)
def test_request_shows_its_draft_behind_a_shared_prefix(step, temperature, number, part):
    request = asked(writing.STEPS[step], DRAFTS[step], seed=3, max_tokens=1500)[number]
    text = request.messages[-1]["content"]
    assert part in text
    assert "{" not in text
    assert request.shared_prefix
    assert text.startswith(request.shared_prefix)
    assert (request.temperature, request.seed) == (temperature, 3)


# Entities


def test_set_table_drops_nothing():
    text = written_sets([{**OATS_SET, "scenario": GROCERY}] * 9)
    table = pd.DataFrame(answered("entity sets", said(text), ERROR, max_tokens=150))
    assert table["set_id"].tolist()[:9] == [f"smol-r1-01-{i:02d}" for i in range(1, 10)]
    assert table["status"].tolist() == [*["set"] * 9, "unparsed", *["error"] * 10]
    assert table["reason"].tolist()[9:11] == ["Example 10: missing", "429: slow down"]
    assert table["scenario"].tolist() == [GROCERY] * 10 + [EXAM] * 10
    assert table["text"].tolist() == [text] * 10 + [""] * 10
    assert table.loc[0, [*OATS_SET]].to_dict() == OATS_SET


# Stories


def test_answer_becomes_three_rows_of_a_story_table():
    table = writing.story_rows(answered("stories", said(PLAIN)))
    assert list(table.columns) == [*COLUMNS, "status", "reason", "text"]
    assert table["story_id"].tolist() == [f"llm-smol-r1-a_sev{i}" for i in (1, 2, 3)]
    assert table["severity"].tolist() == [1, 2, 3]
    columns = ["source", "set_id", "person_x", "status"]
    assert table[columns].to_numpy().tolist() == [["llm:smol", "a", "Wanja", "story"]] * 3
    assert table[[*WRITTEN]].to_dict("records") == PARSED


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (said(PLAIN, "length"), "truncated", "HIGH SEVERITY COUNTERFACTUAL ANSWER: stands 0"),
        (said(f"{PLAIN}\n\nAnother st", "length"), "story", ""),
        (said("I can't help with that."), "refused", "KEY INFORMATION: stands 0 times"),
        (ERROR, "error", "429: slow down"),
    ],
)
def test_answer_that_is_no_story_keeps_its_text_and_the_reason(response, status, reason):
    for row in writing.story_rows(answered("stories", response)).to_dict("records"):
        assert row["status"] == status
        assert row["reason"].startswith(reason)
        assert row["text"] == (response.reply.text if response.reply else "")
        assert (row["question"] != "") == (status == "story")
        assert row["object_z"] == "box of oats"


# Seeds of the next round


@pytest.mark.parametrize(
    ("liked", "without", "best"),
    [([], None, "a"), (["b_1", "b_3", "a_2"], None, "b"), (["a_1"], "a_2", "b")],
    ids=["first by id", "most yes", "whole sets alone"],
)
def test_seed_is_the_whole_set_by_one_writer_with_most_yes(liked, without, best):
    rows = [*OTHER_TRIO]
    for set_id in "ba":
        for story in TRIO:
            rows.append(story | {"set_id": set_id, "story_id": f"{set_id}_{story['severity']}"})
    table = story_table([row for row in rows if row["story_id"] != without])
    yes = [(story_id, "w1", "human", "action_aware", "yes") for story_id in liked]
    seeds = writing.top_seeds(table, pd.DataFrame(yes, columns=ANNOTATION_COLUMNS))
    quiz = [story["story_id"] for story in OTHER_TRIO]
    assert sorted(seeds["story_id"]) == [*(f"{best}_{i}" for i in (1, 2, 3)), *quiz]


# Of a story that there is: annotations, ratings, a word


def test_models_answers_are_rows_of_the_annotations_format():
    rows = answered("annotation", said(GOOD), said("Yes."), ERROR)
    assert [row["status"] for row in rows] == ["annotation", "unparsed", "error"]
    assert writing.annotations(rows[:1]).to_numpy().tolist() == [
        ["oats_sev1", "smol", "llm:smol", *answer] for answer in GOOD_ANSWERS.items()
    ]


@pytest.mark.parametrize("scale", writing.SCALES)
def test_ratings_are_asked_and_read(scale):
    drafts = stories({}, {}).to_dict("records")
    first, second = wrote(writing.STEPS[scale], drafts, [said("**4**"), said("4 of 5")]).rows
    assert drafts[0]["story"] in first["prompt"]
    assert (first["rating"], first["status"]) == (4, "rating")
    assert second["status"] == "unparsed"


def words(table, *texts):
    """The rows of a model that answers these texts when asked for a word on each story."""
    responses = [said(text) for text in texts]
    return wrote(writing.STEPS["judgment"], table.to_dict("records"), responses).rows


def test_shorter_word_of_two_models_counts_and_a_storys_own_comes_first():
    table = stories({"negative_judgment": ""}, {"negative_judgment": ""}, {})
    rows = words(table[:2], "Thoughtless", "Bad") + words(table, "**Careless.**", "So bad", "Bad")
    assert "pay for the oats" in rows[0]["prompt"]
    judged = writing.with_judgments(table, rows)
    assert judged["negative_judgment"].tolist() == ["Careless", "Bad", "Wasteful"]


@pytest.mark.parametrize("text", ["", "It was careless of her.", "implausible", "7"])
def test_answer_that_is_no_word_keeps_the_reason(text):
    [row] = words(stories({}), text)
    assert row["status"] == "unparsed"
    assert row["reason"]
