"""Sets with a record of who comes and goes: the file is refused where a field differs from it."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_quince import FULL, SHORT, changed, own_set, question_set
from tomlab.benchmarks.fantom.items.attendance import disputes
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.paths import DATA

OURS = DATA / "fantom" / "fantom.json"
TOLD_AGAIN = ("We are on to watering now.", "Ilse planted a quince tree, Bruno.")


def retold():
    """Bruno is told of the tree when he is back."""
    record = own_set(
        short_context=SHORT.replace(*TOLD_AGAIN),
        full_context=FULL.replace(*TOLD_AGAIN),
        record__told=[4, 7],
    )
    scenario = {"missed_info_accessibility": "accessible"}
    for belief in record["beliefQAs"]:
        belief |= {"question_type": "tom:belief:accessible"} | scenario
        exchange_answers(belief)
    for family in ("answerability", "infoAccessibility"):
        lists = {"correct_answer": ["Noor", "Bruno", "Ilse"], "wrong_answer": ["Petra"]}
        record[f"{family}QA_list"] |= lists | scenario
        record[f"{family}QAs_binary"][1]["correct_answer"] = "yes"
        for question in record[f"{family}QAs_binary"]:
            question |= scenario
    return record


def exchange_answers(belief: dict):
    right = belief["correct_answer"]
    belief["correct_answer"] = belief["wrong_answer"]
    belief["wrong_answer"] = right


def test_set_that_agrees_with_its_record_is_read_as_it_stands(refusal):
    assert refusal([own_set(), changed(retold(), set_id="12-0-2")]) == ""


def test_set_without_a_record_is_read_without_this_check(refusal):
    assert refusal([question_set(answerabilityQA_list__correct_answer=["Petra"])]) == ""


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("answerabilityQA_list__correct_answer", ["Noor"], "found ['Noor'], expected ['Noor', 'Il"),
        ("infoAccessibilityQAs_binary__3__correct_answer", "no", "found no, expected no:long"),
        ("answerabilityQAs_binary__1", None, "answerabilityQAs_binary: found 3, expected 4"),
        ("beliefQAs__1__correct_answer", "Ilse believes it is a tree.", "found Ilse believes it"),
        ("beliefQAs__1__tom_type", "second-order:acyclic", "expected what Noor believes, of Bruno"),
        ("beliefQAs__0__question", "What does Noor believe?", "what Bruno believes, of Bruno"),
        ("record__told", [9], "record.told: found [9], expected turns 2 to 8"),
        ("record__start", 3, "short_context: found other turns, expected turns 3 to 8"),
        ("record__end", 80, "short_context: found other turns, expected turns 2 to 80"),
        ("record__there", ["Noor", "Ilse"], "record.events, turn 2: found Bruno leaves"),
        ("record__there", ["Noor", "Bruno"], "full_context, turn 4: found Ilse speaks"),
        ("record__events__1", None, "full_context, turn 6: found Bruno speaks"),
        ("record__events__0", None, "record.events, turn 6: found Bruno returns"),
        ("record__events__0__turn", 300, "expected a turn in which Bruno speaks"),
        ("record__events__2__turn", 10, "full_context, turn 9: found Petra speaks"),
    ],
)
def test_field_that_differs_from_the_record_is_refused(refusal, path, value, message):
    refused = refusal([own_set("1-0-0"), own_set("12-0-1", **{path: value})])
    assert message in refused
    assert "'12-0-1'" in refused
    assert "'1-0-0'" not in refused


def test_belief_of_another_scenario_is_refused(refusal):
    belief = own_set()["beliefQAs"][0] | {"question_type": "tom:belief:accessible"}
    belief["missed_info_accessibility"] = "accessible"
    message = refusal([own_set(beliefQAs__0=belief)])
    assert "found tom:belief:accessible, expected tom:belief:inaccessible" in message


def test_all_differences_come_at_once(refusal):
    first = own_set("1-0-0", answerabilityQAs_binary__0__correct_answer="no")
    message = refusal([first, own_set("1-0-1", infoAccessibilityQA_list__wrong_answer=[])])
    assert "2 problems" in message
    assert "set_id '1-0-0', field answerabilityQAs_binary.0" in message
    assert "set_id '1-0-1', field infoAccessibilityQA_list.wrong_answer" in message


def test_who_was_not_there_to_see_it_is_not_asked_what_person_x_believes(refusal):
    """Noor leaves before Bruno comes back, and so can't tell whether he heard of the tree."""
    record = own_set()
    leaving = {"turn": 5, "event": "leaves", "name": "Noor"}
    record["record"]["events"] += [leaving, {"turn": 7, "event": "returns", "name": "Noor"}]
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
    change = data.draw(st.sampled_from(["event", "key", "belief"]))
    if change == "event":
        of_x = [event for event in story["events"] if event["name"] == story["person_x"]]
        story["events"].remove(data.draw(st.sampled_from(of_x)))
    if change == "key":
        question = data.draw(st.sampled_from(record["infoAccessibilityQAs_binary"]))
        others = {"yes", "no", "no:long"} - {question["correct_answer"]}
        question["correct_answer"] = data.draw(st.sampled_from(sorted(others)))
    if change == "belief":
        exchange_answers(data.draw(st.sampled_from(record["beliefQAs"])))
    fields = {
        "event": ("record.events", "full_context"),
        "key": "infoAccessibilityQAs_binary",
        "belief": "beliefQAs",
    }
    assert any(dispute.startswith(fields[change]) for dispute in disputes(record))
