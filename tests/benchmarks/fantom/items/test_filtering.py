"""Rule filters, the mentalizing criterion, annotators' flags, and what is kept."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_quince import FULL, SHORT, question_set
from tomlab.benchmarks.fantom.items.filtering import COLUMNS, faults, flagged, flags_form, overlap
from tomlab.records.files import read_form

NO_KEY = {"answerabilityQAs_binary__0__correct_answer": "no"}


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (
            "full_context",
            f"{FULL}\n(Bruno leaves the table.)",
            ("no turn", "found '(Bruno leaves the table.)', expected 'Name: text'"),
        ),
        (
            "short_context",
            SHORT.replace("Noor: See you, Bruno!\n", ""),
            ("not in full", "the short context is no part of the full one"),
        ),
        (
            "full_context",
            f"{FULL}\nIlse: Of course,  Petra!",
            ("repeated line", "two lines in a row are 'Ilse: Of course, Petra!'"),
        ),
        (
            "beliefQAs__0__correct_answer",
            "bruno believes that  Ilse planted a quince Tree.",
            ("equal answers", "'What does Bruno believe that Ilse planted?'"),
        ),
        (
            "infoAccessibilityQAs_binary__3__correct_answer",
            "yes",
            (
                "contradiction",
                "infoAccessibility: 'yes' to 'Does Petra know this?', unlike the list",
            ),
        ),
        (
            "answerabilityQA_list__wrong_answer",
            ["Bruno", "Petra", "noor "],
            ("contradiction", "answerability: noor listed as aware and as unaware"),
        ),
    ],
)
def test_each_fault_is_found_alone_and_told(path, value, fault):
    table = faults([question_set(source="llm:x", **{path: value})])
    expected = pd.DataFrame([("12-0-1", "llm:x", *fault, True)], columns=COLUMNS)
    pd.testing.assert_frame_equal(table, expected)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("answerabilityQA_list__correct_answer", ["NOOR", "ilse"]),
        ("short_context", SHORT.replace(" ", "  ").replace("\n", " \r\n\n")),
    ],
)
def test_case_of_a_name_and_spacing_of_a_line_do_not_matter(path, value):
    table = faults([question_set(**{path: value})])
    assert table.columns.tolist() == COLUMNS
    assert table.empty


def test_released_set_is_reported_and_never_dropped():
    sets = [
        question_set("1-0-0", **NO_KEY),
        question_set("2-0-0", source="released:mine", **NO_KEY),
        question_set("3-0-0", source="authored", **NO_KEY),
    ]
    table = faults(sets)
    assert table["source"].tolist() == ["released:fantom_v1", "released:mine", "authored"]
    assert table["dropped"].tolist() == [False, False, True]


CONTEXTS = st.lists(st.text(max_size=20) | st.sampled_from(FULL.splitlines())).map("\n".join)


@given(CONTEXTS, CONTEXTS)
@settings(max_examples=30, deadline=None)
def test_any_text_is_judged(short, full):
    table = faults([question_set(short_context=short, full_context=full)])
    assert not table["dropped"].any()


# The mentalizing criterion


def test_answer_that_matches_the_words_of_the_context_is_the_wrong_one():
    [row] = overlap([question_set()]).to_dict("records")
    assert row["set_id"] == "12-0-1"
    assert (row["scenario"], row["tom_type"]) == ("inaccessible", "first-order")
    # Neither "new" nor "garden" stands in the short context; "planted", "quince" and "tree" do.
    assert (row["right_overlap"], row["wrong_overlap"], row["meets"]) == (0, 1, True)


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("PLANTED, quince; apple? (pear)", 1 / 2),
        ("A tree's dawn", 1),
        ("tree tree apple", 2 / 3),
        ("Bruno does not know anything.", 0),
        ("Bruno, Noor and Petra", 0),
        ("…", 0),
    ],
)
def test_share_of_content_words_in_the_short_context(answer, share):
    table = overlap([question_set(beliefQAs__0__correct_answer=answer)])
    assert table["right_overlap"].tolist() == pytest.approx([share])


def test_criterion_is_not_asked_of_what_everybody_heard():
    heard = question_set(beliefQAs__0__question_type="tom:belief:accessible")
    assert overlap([heard])["meets"].isna().all()


# Flags


def flags(people: str = "", models: str = "") -> pd.DataFrame:
    """Verdicts of people and models on whether a set is incoherent, "y" or "n" for each."""
    verdicts = [{"y": "yes", "n": "no"}[letter] for letter in people + models]
    kinds = ["human"] * len(people) + ["llm:x"] * len(models)
    table = pd.DataFrame({"verdict": verdicts, "annotator_type": kinds}, dtype=object)
    names = [f"w{number}" for number in range(len(table))]
    return table.assign(set_id="12-0-1", annotator=names, kind="coherence")


def test_flags_are_read_as_they_stand(tmp_path):
    path = tmp_path / "flags.csv"
    flags("n", "y").to_csv(path, index=False)
    table = read_form(path, flags_form({"12-0-1"}))
    assert table["annotator_type"].tolist() == ["human", "llm:x"]


@pytest.mark.parametrize(
    ("people", "models", "expected"),
    [
        ("yyn", "nnn", [[2, 3, True]]),
        ("ynn", "yyy", [[1, 3, False]]),
        ("yn", "", [[1, 2, False]]),
        ("", "yyy", []),
    ],
)
def test_majority_is_of_people_alone(people, models, expected):
    table = flagged([question_set(source="llm:x")], flags(people, models))
    assert table[["yes", "people", "dropped"]].values.tolist() == expected


def test_a_released_set_stays_whatever_people_say():
    assert not flagged([question_set()], flags("yyy"))["dropped"].any()
