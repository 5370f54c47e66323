"""People's ratings of items as in BigToM's Experiment 1 (Sec. 3.4, App. B.1, Tables 3 and 4).

What is compared are contrasts between sources of items. `contrasts` fits a mixed model to single
ratings; `contrasts_of_totals` takes differences of means where only totals are known, and then no
interval can be had.
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa
import statsmodels.formula.api as smf
from scipy.special import stdtrit

from tomlab.records import files
from tomlab.scoring.participants import participant, passed, with_passed

_DATA = files.yaml_beside(__file__)
QUESTIONS: list[dict[str, str]] = _DATA["questions"]  # what people are asked, in our words
MEASURES = [question["measure"] for question in QUESTIONS]
SOURCES: list[str] = _DATA["sources"]
CONTRASTS: dict[str, list[str]] = _DATA["contrasts"]
AGGREGATE = "aggregate"  # the mean of the three measures, of one person for one item
OWN = SOURCES[0]
SCALE = range(1, 6)
LEAST_ITEMS = 2  # of each source: with one item, nobody knows how items of a source differ
TOO_FEW = f"it needs {LEAST_ITEMS} items or more of each of two sources, and two participants"
COLUMNS = ["measure", "contrast", "value", "ci_low", "ci_high", "n", "participants", "items"]


def contrasts(ratings: pd.DataFrame) -> pd.DataFrame:
    """The contrasts of Table 3 for each measure: `COLUMNS`, and `reason` where there is no value.

    ratings: of `with_aggregate`. Each measure has a linear mixed model of its own, fitted by REML:
    a mean for each source, and random intercepts of participants and items, which are crossed. The
    paper fits the Bayesian model of the same form and prints credible intervals. Ours are of
    Student's t with one degree of freedom less for each source than there are items, because the
    sources differ between items.
    """
    rows = []
    for measure in [*MEASURES, AGGREGATE]:
        rated = ratings[ratings["measure"] == measure]
        rows += _contrasts_of_measure(measure, rated)
    return pd.DataFrame(rows, columns=[*COLUMNS, "reason"])


def _contrasts_of_measure(measure: str, rated: pd.DataFrame) -> list[dict]:
    items = rated.groupby("source")["item_id"].nunique()
    sources = [name for name in SOURCES if items.get(name, 0) >= LEAST_ITEMS]
    rated = rated[rated["source"].isin(sources)]
    row = {
        "measure": measure,
        "n": len(rated),
        "participants": rated["participant"].nunique(),
        "items": rated["item_id"].nunique(),
    }
    reason = ""
    if len(sources) < 2 or row["participants"] < 2:
        reason = TOO_FEW
    elif rated["rating"].nunique() == 1:
        reason = "all ratings are alike"
    if reason:
        return [row | {"contrast": name, "reason": reason} for name in CONTRASTS]
    means, covariance = mixed_model(rated, sources)
    reach = stdtrit(row["items"] - len(sources), 0.975)
    rows = []
    for name, (first, second) in CONTRASTS.items():
        if first not in sources or second not in sources:
            rows.append(row | {"contrast": name, "reason": TOO_FEW})
            continue
        value = means[first] - means[second]
        variance = covariance.at[first, first] + covariance.at[second, second]
        variance -= 2 * covariance.at[first, second]
        margin = reach * np.sqrt(variance)
        interval = {"ci_low": value - margin, "ci_high": value + margin}
        rows.append(row | {"contrast": name, "value": value, "reason": ""} | interval)
    return rows


def mixed_model(rated: pd.DataFrame, sources: list[str]) -> tuple[pd.Series, pd.DataFrame]:
    """The mean rating of each source and the covariance of these means, by a linear mixed model
    with crossed random intercepts of participants and items.

    rated: `participant, item_id, source, rating`, a row a rating.
    """
    data = rated.assign(source=pd.Categorical(rated["source"], sources), everything=1)
    # Crossed effects are variance components of one group that holds everything.
    crossed = {"participant": "0 + C(participant)", "item": "0 + C(item_id)"}
    model = smf.mixedlm("rating ~ 0 + source", data, groups="everything", vc_formula=crossed)
    with warnings.catch_warnings():
        # A variance of about 0 is at the end of its range: of that statsmodels warns.
        warnings.simplefilter("ignore")
        fit = model.fit(reml=True)
    names = fit.fe_params.index
    covariance = fit.cov_params().loc[names, names]
    return fit.fe_params.set_axis(sources), covariance.set_axis(sources).set_axis(sources, axis=1)


def with_aggregate(ratings: pd.DataFrame) -> pd.DataFrame:
    """The ratings, and below them each person's mean of the three measures for each item that they
    rated on all three, as the measure "aggregate".
    """
    keys = ["participant", "item_id", "source", "data_source"]
    grouped = ratings.groupby(keys, as_index=False)["rating"]
    means = grouped.mean()[grouped.size()["size"] == len(MEASURES)]
    return pd.concat([ratings, means.assign(measure=AGGREGATE)], ignore_index=True)


def by_data_source(ratings: pd.DataFrame) -> pd.DataFrame:
    """Table 4, of aggregate ratings by where experts' items are from: the mean and the standard
    deviation, `data_source, value, standard_deviation, n, items`. ratings: of `with_aggregate`.
    """
    rated = ratings[(ratings["measure"] == AGGREGATE) & (ratings["source"] == "Expert")]
    grouped = rated.groupby("data_source")
    table = grouped["rating"].agg(value="mean", standard_deviation="std", n="size")
    return table.assign(items=grouped["item_id"].nunique()).reset_index()


def contrasts_of_totals(totals: pd.DataFrame) -> pd.DataFrame:
    """The same contrasts where only totals are known: `measure, contrast, value`, differences of
    the means of all ratings. There are no intervals: these need single ratings.

    totals: `source, measure, ratings, total`, of which several rows may be of one source.
    """
    means = means_of_totals(totals, "source").pivot(index="measure", columns="source")["value"]
    rows = []
    for measure in [*MEASURES, AGGREGATE]:
        for name, (first, second) in CONTRASTS.items():
            value = means.at[measure, first] - means.at[measure, second]
            rows.append({"measure": measure, "contrast": name, "value": value})
    return pd.DataFrame(rows)


def means_of_totals(totals: pd.DataFrame, by: str) -> pd.DataFrame:
    """The mean rating by a column and measure, and the mean of the three measures as "aggregate":
    `<by>, measure, value, items`. Whoever rated an item did so on all three.
    """
    sums = totals.groupby([by, "measure"], as_index=False)[["ratings", "total", "items"]].sum()
    means = sums.assign(value=sums["total"] / sums["ratings"])[[by, "measure", "value", "items"]]
    aggregate = means.groupby(by, as_index=False).agg(
        value=("value", "mean"), items=("items", "max")
    )
    return pd.concat([means, aggregate.assign(measure=AGGREGATE)], ignore_index=True)


def read(path: Path | str, rated_items: Path | str, own_ids: set[str]) -> pd.DataFrame:
    """People's ratings: `participant, item_id, measure, rating, passed, source, data_source`.

    path: the form of ratings; rated_items: the form that says where items are from that are not of
    this run; own_ids: the items of this run, which are BigToM's whatever that form says. Errors:
    `InputError` that names every row and field at fault.
    """
    other_items = files.read_form(rated_items, items_form())
    other_items = other_items[~other_items["item_id"].isin(own_ids)]
    ratings = files.read_form(path, ratings_form(own_ids | {*other_items["item_id"]}))
    ratings = with_passed(ratings).reset_index(drop=True)
    measures = {question["question"]: question["measure"] for question in QUESTIONS}
    ratings["measure"] = ratings["question"].map(measures)
    ratings = ratings.drop(columns="question").astype({"rating": float})
    ratings = ratings.merge(other_items, how="left", on="item_id")
    return ratings.fillna({"source": OWN, "data_source": ""})


def ratings_form(item_ids: set[str] | None = None) -> pa.DataFrameSchema:
    """The schema of the ratings. item_ids: of the items that may stand in it; any without."""
    return pa.DataFrameSchema(
        {
            "participant": participant(),
            "item_id": files.known(item_ids, "rated item"),
            "question": files.one_of([question["question"] for question in QUESTIONS]),
            "rating": files.one_of(SCALE),
            "passed": passed(),
        },
        strict="filter",
        unique=["participant", "item_id", "question"],
    )


def items_form() -> pa.DataFrameSchema:
    """The schema of the file that says where rated items are from which are not of this run."""
    return pa.DataFrameSchema(
        {
            "item_id": files.text(),
            "source": files.one_of(SOURCES),
            "data_source": files.text(".*"),
        },
        strict="filter",
        unique=["item_id"],
    )
