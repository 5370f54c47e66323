"""What repeats of a question would bring (`scoring.repeats`), as a table."""

import pandas as pd

from tomlab.models.specs import ModelSpec, is_sampled
from tomlab.records.published import Wording
from tomlab.reporting import tables
from tomlab.reporting.numbers import GROUPS_FOR_A_FINDING, cell, number
from tomlab.scoring.repeats import PARTS, split

REPEATS = (1, 5, 20)  # the numbers of answers to a question whose intervals the table shows
_NONE = (
    "Not known here: every question has to be asked more than once (`run.samples`) at a "
    "`temperature` above 0 (in the model's entry), as at 0 an answer repeats itself."
)
_SAYS = (
    "± is the half-width of the mean's 95 % interval, had each question been asked K times. "
    "† marks a variance whose estimate was below 0."
)


def show(scores: pd.DataFrame, group: str, wording: Wording, model: ModelSpec) -> tables.Shown:
    """The table for the scores of one model, or why there is none."""
    if not is_sampled(model) or not scores["sample"].any():
        return tables.say(_NONE)
    return tables.show(table(scores, group, wording), wording, _SAYS)


def table(scores: pd.DataFrame, group: str, wording: Wording) -> pd.DataFrame:
    """A row a method: where the variance of a score lies, the share of repeats, half-widths of the
    interval, and the K that pays, after which one more repeat narrows it by less than 1 %.
    """
    rows = []
    order = {method: place for place, method in enumerate(wording.methods)}
    ordered = scores.sort_values("method", key=lambda methods: methods.map(order), kind="stable")
    for method, own in ordered.groupby("method", sort=False):
        one = split(own, group)
        row, share = {"method": method}, one.share
        for part in PARTS:
            row[f"between {part}"] = f"{getattr(one, part):.3f}{'†' * (part in one.below_0)}"
        is_few = share.n_groups < GROUPS_FOR_A_FINDING
        told = "too few groups" if is_few else cell(share.value, share.ci_low, share.ci_high)
        row["share of repeats"] = told
        row |= {f"± with K = {k}": number(one.half_width(k)) for k in REPEATS}
        row |= {"K that pays": one.pays(), "n": share.n, "n_groups": share.n_groups}
        rows.append(row)
    return pd.DataFrame(rows).astype({"K that pays": "Int64"})
