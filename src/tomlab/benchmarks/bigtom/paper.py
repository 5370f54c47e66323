"""BigToM's paper: where its numbers are printed, in which unit, and how methods are named."""

import numpy as np
import pandas as pd

from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording
from tomlab.reporting import numbers
from tomlab.scoring.stats import cluster_statistic, interval_of_sums

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("bigtom", "BigToM", "Gandhi et al., 2023", _DATA["tables"])

WORDING = Wording("BigToM", _DATA["methods"], groups="templates")

# The numbers that `dvc metrics` shows for each method, as (metric, condition): the share of
# templates with both versions right.
_ASKED = ("forward_belief", "forward_action", "backward_belief")
HEADLINES = {kind.replace("_", "-"): ("tb_and_fb", f"{kind}/tb_and_fb/1") for kind in _ASKED}

# Metrics that are compared in pairs besides the headlines, and the methods that all others are
# compared with.
SET_LEVEL = ("tb_and_fb",)
REFERENCES = ("0-shot",)


def people() -> pd.DataFrame:
    """People's shares of right answers in Figure 3, in the columns of a published table. There is a
    row for each question and version (`tb_and_fb`: right in both versions) and each kind of
    interval, which `over` names.

    over "people": the interval that the authors' notebook draws by resampling the people; missing
    if it draws none. over "templates": our interval, from the same answers, over the templates
    that people were asked about, of which there are only four.
    """
    by_template = PUBLICATION.read("people_counts").query("in_figure3 == 1")
    over_people = numbers.published(PUBLICATION, "release_human", "accuracy")
    over_people = over_people.assign(over="people", n=by_template["people"].max())
    columns = ["variable", "contingency", "initial_belief"]
    rows = []
    for question, answers in by_template.groupby(columns, sort=False):
        right_of_people = answers[["right", "people"]].set_axis(["sum", "count"], axis=1)
        interval = interval_of_sums(right_of_people, n=answers["people"].sum())
        rows.append(dict(zip(columns, question, strict=True)) | vars(interval))
    over_templates = pd.DataFrame(rows).assign(
        over="templates",
        source=numbers.PAPER,
        mark="",
        reason="",
        printed_in=PUBLICATION.source("people_counts"),
    )
    return pd.concat([over_people, over_templates], ignore_index=True)


def people_items() -> pd.DataFrame:
    """The items that the preprint's people rated: a row for each item and measure, with the number
    of `people`, and the `mean` and `sd` of their ratings. template: the row of the released file
    that a BigToM item comes from; other items, which have none, are their own template.
    """
    items = PUBLICATION.read("people_items")
    has_template = items["row"].notna()
    return items.assign(template=items["row"].astype(str).where(has_template, items["item"]))


def reliability(rated: pd.DataFrame) -> pd.DataFrame:
    """How well people's ratings tell items apart, as intraclass correlations: a row for one rating
    and one for an item's mean (ICC(1,1) and ICC(1,k) of Shrout and Fleiss 1979), and one for the
    root of the latter, which is the highest correlation with the means to expect of a judge.

    rated: a row for each item, with how many `people` rated it, the `mean` and `sd` of their
    ratings, and `template`, which intervals cluster on. Columns: `of` ("one rating", "mean
    rating" or "best judge"), value, ci_low, ci_high, n (items), n_groups.
    """
    people = rated["people"]
    sums = pd.DataFrame(
        {
            "items": 1,
            "people": people,
            "total": people * rated["mean"],
            "between": people * rated["mean"] ** 2,
            "within": (people - 1) * rated["sd"] ** 2,
        }
    )
    sums = sums.groupby(rated["template"]).sum()
    interval = cluster_statistic(sums, _f_ratio, n=len(rated), bounds=(0, np.inf))
    f_ratio = pd.Series(vars(interval))[["value", "ci_low", "ci_high"]].astype(float)
    # The number of people of an item, less than the mean number if items differ in it.
    people_per_item = (people.sum() - (people**2).sum() / people.sum()) / (len(rated) - 1)
    of_mean = 1 - 1 / f_ratio
    correlations = {
        "one rating": (f_ratio - 1) / (f_ratio + people_per_item - 1),
        "mean rating": of_mean,
        "best judge": of_mean.clip(lower=0) ** 0.5,
    }
    table = pd.DataFrame.from_dict(correlations, orient="index").rename_axis("of").reset_index()
    return table.assign(n=interval.n, n_groups=interval.n_groups)


def _f_ratio(sums: np.ndarray) -> np.ndarray:
    """The mean square between items over that within, from sums by template (last axis: items,
    people, total, between and within, as `reliability` makes them).
    """
    items, people, total, between, within = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore"):
        mean_square_between = (between - total**2 / people) / (items - 1)
    return mean_square_between / (within / (people - items))
