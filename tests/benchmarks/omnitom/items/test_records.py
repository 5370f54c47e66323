"""OmniToM's records, its ToMBench stories, and their counts."""

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from tomlab.paths import ROOT

SHARED = ROOT.parent / "shared" / "datasets"
WORKED = SHARED / "omnitom" / "worked_examples.jsonl"
TOMBENCH = SHARED / "tombench"

needs_worked = pytest.mark.skipif(
    not WORKED.is_file(), reason="the worked examples are not beside the repository"
)
needs_tombench = pytest.mark.skipif(
    not TOMBENCH.is_dir(), reason="ToMBench's stories are not beside the repository"
)


def labels(order="1", **changed):
    plain = {"truth_status": "True", "knowledge_access": "Private", "representation": "Implicit"}
    plain |= {"content_type": "Location", "mental_source": "Perception", "context": "Neutral"}
    return {"order": order} | plain | changed


def record(story_id=1, category="False Belief Task", beliefs=None, **extra):
    told = beliefs or [
        {"actor": "world", "belief": "The key is in the vase", "labels": labels("0")},
        {"actor": "Ines", "belief": "The key is in the drawer", "labels": labels("1")},
    ]
    story = "Ines puts the key in the drawer."
    return {"story_id": story_id, "story_category": category, "story": story} | {
        "beliefs": told,
        **extra,
    }


def written(path, *values):
    path.write_text("\n".join(json.dumps(value) for value in values), encoding="utf-8")
    return path


# ---- The schema ----------------------------------------------------------------------------------


# ---- Reading and writing -------------------------------------------------------------------------


def test_record_is_read_as_it_stands_and_its_source_is_the_release(tmp_path):
    [found] = read_records(written(tmp_path / "gold.jsonl", record()))
    assert found == record(source="released:omnitom")


def test_line_separator_inside_a_text_ends_no_line(tmp_path):
    told = record() | {"story": "Ines left.\u2028She came back."}
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(told, ensure_ascii=False) + "\n\n", encoding="utf-8")
    assert read_records(path)[0]["story"] == told["story"]


def broken_belief(**changed):
    belief = {"actor": "Ines", "belief": "It is there", "labels": labels()} | changed
    return record(beliefs=[record()["beliefs"][0], belief])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            broken_belief(labels=labels("4")),
            "field beliefs.1.labels.order: found '4', expected '0', '1', '2' or '3'",
        ),
        (
            broken_belief(labels={k: v for k, v in labels().items() if k != "truth_status"}),
            "field beliefs.1.labels.truth_status: found nothing, expected",
        ),
        (broken_belief(actor="  "), "field beliefs.1.actor: found '  ', expected some text"),
        (record() | {"beliefs": ["x"]}, "field beliefs.0: found 'x', expected an object"),
        (record() | {"beliefs": []}, "field beliefs: found [], List should have at least 1 item"),
        (record() | {"story_id": "1"}, "field story_id: found '1', expected a valid integer"),
        (record(category="FBT"), "field story_category: found 'FBT', expected 'Ambiguous Story"),
        (record(source="human"), "field source: found 'human', expected authored, grammar, llm:"),
    ],
)
def test_fault_is_named_by_line_story_and_field(tmp_path, bad, message):
    path = written(tmp_path / "gold.jsonl", record(story_id=2), bad)
    with pytest.raises(InputError) as error:
        read_records(path)
    assert f"line 2, story_id {bad['story_id']!r}, {message}" in str(error.value)


