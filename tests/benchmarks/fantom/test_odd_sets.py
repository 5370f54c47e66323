"""A FANToM file in the released format whose sets are odd: read, scored and measured all the same."""

import pytest

from fantom_sets import question_set
from replies import answered
from tomlab.benchmarks import fantom

CYCLIC = "second-order:cyclic"


def odd_set(people: list[str], right: str, order: str = CYCLIC, set_id: str = "0-0-0") -> dict:
    """A set with one belief, whose conversation is of these people."""
    record = question_set(set_id)
    context = "\n".join(f"{name}: The trail is blue today." for name in people)
    record |= {"short_context": context or "It rains.", "full_context": context or "It rains."}
    belief = {"correct_answer": right, "wrong_answer": "It is blue.", "tom_type": order}
    record["beliefQAs"] = [record["beliefQAs"][0] | belief]
    return record


NOBODY_LISTED = question_set("6-0-0")
for _family in ("answerability", "infoAccessibility"):
    NOBODY_LISTED[f"{_family}QA_list"] |= {"correct_answer": [], "wrong_answer": []}
# People who speak, and a belief that names too few of them for the second reading to decide.
UNDECIDED = [
    (["Mira", "Tom"], "Mira believes that the guide does not know."),
    (["Mira", "Tom"], "Nothing is known.", "first-order"),
    (["Mira", "Tom"], "Mira believes that Mira does not know."),
    (["Mira & Tom", "Ann"], "Mira and Tom believe that Ann does not know."),
    ([], "Mira believes that Tom does not know."),
    (["Al", "Alice"], "Alice believes that Albert does not know."),
]
DECIDED = [
    (["Al", "Alice", "Ann"], "Alice believes that Ann does not know all, alas."),
    (["Mary Ann", "J. O'Neil"], "Mary Ann believes that J. O'Neil does not know."),
]


@pytest.mark.parametrize(
    ("odd", "verdict"), [(odd, None) for odd in UNDECIDED] + [(odd, True) for odd in DECIDED]
)
def test_second_reading_decides_where_the_belief_names_whole_names_of_who_speaks(odd, verdict):
    items = fantom.compose([odd_set(*odd)]).query("question_type == 'belief_dist'")
    scores = fantom.score(items, answered(items, odd[1], "full"))
    assert scores["by_statement"].tolist() == [verdict]


def test_beliefs_that_the_second_reading_cannot_decide_are_left_out_of_its_metric():
    items = fantom.compose([odd_set(*UNDECIDED[0]), question_set("7-0-0")])
    responses = answered(items, list(items["answer"]), "full")
    metrics = fantom.metrics(fantom.score(items, responses)).set_index(["metric", "condition"])
    assert metrics.loc[("belief_dist", "inaccessible"), "n"] == 3
    assert metrics.loc[("belief_statement", "inaccessible"), ["value", "n"]].tolist() == [1, 2]


@pytest.mark.parametrize(("text", "score"), [("", 0), ("I'm sorry, I can't.", 0), ("Nobody", 1)])
def test_where_nobody_knows_only_who_says_so_is_right(text, score):
    items = fantom.compose([NOBODY_LISTED]).query("question_type == 'answerability_list'")
    assert fantom.reference(items.iloc[0].to_dict(), "short", 0)["gold"] == "Nobody"
    assert fantom.score(items, answered(items, text, "short"))["score"].tolist() == [score]
