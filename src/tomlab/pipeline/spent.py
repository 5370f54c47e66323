"""What a run asked for and spent, in one line at its end, whether it finished or was stopped."""

import pyarrow.parquet as pq

from tomlab import params
from tomlab.models.store import Store
from tomlab.paths import RESPONSE_STORE, result


def told(began: float) -> str:
    """The line of a run that began then. What others asked at its store meanwhile counts, too.
    Errors: `InputError` where store or `params.yaml` can't be read.
    """
    with Store(RESPONSE_STORE) as store:
        query = "SELECT key, prompt_tokens + completion_tokens, cost FROM responses"
        asked = store.all(f"{query} WHERE created >= ?", began)
        in_all = sum(store.spending())
    run, there = params.load()["run"], set()
    options = {"columns": ["request_key"], "filters": [("prompt_tokens", ">", 0)]}  # no baseline's
    for path in (result("responses", b, m) for b in run["benchmarks"] for m in run["models"]):
        if path.is_file():
            there |= {*pq.read_table(path, **options)["request_key"].to_pylist()}
    kept, prices = len(there - {key for key, *_ in asked}), [c for *_, c in asked if c is not None]
    cost = f", ${sum(prices):,.2f} by their prices" if prices else ""
    new = f"{len(asked):,} answers ({sum(tokens for _, tokens, _ in asked):,} tokens{cost})"
    line = f"Asked in this run: {new}. Kept before, in results/responses: {kept:,} answers."
    return line + (f" Spent in all runs so far: ${in_all:,.2f}." if in_all else "")
