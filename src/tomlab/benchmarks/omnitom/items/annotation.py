"""OmniToM's annotators: remarks and labels from files, and how far they agree (App. B.2, B.4).

What people say is read, never assumed. Each function looks at one type of annotator, people unless
told otherwise, and names it: models that annotate never count as people. Candidate gold by models
is made in `writing`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.omnitom.items.records import DIMENSIONS
from tomlab.records import files
from tomlab.scoring.stats import agreement, alpha_interval, cluster_interval

HUMAN = "human"
REVIEW_COLUMNS = ("story_id", "actor", "belief", "remark", "reviewer", "reviewer_type")
ANNOTATION_COLUMNS = ("story_id", "belief", "annotator", "annotator_type", "dimension", "label")
OVERALL = "overall"  # over all dimensions, the last row of Table 6


def read_reviews(path: Path | str, records: Sequence[Mapping] | None = None) -> pd.DataFrame:
    """Remarks of reviewers on extracted beliefs (App. B.4): CSV with `REVIEW_COLUMNS`.

    One row a reviewed belief; it may have no row. remark: what had to be reconciled, empty for
    nothing. reviewer_type: `human` or `llm:<model>`. Spaces around a value do not count. records:
    if given, every `story_id` has to be one of theirs.
    Errors: `InputError` with all bad rows at once, by line number.
    """
    columns = {"story_id": _story(records), "actor": files.text(), "belief": files.text()}
    columns |= {"remark": pa.Column(str), "reviewer": files.person("reviewer_type")}
    columns["reviewer_type"] = files.person_kind()
    once = ["reviewer", "story_id", "actor", "belief"]
    form = pa.DataFrameSchema(columns, unique=once, strict="filter")
    table = files.read_form(path, form)
    return table.astype({"story_id": "int64"})


def _story(records: Sequence[Mapping] | None) -> pa.Column:
    known = None if records is None else {str(record["story_id"]) for record in records}
    return files.known(known, "story", r"0|-?[1-9][0-9]{0,17}", "an integer")


def annotations_form(records: Sequence[Mapping] | None = None) -> pa.DataFrameSchema:
    """The schema of a file of labels. records: of which it may be; any without."""
    number = files.text(r"[1-9][0-9]{0,8}", "a number from 1")
    columns = {"story_id": _story(records), "belief": number}
    columns |= {"annotator": files.person("annotator_type"), "annotator_type": files.person_kind()}
    columns["dimension"] = files.one_of(DIMENSIONS)
    columns["label"] = files.one_of_each("dimension", DIMENSIONS)
    once = ["annotator", "story_id", "belief", "dimension"]
    return pa.DataFrameSchema(columns, unique=once, strict="filter")


def read_annotations(path: Path | str, records: Sequence[Mapping] | None = None) -> pd.DataFrame:
    """Labels by annotators (App. B.2): CSV with `ANNOTATION_COLUMNS`, one row a label cell.

    belief: its number in the story's table, from 1; dimension: a key of `DIMENSIONS`; label: one of
    its legal labels, spelled so. The rest is as in `read_reviews`; with records, every belief has
    to stand in its table.
    """
    numbers = {str(r["story_id"]): range(1, len(r["beliefs"]) + 1) for r in records or ()}
    belief = files.fitting("belief", "story_id", numbers)
    table = files.read_form(path, annotations_form(records), belief)
    return table.astype({"story_id": "int64", "belief": "int64"})


def overlap(reviews: pd.DataFrame, *, reviewer_type: str = HUMAN) -> pd.DataFrame:
    """The share of reviewed beliefs that no reviewer remarked on (App. B.4), in one row.

    Columns: reviewer_type, reviewers, stories, n (beliefs), no_remark, overlap, ci_low, ci_high,
    ci_method; the interval clusters on stories. reviewer_type: `human`, `llm` (all models) or
    `llm:<model>`; others do not count. No row if there is no review by that type.
    """
    own = _of_type(reviews, "reviewer_type", reviewer_type)
    belief = [own[name] for name in ("story_id", "actor", "belief")]
    clear = (own["remark"] == "").groupby(belief, sort=False).all()
    rows = []
    if len(clear):
        stories = clear.index.get_level_values("story_id")
        share = cluster_interval(clear, stories)
        row = {"reviewer_type": reviewer_type, "reviewers": own["reviewer"].nunique()}
        row |= {"no_remark": int(clear.sum()), "stories": share.n_groups, "overlap": share.value}
        rows.append(row | vars(share))
    columns = ["reviewer_type", "reviewers", "stories", "n", "no_remark", "overlap"]
    return pd.DataFrame(rows, columns=[*columns, "ci_low", "ci_high", "ci_method"])


def _of_type(table: pd.DataFrame, column: str, wanted: str) -> pd.DataFrame:
    return table[table[column] != HUMAN if wanted == "llm" else table[column] == wanted]


def strict_agreement(annotations: pd.DataFrame, *, annotator_type: str = HUMAN) -> pd.DataFrame:
    """Table 6: label cells on which all annotators are equal, by dimension, and over all of them.

    Columns: annotator_type, dimension (last: `OVERALL`), annotators (how many there are), n (cells
    that two or more labelled), agree, agreement, ci_low, ci_high, ci_method, stories. Intervals
    cluster on stories. Without such a cell the share is nan. annotator_type as in `overlap`; no row
    if there is no annotation by that type.
    """
    own = _of_type(annotations, "annotator_type", annotator_type)
    rows = []
    for dimension in (*DIMENSIONS, OVERALL) if len(own) else ():
        by = own if dimension == OVERALL else own[own["dimension"] == dimension]
        cells = by.groupby(["story_id", "belief", "dimension"], sort=False)["label"]
        cells = cells.nunique()[cells.size() >= 2]
        agree, stories = cells == 1, cells.index.get_level_values("story_id")
        row = {"annotator_type": annotator_type, "dimension": dimension}
        row |= {"annotators": by["annotator"].nunique(), "n": len(cells)}
        row |= {"agree": int(agree.sum()), "stories": stories.nunique()}
        if len(cells):
            row |= vars(cluster_interval(agree, stories))
        rows.append(row)
    columns = ["annotator_type", "dimension", "annotators", "n", "agree", "value", "ci_low"]
    table = pd.DataFrame(rows, columns=[*columns, "ci_high", "ci_method", "stories"])
    return table.rename(columns={"value": "agreement"})


def alpha(annotations: pd.DataFrame, *, annotator_type: str = HUMAN) -> pd.DataFrame:
    """Krippendorff's alpha (nominal) of each dimension's labels, for what two or more labelled.

    Columns: annotator_type, dimension, annotators, n (beliefs), percent_agreement, alpha, ci_low,
    ci_high. Intervals cluster on stories; nan where that cannot move alpha. alpha is nan where all
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
        interval = alpha_interval(wide, "nominal", stories)
        rows.append((annotator_type, dimension, wide.shape[1], *found.values(), *interval))
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
        counts, key = Counter(given), (annotator_type, *cell)
        [(label, most)] = counts.most_common(1)
        if 2 * most > len(given):
            votes.append((*key, label, most, len(given)))
        else:
            said = ", ".join(f"{label} {count}" for label, count in sorted(counts.items()))
            open_.append((*key, said, len(given)))
    names = ["annotator_type", "story_id", "belief", "dimension"]
    voted = pd.DataFrame(votes, columns=[*names, "label", "votes", "annotators"])
    return voted, pd.DataFrame(open_, columns=[*names, "labels", "annotators"])
