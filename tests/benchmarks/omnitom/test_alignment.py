"""MatchCounts by hand: actors, one-to-one pairs, compound rows, and what a judge's tables say."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.benchmarks.omnitom.alignment import (
    Alignment,
    actor_key,
    align,
    alignments,
    compound_parts,
    parse_judgement,
    precision_recall_f1,
)
from tomlab.benchmarks.omnitom.items.records import Row

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
        ("Wang", "Xiao Wang"),
        ("Xiao", None),  # two are called so
        ("the World", "world"),
        ("World Bank", None),
        ("Ana Ruiz", "Ana"),
        ("Ana’s Father", "Ana's father"),
        ("Ana's mother", None),
        ("Ana & Ben", "Ana and Ben"),
        ("Ben", None),  # half of a group is not the group
        ("Ana and the dog", None),
        ("Mr Okoro", "Mr. Okoro"),
    ],
)
def test_actor_is_known_by_cosmetic_variants_only(name, actor):
    assert actor_key(name, CAST) == actor


# Matches


@pytest.mark.parametrize(
    ("belief", "parts"),
    [
        ("The hall is dark and the door is shut", ["The hall is dark", "the door is shut"]),
        ("Ana stays, because the rain is heavy.", []),  # "Ana stays" has two words
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
        ("The cup is red now/The cup is red", "The cup is red", 0.5, [0, 1], [1]),
        # Two wordings of one part of a compound belief.
        (
            "The cup is on the shelf/The cup stands on the shelf/The tea is cold",
            BOTH,
            0.6,
            [1, 0, 1],
            [2],
        ),
        # A part that the compound belief said already, and one part alone.
        (f"{BOTH}/The tea is cold", BOTH, 0.7, [1, 0], [1]),
        (BOTH, "The tea is cold", 0.9, [0], [0]),
        # Three partners at most.
        (FOUR, FOUR.replace("; ", "/"), 1, [3], [1, 1, 1, 0]),
    ],
)
def test_match_counts_by_shared_words(predicted, gold, threshold, mc_predicted, mc_gold):
    predicted_rows = [Row("Ana", belief) for belief in predicted.split("/")]
    gold_rows = [Row("Ana", belief) for belief in gold.split("/")]
    alignment = align(predicted_rows, gold_rows, "token_f1", threshold)
    assert (alignment.mc_predicted, alignment.mc_gold) == (mc_predicted, mc_gold)
    exchanged = align(gold_rows, predicted_rows, "token_f1", threshold)
    assert exchanged.mc_gold == mc_predicted
    of_ben = [Row("Ben", row.belief) for row in predicted_rows]
    assert set(align(of_ben, gold_rows, "token_f1", threshold).mc_predicted) == {0}


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
    assert (high.mc_predicted, low.mc_predicted) == ([1, 0], [1, 1])


def test_equal_texts_match_at_threshold_1_whatever_the_rounding():
    vectors = {"p": np.full(7, 7**-0.5)}
    assert align(table("A: p"), table("A: p"), "embedding", 1, vectors).mc_gold == [1]


COMPOUND = "Ben thinks the cup is red; the tea was cold; the cake is gone"
TEXTS = ["The cup is red", "The cup is not red", BOTH, COMPOUND, "The cake is gone", ""]
actors = st.sampled_from(["world", "Ana", "Ben"])
belief_tables = st.lists(st.builds(Row, actors, st.sampled_from(TEXTS)), max_size=7)


def counted(rows, counts):
    cells = [(row.actor, row.belief) for row in rows]
    return sorted(zip(cells, counts, strict=True))


@limited
@given(belief_tables, belief_tables, st.sampled_from([0.2, 0.5, 0.75, 1.0]), st.randoms())
def test_order_of_rows_changes_nothing(predicted, gold, threshold, random):
    alignment = align(predicted, gold, "token_f1", threshold)
    assert max(alignment.mc_predicted + alignment.mc_gold, default=0) <= 3
    shuffled = random.sample(predicted, len(predicted)), random.sample(gold, len(gold))
    again = align(*shuffled, "token_f1", threshold)
    assert counted(shuffled[0], again.mc_predicted) == counted(predicted, alignment.mc_predicted)
    assert counted(shuffled[1], again.mc_gold) == counted(gold, alignment.mc_gold)


@pytest.mark.parametrize(
    ("mc_predicted", "mc_gold", "expected"),
    [
        ([2, 0], [1, 1], (0.5, 1, 2 / 3)),  # larger counts have no more weight
        ([], [0, 0], (0, 0, 0)),
        ([1, None], [1, None, 0], (1, 0.5, 2 / 3)),  # undefined rows are left out
        ([None], [1], (np.nan, 1, np.nan)),
    ],
)
def test_precision_recall_and_f1_of_a_story(mc_predicted, mc_gold, expected):
    alignment = Alignment(mc_predicted, mc_gold)
    assert precision_recall_f1(alignment) == pytest.approx(expected, nan_ok=True)


# A judge's tables

# The situation of Table 2 in another story.
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
JUDGEMENT = """Prediction
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
COUNTS = Alignment([1, 1, 1, 0], [1, 2, 0])
PIPES = re.sub(r"(?m),(?=Belief|M|The|Ivo m|\d$)", " | ", JUDGEMENT.replace('"', ""))


