"""A run's metrics of OmniToM and its F1 by judge, made up."""

from itertools import product

import numpy as np
import pandas as pd

from tomlab.benchmarks.omnitom.items.records import CATEGORIES, DIMENSIONS
from tomlab.benchmarks.omnitom.metrics import MATCH_COUNTS
from tomlab.benchmarks.omnitom.paper import LEVELS
from tomlab.records import tidy

BUCKETS = ("order 0", "order 1", "order 2+")
OUTCOMES = {"correct": 0.5, "wrong": 0.2, "unparsed": 0.18, "truncated": 0.12}
METHODS = ("stage1-L3", "stage2-L3", "stage1-L1", "stage2-L1", "linked")
EVERY_METHOD = [f"stage{n}-{level}" for n in (1, 2) for level in LEVELS]
NAMES = [
    *("smollm2-135m", "random", "omniscient", "claude-3-5-sonnet-20241022", "gpt-4o", "my-vllm"),
    *("meta-llama/Llama-3.3-70B-Instruct", "o3"),
]


def of_extraction(draw):
    """(metric, condition, value, n) of a method of Stage 1, as the metrics table has them."""
    for metric in ("f1", "precision", "recall"):
        for name, way in product(["all", "categories", *CATEGORIES], ("", "/usable")):
            yield metric, f"{name}{way}", draw.uniform(), 4 if name in CATEGORIES else 28
    for bucket in BUCKETS:
        yield "f1", bucket, draw.uniform(), 20
    yield "beliefs_per_story", "all", draw.uniform(2, 60), 28
    for matches, share in zip(MATCH_COUNTS, (0.5, 0.42, 0.07, 0.01), strict=True):
        yield "matchcount", matches, share, 1240


def of_labelling(draw):
    """The same of a method of Stage 2."""
    for name, way in product(["all", "categories", *CATEGORIES], ("", "/usable")):
        yield "accuracy", f"{name}{way}", draw.uniform(), 4 if name in CATEGORIES else 28
    for dimension, way in product(DIMENSIONS, ("", "/usable")):
        yield "accuracy", f"{dimension}{way}", draw.uniform(), 28
    for dimension, code in product(("all", *DIMENSIONS), CATEGORIES):
        yield "accuracy", f"{dimension}/{code}", draw.uniform(), 4
    for dimension, bucket in product(("all", *DIMENSIONS), BUCKETS):
        yield "accuracy", f"{dimension}/{bucket}", draw.uniform(), 20
    for subject in ("all", *DIMENSIONS):
        yield "accuracy_by_position", subject, draw.uniform(), 28
    for dimension in DIMENSIONS:
        yield "macro_f1", dimension, draw.uniform(), 600
        yield "balanced_accuracy", dimension, draw.uniform(), 600
        yield "majority_baseline", dimension, 0.92 if dimension == "context" else 0.6, 28


def of_linked(draw):
    """The same of the ToMBench questions of the stories."""
    for name, way in product(["all", "categories", *CATEGORIES], ("", "/usable")):
        yield "linked_accuracy", f"{name}{way}", draw.uniform(), 4 if name in CATEGORIES else 28


def of_method(draw, method):
    of_stage = {"stage1": of_extraction, "stage2": of_labelling, "linked": of_linked}
    yield from of_stage[method.partition("-")[0]](draw)
    yield "unusable", "all", 0.3, 28
    for outcome in tidy.OUTCOMES:
        yield "outcome_rate", outcome, OUTCOMES.get(outcome, 0.0), 28
    yield "completion_tokens", "all", draw.uniform(100, 900), 28


def metrics(*models, methods=METHODS):
    """A run's metrics with random values."""
    draw = np.random.default_rng(0)
    rows = []
    for model, method in product(models, methods):
        for metric, condition, value, n in of_method(draw, method):
            most, half = (1, 0.1) if value <= 1 else (1000, 3)
            interval = (max(value - half, 0), min(value + half, most), "cluster jackknife")
            rows.append(("omnitom", model, method, metric, condition, value, *interval, n, n))
    rows = pd.DataFrame(rows, columns=list(tidy.METRICS.columns)).round(3)
    return tidy.check(rows, "metrics")


def sensitivity(*models, by=("exact", "token_f1", "embedding", "llm:gpt-5"), method="stage1-L3"):
    """F1 by judge; the first two judges see the models in opposite orders."""
    draw = np.random.default_rng(1)
    values = pd.DataFrame(draw.uniform(0.1, 0.9, size=(len(by), len(models))), by, models)
    rising = np.linspace(0.2, 0.8, len(models))
    values.iloc[0] = rising
    values.iloc[1:2] = rising[::-1]
    rows = [
        (judge, model, method, value, value - 0.1, value + 0.1, 28, 28)
        for (judge, model), value in values.round(4).stack().items()
    ]
    columns = ["judge", "model", "method", "value", "ci_low", "ci_high", "n", "n_groups"]
    return pd.DataFrame(rows, columns=columns)
