"""OmniToM's annotators: labels from files, and how far people agree (App. B.2, Table 6).

What people say is read, never assumed: models that annotate never count. Candidate gold by models
is made in `writing`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.omnitom.items.records import DIMENSIONS
from tomlab.records import files
from tomlab.scoring.stats import agreement, alpha_interval, cluster_interval

HUMAN = "human"
ANNOTATION_COLUMNS = ("story_id", "belief", "annotator", "annotator_type", "dimension", "label")
OVERALL = "overall"  # over all dimensions, the last row of Table 6


def annotations_form(records: Sequence[Mapping] | None = None) -> pa.DataFrameSchema:
    """The schema of a file of labels. records: of which it may be; any without."""
    known = None if records is None else {str(record["story_id"]) for record in records}
    number = files.text(r"[1-9][0-9]{0,8}", "a number from 1")
    columns = {
        "story_id": files.known(known, "story", r"0|-?[1-9][0-9]{0,17}", "an integer"),
        "belief": number,
        "annotator": files.person("annotator_type"),
        "annotator_type": files.person_kind(),
        "dimension": files.one_of(DIMENSIONS),
        "label": files.one_of_each("dimension", DIMENSIONS),
    }
    once = ["annotator", "story_id", "belief", "dimension"]
    return pa.DataFrameSchema(columns, unique=once, strict="filter")


def read_annotations(path: Path | str, records: Sequence[Mapping] | None = None) -> pd.DataFrame:
    """Labels by annotators (App. B.2): CSV with `ANNOTATION_COLUMNS`, one row a label cell.

    belief: its number in the story's table, from 1; annotator_type: `human` or `llm:<model>`;
    dimension: a key of `DIMENSIONS`; label: one of its legal labels, spelled so. records: if given,
    every row has to be about a belief of theirs. Errors: `InputError` with all bad rows at once.
    """
    numbers = {str(r["story_id"]): range(1, len(r["beliefs"]) + 1) for r in records or ()}
    belief = files.fitting("belief", "story_id", numbers)
    table = files.read_form(path, annotations_form(records), belief)
    return table.astype({"story_id": "int64", "belief": "int64"})


def reliability(annotations: pd.DataFrame) -> pd.DataFrame:
    """How far people agree on each dimension, and over all of them (Table 6).

    Columns: dimension (last: `OVERALL`), annotators (how many), stories, n (cells that two or more
    labelled), agree (cells with labels all alike), agreement (their share), ci_low, ci_high; and by
    dimension alpha (Krippendorff's, nominal), alpha_low, alpha_high. Intervals cluster on stories;
    nan is not defined. No row if nobody labelled.
    """
    people = annotations[annotations["annotator_type"] == HUMAN]
    rows = []
    for dimension in (*DIMENSIONS, OVERALL) if len(people) else ():
        own = people if dimension == OVERALL else people[people["dimension"] == dimension]
        cells = own.groupby(["story_id", "belief", "dimension"], sort=False)["label"]
        cells = cells.nunique()[cells.size() >= 2]
        agree, stories = cells == 1, cells.index.get_level_values("story_id")
        row = {"dimension": dimension, "annotators": own["annotator"].nunique()}
        row |= {"stories": stories.nunique(), "n": len(cells), "agree": int(agree.sum())}
        if len(cells):
            row |= vars(cluster_interval(agree, stories))
            row |= _alpha(own) if dimension != OVERALL else {}
        rows.append(row)
    columns = ["dimension", "annotators", "stories", "n", "agree", "value", "ci_low", "ci_high"]
    table = pd.DataFrame(rows, columns=[*columns, "alpha", "alpha_low", "alpha_high"])
    return table.rename(columns={"value": "agreement"})


def _alpha(own: pd.DataFrame) -> dict[str, float]:
    """Krippendorff's alpha of one dimension's labels, with its interval."""
    codes = own.assign(code=pd.factorize(own["label"], sort=True)[0].astype(float))
    wide = codes.pivot(index=["story_id", "belief"], columns="annotator", values="code")
    low, high = alpha_interval(wide, "nominal", wide.index.get_level_values("story_id"))
    found = agreement(wide, "nominal")["alpha"]
    return {"alpha": found, "alpha_low": low, "alpha_high": high}
