"""Sets with a record of who comes and goes: the file is refused where a field differs from it."""

import copy
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_quince import FULL, SHORT, changed, own_set, question_set
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.errors import InputError
from tomlab.paths import DATA

OURS = DATA / "fantom" / "fantom.json"


@pytest.fixture
def refusal(tmp_path):
    """What reading a file of sets says against it, "" if nothing."""
    path = tmp_path / "mine.json"

    def read(*sets):
        path.write_text(json.dumps(sets), encoding="utf-8")
        try:
            assert read_sets(path) == list(sets)
        except InputError as error:
            assert str(path) in str(error)
            return str(error)
        return ""

    return read


def retold():
    """Bruno is told of the tree when he is back."""
    short = SHORT.replace("We are on to watering now.", "Ilse planted a quince tree, Bruno.")
    full = FULL.replace("We are on to watering now.", "Ilse planted a quince tree, Bruno.")
    record = own_set(short_context=short, full_context=full, record__told=[4, 7])
    for belief in record["beliefQAs"]:
        right, wrong = belief["wrong_answer"], belief["correct_answer"]
        belief |= {"correct_answer": right, "wrong_answer": wrong}
        belief |= {
            "question_type": "tom:belief:accessible",
            "missed_info_accessibility": "accessible",
        }
    for family in ("answerability", "infoAccessibility"):
        record[f"{family}QA_list"] |= {
            "correct_answer": ["Noor", "Bruno", "Ilse"],
            "wrong_answer": ["Petra"],
        }
        record[f"{family}QAs_binary"][1]["correct_answer"] = "yes"
        for question in (record[f"{family}QA_list"], *record[f"{family}QAs_binary"]):
            question["missed_info_accessibility"] = "accessible"
    return record


def test_set_that_agrees_with_its_record_is_read_as_it_stands(refusal):
    assert refusal(own_set(), changed(retold(), set_id="12-0-2")) == ""


def test_set_without_a_record_is_read_without_this_check(refusal):
    assert refusal(question_set(answerabilityQA_list__correct_answer=["Petra"])) == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"answerabilityQA_list__correct_answer": ["Noor", "Ilse", "Bruno"]},
            "correct_answer: found ['Noor', 'Ilse', 'Bruno'], expected ['Noor', 'Ilse']",
        ),
        (
            {"infoAccessibilityQA_list__wrong_answer": ["Bruno"]},
            "QA_list.wrong_answer: found ['Bruno'], expected ['Bruno', 'Petra']",
        ),
        (
            {"infoAccessibilityQAs_binary__3__correct_answer": "no"},
            "field infoAccessibilityQAs_binary.3.correct_answer: found no, expected no:long",
        ),
        (
            {"answerabilityQAs_binary__0__correct_answer": "no"},
            "field answerabilityQAs_binary.0.correct_answer: found no, expected yes",
        ),
        ({"answerabilityQAs_binary__1": None}, "field answerabilityQAs_binary: found"),
        (
            {"answerabilityQA_list__missed_info_accessibility": "accessible"},
            "field answerabilityQA_list.missed_info_accessibility: found accessible",
        ),
        (
            {
                "beliefQAs__0__missed_info_accessibility": "accessible",
                "beliefQAs__0__question_type": "tom:belief:accessible",
            },
            "beliefQAs.0.question_type: found tom:belief:accessible, expected tom:belief:inac",
        ),
        (
            {"beliefQAs__1__correct_answer": "Ilse believes that Bruno saw a quince tree."},
            "field beliefQAs.1.correct_answer: found Ilse believes that Bruno saw",
        ),
        (
            {"beliefQAs__1__tom_type": "second-order:acyclic"},
            "expected what Noor believes, of Bruno",
        ),
        (
            {"beliefQAs__0__question": "What does Noor believe about what Ilse planted?"},
            "expected what Bruno believes, of Bruno",
        ),
        ({"record__told": [9]}, "field record.told: found [9], expected turns 2 to 8"),
        ({"record__told": [400]}, "field record.told: found [400], expected turns 2 to 8"),
        ({"record__start": 3}, "field short_context: found other turns, expected turns 3 to 8"),
        ({"record__end": 80}, "field short_context: found other turns, expected turns 2 to 80"),
        ({"record__there": ["Noor", "Ilse"]}, "record.events, turn 2: found Bruno leaves"),
        ({"record__there": ["Noor", "Bruno"]}, "full_context, turn 4: found Ilse speaks"),
        ({"record__events__1": None}, "field full_context, turn 6: found Bruno speaks"),
        ({"record__events__0": None}, "record.events, turn 6: found Bruno returns"),
        ({"record__events__0__turn": 3}, "expected a turn in which Bruno speaks"),
        ({"record__events__0__turn": 300}, "expected a turn in which Bruno speaks"),
        ({"record__events__2__turn": 10}, "field full_context, turn 9: found Petra speaks"),
        (
            {"full_context": FULL.replace("Ilse: I planted", "Bruno: Ilse planted")},
            "field full_context, turn 4: found Bruno speaks, expected somebody who is there",
        ),
    ],
)
def test_field_that_differs_from_the_record_is_refused(refusal, changes, said):
    message = refusal(own_set("1-0-0"), own_set("12-0-1", **changes))
    assert said in message
    assert "'12-0-1'" in message and "'1-0-0'" not in message


