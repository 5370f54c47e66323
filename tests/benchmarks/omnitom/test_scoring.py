"""OmniToM: items, one verdict a rule, and the paper's formulas written a second time."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, recall_score

import replies
from omnitom_stories import BELIEFS, EXACT, RECORDS, belief, record
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.alignment import Alignment
from tomlab.benchmarks.omnitom.items.compose import (
    families,
    in_words,
    records_of,
    table_text,
)
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, rows
from tomlab.benchmarks.omnitom.metrics import f1_by_order
from tomlab.errors import InputError
from tomlab.records.tidy import RARE

METHOD_OF = {"extraction": "stage1-L3", "labelling": "stage2-L3"}
ITEMS = omnitom.compose([record()])
GOLD = [f"{b['actor']} | {b['belief']} | {b['labels']['order']}" for b in BELIEFS]
of_baseline = partial(replies.of_baseline, omnitom)


def extraction(*lines):
    return "\n".join(["Actor | Belief | Order", *lines])


def labelled(**labels):
    """The gold table of the story, some labels of its last row replaced."""
    *others, last = rows(record())
    return table_text([*others, replace(last, labels=dict(last.labels) | labels)], 2)


def scored(kind, text, judged=None, **fields):
    """The score of one answer. fields: further ones of the response."""
    response = {"item_id": f"1/{kind}", "model": "m", "method": METHOD_OF[kind], "response": text}
    responses = pd.DataFrame([response | fields])
    return omnitom.score(ITEMS, responses, judge=EXACT, judged=judged)


def verdict(kind, text, judged=None, **fields):
    return scored(kind, text, judged, **fields).iloc[0]


def values_of(scores):
    return omnitom.metrics(scores).set_index(["metric", "condition"])["value"]


# Items


def test_a_story_becomes_two_items_and_comes_back_from_them():
    first, second = ITEMS.to_dict("records")
    assert [first["item_id"], second["item_id"]] == ["1/extraction", "1/labelling"]
    beliefs = [line.rpartition(" | ")[0] for line in GOLD]
    assert second["question"].splitlines() == ["Actor | Belief", *beliefs]
    assert in_words(first) == {"question": first["story"], "gold": extraction(*GOLD)}
    [again] = records_of(ITEMS)
    assert again | {"story_id": 1} == record()


def test_json_methods_carry_a_schema_of_the_legal_labels():
    schema = omnitom.schema("stage2-L3-json")["properties"]["beliefs"]["items"]
    assert schema["properties"]["context"]["enum"] == list(DIMENSIONS["context"])
    assert omnitom.schema("stage2-L3") is None


# Extraction: precision, recall and MatchCounts by hand


@pytest.mark.parametrize(
    ("lines", "precision", "recall"),
    [
        (GOLD, 1, 1),
        (GOLD[:3], 1, 3 / 4),  # a dropped row
        ([*GOLD, "Ben | Ada is at work | 1"], 4 / 5, 1),  # an invented row
        ([*GOLD[:3], "Ada | The key is on the hook | 1"], 3 / 4, 3 / 4),  # a wrong actor
        ([*GOLD, GOLD[1]], 4 / 5, 1),  # a row twice earns once
    ],
)
def test_rows_move_precision_and_recall(lines, precision, recall):
    row = verdict("extraction", extraction(*lines))
    f1 = 2 * precision * recall / (precision + recall)
    assert row[["precision", "recall", "score"]].tolist() == pytest.approx([precision, recall, f1])
    assert row["outcome"] == "correct"


def test_a_table_without_a_match_is_wrong():
    row = verdict("extraction", extraction("Ada | No such thing | 1"))
    assert (row["outcome"], row["score"]) == ("wrong", 0)


@pytest.mark.parametrize(
    ("mc_predicted", "judge", "score"), [([2], "llm", 2 / 3), ([None], "exact", 0)]
)
def test_a_judges_own_alignment_comes_first_unless_it_decides_nothing(mc_predicted, judge, score):
    by_model = {("1/extraction", "m", "stage1-L3", 0): Alignment(mc_predicted, [1, 1, 0, 0])}
    row = verdict("extraction", extraction("Ada | All of it | 1"), by_model)
    assert (row["judge"], row["score"]) == (judge, pytest.approx(score))


@pytest.mark.parametrize(
    ("text", "fields", "outcome"),
    [
        ("There are many beliefs here.", {}, "unparsed"),
        ("I'm sorry, I can't help with that.", {}, "refused"),
        ("Let me see", {"finish_reason": "length"}, "truncated"),
        (None, {"error": "APIError"}, "error"),
    ],
)
def test_unusable_outputs_are_told_apart(text, fields, outcome):
    for kind in METHOD_OF:
        row = verdict(kind, text, **fields)
        assert (row["outcome"], row["score"], row["n_predicted"]) == (outcome, 0, 0)


def test_a_table_that_was_cut_off_keeps_its_rows_and_says_so():
    row = verdict("extraction", extraction(*GOLD[:2]), finish_reason="length")
    assert (row["outcome"], row["n_predicted"], row["cut_off"]) == ("correct", 2, True)


def test_methods_must_fit_their_items():
    with pytest.raises(InputError, match="expected stage1"):
        scored("extraction", "x", method="stage2-L3")


def test_without_an_embedder_extraction_is_left_out():
    responses = pd.concat(of_baseline(ITEMS, "gold", method) for method in METHOD_OF.values())
    scores = omnitom.score(ITEMS, responses, embedder=None)
    assert scores["item_id"].tolist() == ["1/labelling"]


# Labelling, in rows that repeat actor and belief, and by position

HOOK = "Ben | The key is on the hook"


@pytest.mark.parametrize(
    ("text", "right", "right_by_position"),
    [
        (labelled(), 28, 28),
        (labelled(context="Temporal"), 27, 27),
        (labelled(context="Perhaps"), 27, 27),
        (labelled().replace("is on the hook", "hangs on the hook"), 21, 28),
        (labelled().replace(HOOK, "Ada | The key is on the hook"), 21, 28),
        (labelled().replace(HOOK, 'BEN |  "the key is  on the Hook".'), 28, 28),
        (labelled().replace("on the hook", "on the hook!"), 21, 28),
        (labelled().removesuffix(" | Neutral"), 21, 27),
        (labelled().removesuffix("Neutral") + " |", 27, 27),
        (labelled().rpartition("\n")[0], 21, 21),
    ],
)
def test_labels_count_in_rows_that_repeat_the_belief(text, right, right_by_position):
    scores = scored("labelling", text)
    values = 28 * values_of(scores)
    assert 28 * scores["score"][0] == values["accuracy", "all"] == pytest.approx(right)
    assert values["accuracy_by_position", "all"] == pytest.approx(right_by_position)


def test_the_rule_of_a_verdict_is_told_from_the_scores_alone():
    response = {"response": extraction(*GOLD[:3]), "finish_reason": "stop", "error": None}
    row = verdict("extraction", response["response"]).to_dict()
    rule = omnitom.rule(ITEMS.iloc[0].to_dict(), row | response)
    assert rule == (
        "read as pipe table, rows: 3, lost: 0; with a match: 3 of 3 rows, 3 of 4 gold beliefs, "
        "F1 0.86 (judge: exact)"
    )


@settings(max_examples=10, deadline=None)
@given(st.randoms())
def test_shuffled_rows_change_nothing(draw):
    header, *lines = labelled().splitlines()
    assert verdict("labelling", "\n".join([header, *draw.sample(lines, 4)]))["score"] == 1
    assert verdict("extraction", extraction(*draw.sample(GOLD, 4)))["score"] == 1


# Metrics against the paper's formulas, written a second time


@pytest.fixture(scope="module")
def scores_of():
    """By stage the scores of random outputs to some of our stories, every fifth unusable."""
    items = omnitom.compose(RECORDS[::4])
    scores = {}
    for stage, method in METHOD_OF.items():
        responses = of_baseline(items, "random", method)
        responses.loc[::5, "response"] = "No."
        scores[stage] = omnitom.score(items, responses, judge=EXACT)
    return scores


def test_macro_averages_over_stories_and_over_categories(scores_of):
    scores = scores_of["extraction"]
    is_usable = scores["n_predicted"] > 0
    values = values_of(scores)
    assert values["unusable", "all"] == pytest.approx(1 - is_usable.mean())
    values = values["f1"]
    assert values["all"] == pytest.approx(scores["score"].mean())
    assert values["all/usable"] == pytest.approx(scores.loc[is_usable, "score"].mean())
    by_category = scores.groupby("category")["score"].mean()
    assert values["categories"] == pytest.approx(by_category.mean())
    assert values["HT"] == pytest.approx(by_category["HT"])


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_accuracy_macro_f1_and_balanced_accuracy(scores_of, dimension):
    scores = scores_of["labelling"]
    gold = []
    predicted = []
    shares_right = []
    for detail in scores["detail"].map(json.loads):
        labels = [belief_labels[dimension] for _, belief_labels in detail]
        gold += [label[0] for label in labels]
        predicted += [label[1] or "none" for label in labels]
        shares_right.append(np.mean([label[0] == label[1] for label in labels]))
    values = values_of(scores)
    assert values["accuracy", dimension] == pytest.approx(np.mean(shares_right))
    options = {"labels": sorted(set(gold)), "average": "macro", "zero_division": 0}
    macro_f1 = f1_score(gold, predicted, **options)
    assert values["macro_f1", dimension] == pytest.approx(macro_f1)
    balanced = recall_score(gold, predicted, **options)
    assert values["balanced_accuracy", dimension] == pytest.approx(balanced)


def test_f1_by_order_goes_by_the_predicted_order_for_precision():
    text = extraction(GOLD[0], GOLD[1], "Ada | Ben does not know where the key is | 1")
    f1 = f1_by_order(scored("extraction", text)).set_index("bucket")["f1"]
    # Order 1: both predicted rows match; of the two gold rows one. Order 2: nothing predicted.
    assert f1.to_dict() == pytest.approx({"order 0": 1, "order 1": 2 / 3, "order 2+": 0})


def test_order_of_rows_moves_no_number(scores_of):
    for scores in scores_of.values():
        metrics = [omnitom.metrics(scores), omnitom.metrics(scores.sample(frac=1))]
        pd.testing.assert_frame_equal(*map(replies.sorted_rows, metrics))


# Intervals

STORIES = [
    "Ada hides the key under a loose floorboard while Ben is feeding the cat outside.",
    "Eve hides the key under a loose floorboard while Tom is feeding the cat outside.",
    "Milo promised to water the ferns.",
    "Grandmother praised the burnt pie.",
]


def test_groups_of_an_interval_are_families_and_a_rare_label_has_no_interval():
    records = [record(story_id=number, story=story) for number, story in enumerate(STORIES[:3])]
    unknown = belief("Ada", "The pie is good", truth_status="Unknown")
    records.append(record(unknown, story_id=3, story=STORIES[3]))
    assert families(records) == {"0": "0", "1": "0", "2": "2", "3": "3"}
    items = omnitom.compose(records)
    responses = [of_baseline(items, "gold", method) for method in METHOD_OF.values()]
    metrics = omnitom.metrics(omnitom.score(items, pd.concat(responses), judge=EXACT))
    metrics = metrics.set_index(["metric", "condition"])
    for cell in (("f1", "all"), ("f1", "categories"), ("accuracy", "all"), ("accuracy", "HT")):
        assert metrics.loc[cell, ["n", "n_groups"]].tolist() == [4, 3]
    assert metrics.loc[("macro_f1", "truth_status"), "ci_method"] == RARE
