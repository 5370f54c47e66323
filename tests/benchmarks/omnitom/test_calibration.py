"""Alignments known by construction: what each edit does to the counts, worked out by hand."""

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from one_cell import ran
from tomlab.benchmarks.omnitom import calibration
from tomlab.benchmarks.omnitom import rewordings as edits
from tomlab.benchmarks.omnitom.alignment import Alignment, align, precision_recall_f1
from tomlab.benchmarks.omnitom.calibration import (
    OPERATIONS,
    PROFILES,
    calibration_set,
    decisions,
    labelled_rows,
    read_human,
)
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, Row, read_records
from tomlab.errors import InputError
from tomlab.judging.agreement import agreement_by_judge
from tomlab.paths import ROOT
from tomlab.records.tidy import KNOWN
from tomlab.scoring.similarity import plain

WORKED = ROOT.parent / "shared" / "datasets" / "omnitom" / "worked_examples.jsonl"


def record(story_id: int, *beliefs: str, **paraphrases: list[str]) -> dict:
    """A record of beliefs written as "actor: belief"; paraphrases by actor, of all their beliefs."""
    labels = {name: legal[0] for name, legal in DIMENSIONS.items()}
    pairs = [line.split(": ", 1) for line in beliefs]
    return {
        "story_id": story_id,
        "story_category": "False Belief Task",
        "story": "Ana puts the ring under the rug, and Ben sees her do it.",
        "source": "authored",
        "beliefs": [
            {"actor": actor, "belief": belief, "labels": labels}
            | ({"paraphrases": paraphrases[actor]} if actor in paraphrases else {})
            for actor, belief in pairs
        ],
    }


RING = record(
    1,
    "world: Ana hides the ring under the rug",
    "world: Ben watches from the door",
    "Ana: Nobody has noticed",
    "Ana: The ring is under the rug",
    "Ben: Ana owns a ring",
    "Ben: Ana is up to something",
)
# Nothing in it is like anything in RING.
STORM = record(2, "world: Cleo repairs a sail", "Cleo: Thunder rolls over the harbour")


def edited(record: dict, seed: int, others=()) -> list[calibration.LabelledTable]:
    """The record edited in the manner of each profile."""
    return [calibration.edited(record, profile, str(seed), others) for profile in PROFILES]


@pytest.fixture
def only(monkeypatch):
    """Makes one operation the only one."""

    def choose(operation: str) -> None:
        shares = dict.fromkeys(OPERATIONS, 0) | {operation: 100}
        if operation == "foreign":
            shares["keep"] = 1
        monkeypatch.setitem(PROFILES, "close", shares)

    return choose


# Of six gold beliefs, two an actor. Near misses of a place are possible in two of them.
BY_HAND = {
    #               predicted counts, gold counts, precision, recall, F1
    "keep": ([1] * 6, [1] * 6, 1, 1, 1),
    "paraphrase": ([1] * 6, [1] * 6, 1, 1, 1),
    "split": ([1] * 6, [2] * 3, 1, 1, 1),
    "merge": ([2] * 3, [1] * 6, 1, 1, 1),
    "drop": ([], [0] * 6, 0, 0, 0),
    "duplicate": ([1, 0] * 6, [1] * 6, 1 / 2, 1, 2 / 3),
    "foreign": ([1, 0] * 6, [1] * 6, 1 / 2, 1, 2 / 3),
}


@pytest.mark.parametrize("operation", BY_HAND)
def test_counts_and_scores_of_each_operation(only, operation):
    only(operation)
    made = edited(RING, 0, [RING, STORM])[0]
    predicted, gold, *scores = BY_HAND[operation]
    assert sorted(made.known.mc_predicted) == sorted(predicted)
    assert made.known.mc_gold == gold
    assert precision_recall_f1(made.known) == pytest.approx(tuple(scores))
    assert {*made.made_by[0], *made.made_by[1]} <= {operation, "keep"}


@pytest.mark.parametrize("operation", ["wrong actor", "other place", "other person", "negation"])
def test_misses_stand_in_the_place_of_the_belief_and_match_nothing(only, operation):
    only(operation)
    made = edited(RING, 0)[0]
    assert {*made.known.mc_predicted, *made.known.mc_gold} == {0}
    assert precision_recall_f1(made.known) == (0, 0, 0)
    missed = [
        row for row, by in zip(made.predicted, made.made_by[0], strict=True) if by == operation
    ]
    was = [row for row, by in zip(made.gold, made.made_by[1], strict=True) if by == operation]
    assert missed and len(missed) == len(was)
    told = {(row.actor, plain(row.belief)) for row in made.gold}
    assert not told & {(row.actor, plain(row.belief)) for row in missed}
    same = {plain(row.belief) for row in missed} == {plain(row.belief) for row in was}
    assert same == (operation == "wrong actor")


