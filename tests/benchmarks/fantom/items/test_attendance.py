"""Sets with a record of who comes and goes: the file is refused where a field differs from it."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_quince import own_set, question_set
from tomlab.benchmarks.fantom.items.attendance import disputes
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.paths import DATA

OURS = DATA / "fantom" / "fantom.json"


def exchange_answers(belief: dict):
    right = belief["correct_answer"]
    belief["correct_answer"] = belief["wrong_answer"]
    belief["wrong_answer"] = right


def test_sets_that_agree_with_their_record_or_have_none_are_read_as_they_stand(refusal):
    without_record = question_set("1-0-0", answerabilityQA_list__correct_answer=["Petra"])
    assert refusal([own_set(), without_record]) == ""


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("answerabilityQA_list__correct_answer", ["Noor"], "found ['Noor'], expected ['Noor', 'Il"),
        ("infoAccessibilityQAs_binary__3__correct_answer", "no", "found no, expected no:long"),
        ("answerabilityQAs_binary__1", None, "answerabilityQAs_binary: found 3, expected 4"),
        ("beliefQAs__1__tom_type", "second-order:acyclic", "expected what Noor believes, of Bruno"),
        ("record__told", [9], "record.told: found [9], expected turns 2 to 8"),
        ("record__end", 80, "short_context: found other turns, expected turns 2 to 80"),
        ("record__there", ["Noor", "Bruno"], "full_context, turn 4: found Ilse speaks"),
        ("record__events__1", None, "full_context, turn 6: found Bruno speaks"),
        ("record__events__0__turn", 300, "expected a turn in which Bruno speaks"),
    ],
)
def test_field_that_differs_from_the_record_is_refused(refusal, path, value, message):
    refused = refusal([own_set("1-0-0"), own_set("12-0-1", **{path: value})])
    assert message in refused
    assert "'12-0-1'" in refused
    assert "'1-0-0'" not in refused


def test_who_was_not_there_to_see_it_is_not_asked_what_person_x_believes(refusal):
    """Noor leaves before Bruno comes back, and so can't tell whether he heard of the tree."""
    record = own_set()
    for turn, event in ((5, "leaves"), (7, "returns")):
        record["record"]["events"].append({"turn": turn, "event": event, "name": "Noor"})
    message = refusal([record])
    assert "1 problem" in message
    assert "beliefQAs.2.question" in message
    assert "expected what nobody believes" in message


@pytest.fixture(scope="module")
def sets():
    return read_sets(OURS)


@pytest.mark.skipif(not OURS.is_file(), reason="data is missing: `make data` pulls it")
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_what_is_changed_in_one_of_our_sets_is_disputed(sets, data):
    record = copy.deepcopy(data.draw(st.sampled_from(sets)))
    story = record["record"]
    field = data.draw(
        st.sampled_from(["record.events", "infoAccessibilityQAs_binary", "beliefQAs"])
    )
    if field == "record.events":
        of_x = [event for event in story["events"] if event["name"] == story["person_x"]]
        story["events"].remove(data.draw(st.sampled_from(of_x)))
    if field == "infoAccessibilityQAs_binary":
        question = data.draw(st.sampled_from(record[field]))
        question["correct_answer"] = "no" if question["correct_answer"] == "yes" else "yes"
    if field == "beliefQAs":
        exchange_answers(data.draw(st.sampled_from(record[field])))
    assert any(dispute.startswith((field, "full_context")) for dispute in disputes(record))
