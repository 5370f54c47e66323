"""BigToM's filters and quality measures (Sec. 3.4, App. C, App. G, Table 12)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.bigtom.items.templates import LABELS, medium, structure_problems
from tomlab.records import files
from tomlab.scoring.embeddings import near_duplicates
from tomlab.scoring.kept import is_released, survives
from tomlab.scoring.stats import agreement, cluster_interval

# The two questions of Sec. 3.4 with their scales and the level of measurement.
RATING_SCALES = {
    "follows_structure": (range(2), "nominal"),
    "tests_behavior": (range(1, 6), "ordinal"),
}


def screen(templates: pd.DataFrame, vectors: np.ndarray, threshold: float) -> pd.DataFrame:
    """Every fault of every template: `template_id, source, filter, reason, dropped`.

    vectors: one a template, of its story. Released templates are reported and never dropped:
    without them it would be another benchmark.
    """
    faults = [
        (index, "structure", problem)
        for index, template in enumerate(templates.to_dict("records"))
        for problem in structure_problems(template)
    ]
    # What is dropped for its structure is nobody's original.
    broken = {index for index, *_ in faults}
    released = is_released(templates["source"])
    whole = [i for i, stays in enumerate(released) if stays or i not in broken]
    ids = templates["template_id"].tolist()
    faults += [
        (whole[row], "near-duplicate", f"cosine {cosine:.3f} to {ids[whole[earlier]]}")
        for row, earlier, cosine in near_duplicates(vectors[whole], threshold)
    ]
    agents = templates.iloc[whole]
    first = agents.drop_duplicates("agent").set_index("agent")["template_id"]
    faults += [
        (index, "repeated name", f"{agent} is the agent of {first[agent]} too")
        for index, agent in zip(whole, agents["agent"], strict=True)
        if agent and first[agent] != ids[index]
    ]
    found = pd.DataFrame(sorted(faults), columns=["index", "filter", "reason"]).set_index("index")
    named = templates[["template_id", "source"]].reset_index(drop=True)
    table = named.join(found, how="inner").reset_index(drop=True)
    return table.assign(dropped=~is_released(table["source"]))


def kept(templates: pd.DataFrame, faults: pd.DataFrame) -> pd.DataFrame:
    """The templates that no filter drops."""
    return templates[survives(templates, faults, ["template_id"])].reset_index(drop=True)


def ratings_form(known: set[str] | None = None) -> pa.DataFrameSchema:
    """The schema of an expert ratings file. known: ids of templates; any without."""
    scales = {
        name: files.one_of(scale, open_="if not rated")
        for name, (scale, _) in RATING_SCALES.items()
    }
    return pa.DataFrameSchema(
        {"template_id": files.known(known, "template"), "rater": files.person("rater_kind")}
        | {"rater_kind": files.person_kind(), **scales},
        unique=["rater", "template_id"],
    )


def read_ratings(path: Path | str, known: set[str]) -> pd.DataFrame:
    """An expert ratings file: a CSV of `ratings_form`, one row a template and rater; what is not
    rated is missing.

    rater_kind: `human` or `llm:<model>`, said by the file, never assumed. known: ids of templates.
    Errors: `InputError` with all bad rows at once, by line number.
    """
    table = files.read_form(path, ratings_form(known))
    rated = {name: pd.to_numeric(table[name]).astype("Int64") for name in RATING_SCALES}
    return table.assign(**rated)


def rating_report(ratings: pd.DataFrame) -> pd.DataFrame:
    """The means of Sec. 3.4: one row a rater and question, with intervals over templates,
    and below them, rater "all", the agreement on each question among people and among models.
    """
    rows = []
    for question, (scale, level) in RATING_SCALES.items():
        rated = ratings.dropna(subset=question).astype({question: int})
        for (rater, kind), part in rated.groupby(["rater", "rater_kind"], sort=True):
            bounds = (float(min(scale)), float(max(scale)))
            found = cluster_interval(part[question], part["template_id"], bounds=bounds)
            row = {"question": question, "rater": rater, "rater_kind": kind, "mean": found.value}
            row |= {"ci_low": found.ci_low, "ci_high": found.ci_high}
            rows.append(row | {"median": part[question].median(), "n": len(part)})
        # People and models are never pooled.
        for kind, part in rated.groupby(rated["rater_kind"].str.split(":").str[0], sort=True):
            wide = part.pivot(index="template_id", columns="rater", values=question)
            together = agreement(wide, level)
            who = {"question": question, "rater": "all", "rater_kind": kind}
            rows.append(who | {"n": together.pop("units"), **together})
    return pd.DataFrame(rows)


def diversity(templates: pd.DataFrame, by_model: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Table 12 by source: distinct kinds of each dimension and who labelled them.

    The medium is read off the verb by rule. State and mechanism are the authors' where they gave
    them, else a model's (`by_model`: labels by template id); a template with neither is counted in
    `unlabelled`. labelled_by: rule, authors, model, "authors and model" or nobody.
    """
    rows = []
    for source, part in templates.groupby("source", sort=False):
        for dimension in LABELS:
            if dimension == "medium":
                labels, who = [medium(t) for t in part.to_dict("records")], "rule"
            else:
                own, ids = part[dimension], part["template_id"]
                added = ids.map(lambda i, d=dimension: by_model.get(i, {}).get(d, ""))
                added = added.where(own == "", "")
                by = {"authors": (own != "").any(), "model": (added != "").any()}
                labels, who = own + added, " and ".join(w for w in by if by[w]) or "nobody"
            given = [text.lower() for text in labels if text]
            missing = len(part) - len(given)
            rows.append((source, dimension, len(set(given)), len(part), missing, who))
    columns = ["source", "dimension", "distinct", "templates", "unlabelled", "labelled_by"]
    return pd.DataFrame(rows, columns=columns)
