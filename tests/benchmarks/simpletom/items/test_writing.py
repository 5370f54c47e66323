"""Asking models for entities, stories and annotations, and reading their answers."""

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
from tomlab.asking.attempts import FAILURES, stacked
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


@pytest.fixture
def scenarios():
    return pd.DataFrame(
        {
            "scenario": [GROCERY, EXAM],
            "reason": ["Boxes are closed", "X is elsewhere"],
            "description": ["X buys Z.", "Y does Z."],
        }
    )


@pytest.fixture
def seeds():
    return story_table([*TRIO, *OTHER_TRIO])


@pytest.fixture
def sets():
    rows = [("a", GROCERY, OATS_SET), ("b", GROCERY, OATS_SET), ("c", EXAM, QUIZ_SET)]
    return pd.DataFrame([{"set_id": i, "scenario": name, **found} for i, name, found in rows])


def entity_requests(scenarios, seeds, **options):
    drafts = scenario_drafts(scenarios, seeds, "smol-r1")
    return asked(STEPS["entity sets"], drafts, **{"max_tokens": 1500, **options})


def story_requests(sets, scenarios, seeds, **options):
    drafts = scenario_drafts(scenarios, seeds, "smol-r1")
    return asked(
        STEPS["stories"], set_drafts(sets.to_dict("records"), drafts, "smol-r1"), **options
    )


def annotation_requests(stories, **options):
    return asked(STEPS["annotation"], stories.to_dict("records"), **options)


@pytest.fixture
def entity_sets(scenarios, seeds):
    def read(responses, number=1):
        drafts = scenario_drafts(scenarios, seeds, f"smol-r{number}")[: len(responses)]
        return pd.DataFrame(wrote(STEPS["entity sets"], drafts, responses, max_tokens=150).rows)

    return read


@pytest.fixture
def attempts(scenarios, seeds, sets):
    """What became of stories on the first sets."""

    def read(responses, model="smol", number=1, **options):
        round_id = f"{model}-r{number}"
        drafts = scenario_drafts(scenarios, seeds, round_id)
        drafts = set_drafts(sets.to_dict("records")[: len(responses)], drafts, round_id)
        return story_rows(
            wrote(STEPS["stories"], drafts, responses, f"llm:{model}", **options).rows
        )

    return read


def content(request):
    [message] = request.messages
    assert message["role"] == "user"
    return message["content"]


# Requests


def test_one_request_a_scenario_asks_for_entities_with_the_seed_as_example(scenarios, seeds):
    first, second = entity_requests(scenarios, seeds)
    text = content(first)
    assert "[Boxes are closed] X buys Z." in text
    assert "Write 10 more ideas" in text
    assert (
        "ENTITIES: Person X = Wanja; Object Z = box of oats\n"
        "KEY INFORMATION: The box of oats has beetles in it.\n"
    ) in text
    assert "Person X = Ligaya; Person Y = classmate; Action Z = copied in the quiz" in content(
        second
    )


def test_one_request_a_set_asks_for_three_stories(sets, scenarios, seeds):
    requests = story_requests(sets, scenarios, seeds)
    assert len(requests) == 3
    text = content(requests[0])
    entities = "ENTITIES: Person X = Wanja; Object Z = box of oats"
    assert f"SCENARIO: [Boxes are closed] X buys Z.\n\n{entities}\n\n{written_out(TRIO)}" in text
    assert text.endswith("ENTITIES: Person X = Wanja; Object Z = box of oats")


def test_no_placeholder_is_left_open(sets, scenarios, seeds):
    requests = [
        *entity_requests(scenarios, seeds),
        *story_requests(sets, scenarios, seeds),
        *annotation_requests(seeds),
    ]
    assert not any("{" in content(request) for request in requests)


def test_shared_prefix_opens_every_request(sets, scenarios, seeds):
    for requests in (
        entity_requests(scenarios, seeds),
        story_requests(sets, scenarios, seeds),
        annotation_requests(seeds),
    ):
        assert all(r.shared_prefix and content(r).startswith(r.shared_prefix) for r in requests)


def test_writing_is_sampled_and_judging_is_greedy(sets, scenarios, seeds):
    written = [*entity_requests(scenarios, seeds, seed=3), *story_requests(sets, scenarios, seeds)]
    assert {r.temperature for r in written} == {0.7}
    assert written[0].seed == 3
    assert {r.temperature for r in annotation_requests(seeds)} == {0}


def test_annotation_shows_story_and_both_actions(seeds):
    text = content(annotation_requests(seeds)[1])
    assert text.endswith(
        "Person X: Wanja\n"
        "KEY INFORMATION: The box of oats has beetles in it.\n"
        "Story: The box of oats has beetles in it. Wanja takes the box off the shelf and joins the "
        "queue at the till.\n"
        "What happens next: What will Wanja likely do next?\n"
        "Action A: pay for the oats\n"
        "Action B: report the beetles"
    )


