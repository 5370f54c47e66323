"""Rule filters, the mentalizing criterion, annotators' flags, and what is kept."""

import copy

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_quince import FULL, SHORT, question_set
from tomlab.benchmarks.fantom.items.filtering import (
    RULES,
    faults,
    flagged,
    flags_form,
    overlap,
)
from tomlab.errors import InputError
from tomlab.records.files import read_form

FLAG_COLUMNS = ("set_id", "annotator", "kind", "verdict", "annotator_type")
FLAG = {
    "set_id": "12-0-1",
    "annotator": "w1",
    "kind": "coherence",
    "verdict": "no",
    "annotator_type": "human",
}


ACCESSIBLE = {
    "beliefQAs__0__question_type": "tom:belief:accessible",
    "beliefQAs__0__missed_info_accessibility": "accessible",
}


def found(**changes):
    """Rule and finding of all faults of a set of our own with `changes`."""
    table = faults([question_set(**{"source": "llm:x", **changes})])
    assert set(table["rule"]) <= set(RULES) and table["dropped"].all()
    return (table["rule"] + ": " + table["found"]).tolist()


# Faults


def test_set_without_fault_has_no_row_and_is_kept():
    sets = [question_set(source="llm:x")]
    table = faults(sets)
    assert list(table.columns) == ["set_id", "source", "rule", "found", "dropped"]
    assert table.empty


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"full_context": f"{FULL}\n(Bruno leaves the table.)"},
            "no turn: found '(Bruno leaves the table.)', expected 'Name: text'",
        ),
        (
            {"short_context": SHORT.replace("at dawn", "at noon")},
            "not in full: the short context is no part of the full one",
        ),
        (
            {"short_context": SHORT.replace("Noor: See you, Bruno!\n", "")},
            "not in full: the short context is no part of the full one",
        ),
        (
            {"full_context": f"{FULL}\nIlse: Of course,  Petra!"},
            "repeated line: two lines in a row are 'Ilse: Of course, Petra!'",
        ),
        (
            {
                "beliefQAs__0__correct_answer": "Bruno knows of no tree.",
                "beliefQAs__0__wrong_answer": "bruno knows of  no Tree.",
                **ACCESSIBLE,
            },
            "equal answers: 'What does Bruno believe that Ilse planted?'",
        ),
        (
            {"answerabilityQAs_binary__0__correct_answer": "no"},
            "contradiction: answerability: 'no' to 'Does Noor know this?', unlike the list",
        ),
        (
            {"infoAccessibilityQAs_binary__3__correct_answer": "yes"},
            "contradiction: infoAccessibility: 'yes' to 'Does Petra know this?', unlike the list",
        ),
        (
            {"answerabilityQA_list__wrong_answer": ["Bruno", "Petra", "noor "]},
            "contradiction: answerability: noor listed as aware and as unaware",
        ),
    ],
)
def test_each_fault_is_found_alone_and_told(changes, reason):
    assert found(**changes) == [reason]


def test_case_of_a_name_and_spacing_of_a_line_do_not_matter():
    assert found(answerabilityQA_list__correct_answer=["NOOR", "ilse"]) == []
    assert found(short_context=SHORT.replace(" ", "  ").replace("\n", " \r\n\n")) == []


def test_released_set_is_reported_and_never_dropped():
    broken = {"answerabilityQAs_binary__0__correct_answer": "no"}
    sets = [
        question_set("1-0-0", **broken),
        question_set("2-0-0", source="released:mine", **broken),
        question_set("3-0-0", source="authored", **broken),
    ]
    table = faults(sets)
    assert table["source"].tolist() == ["released:fantom_v1", "released:mine", "authored"]
    assert table["dropped"].tolist() == [False, False, True]


def test_rules_leave_records_as_they_are():
    sets = [question_set(source="llm:x", factQA__wrong_answer="x", short_context="Petra left.")]
    before = copy.deepcopy(sets)
    faults(sets)
    overlap(sets)
    assert sets == before


lines = st.lists(st.text(max_size=20) | st.sampled_from(FULL.splitlines()), min_size=1, max_size=6)


@given(lines, lines)
@settings(max_examples=60, deadline=None)
def test_any_text_is_judged(short, full):
    table = faults([question_set(short_context="\n".join(short), full_context="\n".join(full))])
    assert not table["dropped"].any()


