"""A run's metrics of BigToM, made up."""

from itertools import product

import pandas as pd

from tomlab.records import tidy

VARIABLES = ("forward_belief", "forward_action", "backward_belief")
METHODS = ("0-shot", "0-shot-cot", "1-shot", "1-shot-cot")
ACCURACY = {"true_belief": 0.8, "false_belief": 0.4, "tb_and_fb": 0.32}
CONTROL = {"true_control": 0.9, "false_control": 0.7, "control_tb_and_fb": 0.6}
OUTCOMES = {"correct": 0.6, "wrong": 0.2, "unparsed": 0.12, "truncated": 0.08}


def number(model, method, metric, condition, value, n=25):
    low, high = max(0.0, value - 0.1), min(1.0, value + 0.1)
    row = ("bigtom", model, method, metric, condition, value, low, high, "cluster jackknife", n, 25)
    return dict(zip(tidy.METRICS.columns, row, strict=True))


def of_model(model):
    """All of BigToM's metrics of one model: 25 templates, the same values in each inference."""
    for method, variable, belief in product(METHODS, VARIABLES, (0, 1)):
        cells = ACCURACY | (CONTROL if method == "0-shot" else {})
        for contingency, value in cells.items():
            metric = "tb_and_fb" if contingency.endswith("tb_and_fb") else "accuracy"
            yield number(model, method, metric, f"{variable}/{contingency}/{belief}", value)
    yield number(model, "0-shot", "accuracy", "percept_to_belief/true_belief/0", 0.96)
    for method, (outcome, share) in product(METHODS, OUTCOMES.items()):
        yield number(model, method, "outcome_rate", outcome, share, n=625)


def metrics(*models):
    frame = pd.DataFrame([row for model in models for row in of_model(model)])
    return tidy.check(frame, "metrics")
