"""Show what became of each answer: the shares of six outcomes by model and method."""

from collections.abc import Sequence

import pandas as pd

from tomlab.records.published import Wording
from tomlab.records.tidy import OUTCOMES, SCORED
from tomlab.reporting import draw
from tomlab.reporting.numbers import BASELINES
from tomlab.reporting.tables import name


def chart(metrics: pd.DataFrame, wording: Wording, models: Sequence[str] = ()) -> pd.DataFrame:
    """Draw each outcome's share as stacked bars, a panel for each model; returns the rows drawn.
    models: those shown, by default all. Baselines are left out if there is any other model.
    """
    rates = metrics[metrics["metric"] == "outcome_rate"]
    models = list(models or rates["model"].unique())
    real_models = [model for model in models if model not in BASELINES]
    rates = rates[rates["model"].isin(real_models or models)]
    right = wording.outcomes.get("correct", "right")
    rates = rates.assign(
        outcome=rates["condition"].map(lambda o: right if o == "correct" else name(o, "outcome")),
        method=rates["method"].map(lambda method: name(method, "method", wording)),
        model=rates["model"].map(lambda model: name(model, "model")),
    )
    palette = {right if part == "right" else part: hue for part, hue in draw.OUTCOMES.items()}
    panels = draw.grid(rates, rates["method"].nunique(), row="model")
    panels.map_dataframe(draw.stacked, rows="method", part="outcome", palette=palette)
    panels.set_titles("{row_name}").set_xlabels(f"Share of {wording.unit}s")
    draw.legend(panels, palette, bars=True)
    return rates


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """A table of counts by outcome with readable heads. Outcomes that never occur are left out,
    except right and wrong.
    """
    table = table.reindex(columns=[*OUTCOMES, SCORED], fill_value=0).astype(int)
    shown = table.columns.isin(OUTCOMES[:2]) | table.any()
    heads = {outcome: name(outcome, "outcome").capitalize() for outcome in table}
    return table.loc[:, shown].rename(columns=heads).rename_axis(columns=None)
