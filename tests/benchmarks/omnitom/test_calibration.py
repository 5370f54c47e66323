"""Alignments known by construction: what each edit does to the counts, worked out by hand."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omnitom_stories import WORKED, belief, record
from tomlab.benchmarks.omnitom import calibration, rewordings
from tomlab.benchmarks.omnitom.alignment import Alignment, align
from tomlab.benchmarks.omnitom.calibration import OPERATIONS, PROFILES, labelled_rows
from tomlab.benchmarks.omnitom.items.records import Row, read_records
from tomlab.errors import InputError
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
STORM = story("Cleo: Cleo repairs Dario's sail", "Dario: Thunder rolls", story_id=2)


@pytest.fixture
def edit_by(monkeypatch):
    """Edits a record by one operation alone; by two where the second needs beliefs that stay."""

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
        ("keep", "111111", "111111"),
        ("paraphrase", "111111", "111111"),
        ("split", "111111", "222"),
        ("merge", "222", "111111"),
        ("drop", "", "000000"),
        ("duplicate", "000000111111", "111111"),
        ("foreign", "000000111111", "111111"),
    ],
)
def test_counts_of_each_operation(edit_by, operation, predicted, gold):
    table = edit_by(operation, RING, [RING, STORM])
    assert sorted(table.known.mc_predicted) == [int(count) for count in predicted]
    assert table.known.mc_gold == [int(count) for count in gold]


@pytest.mark.parametrize("operation", ["wrong actor", "other place", "other person", "negation"])
def test_misses_match_nothing_and_state_no_belief_of_their_actor(edit_by, operation):
    table = edit_by(operation, RING)
    assert {*table.known.mc_predicted, *table.known.mc_gold} == {0}
    missed = set()
    for row, made_by in zip(table.predicted, table.made_by[0], strict=True):
        if made_by == operation:
            missed.add((row.actor, plain(row.belief)))
    assert missed
    assert missed.isdisjoint((row.actor, plain(row.belief)) for row in table.gold)


def test_belief_of_another_story_gets_the_names_of_this_one(edit_by):
    table = edit_by("foreign", RING, [STORM])
    foreign = beliefs_of(table.predicted) - beliefs_of(table.gold)
    assert foreign <= {"Ana repairs Ben's sail", "Thunder rolls"}


def test_near_miss_that_another_belief_of_the_actor_states_is_not_used(edit_by):
    ring = story("Ben: The ring is in the box", "Ben: The ring is in the hut")
    table = edit_by("other place", ring)
    assert beliefs_of(table.predicted).isdisjoint(beliefs_of(table.gold))


def test_the_sibling_is_the_nearest_by_words_or_by_vectors_and_gold_lacks_it(edit_by):
    ring = story("Ana: The ring is gone", "Ana: The ring is old", "Ana: Ben is late")
    table = edit_by("sibling", ring)
    assert table.predicted[0].belief == "The ring is old"
    assert beliefs_of(table.predicted).isdisjoint(beliefs_of(table.gold))
    east, north = np.eye(2)
    vectors = {"The ring is gone": east, "The ring is old": north, "Ben is late": east}
    assert edit_by("sibling", ring, vectors=vectors).predicted[0].belief == "Ben is late"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(list(PROFILES)))
def test_every_row_has_its_count_and_the_counts_of_both_tables_agree(seed, profile):
    table = calibration.edited(RING, profile, str(seed), [RING, STORM])
    assert table == calibration.edited(RING, profile, str(seed), [RING, STORM])
    counts = table.known
    assert len(table.predicted) == len(counts.mc_predicted)
    assert len(table.gold) == len(counts.mc_gold)
    assert sum(counts.mc_predicted) == sum(counts.mc_gold)


@pytest.mark.skipif(not WORKED.is_file(), reason="the worked examples are not there")
def test_calibration_set_has_the_size_and_the_share_of_matches_wanted():
    tables = calibration.calibration_set(read_records(WORKED), 84, seed=0)
    rows = labelled_rows(tables)
    assert len({table.table_id for table in tables}) == 84
    assert set(rows["operation"]) == set(OPERATIONS)
    # People found 42 % unmatched (App. B.4).
    assert 0.35 < (rows["match_count"] == 0).mean() < 0.5


# Rewriting


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The ring is under the rug", ["The ring is not under the rug"]),
        ("Ben thinks Ana is tired", ["Ben does not think Ana is tired"]),
        ("Ana has just left", ["Ana has not just left"]),
        ("Ana has nuts", []),
        ("Ana might leave", []),
    ],
)
def test_belief_is_denied_unless_it_is_hedged_or_negative(text, denied):
    assert rewordings.negations(text) == denied


@settings(max_examples=30)
@given(st.text(alphabet="AB abthinks.'\"", min_size=1, max_size=30).filter(str.strip))
def test_rewording_always_says_it_otherwise(text):
    assert plain(rewordings.reworded(text, random.Random(0))) != plain(text)


def test_place_person_and_time_are_replaced_by_others_that_exclude_them():
    places = rewordings.other_places("The ring is in the box", ["the box", "the drawer"])
    assert places[:2] == ["The ring is in the drawer", "The ring is in the attic"]
    assert rewordings.other_places("They sit in the living room", ["the box"]) == []
    people = ["Ana", "Ben", "Ana's aunt"]
    texts = rewordings.other_people("Ana sees Ben", people, people)
    assert texts == ["Ana's aunt sees Ben", "Ana sees Ana's aunt"]
    assert rewordings.other_times("Ana comes early") == ["Ana comes late"]
    assert rewordings.other_times("Ana left") == []


# Decisions


def test_decisions_stand_beside_what_is_known():
    tables = [calibration.edited(RING, profile, "0", [STORM]) for profile in PROFILES]
    exact = [align(table.predicted, table.gold, "exact", 1) for table in tables[1:]]
    decisions = calibration.decisions(tables, [None, *exact], "exact")
    assert decisions["unit"].equals(labelled_rows(tables)["unit"])
    unread = decisions[decisions["unit"].str.startswith(tables[0].table_id)]
    assert unread["decision"].isna().all()
    # Beliefs that stand there word for word are matched.
    assert not (decisions["decision"] & ~decisions["truth"]).any()


# Human annotations

HEADER = "story_id,table,actor,belief,match_count,annotator"
HUMAN = [
    "1,prediction,Ana,The ring is gone,1,p1",
    '1,prediction,Ana,"The ring, she thinks, is lost",0,p1',
    "1,gold,Ana,The ring has gone,1,p1",
    "1,gold,Ben,The ring is under the rug,,p1",
    "1,gold,Ana,The ring has gone,1,p2",
    "1,prediction,Ana,The ring is gone,1,p2",
]


@pytest.fixture
def read(tmp_path):
    def read(*lines, header=HEADER):
        path = tmp_path / "human.csv"
        path.write_text("\n".join([header, *lines]), encoding="utf-8")
        return calibration.read_human(path)

    return read


def test_human_counts_are_read_by_story_and_annotator(read):
    first, second = read(*HUMAN)
    assert (first.truth, first.group, second.truth) == ("human:p1", "1", "human:p2")
    assert first.predicted[1] == Row("Ana", "The ring, she thinks, is lost")
    assert first.known == Alignment([1, 0], [1, None])
    assert second.known == Alignment([1], [1])


def test_several_predictions_for_one_story_are_told_apart(read):
    lines = [f"{line},{system}" for system in "ab" for line in HUMAN[:3]]
    tables = read(*lines, header=f"{HEADER},system")
    assert [table.table_id for table in tables] == ["1/a/p1", "1/b/p1"]


def test_every_fault_of_a_human_file_is_named_with_its_row(read):
    with pytest.raises(InputError) as error:
        read("1,golden,,The ring is gone,one,", "1,gold,Ben,The ring is gone,3,p1")
    for fault in (
        "row 2, field actor: found nothing",
        "row 2, field match_count: found 'one'",
        "row 2, field annotator: found nothing",
        "row 2, field table: found 'golden'",
        "row 3, field match_count: found '3', expected at most 0",
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
