"""How long new answers will take, judged by those that a model gave before."""

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
    """How long so many requests take, in words."""
    seconds = seconds_per_answer(store, folders, model.name)
    if seconds is None:
        return "no earlier answer of this model says how long they take"
    if getattr(model, "batch", None):
        return "how long a batch takes is up to the vendor"
    total = requests * seconds / min(getattr(model, "max_concurrency", 1), requests)
    return f"{in_words(total)} at the pace of its earlier answers"


def seconds_per_answer(store: Store, folders: Sequence[Path], name: str) -> float | None:
    """The mean time of a model's answers in the store, or else in the folders of kept answers."""
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
    """A time to plan by: "less than a minute", "about 7 minutes"."""
    if seconds < MINUTE:
        return "less than a minute"
    if seconds < 2 * HOUR:
        return f"about {seconds / MINUTE:.0f} minutes"
    if seconds < 2 * DAY:
        return f"about {seconds / HOUR:.0f} hours"
    return f"about {seconds / DAY:.0f} days"
