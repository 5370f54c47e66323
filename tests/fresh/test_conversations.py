"""Fresh FANToM conversations: pairs, keys by presence, what gives nothing away, the benchmark."""

import re
from collections import Counter
from itertools import pairwise, permutations

import pandas as pd
import pytest
from tomlab.benchmarks.fantom.items.cast import name_problems

from tomlab.benchmarks import fantom as benchmark
from tomlab.errors import InputError
from tomlab.fresh import fantom, sets
from tomlab.fresh.draw import WORDS

SEED = "the seed of these tests"
NAMES = [*WORDS["names"]["she"], *WORDS["names"]["he"]]


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    return sets.drawn(SEED, "fantom", 80)


@pytest.fixture(scope="module")
def items(rows, tmp_path_factory) -> pd.DataFrame:
    fantom.write(rows, path := tmp_path_factory.mktemp("fresh") / fantom.FILE)
    return benchmark.read_released(path)


def test_the_conversations_of_a_family_have_the_same_words(rows: list[dict]):
    for at in range(0, 80, 4):
        own = [Counter(re.findall(r"\w+", row["short_context"])) for row in rows[at : at + 4]]
        assert own[0] == own[1]
        assert own[2] == own[3]
        # Two other people come and go in the second half, so that their names are said more often.
        assert all({*(own[0] - each)} | {*(each - own[0])} <= {*NAMES} for each in own)


def test_each_key_of_a_question_is_right_as_often_as_the_other(rows: list[dict]):
    for one, other in zip(rows[::2], rows[1::2], strict=True):
        for a, b in zip(one["beliefQAs"], other["beliefQAs"], strict=True):
            assert a["question"] == b["question"]
            assert (a["correct_answer"], a["wrong_answer"]) == (
                b["wrong_answer"],
                b["correct_answer"],
            )
    for at in range(0, 80, 4):
        keys = [q for row in rows[at : at + 4] for q in row["answerabilityQAs_binary"]]
        no = Counter(q["question"] for q in keys if q["correct_answer"] == "no")
        assert Counter(no.values()) == {1: 4}  # each of the four misses the fact once


def test_nobody_is_away_while_speaking_and_all_speak_alike_often(rows: list[dict]):
    for row in rows:
        lines = [line.partition(": ")[0] for line in row["short_context"].splitlines()]
        assert all(one != other for one, other in pairwise(lines))
        # But for a line or two of small talk and of goodbye.
        counts = Counter(lines)
        assert max(counts.values()) - min(counts.values()) <= 2


def test_the_key_follows_from_who_hears_the_fact(rows: list[dict]):
    for row in rows:
        aware = row["answerabilityQA_list"]["correct_answer"]
        values = [
            v for topic in fantom._TEXTS["topics"] for f in topic["facts"] for v in f["values"]
        ]
        value = max(
            (v for v in values if v.lower() in row["factQA"]["correct_answer"].lower()), key=len
        )
        lines = [line.split(": ", 1) for line in row["short_context"].splitlines()]
        (at,) = [n for n, (_, text) in enumerate(lines) if value in text]
        # Before a fact is asked for, somebody leaves, and somebody else says goodbye.
        away, (teller, _) = lines[at - 3][0], lines[at]
        assert teller in aware
        assert {*aware} == {who for who, _ in lines} - {away}


def test_a_fact_that_the_tracker_gives_to_others_is_an_error(monkeypatch):
    # Nobody comes back any more, so that who is back by the record is away by the events.
    monkeypatch.setattr(fantom, "_MOVES", {"leave": "leave"})
    monkeypatch.setattr(fantom, "permutations", lambda aware, n: permutations(aware[:2], n))
    with pytest.raises(InputError, match="found"):
        sets.drawn(SEED, "fantom", 1)


def test_gold_is_right_and_who_takes_all_to_know_all_is_wrong_on_what_was_missed(items):
    asked = benchmark.asked(items, "short").to_dict("records")
    answers = [
        {"item_id": item["item_id"], "model": who, "method": "short", "response": said[who]}
        for item in asked
        for said in [benchmark.reference(item, "short", 0)]
        for who in ("gold", "omniscient")
    ]
    scores = benchmark.score(items, pd.DataFrame(answers))
    gold = scores[scores["model"] == "gold"]
    assert gold["score"].dropna().eq(1).all()
    missed = items.query("scenario == 'inaccessible' and question_type == 'belief_choice'")
    wrong = scores[scores["model"].eq("omniscient") & scores["item_id"].isin(missed["item_id"])]
    assert len(wrong) == 80 * 3 / 2
    assert wrong["score"].eq(0).all()


def test_a_name_stands_in_no_other_text_and_a_value_where_it_is_told_alone():
    texts, topics = [], fantom._TEXTS["topics"]
    for topic in topics:
        other = [*topic["opener"], *topic["replies"]]
        facts = [(kind, text) for fact in topic["facts"] for kind in fact for text in fact[kind]]
        other += [text for kind, text in facts if kind not in ("tell", "claim", "values")]
        other += [text for kind in fantom._TEXTS["lines"].values() for text in kind]
        texts += [*other, *(text for _, text in facts)]
        for value in (text for kind, text in facts if kind == "values"):
            core = re.sub(r"^(an?|the) ", "", value)
            assert not [text for text in other if core in text], value
    assert name_problems(NAMES, texts) == []
    assert not [(a, b) for a, b in permutations(NAMES, 2) if a.lower() in b.lower()]
