"""Verdicts on single items of a released benchmark, as others published them for their models.

`data/published/<benchmark>/verdicts_*.csv` has a row for each answer. The YAML file of the same
name is its card: it says who published the verdicts, and how each series (answers to one protocol)
differs from the paper's protocol. Answers to different protocols are never pooled.
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

VERDICTS = ("correct", "wrong", "unreadable")  # the last two count as 0
BOTH = "both"  # stands in place of a condition for "right in all conditions of an item"
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
    models: dict[str, str]  # from each model's name in the file to its readable name


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
    condition: Text  # the column that tells the versions of an item apart
    caution: Text
    series: dict[str, Series]


def read(table: str, folder: Path = PUBLISHED) -> tuple[Card, dict[str, pd.DataFrame]]:
    """Read a file of verdicts, such as "bigtom/verdicts_forward_belief". Returns its card, and a
    table for each series, with the card's names of models and `right`, 1 or 0. Errors: `InputError`
    if the file is missing, or with every field of the card, or every row and field, at fault.
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
    """Whether the models were shown options. If so, the place of an option may have decided the
    answer, because none of the series that we have was asked with swapped options.
    """
    return series.deviations.options != "none shown"


def by_item(rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """`right` by model and item (index `model, row`), with a column for each condition and `both`,
    which is 1 if all conditions are right and missing if one is missing.
    """
    wide = rows.pivot(index=["model", "row"], columns=condition, values="right")
    return wide.assign(**{BOTH: wide.min(axis=1, skipna=False)})


def shares(rows: pd.DataFrame, condition: str) -> pd.DataFrame:
    """The share right by model and condition, `both` included, with intervals over items."""
    long = by_item(rows, condition).stack().dropna().rename("right").reset_index()
    return stats.shares(long, ["model", condition], "right", "row")


def compare_conditions(rows: pd.DataFrame, condition: str, a: str, b: str) -> pd.DataFrame:
    """What `compare` returns for conditions `a` and `b`, one row a model, and `p_holm`: `p` with
    Holm's correction over all models of `rows`, which should be the rows of one series.
    """
    comparisons = []
    for model, right in by_item(rows, condition).groupby(level="model", sort=False):
        comparisons.append({"model": model} | compare(right[a], right[b]))
    return with_holm(comparisons)


def compare(a: pd.Series, b: pd.Series) -> dict:
    """Compares `a` and `b`, each 1 or 0 by item, on the items that both have: the mean of a - b
    with its interval over items, the numbers of items that only a (`only_a`) or only b (`only_b`)
    gets right, and `p`, the p-value of McNemar's exact test.
    """
    pairs = pd.concat([a, b], axis=1, keys=["a", "b"]).dropna()
    difference = pairs["a"] - pairs["b"]
    interval = cluster_interval(difference, difference.index.to_series(), bounds=DIFFERENCE)
    only_a = int((difference > 0).sum())
    only_b = int((difference < 0).sum())
    p = float(mcnemar_p(only_a, only_b))
    return {**vars(interval), "only_a": only_a, "only_b": only_b, "p": p}


def mcnemar_p(only_a, only_b):
    """The two-sided p-value of McNemar's exact test, from the numbers of items that only a and only
    b gets right; both may be arrays.
    """
    smaller = np.minimum(only_a, only_b)
    p = 2 * binom.cdf(smaller, np.add(only_a, only_b), 0.5)
    return np.minimum(1, p)


def with_holm(comparisons: Iterable[dict]) -> pd.DataFrame:
    """A table with a row for each comparison, and `p_holm`: `p` with Holm's correction over all."""
    table = pd.DataFrame(comparisons)
    return table.assign(p_holm=holm(table["p"]))
