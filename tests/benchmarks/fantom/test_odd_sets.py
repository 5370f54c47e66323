"""A FANToM file in the released format whose sets are odd: read, scored and measured all the same."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fantom_sets import SAID, question_set
from replies import answered
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom import judges
from tomlab.benchmarks.fantom.items.filtering import faults
from tomlab.benchmarks.fantom.items.sets import SCENARIOS

ORDERS = ("first-order", "second-order:cyclic", "second-order:acyclic", "second-order:accessible")


def belief(right: str, wrong: str, order: str = ORDERS[1], scenario: str = SCENARIOS[0]) -> dict:
    return {
        "question": "What does Mira believe?",
        "correct_answer": right,
        "wrong_answer": wrong,
        "question_type": f"tom:belief:{scenario}",
        "tom_type": order,
        "missed_info_accessibility": scenario,
    }


def odd_set(number: int, people: list[str], *beliefs: dict) -> dict:
    """A set whose conversation is of these people, the last of whom knows nothing."""
    context = "\n".join(f"{name}: The trail is blue today." for name in people)
    record = question_set(f"{number}-0-0")
    record |= {"short_context": context, "full_context": context, "beliefQAs": list(beliefs)}
    for family in ("answerability", "infoAccessibility"):
        lists = {"correct_answer": people[:-1], "wrong_answer": people[-1:]}
        record[f"{family}QA_list"] = record[f"{family}QA_list"] | lists
        asked = record[f"{family}QAs_binary"][0]
        record[f"{family}QAs_binary"] = []
        for name in people:
            key = "no" if name == people[-1] else "yes"
            question = asked | {"question": f"Does {name} know this?", "correct_answer": key}
            record[f"{family}QAs_binary"].append(question)
    return record


NOBODY_LISTED = odd_set(6, ["Mira", "Tom"])
for _family in ("answerability", "infoAccessibility"):
    NOBODY_LISTED[f"{_family}QA_list"] |= {"correct_answer": [], "wrong_answer": []}
NOBODY_SPEAKS = odd_set(5, ["Mira"], belief("Mira believes that Tom does not know.", "It is blue."))
NOBODY_SPEAKS |= {"short_context": "It rains.", "full_context": "It rains. They walk on."}
ONE_NAMED = belief("Mira believes that the guide does not know.", "Mira believes that he does.")
# Sets whose second belief names too few who speak, so that the second reading cannot decide.
UNDECIDED = [
    odd_set(0, ["Mira", "Tom"], ONE_NAMED),
    odd_set(1, ["Mira", "Tom"], belief("She believes that he does not know.", "He does.")),
    odd_set(2, ["Mira", "Tom"], belief("Nothing is known.", "It is blue.", "first-order")),
    odd_set(3, ["Mira", "Tom"], belief("Mira believes that Mira does not know.", "It is blue.")),
    odd_set(4, ["Mira & Tom", "Ann"], belief("Mira and Tom believe that Ann does not know.", "No.")),
    NOBODY_SPEAKS,
    odd_set(8, ["Al", "Alice"], belief("Alice believes that Albert does not know.", "Alice does.")),
]  # fmt: skip
PUNCTUATED = ["Mary Ann", "J. O'Neil", "Zoë-Lou", "Dr. Ng"]
INSIDE_WORDS = belief("Alice believes that Ann does not know all, alas.", "Annual Al is blue.")
DECIDED = {
    "Alice believes that Ann does not know it.": odd_set(9, ["Al", "Alice", "Ann"], INSIDE_WORDS),
    "Mary Ann believes that J. O'Neil does not know it.": odd_set(
        10, PUNCTUATED, belief("Mary Ann believes that J. O'Neil does not know.", "It is blue.")
    ),
}


def measured(path: Path, sets: list[dict], texts: list[str]) -> pd.DataFrame:
    """The scores of a file; its metrics, prompts, baselines and faults are made, too."""
    path.write_text(json.dumps(sets, ensure_ascii=False), encoding="utf-8")
    items = fantom.read_released(path)
    for item in items.to_dict("records"):
        fantom.messages(item, "short")
        fantom.reference(item, "short", 0)
    tables = []
    for method in ("short", "full"):
        asked = fantom.asked(items, method)
        tables.append(answered(asked, list(np.resize(texts, len(asked))), method))
    responses = pd.concat(tables)
    scores = fantom.score(items, responses)
    assert fantom.metrics(scores)["value"].notna().all()
    judges.answers(items, responses)
    faults(sets)
    return scores


def test_a_released_file_with_odd_sets_is_read_scored_and_measured(tmp_path):
    sets = [NOBODY_LISTED, *UNDECIDED, *DECIDED.values()]
    scores = measured(tmp_path / "fantom_v1.json", sets, list(SAID))
    assert set(scores["group_id"]) == {record["set_id"] for record in sets}


def by_statement(record: dict, text: str) -> bool | None:
    """The second verdict on what is said of the belief of an odd set."""
    items = fantom.compose([record])
    items = items[items["question_type"] == "belief_dist"]
    [verdict] = fantom.score(items, answered(items, text, "short"))["by_statement"]
    return verdict


@pytest.mark.parametrize("record", UNDECIDED, ids=lambda record: record["set_id"])
def test_the_second_reading_says_that_it_cannot_decide_where_a_belief_names_too_few(record):
    assert by_statement(record, "Mira believes that Tom does not know it.") is None


@pytest.mark.parametrize("text", DECIDED)
def test_the_second_reading_takes_names_as_whole_words_with_their_punctuation(text):
    assert by_statement(DECIDED[text], text) is True


def test_beliefs_that_the_second_reading_cannot_decide_are_left_out_of_its_metric():
    items = fantom.compose([UNDECIDED[0], question_set("7-0-0")])
    responses = answered(items, list(items["answer"]), "full")
    metrics = fantom.metrics(fantom.score(items, responses)).set_index(["metric", "condition"])
    assert metrics.loc[("belief_dist", "inaccessible"), "n"] == 3
    assert metrics.loc[("belief_statement", "inaccessible"), ["value", "n"]].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "score"), [("", 0), ("I'm sorry, I cannot help with that.", 0), ("Nobody", 1)]
)
def test_where_nobody_knows_only_who_says_so_is_right(text, score):
    items = fantom.compose([NOBODY_LISTED])
    items = items[items["question_type"] == "answerability_list"]
    assert fantom.reference(items.iloc[0].to_dict(), "short", 0)["gold"] == "Nobody"
    assert fantom.score(items, answered(items, text, "short"))["score"].tolist() == [score]
