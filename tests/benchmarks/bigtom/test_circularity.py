"""BigToM's notebook of figures: the regression that asks who does well on whose items (App. F)."""

import numpy as np
import pandas as pd

import figures
from tomlab.benchmarks.bigtom.items.compose import main_cells

CELL = {"pd": pd, "main_cells": main_cells}
exec(figures.cells("bigtom")["cell-regression"], CELL)  # noqa: S102
circularity = CELL["circularity"]
TERMS = ["Intercept", "model[T.b]", "source[T.b]", "model[T.b]:source[T.b]"]
TRUTH = np.array([0.2, 1.0, -0.4, 0.3])


def simulated(coefficients=TRUTH, templates=500, items=2, spread=0.0, rng=None):
    """Scores of two models on two sources whose log odds are known, up to a template's own."""
    rng = rng or np.random.default_rng(1)
    names = ["group_id", "item_id", "model", "source"]
    cells = pd.MultiIndex.from_product([range(templates), range(items), ["a", "b"], ["a", "b"]])
    scores = cells.to_frame(index=False, name=names)
    scores["group_id"] = scores["source"] + scores["group_id"].astype(str)
    scores["item_id"] = scores["group_id"] + scores["item_id"].astype(str)
    is_model_b = scores["model"].eq("b")
    is_source_b = scores["source"].eq("b")
    terms = np.column_stack([is_model_b | True, is_model_b, is_source_b, is_model_b & is_source_b])
    groups, _ = pd.factorize(scores["group_id"])
    odds = terms @ coefficients + rng.normal(0, spread, 2 * templates)[groups]
    scores["score"] = (rng.random(len(odds)) < 1 / (1 + np.exp(-odds))).astype(float)
    return scores.assign(condition="true_belief", variable="forward_belief", method="0-shot")


def test_regression_finds_the_coefficients_that_made_the_data():
    fit = circularity(simulated())
    assert fit["term"].tolist() == TERMS
    assert (abs(fit["b"] - TRUTH) < 3 * fit["se"]).all()
    assert (fit["se"] < 0.16).all()
    assert set(fit["n"]) == {4000}
    assert set(fit["n_groups"]) == {1000}


def test_regression_rejects_what_is_true_about_as_often_as_it_says():
    # Of 800 such tables it rejects .03 to .06, by term; of 200, chance alone takes this to .09. With
    # plain clustered errors and the normal distribution it rejects .11, for the source.
    rng = np.random.default_rng(0)
    p_values = []
    for _ in range(200):
        scores = simulated(np.array([0.4, 0, 0, 0]), 6, items=6, spread=1, rng=rng)
        p_values.append(circularity(scores)["p"])
    rejected = (np.array(p_values) < 0.05).mean(axis=0)[1:]
    assert (rejected > 0.005).all()
    assert (rejected < 0.1).all()


def test_regression_reads_the_twelve_cells_alone():
    scores = simulated(templates=50)
    control = scores.assign(condition="true_control", item_id=scores["item_id"] + "/c", score=0.0)
    padded = pd.concat([scores, control], ignore_index=True)
    assert circularity(padded).equals(circularity(scores))


def test_scores_that_no_regression_can_be_had_of_get_the_reason():
    scores = simulated(templates=20)
    for column in ("model", "source"):
        message = circularity(scores[scores[column] == "a"])
        assert "two data sources and two models" in message
    is_stuck = scores["model"].eq("b") & scores["source"].eq("a")
    scores["score"] = scores["score"].mask(is_stuck, 1.0)
    assert "b is always right" in circularity(scores)
