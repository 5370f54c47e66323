"""Annotations: reading them, the strict filter of App. D.4, and agreement."""

import itertools

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from one_cell import ran
from simpletom_stories import stories
from tomlab.benchmarks.simpletom.items.filtering import (
    ANNOTATION_COLUMNS,
    QUESTIONS,
    annotations_form,
    valid,
)
from tomlab.errors import InputError
from tomlab.records.files import read_form

FORM = annotations_form({"s1", "s2"})
HEADER = ",".join(ANNOTATION_COLUMNS)


def answers(story_id, annotator, text="yes yes yes yes", kind="human"):
    """One annotator's answers to a story, in the order of `QUESTIONS`; "-" is none."""
    pairs = zip(QUESTIONS, text.split(), strict=True)
    return [(story_id, annotator, kind, *pair) for pair in pairs if pair[1] != "-"]


def annotated(*parts):
    return pd.DataFrame(itertools.chain(*parts), columns=ANNOTATION_COLUMNS)


def by_people(story_id, *texts):
    """The answers of one person after the other, w1, w2, …"""
    return annotated(*(answers(story_id, f"w{i}", text) for i, text in enumerate(texts, start=1)))


# Reading annotations


def test_annotations_are_read_as_they_stand(tmp_path):
    path = tmp_path / "annotations.csv"
    lines = ["s1,w1,human,action_aware,yes", "s1,gpt,llm:gpt-4o,unlikely_noticed,possibly"]
    path.write_text("\n".join([HEADER, *lines]))
    table = read_form(path, FORM)
    assert table.to_numpy().tolist() == [line.split(",") for line in lines]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("s1,w1,human,action_aware,possibly", "answer: found 'possibly', expected no, yes"),
        ("s1,w1,human,unlikely_noticed,Yes", "answer: found 'Yes', expected no, possibly, yes"),
        ("s1,w1,human,action_aware,", "answer: found nothing, expected no, yes"),
        ("s1,w1,,action_aware,yes", "annotator_kind: found nothing, expected human or llm:<model>"),
        ("s1,w1,llm:a b,action_aware,yes", "annotator_kind: found 'llm:a b', expected human or"),
        ("s2,ann,llm:x,action_aware,yes", "annotator_kind: found 'llm:x', expected human"),
        ("s3,w1,human,action_aware,yes", "story_id: found 's3'"),
    ],
)
def test_faulty_annotation_is_told_by_row_and_field(line, fault, tmp_path):
    path = tmp_path / "annotations.csv"
    path.write_text(f"{HEADER}\ns1,ann,human,action_aware,yes\n{line}\n")
    with pytest.raises(InputError, match=rf"annotations\.csv[^$]*row 3, field {fault}"):
        read_form(path, FORM)


# The strict filter

YES = "yes yes yes yes"


@pytest.mark.parametrize(
    ("annotations", "status", "annotators", "reason"),
    [
        (by_people("s1", YES, "possibly yes yes yes", YES), "valid", 3, ""),
        (by_people("s1", YES, "yes yes no yes", YES), "invalid", 3, "action_unaware: no by w2"),
        (by_people("s1", "- - - no"), "invalid", 0, "action_aware: no by w1"),
        (annotated(), "unannotated", 0, ""),
        (by_people("s1", YES, YES), "unannotated", 2, ""),
        (by_people("s1", YES, YES, "yes yes yes -"), "unannotated", 2, ""),
        (
            annotated(*(answers("s1", m, "yes yes yes no", f"llm:{m}") for m in "abc")),
            "unannotated",
            0,
            "",
        ),
    ],
    ids=["three agree", "one no", "no at once", "nobody", "two", "one left open", "models"],
)
def test_story_is_valid_when_three_people_say_no_to_nothing(
    annotations, status, annotators, reason
):
    [row] = valid(stories({}), annotations).to_dict("records")
    assert row == {
        "story_id": "s1",
        "annotators": annotators,
        "reason": reason,
        "status": status,
    }


def test_every_story_has_a_verdict_in_its_place():
    table = valid(stories({}, {}, {}), by_people("s2", YES, YES, YES))
    assert table["story_id"].tolist() == ["s1", "s2", "s3"]
    assert table["status"].tolist() == ["unannotated", "valid", "unannotated"]
    assert valid(stories({})[:0], annotated()).empty


# Agreement


def drawn(count, annotators=3, kind="human"):
    """Answers at random to so many stories."""
    rng = np.random.default_rng(0)
    names = [f"{kind}{number}" for number in range(annotators)]
    rows = []
    for number, name in itertools.product(range(count), names):
        annotator_kind = "human" if kind == "human" else f"llm:{name}"
        for question, options in QUESTIONS.items():
            rows.append((f"s{number}", name, annotator_kind, question, rng.choice(options)))
    return pd.DataFrame(rows, columns=ANNOTATION_COLUMNS)


def agreement(annotations, set_of_story=None):
    """What the notebook makes of annotations, where each story is a set or in the set named."""
    set_of_story = set_of_story or {story: story for story in annotations["story_id"]}
    table = pd.DataFrame(set_of_story.items(), columns=["story_id", "set_id"])
    names = {"annotated": annotations, "stories": table}
    return ran("2_filtering", "simpletom", "cell-08", **names)["reliability"]


def test_each_question_has_its_agreement_by_kind():
    table = agreement(pd.concat([drawn(9), drawn(5, 2, "llm")]))
    assert table["kind"].tolist() == ["human"] * 4 + ["llm"] * 4
    assert table["question"].tolist() == [*QUESTIONS] * 2
    assert table["annotators"].tolist() == [3] * 4 + [2] * 4
    assert table["stories"].tolist() == [9] * 4 + [5] * 4
    assert table["level"].tolist() == ["ordinal", "ordinal", "nominal", "nominal"] * 2


def test_interval_of_alpha_clusters_on_sets_of_entities():
    """Left out set by set, by the library and a plain loop in place of summed counts."""
    annotations = drawn(12).query("question == 'unlikely_noticed'")
    codes = annotations["answer"].map(QUESTIONS["unlikely_noticed"].index)
    wide = annotations.assign(code=codes).pivot(
        index="story_id", columns="annotator", values="code"
    )
    set_of_story = {f"s{number}": f"set{number // 3}" for number in range(12)}
    sets = wide.index.map(set_of_story)

    def alpha(rows):
        return krippendorff.alpha(rows.to_numpy(float).T, level_of_measurement="ordinal")

    whole = alpha(wide)
    changes = np.array([alpha(wide[sets != name]) - whole for name in sorted(set(sets))])
    squares = (changes**2).sum()
    freedom = 8 / (4 * (changes**4).sum() / squares**2 - 1)
    width = student.ppf(0.975, max(min(3, freedom), 1)) * np.sqrt(squares)
    # On the logit between -1 and 1: half of it is artanh, with the slope 1 / (1 - alpha ** 2).
    ends = np.tanh(np.arctanh(whole) + np.array([-1, 1]) * width / (1 - whole**2))
    row = agreement(annotations, set_of_story).iloc[0]
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends)
    assert agreement(annotations).iloc[0]["ci_low"] != pytest.approx(ends[0], abs=1e-3)


def test_one_annotator_agrees_with_nobody():
    table = agreement(annotated(answers("s1", "w1")))
    assert table["stories"].tolist() == [0] * 4
    assert table[["percent_agreement", "alpha", "ci_low"]].isna().all(axis=None)
    assert agreement(annotated()).empty
