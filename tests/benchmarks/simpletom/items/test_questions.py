"""Our questions and a user's: a folder in the released layout with further fields, and twins."""

import json
import shutil

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simpletom_release import write_release
from simpletom_stories import OURS, stories
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom.items import released
from tomlab.errors import InputError

CONFIGS = {"mental-state-qa": "aware", "behavior-qa": "action", "judgment-qa": "judge"}
PERCEIVED = "At the till, Wanja brushes the beetles off her sleeve."
RELEASED_FIELDS = {"id", "story", "question", "scenario_name", "choices", "answerKey"}


def rows_of(folder, config):
    lines = (folder / config / "test.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write(folder, config, rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / config / "test.jsonl").write_text(text, encoding="utf-8")


def twin_of(row):
    return row | {
        "id": row["id"].replace("_sev", "-twin_sev"),
        "story": f"The box of oats has beetles in it. {PERCEIVED}",
        "answerKey": "B" if row["answerKey"] == "A" else "A",
        "twin_of": row["id"],
    }


@pytest.fixture
def folder(tmp_path):
    """A user's folder: one story by an author, and its twin."""
    path = write_release(tmp_path / "mine", stories({}))
    for config in CONFIGS:
        [row] = rows_of(path, config)
        row |= {"author": "Ana", "person_x": "Wanja", "object_z": "box of oats"}
        write(path, config, [row, twin_of(row)])
    return path


def change(folder, config, number, **fields):
    rows = rows_of(folder, config)
    rows[number] |= fields
    write(folder, config, rows)


def complaint(folder):
    with pytest.raises(InputError) as caught:
        simpletom.read_released(folder)
    assert str(folder) in str(caught.value)
    return str(caught.value)


# Ours


@pytest.mark.skipif(not OURS.is_dir(), reason="data/simpletom is missing: `make data` pulls it")
def test_our_questions_have_the_released_fields_and_name_their_author():
    for config, end in CONFIGS.items():
        for row in rows_of(OURS, config):
            assert set(row) >= RELEASED_FIELDS
            assert row["id"].endswith(f"_{end}")
            assert row["author"] == "a language model"


@pytest.mark.skipif(not OURS.is_dir(), reason="data/simpletom is missing: `make data` pulls it")
def test_our_questions_without_our_fields_are_read_as_a_release(tmp_path):
    for config in CONFIGS:
        rows = [row for row in rows_of(OURS, config) if not row["twin_of"]]
        bare = [{name: row[name] for name in RELEASED_FIELDS} for row in rows]
        (tmp_path / config).mkdir()
        write(tmp_path, config, bare)
    items = simpletom.read_released(tmp_path)
    ours = simpletom.read_released(OURS)
    asked = ours[ours["item_id"].str.fullmatch(r"[^:]*")]
    main = items[items["variant"] == "main"]
    for name in ("story", "question", "answer", "scenario", "story_id", "group_id"):
        assert main[name].tolist() == asked[name].tolist()
    assert main["choices"].map(list).tolist() == asked["choices"].map(list).tolist()
    assert items["source"].str.startswith("released:").all()


# A user's folder


def test_rows_with_an_author_are_no_released_rows(folder):
    items = simpletom.read_released(folder)
    assert set(items["source"]) == {"authored"}
    assert set(items["person_x"]) == {"Wanja"}


def test_twin_is_asked_with_the_question_and_options_of_its_story(folder):
    items = simpletom.read_released(folder).set_index(["variant", "question_type"])
    for kind in ("mental_state", "behavior", "judgment"):
        story, twin = items.loc["main", kind], items.loc["aware", kind]
        assert twin["story"].endswith(PERCEIVED)
        assert twin["question"] == story["question"]
        assert list(twin["choices"]) == list(story["choices"])
        assert twin["answer"] == story["reality"] == twin["reality"]
        assert (twin["story_id"], twin["group_id"]) == (story["story_id"], story["group_id"])


def test_word_for_the_judgment_makes_the_wordings_that_offer_it(folder):
    assert "generated" not in set(simpletom.read_released(folder)["variant"])
    change(folder, "judgment-qa", 0, negative_judgment="Wasteful")
    items = simpletom.read_released(folder).set_index("variant")
    assert sorted(items.loc["generated", "choices"]) == ["Reasonable", "Wasteful"]


def test_items_stand_by_story_question_and_variant(folder):
    items = simpletom.read_released(folder)
    kinds = items["question_type"].tolist()
    assert kinds == sorted(kinds, key=["mental_state", "behavior", "judgment"].index)
    assert items["variant"].tolist()[:6] == ["main", "aware"] * 3


# What is wrong with a folder


def test_twin_without_its_story_is_refused_by_file_row_and_field(folder):
    change(folder, "behavior-qa", 1, twin_of="rye_sev2_action")
    said = complaint(folder)
    assert "behavior-qa/test.jsonl, row 2, id 'oats-twin_sev2_action', field twin_of" in said
    assert "found 'rye_sev2_action'" in said


def test_twin_of_a_twin_is_refused(folder):
    change(folder, "behavior-qa", 0, twin_of="oats-twin_sev2_action")
    assert "behavior-qa/test.jsonl, row 1" in complaint(folder)


@pytest.mark.parametrize(
    "fields",
    [{"question": "And now?"}, {"choices": {"text": ["a", "b"], "label": ["A", "B"]}}],
    ids=["question", "choices"],
)
def test_twin_with_another_question_is_refused(fields, folder):
    change(folder, "judgment-qa", 1, **fields)
    [name] = fields
    said = complaint(folder)
    assert f"judgment-qa/test.jsonl, row 2, id 'oats-twin_sev2_judge', field {name}" in said


@pytest.mark.parametrize("field", ["story", "answerKey"])
def test_twin_that_is_its_story_again_is_refused(field, folder):
    [story, _] = rows_of(folder, "judgment-qa")
    change(folder, "judgment-qa", 1, **{field: story[field]})
    assert f"row 2, id 'oats-twin_sev2_judge', field {field}" in complaint(folder)


def test_two_twins_of_one_story_are_refused(folder):
    for config in CONFIGS:
        rows = rows_of(folder, config)
        again = rows[1] | {"id": rows[1]["id"].replace("-twin", "-other"), "story": "Else. So."}
        write(folder, config, [*rows, again])
    assert "oats_sev2" in complaint(folder)


def test_twin_without_all_three_questions_is_refused(folder):
    write(folder, "behavior-qa", rows_of(folder, "behavior-qa")[:1])
    assert "twin of story 'oats_sev2': expected all three questions" in complaint(folder)


@pytest.mark.parametrize("name", ["story", "scenario_name", "person_x", "object_z", "author"])
def test_text_that_was_changed_in_one_of_three_files_is_refused(name, folder):
    change(folder, "behavior-qa", 0, **{name: "" if name == "author" else "Something else."})
    said = complaint(folder)
    assert "story 'oats_sev2'" in said
    assert name.removesuffix("_name").replace("author", "source") in said


@pytest.mark.parametrize("name", ["author", "twin_of", "person_x", "negative_judgment"])
@pytest.mark.parametrize("value", [7, ["a"], True, {"a": 1}])
def test_further_field_that_is_no_text_is_refused(name, value, folder):
    change(folder, "judgment-qa", 0, **{name: value})
    said = complaint(folder)
    assert "judgment-qa/test.jsonl, row 1" in said
    assert f"field {name}" in said


def test_file_in_the_place_of_a_folder_is_refused(tmp_path):
    for path in (tmp_path / "stories.csv", tmp_path / "nowhere"):
        if path.suffix:
            path.write_text("story_id\n")
        assert "expected a folder" in complaint(path)


def test_folder_without_one_of_the_files_is_refused(folder):
    shutil.rmtree(folder / "behavior-qa")
    assert "behavior-qa/test.jsonl" in complaint(folder)


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
FIELDS = st.sampled_from(
    [*sorted(RELEASED_FIELDS), "author", "twin_of", "person_x", "negative_judgment"]
)


@given(st.dictionaries(FIELDS, VALUES | st.lists(VALUES, max_size=2), max_size=3))
@settings(max_examples=60, deadline=None)
def test_any_changed_row_is_read_or_refused_by_name(tmp_path_factory, fields):
    path = tmp_path_factory.mktemp("any") / "mine"
    write_release(path, stories({}))
    [row] = rows_of(path, "behavior-qa")
    write(path, "behavior-qa", [row | fields])
    try:
        questions = released.read_questions(path)
    except InputError as error:
        assert str(path) in str(error)
    else:
        assert isinstance(questions, pd.DataFrame)
        assert len(questions) == 3
