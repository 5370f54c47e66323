"""OmniToM: items, one verdict a rule, and the paper's formulas written a second time."""

import json
import random
from collections import defaultdict
from functools import partial
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import t as student
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score

import replies
from omnitom_stories import BELIEFS, EXACT, RECORDS, SHARED, WORKED, belief, record
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import scoring
from tomlab.benchmarks.omnitom.alignment import Alignment, compound_parts
from tomlab.benchmarks.omnitom.items.compose import (
    families,
    in_words,
    linked_items,
    records_of,
    table_text,
)
from tomlab.benchmarks.omnitom.items.records import (
    CATEGORIES,
    DIMENSIONS,
    Row,
    read_records,
    read_tombench,
    rows,
)
from tomlab.benchmarks.omnitom.metrics import f1_by_order
from tomlab.errors import InputError
from tomlab.records.tidy import RARE
from tomlab.scoring.series import interval_of
from tomlab.scoring.stats import cluster_statistic

METHOD_OF = {"extraction": "stage1-L3", "labelling": "stage2-L3"}
ITEMS = omnitom.compose([record()])
GOLD = [f"{b['actor']} | {b['belief']} | {b['labels']['order']}" for b in BELIEFS]
of_baseline = partial(replies.of_baseline, omnitom)
# The module: the package has a function of that name.
series = import_module("tomlab.benchmarks.omnitom.metrics").series


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


def test_the_example_of_level_4_is_another_story_of_the_same_category():
    others = [record(), record(story="It rains.", category="Strange Story Task")]
    items = omnitom.compose([record()], examples=others)
    assert items["examples"].tolist() == ["[]", "[]"]
    assert omnitom.asked(items, "stage1-L4").empty


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
    ids=["gold", "wrong label", "illegal label", "reworded", "wrong actor", "case and quotation"]
    + ["another mark", "a cell too few", "an empty cell", "a row too few"],
)
def test_labels_count_in_rows_that_repeat_the_belief(text, right, right_by_position):
    scores = scored("labelling", text)
    values = values_of(omnitom.metrics(scores))
    assert 28 * scores["score"][0] == 28 * values["accuracy", "all"] == pytest.approx(right)
    assert 28 * values["accuracy_by_position", "all"] == pytest.approx(right_by_position)


def test_equal_beliefs_take_their_rows_in_turn():
    twice = rows(record(BELIEFS[1], belief("Ada", "The key is in the bowl", context="Temporal")))
    assert scoring.same_rows(twice, twice) == twice
    assert scoring.same_rows(twice, twice[:1]) == [twice[0], None]


