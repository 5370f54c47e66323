"""People's ratings of items as in BigToM's Experiment 1 (Sec. 3.4, App. B.1, Tables 3 and 4).

Contrasts compare the ratings of items from two sources. `contrasts` fits a mixed model to single
ratings.
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
LEAST_ITEMS = 2  # of a source: one item does not show how its items differ
TOO_FEW = f"it needs {LEAST_ITEMS} items or more of each of two sources, and two participants"
COLUMNS = ["measure", "contrast", "value", "ci_low", "ci_high", "n", "participants", "items"]


def contrasts(ratings: pd.DataFrame) -> pd.DataFrame:
    """The contrasts of Table 3 for each measure: `COLUMNS` and `reason`, which says why a value is
    missing ("" if it is not).

    ratings: from `with_aggregate`. Each measure has its own linear mixed model, fitted by REML,
    with a mean for each source and crossed random intercepts of participants and items. The paper
    fits the Bayesian model of the same form and prints credible intervals. Ours are 95 % intervals
    by Student's t. Its degrees of freedom are the number of items less the number of sources,
    because each item has only one source.
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

    rated: `participant, item_id, source, rating`, one row per rating. Both results are indexed by
    source, in the order of `sources`.
    """
    data = rated.assign(source=pd.Categorical(rated["source"], sources), everything=1)
    # Crossed effects are variance components of one group that holds everything.
    crossed = {"participant": "0 + C(participant)", "item": "0 + C(item_id)"}
    model = smf.mixedlm("rating ~ 0 + source", data, groups="everything", vc_formula=crossed)
    with warnings.catch_warnings():
        # statsmodels warns of a variance of about 0, which is at the end of its range.
        warnings.simplefilter("ignore")
        fit = model.fit(reml=True)
    names = fit.fe_params.index
    covariance = fit.cov_params().loc[names, names]
    return fit.fe_params.set_axis(sources), covariance.set_axis(sources).set_axis(sources, axis=1)


def with_aggregate(ratings: pd.DataFrame) -> pd.DataFrame:
    """The ratings, followed by rows of the measure "aggregate": a person's mean of the three
    measures for an item, if the person rated it on all three.
    """
    keys = ["participant", "item_id", "source", "data_source"]
    grouped = ratings.groupby(keys, as_index=False)["rating"]
    means = grouped.mean()[grouped.size()["size"] == len(MEASURES)]
    return pd.concat([ratings, means.assign(measure=AGGREGATE)], ignore_index=True)


def by_data_source(ratings: pd.DataFrame) -> pd.DataFrame:
    """Table 4: mean and standard deviation of the aggregate ratings of experts' items, for each
    data source that the items come from: `data_source, value, standard_deviation, n` (ratings),
    `items`. ratings: from `with_aggregate`.
    """
    rated = ratings[(ratings["measure"] == AGGREGATE) & (ratings["source"] == "Expert")]
    grouped = rated.groupby("data_source")
    table = grouped["rating"].agg(value="mean", standard_deviation="std", n="size")
    return table.assign(items=grouped["item_id"].nunique()).reset_index()


def read(path: Path | str, rated_items: Path | str, own_ids: set[str]) -> pd.DataFrame:
    """People's ratings: `participant, item_id, measure, rating, passed, source, data_source`.

    path: the file of ratings. rated_items: the file that says which source the items come from that
    this run lacks. own_ids: the ids of this run's items, whose source is BigToM whatever that file
    says. Errors: `InputError` that names every row and field at fault.
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
    """The schema of a file of ratings. item_ids: the ids that it may contain; None allows any."""
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
    """The schema of the file that gives the sources of the rated items that this run lacks."""
    return pa.DataFrameSchema(
        {
            "item_id": files.text(),
            "source": files.one_of(SOURCES),
            "data_source": files.text(".*"),
        },
        strict="filter",
        unique=["item_id"],
    )
