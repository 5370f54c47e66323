"""What became of each answer: six outcome shares by model and method."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tomlab.records.published import Wording
from tomlab.records.tidy import OUTCOMES, SCORED
from tomlab.reporting import beside, charts, draw, headings, plotting, printed, tables
from tomlab.reporting.numbers import BASELINES
from tomlab.reporting.plotting import Drawn, Look
from tomlab.reporting.printed import RUN, WORDS

LOOKS = plotting.described(WORDS["looks"]["outcomes"])


def outcomes(metrics: pd.DataFrame, wording: Wording) -> Drawn:
    """What became of each answer (no figure of a paper).

    One stacked bar a model and method: the shares of the six outcomes, and n. InputError: metrics
    without outcome rates of the benchmark.
    """
    benchmark = wording.name.lower()
    run = beside.of_run(metrics, benchmark)
    rates = run.query("metric == 'outcome_rate'")
    beside.demand_metric(rates, benchmark, "outcome_rate")
    asked = beside.known_first(wording.methods, rates["method"])
    methods = [wording.methods.get(method, method) for method in asked]
    looks = {
        name: replace(look, label=wording.outcomes.get(name, name)) for name, look in LOOKS.items()
    }
    named = rates.assign(method=rates["method"].replace(dict(wording.methods)))
    rows = named.assign(score=_scores(rates, run, wording))
    figure = _bars(rows, methods, looks, wording.groups, _title(rates))
    models, n = ", ".join(rates["model"].unique()), printed.span(rates["n"])
    caption = WORDS["outcomes"].format(wording=wording, models=models, n=n)
    notes = [WORDS["outcomes_note"].format(wording=wording)]
    notes += beside.grey(rates, wording.groups)
    notes += [note for method, note in wording.notes.items() if method in ("", *asked)]
    notes += printed.unscored(rates, wording.credit) if wording.tells_unscored else []
    return Drawn(figure, caption, notes, {}, rates.assign(source=RUN), outcomes)


def chart(metrics: pd.DataFrame, wording: Wording, models: Sequence[str] = ()) -> pd.DataFrame:
    """Draw what became of each answer as stacked bars, a panel a model, and return what is drawn.

    metrics: of one benchmark; models: those shown, all without any. Baselines are left out where a
    model is there, as nothing can become of their answers but right and wrong. The figure is
    matplotlib's current one: `draw.show(plt.gcf(), …)` or `draw.save(plt.gcf(), …)` follows.
    """
    rates = metrics[metrics["metric"] == "outcome_rate"]
    real = [m for m in models or rates["model"].unique() if m not in BASELINES]
    rates = rates[rates["model"].isin(real or models or rates["model"].unique())]
    known = {"correct": wording.outcomes.get("correct", "right")}
    rates = rates.assign(
        outcome=[known.get(o) or tables.name(o, "outcome") for o in rates["condition"]],
        method=[tables.name(method, "method", wording) for method in rates["method"]],
        model=[tables.name(model, "model") for model in rates["model"]],
    )
    palette = {known.get("correct") if k == "right" else k: c for k, c in draw.OUTCOMES.items()}
    panels = draw.grid(rates, rates["method"].nunique(), row="model")
    panels.map_dataframe(draw.stacked, rows="method", part="outcome", palette=palette)
    panels.set_titles("{row_name}").set_xlabels(f"Share of {wording.unit}s")
    draw.legend(panels, palette, bars=True)
    return rates


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers of answers by outcome, a column each, in words and in the order of the bars; an
    outcome that no answer has is left out, unless it is right or wrong.
    """
    order = [*OUTCOMES, SCORED]
    kept = [o for o in order if o in OUTCOMES[:2] or (o in table and table[o].any())]
    counted = table.reindex(columns=kept, fill_value=0).astype(int)
    heads = {outcome: tables.name(outcome, "outcome").capitalize() for outcome in kept}
    return counted.rename(columns=heads).rename_axis(columns=None)


def two_rules(rates: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """By method the share correct by this project's rule and by the released one, of as many groups
    as a finding takes.
    """
    enough = rates[rates["n_groups"] >= printed.GROUPS_FOR_A_FINDING]
    wide = enough.pivot(index="method", columns="metric", values="value")
    wide = wide.reindex(columns=["outcome_rate", "released_rule"])
    return wide["outcome_rate"], wide["released_rule"]


def _title(rates: pd.DataFrame) -> str:
    lost = rates.assign(value=rates["value"].where(rates["condition"].isin(OUTCOMES[2:]), 0.0))
    lost = lost.groupby(["model", "method"], sort=False).agg({"value": "sum", "n_groups": "first"})
    lost = lost.reset_index().assign(source=RUN, what="lost")
    return headings.headline(lost, "what", WORDS["outcomes_title"])


def _scores(rates: pd.DataFrame, run: pd.DataFrame, wording: Wording) -> list[str]:
    """What follows each row's n: the score of its model and method, if the wording names one."""
    scores = run[run["metric"].isin(wording.scores) & run["condition"].eq("all")]
    told = {
        (row.model, row.method): f", {wording.scores[row.metric]} {printed.share(row.value)}"
        for row in scores.itertuples()
    }
    return [told.get((row.model, row.method), "") for row in rates.itertuples()]


def _bars(
    rates: pd.DataFrame, methods: list[str], looks: dict[str, Look], groups: str, title: str
) -> Figure:
    """`rates` has model, method, condition (an outcome), value, n, n_groups and `score`, which may
    be ""; an outcome without a row is 0.
    """
    of_models = rates.groupby("model", sort=False)["method"]
    blocks = {model: beside.known_first(methods, own) for model, own in of_models}
    positions = plotting.row_positions(blocks)
    y = [positions[key] for key in zip(rates["model"], rates["method"], strict=True)]
    rates = rates.assign(y=y, panel="")
    shares = rates.pivot(index="y", columns="condition", values="value")
    shares = shares.reindex(columns=list(looks)).fillna(0)
    bars = rates.groupby("y")
    n = bars[["n", "n_groups"]].apply(printed.counts) + bars["score"].first()
    row_height = np.clip(8.6 / len(positions), 0.145, 0.22)  # inches: many rows move closer
    options = {"grey": charts.grey_bars(rates), "title": title}
    options |= {"row_height": row_height, "extra": 0.9}
    shown = {"": shares}, positions, looks, "Share of answers", {"": n}, groups
    return charts.bars(*shown, **options)
