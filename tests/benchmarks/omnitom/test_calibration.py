"""Alignments known by construction: what each edit does to the counts, worked out by hand."""

import random
import re
from itertools import groupby

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omnitom_stories import WORKED, belief, record
from tomlab.benchmarks.omnitom import calibration
from tomlab.benchmarks.omnitom import rewordings as edits
from tomlab.benchmarks.omnitom.alignment import Alignment, align
from tomlab.benchmarks.omnitom.calibration import (
    OPERATIONS,
    PROFILES,
    calibration_set,
    decisions,
    labelled_rows,
    read_human,
)
from tomlab.benchmarks.omnitom.items.records import Row, read_records
from tomlab.errors import InputError
from tomlab.records.tidy import KNOWN
from tomlab.scoring.similarity import plain


def story(*lines, story_id=1):
    """A record of beliefs written as "actor: belief"."""
    return record(*(belief(*line.split(": ", 1)) for line in lines), story_id=story_id)


RING = story(
    "world: Ana hides the ring under the rug",
    "world: Ben watches from the door",
    "Ana: Nobody has noticed",
    "Ana: The ring is under the rug",
    "Ben: Ana owns a ring",
    "Ben: Ana is up to something",
)
# Nothing in it is like anything in RING.
STORM = story("world: Cleo repairs a sail", "Cleo: Thunder rolls over the harbour", story_id=2)


@pytest.fixture
def edit_by(monkeypatch):
    """Edits a record by one operation alone; by two where the second needs beliefs that are kept."""

    def edit(operation, record, others=(), vectors=None):
        shares = dict.fromkeys(OPERATIONS, 0) | {operation: 100}
        if operation == "foreign":
            shares["keep"] = 1
        monkeypatch.setitem(PROFILES, "close", shares)
        return calibration.edited(record, "close", "0", others, vectors)

    return edit


def beliefs_of(rows):
    return {row.belief for row in rows}


@pytest.mark.parametrize(
    ("operation", "predicted", "gold"),
    [
        ("keep", [1] * 6, [1] * 6),
        ("paraphrase", [1] * 6, [1] * 6),
        ("split", [1] * 6, [2] * 3),
        ("merge", [2] * 3, [1] * 6),
        ("drop", [], [0] * 6),
        ("duplicate", [1, 0] * 6, [1] * 6),
        ("foreign", [1, 0] * 6, [1] * 6),
    ],
)
def test_counts_of_each_operation(edit_by, operation, predicted, gold):
    table = edit_by(operation, RING, [RING, STORM])
    assert sorted(table.known.mc_predicted) == sorted(predicted)
    assert table.known.mc_gold == gold
    assert {*table.made_by[0], *table.made_by[1]} <= {operation, "keep"}


@pytest.mark.parametrize("operation", ["wrong actor", "other place", "other person", "negation"])
def test_misses_stand_in_the_place_of_the_belief_and_match_nothing(edit_by, operation):
    table = edit_by(operation, RING)
    assert {*table.known.mc_predicted, *table.known.mc_gold} == {0}
    missed = [
        row
        for row, made_by in zip(table.predicted, table.made_by[0], strict=True)
        if made_by == operation
    ]
    assert missed
    gold = {(row.actor, plain(row.belief)) for row in table.gold}
    assert gold.isdisjoint((row.actor, plain(row.belief)) for row in missed)
    assert (beliefs_of(missed) <= beliefs_of(table.gold)) == (operation == "wrong actor")


def test_belief_of_another_story_gets_the_names_of_this_one(edit_by):
    other = story("Cleo: Cleo repairs Dario's sail", "Dario: Thunder rolls", story_id=4)
    table = edit_by("foreign", RING, [other])
    strange = beliefs_of(table.predicted) - beliefs_of(table.gold)
    assert strange <= {"Ana repairs Ben's sail", "Thunder rolls"}
    assert set(edit_by("foreign", RING).made_by[0]) == {"keep"}


