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

SHARED = paths.ROOT.parent / "shared" / "datasets"


def disputes(part, record):
    return {
        about: (found, expected) for about, found, expected in part(record) if found != expected
    }


@pytest.fixture(scope="module")
def stories():
    records = read_records(paths.DATA / "omnitom" / "stories.jsonl")
    return [record for record in records if "record" in record]


@pytest.fixture(scope="module")
def talks():
    return read_sets(paths.DATA / "fantom" / "fantom.json")


def test_omnitoms_gold_follows_where_a_find_is_seen_by_all_who_are_there(stories):
    assert len(stories) == 10
    assert not [found for one in stories if (found := disputes(partial(omnitom, shown=True), one))]


def test_omnitoms_gold_and_the_story_language_differ_in_who_sees_what_is_found(stories):
    """A moves the thing while B is away; B comes back and looks, and A sees that.

    By the story language, A learns that B knows, and B learns nothing of A, who may not know what
    is in there. By the benchmark's rule, both perceive the find, "each knowing of the others" (`seen_by`), and
    what all have perceived, each knowing this of the others, is Public (docs/data_omnitom.md). So by the
    benchmark's own rule the gold is right. The rule of the story language is narrower.
    """
    for one in stories:
        start, *_, last = one["record"]
        found = disputes(omnitom, one)
        if start["kind"] != "found transfer":
            assert not found, start["kind"]
            continue
        looker = last["actor"]
        (mover,) = {*start["actors"]} - {looker}
        apart = {(looker, mover), (looker, mover, looker), (mover, looker, mover)}
        told = {about for about in found if not about.startswith("access")}
        # What B takes A to believe, and A takes B to take A to believe, is where it was at first.
        where = {f"where {chain} has it" for chain in apart}
        assert told == where | {f"truth of {(mover, looker, mover)}"}
        assert {found[about] for about in where} == {(last["container"], start["container"])}
        # So they do not have it in common, of which there are the world's row and one for each.
        common = [found[about] for about in found if about.startswith("access")]
        assert common == [("Public", "Private")] * 3


def test_fantoms_keys_follow(talks):
    assert not [found for one in talks if (found := disputes(keys.fantom, one))]
    kinds = {one["tom_type"] for talk in talks for one in talk["beliefQAs"]}
    assert kinds == {"first-order", "second-order:cyclic", "second-order:acyclic"}
    assert any(len(one["record"]["told"]) > 1 for one in talks)


@pytest.mark.parametrize("fault", ["place", "truth_status", "knowledge_access", "left out"])
def test_a_wrong_row_of_a_gold_table_is_noticed(stories, fault):
    other = {
        "True": "False",
        "False": "True",
        "Private": "Public",
        "Public": "Shared",
        "Shared": "Private",
    }
    for one in stories[: len(stories) // 2]:
        places = {step["container"] for step in one["record"] if "container" in step}
        for at, row in enumerate(one["beliefs"]):
            place = next((p for p in places if p in row["belief"]), None)
            if not place or any(w in row["belief"] for w in (" at first", "To begin with")):
                continue
            if fault == "truth_status" and row["labels"]["content_type"] == "Action/Event":
                continue
            wrong = deepcopy(one)
            if fault == "left out":
                del wrong["beliefs"][at]
            elif fault == "place":
                for elsewhere in places - {place}:
                    wrong["beliefs"][at]["belief"] = row["belief"].replace(place, elsewhere)
            else:
                wrong["beliefs"][at]["labels"][fault] = other[row["labels"][fault]]
            assert disputes(partial(omnitom, shown=True), wrong), (row, fault)


def swapped(question):
    question["correct_answer"], question["wrong_answer"] = (
        question["wrong_answer"],
        question["correct_answer"],
    )


def marked(question):
    question["correct_answer"] = "no" if question["correct_answer"] == "yes" else "yes"


def test_a_wrong_key_of_a_question_set_is_noticed(talks):
    for one in talks[::12]:
        for field in ("answerability", "infoAccessibility"):
            for n, _ in enumerate(one[f"{field}QAs_binary"]):
                wrong = deepcopy(one)
                marked(wrong[f"{field}QAs_binary"][n])
                assert disputes(keys.fantom, wrong)
            wrong = deepcopy(one)
            swapped(wrong[f"{field}QA_list"])
            assert disputes(keys.fantom, wrong)
        for n, _ in enumerate(one["beliefQAs"]):
            wrong = deepcopy(one)
            swapped(wrong["beliefQAs"][n])
            assert disputes(keys.fantom, wrong)


def test_keys_are_noticed_that_do_not_fit_who_was_there(talks):
    """PersonX stays all the time, and the keys are of somebody who misses the fact."""
    one = next(t for t in talks if t["beliefQAs"][0]["missed_info_accessibility"] == "inaccessible")
    wrong, x = deepcopy(one), one["record"]["person_x"]
    events = wrong["record"]["events"]
    wrong["record"]["events"] = [event for event in events if event["name"] != x]
    found = disputes(keys.fantom, wrong)
    assert found[f"belief of ({x!r},)"] == ([False, True], [True, False])
    assert found[f"answerability of {x}"] == ("no", "yes")


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
    found = [(item.split("/")[0], key, right) for item, key, right in keys_bigtom.bigtom(path)]
    assert [row for row, key, right in found if right and key != right] == ["1"] * 8
    assert [row for row, key, right in found if key == right] == ["0"] * 8 + ["2"] * 4
    assert [row for row, _, right in found if right is None] == ["2"] * 4


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
    told = [{"STORY": MOVED, "QUESTION": q, "答案\nANSWER": a} | options for q, a in asked.items()]
    text = "".join(json.dumps(one) + "\n" for one in told)
    for category in CODES:
        (tmp_path / f"{category}.jsonl").write_text(text, encoding="utf-8")
    found = [*tombench(tmp_path)]
    assert [follows for *_, follows in found] == ["B", "A", "A", "A", None, None]
    assert [item for item, key, follows in found if follows not in (None, key)] == ["2 (belief)"]


@pytest.mark.skipif(not (SHARED / "tombench").is_dir(), reason="no released files in ../shared")
def test_disputes_in_released_files_are_those_that_were_read():
    """docs/data_verdicts.md says of each who is right."""
    every = [*tombench(SHARED / "tombench")]
    apart = {int(item.split()[0]) for item, key, follows in every if follows not in (None, key)}
    assert apart == {10, 72, 74, 102, 107, 161, 200, 261, 493, 495, 552, 554}
    assert sum(follows is not None for *_, follows in every) == 595
    for name, rows in (
        ("gold_sample", ["158/18", "194/19"]),
        ("worked_examples", ["14/2", "14/10"]),
    ):
        every = [*released(SHARED / "omnitom" / f"{name}.jsonl")]
        assert [item for item, key, follows in every if follows not in (None, key)] == rows
