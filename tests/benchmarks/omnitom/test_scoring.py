"""OmniToM: items, prompts, one verdict a rule, and the paper's formulas written a second time."""

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
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import scoring
from tomlab.benchmarks.omnitom.alignment import Alignment, compound_parts
from tomlab.benchmarks.omnitom.items import records as omnitom_records
from tomlab.benchmarks.omnitom.items.compose import (
    families,
    in_words,
    linked_items,
    records_of,
    table_text,
)
from tomlab.benchmarks.omnitom.items.records import CATEGORIES, DIMENSIONS, Row
from tomlab.benchmarks.omnitom.metrics import f1_by_order
from tomlab.errors import InputError
from tomlab.paths import DATA, ROOT
from tomlab.records.tidy import RARE
from tomlab.scoring.series import interval_of
from tomlab.scoring.stats import cluster_statistic

WORKED = ROOT.parent / "shared" / "datasets" / "omnitom" / "worked_examples.jsonl"
TOMBENCH = ROOT.parent / "shared" / "datasets" / "tombench"
needs_worked = pytest.mark.skipif(not WORKED.exists(), reason=f"{WORKED.name} is not there")
# A part of ours, of all categories: a table more costs time and shows nothing new.
OWN = omnitom_records.read_records(DATA / "omnitom" / "stories.jsonl")[::5]
EXACT = scoring.Judge("exact", 1.0)


def record(story_id: int = 1, category: str = "Hinting Task Test", **labels: str) -> dict:
    """A short story with four beliefs, one of each order but the third."""
    same = {"knowledge_access": "Private", "representation": "Implicit", "context": "Neutral"}

    def belief(actor: str, text: str, order: str, source: str) -> dict:
        own = {"order": order, "truth_status": "True", "content_type": "Location"}
        own |= {**same, "mental_source": source} | labels
        return {"actor": actor, "belief": text, "labels": {name: own[name] for name in DIMENSIONS}}

    return {
        "story_id": story_id,
        "story_category": category,
        "story": f"Ada puts the key in the bowl ({story_id}). Ben is out.",
        "source": "authored",
        "beliefs": [
            belief("world", "Ada puts the key in the bowl", "0", "Narration"),
            belief("Ada", "The key is in the bowl", "1", "Perception"),
            belief("Ada", "Ben does not know where the key is", "2", "Inference"),
            belief("Ben", "The key is on the hook", "1", "Memory"),
        ],
    }


ITEMS = omnitom.compose([record()], examples=[record(2)])
of_baseline = partial(replies.of_baseline, omnitom)


def verdict(kind: str, said: str | None, **response) -> pd.Series:
    method = {"extraction": "stage1-L3", "labelling": "stage2-L3"}[kind]
    row = {"item_id": f"1/{kind}", "model": "m", "method": method, "response": said} | response
    return omnitom.score(ITEMS, pd.DataFrame([row]), judge=EXACT).iloc[0]


def extraction(*lines: str) -> str:
    return "\n".join(["Actor | Belief | Order", *lines])


GOLD = [f"{b['actor']} | {b['belief']} | {b['labels']['order']}" for b in record()["beliefs"]]


# Items and prompts


def test_a_story_becomes_two_items():
    assert ITEMS["item_id"].tolist() == ["1/extraction", "1/labelling"]
    assert ITEMS["category"].tolist() == ["HT", "HT"]
    given_beliefs = (
        "Actor | Belief\nworld | Ada puts the key in the bowl\nAda | The key is in the bowl"
    )
    assert ITEMS["question"][1].startswith(given_beliefs)
    asked = omnitom.messages(ITEMS.iloc[1].to_dict(), "stage2-L3")[1]["content"]
    assert given_beliefs in asked and "| Location |" not in asked
    first, second = ITEMS.to_dict("records")
    assert in_words(first) == {"question": first["story"], "gold": extraction(*GOLD)}
    assert in_words(second)["gold"].startswith("Actor | Belief | Order | Truth-Status | Knowledge")
    [again] = records_of(ITEMS)
    assert {**again, "story_id": 1} == record()


