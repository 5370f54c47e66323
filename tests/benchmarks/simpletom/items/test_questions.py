"""Questions in files: a folder in the released layout, ours with further fields, and twins."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simpletom_release import CONFIGS, write_release
from simpletom_stories import PERCEIVED, stories
from tomlab.benchmarks import simpletom
from tomlab.benchmarks.simpletom.items import released
from tomlab.errors import InputError

STATE, BEHAVIOR, JUDGMENT = CONFIGS.values()
RELEASED_FIELDS = {"id", "story", "question", "scenario_name", "choices", "answerKey"}


def rows_of(folder, config):
    lines = (folder / config / "test.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def write(folder, config, rows):
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / config).mkdir(exist_ok=True)
    (folder / config / "test.jsonl").write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """A user's folder: one story by an author, and its twin."""
    path = write_release(tmp_path / "mine", stories({}))
    for config in CONFIGS.values():
        [row] = rows_of(path, config)
        row |= {"author": "Ana", "person_x": "Wanja", "object_z": "box of oats"}
        twin = row | {
            "id": row["id"].replace("_sev", "-twin_sev"),
            "story": f"The box of oats has beetles in it. {PERCEIVED}",
            "answerKey": "B" if row["answerKey"] == "A" else "A",
            "twin_of": row["id"],
        }
        write(path, config, [row, twin])
    return path


def change(folder, config, number, **fields):
    rows = rows_of(folder, config)
    rows[number] |= fields
    write(folder, config, rows)


# What is read


def test_released_rows_become_items(tmp_path):
    path = write_release(tmp_path / "mine", stories({}))
    [row] = rows_of(path, BEHAVIOR)
    items = simpletom.read_released(path).query("question_type == 'behavior'")
    assert items.to_dict("records") == [
        {
            "benchmark": "simpletom",
            "item_id": "oats_sev2_action",
            "group_id": "oats",
            "question_type": "behavior",
            "story": row["story"],
            "question": "What will Wanja likely do next?",
            "choices": row["choices"]["text"],
            "answer": "pay for the oats",
            "source": "released:mine",
            "scenario": "food item in grocery store",
            "severity": 2,
            "story_id": "oats_sev2",
            "variant": "main",
            "reality": "report the beetles",
            # The release doesn't name the entities apart from its stories.
            "person_x": "",
            "person_y": "",
            "object_z": "",
        }
    ]


def test_rows_with_an_author_and_twins_become_items_in_their_order(folder):
    items = simpletom.read_released(folder)
    assert set(items["source"]) == {"authored"}
    assert set(items["person_x"]) == {"Wanja"}
    kinds = ["mental_state", "behavior", "judgment"]
    assert items["question_type"].tolist() == sorted(items["question_type"], key=kinds.index)
    assert items["variant"].tolist()[:6] == ["main", "aware"] * 3
    by_variant = items.set_index(["variant", "question_type"])
    for kind in kinds:
        story, twin = by_variant.loc["main", kind], by_variant.loc["aware", kind]
        assert twin["story"].endswith(PERCEIVED)
        for name in ("question", "choices", "story_id", "group_id"):
            assert twin[name] == story[name]
        assert twin["answer"] == story["reality"] == twin["reality"]


def test_word_for_the_judgment_makes_the_wordings_that_offer_it(folder):
    assert "generated" not in set(simpletom.read_released(folder)["variant"])
    change(folder, JUDGMENT, 0, negative_judgment="Wasteful")
    items = simpletom.read_released(folder).set_index("variant")
    assert sorted(items.loc["generated", "choices"]) == ["Reasonable", "Wasteful"]


# What is refused: the file, the row (0: the story's; 1: its twin's), changed fields, the fault

OPTIONS = {"text": ["a", "b"], "label": ["A", "B"]}


@pytest.mark.parametrize(
    ("config", "row", "fields", "fault"),
    [
        (STATE, 0, {"answerKey": "C"}, "field choices: found"),
        (STATE, 0, {"choices": {"text": ["No"] * 2, "label": ["A", "B"]}}, "field choices: found"),
        (STATE, 0, {"id": "?"}, "field id: found '?'"),
        (BEHAVIOR, 1, {"id": "oats_sev2_action"}, "stands in file"),
        (BEHAVIOR, 1, {"twin_of": "rye_sev2_action"}, "field twin_of: found 'rye_sev2_action'"),
        (JUDGMENT, 1, {"question": "And now?"}, "field question: found"),
        (JUDGMENT, 1, {"choices": OPTIONS}, "field choices: found"),
        (JUDGMENT, 0, {"story": f"The box of oats has beetles in it. {PERCEIVED}"}, "field story"),
        (BEHAVIOR, 0, {"scenario_name": "else"}, "story 'oats_sev2', scenario: found"),
    ],
)
def test_faulty_row_is_named_by_file_row_and_field(config, row, fields, fault, folder):
    change(folder, config, row, **fields)
    with pytest.raises(InputError) as caught:
        simpletom.read_released(folder)
    for part in (str(folder), "test.jsonl, row ", fault):
        assert part in str(caught.value)


def test_answer_of_a_twin_is_another_than_that_of_its_story(folder):
    [story, _] = rows_of(folder, JUDGMENT)
    change(folder, JUDGMENT, 1, answerKey=story["answerKey"])
    with pytest.raises(InputError, match="field answerKey"):
        simpletom.read_released(folder)


def test_story_and_twin_have_all_three_questions(folder):
    write(folder, BEHAVIOR, rows_of(folder, BEHAVIOR)[:1])
    with pytest.raises(InputError, match="twin of story 'oats_sev2': expected all three questions"):
        simpletom.read_released(folder)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "no row in it"),
        ('{"id": "x_sev1_action"}\n{"id": \n', "line 2: not JSON"),
    ],
)
def test_faulty_file_is_named(content, fault, folder):
    path = folder / BEHAVIOR / "test.jsonl"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        simpletom.read_released(folder)
    assert str(path) in str(caught.value)
    assert fault in str(caught.value)


def test_path_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected a folder"):
        simpletom.read_released(tmp_path / "nowhere")


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
FIELDS = st.sampled_from([*sorted(RELEASED_FIELDS), "author", "twin_of", "person_x"])


@given(st.dictionaries(FIELDS, VALUES | st.lists(VALUES, max_size=2), max_size=3))
@settings(max_examples=30, deadline=None)
def test_any_changed_row_is_read_or_refused_by_name(tmp_path_factory, fields):
    path = write_release(tmp_path_factory.mktemp("any") / "mine", stories({}))
    change(path, BEHAVIOR, 0, **fields)
    try:
        assert len(released.read_questions(path)) == 3
    except InputError as error:
        assert str(path) in str(error)
