"""OmniToM's annotators: remarks and labels from files, and how far they agree (App. B.2, B.4).

What people say is read, never assumed. Each function looks at one type of annotator, people unless
told otherwise, and names it: models that annotate never count as people. Candidate gold by models
is made in `writing`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tomlab.benchmarks.omnitom.records import DIMENSIONS
from tomlab.errors import InputError, refuse
from tomlab.records.files import read_rows
from tomlab.scoring.stats import agreement, cluster_interval, cluster_statistic

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

    def faults(row: Mapping[str, str]) -> Iterator[str]:
        yield from _story_faults(row, known)
        for field in ("actor", "belief"):
            if not row[field]:
                yield f"field {field}: found nothing"
        yield from _who_faults(row, "reviewer")

    return _table(path, REVIEW_COLUMNS, faults, ("story_id", "actor", "belief"), "reviewer")


def read_annotations(path: Path | str, records: Sequence[Mapping] | None = None) -> pd.DataFrame:
    """Labels by annotators (App. B.2): CSV with `ANNOTATION_COLUMNS`, one row a label cell.

    belief: its number in the story's table, from 1; dimension: a key of `DIMENSIONS`; label: one of
    its legal labels, spelled so. The rest is as in `read_reviews`; with records, every belief has
    to stand in its table.
    """
    sizes = None
    if records is not None:
        sizes = {str(record["story_id"]): len(record["beliefs"]) for record in records}

    def faults(row: Mapping[str, str]) -> Iterator[str]:
        yield from _story_faults(row, sizes)
        most = 10**9 if sizes is None else sizes.get(row["story_id"], 10**9)
        if not re.fullmatch(r"[1-9][0-9]{0,8}", row["belief"]) or int(row["belief"]) > most:
            expected = "a number from 1" if most == 10**9 else f"a number from 1 to {most}"
            yield f"field belief: found {row['belief']!r}, expected {expected}"
        yield from _who_faults(row, "annotator")
        legal = DIMENSIONS.get(row["dimension"])
        if legal is None:
            expected = ", ".join(DIMENSIONS)
            yield f"field dimension: found {row['dimension']!r}, expected {expected}"
        elif row["label"] not in legal:
            yield f"field label: found {row['label']!r}, expected {', '.join(legal)}"

    cell = ("story_id", "belief", "dimension")
    return _table(path, ANNOTATION_COLUMNS, faults, cell, "annotator").astype({"belief": "int64"})


def _story_faults(row: Mapping[str, str], known: Mapping | set | None) -> Iterator[str]:
    story_id = row["story_id"]
    if not re.fullmatch(r"0|-?[1-9][0-9]{0,17}", story_id):
        yield f"field story_id: found {story_id!r}, expected an integer"
    elif known is not None and story_id not in known:
        yield f"field story_id: no story {story_id}"


def _who_faults(row: Mapping[str, str], who: str) -> Iterator[str]:
    if not row[who]:
        yield f"field {who}: found nothing"
    kind = row[f"{who}_type"]
    if not re.fullmatch(r"human|llm:\S+", kind):
        yield f"field {who}_type: found {kind!r}, expected human or llm:<model>"


def _table(
    path: Path | str,
    columns: Sequence[str],
    faults: Callable[[Mapping[str, str]], Iterator[str]],
    cell: Sequence[str],
    who: str,
) -> pd.DataFrame:
    """The rows of a file whose `faults` are none, each `cell` at most once by each `who`."""
    found, problems = read_rows(path, columns)
    rows = [(number, {name: row[name].strip() for name in columns}) for number, row in found]
    first: dict[tuple, int] = {}
    kinds: dict[str, str] = {}
    for number, row in rows:
        problems += [f"row {number}, {what}" for what in faults(row)]
        earlier = first.setdefault((row[who], *(row[name] for name in cell)), number)
        if earlier != number:
            what = ", ".join(f"{name} {row[name]!r}" for name in cell)
            problems.append(f"row {number}: {row[who]!r} has {what} twice (row {earlier})")
        before = kinds.setdefault(row[who], row[f"{who}_type"])
        if before != row[f"{who}_type"]:
            problems.append(f"row {number}: {row[who]!r} is {row[f'{who}_type']}, before {before}")
    refuse(problems, str(path))
    table = pd.DataFrame([row for _, row in rows], columns=list(columns), dtype=str)
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
        low, high = _alpha_interval(wide, len(labels), resamples, seed)
        rows.append(
            {"annotator_type": annotator_type, "dimension": dimension}
            | {"annotators": wide.shape[1], "n": found["units"]}
            | {"percent_agreement": found["percent_agreement"], "alpha": found["alpha"]}
            | {"ci_low": low, "ci_high": high}
        )
    columns = ["annotator_type", "dimension", "annotators", "n", "percent_agreement", "alpha"]
    return pd.DataFrame(rows, columns=[*columns, "ci_low", "ci_high"])


def _alpha_interval(
    wide: pd.DataFrame, labels: int, resamples: int, seed: int
) -> tuple[float, float]:
    rated = wide[wide.notna().sum(axis=1) >= 2]
    if rated.empty:
        return float("nan"), float("nan")
    values = rated.to_numpy(float)
    counts = np.stack([(values == code).sum(axis=1) for code in range(labels)], axis=1)
    total = counts.sum(axis=1)
    # Pairs of unequal labels within each belief: alpha is made of their sum and of the counts.
    unequal = (total**2 - (counts**2).sum(axis=1)) / (total - 1)
    by_belief = pd.DataFrame(np.column_stack([unequal, counts]), index=rated.index)
    sums = by_belief.groupby(level="story_id").sum()
    found = cluster_statistic(sums, _nominal_alpha, n=len(rated), resamples=resamples, seed=seed)
    if found.ci_method != "cluster bootstrap":
        return float("nan"), float("nan")
    return found.ci_low, found.ci_high


def _nominal_alpha(sums: np.ndarray) -> np.ndarray:
    unequal, counts = sums[..., 0], sums[..., 1:]
    total = counts.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return 1 - (total - 1) * unequal / (total**2 - (counts**2).sum(axis=-1))


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