def test_braces_in_a_story_are_text(seeds):
    odd = seeds.assign(key_information="A box says {question}.")
    assert "KEY INFORMATION: A box says {question}." in content(annotation_requests(odd)[0])


# Entities


def test_set_table_drops_nothing(entity_sets):
    good = written_sets([{**OATS_SET, "scenario": GROCERY}] * 9)
    table = entity_sets([said(good), ERROR], number=2)
    assert table["set_id"].tolist()[:9] == [f"smol-r2-01-{i:02d}" for i in range(1, 10)]
    assert table["status"].tolist() == [*["set"] * 9, "unparsed", *["error"] * 10]
    assert table["reason"].tolist() == [*[""] * 9, "Example 10: missing", *["429: slow down"] * 10]
    assert table["scenario"].tolist() == [GROCERY] * 10 + [EXAM] * 10
    assert table["text"].tolist() == [good] * 10 + [""] * 10
    kept = table.iloc[0].to_dict()
    assert {name: kept[name] for name in OATS_SET} == OATS_SET
    assert kept["source"] == "llm:smol"


def test_refusal_and_cut_are_told_apart_for_sets(entity_sets):
    cut = "Example 1:\nENTITIES: Person X = W; Object Z = b\nKEY INFORMATION: the b is"
    responses = [said("I'm sorry, but no."), said(cut, "length")]
    table = entity_sets(responses).drop_duplicates("scenario")
    assert table["status"].tolist() == ["refused", "truncated"]
    assert table["reason"].tolist() == [
        "Example 1: missing",
        "Example 1: KEY INFORMATION: stands 0 times, expected once",
    ]


def test_whole_sentence_at_the_token_limit_is_a_set(entity_sets):
    text = written_sets([{**OATS_SET, "scenario": GROCERY}])
    table = entity_sets([said(text, "length")])
    assert table["status"].tolist() == ["set", *["truncated"] * 9]


# Stories


def test_answer_becomes_three_rows_of_a_story_table(attempts):
    table = attempts([said(PLAIN)])
    assert list(table.columns) == [*COLUMNS, "status", "reason", "text"]
    assert table["story_id"].tolist() == [f"llm-smol-r1-a_sev{i}" for i in (1, 2, 3)]
    assert table["source"].unique().tolist() == ["llm:smol"]
    assert table["set_id"].unique().tolist() == ["a"]
    assert table["person_x"].unique().tolist() == ["Wanja"]
    assert table["status"].unique().tolist() == ["story"]
    assert table["severity"].tolist() == [1, 2, 3]
    assert table[[*WRITTEN]].to_dict("records") == PARSED


def test_answer_begins_after_the_label_with_which_a_prompt_ends(attempts, tmp_path):
    path = tmp_path / "story.txt"
    path.write_text("{example}\n\n{scenario}\n\n{entities}\n\nKEY INFORMATION:\n")
    replaced = {"simpletom/story": str(path)}
    for text in (PLAIN.removeprefix("KEY INFORMATION: "), PLAIN):
        table = attempts([said(text)], replaced=replaced)
        assert table[[*WRITTEN]].to_dict("records") == PARSED
        assert table["text"].unique().tolist() == [text]
    [lost] = attempts([said(text.partition("\n")[2])])["reason"].unique()
    assert lost.startswith("KEY INFORMATION: stands 0 times")


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the papers' texts are not at ../shared/seeds")
def test_prompts_as_printed_ask_for_sets_and_stories(scenarios, seeds, sets, tmp_path):
    replaced = {}
    for prompt in printed():
        if prompt.name in ("simpletom/entities", "simpletom/story"):
            path = tmp_path / f"{prompt.name.partition('/')[2]}.txt"
            path.write_text(prompt.text, encoding="utf-8")
            replaced[prompt.name] = str(path)
    [request] = entity_requests(scenarios[:1], seeds, replaced=replaced)
    text = request.messages[0]["content"]
    assert text.startswith(request.shared_prefix + "[Boxes are closed] X buys Z.")
    assert " 10 more " in text
    [request] = story_requests(sets[:1], scenarios, seeds, replaced=replaced)
    text = request.messages[0]["content"]
    assert text.startswith(f"{request.shared_prefix}Person X = Wanja")
    assert text.endswith("KEY INFORMATION:")


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (said("Once."), "unparsed", "KEY INFORMATION: stands 0 times"),
        (said(""), "unparsed", "no answer"),
        (said("KEY INFORMATION: The box.", "length"), "truncated", "STORY SECOND SENTENCE"),
        (said(PLAIN, "length"), "truncated", "HIGH SEVERITY COUNTERFACTUAL ANSWER: stands 0"),
        (said(f"<think>{PLAIN}"), "truncated", "no answer"),
        (said("I can't help with that."), "refused", "KEY INFORMATION: stands 0 times"),
        (said("", "refusal"), "refused", "no answer"),
        (ERROR, "error", "429: slow down"),
    ],
)
def test_answer_that_is_no_story_keeps_its_text_and_the_reason(attempts, response, status, reason):
    table = attempts([response])
    assert table["severity"].tolist() == [1, 2, 3]
    for row in table.to_dict("records"):
        assert row["status"] == status
        assert row["reason"].startswith(reason)
        assert row["text"] == (response.reply.text if response.reply else "")
        assert [row[name] for name in WRITTEN] == [""] * len(WRITTEN)
        assert row["object_z"] == "box of oats"


