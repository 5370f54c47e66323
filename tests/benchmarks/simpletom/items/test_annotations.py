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
ROW = {
    "story_id": "s1",
    "annotator": "w1",
    "annotator_kind": "human",
    "question": "action_aware",
    "answer": "yes",
}


def answers(story_id, annotator, given="yes yes yes yes", kind="human"):
    """One annotator's answers to a story, in the order of `QUESTIONS`; "-" is none."""
    return [
        (story_id, annotator, kind, question, answer)
        for question, answer in zip(QUESTIONS, given.split(), strict=True)
        if answer != "-"
    ]


def annotated(*parts):
    return pd.DataFrame(itertools.chain(*parts), columns=ANNOTATION_COLUMNS)


def three(story_id, *given, kind="human"):
    return annotated(
        *(answers(story_id, f"w{i}", text, kind) for i, text in enumerate(given, start=1))
    )


# Reading annotations


@pytest.fixture
def file(tmp_path):
    def write(*rows, header=ANNOTATION_COLUMNS):
        lines = [",".join(header)]
        lines += [
            row if isinstance(row, str) else ",".join({**ROW, **row}[n] for n in header)
            for row in rows
        ]
        path = tmp_path / "annotations.csv"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.fixture
def complaint(file):
    def read(*rows, **options):
        with pytest.raises(InputError) as caught:
            read_form(file(*rows, **options), FORM)
        assert "annotations.csv" in str(caught.value)
        return str(caught.value)

    return read


def test_annotations_are_read_as_they_stand(file):
    table = read_form(file({}, {"annotator": "gpt", "annotator_kind": "llm:gpt-4o"}), FORM)
    assert list(table.columns) == list(ANNOTATION_COLUMNS)
    assert table["annotator_kind"].tolist() == ["human", "llm:gpt-4o"]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("answer", ["yes", "possibly", "no", "Yes", "maybe", ""])
def test_each_question_has_its_own_answers(file, complaint, question, answer):
    row = {"question": question, "answer": answer}
    three_valued = question in ("different_from_commonsense", "unlikely_noticed")
    if answer in ("yes", "no") or (answer == "possibly" and three_valued):
        assert len(read_form(file(row), FORM)) == 1
    else:
        expected = "no, possibly, yes" if three_valued else "no, yes"
        found = repr(answer) if answer else "nothing"
        assert f"row 2, field answer: found {found}, expected {expected}" in complaint(row)


@pytest.mark.parametrize("kind", ["", "llm", "llm:", "Human", "crowd", "llm:a b"])
def test_kind_is_said_and_never_assumed(complaint, kind):
    said = complaint({"annotator_kind": kind})
    found = repr(kind) if kind else "nothing"
    assert f"row 2, field annotator_kind: found {found}, expected human or llm:<model>" in said


def test_annotator_is_of_one_kind(complaint):
    said = complaint({}, {"story_id": "s2", "annotator_kind": "llm:x"})
    assert "row 3, field annotator_kind: found 'llm:x', expected human" in said


# The strict filter


def verdict(annotations):
    [row] = valid(stories({}), annotations).to_dict("records")
    assert row["status"] in ("valid", "invalid", "unannotated")
    return row


def test_story_is_valid_when_three_annotators_say_no_to_nothing():
    row = verdict(three("s1", "yes yes yes yes", "possibly yes yes yes", "yes possibly yes yes"))
    assert row == {"story_id": "s1", "annotators": 3, "status": "valid", "reason": ""}


@pytest.mark.parametrize("question", QUESTIONS)
def test_one_no_to_any_question_makes_a_story_invalid(question):
    given = " ".join("no" if name == question else "yes" for name in QUESTIONS)
    row = verdict(three("s1", "yes yes yes yes", given, "yes yes yes yes"))
    assert row["status"] == "invalid"
    assert row["reason"] == f"{question}: no by w2"


def test_no_counts_before_three_have_answered():
    assert verdict(three("s1", "- - - no"))["status"] == "invalid"


def test_story_without_annotations_is_unannotated_not_invalid():
    row = verdict(annotated())
    assert (row["status"], row["annotators"], row["reason"]) == ("unannotated", 0, "")


def test_two_annotators_are_not_enough():
    row = verdict(three("s1", "yes yes yes yes", "yes yes yes yes"))
    assert (row["status"], row["annotators"]) == ("unannotated", 2)


