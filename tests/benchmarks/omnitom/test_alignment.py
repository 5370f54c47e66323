"""MatchCounts by hand: actors, one-to-one pairs, compound rows, and what a judge's tables say."""

import csv
import io
import re

import numpy as np
import pytest
from hypothesis import given
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
from tomlab.benchmarks.omnitom.items.records import Row, read_records, rows
from tomlab.errors import InputError
from tomlab.paths import ROOT
from tomlab.scoring.similarity import similarity

WORKED = ROOT.parent / "shared" / "datasets" / "omnitom" / "worked_examples.jsonl"


def table(*lines: str) -> list[Row]:
    """Rows written as "actor: belief"."""
    return [Row(*line.split(": ", 1)) for line in lines]


# ---- Actors --------------------------------------------------------------------------------------

CAST = ["world", "Xiao Wang", "Xiao Zhao", "Ana", "Ana's father", "Ana and Ben", "Mr. Okoro"]


@pytest.mark.parametrize(
    ("name", "actor"),
    [
        ("xiao-wang", "Xiao Wang"),
        ("XiaoZhao", "Xiao Zhao"),
        ("Wang", "Xiao Wang"),
        ("Xiao", None),  # two are called so
        ("World", "world"),
        ("the world", "world"),
        ("World Bank", None),
        ("ANA", "Ana"),
        ("Ana Ruiz", "Ana"),
        ("Ana’s Father", "Ana's father"),
        ("father", "Ana's father"),
        ("Ana's mother", None),
        ("Ana & Ben", "Ana and Ben"),
        ("Ben", None),  # half of a group is not the group
        ("Ana and the dog", None),
        ("Okoro", "Mr. Okoro"),
        ("Mr Okoro", "Mr. Okoro"),
        ("Mrs. Okoro", None),
        ("", None),
        ("?!", None),
    ],
)
def test_actor_is_known_by_cosmetic_variants_only(name, actor):
    assert actor_key(name, CAST) == actor
    assert actor_key("world", ["World Health Organization"]) == "world"


names = st.text(alphabet="abAB '.,-é王", max_size=8)


@given(st.lists(names, max_size=6), names)
def test_no_two_gold_actors_are_merged(actors, name):
    def bare(text):
        words = re.sub(r"['’]", "", text).casefold()
        return re.sub(r"\W", "", re.sub(r"^\W*(the|an|a)\W+(?=.*\w)", "", words))

    for actor in actors:
        assert bare(actor_key(actor, actors) or "") == bare(actor)
    assert actor_key(name, actors) in {*actors, None}


# ---- Likeness ------------------------------------------------------------------------------------


def test_exact_looks_past_case_and_token_f1_is_twice_the_shared_words_over_all():
    found = similarity("exact", ["The key is LOST."], ["the key is lost", "The key was lost"])
    assert found.tolist() == [[1, 0]]
    [[found]] = similarity("token_f1", ["the cat and the dog"], ["the dog"])
    assert found == pytest.approx(2 * 2 / (5 + 2))


def test_embedding_is_the_cosine():
    vectors = {"a": np.array([1.0, 0.0]), "b": np.array([0.6, 0.8])}
    assert similarity("embedding", ["a", "b"], ["b"], vectors) == pytest.approx(
        np.array([[0.6], [1]])
    )


def test_unknown_kind_is_named():
    rows_ = table("Ana: It rains")
    with pytest.raises(InputError, match="kind 'bleu', expected one of exact, token_f1, embedding"):
        align(rows_, rows_, "bleu", 0.5)


@pytest.mark.parametrize(
    ("belief", "parts"),
    [
        ("The hall is dark and the door is shut", ["The hall is dark", "the door is shut"]),
        ("Ana has left; Ben is still there", ["Ana has left", "Ben is still there"]),
        ("Ana stays, because the rain is heavy.", []),  # "Ana stays" has two words
        ("Ana, Ben, and Cleo are old friends", []),
        ("Ana paid 1,200 euros for it", []),
        ("Ana thinks that Ben thinks that it rains", []),
        ('Ana says, "I am here now, and you are late"', []),
    ],
)
def test_belief_is_compound_if_it_joins_clauses_of_three_words(belief, parts):
    assert compound_parts(belief) == parts


# ---- Alignment -----------------------------------------------------------------------------------

