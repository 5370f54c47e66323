"""BigToM's tables of what is asked: Tables 3 and 4 (people's ratings) and 12 (diversity).

Each public `table…` is one table, as in `tables`. The ratings are the paper's alone: nobody was
asked its questions of this run's items. Source: Gandhi et al. (2023), Sec. 3.4, App. B.1 and G.
"""

import pandas as pd

from tomlab.benchmarks.bigtom.paper import PUBLICATION
from tomlab.papers.bigtom.tables import WORDS, three_decimals
from tomlab.reporting import beside, plotting, printed
from tomlab.reporting.printed import RUN

MEASURES = WORDS["measures"]
CONTRASTS = plotting.described(WORDS["contrasts"])
DIMENSIONS = WORDS["dimensions"]
RATED = {"aggregate": "Aggregate", "standard_deviation": "Standard deviation"}


def table3() -> printed.Table:
    """Table 3: do people rate the items higher than others' items? Contrasts by measure."""
    cells, heads = contrasts(), {name: look.label for name, look in CONTRASTS.items()}
    labels = {"name": "Dependent measure"}
    shown = beside.layout(cells, labels, heads, across="contrast", paper=three_decimals)
    notes = [rating_sentence("table3_rating_contrasts"), WORDS["unrated"], *failing(cells)]
    return printed.Table("table3", cells, shown, WORDS["table3"], notes)


def table4() -> printed.Table:
    """Table 4: how people rated the expert items, by where these are from."""
    rows = beside.of_paper(PUBLICATION, "table4_expert_sources")
    items = _counts()["count"]
    n = rows["data_source"].map(lambda source: items.get(f"items of {source}"))
    cells = beside.stack(["data_source", "metric", *printed.TIDY_COLUMNS], rows.assign(n=n))
    labels = {"data_source": "Data source"}
    shown = beside.layout(cells, labels, RATED, across="metric", paper=three_decimals, n="Items")
    unknown = ", ".join(cells.loc[cells["n"].isna(), "data_source"].unique())
    of_expert = _counts().loc["items of Expert"]
    about = WORDS["sources"].format(
        unknown=unknown, total=of_expert["count"], place=of_expert["place"]
    )
    notes = [rating_sentence("table4_expert_sources"), about, WORDS["unrated"]]
    return printed.Table("table4", cells, shown, WORDS["table4"], notes)


def table12(diversity: pd.DataFrame) -> printed.Table:
    """Table 12: how many kinds of states, mechanisms and mediums are there?

    `diversity`: of this run's templates, as `items.filtering.diversity` has it: source, dimension,
    distinct, templates, unlabelled, labelled_by. InputError: a column that is missing, a dimension
    that is unknown or there twice.
    """
    needed = ["source", "dimension", "distinct", "templates", "unlabelled", "labelled_by"]
    beside.demand_columns(diversity, needed, "diversity")
    beside.demand_known(diversity, {"source": None, "dimension": list(DIMENSIONS)}, "diversity")
    paper = beside.of_paper(PUBLICATION, "table12_diversity", "count")
    names = {printed_as: name for name, (printed_as, _) in DIMENSIONS.items()}
    counts = PUBLICATION.read("dataset_counts").set_index(["dataset", "unit"])
    of_all = counts.loc["BigToM-gpt4", "templates"]
    paper = paper.assign(templates_of="BigToM-gpt4", dimension=paper["dimension"].map(names))
    n = diversity["templates"] - diversity["unlabelled"]
    # Where nobody gave a label, no number of kinds is known.
    run = diversity.assign(value=diversity["distinct"].where(n > 0), n=n, source=RUN, mark="")
    run["templates_of"] = diversity["source"]
    keys = ["templates_of", "dimension", "labelled_by", *printed.TIDY_COLUMNS]
    cells = beside.stack(keys, paper.assign(n=of_all["count"]), run)
    heads = {name: head for name, (_, head) in DIMENSIONS.items()}
    forms = dict.fromkeys(heads, "{:.0f}".format)
    labels = {"templates_of": "Templates of"}
    shown = beside.layout(cells, labels, heads, across="dimension", forms=forms, n="n")
    source = PUBLICATION.source("table12_diversity")
    known = {"source": source, "n": of_all["count"], "place": of_all["place"]}
    notes = [WORDS["table12_paper"].format(**known)]
    for templates, own in run.groupby("templates_of", sort=False):
        by = zip(own["dimension"], own["labelled_by"], strict=True)
        who = f"{templates}: " + ", ".join(f"{name} by {who}" for name, who in by)
        notes.append(WORDS["table12_run"].format(who=who))
    return printed.Table("table12", cells, shown, WORDS["table12"], notes)


# ---- the numbers and sentences that the figure shares --------------------------------------------


def contrasts() -> pd.DataFrame:
    """Table 3 as printed in the final version: measure, its name, contrast, value, interval."""
    rows = beside.of_paper(PUBLICATION, "table3_rating_contrasts", "estimate")
    rows = rows[rows["version"] == "final"]
    rows = rows.assign(name=rows["measure"].map(MEASURES), n=_counts()["count"]["participants"])
    return beside.stack(["measure", "name", "contrast", *printed.TIDY_COLUMNS, "reason"], rows)


def rating_sentence(table: str, words: str = "rated") -> str:
    """Where ratings are from, and of how many people."""
    counts, source = _counts(), PUBLICATION.source(table)
    told = {"participants": counts["count"]["participants"], "source": source}
    told |= {"each": counts["count"]["ratings an item"], "place": counts["place"]["participants"]}
    return WORDS[words].format(**told)


def aggregates() -> str:
    """The contrasts of the mean of all measures, as printed."""
    rows = contrasts().query("measure == 'aggregate'")
    numbers = [
        f"{CONTRASTS[row.contrast].label} "
        f"{printed.cell(row.value, row.ci_low, row.ci_high, row.mark, printed.signed)}"
        for row in rows.itertuples()
    ]
    source = PUBLICATION.source("table3_rating_contrasts")
    return f"{MEASURES['aggregate']}: {'; '.join(numbers)} ({source})."


def failing(cells: pd.DataFrame) -> list[str]:
    """One sentence a reason why published contrasts are marked, and which they are."""
    return beside.failing(cells, lambda rows: rows["name"] + ", " + rows["contrast"])


def _counts() -> pd.DataFrame:
    """What was rated in the paper's Experiment 1, by unit: count and the place that says so."""
    counts = PUBLICATION.read("dataset_counts").query("dataset == 'Experiment 1'")
    return counts.set_index("unit")
