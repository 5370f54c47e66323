"""OmniToM's annotators: remarks and labels from files, and how far they agree (App. B.2, B.4).

What people say is read, never assumed. Each function looks at one type of annotator, people unless
told otherwise, and names it: models that annotate never count as people. Candidate gold by models
is made in `writing`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.omnitom.records import DIMENSIONS
from tomlab.errors import InputError
from tomlab.records import files
from tomlab.scoring.stats import agreement, alpha_interval, cluster_interval

# Of candidate gold, kept by themselves.

HUMAN = "human"
REVIEW_COLUMNS = ("story_id", "actor", "belief", "remark", "reviewer", "reviewer_type")
ANNOTATION_COLUMNS = ("story_id", "belief", "annotator", "annotator_type", "dimension", "label")
OVERALL = "overall"  # over all dimensions, the last row of Table 6


# Files


def read_reviews(path: Path | str, records: Sequence[Mapping] | None = None) -> pd.DataFrame:
    """Remarks of reviewers on extracted beliefs (App. B.4): CSV with `REVIEW_COLUMNS`.

    One row a reviewed belief; it may have no row. remark: what had to be reconciled, empty for
    nothing. reviewer_type: `human` or `llm:<model>`. Spaces around a value do not count. records:
    if given, every `story_id` has to be one of theirs.
    Errors: `InputError` with all bad rows at once, by line number.
    """
    known = None if records is None else {str(record["story_id"]) for record in records}
    columns = {"actor": files.text(), "belief": files.text(), "remark": pa.Column(str)}
    columns |= {"reviewer": files.text(), "reviewer_type": files.person_kind()}
    return _read(path, known, columns, ("story_id", "actor", "belief"), "reviewer")


def read_annotations(path: Path | str, records: Sequence[Mapping] | None = None) -> pd.DataFrame:
    """Labels by annotators (App. B.2): CSV with `ANNOTATION_COLUMNS`, one row a label cell.

    belief: its number in the story's table, from 1; dimension: a key of `DIMENSIONS`; label: one of
    its legal labels, spelled so. The rest is as in `read_reviews`; with records, every belief has
    to stand in its table.
    """
    beliefs = {str(r["story_id"]): range(1, len(r["beliefs"]) + 1) for r in records or ()}
    columns = {
        "belief": files.text(r"[1-9][0-9]{0,8}", "a number from 1"),
        "annotator": files.text(),
        "annotator_type": files.person_kind(),
        "dimension": files.one_of(DIMENSIONS),
        "label": pa.Column(str),
    }
    table = _read(
        *(path, None if records is None else set(beliefs), columns),
        *(("story_id", "belief", "dimension"), "annotator"),
        files.fitting("belief", "story_id", beliefs),
        files.fitting("label", "dimension", DIMENSIONS),
    )
    return table.astype({"belief": "int64"})


def _read(
    path: Path | str,
    known: set[str] | None,
    columns: Mapping[str, pa.Column],
    cell: tuple[str, ...],
    who: str,
    *checks: files.Check,
) -> pd.DataFrame:
    """A form about stories, each `cell` at most once by each `who`."""
    story = files.known(known, "story", r"0|-?[1-9][0-9]{0,17}", "an integer")
    form = pa.DataFrameSchema({"story_id": story, **columns}, unique=[who, *cell], strict="filter")
    table = files.read_form(path, form, files.one_kind(who, f"{who}_type"), *checks)
    return table.astype({"story_id": "int64"})


# Agreement


def overlap(
    reviews: pd.DataFrame, resamples: int = 2000, seed: int = 0, *, reviewer_type: str = HUMAN
) -> pd.DataFrame:
    """The share of reviewed beliefs that no reviewer remarked on (App. B.4), in one row.

    Columns: reviewer_type, reviewers, stories, n (beliefs), no_remark, overlap, ci_low, ci_high,
    ci_method; the interval resamples stories. reviewer_type: `human`, `llm` (all models) or
    `llm:<model>`; others do not count. No row if there is no review by that type.
    """
    own = _of_type(reviews, "reviewer_type", reviewer_type)
    cells = own.assign(clear=own["remark"] == "")
    clear = cells.groupby(["story_id", "actor", "belief"], sort=False)["clear"].all().reset_index()
    rows = []
    if len(clear):
        share = cluster_interval(clear["clear"], clear["story_id"], resamples=resamples, seed=seed)
        rows.append(
            {"reviewer_type": reviewer_type, "reviewers": own["reviewer"].nunique()}
            | {"stories": share.n_groups, "n": share.n, "no_remark": int(clear["clear"].sum())}
            | {"overlap": share.value, "ci_low": share.ci_low, "ci_high": share.ci_high}
            | {"ci_method": share.ci_method}
        )
    columns = ["reviewer_type", "reviewers", "stories", "n", "no_remark", "overlap", "ci_low"]
    return pd.DataFrame(rows, columns=[*columns, "ci_high", "ci_method"])


def _of_type(table: pd.DataFrame, column: str, wanted: str) -> pd.DataFrame:
    if not re.fullmatch(r"human|llm|llm:\S+", wanted):
        raise InputError(f"{column}: found {wanted!r}, expected human, llm or llm:<model>")
    if wanted == "llm":
        return table[table[column] != HUMAN]
    return table[table[column] == wanted]


def strict_agreement(
    annotations: pd.DataFrame,
    *,
    annotator_type: str = HUMAN,
    resamples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Table 6: label cells on which all annotators are equal, by dimension, and over all of them.

    Columns: annotator_type, dimension (last: `OVERALL`), annotators (how many there are), n (cells
    that two or more labelled), agree, agreement, ci_low, ci_high, ci_method, stories. Intervals
    resample stories. Without such a cell the share is nan. annotator_type as in `overlap`; no row
    if there is no annotation by that type.
    """
    own = _of_type(annotations, "annotator_type", annotator_type)
    cells = own.groupby(["story_id", "belief", "dimension"], sort=False)["label"]
    cells = cells.agg(["size", "nunique"]).reset_index()
    cells = cells[cells["size"] >= 2].assign(agree=lambda table: table["nunique"] == 1)
    rows = []
    for dimension in (*DIMENSIONS, OVERALL) if len(own) else ():
        part = cells if dimension == OVERALL else cells[cells["dimension"] == dimension]
        by = own if dimension == OVERALL else own[own["dimension"] == dimension]
        row = {"annotator_type": annotator_type, "dimension": dimension}
        row |= {"annotators": by["annotator"].nunique(), "n": len(part)}
        row |= {"agree": int(part["agree"].sum()), "stories": part["story_id"].nunique()}
        if len(part):
            share = cluster_interval(
                part["agree"], part["story_id"], resamples=resamples, seed=seed
            )
            row |= {"agreement": share.value, "ci_low": share.ci_low, "ci_high": share.ci_high}
            row["ci_method"] = share.ci_method
        rows.append(row)
    columns = ["annotator_type", "dimension", "annotators", "n", "agree", "agreement", "ci_low"]
    return pd.DataFrame(rows, columns=[*columns, "ci_high", "ci_method", "stories"])