def test_near_miss_that_another_belief_of_the_actor_states_is_not_used(edit_by):
    table = edit_by(
        "other place", story("Ben: The ring is in the box", "Ben: The ring is in the hut")
    )
    assert beliefs_of(table.predicted).isdisjoint(beliefs_of(table.gold))


def test_belief_that_all_actors_hold_is_under_no_wrong_actor(edit_by):
    shared = story("Ana: The ring is gone", "Ben: The ring is gone", "world: The ring is gone")
    assert set(edit_by("wrong actor", shared).made_by[1]) == {"drop"}


def test_the_sibling_is_the_nearest_by_words_or_by_vectors_and_gold_lacks_it(edit_by):
    ring = story("Ana: The ring is gone", "Ana: The ring is old", "Ana: Ben is late", "Ben: Rain")
    by_words = edit_by("sibling", ring)
    assert by_words.predicted[0].belief == "The ring is old"
    assert {*by_words.known.mc_predicted, *by_words.known.mc_gold} == {0}
    assert beliefs_of(by_words.predicted).isdisjoint(beliefs_of(by_words.gold))
    vectors = {
        "The ring is gone": np.array([1, 0]),
        "The ring is old": np.array([0, 1]),
        "Ben is late": np.array([0.8, 0.6]),
        "Rain": np.array([0, 1]),
    }
    assert edit_by("sibling", ring, vectors=vectors).predicted[0].belief == "Ben is late"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(list(PROFILES)))
def test_every_row_comes_of_one_operation_and_counts_agree(seed, profile):
    table = calibration.edited(RING, profile, str(seed), [RING, STORM])
    assert table == calibration.edited(RING, profile, str(seed), [RING, STORM])
    assert table.truth == KNOWN
    assert len(table.predicted) == len(table.known.mc_predicted) == len(table.made_by[0])
    assert len(table.gold) == len(table.known.mc_gold) == len(table.made_by[1])
    assert sum(table.known.mc_predicted) == sum(table.known.mc_gold)
    actors = [actor for actor, _ in groupby(table.predicted, lambda row: row.actor)]
    assert len(actors) == len(set(actors))


@pytest.mark.skipif(not WORKED.is_file(), reason="the worked examples are not there")
def test_calibration_set_has_the_size_and_the_share_of_matches_wanted():
    tables = calibration_set(read_records(WORKED), 84, seed=0)
    rows = labelled_rows(tables)
    assert len({table.table_id for table in tables}) == 84
    assert set(rows["operation"]) == set(OPERATIONS)
    # People found 42 % unmatched and 1 % joined (App. B.4).
    assert 0.35 < (rows["match_count"] == 0).mean() < 0.5
    assert 0.01 < (rows["match_count"] == 2).mean() < 0.05


# Rewriting


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The ring is under the rug", ["The ring is not under the rug"]),
        ("Ben thinks Ana is tired", ["Ben does not think Ana is tired"]),
        ("Ana has just left", ["Ana has not just left"]),
        ("Ana has nuts", []),
        ("Ana might leave", []),
        ("Ana is not tired", []),
        ("Ana wonders whether it is late", []),
    ],
)
def test_belief_is_denied_unless_it_is_hedged_or_negative(text, denied):
    assert edits.negations(text) == denied


@pytest.mark.parametrize(
    ("text", "reworded"),
    [
        ("Ben thinks Ana likes him", "Ben believes that Ana is fond of him"),
        ("There is a ring in the box", "A ring is in the box"),
        ("the cup might fall", "the cup may perhaps fall"),
        (
            "The cup fell",
            "(It is the case|The fact of the matter is) that the cup fell|.*: the cup fell",
        ),
    ],
)
def test_rewording_keeps_the_meaning(text, reworded):
    assert re.fullmatch(reworded, edits.reworded(text, random.Random(0)))


@settings(max_examples=30)
@given(st.text(alphabet="AB abthinks.'\"", min_size=1, max_size=30).filter(str.strip))
def test_rewording_always_says_it_otherwise(text):
    assert plain(edits.reworded(text, random.Random(0))) != plain(text)


