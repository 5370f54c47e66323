"""Asking models for entities, stories and annotations, and what becomes of their answers."""

import pandas as pd
import pytest

from printed_texts import SEEDS, printed
from scripted_writers import ERROR, asked, said, wrote
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
from tomlab.asking.attempts import stacked
from tomlab.benchmarks.simpletom.items.filtering import ANNOTATION_COLUMNS
from tomlab.benchmarks.simpletom.items.formats import written_out
from tomlab.benchmarks.simpletom.items.stories import COLUMNS, story_table
from tomlab.benchmarks.simpletom.items.writing import (
    STEPS,
    annotations,
    scenario_drafts,
    set_drafts,
    story_rows,
    top_seeds,
)

SCENARIO_TEXTS = pd.DataFrame(
    {
        "scenario": [GROCERY, EXAM],
        "reason": ["Boxes are closed", "X is elsewhere"],
        "description": ["X buys Z.", "Y does Z."],
    }
)
SEED_STORIES = story_table([*TRIO, *OTHER_TRIO])
SETS = [
    OATS_SET | {"set_id": "a", "scenario": GROCERY},
    OATS_SET | {"set_id": "b", "scenario": GROCERY},
    QUIZ_SET | {"set_id": "c", "scenario": EXAM},
]


def drafts_of_scenarios(round_id="smol-r1"):
    return scenario_drafts(SCENARIO_TEXTS, SEED_STORIES, round_id)


def drafts_of_sets(model="smol"):
    return set_drafts(SETS, drafts_of_scenarios(f"{model}-r1"), f"{model}-r1")


def stories_by(responses, model="smol", **options):
    """What became of stories on the first sets."""
    drafts = drafts_of_sets(model)[: len(responses)]
    return story_rows(wrote(STEPS["stories"], drafts, responses, f"llm:{model}", **options).rows)


# Requests


def requests_of(step, **options):
    """The requests of a step and their texts."""
    drafts = {
        "entity sets": drafts_of_scenarios(),
        "stories": drafts_of_sets(),
        "annotation": SEED_STORIES.to_dict("records"),
    }
    if step == "entity sets":
        options = {"max_tokens": 1500} | options
    requests = asked(STEPS[step], drafts[step], **options)
    return requests, [request.messages[-1]["content"] for request in requests]


OATS_ENTITIES = "ENTITIES: Person X = Wanja; Object Z = box of oats"
OATS_IN_SCENARIO = f"SCENARIO: [Boxes are closed] X buys Z.\n\n{OATS_ENTITIES}\n\n"
ANNOTATED = (
    "Person X: Wanja\nKEY INFORMATION: The box of oats has beetles in it.\n"
    f"Story: {TRIO[1]['story']}\n"
    "What happens next: What will Wanja likely do next?\n"
    "Action A: pay for the oats\nAction B: report the beetles"
)


@pytest.mark.parametrize(
    ("step", "temperature", "number", "parts"),
    [
        ("entity sets", 0.7, 0, ["[Boxes are closed] X buys Z.", "Write 10 more ideas"]),
        (
            "entity sets",
            0.7,
            0,
            [f"{OATS_ENTITIES}\nKEY INFORMATION: The box of oats has beetles in it.\n"],
        ),
        (
            "entity sets",
            0.7,
            1,
            ["Person X = Ligaya; Person Y = classmate; Action Z = copied in the quiz"],
        ),
        ("stories", 0.7, 0, [OATS_IN_SCENARIO + written_out(TRIO), OATS_ENTITIES]),
        (
            "annotation",
            0,
            1,
            [ANNOTATED],
        ),
    ],
)
def test_request_shows_its_draft_behind_a_shared_prefix(step, temperature, number, parts):
    requests, texts = requests_of(step, seed=3)
    for request, text in zip(requests, texts, strict=True):
        assert "{" not in text
        assert request.shared_prefix
        assert text.startswith(request.shared_prefix)
        assert (request.temperature, request.seed) == (temperature, 3)
    for part in parts:
        assert part in texts[number]


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the papers' texts are not at ../shared/seeds")
def test_prompts_as_printed_ask_for_sets_and_stories(tmp_path):
    replaced = {}
    for prompt in printed():
        if prompt.name in ("simpletom/entities", "simpletom/story"):
            path = tmp_path / f"{prompt.name.partition('/')[2]}.txt"
            path.write_text(prompt.text, encoding="utf-8")
            replaced[prompt.name] = str(path)
    requests, texts = requests_of("entity sets", replaced=replaced)
    assert texts[0].startswith(requests[0].shared_prefix + "[Boxes are closed] X buys Z.")
    assert " 10 more " in texts[0]
    requests, texts = requests_of("stories", replaced=replaced)
    assert texts[0].startswith(f"{requests[0].shared_prefix}Person X = Wanja")
    assert texts[0].endswith("KEY INFORMATION:")


# Entities


def entity_sets(*responses):
    drafts = drafts_of_scenarios()[: len(responses)]
    return pd.DataFrame(wrote(STEPS["entity sets"], drafts, responses, max_tokens=150).rows)


def test_set_table_drops_nothing():
    text = written_sets([{**OATS_SET, "scenario": GROCERY}] * 9)
    table = entity_sets(said(text), ERROR)
    assert table["set_id"].tolist()[:9] == [f"smol-r1-01-{i:02d}" for i in range(1, 10)]
    assert table["status"].tolist() == [*["set"] * 9, "unparsed", *["error"] * 10]
    assert table["reason"].tolist() == [*[""] * 9, "Example 10: missing", *["429: slow down"] * 10]
    assert table["scenario"].tolist() == [GROCERY] * 10 + [EXAM] * 10
    assert table["text"].tolist() == [text] * 10 + [""] * 10
    assert table.loc[0, [*OATS_SET]].to_dict() == OATS_SET


