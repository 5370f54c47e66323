"""A run's metrics of SimpleToM, made up."""

import pandas as pd

from tomlab.benchmarks.simpletom.paper import PUBLICATION
from tomlab.records import tidy

METHODS = ("none", "ms-remind", "sysp", "sysp-star", "cot", "cot-star", "cot-star-ms")
SCENARIOS = [*PUBLICATION.read("table8_statistics")["scenario"][:-1]]
VARIANTS = ("generated", "three-way", "wrong", "reasonable", "wrong-or-reasonable")
ACCURACY = {"mental_state": 0.9, "behavior": 0.4, "judgment": 0.2}
GAIN = 0.3  # by every intervention, on both questions
FAILURE = {"mental_state": 0.1, "behavior": 0.5, "judgment": 0.25, "none": 0.15}
OUTCOMES = {"correct": 0.6, "wrong": 0.2, "unparsed": 0.12, "truncated": 0.08}


def number(model, method, metric, condition, value, n=60, low=0.0, high=1.0):
    interval = (max(low, value - 0.1), min(high, value + 0.1), "cluster jackknife")
    row = ("simpletom", model, method, metric, condition, value, *interval, n, 20)
    return dict(zip(tidy.METRICS.columns, row, strict=True))


def of_method(model, method, scenarios):
    """What one method gives: the same values in each scenario, from 6 stories there."""
    none = method == "none"
    for question, plain in ACCURACY.items():
        if question == "mental_state" and not none:
            continue
        value = plain if none else plain + GAIN
        yield number(model, method, "accuracy", question, value)
        yield number(model, method, "accuracy", f"{question}/severity 3", value, n=20)
        for scenario in scenarios:
            yield number(model, method, "accuracy", f"{question}/{scenario}", value, n=6)
        yield number(model, method, "completion_tokens", question, 2.0, high=9.0)
        if not none:
            yield number(model, method, "delta", question, GAIN, low=-1.0)
        if question != "mental_state":
            gap = ACCURACY["mental_state"] - value
            yield number(model, method, "gap", question, gap, low=-1.0)
    yield number(model, method, "average", "all", 0.5 if none else 0.7)
    for part, (failure, share) in ((p, f) for p in ["", *scenarios] for f in FAILURE.items()):
        condition = f"{failure}/{part}" if part else failure
        yield number(model, method, "first_failure", condition, share, n=6 if part else 60)
    for outcome, share in OUTCOMES.items():
        yield number(model, method, "outcome_rate", outcome, share, n=180 if none else 120)
    yield number(model, method, "released_rule", "all", 0.6, n=120)


def metrics(*models, methods=METHODS, scenarios=SCENARIOS, variants=VARIANTS):
    rows = []
    for model in models:
        for method in methods:
            rows += of_method(model, method, scenarios)
        rows += [number(model, "none", "accuracy", f"judgment:{v}", 0.35) for v in variants]
    return tidy.check(pd.DataFrame(rows), "metrics")