def test_all_differences_come_at_once(refusal):
    first = own_set("1-0-0", answerabilityQAs_binary__0__correct_answer="no")
    message = refusal(first, own_set("1-0-1", infoAccessibilityQA_list__wrong_answer=[]))
    assert "2 problems" in message
    assert "set_id '1-0-0', field answerabilityQAs_binary.0" in message
    assert "set_id '1-0-1', field infoAccessibilityQA_list.wrong_answer" in message


def test_who_was_not_there_to_see_it_is_not_asked_what_person_x_believes(refusal):
    """Noor leaves before Bruno comes back, and so can't tell whether he heard of the tree."""
    record = own_set()
    leaving = {"turn": 5, "event": "leaves", "name": "Noor", "reason": "get some water"}
    record["record"]["events"].append(leaving)
    record["record"]["events"].append({"turn": 7, "event": "returns", "name": "Noor"})
    message = refusal(record)
    assert "1 problem" in message
    assert "beliefQAs.2.question" in message and "expected what nobody believes" in message


ours = pytest.mark.skipif(not OURS.is_file(), reason="data is missing: `make data` pulls it")


@pytest.fixture(scope="module")
def sets():
    return json.loads(OURS.read_text(encoding="utf-8"))


@ours
@given(seed=st.integers(0, 2**32))
@settings(max_examples=5, deadline=None)
def test_order_of_sets_in_a_file_does_not_matter(sets, seed, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "shuffled.json"
    shuffled = random.Random(seed).sample(sets, len(sets))
    path.write_text(json.dumps(shuffled), encoding="utf-8")
    assert read_sets(path) == shuffled


@ours
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_record_without_an_event_of_person_x_is_refused(sets, data, tmp_path_factory):
    record = copy.deepcopy(data.draw(st.sampled_from(sets)))
    story = record["record"]
    of_x = [event for event in story["events"] if event["name"] == story["person_x"]]
    story["events"].remove(data.draw(st.sampled_from(of_x)))
    path = tmp_path_factory.getbasetemp() / "event.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    with pytest.raises(InputError, match=r"record\.events|full_context"):
        read_sets(path)


@ours
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_wrong_key_is_refused(sets, data, tmp_path_factory):
    record = copy.deepcopy(data.draw(st.sampled_from(sets)))
    family = data.draw(st.sampled_from(["answerability", "infoAccessibility"]))
    question = data.draw(st.sampled_from(record[f"{family}QAs_binary"]))
    others = {"yes", "no", "no:long"} - {question["correct_answer"]}
    question["correct_answer"] = data.draw(st.sampled_from(sorted(others)))
    path = tmp_path_factory.getbasetemp() / "key.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    with pytest.raises(InputError, match=f"{family}QAs_binary"):
        read_sets(path)


@ours
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_answers_of_a_belief_that_are_changed_for_each_other_are_refused(
    sets, data, tmp_path_factory
):
    record = copy.deepcopy(data.draw(st.sampled_from(sets)))
    belief = data.draw(st.sampled_from(record["beliefQAs"]))
    right, wrong = belief["wrong_answer"], belief["correct_answer"]
    belief |= {"correct_answer": right, "wrong_answer": wrong}
    path = tmp_path_factory.getbasetemp() / "belief.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    with pytest.raises(InputError, match="beliefQAs"):
        read_sets(path)
