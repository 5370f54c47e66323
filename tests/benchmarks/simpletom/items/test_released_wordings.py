"""Released SimpleToM in the wordings of App. F: what is made of its questions, what a model adds."""

import json
import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from one_cell import ran
from replies import of_baseline
from scripted_writers import asked, said, wrote
from simpletom_release import write_release
from simpletom_stories import stories
from simpletom_texts import TRIO
from tomlab.asking import evaluation
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom.items import compose, formats, released, writing
from tomlab.benchmarks.simpletom.items.stories import story_table
from tomlab.benchmarks.writing import Unparsed
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.paths import ROOT

# The stories of a set differ in severity; a second set has a person of several words.
BAKERS = [
    row | {"set_id": "moths", "person_x": "the bakers", "story_id": f"moths_{row['severity']}"}
    for row in TRIO
]
STORIES = story_table([*TRIO, *BAKERS])
WITHOUT_WORD = ("wrong", "reasonable", "wrong-or-reasonable", "next-wrong-or-reasonable")
WITH_WORD = ("generated", "three-way")
RELEASE = ROOT / "../shared/datasets/simpletom"


@pytest.fixture
def folder(tmp_path):
    return write_release(tmp_path / "hub", STORIES)


def wordings(items):
    return simpletom.asked(items, "wordings")


def counts(items):
    return wordings(items)["variant"].value_counts().to_dict()


def test_release_is_asked_in_every_wording_that_needs_no_word_and_warns_of_nothing(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        items = simpletom.read_released(folder)
    assert counts(items) == dict.fromkeys(WITHOUT_WORD, len(STORIES))
    scores = simpletom.score(items, of_baseline(simpletom, items, "gold", "wordings"))
    assert set(scores["score"]) == {1}


def test_wordings_of_a_release_are_those_of_the_stories_it_was_made_of(folder):
    questions = released.read_questions(folder)
    read, odd = released.stories_of(questions)
    assert odd.empty
    read["negative_judgment"] = "Wasteful"
    tables = []
    for items in (compose.with_wordings(questions, read), simpletom.compose(STORIES)):
        assert counts(items) == dict.fromkeys([*WITHOUT_WORD, *WITH_WORD], len(STORIES))
        columns = ["group_id", "severity", "variant", "story", "question", "answer", "reality"]
        table = wordings(items)[columns].assign(options=items["choices"].map(sorted))
        tables.append(table.sort_values(columns, ignore_index=True))
    pd.testing.assert_frame_equal(*tables)


def test_seed_draws_the_order_of_options_in_other_wordings_alone(folder):
    first, second = (simpletom.read_released(folder, seed) for seed in (0, 1))
    is_moved = first["choices"] != second["choices"]
    assert is_moved.any()
    assert set(first.loc[is_moved, "variant"]) <= set(WITHOUT_WORD)


# Questions in the paper's form and in others

TEXT = st.text(
    st.characters(blacklist_characters='"\r\n', blacklist_categories=("Cs",)), min_size=1
)
TEXT = TEXT.map(str.strip).filter(bool)
NAMES = ["person_x", "unaware_action", "aware_action", "key_information"]


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, TEXT)))
@settings(max_examples=30, deadline=None)
def test_person_and_actions_of_any_story_are_found_in_its_questions(texts):
    texts["aware_action"] += "."
    items = simpletom.compose(stories(texts)).assign(place="", negative_judgment="")
    read, odd = released.stories_of(items)
    assert odd.empty
    assert read[NAMES].to_dict("records") == [texts]


DESCRIBED = "The behavior of Ana can be best described as:"
OPTIONS = {"text": ["Reasonable", "Not reasonable"], "label": ["A", "B"]}


@pytest.mark.parametrize(
    "changes",
    [
        {"question": "Was that reasonable?"},
        {"question": f'Next, Bo "pays" and not "asks". {DESCRIBED}'},
        {"question": f'Next, Ana "pays". {DESCRIBED}'},
        {"question": f'Next, Ana "says "yes" and not "no"" and not "asks". {DESCRIBED}'},
        {"choices": OPTIONS | {"text": ["Fine", "Not reasonable"]}, "answerKey": "A"},
        {"choices": OPTIONS, "answerKey": "B"},
    ],
)
def test_judgment_in_another_form_is_asked_as_it_is_and_named_by_file_and_row(changes, tmp_path):
    folder = write_release(tmp_path / "hub", STORIES, **changes)
    with pytest.warns(UserWarning, match=r"judgment-qa/test\.jsonl, row 1, id 'oats_sev1_judge'"):
        items = simpletom.read_released(folder)
    assert items.query("story_id == 'oats_sev1'")["variant"].tolist() == ["main"] * 3
    assert counts(items) == dict.fromkeys(WITHOUT_WORD, len(STORIES) - 1)


def test_mental_state_in_another_form_leaves_out_the_word_alone_and_is_named(folder):
    path = folder / "mental-state-qa/test.jsonl"
    first, *others = path.read_text(encoding="utf-8").splitlines()
    first = json.dumps(json.loads(first) | {"question": "Does Wanja know?"})
    path.write_text("\n".join([first, *others]), encoding="utf-8")
    read, odd = released.stories_of(released.read_questions(folder))
    assert read["key_information"].eq("").sum() == 1
    assert odd["place"].tolist() == ["mental-state-qa/test.jsonl, row 1"]
    with pytest.warns(UserWarning, match=r"row 1, id .*: found 'Does Wanja know\? No / Yes'"):
        items = simpletom.read_released(folder)
    assert counts(items) == dict.fromkeys(WITHOUT_WORD, len(STORIES))