# The situation of Table 2 in another story: a gold belief that two predicted ones cover.
PREDICTED = table(
    "world: Mara wants to move to the corner stall",
    "world: The corner stall is let to Ivo",
    "Mara: Mara wants to move to the corner stall",
    "Mara: The corner stall is let to Ivo",
    "Mara: Mara has to talk Ivo into leaving",
    "Mara: Ivo might leave if he is talked into it",
)
GOLD = table(
    "world: Mara wants to move to the corner stall",
    "world: The corner stall is let to Ivo",
    "Mara: Mara needs the corner stall, and Ivo rents that stall",
    "Mara: Mara must persuade Ivo to give the stall up",
    "Mara: Ivo may swap stalls if Mara persuades him",
)
WANT, LET, PERSUADE, SWAP = np.eye(4)
VECTORS = {
    PREDICTED[0].belief: WANT,
    PREDICTED[1].belief: LET,
    PREDICTED[4].belief: PERSUADE,
    PREDICTED[5].belief: SWAP,
    GOLD[2].belief: (WANT + LET) / np.sqrt(2),
    "Mara needs the corner stall": WANT,
    "Ivo rents that stall": LET,
    GOLD[3].belief: PERSUADE,
    GOLD[4].belief: SWAP,
}


def test_gold_belief_covered_by_two_predicted_ones_has_match_count_2():
    found = align(PREDICTED, GOLD, "embedding", 0.7, VECTORS)
    assert found.mc_predicted == [1, 1, 1, 1, 1, 1]
    assert found.mc_gold == [1, 1, 2, 1, 1]
    assert (2, 2) in found.pairs and (3, 2) in found.pairs
    turned = align(GOLD, PREDICTED, "embedding", 0.7, VECTORS)
    assert (turned.mc_predicted, turned.mc_gold) == (found.mc_gold, found.mc_predicted)
    assert precision_recall_f1(found) == (1, 1, 1)


def test_compound_belief_unlike_any_row_needs_two_parts_to_match():
    # As a whole it is at .71 of either row; its parts say just what they say.
    found = align(PREDICTED, GOLD, "embedding", 0.9, VECTORS)
    assert found.mc_gold == [1, 1, 2, 1, 1]
    found = align([*PREDICTED[:2], *PREDICTED[3:]], GOLD, "embedding", 0.9, VECTORS)
    assert found.mc_predicted == [1, 1, 0, 1, 1]
    assert found.mc_gold == [1, 1, 0, 1, 1]


def test_identical_belief_of_another_actor_does_not_match():
    found = align(table("Ben: It rains"), table("Ana: It rains", "Ben: It snows"), "exact", 1)
    assert (found.mc_predicted, found.mc_gold, found.pairs) == ([0], [0, 0], [])


def test_duplicate_and_paraphrase_of_a_matched_belief_stay_0():
    predicted = table("Ana: The cup is red", "Ana: The cup is red", "Ana: The red cup")
    found = align(predicted, table("Ana: The cup is red"), "token_f1", 0.5)
    assert found.mc_predicted == [1, 0, 0]
    assert found.mc_gold == [1]


def test_second_wording_of_one_part_of_a_compound_belief_stays_0():
    gold = table("Ana: The cup is on the shelf and the tea is cold")
    predicted = table(
        "Ana: The cup is on the shelf", "Ana: The cup stands on the shelf", "Ana: The tea is cold"
    )
    found = align(predicted, gold, "token_f1", 0.6)
    assert found.mc_predicted == [1, 0, 1]
    assert found.mc_gold == [2]


def test_part_that_the_partner_says_already_is_not_credited_again():
    both = "Ana: The cup is on the shelf and the tea is cold"
    found = align(table(both, "Ana: The tea is cold"), table(both), "token_f1", 0.7)
    assert found.mc_predicted == [1, 0]
    assert found.mc_gold == [1]


def test_compound_belief_has_three_partners_at_most():
    parts = ["The cup is red", "the tea is cold", "the cake is gone", "the guests are late"]
    gold = table(*(f"Ana: {part}" for part in parts))
    found = align(table("Ana: " + "; ".join(parts)), gold, "exact", 1)
    assert found.mc_predicted == [3]
    assert sorted(found.mc_gold) == [0, 1, 1, 1]


def test_closest_of_two_rivals_is_kept():
    predicted = table("Ana: The cup is red now", "Ana: The cup is red")
    found = align(predicted, table("Ana: The cup is red"), "token_f1", 0.5)
    assert found.mc_predicted == [0, 1]


def corner(angles: dict[str, float]) -> dict[str, np.ndarray]:
    return {name: np.array([np.cos(a), np.sin(a)]) for name, a in angles.items()}


def test_assignment_at_a_threshold_is_not_one_assignment_cut_there():
    # p1-g1 .9, p1-g2 and p2-g1 .8, p2-g2 .1: one close pair above .75, two fair ones above .65.
    vectors = {
        "p1": np.array([1, 0, 0, 0.0]),
        "p2": np.array([0, 1, 0, 0.0]),
        "g1": np.array([0.9, 0.8, 0, 0]),
        "g2": np.array([0.8, 0.1, 0, 0]),
    }
    tables = table("Ana: p1", "Ana: p2"), table("Ana: g1", "Ana: g2")
    high, low = alignments(*tables, "embedding", [0.75, 0.65], vectors)
    assert high.pairs == [(0, 0)]
    assert low.pairs == [(0, 1), (1, 0)]


