"""A FANToM file in the released format whose sets are odd: read, scored and measured all the same."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fantom_sets import SAID, question_set
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom import ignorance, judges, scoring
from tomlab.benchmarks.fantom.items.filtering import faults
from tomlab.benchmarks.fantom.items.sets import SCENARIOS

TRAIL = "the colour of the trail"
ORDERS = ("first-order", "second-order:cyclic", "second-order:acyclic", "second-order:accessible")


def belief(asked: str, missed: str, heard: str, order: str, scenario: str = "inaccessible") -> dict:
    right, wrong = (missed, heard) if scenario == "inaccessible" else (heard, missed)
    return {
        "question": asked,
        "correct_answer": right,
        "wrong_answer": wrong,
        "question_type": f"tom:belief:{scenario}",
        "tom_type": order,
        "missed_info_accessibility": scenario,
    }


def odd_set(set_id: str, people: list[str], beliefs: list[dict], **fields) -> dict:
    """A set whose conversation is of these people, the last of whom knows nothing."""
    lines = [f"{name}: The trail is blue today." for name in people]
    record = question_set(set_id) | {"short_context": "\n".join(lines)}
    record |= {"full_context": "\n".join(lines), "beliefQAs": beliefs}
    for family in ("answerability", "infoAccessibility"):
        names = {"correct_answer": people[:-1], "wrong_answer": people[-1:]}
        record[f"{family}QA_list"] = record[f"{family}QA_list"] | names
        asked = record[f"{family}QAs_binary"][0]
        record[f"{family}QAs_binary"] = [
            asked | {"question": f"Does {name} know this?", "correct_answer": key}
            for name, key in zip(people, ["yes"] * (len(people) - 1) + ["no"], strict=True)
        ]
    return record | fields


def second(missed: str, heard: str, asked: str = "What does Mira believe?") -> dict:
    return belief(asked, missed, heard, "second-order:cyclic")


def nobody_listed(set_id: str) -> dict:
    """A set whose lists are empty: nobody knows, and nobody is said not to."""
    record = odd_set(set_id, ["Mira", "Tom"], [])
    for family in ("answerability", "infoAccessibility"):
        record[f"{family}QA_list"] |= {"correct_answer": [], "wrong_answer": []}
    return record


GUIDE = "What does Mira believe about what the guide believes about the trail?"
ODD = {
    "one named": odd_set(
        "131-0-1",
        ["Mira", "Tom"],
        [
            second(
                f"Mira believes that the guide does not know {TRAIL}.",
                "Mira believes that the guide knows that it is blue.",
                GUIDE,
            )
        ],
    ),
    "nobody named": odd_set(
        "246-1-2",
        ["Mira", "Tom"],
        [
            second(f"She believes that he does not know {TRAIL}.", "She believes that he does."),
            belief("What is believed?", "Nothing is known.", "It is blue.", "first-order"),
        ],
    ),
    "the same person twice": odd_set(
        "140-0-1",
        ["Mira", "Tom"],
        [
            second(
                f"Mira believes that Mira does not know {TRAIL}.",
                "Mira believes that Mira knows that it is blue.",
            )
        ],
    ),
    "names inside words": odd_set(
        "1-0-0",
        ["Al", "Alice", "Ann"],
        [
            second(
                f"Alice believes that Ann does not know all about {TRAIL}, alas.",
                "Alice believes that Annual Al is blue.",
            ),
            second(f"Alice believes that Albert does not know {TRAIL}.", "Alice believes so."),
        ],
    ),
    "punctuation in names": odd_set(
        "2-0-0",
        ["Mary Ann", "J. O'Neil", "Zoë-Lou", "Dr. Ng"],
        [
            second(
                f"Mary Ann believes that J. O'Neil does not know {TRAIL}.",
                "Mary Ann believes that J. O'Neil knows that it is blue.",
            ),
            belief(
                "What does Zoë-Lou believe?",
                f"Zoë-Lou does not know {TRAIL}.",
                "Zoë-Lou believes that it is blue.",
                "first-order",
                "accessible",
            ),
        ],
    ),
    "joint speakers": odd_set(
        "3-0-0",
        ["Mira & Tom", "Ann", "Bo"],
        [
            second(
                "Mira and Tom believe that Ann does not know.", "Mira and Tom believe it is blue."
            )
        ],
    ),
    "nobody listed": nobody_listed("4-0-0"),
    "nobody speaks": odd_set(
        "5-0-0",
        ["Mira", "Tom"],
        [second(f"Mira believes that Tom does not know {TRAIL}.", "Mira believes that he does.")],
        short_context="It rains.",
        full_context="It rains. They walk on.",
    ),
}


def written(path: Path, sets: list[dict]) -> Path:
    path.write_text(json.dumps(sets, ensure_ascii=False), encoding="utf-8")
    return path


def answered(items: pd.DataFrame, texts: list[str]) -> pd.DataFrame:
    """One of the texts as the answer to each item that is asked, in turn, by each of two methods."""
    rows = []
    for method in ("short", "full"):
        for number, item_id in enumerate(fantom.asked(items, method)["item_id"]):
            row = {"item_id": item_id, "model": "m", "method": method}
            rows.append(row | {"response": texts[number % len(texts)]})
    return pd.DataFrame(rows)


def measured(path: Path, texts: list[str]) -> pd.DataFrame:
    """The scores of a file; its metrics, prompts, baselines and faults are made, too."""
    items = fantom.read_released(path)
    for item in items.to_dict("records"):
        fantom.messages(item, "short")
        fantom.reference(item, "short", 0)
    responses = answered(items, texts)
    scores = fantom.score(items, responses)
    shares = fantom.metrics(scores)
    assert shares["value"].notna().all()
    judges.answers(items, responses)
    faults(json.loads(path.read_text(encoding="utf-8")))
    return scores


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("released") / "fantom_v1.json"
    return written(path, list(ODD.values()))


def test_a_released_file_with_odd_sets_is_read_scored_and_measured(released):
    scores = measured(released, list(SAID))
    assert {name.partition("/")[0] for name in scores["item_id"]} == {
        record["set_id"] for record in ODD.values()
    }


def stated(kind: str, said: str, number: int = 0):
    """The second verdict on what is said of a belief of an odd set."""
    items = fantom.compose([ODD[kind]])
    item_id = f"{ODD[kind]['set_id']}/belief_dist:{number}"
    response = {"item_id": item_id, "model": "m", "method": "short", "response": said}
    return fantom.score(items, pd.DataFrame([response]))["by_statement"].iloc[0]


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("one named", 0),
        ("nobody named", 0),
        ("nobody named", 1),
        ("the same person twice", 0),
        ("names inside words", 1),
        ("joint speakers", 0),
        ("nobody speaks", 0),
    ],
)
def test_the_second_reading_says_that_it_cannot_decide_where_a_belief_names_too_few(kind, number):
    assert stated(kind, "Mira believes that Tom does not know it.", number) is None


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("names inside words", "Alice believes that Ann does not know it."),
        ("punctuation in names", "Mary Ann believes that J. O'Neil does not know it."),
    ],
)
def test_the_second_reading_takes_names_as_whole_words_with_their_punctuation(kind, said):
    assert stated(kind, said)
    assert ignorance.states_ignorance(fantom.compose([ODD[kind]]).iloc[1].to_dict(), said)


def test_beliefs_that_the_second_reading_cannot_decide_are_left_out_of_its_metric(released):
    items = fantom.compose([ODD["one named"], question_set()])
    answers = pd.DataFrame({"item_id": items["item_id"], "response": items["answer"]})
    found = fantom.metrics(fantom.score(items, answers.assign(model="m", method="full")))
    found = found.set_index(["metric", "condition"])
    assert found.loc[("belief_dist", "inaccessible"), "n"] == 3
    assert found.loc[("belief_statement", "inaccessible"), ["value", "n"]].tolist() == [1, 2]


@pytest.mark.parametrize("said", ["", "I'm sorry, I cannot help with that."])
def test_an_empty_or_refused_answer_earns_nothing_where_nobody_knows(said):
    items = fantom.compose([ODD["nobody listed"]])
    item_id = "4-0-0/answerability_list"
    for response, score in ((said, 0), ("Nobody", 1)):
        row = {"item_id": item_id, "model": "m", "method": "short", "response": response}
        assert fantom.score(items, pd.DataFrame([row]))["score"].tolist() == [score]


def test_the_gold_baseline_is_right_where_nobody_knows():
    items = fantom.compose([ODD["nobody listed"]])
    item = items.set_index("item_id").loc["4-0-0/answerability_list"]
    assert fantom.reference(item.to_dict() | {"item_id": item.name}, "short", 0)["gold"] == "Nobody"


NAMES = st.sampled_from(
    ["Al", "Alice", "Ann", "Annie", "O'Neil", "Mary Ann", "J.P.", "Zoë", "Mira & Tom", "I", "He"]
)
TEXTS = st.lists(
    st.one_of(
        NAMES,
        st.sampled_from(["believes that", "does not know", "and", "'s", "the guide", ".", "does"]),
        st.text("aA(.?*[\\&:'’ -", min_size=1, max_size=5),
    ),
    min_size=1,
    max_size=8,
).map(lambda words: f"x {' '.join(words)}")


@st.composite
def odd_sets(draw) -> list[dict]:
    sets = []
    for number in range(draw(st.integers(1, 3))):
        people = draw(st.lists(NAMES, min_size=1, max_size=4))
        beliefs = [
            belief(*[draw(TEXTS) for _ in range(3)], draw(st.sampled_from(ORDERS)), scenario)
            for scenario in draw(
                st.lists(st.sampled_from(["inaccessible", "accessible"]), max_size=2)
            )
        ]
        record = odd_set(f"{number}-0-0", people, beliefs)
        for family in ("answerability", "infoAccessibility"):
            listed = {"correct_answer": draw(st.lists(NAMES, max_size=3))}
            listed |= {"wrong_answer": draw(st.lists(NAMES, max_size=3))}
            listed |= {"missed_info_accessibility": draw(st.sampled_from(SCENARIOS))}
            record[f"{family}QA_list"] |= listed
        sets.append(record)
    return sets


def one_vector(texts, embedder):
    return np.ones((len(texts), 2))


@settings(
    deadline=None,
    max_examples=4,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(odd_sets(), st.lists(TEXTS, min_size=1, max_size=4))
def test_no_set_of_the_released_format_stops_a_file(tmp_path, monkeypatch, sets, texts):
    monkeypatch.setattr(scoring, "embed", one_vector)  # only what is read is of interest here
    measured(written(tmp_path / "sets.json", sets), texts)
