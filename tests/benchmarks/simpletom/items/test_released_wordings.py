"""Released SimpleToM in the wordings of App. F: what is made of its questions alone."""

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replies import of_baseline
from simpletom_release import write_release
from simpletom_stories import stories
from simpletom_texts import TRIO
from tomlab.asking import evaluation
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom.items import compose, released
from tomlab.benchmarks.simpletom.items.stories import story_table
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


@pytest.mark.filterwarnings("error")
def test_release_is_asked_in_every_wording_that_needs_no_word(folder):
    items = simpletom.read_released(folder)
    assert counts(items) == dict.fromkeys(WITHOUT_WORD, len(STORIES))
    scores = simpletom.score(items, of_baseline(simpletom, items, "gold", "wordings"))
    assert set(scores["score"]) == {1}
    other = simpletom.read_released(folder, seed=1)
    is_moved = items["choices"] != other["choices"]
    assert set(items.loc[is_moved, "variant"]) == set(WITHOUT_WORD)


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


# Questions in the paper's form and in others

TEXT = st.text(
    st.characters(blacklist_characters='"\r\n', blacklist_categories=("Cs",)), min_size=1
)
TEXT = TEXT.map(str.strip).filter(bool)
NAMES = ["person_x", "unaware_action", "aware_action", "key_information"]


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, TEXT)))
@settings(max_examples=30, deadline=None)
def test_person_and_actions_of_any_story_are_read_from_its_questions(texts):
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
        {"question": f'Next, Bo "pays" and not "asks". {DESCRIBED}'},
        {"question": f'Next, Ana "pays". {DESCRIBED}'},
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
    with pytest.warns(UserWarning, match=r"row 1, id .*: found 'Does Wanja know\? No / Yes'"):
        items = simpletom.read_released(folder)
    assert counts(items) == dict.fromkeys(WITHOUT_WORD, len(STORIES))


@pytest.mark.skipif(not RELEASE.is_dir(), reason="there is no copy of the release")
def test_every_judgment_of_the_release_is_in_the_papers_form():
    questions = released.read_questions(RELEASE)
    read, odd = released.stories_of(questions)
    assert odd.empty
    assert len(read) == questions["story_id"].nunique()


# Methods


def test_release_has_no_twins_to_ask_about(folder, capsys):
    items = simpletom.read_released(folder)
    spec = specs.model_spec("gold", {"gold": {"provider": "baseline", "model": "gold"}})
    with pytest.raises(InputError, match="aware is left out"):
        evaluation.plan(simpletom, items, spec, ["aware"])
    questions = evaluation.plan(simpletom, items, spec, ["none", "wordings", "aware"])
    assert {question.method for question in questions} == {"none", "wordings"}
    assert "aware is left out" in capsys.readouterr().out


@pytest.mark.parametrize("method", ["cot-state", "cot-star-state"])
def test_mental_state_can_be_asked_by_chain_of_thought(method, folder):
    items = simpletom.read_released(folder)
    item = simpletom.asked(items, method).iloc[0]
    plain = method.removesuffix("-state")
    assert simpletom.messages(item, method) == simpletom.messages(item, plain)
    responses = [of_baseline(simpletom, items, "gold", name) for name in ("none", method)]
    metrics = simpletom.metrics(simpletom.score(items, pd.concat(responses)))
    names = set(metrics.loc[metrics["method"] == method, "metric"])
    assert {"accuracy", "delta"} <= names
    assert not {"average", "first_failure", "gap"} & names
