"""OmniToM: items, one verdict a rule, and the paper's formulas written a second time."""

import json
import random
from collections import defaultdict
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score

import replies
from omnitom_stories import BELIEFS, EXACT, SHARED, belief, record
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.alignment import Alignment
from tomlab.benchmarks.omnitom.items.compose import (
    families,
    in_words,
    records_of,
    table_text,
)
from tomlab.benchmarks.omnitom.items.records import (
    CATEGORIES,
    DIMENSIONS,
    Row,
    read_tombench,
    rows,
)
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
    changed = dict(last.labels) | labels
    return table_text([*others, Row(last.actor, last.belief, changed["order"], changed)], 2)


def scored(kind, text, judged=None, **fields):
    """The score of one answer. fields: further ones of the response."""
    response = {"item_id": f"1/{kind}", "model": "m", "method": METHOD_OF[kind], "response": text}
    responses = pd.DataFrame([response | fields])
    return omnitom.score(ITEMS, responses, judge=EXACT, judged=judged)


def verdict(kind, text, judged=None, **fields):
    return scored(kind, text, judged, **fields).iloc[0]


def values_of(metrics):
    return metrics.set_index(["metric", "condition"])["value"]


# Items


def test_a_story_becomes_two_items_and_comes_back_from_them():
    first, second = ITEMS.to_dict("records")
    assert [first["item_id"], second["item_id"]] == ["1/extraction", "1/labelling"]
    beliefs = [line.rpartition(" | ")[0] for line in GOLD]
    assert second["question"] == "\n".join(["Actor | Belief", *beliefs])
    assert in_words(first) == {"question": first["story"], "gold": extraction(*GOLD)}
    assert in_words(second)["gold"] == labelled()
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
        (["Ada | No such thing | 1"], 0, 0),
    ],
)
def test_rows_move_precision_and_recall(lines, precision, recall):
    row = verdict("extraction", extraction(*lines))
    assert (row["precision"], row["recall"]) == (precision, recall)
    total = precision + recall
    assert row["score"] == pytest.approx(2 * precision * recall / total if total else 0)
    assert row["outcome"] == ("correct" if total else "wrong")


def test_a_judges_own_alignment_comes_first_unless_it_decides_nothing():
    text = extraction("Ada | All of it | 1")
    key = ("1/extraction", "m", "stage1-L3", 0)
    row = verdict("extraction", text, {key: Alignment([2], [1, 1, 0, 0], [])})
    assert (row["precision"], row["recall"], row["judge"]) == (1, 0.5, "llm")
    row = verdict("extraction", text, {key: Alignment([None], [1, 1, 0, 0], [])})
    assert (row["score"], row["judge"]) == (0, "exact")


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
    values = values_of(omnitom.metrics(scores))
    assert 28 * scores["score"][0] == 28 * values["accuracy", "all"] == pytest.approx(right)
    assert 28 * values["accuracy_by_position", "all"] == pytest.approx(right_by_position)


@pytest.mark.parametrize(
    ("kind", "text", "rule"),
    [
        (
            "extraction",
            extraction(*(f"{row} | stated" for row in [*GOLD[:3], "Ben | Ada is at work | 1"])),
            (
                "read as pipe table, rows: 4, lost: 0, surplus cells dropped: 4; with a match: "
                "3 of 4 rows, 3 of 4 gold beliefs, F1 0.75 (judge: exact)"
            ),
        ),
        ("extraction", "Belief | Order\nA | 1", "not usable: no usable row"),
        ("labelling", None, "the request failed"),
    ],
)
def test_the_rule_of_a_verdict_is_told_from_the_scores_alone(kind, text, rule):
    response = {"finish_reason": "stop", "error": None if text else "APIError"}
    row = verdict(kind, text, **response).to_dict()
    item = ITEMS.set_index("item_id", drop=False).loc[f"1/{kind}"].to_dict()
    assert omnitom.rule(item, row | response | {"response": text}) == rule


@settings(max_examples=10, deadline=None)
@given(st.text(max_size=200), st.randoms())
def test_any_text_has_a_verdict_and_shuffled_rows_change_nothing(text, draw):
    for kind in METHOD_OF:
        assert 0 <= verdict(kind, text)["score"] <= 1
    header, *lines = labelled().splitlines()
    assert verdict("labelling", "\n".join([header, *draw.sample(lines, 4)]))["score"] == 1
    assert verdict("extraction", extraction(*draw.sample(GOLD, 4)))["score"] == 1


# Metrics against the paper's formulas, written a second time


@pytest.fixture(scope="module")
def random_scores():
    """Scores of random outputs to stories of several categories, some unusable: both stages."""
    draw = random.Random(0)
    records = []
    for number, category in enumerate([*CATEGORIES.values()] * 2):
        story = f"Ada puts the key in the bowl ({number})."
        records.append(record(story_id=number, category=category, story=story))
    items = omnitom.compose(records)
    responses = []
    for method in METHOD_OF.values():
        table = of_baseline(items, "random", method)
        is_lost = [draw.random() < 0.2 for _ in table.index]
        responses.append(table.assign(response=table["response"].mask(is_lost, "No.")))
    scores = omnitom.score(items, pd.concat(responses), judge=EXACT)
    return dict(list(scores.groupby("stage")))


@pytest.fixture(scope="module")
def random_metrics(random_scores):
    return {stage: omnitom.metrics(scores) for stage, scores in random_scores.items()}