def alpha(
    annotations: pd.DataFrame,
    *,
    annotator_type: str = HUMAN,
    resamples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Krippendorff's alpha (nominal) of each dimension's labels, for what two or more labelled.

    Columns: annotator_type, dimension, annotators, n (beliefs), percent_agreement, alpha, ci_low,
    ci_high. Intervals resample stories; nan where that cannot move alpha. alpha is nan where all
    labels are alike. annotator_type as in `overlap`; no row for a dimension without labels.
    """
    own = _of_type(annotations, "annotator_type", annotator_type)
    rows = []
    for dimension, labels in DIMENSIONS.items():
        part = own[own["dimension"] == dimension]
        if part.empty:
            continue
        codes = part.assign(code=part["label"].map(labels.index).astype(float))
        wide = codes.pivot(index=["story_id", "belief"], columns="annotator", values="code")
        found = agreement(wide, "nominal")
        stories = wide.index.get_level_values("story_id")
        low, high = alpha_interval(wide, "nominal", stories, resamples=resamples, seed=seed)
        rows.append(
            {"annotator_type": annotator_type, "dimension": dimension}
            | {"annotators": wide.shape[1], "n": found["units"]}
            | {"percent_agreement": found["percent_agreement"], "alpha": found["alpha"]}
            | {"ci_low": low, "ci_high": high}
        )
    columns = ["annotator_type", "dimension", "annotators", "n", "percent_agreement", "alpha"]
    return pd.DataFrame(rows, columns=[*columns, "ci_low", "ci_high"])


def majority(
    annotations: pd.DataFrame, *, annotator_type: str = HUMAN
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The label of each cell by majority vote, and the cells left to adjudication (App. B.2).

    Votes: annotator_type, story_id, belief, dimension, label, votes, annotators. A majority is more
    than half of the annotators of the cell; one alone is a majority, as `annotators` shows.
    Adjudication: annotator_type, story_id, belief, dimension, labels ("Private 1, Public 1"),
    annotators. annotator_type as in `overlap`.
    """
    own = _of_type(annotations, "annotator_type", annotator_type)
    votes, open_ = [], []
    for cell, given in own.groupby(["story_id", "belief", "dimension"], sort=False)["label"]:
        counts = given.value_counts()
        key = (annotator_type, *cell)
        if 2 * counts.iloc[0] > len(given):
            votes.append((*key, counts.index[0], int(counts.iloc[0]), len(given)))
        else:
            said = ", ".join(f"{label} {count}" for label, count in sorted(counts.items()))
            open_.append((*key, said, len(given)))
    names = ["annotator_type", "story_id", "belief", "dimension"]
    return (
        pd.DataFrame(votes, columns=[*names, "label", "votes", "annotators"]),
        pd.DataFrame(open_, columns=[*names, "labels", "annotators"]),
    )