def test_equal_texts_match_at_threshold_1_whatever_the_rounding():
    vectors = {"p": np.full(7, 7**-0.5)}
    assert vectors["p"] @ vectors["p"] != 1
    assert align(table("A: p"), table("A: p"), "embedding", 1, vectors).mc_gold == [1]


def test_pair_exactly_at_the_threshold_matches():
    vectors = corner({"p": 0, "g": np.pi / 3})
    at = float(vectors["p"] @ vectors["g"])
    assert align(table("A: p"), table("A: g"), "embedding", at, vectors).mc_gold == [1]


beliefs = st.lists(
    st.tuples(
        st.sampled_from(["world", "Ana", "ana", "Ben"]),
        st.sampled_from(
            [
                "The cup is red",
                "The cup is not red",
                "the tea is cold",
                "The cup is red and the tea is cold",
                "Ben thinks the cup is red; the tea was cold; the cake is gone",
                "The cake is gone",
                "",
            ]
        ),
    ),
    max_size=7,
).map(lambda pairs: [Row(*pair) for pair in pairs])


@given(beliefs, beliefs, st.sampled_from([0.2, 0.5, 0.75, 1.0]), st.data())
def test_order_of_rows_changes_nothing_and_counts_are_of_the_pairs(predicted, gold, at, data):
    found = align(predicted, gold, "token_f1", at)
    for side, (counts, other) in enumerate(
        [(found.mc_predicted, found.mc_gold), (found.mc_gold, found.mc_predicted)]
    ):
        places = [pair[side] for pair in found.pairs]
        assert counts == [places.count(i) for i in range(len(counts))]
        assert max(counts, default=0) <= 3 and sum(counts) == sum(other)
    shuffled = [data.draw(st.permutations(rows_)) for rows_ in (predicted, gold)]
    again = align(*shuffled, "token_f1", at)

    def told(rows_, counts):
        return sorted(zip([(row.actor, row.belief) for row in rows_], counts, strict=True))

    if {row.actor for row in (*predicted, *gold)} <= {"world", "Ana", "Ben"}:
        assert told(shuffled[0], again.mc_predicted) == told(predicted, found.mc_predicted)
        assert told(shuffled[1], again.mc_gold) == told(gold, found.mc_gold)
    assert precision_recall_f1(again) == precision_recall_f1(found)


@pytest.mark.skipif(
    not WORKED.is_file(), reason="the worked examples are not beside the repository"
)
@pytest.mark.parametrize("kind", ["exact", "token_f1"])
def test_worked_examples_match_themselves_row_by_row(kind):
    for record in read_records(WORKED):
        gold = rows(record)
        found = align(gold, gold, kind, 1.0)
        assert found.pairs == [(i, i) for i in range(len(gold))]
        assert precision_recall_f1(found) == (1, 1, 1)


# ---- Scores --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mc_predicted", "mc_gold", "expected"),
    [
        ([1, 1, 0, 0], [1, 1, 0], (0.5, 2 / 3, 4 / 7)),
        ([2, 0], [1, 1], (0.5, 1, 2 / 3)),  # larger counts have no more weight
        ([0], [0, 0], (0, 0, 0)),
        ([], [0, 0], (0, 0, 0)),
        ([1, None], [1, None, 0], (1, 0.5, 2 / 3)),  # undefined rows are left out
    ],
)
def test_precision_recall_and_f1_of_a_story(mc_predicted, mc_gold, expected):
    assert precision_recall_f1(Alignment(mc_predicted, mc_gold, [])) == pytest.approx(expected)


def test_table_that_a_judge_left_out_has_no_score():
    assert np.isnan(precision_recall_f1(Alignment([None], [1], []))).tolist() == [True, False, True]


# ---- A judge's tables ----------------------------------------------------------------------------

SAID = """Prediction
Actor,Belief,MatchCount
world,Mara wants to move to the corner stall,1
world,The corner stall is let to Ivo,1
Mara,Mara wants to move to the corner stall,1
Mara,The corner stall is let to Ivo,1
Mara,Mara has to talk Ivo into leaving,1
Mara,Ivo might leave if he is talked into it,0

Ground Truth
Actor,Belief,MatchCount
world,Mara wants to move to the corner stall,1
world,The corner stall is let to Ivo,1
Mara,"Mara needs the corner stall, and Ivo rents that stall",2
Mara,Mara must persuade Ivo to give the stall up,1
Mara,Ivo may swap stalls if Mara persuades him,0
"""
COUNTS = Alignment([1, 1, 1, 1, 1, 0], [1, 1, 2, 1, 0], [])