@pytest.mark.parametrize(
    "text",
    [
        f"```csv\n{JUDGEMENT}```",
        f"<think>Row 1, maybe 2? Prediction, 3</think>{JUDGEMENT}",
        f"Sure!\n{PIPES.replace('Prediction', '**Prediction Table**')}I hope that helps, as of 2024.",
        JUDGEMENT.replace("Prediction\n", "").replace("Ground Truth\n", ""),  # headers alone
        JUDGEMENT.replace('"', "").replace("Mara,M", "mara, M"),
        JUDGEMENT.replace("if he is talked into it", "if he is told to go"),  # at its place
        JUDGEMENT.replace(",0\n", ",1\n") + "\nOn second thoughts:\n\n" + JUDGEMENT,
    ],
)
def test_fences_pipes_prose_and_small_changes_are_borne(text):
    assert parse_judgement(text, PREDICTED, GOLD) == COUNTS


def test_row_without_a_line_or_a_possible_number_is_undefined():
    text = JUDGEMENT.replace("Mara,The corner stall is let to Ivo,1\n", "")
    text = text.replace(",2\n", ",7\n")  # there are four predicted rows
    text = text.replace("persuades him,0", "persuades him,no")
    alignment = parse_judgement(text, PREDICTED, GOLD)
    assert alignment == Alignment([1, 1, None, 0], [1, None, None])


def test_rows_out_of_order_and_equal_rows_have_their_own_counts():
    predicted = table("Ana: It rains", "Ana: It rains", "Ben: It snows")
    text = "Prediction\nActor,Belief,MatchCount\nBen,It snows,0\nAna,It rains,1\nAna,It rains,0"
    alignment = parse_judgement(text, predicted, GOLD)
    assert alignment == Alignment([0, 1, 0], [None] * 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("All beliefs match.", "no table of matches"),
        ("Prediction\nAna,It rains,1", "no row of the tables with its count"),
    ],
)
def test_answer_without_tables_gives_the_reason(text, reason):
    assert parse_judgement(text, PREDICTED, GOLD) == reason


words = st.text("abé ,;|'\"-1.", min_size=1, max_size=12)
words = words.filter(lambda text: re.search("[abé]", text)).map(str.strip)
some_rows = st.lists(st.builds(Row, words, words), min_size=1, max_size=5)


@limited
@given(some_rows, some_rows)
def test_what_is_written_as_asked_is_read_as_meant(predicted, gold):
    answer = io.StringIO()
    for title, rows in (("Prediction", predicted), ("Ground Truth", gold)):
        answer.write(f"{title}\nActor,Belief,MatchCount\n")
        for number, row in enumerate(rows):
            csv.writer(answer).writerow([row.actor, row.belief, number % 2])
    counts = [[number % 2 for number in range(len(rows))] for rows in (predicted, gold)]
    assert parse_judgement(answer.getvalue(), predicted, gold) == Alignment(*counts)


@limited
@given(st.text() | st.text(alphabet='Prediction\nActor,Belief|MatchCount 0129"<think>/'))
def test_any_answer_is_read_or_refused(text):
    alignment = parse_judgement(text, PREDICTED, GOLD)
    assert isinstance(alignment, str) or len(alignment.mc_predicted) == len(PREDICTED)
