"""How long new answers will take, judged by those that a model gave before."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from tomlab.models.specs import ModelSpec
from tomlab.models.store import Store

MINUTE, HOUR, DAY = 60, 3600, 86400


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
    query = "SELECT COUNT(*), TOTAL(seconds) FROM responses WHERE model = ? AND seconds > 0"
    [(answers, total)] = store.all(query, name)
    if answers:
        return total / answers
    times = []
    for folder in folders:
        for path in sorted(folder.glob(f"*/{name}.parquet")):
            if "seconds" in pq.read_schema(path).names:
                column = pq.read_table(path, columns=["seconds"])["seconds"]
                times += [seconds for seconds in column.to_pylist() if seconds]
    return sum(times) / len(times) if times else None


def in_words(seconds: float) -> str:
    """A time to plan by: "less than a minute", "about 7 minutes"."""
    if seconds < MINUTE:
        return "less than a minute"
    if seconds < 2 * HOUR:
        return f"about {seconds / MINUTE:.0f} minutes"
    if seconds < 2 * DAY:
        return f"about {seconds / HOUR:.0f} hours"
    return f"about {seconds / DAY:.0f} days"