def in_pipes(text: str) -> str:
    lines = []
    for line in text.splitlines():
        cells = next(csv.reader(io.StringIO(line)), [])
        lines.append("| " + " | ".join(cells) + " |" if len(cells) > 1 else f"**{line} Table**")
    return "Sure!\n```\n" + "\n".join(lines) + "\n```\nI hope that helps, as of 2024."


@pytest.mark.parametrize(
    "text",
    [
        f"```csv\n{SAID}```",
        f"<think>Row 1, maybe 2? Prediction, 3</think>{SAID}",
        in_pipes(SAID),
        SAID.replace("Prediction\n", "").replace("Ground Truth\n", ""),  # headers alone
        SAID.replace('"', ""),
        SAID.replace(",1\n", ",1.0\n").replace("Mara,M", "mara, M"),
        SAID.replace("Prediction\n", "Prediction table (Actor,Belief,MatchCount):\n"),
        SAID.replace("into leaving", "into going away"),  # at its place, half of the words alike
    ],
    ids=["fence", "thinking", "pipes", "no labels", "no quotes", "1.0", "header twice", "reworded"],
)
def test_fences_pipes_prose_and_small_changes_are_borne(text):
    assert parse_judgement(text, PREDICTED, GOLD) == COUNTS


def test_row_without_a_line_or_a_possible_number_is_undefined():
    text = SAID.replace("world,The corner stall is let to Ivo,1\n", "", 1)
    text = text.replace("Mara,Mara has to talk Ivo into leaving,1\n", "Mara,Mara has to talk,yes\n")
    text = text.replace(",2\n", ",7\n")  # there are six predicted rows
    found = parse_judgement(text, PREDICTED, GOLD)
    assert found.mc_predicted == [1, None, 1, 1, None, 0]
    assert found.mc_gold == [1, 1, None, 1, 0]


def test_rows_out_of_order_are_found_by_their_text():
    head, *lines = SAID.split("\n\n")[0].split("\n")[1:]
    text = "\n".join(["Prediction", head, *reversed(lines)])
    found = parse_judgement(text, PREDICTED, GOLD)
    assert found == Alignment(COUNTS.mc_predicted, [None] * 5, [])


def test_equal_rows_keep_their_own_counts():
    twice = table("Ana: It rains", "Ana: It rains")
    text = "Prediction\nActor,Belief,MatchCount\nAna,It rains,1\nAna,It rains,0"
    assert parse_judgement(text, twice, twice).mc_predicted == [1, 0]


def test_later_of_two_drafts_counts():
    text = SAID.replace(",0\n", ",1\n") + "\nOn second thoughts:\n\n" + SAID
    assert parse_judgement(text, PREDICTED, GOLD) == COUNTS


@pytest.mark.parametrize("text", ["", "All beliefs match.", "<think>Prediction\nAna,It rains,1"])
def test_answer_without_tables_gives_the_reason(text):
    assert parse_judgement(text, PREDICTED, GOLD) == "no table of matches"
    text = "Prediction\nActor,Belief,MatchCount\nAna,It rains,1"
    assert parse_judgement(text, PREDICTED, GOLD) == "no row of the tables with its count"


words = st.text(alphabet="abé ,;|'\"-1.\n", min_size=1, max_size=12).filter(
    lambda text: re.search("[abé]", text)
)
some_rows = st.lists(st.builds(Row, words, words), min_size=1, max_size=5)


@given(some_rows, some_rows, st.data())
def test_what_is_written_as_asked_is_read_as_meant(predicted, gold, data):
    said, counts = [], []
    for label, own, other in (("Prediction", predicted, gold), ("Ground Truth", gold, predicted)):
        counts.append([data.draw(st.integers(0, min(3, len(other)))) for _ in own])
        lines = io.StringIO()
        cells = [[" ".join(text.split()) for text in (row.actor, row.belief)] for row in own]
        numbered = [[*cell, n] for cell, n in zip(cells, counts[-1], strict=True)]
        csv.writer(lines).writerows([["Actor", "Belief", "MatchCount"], *numbered])
        said += [label, lines.getvalue()]
    assert parse_judgement("\n".join(said), predicted, gold) == Alignment(*counts, [])


@given(st.text() | st.text(alphabet='Prediction\nActor,Belief|MatchCount 0129"<think>/'))
def test_any_answer_is_read_or_refused(text):
    found = parse_judgement(text, PREDICTED, GOLD)
    assert isinstance(found, str) or len(found.mc_predicted) == len(PREDICTED)


# ---- The judge's prompt --------------------------------------------------------------------------
