"""What holds of each of our items, whatever a model says: the keyed answer is right, who thinks that
everybody knows everything is wrong where somebody doesn't, and the order of options decides nothing.
"""

import pytest

from replies import of_baseline
from simpletom_stories import OURS, our_stories
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.benchmarks.omnitom.items.records import read_records
from tomlab.benchmarks.omnitom.scoring import Judge
from tomlab.paths import DATA

FILES = {
    bigtom: DATA / "bigtom" / "bigtom.csv",
    fantom: DATA / "fantom" / "fantom.json",
    omnitom: DATA / "omnitom" / "stories.jsonl",
    simpletom: OURS,
}
METHODS = {bigtom: ["0-shot"], fantom: ["short", "full"], simpletom: ["none"]}
by_options = pytest.mark.parametrize("benchmark", METHODS, ids=lambda b: b.NAME)

pytestmark = pytest.mark.skipif(
    not all(path.exists() for path in FILES.values()),
    reason="data is missing: `make data` pulls it",
)


def sources(benchmark):
    """All that we have of a benchmark: its templates, question sets, records or stories."""
    if benchmark is bigtom:
        return read_templates(FILES[bigtom])
    if benchmark is simpletom:
        return our_stories()
    if benchmark is omnitom:
        return read_records(FILES[omnitom])
    return read_sets(FILES[fantom])


@pytest.fixture(scope="module")
def verdicts():
    """The scores of a baseline by item, for items whose options stand in the order of a seed."""
    given = {benchmark: sources(benchmark) for benchmark in METHODS}

    def scored(benchmark, policy, method, seed=0):
        items = benchmark.compose(given[benchmark], seed)
        # Free answers are held against two beliefs by an encoder.
        items = items[items["question_type"] != "belief_dist"]
        scores = benchmark.score(items, of_baseline(benchmark, items, policy, method))
        return items.merge(scores[["item_id", "outcome", "score"]], on="item_id")

    return scored


@by_options
def test_gold_is_right_on_every_item(benchmark, verdicts):
    for method in METHODS[benchmark]:
        found = verdicts(benchmark, "gold", method)
        assert found.loc[found["score"] < 1, "item_id"].to_list() == []


@by_options
def test_who_thinks_all_know_all_fails_every_false_belief_and_nothing_else(benchmark, verdicts):
    for method in METHODS[benchmark]:
        found = verdicts(benchmark, "omniscient", method)
        if benchmark is bigtom:
            missed = found["condition"] == "false_belief"
        elif benchmark is simpletom:
            missed = found["score"].notna()
        else:
            found = found[found["question_type"] == "belief_choice"]
            missed = found["scenario"] == "inaccessible"
        assert missed.any()
        assert found.loc[(found["score"] == 1) == missed, "item_id"].to_list() == []


@by_options
def test_order_of_options_decides_nothing(benchmark, verdicts):
    for policy in ("gold", "omniscient"):
        one, other = (verdicts(benchmark, policy, METHODS[benchmark][0], s) for s in (0, 1))
        orders = [table["choices"][table["choices"].map(len) == 2] for table in (one, other)]
        assert 0.4 < (orders[0].map(tuple) != orders[1].map(tuple)).mean() < 0.6
        assert one["score"].tolist() == other["score"].tolist()
        assert one["outcome"].tolist() == other["outcome"].tolist()


def test_gold_tables_earn_everything_and_those_of_who_knows_all_do_not():
    items = omnitom.compose(sources(omnitom))
    for method in ("stage1-L3", "stage2-L3"):
        gold, omniscient = (
            omnitom.score(
                items, of_baseline(omnitom, items, policy, method), judge=Judge("exact")
            ).set_index("item_id")["score"]
            for policy in ("gold", "omniscient")
        )
        assert gold[gold < 1].index.to_list() == []
        assert omniscient[omniscient >= 1].index.to_list() == []