def test_the_example_of_level_4_is_another_story_of_the_same_category():
    with_others = [record(), record(3, "Strange Story Task")]
    assert omnitom.compose([record()], examples=with_others)["examples"].tolist() == ["[]", "[]"]
    assert omnitom.asked(omnitom.compose([record()]), "stage1-L4").empty


def test_json_methods_carry_a_schema_of_the_legal_labels():
    schema = omnitom.schema("stage2-L3-json")["properties"]["beliefs"]["items"]
    assert schema["properties"]["context"]["enum"] == list(DIMENSIONS["context"])
    assert omnitom.schema("stage2-L3") is None
    assert "JSON" in omnitom.messages(ITEMS.iloc[0].to_dict(), "stage1-L3-json")[1]["content"]


# Extraction: P, R, F1 and MatchCounts by hand


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
    both = precision + recall
    assert row["score"] == pytest.approx(2 * precision * recall / both if both else 0)
    assert row["outcome"] == ("correct" if both else "wrong")


def test_a_judges_own_alignment_comes_first():
    judged = {("1/extraction", "m", "stage1-L3", 0): Alignment([2], [1, 1, 0, 0], [])}
    row = {"item_id": "1/extraction", "model": "m", "method": "stage1-L3"}
    responses = pd.DataFrame([row | {"response": extraction("Ada | All of it | 1")}])
    scored = omnitom.score(ITEMS, responses, judge=EXACT, judged=judged).iloc[0]
    assert (scored["precision"], scored["recall"], scored["judge"]) == (1, 0.5, "llm")
    silent = {key: Alignment([None], [1, 1, 0, 0], []) for key in judged}
    scored = omnitom.score(ITEMS, responses, judge=EXACT, judged=silent).iloc[0]
    assert (scored["score"], scored["judge"]) == (0, "exact")


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ({"said": ""}, "unparsed"),
        ({"said": "There are many beliefs here."}, "unparsed"),
        ({"said": "I'm sorry, I can't help with that."}, "refused"),
        ({"said": "Let me see", "finish_reason": "length"}, "truncated"),
        ({"said": None, "error": "APIError"}, "error"),
    ],
)
@pytest.mark.parametrize("kind", ["extraction", "labelling"])
def test_unusable_outputs_are_told_apart(kind, response, outcome):
    row = verdict(kind, **response)
    assert (row["outcome"], row["score"], row["n_predicted"]) == (outcome, 0, 0)


def test_a_table_that_was_cut_off_keeps_its_rows_and_says_so():
    row = verdict("extraction", extraction(*GOLD[:2]), finish_reason="length")
    assert (row["outcome"], row["n_predicted"], row["cut_off"]) == ("correct", 2, True)


def test_methods_must_fit_their_items():
    row = {"item_id": "1/extraction", "model": "m", "method": "stage2-L3", "response": "x"}
    with pytest.raises(InputError, match="expected stage1"):
        omnitom.score(ITEMS, pd.DataFrame([row]), judge=EXACT)


# Labelling


def labelled(**wrong: str) -> str:
    """The gold table of the story, some labels of its last row replaced."""
    rows = omnitom_records.rows(record())
    labels = dict(rows[-1].labels) | wrong
    rows[-1] = Row(rows[-1].actor, rows[-1].belief, labels["order"], labels)
    return table_text(rows, 2)


def test_gold_labels_score_one_and_each_wrong_label_costs_its_cell():
    assert verdict("labelling", labelled())["score"] == 1
    assert verdict("labelling", labelled(context="Temporal"))["score"] == pytest.approx(27 / 28)
    assert verdict("labelling", labelled(context="Perhaps"))["score"] == pytest.approx(27 / 28)
    without_a_row = "\n".join(labelled().splitlines()[:-1])
    assert verdict("labelling", without_a_row)["score"] == pytest.approx(3 / 4)


