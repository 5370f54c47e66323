"""Models across benchmarks: what was run stands beside what guessing and people score."""

from types import SimpleNamespace

import pandas as pd
import pytest
from scipy.stats import spearmanr

from tomlab.benchmarks.bigtom import paper as bigtom
from tomlab.benchmarks.fantom import paper as fantom
from tomlab.benchmarks.omnitom import paper as omnitom
from tomlab.benchmarks.simpletom import paper as simpletom
from tomlab.reporting import across

PAPERS = {"bigtom": bigtom, "fantom": fantom, "omnitom": omnitom, "simpletom": simpletom}


def metrics(values):
    """Rows of metrics: values by benchmark and model, of the number that stands for each."""
    rows = []
    for (benchmark, model), value in values.items():
        paper = PAPERS[benchmark]
        metric, condition = paper.HEADLINES[paper.STANDARD.headline]
        keys = {"benchmark": benchmark, "model": model, "method": paper.STANDARD.method}
        keys |= {"metric": metric, "condition": condition, "n": 40, "n_groups": 20}
        rows += [keys | {"value": value, "ci_low": value - 0.1, "ci_high": value + 0.1}]
        rows += [keys | {"method": "other", "value": 0.99, "ci_low": 0.9, "ci_high": 1.0}]
    return pd.DataFrame(rows)


def test_a_row_a_model_then_chance_and_people_with_their_source():
    found = metrics({("bigtom", "m"): 0.5, ("fantom", "m"): 0.25, ("bigtom", "other"): 0.75})
    table = across.table(found, PAPERS)
    assert list(table) == ["BigToM: backward-belief, 0-shot", "FANToM: all, short"]
    assert table.index.tolist() == ["m", "other", "chance", "people"]
    assert table.iloc[:, 0].tolist() == [
        ".50 [.40, .60] (n = 40/20)",
        ".75 [.65, .85] (n = 40/20)",
        ".25",
        ".82, .72",
    ]
    assert table.iloc[1:, 1].tolist() == ["not run", "–", ".88"]
    said = across.notes(found, PAPERS)
    assert said.startswith(
        "People: true and false belief, each alone: BigToM (Gandhi et al., 2023), §4.1 and App. "
        "B.2; on other question sets than these: FANToM (Kim et al., 2023), Table 9. How far"
    )
    alone = metrics({("simpletom", "m"): 0.5})
    assert across.table(alone, PAPERS).iloc[:, 0].tolist()[1:] == [".50", "none published"]
    assert "People" not in across.notes(alone, PAPERS)


@pytest.mark.parametrize("name", PAPERS)
def test_what_stands_for_a_benchmark_is_a_headline_by_one_of_its_methods(name):
    paper = PAPERS[name]
    assert paper.STANDARD.headline in paper.HEADLINES
    assert paper.STANDARD.method in paper.WORDING.methods
    assert set(paper.REFERENCES) <= set(paper.WORDING.methods)


def test_benchmark_without_such_a_number_is_left_out():
    papers = {"bigtom": bigtom, "doors": SimpleNamespace(HEADLINES={})}
    assert list(across.table(metrics({("bigtom", "m"): 0.5}), papers)) == [
        "BigToM: backward-belief, 0-shot"
    ]


def test_rank_agreement_is_the_mean_of_spearmans_correlations():
    of_models = {
        "bigtom": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        "fantom": [0.2, 0.1, 0.3, 0.4, 0.6, 0.5],
        "simpletom": [0.1, 0.3, 0.2, 0.5, 0.4, 0.6],
    }
    found = {(b, f"m{i}"): v for b, values in of_models.items() for i, v in enumerate(values)}
    a, b, c = of_models.values()
    mean = (spearmanr(a, b)[0] + spearmanr(a, c)[0] + spearmanr(b, c)[0]) / 3
    said = across.ranks(metrics(found), PAPERS)
    assert f": {mean:.2f} [" in said
    assert "the 6 models" in said
    low, high = map(float, said.split("[")[1].split("]")[0].split(", "))
    assert -1 <= low < mean < high <= 1


def test_fewer_than_five_models_in_common_are_told_and_not_ranked():
    found = {(b, f"m{i}"): i / 10 for b in ("bigtom", "fantom") for i in range(4)}
    found |= {("omnitom", f"n{i}"): i / 10 for i in range(5)}
    said = across.ranks(metrics(found), PAPERS)
    assert "at least 5 models in common, and here two share at most 4" in said
    alone = {("bigtom", f"m{i}"): i / 10 for i in range(7)}
    assert "share at most 0" in across.ranks(metrics(alone), PAPERS)


def test_models_that_all_score_the_same_have_no_ranks():
    found = {(b, f"m{i}"): 0.5 for b in ("bigtom", "fantom") for i in range(5)}
    assert "not defined" in across.ranks(metrics(found), PAPERS)
