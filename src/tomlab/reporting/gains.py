"""What methods bring beside what they cost: differences from the plain one, tokens, US dollars."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from tomlab.models.specs import Price
from tomlab.reporting.differences import Named, of_headlines
from tomlab.reporting.numbers import ABSENT, cell
from tomlab.scoring.variants import protocol

ITEMS = 1000  # of how many the dollars are told
_TOKENS = ["prompt_tokens", "completion_tokens"]
_ITEM = ["item_id", "sample"]
_PAIR = ["same", "a", "b"]


def gains(
    found: pd.DataFrame,
    named: Named,
    responses: pd.DataFrame,
    methods: Mapping[str, Any],
    prices: Mapping[str, Price | None],
) -> pd.DataFrame:
    """A row a headline, model and method: what it adds to the plain one `b`, and at which cost.

    found: of `paired.differences`; named: its headlines; responses: of the same models; methods:
    the benchmark's; prices: by model. requests and tokens: means by item, first calls included,
    over the items that both methods were asked about as the protocol asks; factor: tokens in and
    out as a multiple of those of the plain method; usd: of `ITEMS` items at the list price.
    Missing where no tokens were counted, or there is no price.
    """
    own = of_headlines(found[found["varies"] == "method"], named)
    asked, costs = protocol(responses), {}
    for model, a, b in own[_PAIR].drop_duplicates().itertuples(index=False):
        told = asked[asked["model"] == model]
        both = told.loc[told["method"] == a, _ITEM].merge(told.loc[told["method"] == b, _ITEM])
        cost, plain = (_by_item(told.merge(both), methods, one) for one in (a, b))
        tokens, base = cost[_TOKENS].sum(), plain[_TOKENS].sum()
        cost["factor"] = tokens / base if base else float("nan")
        if price := prices.get(model):
            cost["usd"] = ITEMS * price.usd(*cost[_TOKENS])
        costs[model, a, b] = cost
    index = pd.MultiIndex.from_tuples(costs, names=_PAIR)
    told = pd.DataFrame([*costs.values()], index, dtype=float)
    return own.join(told.reindex(columns=["requests", *_TOKENS, "factor", "usd"]), on=_PAIR)


def _by_item(asked: pd.DataFrame, methods: Mapping[str, Any], method: str) -> pd.Series:
    """What an item takes by a method, with its first call where it has one."""
    n = asked["method"].eq(method).sum()
    calls = asked[asked["method"].isin([method, getattr(methods.get(method), "first", None)])]
    return pd.Series({"requests": len(calls), **calls[_TOKENS].sum()}) / n


def table(gained: pd.DataFrame) -> pd.DataFrame:
    """The rows of `gains` as they are printed."""
    rows = [
        {
            "headline": row.name,
            "model": row.same,
            "method − plain": f"{row.a} − {row.b}",
            "gain": cell(row.difference, row.ci_low, row.ci_high),
            "n/groups": f"{row.n}/{row.n_groups}",
            "requests": _number(row.requests, 1),
            "prompt tokens": _number(row.prompt_tokens, 0),
            "answer tokens": _number(row.completion_tokens, 0),
            "tokens ×": _number(row.factor, 1),
            f"US$/{ITEMS:,}": _number(row.usd, 2),
        }
        for row in gained.itertuples(index=False)
    ]
    return pd.DataFrame(rows)


def _number(value: float, digits: int) -> str:
    return ABSENT if pd.isna(value) else f"{value:,.{digits}f}"