def both_ways(text: str) -> tuple[float, float]:
    """The labels of a table that are right, of 28: in rows that repeat the gold's, by position."""
    row = {"item_id": "1/labelling", "model": "m", "method": "stage2-L3", "response": text}
    scores = omnitom.score(ITEMS, pd.DataFrame([row]))
    values = omnitom.metrics(scores).set_index(["metric", "condition"])["value"]
    assert values["accuracy", "all"] == scores["score"][0]
    return 28 * values["accuracy", "all"], 28 * values["accuracy_by_position", "all"]


def test_reworded_belief_and_wrong_actor_count_by_position_alone():
    assert both_ways(labelled()) == (28, 28)
    reworded = labelled().replace("The key is on the hook", "The key hangs on the hook")
    assert both_ways(reworded) == (21, 28)
    assert both_ways(labelled().replace("Ben | The key", "Ada | The key")) == (21, 28)


def test_case_spaces_quotation_marks_and_a_full_stop_make_no_other_belief():
    text = labelled().replace("Ben | The key is on the hook", 'BEN |  "the key is  on the Hook".')
    assert both_ways(text) == (28, 28)
    for other in ("The key, is on the hook", "The key is on the hook!", "The-key is on the hook"):
        assert both_ways(labelled().replace("The key is on the hook", other)) == (21, 28)


def test_row_without_all_nine_cells_counts_by_position_alone():
    text = labelled().removesuffix(" | Neutral")
    assert both_ways(text) == (21, 27)
    assert both_ways(text + " |  |") == (27, 27)
    without = "\n".join(line.rpartition(" | ")[0] for line in labelled().splitlines())
    assert both_ways(without) == (0, 24)


def test_equal_beliefs_take_their_rows_in_turn():
    twice = record() | {
        "beliefs": [record()["beliefs"][1], record(context="Temporal")["beliefs"][1]]
    }
    rows = omnitom_records.rows(twice)
    assert scoring.same_rows(rows, rows) == rows
    assert scoring.same_rows(rows, rows[:1]) == [rows[0], None]


# How an answer was read and what decided, in words


@pytest.mark.parametrize(
    ("kind", "said", "rule"),
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
        ("labelling", "", "not usable: empty answer"),
        ("labelling", None, "the request failed"),
    ],
)
def test_the_rule_of_a_verdict_is_told_from_the_scores_alone(kind, said, rule):
    error = {"finish_reason": "stop", "error": None if said is not None else "APIError"}
    row = verdict(kind, said, **error).to_dict()
    item = ITEMS[ITEMS["item_id"] == f"1/{kind}"].iloc[0].to_dict()
    assert scoring.rule(item, error | row | {"response": said}) == rule


# The worked examples of App. E


@needs_worked
@pytest.mark.parametrize("number", range(7))
def test_each_corruption_of_a_worked_example_moves_the_scores_as_reckoned_by_hand(number):
    worked = omnitom_records.read_records(WORKED)[number]
    items, gold = omnitom.compose([worked]), omnitom_records.rows(worked)
    n, key = len(gold), f"{worked['story_id']}/extraction"
    texts = [(row.actor, row.belief) for row in gold]
    # The first row whose belief nobody else of the table holds in these words.
    sole = next(i for i, (_, text) in enumerate(texts) if [t for _, t in texts].count(text) == 1)
    actors = [actor for actor in dict.fromkeys(a for a, _ in texts) if actor != gold[sole].actor]
    i, joined = next(
        (i, both)
        for i in range(n - 1)
        if texts[i][0] == texts[i + 1][0]
        and compound_parts(both := f"{texts[i][1]} and {texts[i + 1][1]}")
        == [texts[i][1], texts[i + 1][1]]
    )
    merged = Row(gold[i].actor, joined, gold[i].order)
    misplaced = Row(actors[0], gold[sole].belief, gold[sole].order)
    reworded = Row(gold[0].actor, "Something that the table does not say", gold[0].order)
    cases = {
        "dropped row": (gold[1:], n - 1, n - 1, n - 1),
        "wrong actor": ([*gold[:sole], misplaced, *gold[sole + 1 :]], n, n - 1, n - 1),
        "merged pair": ([*gold[:i], merged, *gold[i + 2 :]], n - 1, n - 1, n),
        "paraphrase": ([reworded, *gold[1:]], n, n - 1, n - 1),
    }
    for predicted, rows, matched, recovered in cases.values():
        response = {"item_id": key, "model": "m", "method": "stage1-L3"}
        response["response"] = table_text(predicted, 1)
        [row] = omnitom.score(items, pd.DataFrame([response]), judge=EXACT).to_dict("records")
        precision, recall = matched / rows, recovered / n
        assert (row["precision"], row["recall"]) == pytest.approx((precision, recall))
        assert row["score"] == pytest.approx(2 * precision * recall / (precision + recall))
        counts = [count for *_, count in json.loads(row["detail"])["predicted"]]
        assert sum(count > 0 for count in counts) == matched
        assert counts.count(2) == (merged in predicted)


