"""SimpleToM's paper: where its numbers are printed, in which unit, and what they leave possible."""

import pandas as pd

from tomlab.asking.techniques import TECHNIQUES
from tomlab.records.files import yaml_beside
from tomlab.records.published import Paper, Wording

_DATA = yaml_beside(__file__)
PUBLICATION = Paper("simpletom", "SimpleToM", "Gu et al., 2024", _DATA["tables"])

METHOD_NAMES = _DATA["methods"] | {name: name for name in TECHNIQUES}
WORDING = Wording("SimpleToM", METHOD_NAMES, groups="entity sets")

# What `dvc metrics` shows of each method: (metric, condition).
HEADLINES = {
    "mental-state": ("accuracy", "mental_state"),
    "behavior": ("accuracy", "behavior"),
    "judgment": ("accuracy", "judgment"),
}

# The methods that others are held against.
REFERENCES = ("none",)


def bounds(accuracy: pd.DataFrame) -> pd.DataFrame:
    """What three accuracies leave possible of first failures (Fig. 3), which are not printed.

    accuracy: a row a model with the shares mental_state, behavior and judgment. Of three questions
    right with the shares a, b, c, exactly 1 − a of the stories fail at the first; the other shares
    lie between what the least and the greatest overlap of right answers give (Fréchet). Returns a
    row a model and question_type (or "none"): low, high, and value where both are the same.
    """
    a, b, c = (accuracy[name] for name in ("mental_state", "behavior", "judgment"))
    ends = {
        "mental_state": (1 - a, 1 - a),
        "behavior": ((a - b).clip(lower=0), (1 - b).clip(upper=a)),
        "judgment": ((a + b - 1 - c).clip(lower=0), (1 - c).clip(upper=b.clip(upper=a))),
        "none": ((a + b + c - 2).clip(lower=0), c.clip(upper=b.clip(upper=a))),
    }
    frames = [
        pd.DataFrame({"low": low, "high": high}).round(3).reset_index().assign(question_type=part)
        for part, (low, high) in ends.items()
    ]
    rows = pd.concat(frames, ignore_index=True)
    return rows.assign(value=rows["low"].where(rows["low"].eq(rows["high"])))