def test_belief_of_another_story_gets_the_names_of_this_one(only):
    only("foreign")
    other = record(4, "Cleo: Cleo repairs Dario's sail", "Dario: Thunder rolls")
    made = edited(RING, 0, [other])[0]
    made_by = zip(made.predicted, made.made_by[0], strict=True)
    foreign = {row.belief for row, operation in made_by if operation == "foreign"}
    assert foreign <= {"Ana repairs Ben's sail", "Thunder rolls"}


def test_near_miss_that_another_belief_of_the_actor_states_is_not_used(only):
    only("other place")
    story = record(5, "Ben: The ring is in the box", "Ben: The ring is in the drawer")
    made = edited(story, 0)[0]
    said = {row.belief for row in made.predicted}
    assert said and not said & {row.belief for row in made.gold}


def test_belief_that_all_actors_hold_is_under_no_wrong_actor(only):
    only("wrong actor")
    shared = record(6, "Ana: The ring is gone", "Ben: The ring is gone", "world: The ring is gone")
    assert set(edited(shared, 0)[0].made_by[1]) == {"drop"}


def test_a_sibling_stands_for_a_belief_that_the_prediction_lacks_and_gold_lacks_the_sibling(only):
    only("sibling")
    made = edited(RING, 0)[0]
    assert set(made.known.mc_predicted) == set(made.known.mc_gold) == {0}
    assert [row.actor for row in made.predicted] == [row.actor for row in made.gold]
    assert not {row.belief for row in made.predicted} & {row.belief for row in made.gold}


def test_the_sibling_is_the_nearest_by_words_or_by_the_vectors_given(only):
    only("sibling")
    texts = ["The ring is gone", "The ring is old", "Ben is late"]
    story = record(7, *(f"Ana: {text}" for text in texts), "Ben: It rains")
    by_words = calibration.edited(story, "close", "0", [])
    assert by_words.predicted[0].belief == texts[1]
    vectors = dict(zip(texts, np.array([[1, 0], [0, 1], [0.8, 0.6]]), strict=True))
    vectors["It rains"] = np.array([0, 1])
    assert calibration.edited(story, "close", "0", (), vectors).predicted[0].belief == texts[2]


@given(st.integers(0, 10_000))
def test_every_row_comes_of_one_operation_and_counts_agree(seed):
    assert edited(RING, seed, [RING, STORM]) == edited(RING, seed, [RING, STORM])
    for made in edited(RING, seed, [RING, STORM]):
        assert made.truth == KNOWN == "known by construction"
        assert len(made.predicted) == len(made.known.mc_predicted) == len(made.made_by[0])
        assert len(made.gold) == len(made.known.mc_gold) == len(made.made_by[1])
        assert sum(made.known.mc_predicted) == sum(made.known.mc_gold)
        actors = [row.actor for row in made.predicted]
        assert sum(a != b for a, b in pairwise(actors)) < max(len(set(actors)), 1)


@pytest.mark.skipif(
    not WORKED.is_file(), reason="the worked examples are not beside the repository"
)
def test_calibration_set_has_the_size_and_the_share_of_matches_wanted():
    tables = calibration_set(read_records(WORKED), 84, seed=0)
    found = labelled_rows(tables)
    assert len({table.table_id for table in tables}) == 84
    assert len(found) >= 1500
    assert set(found["operation"]) == set(OPERATIONS)
    assert {table.truth for table in tables} == {KNOWN}
    # People found 42 % unmatched and 1 % joined (App. B.4).
    assert 0.35 < (found["match_count"] == 0).mean() < 0.5
    assert 0.01 < (found["match_count"] == 2).mean() < 0.05


# ---- Rewriting -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("belief", "denied"),
    [
        ("The ring is under the rug", ["The ring is not under the rug"]),
        ("Ben thinks Ana is tired", ["Ben does not think Ana is tired"]),
        ("Ana might leave", []),
        ("Ana is not tired", []),
        ("Ana wonders whether it is late", []),
        ("Ana left", []),
        ("Ana has just left", ["Ana has not just left"]),
        ("Ana has nuts", []),
    ],
)
def test_belief_is_denied_unless_it_is_hedged_or_negative(belief, denied):
    assert edits.negations(belief) == denied


@pytest.mark.parametrize(
    ("belief", "rewordings"),
    [
        ("Ben thinks Ana likes him", ["Ben believes that Ana is fond of him"]),
        ("There is a ring in the box", ["A ring is in the box"]),
        (
            "The cup fell",
            [
                "It is the case that the cup fell",
                "The fact of the matter is that the cup fell",
                "What holds is this: the cup fell",
            ],
        ),
    ],
)
def test_rewording_keeps_the_meaning(belief, rewordings):
    assert edits.reworded(belief, random.Random(0)) in rewordings


sentences = st.text(alphabet="AB abthinks.'\"", min_size=1, max_size=30).filter(str.strip)


