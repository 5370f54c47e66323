"""MatchCounts by hand: actors, one-to-one pairs, compound rows, and what a judge's tables say."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omnitom_stories import WORKED
from tomlab.benchmarks.omnitom.alignment import (
    Alignment,
    actor_key,
    align,
    alignments,
    compound_parts,
    parse_judgement,
    precision_recall_f1,
)
from tomlab.benchmarks.omnitom.items.records import Row, read_records, rows
from tomlab.errors import InputError

limited = settings(max_examples=50, deadline=None)


def table(*lines):
    """Rows written as "actor: belief"."""
    return [Row(*line.split(": ", 1)) for line in lines]


# Actors

CAST = ["world", "Xiao Wang", "Xiao Zhao", "Ana", "Ana's father", "Ana and Ben", "Mr. Okoro"]


@pytest.mark.parametrize(
    ("name", "actor"),
    [
        ("xiao-wang", "Xiao Wang"),
        ("XiaoZhao", "Xiao Zhao"),
        ("Wang", "Xiao Wang"),
        ("Xiao", None),  # two are called so
        ("the World", "world"),
        ("World Bank", None),
        ("Ana Ruiz", "Ana"),
        ("Ana’s Father", "Ana's father"),
        ("father", "Ana's father"),
        ("Ana's mother", None),
        ("Ana & Ben", "Ana and Ben"),
        ("Ben", None),  # half of a group is not the group
        ("Ana and the dog", None),
        ("Mr Okoro", "Mr. Okoro"),
        ("Mrs. Okoro", None),
        ("?!", None),
    ],
)
def test_actor_is_known_by_cosmetic_variants_only(name, actor):
    assert actor_key(name, CAST) == actor


def test_world_is_no_part_of_a_name():
    assert actor_key("world", ["World Health Organization"]) == "world"


# Matches


@pytest.mark.parametrize(
    ("belief", "parts"),
    [
        ("The hall is dark and the door is shut", ["The hall is dark", "the door is shut"]),
        ("Ana has left; Ben is still there", ["Ana has left", "Ben is still there"]),
        ("Ana stays, because the rain is heavy.", []),  # "Ana stays" has two words
        ("Ana, Ben, and Cleo are old friends", []),
        ("Ana thinks that Ben thinks that it rains", []),
        ('Ana says, "I am here now, and you are late"', []),
    ],
)
def test_belief_is_compound_if_it_joins_clauses_of_three_words(belief, parts):
    assert compound_parts(belief) == parts


BOTH = "The cup is on the shelf and the tea is cold"
FOUR = "The cup is red; the tea is cold; the cake is gone; the guests are late"


@pytest.mark.parametrize(
    ("predicted", "gold", "threshold", "mc_predicted", "mc_gold"),
    [
        pytest.param(["The cup is red"] * 2, ["The cup is red"], 0.5, [1, 0], [1], id="twice"),
        pytest.param(
            ["The cup is red now", "The cup is red"],
            ["The cup is red"],
            0.5,
            [0, 1],
            [1],
            id="rivals",
        ),
        pytest.param(
            ["The cup is red now"], ["The cup is red"], 8 / 9, [1], [1], id="at the threshold"
        ),
        pytest.param(
            ["The cup is on the shelf", "The cup stands on the shelf", "The tea is cold"],
            [BOTH],
            0.6,
            [1, 0, 1],
            [2],
            id="two wordings of one part",
        ),
        pytest.param([BOTH, "The tea is cold"], [BOTH], 0.7, [1, 0], [1], id="a part said already"),
        pytest.param([BOTH], ["The tea is cold"], 0.9, [0], [0], id="one part alone"),
        pytest.param([FOUR], FOUR.split("; "), 1, [3], [1, 1, 1, 0], id="three partners at most"),
    ],
)
def test_match_counts_by_shared_words(predicted, gold, threshold, mc_predicted, mc_gold):
    tables = [[Row("Ana", belief) for belief in beliefs] for beliefs in (predicted, gold)]
    alignment = align(*tables, "token_f1", threshold)
    assert (alignment.mc_predicted, alignment.mc_gold) == (mc_predicted, mc_gold)
    turned = align(*tables[::-1], "token_f1", threshold)
    assert turned.mc_gold == alignment.mc_predicted
    others = [Row("Ben", row.belief) for row in tables[0]]
    assert set(align(others, tables[1], "token_f1", threshold).mc_predicted) == {0}


def test_unknown_kind_is_named():
    with pytest.raises(InputError, match="kind 'bleu', expected one of exact, token_f1, embedding"):
        align(table("Ana: It rains"), table("Ana: It rains"), "bleu", 0.5)


# The situation of Table 2 in another story: a gold belief that two predicted ones cover.
PREDICTED = table(
    "world: Mara wants to move to the corner stall",
    "Mara: Mara wants to move to the corner stall",
    "Mara: The corner stall is let to Ivo",
    "Mara: Ivo might leave if he is talked into it",
)
GOLD = table(
    "world: Mara wants to move to the corner stall",
    "Mara: Mara needs the corner stall, and Ivo rents that stall",
    "Mara: Ivo may swap stalls if Mara persuades him",
)


def test_compound_belief_is_covered_by_rows_that_say_its_parts():
    want, let, swap = np.eye(3)
    vectors = {
        PREDICTED[0].belief: want,
        PREDICTED[2].belief: let,
        PREDICTED[3].belief: swap,
        GOLD[1].belief: (want + let) / np.sqrt(2),  # as a whole .71 from either row
        "Mara needs the corner stall": want,
        "Ivo rents that stall": let,
        GOLD[2].belief: swap,
    }
    for threshold in (0.7, 0.9):
        alignment = align(PREDICTED, GOLD, "embedding", threshold, vectors)
        assert alignment.mc_predicted == [1, 1, 1, 1]
        assert alignment.mc_gold == [1, 2, 1]
        assert {(1, 1), (2, 1)} < set(alignment.pairs)


def test_assignment_at_a_threshold_is_not_one_assignment_cut_there():
    # p1-g1 .9, p1-g2 and p2-g1 .8, p2-g2 .1: one close pair above .75, two fair ones above .65.
    vectors = {
        "p1": np.array([1, 0]),
        "p2": np.array([0, 1]),
        "g1": np.array([0.9, 0.8]),
        "g2": np.array([0.8, 0.1]),
    }
    tables = table("Ana: p1", "Ana: p2"), table("Ana: g1", "Ana: g2")
    high, low = alignments(*tables, "embedding", [0.75, 0.65], vectors)
    assert (high.pairs, low.pairs) == ([(0, 0)], [(0, 1), (1, 0)])


def test_equal_texts_match_at_threshold_1_whatever_the_rounding():
    vectors = {"p": np.full(7, 7**-0.5)}
    assert vectors["p"] @ vectors["p"] != 1
    assert align(table("A: p"), table("A: p"), "embedding", 1, vectors).mc_gold == [1]


beliefs = st.lists(
    st.builds(
        Row,
        st.sampled_from(["world", "Ana", "Ben"]),
        st.sampled_from(
            [
                "The cup is red",
                "The cup is not red",
                "The cup is red and the tea is cold",
                "Ben thinks the cup is red; the tea was cold; the cake is gone",
                "The cake is gone",
                "",
            ]
        ),
    ),
    max_size=7,
)


def counted(table, counts):
    cells = [(row.actor, row.belief) for row in table]
    return sorted(zip(cells, counts, strict=True))


@limited
@given(beliefs, beliefs, st.sampled_from([0.2, 0.5, 0.75, 1.0]), st.randoms())
def test_order_of_rows_changes_nothing_and_counts_are_of_the_pairs(predicted, gold, at, random):
    alignment = align(predicted, gold, "token_f1", at)
    for side, counts in enumerate((alignment.mc_predicted, alignment.mc_gold)):
        places = [pair[side] for pair in alignment.pairs]
        assert counts == [places.count(place) for place in range(len(counts))]
        assert max(counts, default=0) <= 3
    mixed = [random.sample(rows, len(rows)) for rows in (predicted, gold)]
    again = align(*mixed, "token_f1", at)
    assert counted(mixed[0], again.mc_predicted) == counted(predicted, alignment.mc_predicted)
    assert counted(mixed[1], again.mc_gold) == counted(gold, alignment.mc_gold)


@pytest.mark.skipif(not WORKED.is_file(), reason="the worked examples are not there")
def test_worked_examples_match_themselves_row_by_row():
    for record in read_records(WORKED):
        gold = rows(record)
        for kind in ("exact", "token_f1"):
            alignment = align(gold, gold, kind, 1.0)
            assert alignment.pairs == [(i, i) for i in range(len(gold))]


@pytest.mark.parametrize(
    ("mc_predicted", "mc_gold", "expected"),
    [
        ([1, 1, 0, 0], [1, 1, 0], (0.5, 2 / 3, 4 / 7)),
        ([2, 0], [1, 1], (0.5, 1, 2 / 3)),  # larger counts have no more weight
        ([], [0, 0], (0, 0, 0)),
        ([1, None], [1, None, 0], (1, 0.5, 2 / 3)),  # undefined rows are left out
        ([None], [1], (np.nan, 1, np.nan)),
    ],
)
def test_precision_recall_and_f1_of_a_story(mc_predicted, mc_gold, expected):
    alignment = Alignment(mc_predicted, mc_gold, [])
    assert precision_recall_f1(alignment) == pytest.approx(expected, nan_ok=True)


# A judge's tables

SAID = """Prediction
Actor,Belief,MatchCount
world,Mara wants to move to the corner stall,1
Mara,Mara wants to move to the corner stall,1
Mara,The corner stall is let to Ivo,1
Mara,Ivo might leave if he is talked into it,0