def test_line_that_ended_before_the_token_limit_is_whole(attempts):
    for text in (PLAIN + ".", PLAIN + "\n\nAnother st"):
        assert set(attempts([said(text, "length")])["status"]) == {"story"}


def test_nothing_is_dropped_and_every_story_has_its_id(attempts):
    responses = [said(PLAIN), said("no"), ERROR]
    written = [attempts(responses, model, i) for i in (1, 2) for model in ("a", "b")]
    table = pd.concat(written)
    assert len(table) == 2 * 2 * 9
    assert table["story_id"].is_unique
    assert set(table["status"]) == {"story", "unparsed", "error"} <= {"story", *FAILURES}


@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "through parquet"])
def test_raw_table_gives_back_stories_of_file_and_models(seeds, attempts, tmp_path, stored):
    written = attempts([said(PLAIN), said("no"), ERROR])
    raw = stacked("story", seeds, written, attempts([], "other"))
    if stored:
        raw.to_parquet(tmp_path / "raw.parquet", index=False)
        raw = pd.read_parquet(tmp_path / "raw.parquet")
    assert len(raw) == len(seeds) + 9
    stories = story_table(raw[raw["status"] == "story"].to_dict("records"))
    assert stories[:6].equals(seeds)
    assert stories["story_id"].tolist()[6:] == [f"llm-smol-r1-a_sev{i}" for i in (1, 2, 3)]
    assert not stories.isna().any(axis=None)


# Seeds of the next round


def annotated_as(*rows):
    """Annotations as (story, answer)."""
    return pd.DataFrame(
        [(s, f"w{i}", "human", "action_aware", a) for i, (s, a) in enumerate(rows)],
        columns=ANNOTATION_COLUMNS,
    )


@pytest.fixture
def round_one():
    """Two sets of groceries, a and b, and one of the quiz, all by one model."""
    trios = [[{**s, "set_id": i, "story_id": f"{i}_{s['severity']}"} for s in TRIO] for i in "ba"]
    return story_table([*trios[0], *trios[1], *OTHER_TRIO])


def test_seed_is_the_set_with_most_yes(round_one):
    annotated = annotated_as(("b_1", "yes"), ("b_3", "yes"), ("a_2", "yes"), ("a_2", "no"))
    seeds = top_seeds(round_one, annotated)
    assert seeds["story_id"].tolist() == [
        "b_1",
        "b_2",
        "b_3",
        "quiz_sev1",
        "quiz_sev2",
        "quiz_sev3",
    ]


def test_set_that_lost_a_story_is_no_seed(round_one):
    left = round_one[round_one["story_id"] != "a_2"]
    assert top_seeds(left, annotated_as(("a_1", "yes")))["set_id"].tolist()[:3] == ["b"] * 3


def test_two_writers_of_one_set_are_two_candidates(round_one):
    again = round_one.assign(source="llm:b", story_id="x" + round_one["story_id"])
    seeds = top_seeds(pd.concat([round_one, again]), annotated_as(("xb_1", "yes")))
    assert seeds["story_id"].tolist()[:3] == ["quiz_sev1", "quiz_sev2", "quiz_sev3"]
    assert seeds["story_id"].tolist()[3:] == ["xb_1", "xb_2", "xb_3"]


# Annotations


def test_models_answers_are_rows_of_the_annotations_format(seeds):
    drafts = seeds[:3].to_dict("records")
    responses = [said(GOOD), said("Yes."), ERROR]
    rows = wrote(STEPS["annotation"], drafts, responses).rows
    table = annotations([row for row in rows if row["status"] == "annotation"])
    assert list(table.columns) == list(ANNOTATION_COLUMNS)
    assert table["annotator_kind"].unique().tolist() == ["llm:smol"]
    assert dict(zip(table["question"], table["answer"], strict=True)) == GOOD_ANSWERS
    assert set(table["story_id"]) == {"oats_sev1"}
    assert [row["status"] for row in rows] == ["annotation", "unparsed", "error"]
    assert [row["text"] for row in rows] == [GOOD, "Yes.", ""]
