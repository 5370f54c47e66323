"""Estimate how long new answers will take from the times of a model's earlier answers."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from tomlab.models import answers
from tomlab.models.specs import ModelSpec
from tomlab.models.store import Store

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def announcement(store: Store, folders: Sequence[Path], model: ModelSpec, requests: int) -> str:
    """A phrase that says how long this number of requests will take, or why that is unknown."""
    seconds = seconds_per_answer(store, folders, model.name)
    if seconds is None:
        return "no earlier answer of this model says how long they take"
    if getattr(model, "batch", None):
        return "how long a batch takes is up to the vendor"
    total = requests * seconds / min(getattr(model, "max_concurrency", 1), requests)
    return f"{in_words(total)} at the pace of its earlier answers"


def seconds_per_answer(store: Store, folders: Sequence[Path], name: str) -> float | None:
    """A model's mean time per answer, from the store or else from the folders of kept answers; None
    if neither has any.
    """
    query = "SELECT AVG(seconds) FROM responses WHERE model = ? AND seconds > 0"
    [(mean,)] = store.all(query, name)
    if mean is not None:
        return mean
    paths = [path for path in answers.files(folders) if path.stem == name]
    if not paths:
        return None
    table = pd.concat(pd.read_parquet(path, columns=["seconds"]) for path in paths)
    return table["seconds"].mean()


def in_words(seconds: float) -> str:
    """A rounded duration in words, such as "less than a minute" or "about 7 minutes"."""
    if seconds < MINUTE:
        return "less than a minute"
    if seconds < 1.5 * MINUTE:
        return "about a minute"
    if seconds < 2 * HOUR:
        return f"about {seconds / MINUTE:.0f} minutes"
    if seconds < 2 * DAY:
        return f"about {seconds / HOUR:.0f} hours"
    return f"about {seconds / DAY:.0f} days"