def test_all_faults_are_told_at_once(tmp_path):
    path = written(tmp_path / "gold.jsonl", broken_belief(actor=""), record(category="x"), [1])
    path.write_text(path.read_text(encoding="utf-8") + '\n{"story_id": 3,', encoding="utf-8")
    with pytest.raises(InputError, match="5 problems") as error:
        read_records(path)
    assert "line 2, story_id 1: stands in line 1 too, expected once" in str(error.value)
    assert "line 3, found [1], expected an object" in str(error.value)
    assert "line 4: not JSON" in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xff\xfe{}", b"null", b"[" * 100_000])
def test_file_without_records_is_named(tmp_path, content):
    path = tmp_path / "gold.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"gold\.jsonl"):
        read_records(path)


texts = st.text(st.characters(codec="utf-8"), max_size=20).map(lambda text: f"x{text}")
one_label = {key: st.sampled_from(legal) for key, legal in DIMENSIONS.items()}
beliefs = st.fixed_dictionaries(
    {"actor": texts, "belief": texts, "labels": st.fixed_dictionaries(one_label)}
)
records = st.lists(
    st.fixed_dictionaries(
        {
            "story_id": st.integers(),
            "story_category": st.sampled_from(list(CODES)),
            "story": texts,
            "beliefs": st.lists(beliefs, min_size=1, max_size=3),
            "source": st.sampled_from(["authored", "grammar", "llm:m", "released:x"]),
        }
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda one: one["story_id"],
)


@settings(max_examples=30, deadline=None)
@given(records)
def test_what_is_written_is_read_back(tmp_path_factory, told):
    path = tmp_path_factory.mktemp("records") / "gold.jsonl"
    write_records(told, path)
    assert read_records(path) == told


def test_order_0_of_an_actor_and_a_higher_order_of_the_world_are_not_refused(tmp_path):
    odd = record(
        beliefs=[
            {"actor": "world", "belief": "It rains", "labels": labels("1")},
            {"actor": "Ines", "belief": "It rains", "labels": labels("0")},
            {"actor": "Ines", "belief": "It rains", "labels": labels("2")},
        ]
    )
    (found,) = read_records(written(tmp_path / "gold.jsonl", odd))
    assert found["beliefs"] == odd["beliefs"]


# ---- ToMBench ------------------------------------------------------------------------------------


def line(**changed):
    told = {"能力\nABILITY": "Belief", "STORY": "A tale.", "QUESTION": "Why?"}
    options = {f"OPTION-{letter}": f"{letter}. for {letter}" for letter in "ABCD"}
    return told | options | {"答案\nANSWER": "B"} | changed


@pytest.fixture
def folder(tmp_path):
    for category in CATEGORIES.values():
        written(tmp_path / f"{category}.jsonl", line())
    return tmp_path


def test_questions_of_one_story_stand_together_and_letters_are_no_part_of_options(folder):
    told = [
        line(QUESTION="First?"),
        line(STORY="Another."),
        line(QUESTION="Is it?", **{"OPTION-C": float("nan"), "OPTION-D": float("nan")}),
    ]
    written(folder / "Hinting Task Test.jsonl", *told)
    found = read_tombench(folder)
    hints = found[found["story_category"] == "Hinting Task Test"].to_dict("records")
    assert [story["story"] for story in hints] == ["A tale.", "Another."]
    assert [asked["source_row"] for asked in hints[0]["questions"]] == [1, 3]
    assert hints[0]["questions"][1] == {
        "source_row": 3,
        "question": "Is it?",
        "choices": ["for A", "for B"],
        "answer": "for B",
    }


def test_faults_of_a_file_are_all_told(folder):
    without_question = {key: value for key, value in line().items() if key != "QUESTION"}
    nan = {"OPTION-B": float("nan")}
    written(folder / "Hinting Task Test.jsonl", line(), without_question, line(**nan))
    with pytest.raises(InputError) as error:
        read_tombench(folder)
    assert "Hinting Task Test.jsonl: 2 problems" in str(error.value)
    assert "line 2, field QUESTION: found nothing" in str(error.value)
    assert "line 3, field OPTION-B: found nothing" in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"OPTION-D": 7}, "line 1, field OPTION-D: found 7, expected a valid string"),
        ({"OPTION-C": float("nan"), "答案\nANSWER": "C"}, "line 1: the answer 'C' is no option"),
    ],
)
def test_fault_of_a_line_is_told(folder, changes, message):
    written(folder / "Strange Story Task.jsonl", line(**changes))
    with pytest.raises(InputError) as error:
        read_tombench(folder)
    assert f"Strange Story Task.jsonl: {message}" in str(error.value).replace(
        ": 1 problem\n  ", ": "
    )


def test_file_that_is_not_there_is_named(folder):
    (folder / "Persuasion Story Task.jsonl").unlink()
    with pytest.raises(InputError, match=r"Persuasion Story Task\.jsonl"):
        read_tombench(folder)


@pytest.fixture(scope="module")
def tombench():
    return read_tombench(TOMBENCH)


@needs_tombench
def test_tombench_has_916_distinct_stories(tombench):
    counts = tombench["story_category"].value_counts()[list(CODES)].tolist()
    assert counts == [101, 100, 145, 103, 100, 157, 210]
    assert tombench["questions"].map(len).sum() == 2170


# ---- Table 4 and Figure 4 ------------------------------------------------------------------------


def test_statistics_of_two_stories():
    deep = [{"actor": "Ines", "belief": "x", "labels": labels(order)} for order in "1233"]
    table = statistics([record(), record(2, "Hinting Task Test", deep)]).set_index("code")
    assert list(table.index) == [*CATEGORIES, "total"]
    assert table.loc["FBT"].tolist() == ["False Belief Task", 1, 2, 2.0, 1, 1, 0]
    assert table.loc["HT"].tolist() == ["Hinting Task Test", 1, 4, 4.0, 0, 1, 3]
    assert table.loc["total"].tolist() == ["Total", 2, 6, 3.0, 1, 2, 3]
    assert table.loc["SST", ["stories", "beliefs"]].tolist() == [0, 0]
    assert pd.isna(table.loc["SST", "beliefs_per_story"])