Ground Truth
Actor,Belief,MatchCount
world,Mara wants to move to the corner stall,1
Mara,"Mara needs the corner stall, and Ivo rents that stall",2
Mara,Ivo may swap stalls if Mara persuades him,0
"""
COUNTS = Alignment([1, 1, 1, 0], [1, 2, 0], [])
PIPES = re.sub(r"(?m),(?=Belief|M|The|Ivo m|\d$)", " | ", SAID.replace('"', ""))


@pytest.mark.parametrize(
    "text",
    [
        f"```csv\n{SAID}```",
        f"<think>Row 1, maybe 2? Prediction, 3</think>{SAID}",
        f"Sure!\n{PIPES.replace('Prediction', '**Prediction Table**')}I hope that helps, as of 2024.",
        SAID.replace("Prediction\n", "").replace("Ground Truth\n", ""),  # headers alone
        SAID.replace('"', "").replace("Mara,M", "mara, M"),
        SAID.replace(",1\n", ",1.0\n"),
        SAID.replace("Prediction\n", "Prediction table (Actor,Belief,MatchCount):\n"),
        SAID.replace("if he is talked into it", "if he is told to go"),  # at its place
        SAID.replace(",0\n", ",1\n") + "\nOn second thoughts:\n\n" + SAID,
    ],
)
def test_fences_pipes_prose_and_small_changes_are_borne(text):
    assert parse_judgement(text, PREDICTED, GOLD) == COUNTS


def test_row_without_a_line_or_a_possible_number_is_undefined():
    text = SAID.replace("Mara,The corner stall is let to Ivo,1\n", "")
    text = text.replace(",2\n", ",7\n")  # there are four predicted rows
    text = text.replace("persuades him,0", "persuades him,no")
    alignment = parse_judgement(text, PREDICTED, GOLD)
    assert alignment == Alignment([1, 1, None, 0], [1, None, None], [])


def test_rows_out_of_order_and_equal_rows_have_their_own_counts():
    predicted = table("Ana: It rains", "Ana: It rains", "Ben: It snows")
    text = "Prediction\nActor,Belief,MatchCount\nBen,It snows,0\nAna,It rains,1\nAna,It rains,0"
    alignment = parse_judgement(text, predicted, GOLD)
    assert alignment == Alignment([0, 1, 0], [None] * 3, [])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("All beliefs match.", "no table of matches"),
        ("<think>Prediction\nAna,It rains,1", "no table of matches"),
        (
            "Prediction\nActor,Belief,MatchCount\nAna,It rains,1",
            "no row of the tables with its count",
        ),
    ],
)
def test_answer_without_tables_gives_the_reason(text, reason):
    assert parse_judgement(text, PREDICTED, GOLD) == reason


words = st.text(alphabet="abé ,;|'\"-1.\n", min_size=1, max_size=12)
some_rows = st.lists(
    st.builds(Row, *[words.filter(lambda text: re.search("[abé]", text))] * 2),
    min_size=1,
    max_size=5,
)


@limited
@given(some_rows, some_rows, st.data())
def test_what_is_written_as_asked_is_read_as_meant(predicted, gold, data):
    answer = io.StringIO()
    counts = []
    for label, own, other in (("Prediction", predicted, gold), ("Ground Truth", gold, predicted)):
        counts.append([data.draw(st.integers(0, min(3, len(other)))) for _ in own])
        answer.write(f"{label}\nActor,Belief,MatchCount\n")
        for row, count in zip(own, counts[-1], strict=True):
            cells = [" ".join(text.split()) for text in (row.actor, row.belief)]
            csv.writer(answer).writerow([*cells, count])
    assert parse_judgement(answer.getvalue(), predicted, gold) == Alignment(*counts, [])


@limited
@given(st.text() | st.text(alphabet='Prediction\nActor,Belief|MatchCount 0129"<think>/'))
def test_any_answer_is_read_or_refused(text):
    alignment = parse_judgement(text, PREDICTED, GOLD)
    assert isinstance(alignment, str) or len(alignment.mc_predicted) == len(PREDICTED)