def test_annotator_who_left_a_question_open_does_not_count():
    row = verdict(three("s1", "yes yes yes yes", "yes yes yes yes", "yes yes yes -"))
    assert (row["status"], row["annotators"]) == ("unannotated", 2)


def test_people_and_models_do_not_add_up():
    people = three("s1", "yes yes yes yes", "yes yes yes yes")
    models = annotated(
        *(answers("s1", name, "yes yes yes no", f"llm:{name}") for name in ("a", "b", "c"))
    )
    both = pd.concat([people, models])
    assert verdict(both)["status"] == "unannotated"


def test_every_story_has_a_verdict_in_its_place():
    table = valid(stories({}, {}, {}), three("s2", *["yes yes yes yes"] * 3))
    assert table["story_id"].tolist() == ["s1", "s2", "s3"]
    assert table["status"].tolist() == ["unannotated", "valid", "unannotated"]
    assert valid(stories({})[:0], annotated()).empty


# Agreement


def drawn(count, annotators=3, kind="human", seed=0):
    rng = np.random.default_rng(seed)
    names = [f"{kind}{j}" for j in range(annotators)]
    rows = [
        (f"s{i}", name, kind if kind == "human" else f"llm:{name}", question, rng.choice(allowed))
        for i in range(count)
        for name in names
        for question, allowed in QUESTIONS.items()
    ]
    return pd.DataFrame(rows, columns=ANNOTATION_COLUMNS)


def alone_in_their_sets(annotations):
    return {story: f"set of {story}" for story in annotations["story_id"]}


def agreement_report(annotations, sets):
    """What the notebook makes of annotations; sets: of entities, by story."""
    stories = pd.DataFrame(sets.items(), columns=["story_id", "set_id"])
    given = {"annotated": annotations, "stories": stories}
    return ran("2_filtering", "simpletom", "cell-08", **given)["reliability"]


def report(annotations):
    """The agreement where no two stories are of one set of entities."""
    return agreement_report(annotations, alone_in_their_sets(annotations))


def test_each_question_has_its_agreement_by_kind():
    table = report(pd.concat([drawn(9), drawn(5, 2, "llm")]))
    assert table["kind"].tolist() == ["human"] * 4 + ["llm"] * 4
    assert table["question"].tolist() == [*QUESTIONS] * 2
    assert table["annotators"].tolist() == [3] * 4 + [2] * 4
    assert table["stories"].tolist() == [9] * 4 + [5] * 4
    assert table["level"].tolist() == ["ordinal", "ordinal", "nominal", "nominal"] * 2


def test_interval_of_alpha_clusters_on_sets_of_entities():
    """Left out set by set, by the library and a plain loop in place of summed counts."""
    annotations = drawn(12).query("question == 'unlikely_noticed'")
    stories = [f"s{i}" for i in range(12)]
    sets = {story: f"set{i // 3}" for i, story in enumerate(stories)}
    allowed = QUESTIONS["unlikely_noticed"]
    codes = annotations.assign(code=annotations["answer"].map(allowed.index))
    wide = codes.pivot(index="story_id", columns="annotator", values="code")

    def alpha(kept):
        rated = wide.loc[kept].to_numpy(float).T
        return krippendorff.alpha(rated, level_of_measurement="ordinal")

    without = [[s for s in stories if sets[s] != left] for left in sorted(set(sets.values()))]
    moved = np.array([alpha(kept) for kept in without]) - alpha(stories)
    squares = (moved**2).sum()
    worth = 8 / (4 * (moved**4).sum() / squares**2 - 1)
    width = student.ppf(0.975, max(min(3, worth), 1)) * np.sqrt(squares)
    # On the logit between -1 and 1: half of it is artanh, with the slope 1 / (1 - alpha ** 2).
    whole = alpha(stories)
    ends = [np.tanh(np.arctanh(whole) + way * width / (1 - whole**2)) for way in (-1, 1)]
    [row] = agreement_report(annotations, sets).to_dict("records")
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends)
    [alone] = report(annotations).to_dict("records")
    assert alone["alpha"] == row["alpha"]
    assert [alone["ci_low"], alone["ci_high"]] != pytest.approx(ends, abs=1e-3)


def test_one_annotator_agrees_with_nobody():
    table = report(annotated(answers("s1", "w1")))
    assert table["stories"].tolist() == [0] * 4
    assert table[["percent_agreement", "alpha", "ci_low"]].isna().all(axis=None)


def test_nothing_annotated_nothing_reported():
    assert report(annotated()).empty
