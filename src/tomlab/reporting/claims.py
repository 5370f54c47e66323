"""What the claims of papers (`records.claims`) compare, and the differences of these numbers."""

from collections.abc import Collection
from math import hypot, isnan
from typing import Any

import pandas as pd

from tomlab.errors import InputError
from tomlab.records.claims import PEOPLE, Address, Registry, Test, address
from tomlab.records.published import Paper
from tomlab.reporting.numbers import BASELINES, NAN, published
from tomlab.scoring import paired
from tomlab.scoring.series import Found, Series
from tomlab.scoring.stats import Interval, clopper_pearson


def compared(test: Test, there: Collection[Address]) -> dict[tuple[Address, Any], str]:
    """The pairs that a test compares among the addresses that are there, and their names."""
    found = {}
    models = [model for model, *_ in there if model not in (PEOPLE, *BASELINES)]
    for model in test.models or dict.fromkeys(models):
        for name, a, b in test.sides(model):
            if a in there and a != b and (isinstance(b, float) or b in there):
                whose = " and ".join(dict.fromkeys([a[0], a[0] if isinstance(b, float) else b[0]]))
                found[a, b] = f"{whose}, {name}" if name else whose
    return found


def of_paper(registry: Registry, paper: Paper) -> dict[Address, dict]:
    """The published numbers that the registry gives an address; the first of an address counts."""
    cells: dict[Address, dict] = {}
    for entry in registry.printed:
        try:
            rows = published(paper, entry.table, entry.value).query(entry.where)
            for row in rows.replace(registry.names).to_dict("records"):
                at = address(entry.at, row.get("model", ""), row)
                told = {"ci_low": NAN, "ci_high": NAN, **row, "value": row["value"], "n": entry.n}
                cells.setdefault(at, told)
        except (KeyError, ValueError, pd.errors.UndefinedVariableError) as error:
            raise InputError(f"{paper.folder}/claims.yaml: {entry.table}: {error}") from None
    return cells


def printed(a: dict, b: dict | float, by: float) -> dict:
    """a - b of two published numbers, and the p of a difference `by` so much, as in `paired`.

    Papers do not say how answers pair, so that two shares are of two samples: their intervals, or
    those printed, are added by squares. Where one has none, neither has the difference.
    """
    b = b if isinstance(b, dict) else {"value": b, "ci_low": b, "ci_high": b, "n": None}
    value = round(a["value"] - b["value"], 9)

    def interval(confidence: float) -> Interval:
        reach = []
        for side in (a, b):
            ends = side["ci_low"], side["ci_high"]
            if side["n"]:
                ends = clopper_pearson(side["value"] * side["n"], side["n"], confidence)
            reach.append((side["value"] - ends[0], ends[1] - side["value"]))
        (down, up), (other_down, other_up) = reach
        ends = value - hypot(down, other_up), value + hypot(up, other_down)
        return Interval(value, *ends, "", 0, 0)

    found, n = interval(1 - paired.LEVEL), [side["n"] for side in (a, b) if side["n"]]
    n = NAN if isnan(found.ci_low) else min(n, default=NAN)
    # A printed interval is of one confidence and has no p.
    p = paired.p_of_interval(interval, by) if a["n"] else NAN
    return {"difference": value, "ci_low": found.ci_low, "ci_high": found.ci_high, "p": p, "n": n}


def answered(a: Found, b: Found | float, by: float, groups: str) -> dict | None:
    """`paired.difference`; b may be a number. Sides without a common answer pair by `groups`."""
    if isinstance(b, float):
        if not isinstance(a, Series):
            return None
        b = a._replace(values=pd.Series(b, a.values.index))
    by_group = [
        one._replace(values=one.values.set_axis(one.groups.to_numpy()))
        if isinstance(one, Series)
        else one._replace(rows=one.rows.set_axis(one.rows[groups].to_numpy()))
        for one in (a, b)
    ]
    return paired.difference(a, b, by) or paired.difference(*by_group, by)
