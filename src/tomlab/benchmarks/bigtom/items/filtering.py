"""BigToM's filters and quality measures (Sec. 3.4, App. C, App. G, Table 12)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.bigtom.items.templates import LABELS, medium, structure_problems
from tomlab.records import files
from tomlab.scoring.embeddings import near_duplicates
from tomlab.scoring.kept import is_released

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
    templates = templates.reset_index(drop=True)
    problems = [structure_problems(template) for template in templates.to_dict("records")]
    structure = templates.assign(filter="structure", reason=problems).explode("reason")
    structure = structure.dropna(subset="reason")
    # What is dropped for its structure is nobody's original.
    whole = templates.drop(structure.index[~is_released(structure["source"])].unique())
    ids = whole["template_id"]
    cosines = {}
    for row, earlier, cosine in near_duplicates(vectors[whole.index], threshold):
        cosines[whole.index[row]] = f"cosine {cosine:.3f} to {ids.iloc[earlier]}"
    alike = whole.assign(filter="near-duplicate", reason=pd.Series(cosines, dtype=object))
    first = whole.groupby("agent")["template_id"].transform("first")
    named = whole[(first != ids) & (whole["agent"] != "")]
    reason = named["agent"] + " is the agent of " + first[named.index] + " too"
    named = named.assign(filter="repeated name", reason=reason)
    faults = pd.concat([structure, alike.dropna(subset="reason"), named])
    faults = faults.sort_index(kind="stable").reset_index(drop=True)
    faults["dropped"] = ~is_released(faults["source"])
    return faults[["template_id", "source", "filter", "reason", "dropped"]]


def ratings_form(known: set[str] | None = None) -> pa.DataFrameSchema:
    """The schema of an expert ratings file: a row a template and rater. known: ids of templates."""
    scales = {n: files.one_of(of, open_="if not rated") for n, (of, _) in RATING_SCALES.items()}
    return pa.DataFrameSchema(
        {"template_id": files.known(known, "template"), "rater": files.person("rater_kind")}
        | {"rater_kind": files.person_kind(), **scales},
        unique=["rater", "template_id"],
    )


def read_ratings(path: Path | str, known: set[str]) -> pd.DataFrame:
    """The rows of an expert ratings file, as `ratings_form` has it; what is not rated is missing.

    Errors: `InputError` with all bad rows at once, by line number.
    """
    table = files.read_form(path, ratings_form(known))
    rated = {name: pd.to_numeric(table[name]).astype("Int64") for name in RATING_SCALES}
    return table.assign(**rated)


def diversity(templates: pd.DataFrame, by_model: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Table 12 by source: distinct kinds of each dimension and who labelled them.

    The medium is read off the verb by rule. State and mechanism are the authors' where they gave
    them, else a model's (`by_model`: labels by template id), else they count in `unlabelled`.
    """
    media = [medium(template) for template in templates.to_dict("records")]
    rows = []
    for source, part in templates.assign(medium=media).groupby("source", sort=False):
        for dimension in LABELS:
            by_authors = dict(zip(part["template_id"], part[dimension], strict=True))
            labels = {}
            for template_id, label in by_authors.items():
                labels[template_id] = label or by_model.get(template_id, {}).get(dimension, "")
            labelled_by = []
            if any(by_authors.values()):
                labelled_by.append("rule" if dimension == "medium" else "authors")
            if labels != by_authors:
                labelled_by.append("model")
            row = {"source": source, "dimension": dimension}
            row["distinct"] = len({label.lower() for label in labels.values() if label})
            row["templates"] = len(part)
            row["unlabelled"] = list(labels.values()).count("")
            row["labelled_by"] = " and ".join(labelled_by) or "nobody"
            rows.append(row)
    columns = ["source", "dimension", "distinct", "templates", "unlabelled", "labelled_by"]
    return pd.DataFrame(rows, columns=columns)
