"""Scores the baselines `random` and `omniscient`, which depend on the items alone, not on a model.

`random` guesses; `omniscient` answers as if everybody knew all that happened. Models are compared
with both in every run.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.asking.protocol import Benchmark
from tomlab.models import specs
from tomlab.models.specs import ModelSpec
from tomlab.records import tidy


async def evaluate_baselines(
    benchmark: Benchmark,
    items: pd.DataFrame,
    names: Sequence[str],
    methods: Sequence[str],
    *,
    samples: int,
    orders: int,
    draw_seed: int,
    sampling_seed: int,
    prompts: Mapping[str, str],
    **scoring: Any,
) -> pd.DataFrame:
    """Write the responses, scores and metrics of the baselines `names`, and return the metrics.

    A baseline that can answer by none of the methods gets no files. scoring: options for the
    benchmark's `score`. The other options are the same as in a model's evaluation.
    """
    plan = {"samples": samples, "orders": orders, "seed": draw_seed}
    requests = {"seed": sampling_seed, "replaced": prompts}
    metrics = []
    for name in names:
        responses = await _responses(benchmark, items, specs.model(name), methods, plan, requests)
        if responses.empty:
            continue
        scores = benchmark.score(items, responses, **scoring)
        tables = {
            "responses": responses,
            "scores": scores,
            "metrics": benchmark.metrics(scores),
        }
        for kind, table in tables.items():
            tidy.write(table, kind, paths.baseline(kind, benchmark.NAME, name))
        metrics.append(tables["metrics"])
    return pd.concat(metrics, ignore_index=True) if metrics else pd.DataFrame()


async def _responses(
    benchmark: Any,  # has `remind` if one of its methods shows earlier answers
    items: pd.DataFrame,
    baseline: ModelSpec,
    methods: Sequence[str],
    plan: Mapping[str, Any],
    requests: Mapping[str, Any],
) -> pd.DataFrame:
    """The responses of one baseline. Methods that show a model its earlier answers come last.

    plan: options of `evaluation.plan`; requests: options of `evaluation.evaluate`.
    """

    async def answers(items: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
        questions = evaluation.plan(benchmark, items, baseline, methods, **plan)
        if not questions:
            return pd.DataFrame()
        return await evaluation.evaluate(benchmark, questions, baseline, **requests)

    reminding = [m for m in methods if getattr(benchmark.METHODS[m], "reminder", False)]
    responses = await answers(items, [m for m in methods if m not in reminding])
    if responses.empty or not reminding:
        return responses
    reminded = await answers(benchmark.remind(items, responses), reminding)
    if reminded.empty:
        return responses
    return pd.concat([responses, reminded], ignore_index=True)
