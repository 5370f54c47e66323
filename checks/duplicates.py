"""How alike are fresh stories of different families, of two seeds, and of the fixed sets?

    python checks/duplicates.py                 a set of each view from two seeds, items of the last run
    python checks/duplicates.py <file> …        stories in other files (CSV, JSON or JSON Lines), too

Two stories are as alike as the share of their runs of five words that both have (Jaccard). Members
of a family are alike by design and not compared. Ends with 1 if a story stands in two families.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from tomlab import paths
from tomlab.fresh import sets, stories

SEEDS = ("an open seed, for this page alone", "a second seed, to compare with")
COUNTS = {"bigtom": 84, "fantom": 48, "omnitom": 84, "simpletom": 112}
NEAR = 0.5


def drawn(view, seed):
    """The stories of a set with their families."""
    if view == "search":
        cells = [
            stories.Cell(order, 2, hidden) for order in (1, 2, 3, 4) for hidden in (False, True)
        ]
        items = pd.concat([stories.items(seed, cell, range(15)) for cell in cells])
    else:
        items = sets.VIEWS[view].items(sets.drawn(seed, view, COUNTS[view]))
    return items.drop_duplicates("story")[["story", "family"]].assign(seed=seed)


def alike(one, other):
    """How alike each story of `one` is with each of `other`."""
    counter = CountVectorizer(ngram_range=(5, 5), binary=True, token_pattern=r"\w+")
    counts = counter.fit_transform([*one, *other]).astype(float)
    a, b = counts[: len(one)], counts[len(one) :]
    both = (a @ b.T).toarray()
    sizes = np.asarray(a.sum(axis=1)) + np.asarray(b.sum(axis=1)).T - both
    return both / np.maximum(sizes, 1)


def fixed(files):
    """The stories of the last run's items, and all longer texts of other files."""
    for path in sorted((paths.RESULTS / "items").glob("*.parquet")):
        yield path.stem, pd.read_parquet(path)["story"].drop_duplicates().tolist()
    for path in map(Path, files):
        texts = re.findall(r'"((?:[^"\\]|\\.){80,})"|([^;"\n]{80,})', path.read_text("utf-8"))
        yield path.name, [*{one or other for one, other in texts}]


def main(*files):
    twice, others = 0, dict(fixed(files))
    for view in [*sets.VIEWS, "search"]:
        both = pd.concat([drawn(view, seed) for seed in SEEDS], ignore_index=True)
        same = (
            both[["family", "seed"]].to_numpy()[:, None] == both[["family", "seed"]].to_numpy()
        ).all(2)
        nearest = np.where(same, 0, alike(both["story"], both["story"])).max(axis=1)
        twice += int((nearest == 1).sum())
        print(
            f"{view}: {len(both)} stories, nearest of another family: mean {nearest.mean():.2f},",
            end=" ",
        )
        print(f"most {nearest.max():.2f}; {NEAR} or more: {(nearest >= NEAR).mean():.1%}; ", end="")
        print("; ".join(f"{n} {alike(both['story'], t).max():.2f}" for n, t in others.items() if t))
    return int(twice > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
