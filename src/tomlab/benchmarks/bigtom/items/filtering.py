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
    rows = templates.reset_index(drop=True)
    problems = [structure_problems(template) for template in rows.to_dict("records")]
    form = rows.assign(filter="structure", reason=problems).explode("reason")
    broken = form.dropna(subset="reason").index
    # What is dropped for its structure is nobody's original.
    whole = rows[is_released(rows["source"]) | ~rows.index.isin(broken)]
    ids, agent = whole["template_id"], whole["agent"]
    again = {
        whole.index[row]: f"cosine {cosine:.3f} to {ids.iloc[earlier]}"
        for row, earlier, cosine in near_duplicates(vectors[whole.index], threshold)
    }
    twice = whole.assign(filter="near-duplicate", reason=whole.index.map(again.get))
    original = agent.map(whole.drop_duplicates("agent").set_index("agent")["template_id"])
    named = (agent + " is the agent of " + original + " too").where(agent.ne("") & original.ne(ids))
    named = whole.assign(filter="repeated name", reason=named)
    found = pd.concat([form, twice, named]).dropna(subset="reason").sort_index(kind="stable")
    found = found.assign(dropped=~is_released(found["source"])).reset_index(drop=True)
    return found[["template_id", "source", "filter", "reason", "dropped"]]


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
    rows, media = [], [medium(template) for template in templates.to_dict("records")]
    for source, part in templates.assign(medium=media).groupby("source", sort=False):
        for dimension in LABELS:
            own = dict(zip(part["template_id"], part[dimension], strict=True))
            every = {i: own[i] or by_model.get(i, {}).get(dimension, "") for i in own}
            given = [label.lower() for label in every.values() if label]
            who = ["rule" if dimension == "medium" else "authors"] if any(own.values()) else []
            who += ["model"] if every != own else []
            counts = len(set(given)), len(part), len(part) - len(given)
            rows.append((source, dimension, *counts, " and ".join(who) or "nobody"))
    columns = ["source", "dimension", "distinct", "templates", "unlabelled", "labelled_by"]
    return pd.DataFrame(rows, columns=columns)