# The mentalizing criterion


def overlaps(**changes):
    [row] = overlap([question_set(**changes)]).to_dict("records")
    return row


def test_answer_that_matches_the_words_of_the_context_is_the_wrong_one():
    row = overlaps()
    assert row["set_id"] == "12-0-1"
    assert row["question"] == "What does Bruno believe that Ilse planted?"
    assert (row["scenario"], row["tom_type"]) == ("inaccessible", "first-order")
    # Neither "new" nor "garden" stands in the short context.
    assert row["right_overlap"] == 0
    # "planted", "quince" and "tree" do.
    assert row["wrong_overlap"] == 1
    assert row["meets"] is True


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("Bruno believes that Ilse planted a quince.", 1),
        ("PLANTED, quince; apple? (pear)", 1 / 2),
        ("A tree's dawn", 1),
        ("tree tree apple", 2 / 3),
        ("Bruno does not know anything.", 0),
        ("Bruno, Noor and Petra", 0),
        ("…", 0),
        ("Shall we talk about our gardens?", 0),
    ],
)
def test_share_of_content_words_in_the_short_context(answer, share):
    row = overlaps(beliefQAs__0__correct_answer=answer)
    assert row["right_overlap"] == pytest.approx(share)


def test_criterion_is_not_asked_of_what_everybody_heard():
    sets = [question_set(beliefQAs__0__correct_answer="A quince.", **ACCESSIBLE)]
    assert overlap(sets)["meets"].isna().all()


# Reading flags


@pytest.fixture
def file(tmp_path):
    def write(*rows):
        lines = [",".join(FLAG_COLUMNS), *(",".join((FLAG | row).values()) for row in rows)]
        path = tmp_path / "flags.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def test_flags_are_read_as_they_stand(file):
    model = {"annotator": "gpt", "annotator_type": "llm:gpt-4o", "verdict": "yes"}
    table = read_form(file({}, model), flags_form({"12-0-1"}))
    assert list(table.columns) == list(FLAG_COLUMNS)
    assert table["annotator_type"].tolist() == ["human", "llm:gpt-4o"]
    assert read_form(file(), flags_form(set())).empty


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"set_id": "9-0-0"}, "set_id: found '9-0-0', expected the id of a set"),
        ({"annotator": " "}, "annotator: found nothing"),
        ({"kind": "beauty"}, "kind: found 'beauty', expected coherence, safety, answer"),
        ({"verdict": "Yes"}, "verdict: found 'Yes', expected yes, no"),
        ({"annotator_type": "llm"}, "annotator_type: found 'llm', expected human or llm:<model>"),
    ],
)
def test_bad_row_is_told_by_line_and_field(file, row, said):
    with pytest.raises(InputError, match=f"row 3, field {said}"):
        read_form(file({"annotator": "w2"}, row), flags_form({"12-0-1"}))


# Votes


def votes(people="", models="", kind="coherence", set_id="12-0-1"):
    """Flags of people and models, "y" and "n" for each."""
    rows = [("human", verdict) for verdict in people] + [("llm:x", verdict) for verdict in models]
    return pd.DataFrame(
        [
            (set_id, f"w{i}", kind, {"y": "yes", "n": "no"}[verdict], who)
            for i, (who, verdict) in enumerate(rows)
        ],
        columns=FLAG_COLUMNS,
    )


@pytest.mark.parametrize(
    ("people", "models", "majority"),
    [
        ("yyy", "", True),
        ("yyn", "nnn", True),
        ("ynn", "yyy", False),
        ("yn", "", False),
        ("y", "", True),
        ("", "yyy", False),
        ("nnn", "yyyyyy", False),
    ],
)
def test_majority_is_of_people_alone(people, models, majority):
    sets = [question_set(source="llm:x")]
    found = flagged(sets, votes(people, models))
    told = (people.count("y"), len(people), majority)
    assert found[["yes", "people", "dropped"]].values.tolist() == ([[*told]] if people else [])


def test_no_flags_give_no_row_and_a_released_set_stays():
    assert flagged([question_set()], votes()).empty
    assert not flagged([question_set()], votes("yyy"))["dropped"].any()