def test_place_person_and_time_are_replaced_by_others_that_exclude_them():
    places = edits.other_places("The ring is in the box", ["the box", "the drawer"])
    assert places[:2] == ["The ring is in the drawer", "The ring is in the attic"]
    assert edits.other_places("They sit in the living room", ["the box"]) == []
    people = ["Ana", "Ben", "Ana's aunt"]
    others = edits.other_people("Ana sees Ben", people, ["Ben", "Ana's aunt"])
    assert others == ["Ana's aunt sees Ben", "Ana sees Ana's aunt"]
    times = edits.other_times("Ana comes tomorrow")
    assert times == [f"Ana comes {time}" for time in ("yesterday", "today", "tonight")]
    assert edits.other_times("Ana left") == []
    assert edits.renamed("Cleo left", ["Cleo"], []) == "Cleo left"


# Decisions


def test_decisions_stand_beside_what_is_known():
    tables = [calibration.edited(RING, profile, "0", [STORM]) for profile in PROFILES]
    exact = [align(table.predicted, table.gold, "exact", 1) for table in tables[1:]]
    table = decisions(tables, [None, *exact], "exact")
    assert list(table) == ["judge", "group", "unit", "truth", "decision"]
    assert (table["unit"] == labelled_rows(tables)["unit"]).all()
    n_unread = len(tables[0].predicted) + len(tables[0].gold)
    assert table["decision"].isna().sum() == n_unread
    # Beliefs that stand there word for word are matched.
    assert not (table["decision"] & ~table["truth"]).any()


# Human annotations

HEADER = "story_id,table,actor,belief,match_count,annotator"
HUMAN = [
    "1,prediction,Ana,The ring is gone,1,p1",
    '1,prediction,Ana,"The ring, she thinks, is lost",0,p1',
    "1,gold,Ana,The ring has gone,1,p1",
    "1,gold,Ben,The ring is under the rug,,p1",
    "1,gold,Ana,The ring has gone,2,p2",
    "1,prediction,Ana,The ring is gone,1,p2",
    '1,prediction,Ana,"The ring, she thinks, is lost",1,p2',
]


@pytest.fixture
def read(tmp_path):
    def read(*lines, header=HEADER):
        path = tmp_path / "human.csv"
        path.write_text("\n".join([header, *lines]), encoding="utf-8")
        return read_human(path)

    return read


def test_human_counts_are_read_by_story_and_annotator(read):
    first, second = read(*HUMAN)
    assert (first.truth, first.group, second.truth) == ("human:p1", "1", "human:p2")
    assert first.predicted[1] == Row("Ana", "The ring, she thinks, is lost")
    assert first.known == Alignment([1, 0], [1, None], [])
    assert second.known == Alignment([1, 1], [2], [])
    assert labelled_rows([first])["truth"].isna().tolist() == [False, False, False, True]


def test_several_predictions_for_one_story_are_told_apart(read):
    lines = [f"{line},{system}" for system in "ab" for line in HUMAN[:3]]
    tables = read(*lines, header=f"{HEADER},system")
    assert [table.table_id for table in tables] == ["1/a/p1", "1/b/p1"]


def test_every_fault_of_a_human_file_is_named_with_its_row(read):
    lines = [
        "1,prediction,,The ring is gone,one,",
        "1,golden,Ben,The ring is gone,1,p1",
        "1,gold,Ben,The ring is gone,3,p1",
    ]
    with pytest.raises(InputError) as error:
        read(*lines)
    for fault in (
        "row 2, field actor: found nothing",
        "row 2, field match_count: found 'one', expected a whole number or nothing",
        "row 2, field annotator: found nothing",
        "row 3, field table: found 'golden', expected prediction, gold",
        "row 4, field match_count: found '3', expected at most 0, the prediction rows",
    ):
        assert fault in str(error.value)


@given(st.text() | st.text(alphabet='1,\n"predictongl'))
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_file_is_read_or_refused(read, text):
    try:
        tables = read(*HUMAN, text)
    except InputError:
        return
    assert all(len(table.known.mc_gold) == len(table.gold) for table in tables)
