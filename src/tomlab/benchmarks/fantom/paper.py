"""FANToM's paper: where its numbers are printed, how it names things, what its scores tell."""

import numpy as np
import pandas as pd

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording
from tomlab.reporting import numbers

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("fantom", "FANToM", "Kim et al., 2023", _DATA["tables"])

METHOD_NAMES = {"short": "short", "short-cot": "short + chain of thought"}
METHOD_NAMES |= {"full": "full", "full-cot": "full + chain of thought"}
METHOD_NAMES |= {f"short-{name}": f"short + {name}" for name in TECHNIQUES}
METRIC_NAMES = yaml_beside(__file__, "items/names.yaml")["table9"]  # in the order of its columns
# Scores by words, which baselines copy from the reference answers.
COPIED = ("belief_f1", "fact_f1")
WORDING = Wording("FANToM", METHOD_NAMES, groups="conversations")

# What the published tables call otherwise than the metrics of a run.
_PRINTED_AS = _DATA["printed as"]

# What `dvc metrics` shows of each method: (metric, condition).
HEADLINES = {
    "all-star": ("all_star", "inaccessible"),
    "all": ("all", "inaccessible"),
    "belief-choice": ("belief_choice", "inaccessible"),
}

# What is compared in pairs beside the headlines, and the methods that others are held against.
SET_LEVEL = ("all_star", "all", "answerability_all", "infoaccess_all")
SET_LEVEL += ("all_characters", "consistency")
REFERENCES = ("short",)


def printed(table: str) -> pd.DataFrame:
    """A published table in shares, its columns named as a run's metrics are; `n`: question sets
    that people solved. Tables 3 and 4 do not name their context, which is taken for short.
    """
    rows = numbers.published(PUBLICATION, table)
    rows = rows.rename(columns={"metric": "column", "order": "column"})
    counts = PUBLICATION.read("dataset_counts").set_index("item")["count"]
    return rows.assign(
        context=rows.get("context", "short"),
        column=rows["column"].replace(_PRINTED_AS),
        n=rows["model"].map({"Human": int(counts["human_sets"])}),
    )


def share_right(weighted_f1: pd.Series) -> tuple[pd.Series, pd.Series]:
    """The least and the greatest share of right answers that a weighted F1 of yes and no allows: F1
    of a label is at most 2r / (1 + r) at a recall r, a concave function, so that the mean recall is
    at least F / (2 - F). It is greatest where all but a vanishing rest of the questions have one
    label: F = 2a² / (1 + a).
    """
    root = np.sqrt(weighted_f1**2 + 8 * weighted_f1)
    return weighted_f1 / (2 - weighted_f1), (weighted_f1 + root) / 4
