"""OmniToM's records, its ToMBench stories, and their counts."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitom_stories import SHARED, belief, record
from tomlab.benchmarks.omnitom.items.records import (
    CATEGORIES,
    CODES,
    DIMENSIONS,
    read_records,
    read_tombench,
    statistics,
    write_records,
)
from tomlab.errors import InputError

TOMBENCH = SHARED / "tombench"


def write_lines(path, *values):
    path.write_text("\n".join(json.dumps(value) for value in values), encoding="utf-8")
    return path


def complaint(read, path):
    with pytest.raises(InputError) as error:
        read(path)
    return str(error.value)


def test_record_is_read_as_it_stands_and_its_source_is_the_release(tmp_path):
    story = record() | {"note": "kept"}
    del story["source"]
    path = write_lines(tmp_path / "gold.jsonl", story)
    assert read_records(path) == [story | {"source": "released:omnitom"}]


def test_every_fault_of_a_file_is_named_by_line_and_field(tmp_path):
    odd_label = record(belief("Ines", "It is there", "4"))
    odd_fields = record(belief("  ", "It rains"), story_id=2, category="FBT", source="human")
    path = write_lines(tmp_path / "gold.jsonl", odd_label, odd_label, odd_fields, [1])
    path.write_text(path.read_text(encoding="utf-8") + '\n{"story_id": 3,', encoding="utf-8")
    message = complaint(read_records, path)
    for fault in (
        "line 1, story_id 1, field beliefs.0.labels.order: found '4', expected '0', '1', '2' or",
        "line 2, story_id 1: stands in line 1 too, expected once",
        "line 3, story_id 2, field beliefs.0.actor: found '  ', expected some text",
        "line 3, story_id 2, field story_category: found 'FBT', expected Ambiguous Story",
        "line 3, story_id 2, field source: found 'human', expected authored, grammar, llm:",
        "line 4, found [1], expected an object",
        "line 5: not JSON",
    ):
        assert fault in message


@pytest.mark.parametrize("content", [b"", b"\xff\xfe{}", b"null"])
def test_file_without_records_is_named(tmp_path, content):
    path = tmp_path / "gold.jsonl"
    path.write_bytes(content)
    assert "gold.jsonl" in complaint(read_records, path)


texts = st.text(st.characters(codec="utf-8"), max_size=20).map(lambda text: f"x{text}")
labels = st.fixed_dictionaries({name: st.sampled_from(DIMENSIONS[name]) for name in DIMENSIONS})
beliefs = st.fixed_dictionaries({"actor": texts, "belief": texts, "labels": labels})
stories = st.fixed_dictionaries(
    {
        "story_id": st.integers(),
        "story_category": st.sampled_from(list(CODES)),
        "story": texts | st.just("A line separator\u2028ends no line."),
        "beliefs": st.lists(beliefs, min_size=1, max_size=3),
        "source": st.sampled_from(["authored", "grammar", "llm:m", "released:x"]),
    }
)


@settings(max_examples=30, deadline=None)
@given(st.lists(stories, min_size=1, max_size=3, unique_by=lambda story: story["story_id"]))
def test_what_is_written_is_read_back(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("records") / "gold.jsonl"
    write_records(records, path)
    assert read_records(path) == records


# ToMBench


def line(**fields):
    """A line of a ToMBench file."""
    options = {f"OPTION-{letter}": f"{letter}. for {letter}" for letter in "ABCD"}
    return {"STORY": "A tale.", "QUESTION": "Why?", "答案\nANSWER": "B"} | options | fields


@pytest.fixture
def folder(tmp_path):
    for category in CATEGORIES.values():
        write_lines(tmp_path / f"{category}.jsonl", line())
    return tmp_path


def test_questions_of_one_story_stand_together_and_letters_are_no_part_of_options(folder):
    yes_no = {"OPTION-C": float("nan"), "OPTION-D": float("nan")}
    lines = [line(), line(STORY="Another."), line(QUESTION="Is it?", **yes_no)]
    write_lines(folder / "Hinting Task Test.jsonl", *lines)
    table = read_tombench(folder).set_index("story_category").loc["Hinting Task Test"]
    assert table["story"].tolist() == ["A tale.", "Another."]
    _, question = table["questions"].iloc[0]
    assert (question["source_row"], question["question"]) == (3, "Is it?")
    assert (question["choices"], question["answer"]) == (["for A", "for B"], "for B")


def test_faults_of_a_file_are_named(folder):
    path = folder / "Strange Story Task.jsonl"
    write_lines(path, line(QUESTION=7))
    message = complaint(read_tombench, folder)
    assert "Strange Story Task.jsonl" in message
    assert "line 1, field QUESTION: found 7" in message
    write_lines(path, line(**{"OPTION-C": float("nan"), "答案\nANSWER": "C"}))
    assert "line 1: the answer 'C' is no option" in complaint(read_tombench, folder)


@pytest.mark.skipif(not TOMBENCH.is_dir(), reason="the ToMBench files are not there")
def test_tombench_has_916_distinct_stories():
    table = read_tombench(TOMBENCH)
    assert len(table) == 916
    assert table["questions"].map(len).sum() == 2170


def test_statistics_of_two_stories():
    deep = [belief("Ines", "It rains", order) for order in "1233"]
    table = statistics([record(category="False Belief Task"), record(*deep)]).set_index("code")
    assert table.loc["FBT"].tolist() == ["False Belief Task", 1, 4, 4, 1, 2, 1]
    assert table.loc["total"].tolist() == ["Total", 2, 8, 4, 1, 3, 4]