def test_place_person_and_time_are_replaced_by_others_that_exclude_them():
    found = edits.other_places("The ring is in the box", ["the box", "the drawer"])
    assert found[:2] == ["The ring is in the drawer", "The ring is in the attic"]
    assert edits.other_places("They sit in the living room", ["the box"]) == []
    people = ["Ana", "Ben", "Ana's aunt"]
    found = edits.other_people("Ana sees Ben", people, ["Ben", "Ana's aunt"])
    assert found == ["Ana's aunt sees Ben", "Ana sees Ana's aunt"]
    others = [f"Ana comes {time}" for time in ("yesterday", "today", "tonight")]
    assert edits.other_times("Ana comes tomorrow") == others
    assert edits.other_times("Ana left") == []


@given(sentences, st.integers(0, 9))
def test_rewording_always_says_it_otherwise(belief, seed):
    assert plain(edits.reworded(belief, random.Random(seed))) != plain(belief)


# ---- Decisions -----------------------------------------------------------------------------------


def test_decisions_stand_beside_what_is_known():
    tables = edited(RING, 0, [STORM])
    found = [align(t.predicted, t.gold, "exact", 1) for t in tables[:2]]
    said = decisions(tables, [*found, None], "exact")
    known = labelled_rows(tables)
    assert list(said) == ["judge", "group", "unit", "truth", "decision"]
    assert said["unit"].is_unique and (said["unit"] == known["unit"]).all()
    assert said["decision"].isna().sum() == len(tables[2].predicted) + len(tables[2].gold)
    [row] = agreement_by_judge(said).to_dict("records")
    assert row["undefined"] == said["decision"].isna().sum()
    assert row["precision"] == 1  # verbatim beliefs only


def test_decisions_at_each_threshold_are_those_of_align():
    records = [{**RING, "story_id": n} for n in (1, 3, 4)]
    tables = [table for one in records for table in edited(one, 0, [STORM])]
    reads = {"rows": labelled_rows(tables), "kinds": ["token_f1"], "vectors": {"token_f1": None}}
    reads["pairs"] = [(table.predicted, table.gold) for table in tables]
    names = ran("4_judge_calibration", "omnitom", "cell-thresholds", folds=3, **reads)
    found = names["decided_at"]["token_f1"]
    for threshold in (0.3, 0.6, 0.9):
        single = [align(t.predicted, t.gold, "token_f1", threshold) for t in tables]
        assert (decisions(tables, single, "x")["decision"] == found[threshold]).all()
    chosen = names["chosen"]["token_f1"]
    assert chosen.final in calibration.THRESHOLDS and len(chosen.decisions) == len(found)


# ---- Human annotations ---------------------------------------------------------------------------

HUMAN = """story_id,table,actor,belief,match_count,annotator
1,prediction,Ana,The ring is gone,1,p1
1,prediction,Ana,"The ring, she thinks, is lost",0,p1
1,gold,Ana,The ring has gone,1,p1
1,gold,Ben,The ring is under the rug,,p1
1,gold,Ana,The ring has gone,2,p2
1,prediction,Ana,The ring is gone,1,p2
1,prediction,Ana,"The ring, she thinks, is lost",1,p2
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "human.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_human_counts_are_read_by_story_and_annotator(tmp_path):
    first, second = read_human(written(tmp_path, HUMAN))
    assert (first.truth, second.truth) == ("human:p1", "human:p2")
    assert first.predicted[1] == Row("Ana", "The ring, she thinks, is lost")
    assert first.known == Alignment([1, 0], [1, None], [])
    assert second.known == Alignment([1, 1], [2], [])
    assert first.group == "1"
    known = labelled_rows([first])
    assert known["truth"].isna().tolist() == [False, False, False, True]
    lines = HUMAN.splitlines()[:4]
    text = "\n".join([lines[0] + ",system", *(f"{line},{s}" for s in "ab" for line in lines[1:])])
    tables = read_human(written(tmp_path, text))
    assert [table.table_id for table in tables] == ["1/a/p1", "1/b/p1"]


def test_every_fault_of_a_human_file_is_named_with_its_row(tmp_path):
    text = HUMAN.replace("1,gold,Ben", "1,golden,Ben").replace("has gone,2,p2", "has gone,3,p2")
    text = text.replace("gone,1,p1", "gone,one,").replace(
        "1,prediction,Ana,The", "1,prediction,,The"
    )
    with pytest.raises(InputError) as error:
        read_human(written(tmp_path, text))
    for fault in (
        "row 2, field actor: found nothing",
        "row 2, field match_count: found 'one', expected a whole number or nothing",
        "row 2, field annotator: found nothing",
        "row 5, field table: found 'golden', expected prediction, gold",
        "row 6, field match_count: found '3', expected at most 2, the prediction rows",
    ):
        assert fault in str(error.value)


@given(st.text() | st.text(alphabet='1,\n"predictongl').map(lambda t: HUMAN + t))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_is_read_or_refused(tmp_path, text):
    try:
        tables = read_human(written(tmp_path, text))
    except InputError:
        return
    assert all(len(t.known.mc_gold) == len(t.gold) for t in tables)
    assert isinstance(labelled_rows(tables), pd.DataFrame)
