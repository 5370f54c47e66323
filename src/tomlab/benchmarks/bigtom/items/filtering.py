"""BigToM's filters and quality measures (Sec. 3.4, App. C, App. G, Table 12)."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.bigtom.items.templates import medium, structure_problems
from tomlab.records import files
from tomlab.scoring.embeddings import near_duplicates
from tomlab.scoring.kept import is_released

# The two questions of Sec. 3.4, each with its scale and level of measurement.
RATING_SCALES = {
    "follows_structure": (range(2), "nominal"),
    "tests_behavior": (range(1, 6), "ordinal"),
}
# The dimensions of diversity, and who gave the labels that templates come with.
LABELLED_BY = {"state": "authors", "mechanism": "authors", "medium": "rule"}


def screen(templates: pd.DataFrame, vectors: np.ndarray, threshold: float) -> pd.DataFrame:
    """Every fault of every template: `template_id, source, filter, reason, dropped`.

    vectors: one row per template, which embeds its story. threshold: as for
    `near_duplicates`. Faults of released templates are reported, but these templates are
    never dropped: without them it would be another benchmark.
    """
    rows = []
    for template in templates.to_dict("records"):
        for problem in structure_problems(template):
            rows.append((template["template_id"], "structure", problem))
    # Templates dropped for their structure are left out, so that no other counts as their copy.
    is_faulty = templates["template_id"].isin({template_id for template_id, *_ in rows})
    is_compared = ~is_faulty | is_released(templates["source"])
    compared = templates[is_compared]
    ids = compared["template_id"].tolist()
    for row, earlier, cosine in near_duplicates(vectors[is_compared], threshold):
        rows.append((ids[row], "near-duplicate", f"cosine {cosine:.3f} to {ids[earlier]}"))
    first_ids: dict[str, str] = {}
    for template_id, agent in zip(ids, compared["agent"], strict=True):
        first = first_ids.setdefault(agent, template_id)
        if agent and first != template_id:
            rows.append((template_id, "repeated name", f"{agent} is the agent of {first} too"))
    faults = pd.DataFrame(rows, columns=["template_id", "filter", "reason"], dtype=str)
    faults = templates[["template_id", "source"]].merge(faults, on="template_id")
    return faults.assign(dropped=~is_released(faults["source"]))


def ratings_form(template_ids: set[str] | None = None) -> pa.DataFrameSchema:
    """The schema of a file of expert ratings, one row per template and rater. template_ids: the ids
    that it may contain; None allows any.
    """
    columns = {
        "template_id": files.known(template_ids, "template"),
        "rater": files.person("rater_kind"),
        "rater_kind": files.person_kind(),
    }
    for question, (scale, _) in RATING_SCALES.items():
        columns[question] = files.one_of(scale, open_="if not rated")
    return pa.DataFrameSchema(columns, unique=["rater", "template_id"])


def diversity(templates: pd.DataFrame, by_model: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """Table 12 by source and dimension: `source, dimension, distinct` (how many different labels),
    `templates, unlabelled` (how many of each) and `labelled_by`.

    A rule finds the medium from the verb. Labels of state and mechanism are the authors' or, if
    they gave none, a model's. by_model: for each template id, the model's labels by dimension.
    """
    media = [medium(template) for template in templates.to_dict("records")]
    labelled = templates.assign(medium=media).set_index("template_id")
    labels_by_model = pd.DataFrame(by_model).T
    rows = []
    for source, part in labelled.groupby("source", sort=False):
        for dimension, author in LABELLED_BY.items():
            labels = part[dimension].replace("", None)
            filled = labels.fillna(labels_by_model.get(dimension, {}))
            labelled_by = [author] if labels.count() else []
            if filled.count() > labels.count():
                labelled_by.append("model")
            row = {
                "source": source,
                "dimension": dimension,
                "distinct": filled.str.lower().nunique(),
                "templates": len(part),
                "unlabelled": filled.isna().sum(),
                "labelled_by": " and ".join(labelled_by) or "nobody",
            }
            rows.append(row)
    return pd.DataFrame(rows)