@pytest.mark.skipif(not RELEASE.is_dir(), reason="there is no copy of the release")
def test_every_judgment_of_the_release_is_in_the_papers_form():
    questions = released.read_questions(RELEASE)
    read, odd = released.stories_of(questions)
    assert odd.empty
    assert len(read) == questions["story_id"].nunique()


# The word by a model

JUDGMENT = writing.STEPS["judgment"]


def words(table, *texts):
    """What a model that gives these answers writes of the stories of a table."""
    writer = wrote(JUDGMENT, table.to_dict("records"), [said(text) for text in texts])
    return [row for row in writer.rows if row["status"] == "judgment"]


def test_words_of_a_model_make_the_wordings_that_offer_them(folder):
    questions = released.read_questions(folder)
    read, _ = released.stories_of(questions)
    [request, *_] = asked(JUDGMENT, read.to_dict("records"))
    assert "pay for the oats" in request.messages[-1]["content"]
    judged = writing.with_judgments(read, words(read, *["**Careless.**"] * len(STORIES)))
    items = compose.with_wordings(questions, judged)
    assert counts(items) == dict.fromkeys([*WITHOUT_WORD, *WITH_WORD], len(STORIES))
    options = items.loc[items["variant"] == "three-way", "choices"]
    assert sorted(options.iloc[0]) == ["Careless", "Implausible", "Reasonable"]


def test_shorter_word_of_two_models_counts_and_a_storys_own_comes_first():
    table = stories({"negative_judgment": ""}, {"negative_judgment": ""}, {})
    rows = words(table[:2], "Thoughtless", "Bad") + words(
        table[:2], "Careless", "It was bad of her"
    )
    judged = writing.with_judgments(table, rows)
    assert judged["negative_judgment"].tolist() == ["Careless", "Bad", "Wasteful"]


@pytest.mark.parametrize(
    "text", ["", "It was careless of her.", "Reasonable", "implausible", "Bad\nCareless, too", "7"]
)
def test_answer_that_is_no_word_keeps_the_reason(text):
    [row] = wrote(JUDGMENT, stories({}).to_dict("records"), [said(text)]).rows
    assert row["status"] == "unparsed"
    assert row["reason"]


@given(st.text(max_size=60))
@settings(max_examples=50, deadline=None)
def test_word_is_one_or_two_words_or_a_reason(text):
    word = formats.parse_judgment(text, {})
    if not isinstance(word, Unparsed):
        assert 1 <= len(word.split()) <= 2
        assert word.casefold() in text.casefold()


def test_page_counts_the_stories_that_no_model_was_asked_about():
    table = stories({"negative_judgment": ""}, {"negative_judgment": ""}, {})
    names = {"judged": table, "outcomes": [], "models": [], "writer": "random"}
    sentence = ran("2_filtering", "simpletom", "cell-word-table", **names)["sentence"]
    for part in ("1 of 3 stories", "2 stories", "random"):
        assert part in sentence


@pytest.mark.parametrize("scale", writing.SCALES)
def test_ratings_are_asked_and_read(scale):
    drafts = stories({}, {}).to_dict("records")
    rows = wrote(writing.STEPS[scale], drafts, [said("**4**"), said("4 of 5")]).rows
    assert all(draft["story"] in row["prompt"] for draft, row in zip(drafts, rows, strict=True))
    assert [row.get("rating") for row in rows] == [4, None]
    assert [row["status"] for row in rows] == ["rating", "unparsed"]


# Methods without items


def plan(items, methods):
    spec = specs.model_spec("gold", {"gold": {"provider": "baseline", "model": "gold"}})
    return evaluation.plan(simpletom, items, spec, methods)


def test_release_has_no_twins_to_ask_about(folder, capsys):
    items = simpletom.read_released(folder)
    with pytest.raises(InputError, match=r"aware is left out[^$]*run.benchmarks.simpletom.source"):
        plan(items, ["aware"])
    questions = plan(items, ["none", "sysp", "wordings", "aware"])
    assert {question.method for question in questions} == {"none", "sysp", "wordings"}
    assert "aware is left out" in capsys.readouterr().out


# Chain of thought on the mental state


@pytest.mark.parametrize("method", ["cot-state", "cot-star-state"])
def test_mental_state_can_be_asked_by_chain_of_thought(method, folder):
    items = simpletom.read_released(folder)
    states = simpletom.asked(items, method)
    assert set(states["question_type"]) == {"mental_state"}
    item = states.iloc[0]
    assert simpletom.messages(item, method) == simpletom.messages(
        item, method.removesuffix("-state")
    )
    responses = [of_baseline(simpletom, items, "gold", name) for name in ("none", method)]
    metrics = simpletom.metrics(simpletom.score(items, pd.concat(responses)))
    names = set(metrics.loc[metrics["method"] == method, "metric"])
    assert {"accuracy", "delta"} <= names
    assert not {"average", "first_failure", "gap"} & names
