"""Verdicts on single items of a released benchmark, as others published them for their models.

`data/published/<benchmark>/verdicts_*.csv` has a row an answer, the YAML file of the same name its
card: who published it, and how each series differs from the paper's protocol. Series are read apart
from each other, since answers to different protocols are never pooled.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pydantic import BaseModel, Field, ValidationError
from scipy.stats import binom

from tomlab import params
from tomlab.errors import InputError, refuse
from tomlab.paths import PUBLISHED
from tomlab.records import files
from tomlab.scoring import stats
from tomlab.scoring.paired import holm
from tomlab.scoring.stats import DIFFERENCE, cluster_interval

VERDICTS = ("correct", "wrong", "unreadable")  # the last two earn nothing
BOTH = "both"  # in the place of a condition: right in all conditions of an item
Text = Annotated[str, Field(min_length=1, strict=True)]


class Deviations(BaseModel, extra="forbid"):
    """How a series differs from the paper's protocol."""

    prompt: Text
    options: Text
    key_position: Text
    scoring: Text
    temperature: Text
    max_tokens: Text
    reasoning: Text
    missing: Text


class Series(BaseModel, extra="forbid"):
    title: Text
    deviations: Deviations
    models: dict[str, str]  # what each is called, by its name in the file


class Card(BaseModel, extra="forbid"):
    published_by: Text
    repository: Text
    files: Text
    commit: Text
    asked_on: Text
    licence: Text
    benchmark: Text
    cell: Text
    items: Text
    item: Text  # what a row is about
    condition: Text  # the column that tells its versions apart
    caution: Text
    series: dict[str, Series]


def read(table: str, folder: Path = PUBLISHED) -> tuple[Card, dict[str, pd.DataFrame]]:
    """A file of verdicts, such as "bigtom/verdicts_forward_belief": its card, and the rows of each
    series, with models by the card's names and `right`, 1 or 0. Errors: `InputError` with every
    field of the card, or every row and field, at fault.
    """
    path = Path(folder) / f"{table}.csv"
    if not path.is_file():
        raise InputError(f"{path} is missing: `make data` pulls it")
    card = _read_card(path.with_suffix(".yaml"))
    models = {name: series.models for name, series in card.series.items()}
    columns = {
        "scoring": files.one_of(models),
        "model": files.one_of_each("scoring", models),
        "row": files.text(r"\d+", "a whole number"),
        card.condition: files.text(),
        "verdict": files.one_of(VERDICTS),
    }
    form = pa.DataFrameSchema(columns, unique=["scoring", "model", "row", card.condition])
    rows = files.read_form(path, form).reset_index(drop=True).astype({"row": int})
    rows["right"] = rows["verdict"].eq("correct").astype(float)
    series = {}
    for name, names in models.items():
        series[name] = rows[rows["scoring"] == name].replace({"model": names})
    return card, series


def _read_card(path: Path) -> Card:
    try:
        return Card.model_validate(params.parsed(files.read_text(path), path))
    except ValidationError as error:
        complaints = [params.complaint(case) for case in error.errors(include_url=False)]
        refuse(complaints, str(path))
        raise


def shows_options(series: Series) -> bool:
    """Whether a model was shown options, whose place may have decided: none of the series that we
    have was asked with swapped options.
    """
    return series.deviations.options != "none shown"


def by_item(rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """`right` by model and item, a column a condition and `both`, which is missing where one is."""
    wide = rows.pivot(index=["model", "row"], columns=condition, values="right")
    return wide.assign(**{BOTH: wide.min(axis=1, skipna=False)})


def shares(rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The share right by model and condition, and of `both`, with intervals over items."""
    long = by_item(rows, condition).stack().dropna().rename("right").reset_index()
    return stats.shares(long, ["model", condition], "right", "row")


def compare_conditions(rows: pd.DataFrame, condition: str, a: str, b: str) -> pd.DataFrame:
    """`compare` of two conditions within each model, on the items that have both, and `p_holm`:
    Holm's correction over all models of `rows`, which should be those of one series.
    """
    comparisons = []
    for model, right in by_item(rows, condition).groupby(level="model", sort=False):
        comparisons.append({"model": model} | compare(right[a], right[b]))
    return with_holm(comparisons)


def compare(a: pd.Series, b: pd.Series) -> dict:
    """a - b on the items that both have, 1 or 0 each: the mean difference with its interval over
    items, how many items only one of them gets right, and the p of McNemar's exact test.
    """
    pairs = pd.concat([a, b], axis=1, keys=["a", "b"]).dropna()
    difference = pairs["a"] - pairs["b"]
    interval = cluster_interval(difference, difference.index.to_series(), bounds=DIFFERENCE)
    only_a = int((difference > 0).sum())
    only_b = int((difference < 0).sum())
    p = float(mcnemar_p(only_a, only_b))
    return {**vars(interval), "only_a": only_a, "only_b": only_b, "p": p}


def mcnemar_p(only_a, only_b):
    """The two-sided p of McNemar's exact test, from the items that only one side gets right."""
    smaller = np.minimum(only_a, only_b)
    p = 2 * binom.cdf(smaller, np.add(only_a, only_b), 0.5)
    return np.minimum(1, p)


def with_holm(comparisons: Iterable[dict]) -> pd.DataFrame:
    """A row a comparison, with `p_holm`: Holm's correction over all of them."""
    table = pd.DataFrame(comparisons)
    return table.assign(p_holm=holm(table["p"]))