# Baselines


# Metrics against the paper's formulas, written a second time


def random_scores(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of random outputs to stories of several categories, some unusable: both stages."""
    draw, records = random.Random(seed), []
    for number, name in enumerate(CATEGORIES.values()):
        records += [record(10 * number + i, name) for i in range(2)]
    items = omnitom.compose(records)
    responses = []
    for method in ("stage1-L3", "stage2-L3"):
        table = of_baseline(items, "random", method)
        said = [text if draw.random() < 0.8 else "No." for text in table["response"]]
        responses.append(table.assign(response=said))
    scores = omnitom.score(items, pd.concat(responses), judge=EXACT)
    return scores[scores["stage"] == 1], scores[scores["stage"] == 2]


@pytest.mark.parametrize("seed", range(4))
def test_macro_averages_over_stories_and_over_categories(seed):
    extracted, _ = random_scores(seed)
    by_category = defaultdict(list)
    usable = []
    for row in extracted.to_dict("records"):
        detail = json.loads(row["detail"])
        p, r = (
            sum(count > 0 for *_, count in detail[side]) / max(len(detail[side]), 1)
            for side in ("predicted", "gold")
        )
        f1 = 2 * p * r / (p + r) if p + r else 0.0
        by_category[row["category"]].append(f1)
        if detail["predicted"]:
            usable.append(f1)
    every = [f1 for values in by_category.values() for f1 in values]
    metrics = omnitom.metrics(extracted)
    values = metrics[metrics["metric"] == "f1"].set_index("condition")["value"]
    assert values["all"] == pytest.approx(np.mean(every))
    assert values["all/usable"] == pytest.approx(np.mean(usable))
    means = [np.mean(values) for values in by_category.values()]
    assert values["categories"] == pytest.approx(np.mean(means))
    assert values["HT"] == pytest.approx(np.mean(by_category["HT"]))


@pytest.mark.parametrize("seed", range(4))
def test_accuracy_macro_f1_and_balanced_accuracy(seed):
    _, labels = random_scores(seed)
    metrics = omnitom.metrics(labels).set_index(["metric", "condition"])["value"]
    stories, pooled = defaultdict(list), defaultdict(lambda: ([], []))
    for row in labels.to_dict("records"):
        details = json.loads(row["detail"])
        for dimension in DIMENSIONS:
            cells = [given[dimension] for _, given in details]
            stories[dimension].append(np.mean([gold == said for gold, said, _ in cells]))
            for gold, said, _ in cells:
                pooled[dimension][0].append(gold)
                pooled[dimension][1].append(said or "none")
    for dimension, (gold, said) in pooled.items():
        assert metrics["accuracy", dimension] == pytest.approx(np.mean(stories[dimension]))
        present = sorted(set(gold))
        macro = f1_score(gold, said, labels=present, average="macro", zero_division=0)
        assert metrics["macro_f1", dimension] == pytest.approx(macro)
        recalls = [
            np.mean([s == label for g, s in zip(gold, said, strict=True) if g == label])
            for label in present
        ]
        assert metrics["balanced_accuracy", dimension] == pytest.approx(np.mean(recalls))
        if set(said) <= set(gold):
            expected = balanced_accuracy_score(gold, said)
            assert metrics["balanced_accuracy", dimension] == pytest.approx(expected)
        majority = max(present, key=gold.count)
        assert metrics["majority_baseline", dimension] == pytest.approx(
            np.mean([g == majority for g in gold])
        )
    overall = np.mean([np.mean(values) for values in stories.values()])
    assert metrics["accuracy", "all"] == pytest.approx(overall)


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


def of_stories(texts, said, stage="labelling"):
    """Scores of one output a story; said: the labels of its belief as gold and as predicted."""
    records, method = [], {"labelling": "stage2-L3", "extraction": "stage1-L3"}[stage]
    for number, (text, (gold, _)) in enumerate(zip(texts, said, strict=True), start=1):
        records.append({**record(number, truth_status=gold), "story": text})
    items = omnitom.compose(records)
    own = of_baseline(items, "gold", method)
    pairs = zip(own["response"], said, strict=True)
    own["response"] = [answer.replace(f"| {g} |", f"| {p} |") for answer, (g, p) in pairs]
    return omnitom.score(items, own, judge=EXACT)


def test_stories_that_are_nearly_the_same_are_one_family():
    texts = [*TOLD, AGAIN]
    records = [{**record(number), "story": text} for number, text in enumerate(texts, start=1)]
    found = families(records)
    assert found == {"1": "1", "2": "2", "3": "3", "4": "4", "5": "5", "6": "1"}
    assert families(records[::-1]) == found
    items = omnitom.compose(records)
    assert items["family"].tolist() == items["group_id"].map(found).tolist()


OF_STAGE = {
    "labelling": ["accuracy/all", "accuracy/categories", "accuracy/HT", "macro_f1/truth_status"],
    "extraction": ["f1/all", "f1/categories", "f1/HT", "beliefs_per_story/all"],
}


@pytest.mark.parametrize("stage", OF_STAGE)
def test_groups_of_an_interval_are_families(stage):
    said = [("True", "True")] * 4 + [("True", "False")]
    apart = of_stories(TOLD, said, stage)
    again = of_stories([*TOLD, AGAIN], [*said, said[0]], stage)
    for scores, stories in ((apart, 5), (again, 6)):
        table = omnitom.metrics(scores)
        assert table.query("condition == 'correct'")["n"].tolist() == [stories]
        assert table["n_groups"].le(5).all()
        table = table.set_index(table["metric"] + "/" + table["condition"])
        assert table.loc[[*OF_STAGE[stage], "outcome_rate/correct"], "n_groups"].eq(5).all()


@pytest.mark.skipif(not TOMBENCH.exists(), reason="the ToMBench files are not there")
def test_tombench_has_790_families_on_which_intervals_cluster():
    tombench = omnitom_records.read_tombench(TOMBENCH)
    records = [
        {**record(number), "story_category": category, "story": story}
        for number, category, story in tombench[["story_category", "story"]].itertuples()
    ]
    found = families(records)
    assert (len(found), len(set(found.values()))) == (916, 790)
    items = linked_items(records, tombench, tries=1)
    scores = omnitom.score(items, of_baseline(items, "gold", "linked"))
    [row] = (
        omnitom.metrics(scores)
        .query("metric == 'linked_accuracy' and condition == 'all'")
        .to_dict("records")
    )
    assert (row["value"], row["n"], row["n_groups"]) == (1, 2170, 790)


def test_balanced_accuracy_of_labels_is_that_of_scikit_learn_and_unsure_where_a_label_is_rare():
    said = [("True", "True"), ("True", "False"), ("False", "False"), ("False", "True")]
    said.append(("Unknown", "Unknown"))
    series = import_module("tomlab.benchmarks.omnitom.metrics").series
    whose = "balanced_accuracy", "truth_status"
    [recalls] = (s for *_, s in series(of_stories(TOLD, said)) if s[:2] == whose)
    found = interval_of(recalls)
    assert found.value == pytest.approx(recall_score(*zip(*said, strict=True), average="macro"))
    # One story alone has the third label, of which anything may be true: a third of the mean.
    assert found.ci_low < found.value - 0.3
    assert found.ci_high < 1


def test_labels_are_the_same_whichever_story_is_left_out():
    """One story alone has a gold label: the mean is over all labels or there is none.

    Left out, the mean over one label fewer would move by far more than any other story moves it.
    """
    said = [("True", "True"), ("True", "False"), ("False", "False"), ("False", "True")]
    said.append(("Unknown", "Unknown"))
    scores = of_stories(TOLD, said)
    series = import_module("tomlab.benchmarks.omnitom.metrics").series
    [one] = (s for *_, s in series(scores) if s[:2] == ("macro_f1", "truth_status"))
    sums = one.sums(one.rows)
    found = vars(cluster_statistic(sums, one.statistic, n=5))
    assert interval_of(one).ci_method == RARE
    assert np.isnan(interval_of(one).ci_low)
    labels = sorted({gold for gold, _ in said})

    def value(kept):
        gold, predicted = zip(*kept, strict=True)
        return f1_score(gold, predicted, labels=labels, average="macro", zero_division=0)

    assert found["value"] == pytest.approx(value(said))
    # Four of the five can be left out; the fifth is taken to move the value as they do.
    moved = np.array([value(said[:n] + said[n + 1 :]) for n in range(4)]) - found["value"]
    squares = (moved**2).sum()
    kurtosis = 4 * (moved**4).sum() / squares**2
    freedom = min(4, 2 * 5 / max(kurtosis - 1, 1e-9))
    reach = student.ppf(0.975, freedom) * np.sqrt(squares * 5 / 4)
    far = reach / found["value"] / (1 - found["value"])
    expected = expit(logit(found["value"]) - far), expit(logit(found["value"]) + far)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(expected)
    assert found["n_groups"] == 5


@pytest.mark.parametrize("method", ["stage1-L3", "stage2-L3"])
def test_order_of_rows_moves_no_number(method):
    items = omnitom.compose(OWN)
    scores = omnitom.score(items, of_baseline(items, "random", method), judge=EXACT)
    found = replies.sorted_rows(omnitom.metrics(scores))
    mixed = omnitom.metrics(scores.sample(frac=1, random_state=0))
    assert replies.sorted_rows(mixed).equals(found)


def test_f1_by_order_goes_by_the_predicted_order_for_precision():
    said = extraction(GOLD[0], GOLD[1], "Ada | Ben does not know where the key is | 1")
    row = {"item_id": "1/extraction", "model": "m", "method": "stage1-L3", "response": said}
    scores = omnitom.score(ITEMS, pd.DataFrame([row]), judge=EXACT)
    values = f1_by_order(scores).set_index("bucket")["f1"]
    # Order 1: both predicted rows match; of the two gold rows one. Order 2: nothing predicted.
    assert values["order 0"] == 1
    assert values["order 1"] == pytest.approx(2 * 1 * 0.5 / 1.5)
    assert values["order 2+"] == 0


def test_unusable_outputs_are_counted_by_kind():
    same = {"item_id": "1/extraction", "model": "m", "method": "stage1-L3"}
    said = [(0, extraction(*GOLD), "stop"), (1, "no", "stop"), (2, "x", "length")]
    responses = pd.DataFrame(said, columns=["sample", "response", "finish_reason"]).assign(**same)
    metrics = omnitom.metrics(omnitom.score(ITEMS, responses, judge=EXACT))
    values = metrics.set_index(["metric", "condition"])["value"]
    assert values["unusable", "all"] == pytest.approx(2 / 3)
    assert values["outcome_rate", "truncated"] == pytest.approx(1 / 3)
    assert values["f1", "all"] == pytest.approx(1 / 3)
    assert values["f1", "all/usable"] == 1


@settings(max_examples=8, deadline=None)
@given(st.randoms(use_true_random=False))
def test_shuffled_rows_change_nothing(draw):
    lines = draw.sample(GOLD, len(GOLD))
    assert verdict("extraction", extraction(*lines))["score"] == 1
    given_rows = labelled().splitlines()
    shuffled = [given_rows[0], *draw.sample(given_rows[1:], 4)]
    assert verdict("labelling", "\n".join(shuffled))["score"] == 1


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_a_verdict(said):
    for kind in ("extraction", "labelling"):
        row = verdict(kind, said)
        assert 0 <= row["score"] <= 1
