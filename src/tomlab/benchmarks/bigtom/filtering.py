"""BigToM's filters and quality measures (Sec. 3.4, App. C, App. G, Table 12)."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from tomlab.benchmarks.bigtom.templates import LABELS, medium, structure_problems
from tomlab.errors import refuse
from tomlab.records.files import read_rows
from tomlab.scoring.embeddings import near_duplicates
from tomlab.scoring.stats import agreement, mean_interval

RATING_COLUMNS = ("template_id", "rater", "rater_kind", "follows_structure", "tests_behavior")
# The two questions of Sec. 3.4 with their scales and the level of measurement.
RATING_SCALES = {
    "follows_structure": ({"0", "1"}, "nominal"),
    "tests_behavior": ({"1", "2", "3", "4", "5"}, "ordinal"),
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
    whole = [i for i in range(len(templates)) if i not in broken or _is_released(templates, i)]
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
    columns = ["index", "filter", "reason"]
    found = pd.DataFrame(sorted(faults), columns=columns).set_index("index")
    named = templates[["template_id", "source"]].reset_index(drop=True)
    table = named.join(found, how="inner").reset_index(drop=True)
    return table.assign(dropped=~table["source"].str.startswith("released:"))


def _is_released(templates: pd.DataFrame, row: int) -> bool:
    return templates["source"].iloc[row].startswith("released:")


def kept(templates: pd.DataFrame, faults: pd.DataFrame) -> pd.DataFrame:
    """The templates that no filter drops."""
    gone = set(faults.loc[faults["dropped"], "template_id"])
    return templates[~templates["template_id"].isin(gone)].reset_index(drop=True)


def survival(raw: pd.DataFrame, faults: pd.DataFrame) -> pd.DataFrame:
    """By source: attempts, parsed, failed each filter, kept. Rows are sources."""
    gone = faults[faults["dropped"]]
    table = raw.groupby("source", sort=False).agg(
        attempts=("status", "size"), parsed=("status", lambda s: int((s == "template").sum()))
    )
    for name in ("structure", "near-duplicate", "repeated name"):
        hit = gone[gone["filter"] == name].groupby("source")["template_id"].nunique()
        table[f"failed {name}"] = hit.reindex(table.index, fill_value=0)
    lost = gone.groupby("source")["template_id"].nunique().reindex(table.index, fill_value=0)
    return table.assign(kept=table["parsed"] - lost)


def read_ratings(path: Path | str, known: set[str]) -> pd.DataFrame:
    """An expert ratings file: CSV with `RATING_COLUMNS`, one row a template and rater.

    rater_kind: `human` or `llm:<model>`, said by the file, never assumed. known: ids of templates.
    Errors: `InputError` with all bad rows at once, by line number.
    """
    (rows, problems), seen = read_rows(path, RATING_COLUMNS), set()
    for number, row in rows:
        problems += [f"row {number}, field {field}: {what}" for field, what in _faults(row, known)]
        pair = (row["rater"], row["template_id"])
        if pair in seen:
            problems.append(f"row {number}: {pair[0]!r} rates {pair[1]!r} twice")
        seen.add(pair)
    refuse(problems, str(path))
    columns = list(rows[0][1]) if rows else list(RATING_COLUMNS)
    table = pd.DataFrame([row for _, row in rows], columns=columns, dtype=str)
    return table.astype(dict.fromkeys(RATING_SCALES, int))


def _faults(row: Mapping[str, str], known: set[str]) -> list[tuple[str, str]]:
    found = []
    if row["template_id"] not in known:
        found.append(("template_id", f"no template {row['template_id']!r}"))
    if not row["rater"]:
        found.append(("rater", "found nothing"))
    if row["rater_kind"] != "human" and not re.fullmatch(r"llm:.+", row["rater_kind"]):
        found.append(("rater_kind", f"found {row['rater_kind']!r}, expected human or llm:<model>"))
    for name, (scale, _) in RATING_SCALES.items():
        if row[name] not in scale:
            expected = f"{min(scale)} to {max(scale)}"
            found.append((name, f"found {row[name]!r}, expected {expected}"))
    return found


def rating_report(ratings: pd.DataFrame, *, resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """The means of Sec. 3.4: one row a rater and question, with bootstrap intervals over templates,
    and below them, rater "all", the agreement on each question among people and among models.
    """
    rows = []
    for question, (_, level) in RATING_SCALES.items():
        for (rater, kind), part in ratings.groupby(["rater", "rater_kind"], sort=True):
            mean, low, high = mean_interval(part[question], resamples=resamples, seed=seed)
            means = {
                "mean": mean,
                "ci_low": low,
                "ci_high": high,
                "median": part[question].median(),
            }
            who = {"question": question, "rater": rater, "rater_kind": kind}
            rows.append(who | means | {"n": len(part)})
        # People and models are never pooled.
        for kind, part in ratings.groupby(ratings["rater_kind"].str.split(":").str[0], sort=True):
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
            labels, who = _labels(part, dimension, by_model)
            given = [text.lower() for text in labels if text]
            rows.append(
                {
                    "source": source,
                    "dimension": dimension,
                    "distinct": len(set(given)),
                    "templates": len(part),
                    "unlabelled": len(part) - len(given),
                    "labelled_by": who,
                }
            )
    return pd.DataFrame(rows)


def _labels(
    part: pd.DataFrame, dimension: str, by_model: Mapping[str, Mapping[str, str]]
) -> tuple[list[str], str]:
    if dimension == "medium":
        return [medium(t) for t in part.to_dict("records")], "rule"
    own = part[dimension].tolist()
    added = [
        "" if given else by_model.get(i, {}).get(dimension, "")
        for given, i in zip(own, part["template_id"], strict=True)
    ]
    who = [name for name, labels in (("authors", own), ("model", added)) if any(labels)]
    labels = [given or other for given, other in zip(own, added, strict=True)]
    return labels, " and ".join(who) or "nobody"