@pytest.mark.parametrize(
    ("kind", "text", "rule"),
    [
        (
            "extraction",
            extraction(*(f"{row} | stated" for row in [*GOLD[:3], "Ben | Ada is at work | 1"])),
            "read as pipe table, rows: 4, lost: 0, surplus cells dropped: 4; with a match: "
            "3 of 4 rows, 3 of 4 gold beliefs, F1 0.75 (judge: exact)",
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


def joinable(gold):
    """The place of a row that is one compound belief if joined with the next."""
    for place, (row, after) in enumerate(zip(gold, gold[1:], strict=False)):
        parts = [row.belief, after.belief]
        if row.actor == after.actor and compound_parts(" and ".join(parts)) == parts:
            return place
    raise ValueError("no two rows can be joined")


@pytest.mark.skipif(not WORKED.exists(), reason="the worked examples are not there")
def test_corruptions_of_the_worked_examples_move_scores_as_reckoned_by_hand():
    for worked in read_records(WORKED):
        gold = rows(worked)
        n = len(gold)
        place = joinable(gold)
        joined = f"{gold[place].belief} and {gold[place + 1].belief}"
        merged = [*gold[:place], Row(gold[place].actor, joined, "1"), *gold[place + 2 :]]
        reworded = [Row(gold[0].actor, "Something else", "1"), *gold[1:]]
        stranger = [Row("Nobody of them", gold[0].belief, "1"), *gold[1:]]
        cases = {
            "dropped row": (gold[1:], 1, (n - 1) / n),
            "merged pair": (merged, 1, 1),
            "reworded": (reworded, (n - 1) / n, (n - 1) / n),
            "wrong actor": (stranger, (n - 1) / n, (n - 1) / n),
        }
        items = omnitom.asked(omnitom.compose([worked]), "stage1-L3")
        for case, (predicted, precision, recall) in cases.items():
            responses = replies.answered(items, table_text(predicted, 1), "stage1-L3")
            [row] = omnitom.score(items, responses, judge=EXACT).to_dict("records")
            assert (row["precision"], row["recall"]) == pytest.approx((precision, recall)), case


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


def share_matched(beliefs):
    matched = [count > 0 for *_, count in beliefs]
    return sum(matched) / len(matched) if matched else 0


def test_macro_averages_over_stories_and_over_categories(random_scores):
    f1_by_category = defaultdict(list)
    usable = []
    for row in random_scores[1].to_dict("records"):
        detail = json.loads(row["detail"])
        p, r = share_matched(detail["predicted"]), share_matched(detail["gold"])
        f1 = 2 * p * r / (p + r) if p + r else 0.0
        f1_by_category[row["category"]].append(f1)
        if detail["predicted"]:
            usable.append(f1)
    values = values_of(omnitom.metrics(random_scores[1]))["f1"]
    assert values["all"] == pytest.approx(np.mean([*f1_by_category.values()]))
    assert values["all/usable"] == pytest.approx(np.mean(usable))
    means = [np.mean(f1s) for f1s in f1_by_category.values()]
    assert values["categories"] == pytest.approx(np.mean(means))
    assert values["HT"] == pytest.approx(np.mean(f1_by_category["HT"]))


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_accuracy_macro_f1_and_balanced_accuracy(random_scores, dimension):
    scores = random_scores[2]
    values = values_of(omnitom.metrics(scores))
    cells = []
    for detail in scores["detail"]:
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


def test_unusable_outputs_are_counted_by_kind():
    item = omnitom.asked(ITEMS, "stage1-L3")
    answers = [(extraction(*GOLD), "stop"), ("no", "stop"), ("x", "length")]
    responses = [
        replies.answered(item, text, "stage1-L3", finish=finish, sample=sample)
        for sample, (text, finish) in enumerate(answers)
    ]
    values = values_of(omnitom.metrics(omnitom.score(ITEMS, pd.concat(responses), judge=EXACT)))
    assert values["unusable", "all"] == pytest.approx(2 / 3)
    assert values["outcome_rate", "truncated"] == pytest.approx(1 / 3)
    assert values["f1", "all"] == pytest.approx(1 / 3)
    assert values["f1", "all/usable"] == 1


@pytest.mark.parametrize("method", METHOD_OF.values())
def test_order_of_rows_moves_no_number(method):
    items = omnitom.compose(RECORDS[::10])
    scores = omnitom.score(items, of_baseline(items, "random", method), judge=EXACT)
    metrics = [omnitom.metrics(rows) for rows in (scores, scores.sample(frac=1, random_state=0))]
    pd.testing.assert_frame_equal(*map(replies.sorted_rows, metrics))


# Intervals

TOLD = [
    "Ada hides the key under a loose floorboard while Ben is feeding the cat outside.",
    "Milo promised to water the ferns, but a storm kept every train in the station.",
    "Grandmother praised the burnt pie so loudly that the whole street heard it.",
    "Two brothers argue over which of them broke the telescope on the balcony.",
    "The clerk folded the letter twice and slid it beneath the ledger unread.",
]
# As some of ToMBench's stories: one told again with other names.
AGAIN = TOLD[0].replace("Ada", "Eve").replace("Ben", "Tom")
LABELS = [("True", "True"), ("True", "False"), ("False", "False"), ("False", "True")]
LABELS.append(("Unknown", "Unknown"))


def of_stories(texts, labels, method="stage2-L3"):
    """Scores of one output a story. labels: the truth of its beliefs by gold and as predicted."""
    records = []
    for number, (text, (gold, _)) in enumerate(zip(texts, labels, strict=True), start=1):
        beliefs = [belief(b["actor"], b["belief"], truth_status=gold) for b in BELIEFS]
        records.append(record(*beliefs, story_id=number, story=text))
    items = omnitom.compose(records)
    responses = of_baseline(items, "gold", method)
    answers = zip(responses["response"], labels, strict=True)
    responses["response"] = [
        text.replace(f"| {gold} |", f"| {predicted} |") for text, (gold, predicted) in answers
    ]
    return omnitom.score(items, responses, judge=EXACT)


def truth_measure(metric):
    """What a metric of the truth status is made of, one story a pair of `LABELS`."""
    for *_, measure in series(of_stories(TOLD, LABELS)):
        if measure[:2] == (metric, "truth_status"):
            return measure
    raise ValueError(metric)


@pytest.mark.parametrize(
    ("method", "names"),
    [
        ("stage2-L3", ["accuracy/all", "accuracy/categories", "macro_f1/truth_status"]),
        ("stage1-L3", ["f1/all", "f1/categories", "f1/HT", "beliefs_per_story/all"]),
    ],
)
def test_groups_of_an_interval_are_families_of_stories_that_are_nearly_the_same(method, names):
    scores = of_stories([*TOLD, AGAIN], [("True", "True")] * 6, method)
    assert scores["family"].tolist() == ["1", "2", "3", "4", "5", "1"]
    table = omnitom.metrics(scores)
    table = table.set_index(table["metric"] + "/" + table["condition"])
    assert table.loc["outcome_rate/correct", "n"] == 6
    assert table["n_groups"].le(5).all()
    assert table.loc[[*names, "outcome_rate/correct"], "n_groups"].eq(5).all()


def test_families_do_not_depend_on_the_order_of_stories():
    records = [record(story_id=n, story=text) for n, text in enumerate([*TOLD, AGAIN])]
    assert families(records) == families(records[::-1])


@pytest.mark.skipif(not SHARED.exists(), reason="the ToMBench files are not there")
def test_tombench_has_790_families_on_which_intervals_cluster():
    tombench = read_tombench(SHARED / "tombench")
    records = [
        record(story_id=number, category=category, story=story)
        for number, category, story in tombench[["story_category", "story"]].itertuples()
    ]
    items = linked_items(records, tombench, tries=1)
    scores = omnitom.score(items, of_baseline(items, "gold", "linked"))
    metrics = omnitom.metrics(scores).set_index(["metric", "condition"])
    row = metrics.loc["linked_accuracy", "all"]
    assert (row["value"], row["n"], row["n_groups"]) == (1, 2170, 790)


def test_balanced_accuracy_is_unsure_where_a_label_is_rare():
    interval = interval_of(truth_measure("balanced_accuracy"))
    expected = recall_score(*zip(*LABELS, strict=True), average="macro")
    assert interval.value == pytest.approx(expected)
    # One story alone has the third label, of which anything may be true: a third of the mean.
    assert interval.ci_low < interval.value - 0.3
    assert interval.ci_high < 1


def test_labels_are_the_same_whichever_story_is_left_out():
    """One story alone has a gold label: the mean is over all labels or there is none.

    Left out, the mean over one label fewer would move by far more than any other story moves it.
    """
    measure = truth_measure("macro_f1")
    assert interval_of(measure).ci_method == RARE
    assert np.isnan(interval_of(measure).ci_low)

    def macro_f1(labels):
        gold, predicted = zip(*labels, strict=True)
        names = ["False", "True", "Unknown"]
        return f1_score(gold, predicted, labels=names, average="macro", zero_division=0)

    interval = cluster_statistic(measure.sums(measure.rows), measure.statistic, n=5)
    value = macro_f1(LABELS)
    # Four of the five can be left out; the fifth is taken to move the value as they do.
    moved = np.array([macro_f1(LABELS[:n] + LABELS[n + 1 :]) for n in range(4)]) - value
    squares = (moved**2).sum()
    kurtosis = 4 * (moved**4).sum() / squares**2
    freedom = min(4, 2 * 5 / max(kurtosis - 1, 1e-9))
    reach = student.ppf(0.975, freedom) * np.sqrt(squares * 5 / 4) / value / (1 - value)
    expected = (value, expit(logit(value) - reach), expit(logit(value) + reach))
    assert (interval.value, interval.ci_low, interval.ci_high) == pytest.approx(expected)