def test_refusal_and_cut_are_told_apart_for_sets():
    cut = written_sets([{**OATS_SET, "scenario": GROCERY}]) + "\n\nExample 2:\nENTITIES: Person X"
    table = entity_sets(said("I'm sorry, but no."), said(cut, "length"))
    assert table["status"].tolist() == [*["refused"] * 10, "set", *["truncated"] * 9]


# Stories


def test_answer_becomes_three_rows_of_a_story_table():
    table = stories_by([said(PLAIN)])
    assert list(table.columns) == [*COLUMNS, "status", "reason", "text"]
    assert table["story_id"].tolist() == [f"llm-smol-r1-a_sev{i}" for i in (1, 2, 3)]
    assert table["severity"].tolist() == [1, 2, 3]
    columns = ["source", "set_id", "person_x", "status"]
    assert table[columns].to_numpy().tolist() == [["llm:smol", "a", "Wanja", "story"]] * 3
    assert table[[*WRITTEN]].to_dict("records") == PARSED


def test_answer_begins_after_the_label_with_which_a_prompt_ends(tmp_path):
    path = tmp_path / "story.txt"
    path.write_text("{example}\n\n{scenario}\n\n{entities}\n\nKEY INFORMATION:\n")
    for text in (PLAIN.removeprefix("KEY INFORMATION: "), PLAIN):
        table = stories_by([said(text)], replaced={"simpletom/story": str(path)})
        assert table[[*WRITTEN]].to_dict("records") == PARSED


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (said("Once."), "unparsed", "KEY INFORMATION: stands 0 times"),
        (said("KEY INFORMATION: The box.", "length"), "truncated", "STORY SECOND SENTENCE"),
        (said(PLAIN, "length"), "truncated", "HIGH SEVERITY COUNTERFACTUAL ANSWER: stands 0"),
        (said(f"{PLAIN}.", "length"), "story", ""),
        (said(f"{PLAIN}\n\nAnother st", "length"), "story", ""),
        (said("I can't help with that."), "refused", "KEY INFORMATION: stands 0 times"),
        (ERROR, "error", "429: slow down"),
    ],
)
def test_answer_that_is_no_story_keeps_its_text_and_the_reason(response, status, reason):
    for row in stories_by([response]).to_dict("records"):
        assert row["status"] == status
        assert row["reason"].startswith(reason)
        assert row["text"] == (response.reply.text if response.reply else "")
        assert (row["question"] != "") == (status == "story")
        assert row["object_z"] == "box of oats"


def test_raw_table_gives_back_stories_of_file_and_models(tmp_path):
    responses = [said(PLAIN), said("no"), ERROR]
    path = tmp_path / "raw.parquet"
    tables = [stories_by(responses, model) for model in ("smol", "other")]
    stacked("story", SEED_STORIES, *tables, stories_by([])).to_parquet(path, index=False)
    raw = pd.read_parquet(path)
    assert len(raw) == len(SEED_STORIES) + 2 * 9
    assert raw["story_id"].is_unique
    stories = story_table(raw[raw["status"] == "story"].to_dict("records"))
    assert stories[:6].equals(SEED_STORIES)
    assert stories["story_id"].tolist()[6:9] == [f"llm-smol-r1-a_sev{i}" for i in (1, 2, 3)]
    assert not stories.isna().any(axis=None)


# Seeds of the next round


def seeds_of(stories, *story_ids):
    """The sets that are seeds where somebody said "yes" to these stories."""
    rows = [(story_id, "w1", "human", "action_aware", "yes") for story_id in story_ids]
    seeds = top_seeds(stories, pd.DataFrame(rows, columns=ANNOTATION_COLUMNS))
    return sorted(seeds["story_id"])


@pytest.fixture(scope="module")
def round_one():
    """Two sets of groceries, a and b, and one of the quiz, all by one model."""
    rows = []
    for set_id in "ba":
        for story in TRIO:
            rows.append(story | {"set_id": set_id, "story_id": f"{set_id}_{story['severity']}"})
    return story_table([*rows, *OTHER_TRIO])


QUIZ = ["quiz_sev1", "quiz_sev2", "quiz_sev3"]


def test_seed_is_the_whole_set_by_one_writer_with_most_yes(round_one):
    assert seeds_of(round_one) == ["a_1", "a_2", "a_3", *QUIZ]
    assert seeds_of(round_one, "b_1", "b_3", "a_2") == ["b_1", "b_2", "b_3", *QUIZ]
    without_one = round_one[round_one["story_id"] != "a_2"]
    assert seeds_of(without_one, "a_1") == ["b_1", "b_2", "b_3", *QUIZ]
    again = round_one.assign(source="llm:b", story_id="x" + round_one["story_id"])
    both = pd.concat([round_one, again])
    assert seeds_of(both, "xb_1") == [*QUIZ, "xb_1", "xb_2", "xb_3"]


# Annotations


def test_models_answers_are_rows_of_the_annotations_format():
    drafts = SEED_STORIES[:3].to_dict("records")
    rows = wrote(STEPS["annotation"], drafts, [said(GOOD), said("Yes."), ERROR]).rows
    assert [row["status"] for row in rows] == ["annotation", "unparsed", "error"]
    table = annotations(rows[:1])
    assert table.to_numpy().tolist() == [
        ["oats_sev1", "smol", "llm:smol", *answer] for answer in GOOD_ANSWERS.items()
    ]
