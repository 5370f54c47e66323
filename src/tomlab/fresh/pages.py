"""What the pages on fresh items do alike: they ask one model about items of their own."""

from collections.abc import Mapping, Sequence

import pandas as pd

from tomlab.asking import evaluation
from tomlab.asking.protocol import Benchmark
from tomlab.models import specs


async def scores_of(
    model: str,
    benchmark: Benchmark,
    items: pd.DataFrame,
    methods: Sequence[str],
    *,
    orders: int = 1,
    seed: int,
    replaced: Mapping[str, str],
) -> pd.DataFrame:
    """The scores of a model's answers to all of these items; no rows if it is asked by no method.

    What `params.yaml` says on how many groups a model is asked about is meant for the benchmarks.
    orders, seed, replaced: as `evaluation` takes them.
    """
    spec = specs.model(model).model_copy(update={"groups": {}, "variants": {}})
    questions = evaluation.plan(benchmark, items, spec, methods, orders=orders)
    if not questions:
        return pd.DataFrame()
    responses = await evaluation.evaluate(
        benchmark, questions, spec, limits=specs.limits(), seed=seed, replaced=replaced
    )
    return benchmark.score(items, responses)
