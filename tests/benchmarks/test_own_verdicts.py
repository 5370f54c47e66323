"""What holds of each of our items, whatever a model says: the keyed answer is right, who thinks that
everybody knows everything is wrong where somebody doesn't, and the order of options decides nothing.
"""

from functools import cache

import pandas as pd
import pytest

from replies import of_baseline
from simpletom_stories import OURS, our_stories
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.benchmarks.omnitom.items.records import read_records
from tomlab.benchmarks.omnitom.scoring import Judge
from tomlab.paths import DATA

pytestmark = pytest.mark.skipif(not OURS.exists(), reason="data is missing: `make data` pulls it")
by_method = pytest.mark.parametrize(
    ("benchmark", "method"),
    [(bigtom, "0-shot"), (fantom, "short"), (fantom, "full"), (simpletom, "none")],
    ids=["bigtom", "fantom-short", "fantom-full", "simpletom"],
)


@cache
def items_of(benchmark, seed: int = 0) -> pd.DataFrame:
    """Our items with options to choose from, in the order of a seed."""
    if benchmark is bigtom:
        return bigtom.compose(read_templates(DATA / "bigtom" / "bigtom.csv"), seed)
    if benchmark is simpletom:
        return simpletom.compose(our_stories(), seed)
    items = fantom.compose(read_sets(DATA / "fantom" / "fantom.json"), seed)
    # Free answers are held against two beliefs by an encoder.
    return items[items["question_type"] != "belief_dist"]


@cache
def verdicts(benchmark, policy: str, method: str, seed: int = 0) -> pd.DataFrame:
    """The scores of a baseline by item."""
    items = items_of(benchmark, seed)
    scores = benchmark.score(items, of_baseline(benchmark, items, policy, method))
    return items.merge(scores[["item_id", "outcome", "score"]], on="item_id")


@by_method
def test_gold_is_right_on_every_item(benchmark, method):
    table = verdicts(benchmark, "gold", method)
    assert table.loc[table["score"] < 1, "item_id"].tolist() == []


@by_method
def test_who_thinks_all_know_all_fails_every_false_belief_and_nothing_else(benchmark, method):
    table = verdicts(benchmark, "omniscient", method)
    if benchmark is bigtom:
        is_missed = table["condition"] == "false_belief"
    elif benchmark is simpletom:
        is_missed = table["score"].notna()
    else:
        table = table[table["question_type"] == "belief_choice"]
        is_missed = table["scenario"] == "inaccessible"
    assert is_missed.any()
    assert table.loc[(table["score"] == 1) == is_missed, "item_id"].tolist() == []


@by_method
@pytest.mark.parametrize("policy", ["gold", "omniscient"])
def test_order_of_options_decides_nothing(benchmark, method, policy):
    first = verdicts(benchmark, policy, method, 0)
    second = verdicts(benchmark, policy, method, 1)
    has_options = first["choices"].map(len) == 2
    is_turned = first["choices"].map(tuple) != second["choices"].map(tuple)
    assert 0.4 < is_turned[has_options].mean() < 0.6
    assert first[["score", "outcome"]].equals(second[["score", "outcome"]])


@pytest.mark.parametrize("method", ["stage1-L3", "stage2-L3"])
def test_gold_tables_earn_everything_and_those_of_who_knows_all_do_not(method):
    items = omnitom.compose(read_records(DATA / "omnitom" / "stories.jsonl"))
    judge = Judge("exact")
    gold = omnitom.score(items, of_baseline(omnitom, items, "gold", method), judge=judge)
    assert (gold["score"] == 1).all()
    omniscient = of_baseline(omnitom, items, "omniscient", method)
    assert (omnitom.score(items, omniscient, judge=judge)["score"] < 1).all()
