"""What became of each answer: six outcome shares by model and method, and their caption."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tomlab.errors import InputError
from tomlab.records.published import Wording
from tomlab.reporting import charts, plotting, printed
from tomlab.reporting.plotting import COLOURS, INK, Look

LOOKS = {
    "correct": Look("correct", COLOURS["blue"]),
    "wrong": Look("wrong", COLOURS["orange"]),
    "unparsed": Look("unparsed", "#d9d9d9", hatch="////"),
    "truncated": Look("truncated", COLOURS["rose"], hatch="...."),
    "refused": Look("refused", "#a6dbc9", hatch="\\\\\\\\"),
    "error": Look("error", INK),
}


def outcomes(metrics: pd.DataFrame, wording: Wording) -> tuple[Figure, str]:
    """What became of each answer (no figure of a paper), as a figure and its caption.

    One stacked bar a model and method: the shares of the six outcomes, and n. InputError: metrics
    without outcome rates of the benchmark.
    """
    benchmark = wording.name.lower()
    rates = printed.of_benchmark(metrics, benchmark).query("metric == 'outcome_rate'")
    if rates.empty:
        raise InputError(f"metrics: no rows of benchmark {benchmark!r} with metric 'outcome_rate'")
    found = dict.fromkeys(rates["method"])
    asked = [method for method in dict.fromkeys([*wording.methods, *found]) if method in found]
    methods = [wording.methods.get(method, method) for method in asked]
    models = list(rates["model"].unique())
    named = rates.assign(method=rates["method"].replace(dict(wording.methods)))
    figure = _bars(named, models, methods)
    unit = wording.unit
    caption = (
        f"{wording.name}: what became of each {unit} of {', '.join(models)}{wording.by} "
        f"({', '.join(methods)}), as shares of all n = {printed.span(rates['n'])} {unit}s of a "
        f"model and method. {wording.kinds} refused = declined to answer; error = the request "
        "failed."
    )
    notes = [note for method, note in wording.notes.items() if method in ("", *asked)]
    unscored = printed.unscored(rates) if wording.tells_unscored else []
    return figure, " ".join([caption, *notes, *unscored])


def _bars(rates: pd.DataFrame, models: list[str], methods: list[str]) -> Figure:
    """`rates` has model, method, condition (an outcome), value and n; one without a row is 0."""
    shares = rates.pivot(index=["model", "method"], columns="condition", values="value")
    shares = shares.reindex(columns=list(LOOKS)).fillna(0)
    blocks = {model: [m for m in methods if (model, m) in shares.index] for model in models}
    positions = plotting.row_positions(blocks)
    shares = shares.reindex([key for key in positions.index if key[1]])
    row_height = np.clip(9 / len(positions), 0.15, 0.22)  # inches: many rows move closer
    counts = rates.groupby(["model", "method"])["n"].max()[shares.index]
    n = pd.Series(counts.to_numpy(), positions[shares.index])
    shares = shares.set_axis(n.index)
    size = {"row_height": row_height, "extra": 0.9}
    return charts.bars({"": shares}, positions, LOOKS, "Share of answers", n={"": n}, **size)
