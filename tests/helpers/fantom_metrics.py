"""A run's metrics of FANToM, made up."""

from itertools import product

import numpy as np
import pandas as pd

from tomlab.records import tidy

METHODS = ("short", "full", "short-cot", "full-cot")
COLUMNS = (
    *("all_star", "all", "belief_choice", "belief_dist", "belief_f1"),
    *(f"{f}_{kind}" for f in ("answerability", "infoaccess") for kind in ("all", "list", "yn")),
    "fact_f1",
)
SET_LEVEL = ("all_star", "all", "answerability_all", "infoaccess_all")
ORDERS = ("first-order", "second-order", "second-order:cyclic", "second-order:acyclic")
ORDERS += ("second-order:mean", "orders:mean")
LIST_ERRORS = ("did_both", "excluded_aware", "included_unaware", "cut_off")
YN_ERRORS = ("false_positive", "false_negative", "irrelevant")
OUTCOMES = {"correct": 0.5, "wrong": 0.2, "unparsed": 0.18, "truncated": 0.12}
NAMES = [
    *("smollm2-135m", "random", "omniscient", "claude-3-5-sonnet-20241022", "gpt-4o", "my-vllm"),
    *("qwen", "o3"),
]


def of_method(draw, method, scenarios):
    """(metric, condition, value, n, greatest value) of one method, as the metrics table has them."""
    levels = {"part": 40, "conversation": 20} if method.startswith("full") else {"part": 40}
    families = ("answerability", "infoaccess")
    for scenario in scenarios:
        for metric in ("all_characters", "consistency", "belief_statement", *COLUMNS):
            if not metric.endswith("_list"):
                n = 60 if metric in SET_LEVEL else 120
                yield metric, scenario, draw.uniform(), n, 1.0
        for metric, (level, n) in product(SET_LEVEL, levels.items()):
            yield metric, f"{scenario}/{level}", draw.uniform(), n, 1.0
        yield "released_rule", f"{scenario}/belief_dist", draw.uniform(), 120, 1.0
        for order in ORDERS:
            yield "belief_order", f"{scenario}/{order}", draw.uniform(), 30, 1.0
        for family in families:
            wrong = draw.uniform(0, 0.25, size=4)
            for kind, share in zip(LIST_ERRORS, wrong, strict=True):
                yield "list_error", f"{scenario}/{family}/{kind}", share, 120, 1.0
            yield "list_error", f"{scenario}/{family}/any", wrong.sum(), 120, 1.0
            yield f"{family}_list", scenario, 1 - wrong.sum(), 120, 1.0
            wrong = draw.uniform(0, 0.3, size=3)
            for kind, share in zip((*YN_ERRORS, "any"), (*wrong, wrong.sum()), strict=True):
                yield "yn_error", f"{scenario}/{family}/{kind}", share, 240, 1.0
    for outcome, share in OUTCOMES.items():
        yield "outcome_rate", outcome, share, 600, 1.0
    yield "completion_tokens", "all", draw.uniform(2, 40), 600, 50.0


def metrics(*models, methods=METHODS, scenarios=("inaccessible", "accessible")):
    """A run's metrics with random values; of list questions, what is no error is correct."""
    draw = np.random.default_rng(0)
    rows = []
    for model, method in product(models, methods):
        for metric, condition, value, n, most in of_method(draw, method, scenarios):
            interval = (max(value - 0.1, 0), min(value + 0.1, most), "cluster jackknife")
            rows.append(("fantom", model, method, metric, condition, value, *interval, n, 20))
    rows = pd.DataFrame(rows, columns=list(tidy.SCHEMAS["metrics"].columns)).round(4)
    return tidy.check(rows, "metrics")