def share_matched(beliefs):
    matched = [count > 0 for *_, count in beliefs]
    return sum(matched) / len(matched) if matched else 0


def test_macro_averages_over_stories_and_over_categories(random_scores, random_metrics):
    f1_by_category = defaultdict(list)
    usable = []
    for row in random_scores[1].to_dict("records"):
        detail = json.loads(row["detail"])
        p, r = share_matched(detail["predicted"]), share_matched(detail["gold"])
        f1 = 2 * p * r / (p + r) if p + r else 0.0
        f1_by_category[row["category"]].append(f1)
        if detail["predicted"]:
            usable.append(f1)
    values = values_of(random_metrics[1])
    n_stories = len(random_scores[1])
    assert values["unusable", "all"] == pytest.approx(1 - len(usable) / n_stories)
    assert values["outcome_rate", "unparsed"] == values["unusable", "all"]
    values = values["f1"]
    assert values["all"] == pytest.approx(np.mean([*f1_by_category.values()]))
    assert values["all/usable"] == pytest.approx(np.mean(usable))
    means = [np.mean(f1s) for f1s in f1_by_category.values()]
    assert values["categories"] == pytest.approx(np.mean(means))
    assert values["HT"] == pytest.approx(np.mean(f1_by_category["HT"]))


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_accuracy_macro_f1_and_balanced_accuracy(random_scores, random_metrics, dimension):
    values = values_of(random_metrics[2])
    cells = []
    for detail in random_scores[2]["detail"]:
        cells += [labels[dimension] for _, labels in json.loads(detail)]
    gold = [cell[0] for cell in cells]
    predicted = [cell[1] or "none" for cell in cells]
    right = [cell[0] == cell[1] for cell in cells]  # of as many beliefs in each story
    labels = sorted(set(gold))
    macro_f1 = f1_score(gold, predicted, labels=labels, average="macro", zero_division=0)
    recall = recall_score(gold, predicted, labels=labels, average="macro", zero_division=0)
    assert values["accuracy", dimension] == pytest.approx(np.mean(right))
    assert values["macro_f1", dimension] == pytest.approx(macro_f1)
    assert values["balanced_accuracy", dimension] == pytest.approx(recall)
    if set(predicted) <= set(gold):
        assert recall == pytest.approx(balanced_accuracy_score(gold, predicted))
    commonest = max(gold.count(label) for label in labels)
    assert values["majority_baseline", dimension] == pytest.approx(commonest / len(gold))
    means = [values["accuracy", name] for name in DIMENSIONS]
    assert values["accuracy", "all"] == pytest.approx(np.mean(means))


def test_f1_by_order_goes_by_the_predicted_order_for_precision():
    text = extraction(GOLD[0], GOLD[1], "Ada | Ben does not know where the key is | 1")
    f1 = f1_by_order(scored("extraction", text)).set_index("bucket")["f1"]
    # Order 1: both predicted rows match; of the two gold rows one. Order 2: nothing predicted.
    assert f1.to_dict() == pytest.approx({"order 0": 1, "order 1": 2 / 3, "order 2+": 0})


def test_order_of_rows_moves_no_number(random_scores, random_metrics):
    for stage, scores in random_scores.items():
        metrics = [random_metrics[stage], omnitom.metrics(scores.sample(frac=1))]
        pd.testing.assert_frame_equal(*map(replies.sorted_rows, metrics))


# Intervals

TOLD = [
    "Ada hides the key under a loose floorboard while Ben is feeding the cat outside.",
    "Eve hides the key under a loose floorboard while Tom is feeding the cat outside.",
    "Milo promised to water the ferns, but a storm kept every train in the station.",
    "Grandmother praised the burnt pie so loudly that the whole street heard it.",
]


@pytest.fixture(scope="module")
def gold_metrics():
    """The metrics of gold's answers to stories of which the first two are nearly the same."""
    records = []
    for number, story in enumerate(TOLD, start=1):
        truth = "Unknown" if number == 4 else "True"
        beliefs = [belief(b["actor"], b["belief"], truth_status=truth) for b in BELIEFS]
        records.append(record(*beliefs, story_id=number, story=story))
    assert families(records) == {"1": "1", "2": "1", "3": "3", "4": "4"}
    items = omnitom.compose(records)
    responses = [of_baseline(items, "gold", method) for method in METHOD_OF.values()]
    metrics = omnitom.metrics(omnitom.score(items, pd.concat(responses), judge=EXACT))
    return metrics.set_index(["metric", "condition"])


def test_groups_of_an_interval_are_families_of_stories_that_are_nearly_the_same(gold_metrics):
    for metric in ("f1", "accuracy"):
        for condition in ("all", "categories", "HT"):
            assert gold_metrics.loc[(metric, condition), "n_groups"] == 3
    assert gold_metrics.loc[("outcome_rate", "correct"), "n"].tolist() == [4, 4]
    assert gold_metrics["n_groups"].max() == 3


def test_a_mean_over_labels_has_no_interval_where_a_label_is_rare(gold_metrics):
    row = gold_metrics.loc["macro_f1", "truth_status"]
    assert (row["value"], row["ci_method"]) == (1, RARE)
    assert np.isnan(row["ci_low"])


@pytest.mark.skipif(not SHARED.exists(), reason="the ToMBench files are not there")
def test_tombench_has_790_families():
    stories = read_tombench(SHARED / "tombench")["story"]
    records = [record(story_id=number, story=story) for number, story in stories.items()]
    assert len(set(families(records).values())) == 790
