"""Which stories go: faults of form, told again, and the strict filter of annotations (App. D.4)."""

import itertools

import numpy as np
import pandas as pd
import pytest

from one_cell import ran
from simpletom_stories import stories
from tomlab.benchmarks.simpletom.items.filtering import (
    ANNOTATION_COLUMNS,
    QUESTIONS,
    annotations_form,
    screen,
    valid,
)
from tomlab.errors import InputError
from tomlab.records.files import read_form

# Faults of form

TWO_SENTENCES = {"second_sentence": "Wanja takes the box. It is full."}


def test_each_fault_has_a_row_and_released_stories_are_not_dropped():
    released = TWO_SENTENCES | {"source": "released:SimpleToM"}
    table = stories({}, {**TWO_SENTENCES, "aware_action": "pay for the oats"}, released)
    faults = screen(table, np.eye(3), 0.9)
    assert faults[["story_id", "reason", "dropped"]].to_numpy().tolist() == [
        ["s2", "second_sentence: 2 sentences instead of one", True],
        ["s2", "unaware_action: equal to aware_action", True],
        ["s3", "second_sentence: 2 sentences instead of one", False],
    ]


def test_set_whose_story_is_told_again_is_a_fault_of_each_of_its_stories():
    table = stories({"set_id": "a"}, {"set_id": "b"}, {"set_id": "b", "severity": 3})
    same = screen(table, np.array([[1.0, 0.0], [1.0, 0.0]]), 0.9)
    assert same["story_id"].tolist() == ["s2", "s3"]
    assert set(same["filter"]) == {"near-duplicate"}
    assert set(same["reason"]) == {"cosine 1.000 to s1"}
    assert screen(table, np.eye(2), 0.9).empty


# Annotations

HEADER = ",".join(ANNOTATION_COLUMNS)
YES = "yes yes yes yes"


def annotated(*texts, story_id="s1", kind="human"):
    """The answers of w1, w2, … to a story, in the order of `QUESTIONS`; "-" is none."""
    rows = []
    for number, text in enumerate(texts, start=1):
        for question, answer in zip(QUESTIONS, text.split(), strict=True):
            if answer != "-":
                rows.append((story_id, f"w{number}", kind, question, answer))
    return pd.DataFrame(rows, columns=ANNOTATION_COLUMNS)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("s1,w1,human,action_aware,possibly", "answer: found 'possibly', expected no, yes"),
        ("s1,w1,,action_aware,yes", "annotator_kind: found nothing"),
        ("s2,ann,llm:x,action_aware,yes", "annotator_kind: found 'llm:x', expected human"),
        ("s3,w1,human,action_aware,yes", "story_id: found 's3'"),
    ],
)
def test_faulty_annotation_is_named_by_row_and_field(line, fault, tmp_path):
    path = tmp_path / "annotations.csv"
    path.write_text(f"{HEADER}\ns1,ann,human,action_aware,yes\n{line}\n")
    with pytest.raises(InputError, match=rf"annotations\.csv[^$]*row 3, field {fault}"):
        read_form(path, annotations_form({"s1", "s2"}))


@pytest.mark.parametrize(
    ("annotations", "status", "annotators", "reason"),
    [
        (annotated(YES, "possibly yes yes yes", YES), "valid", 3, ""),
        (annotated(YES, "yes yes no yes", YES), "invalid", 3, "action_unaware: no by w2"),
        (annotated("- - - no"), "invalid", 0, "action_aware: no by w1"),
        (annotated(), "unannotated", 0, ""),
        (annotated(YES, YES, "yes yes yes -"), "unannotated", 2, ""),
        (annotated(*["yes yes yes no"] * 3, kind="llm:m"), "unannotated", 0, ""),
    ],
    ids=["three agree", "one no", "no at once", "nobody", "one left open", "models"],
)
def test_story_is_valid_when_three_people_say_no_to_nothing(
    annotations, status, annotators, reason
):
    verdict, other = valid(stories({}, {}), annotations).to_dict("records")
    assert (verdict["story_id"], other["story_id"]) == ("s1", "s2")
    assert verdict["status"] == status
    assert verdict["annotators"] == annotators
    assert verdict["reason"] == reason
    assert other["status"] == "unannotated"


# Agreement


def random_annotations(count, annotators, kind):
    """Answers at random to so many stories."""
    rng = np.random.default_rng(0)
    rows = []
    for story, annotator in itertools.product(range(count), range(annotators)):
        for question, options in QUESTIONS.items():
            rows.append((f"s{story}", f"{kind}{annotator}", kind, question, rng.choice(options)))
    return pd.DataFrame(rows, columns=ANNOTATION_COLUMNS)


def agreement(annotations, stories_a_set=1):
    """The notebook's table of agreement. stories_a_set: how many stories share their entities."""
    table = pd.DataFrame({"story_id": annotations["story_id"].unique()})
    table["set_id"] = table.index // stories_a_set
    inputs = {"annotated": annotations, "stories": table}
    return ran("2_filtering", "simpletom", "cell-08", **inputs)["reliability"]


def test_each_question_has_its_agreement_by_kind_with_intervals_over_sets():
    parts = [random_annotations(9, 3, "human"), random_annotations(5, 2, "llm:m")]
    table = agreement(pd.concat(parts))
    assert table["kind"].tolist() == ["human"] * 4 + ["llm"] * 4
    assert table["question"].tolist() == [*QUESTIONS] * 2
    assert table["annotators"].tolist() == [3] * 4 + [2] * 4
    assert table["stories"].tolist() == [9] * 4 + [5] * 4
    assert table["level"].tolist() == ["ordinal", "ordinal", "nominal", "nominal"] * 2
    in_threes = agreement(pd.concat(parts), stories_a_set=3)
    assert in_threes["alpha"].tolist() == table["alpha"].tolist()
    assert in_threes["ci_low"][0] != pytest.approx(table["ci_low"][0], abs=1e-3)


def test_one_annotator_agrees_with_nobody():
    table = agreement(annotated(YES))
    assert table["stories"].tolist() == [0] * 4
    assert table[["percent_agreement", "alpha", "ci_low"]].isna().all(axis=None)
    assert agreement(annotated()).empty
