"""BigToM's notebook of figures: the regression that asks who does well on whose items (App. F)."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t as student

import figures
from tomlab.benchmarks.bigtom.items.compose import main_cells

CELL = {"pd": pd, "main_cells": main_cells}
exec(figures.cells("bigtom")["cell-regression"], CELL)  # noqa: S102
circularity = CELL["circularity"]
TERMS = ["Intercept", "model[T.b]", "source[T.b]", "model[T.b]:source[T.b]"]
TRUTH = np.array([0.2, 1.0, -0.4, 0.3])


def simulated(coefficients=TRUTH, templates=500):
    """Scores of two models on two sources whose log odds are known: two items a template."""
    rng = np.random.default_rng(1)
    parts = []
    for model, source in ("aa", "ab", "ba", "bb"):
        is_second = np.array([1, model == "b", source == "b", (model + source) == "bb"])
        share = 1 / (1 + np.exp(-is_second @ coefficients))
        names = [f"{source}/{number}" for number in range(templates)]
        part = pd.DataFrame({"group_id": np.repeat(names, 2), "model": model, "source": source})
        part["item_id"] = part["group_id"] + ["/0", "/1"] * templates
        parts.append(part.assign(score=(rng.random(len(part)) < share).astype(float)))
    scores = pd.concat(parts, ignore_index=True)
    return scores.assign(condition="true_belief", variable="forward_belief", method="0-shot")


def alike(rng, templates=12, items=6):
    """Scores of two models alike on two sources alike; some templates are harder than others."""
    odds = np.repeat(rng.normal(0.4, 1, templates), 2 * items)
    numbers = np.arange(len(odds))
    groups = numbers // (2 * items)
    scores = pd.DataFrame({"group_id": groups.astype(str), "item_id": (numbers // 2).astype(str)})
    scores["model"] = np.where(numbers % 2, "b", "a")
    scores["source"] = np.where(groups % 2, "b", "a")
    scores["score"] = (rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(float)
    return scores.assign(condition="true_belief", variable="forward_belief", method="0-shot")


def test_regression_finds_the_coefficients_that_made_the_data():
    fit = circularity(simulated())
    assert fit["term"].tolist() == TERMS
    assert (abs(fit["b"] - TRUTH) < 3 * fit["se"]).all()
    assert (fit["se"] < 0.16).all()
    assert set(fit["n"]) == {4000}
    assert set(fit["n_groups"]) == {1000}


def test_standard_errors_are_clustered_by_template():
    scores = simulated(templates=50)
    again = scores.assign(item_id=scores["item_id"] + "/again")
    fit = circularity(pd.concat([scores, again], ignore_index=True))
    assert fit["se"].tolist() == pytest.approx(circularity(scores)["se"].tolist(), rel=0.02)


def test_regression_rejects_what_is_true_about_as_often_as_it_says():
    # With plain clustered errors and the normal distribution 11 % of these, for the source.
    rng = np.random.default_rng(0)
    p_values = np.array([circularity(alike(rng))["p"] for _ in range(200)])
    rejected = (p_values < 0.05).mean(axis=0)[1:]
    assert (rejected > 0.005).all()
    assert (rejected < 0.09).all()


def test_errors_of_few_templates_are_corrected_and_p_is_of_students_t():
    scores = alike(np.random.default_rng(1))
    fit = circularity(scores)
    family = sm.families.Binomial()
    model = sm.GEE.from_formula("score ~ model * source", scores["group_id"], scores, family=family)
    plain = model.fit(cov_type="robust")
    assert fit["b"].tolist() == pytest.approx(plain.params.tolist())
    assert (fit["se"].to_numpy() > 1.05 * plain.bse.to_numpy()).all()
    expected = 2 * student.sf((fit["b"] / fit["se"]).abs(), 12 - 1)
    assert fit["p"].tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize("column", ["model", "source"])
def test_no_regression_with_one_model_or_one_source(column):
    scores = simulated(templates=20)
    assert "two data sources and two models" in circularity(scores[scores[column] == "a"])


def test_regression_reads_the_twelve_cells_alone():
    scores = simulated(templates=50)
    control = scores.assign(condition="true_control", item_id=scores["item_id"] + "/c", score=0.0)
    percept = scores.assign(variable="percept_to_belief", item_id=scores["item_id"] + "/p")
    padded = pd.concat([scores, control, percept], ignore_index=True)
    assert circularity(padded).equals(circularity(scores))


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_model_that_is_always_right_or_wrong_on_a_source_is_named(score):
    scores = simulated(templates=20)
    is_stuck = scores["model"].eq("b") & scores["source"].eq("a")
    assert "b is always right" in circularity(
        scores.assign(score=scores["score"].mask(is_stuck, score))
    )
