"""`checks/keys.py`: what records of events say follows from these, and a wrong key is noticed."""

import json
from copy import deepcopy
from functools import partial

import keys
import keys_bigtom
import pytest
from keys_omnitom import omnitom, released
from keys_tombench import read, tombench

from tomlab import paths
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.benchmarks.omnitom.items.records import CODES, read_records

SHOWN = partial(omnitom, shown=True)
SHARED = paths.ROOT.parent / "shared" / "datasets"


def disputes(part, record):
    """What a record of events disputes: by what it is about, the key and what follows."""
    return {about: (key, follows) for about, key, follows in part(record) if key != follows}


@pytest.fixture(scope="module")
def stories():
    records = read_records(paths.DATA / "omnitom" / "stories.jsonl")
    return [record for record in records if "record" in record]


@pytest.fixture(scope="module")
def talks():
    return read_sets(paths.DATA / "fantom" / "fantom.json")


def test_omnitoms_gold_follows_where_a_find_is_seen_by_all_who_are_there(stories):
    assert len(stories) == 10
    for story in stories:
        assert not disputes(SHOWN, story)


def test_fantoms_keys_follow(talks):
    for talk in talks:
        assert not disputes(keys.fantom, talk)


@pytest.mark.parametrize("fault", ["place", "truth_status", "knowledge_access", "left out"])
def test_a_wrong_row_of_a_gold_table_is_noticed(stories, fault):
    other = {"True": "False", "False": "True"}
    other |= {"Private": "Public", "Public": "Shared", "Shared": "Private"}
    for story in stories[: len(stories) // 2]:
        places = {step["container"] for step in story["record"] if "container" in step}
        for number, row in enumerate(story["beliefs"]):
            named = [place for place in places if place in row["belief"]]
            if not named or " at first" in row["belief"] or "To begin with" in row["belief"]:
                continue
            if fault == "truth_status" and row["labels"]["content_type"] == "Action/Event":
                continue
            wrong = deepcopy(story)
            if fault == "left out":
                del wrong["beliefs"][number]
            elif fault == "place":
                elsewhere = min(places - {named[0]})
                wrong["beliefs"][number]["belief"] = row["belief"].replace(named[0], elsewhere)
            else:
                wrong["beliefs"][number]["labels"][fault] = other[row["labels"][fault]]
            assert disputes(SHOWN, wrong), (row, fault)


def with_fault(talk, field, number=None):
    """A question set with another key: of a yes or no question, or of a pair of answers."""
    wrong = deepcopy(talk)
    question = wrong[field] if number is None else wrong[field][number]
    if "wrong_answer" in question:
        right = question["correct_answer"]
        question |= {"correct_answer": question["wrong_answer"], "wrong_answer": right}
    else:
        question["correct_answer"] = "no" if question["correct_answer"] == "yes" else "yes"
    return wrong


def test_a_wrong_key_of_a_question_set_is_noticed(talks):
    for talk in talks[::12]:
        for field in ("answerabilityQA_list", "infoAccessibilityQA_list"):
            assert disputes(keys.fantom, with_fault(talk, field))
        for field in ("answerabilityQAs_binary", "infoAccessibilityQAs_binary", "beliefQAs"):
            for number in range(len(talk[field])):
                assert disputes(keys.fantom, with_fault(talk, field, number))


def test_keys_are_noticed_that_do_not_fit_who_was_there(talks):
    """PersonX stays all the time, and the keys are of somebody who misses the fact."""
    missed = [t for t in talks if t["beliefQAs"][0]["missed_info_accessibility"] == "inaccessible"]
    wrong = deepcopy(missed[0])
    person = wrong["record"]["person_x"]
    events = wrong["record"]["events"]
    wrong["record"]["events"] = [event for event in events if event["name"] != person]
    result = disputes(keys.fantom, wrong)
    assert result[f"belief of ({person!r},)"] == ([False, True], [True, False])
    assert result[f"answerability of {person}"] == ("no", "yes")


TEMPLATE = (
    "Ana runs a tea stall. Ana wants to serve mint tea. Ana fills a jar with mint. Ana believes that the jar holds"
    " mint. A helper swaps the mint for sage.;Ana sees the helper swap the leaves.;{missed};Ana fetches new mint.;"
    "Ana brews tea.;Does Ana believe the jar holds mint or sage?;Does Ana want to serve mint tea or sage tea?;What will"
    " Ana do?;{aware};Ana wants to serve mint tea.;Ana will fetch mint.;{unaware};Ana wants to serve mint tea.;Ana"
    " will brew tea.;A cup falls.;Ana sees the cup fall.;Ana does not see the cup fall.;auto;0\n"
)
MINT, SAGE = "Ana believes the jar holds mint.", "Ana believes the jar holds sage."
MISSED = "Ana does not see the helper swap the leaves."


def test_exchanged_answers_of_a_released_template_are_noticed(tmp_path):
    path = tmp_path / "bigtom.csv"
    rows = [(SAGE, MINT, MISSED), (MINT, SAGE, MISSED), (SAGE, MINT, "Ana looks the other way.")]
    texts = [TEMPLATE.format(aware=aware, unaware=unaware, missed=m) for aware, unaware, m in rows]
    path.write_text("".join(texts), encoding="utf-8")
    rows = {"followed": set(), "disputed": set(), "unknown": set()}
    for item, key, follows in keys_bigtom.bigtom(path):
        verdict = "unknown" if follows is None else "followed" if key == follows else "disputed"
        rows[verdict].add(item.split("/")[0])
    assert rows == {"followed": {"0", "2"}, "disputed": {"1"}, "unknown": {"2"}}


MOVED = "Ana and Bo stroll in the yard, they see pots and tins, they find a coin in the pot, Bo leaves the yard"
MOVED += ", Ana moves the coin to the tin."
LABELLED = (
    "Ana finds a tin in the yard, the label on the tin is tea, Ana opens the tin and finds salt"
)
LABELLED += ", Bo enters the yard and sees the tin."


def test_who_believes_what_in_a_transfer_and_behind_a_label():
    """Bo misses the move, and believes the label that he sees when Ana knows better."""
    at, first, thing = read(MOVED)
    assert (first, thing, at[()], at["ana",], at["bo",]) == ("pot", "coin", "tin", "tin", "pot")
    assert (at["ana", "bo"], at["bo", "ana"]) == ("pot", "pot")
    at, first, thing = read(LABELLED)
    assert (first, thing, at[()], at["ana",], at["bo",]) == ("tea", "tin", "salt", "salt", "tea")
    assert (at["ana", "bo"], at["bo", "ana"]) == ("tea", "tea")


@pytest.mark.parametrize(
    "odd",
    [
        MOVED.replace("Ana moves", "Ana hides"),
        MOVED.replace("the coin to", "the ring to"),
        MOVED.replace("Bo leaves", "Cy leaves"),
        MOVED.replace("they find", "they find a ring in the pot, they find"),
        "they see pots and tins.",
    ],
)
def test_a_story_with_anything_odd_is_not_read(odd):
    assert read(odd) is None


def disputed(results):
    """The items whose key does not follow."""
    return [item for item, key, follows in results if follows not in (None, key)]


def test_wrong_keys_of_tombench_are_noticed(tmp_path):
    asked = {
        "Where is the coin now?": "B",
        "Where is the coin before?": "A",
        "After Bo returns to the yard, where does Bo look for the coin?": "B",
        "After Bo returns to the yard, where does Ana think Bo looks for the coin?": "A",
        "Where does Cy look for the coin?": "A",
        "Why does Bo look for the coin?": "A",
    }
    options = {"OPTION-A": "Pots", "OPTION-B": "Tin", "OPTION-C": "Jar", "OPTION-D": "Box"}
    text = ""
    for question, answer in asked.items():
        row = {"STORY": MOVED, "QUESTION": question, "答案\nANSWER": answer} | options
        text += json.dumps(row) + "\n"
    for category in CODES:
        (tmp_path / f"{category}.jsonl").write_text(text, encoding="utf-8")
    results = [*tombench(tmp_path)]
    assert [follows for *_, follows in results] == ["B", "A", "A", "A", None, None]
    assert disputed(results) == ["2 (belief)"]


@pytest.mark.skipif(not (SHARED / "tombench").is_dir(), reason="no released files in ../shared")
def test_disputes_in_released_files_are_those_that_were_read():
    """docs/data.md says of each who is right."""
    results = [*tombench(SHARED / "tombench")]
    items = {int(item.split()[0]) for item in disputed(results)}
    assert items == {10, 72, 74, 102, 107, 161, 200, 261, 493, 495, 552, 554}
    assert sum(follows is not None for *_, follows in results) == 595
    rows = {"gold_sample": ["158/18", "194/19"], "worked_examples": ["14/2", "14/10"]}
    for name, expected in rows.items():
        assert disputed(released(SHARED / "omnitom" / f"{name}.jsonl")) == expected
