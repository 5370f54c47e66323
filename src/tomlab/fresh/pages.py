"""What all pages on fresh items share: each asks one model about items made by that page."""

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
    """The scores of a model's answers to all of these items; an empty table if no method applies.

    The model's limits on groups in `params.yaml` are meant for the benchmarks and ignored here.
    orders: as in `evaluation.plan`; seed, replaced: as in `evaluation.evaluate`.
    """
    spec = specs.model(model).model_copy(update={"groups": {}, "variants": {}})
    questions = evaluation.plan(benchmark, items, spec, methods, orders=orders)
    if not questions:
        return pd.DataFrame()
    responses = await evaluation.evaluate(
        benchmark, questions, spec, limits=specs.limits(), seed=seed, replaced=replaced
    )
    return benchmark.score(items, responses)
