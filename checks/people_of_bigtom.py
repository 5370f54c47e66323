"""The numbers of BigToM's people, printed beside those recomputed from what their authors released.

    python checks/people_of_bigtom.py [FOLDER]

FOLDER has `people_counts.csv` (how many people were right, by template and question) and
`people_ratings.csv` (items as people rated them: number of people, mean, standard deviation); without
it the totals of `data/published/bigtom` are taken. These are the people of the preprint. There are
no intervals, as they need the answers of single people. Ends with 1 if a number is .01 or more apart.
"""

import sys
from pathlib import Path

import pandas as pd

from tomlab.benchmarks.bigtom import ratings
from tomlab.benchmarks.bigtom.paper import PUBLICATION

APART = 0.01
# How the file of ratings names sources of items and measures, and how the paper's tables do.
SOURCES = {
    "bigtom": ("BigToM", ""),
    "social_iqa": ("socialIQa", ""),
    "dodell": ("Expert", "Dodell-Feder"),
    "kosinski": ("Expert", "Kosinski"),
    "ullman": ("Expert", "Ullman"),
}
MEASURES = {"coherent_q_a": "coherent_question_answer"}


def totals_of(rated: pd.DataFrame) -> pd.DataFrame:
    """The rated items, a row an item and measure, as totals by source and measure."""
    rated = rated.replace({"measure": MEASURES})
    rated = rated.assign(total=(rated["people"] * rated["mean"]).round().astype(int))
    rows = []
    for name, (source, data_source) in SOURCES.items():
        of_source = rated[rated["source"] == name]
        for measure in ratings.MEASURES:
            part = of_source[of_source["measure"] == measure]
            row = {"source": source, "data_source": data_source, "measure": measure}
            row |= {"items": part["item"].nunique(), "ratings": part["people"].sum()}
            rows.append(row | {"total": part["total"].sum(), "mean_of_items": part["mean"].mean()})
    return pd.DataFrame(rows).round({"mean_of_items": 4})


def contrasts_of_totals(totals: pd.DataFrame) -> pd.DataFrame:
    """The contrasts of Table 3 from totals alone: `measure, contrast, value`, where a value is the
    difference of two sources' mean ratings. Intervals would need single ratings.

    totals: `source, measure, ratings` (how many), `total` (their sum), `items`. A source may have
    several rows of one measure, which are added up.
    """
    means = means_of_totals(totals, "source").pivot(index="measure", columns="source")["value"]
    rows = []
    for measure in [*ratings.MEASURES, ratings.AGGREGATE]:
        for name, (first, second) in ratings.CONTRASTS.items():
            value = means.at[measure, first] - means.at[measure, second]
            rows.append({"measure": measure, "contrast": name, "value": value})
    return pd.DataFrame(rows)


def means_of_totals(totals: pd.DataFrame, by: str) -> pd.DataFrame:
    """The mean rating for each measure and value of the column `by`, and the mean of the three
    measures as the measure "aggregate": `<by>, measure, value, items`. This takes every rated item
    to have been rated on all three measures. totals: as in `contrasts_of_totals`.
    """
    sums = totals.groupby([by, "measure"], as_index=False)[["ratings", "total", "items"]].sum()
    means = sums.assign(value=sums["total"] / sums["ratings"])[[by, "measure", "value", "items"]]
    aggregate = means.groupby(by, as_index=False).agg(
        value=("value", "mean"), items=("items", "max")
    )
    return pd.concat([means, aggregate.assign(measure=ratings.AGGREGATE)], ignore_index=True)


def contrasts(totals: pd.DataFrame) -> pd.DataFrame:
    """The aggregate contrasts of the preprint: `name, printed, recomputed`."""
    printed = PUBLICATION.read("table3_rating_contrasts").query("version == 'preprint'")
    recomputed = contrasts_of_totals(totals).query("measure == 'aggregate'")
    table = printed.merge(recomputed, on=["measure", "contrast"])
    return _beside(table["contrast"], table["estimate"], table["value"])


def expert_sources(totals: pd.DataFrame) -> pd.DataFrame:
    """The means of Table 4."""
    printed = PUBLICATION.read("table4_expert_sources").query("metric == 'aggregate'")
    recomputed = means_of_totals(totals, "data_source").query("measure == 'aggregate'")
    table = printed.merge(recomputed, on="data_source", suffixes=("", "_recomputed"))
    return _beside(table["data_source"], table["value"], table["value_recomputed"])


def figure3(counts: pd.DataFrame) -> pd.DataFrame:
    """People's shares right in Figure 3, printed in the authors' notebook."""
    key = ["variable", "contingency", "initial_belief"]
    sums = counts.query("in_figure3 == 1").groupby(key, as_index=False)[["right", "people"]].sum()
    table = PUBLICATION.read("release_human").merge(sums, on=key)
    names = table["variable"] + ", " + table["contingency"]
    return _beside(names, table["accuracy"], table["right"] / table["people"])


def _beside(names: pd.Series, printed: pd.Series, recomputed: pd.Series) -> pd.DataFrame:
    table = pd.DataFrame({"name": names, "printed": printed, "recomputed": recomputed})
    return table.assign(apart=(table["recomputed"] - table["printed"]).abs())


def main(folder: str | None = None) -> int:
    """Prints each table; 1 if any number is apart."""
    if folder is None:
        counts, totals = (PUBLICATION.read(name) for name in ("people_counts", "people_ratings"))
    else:
        counts = pd.read_csv(Path(folder) / "people_counts.csv")
        totals = totals_of(pd.read_csv(Path(folder) / "people_ratings.csv"))
    tables = {
        "Aggregate contrasts of ratings (preprint, App. B.1)": contrasts(totals),
        "Table 4, mean ratings of experts' items": expert_sources(totals),
        "Figure 3, people's shares right": figure3(counts),
    }
    for title, table in tables.items():
        print(f"\n{title}\n{table.to_string(index=False, float_format='{:.4f}'.format)}")
    largest = max(table["apart"].max() for table in tables.values())
    print(f"\nLargest difference: {largest:.4f}")
    return int(largest >= APART)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
