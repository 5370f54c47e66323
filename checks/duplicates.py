"""How alike are fresh stories of different families, of two seeds, and of the fixed sets?

    python checks/duplicates.py                 a set of each view from two seeds, items of the last run
    python checks/duplicates.py <file> …        stories in other files (CSV, JSON or JSON Lines), too

By words: the share of their runs of five words that both have (Jaccard). By meaning: the cosine of
their embeddings, once all stories have the same names. Members of a family are alike by design and
not compared. Ends with 1 if a story stands in two families.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from tomlab import paths
from tomlab.fresh import draw, sets, stories
from tomlab.scoring.embeddings import MINILM, embed

SEEDS = ("an open seed, for this page alone", "a second seed, to compare with")
COUNTS = {"bigtom": 84, "fantom": 48, "omnitom": 84, "simpletom": 112}
NAMES = re.compile("|".join(name for names in draw.WORDS["names"].values() for name in names))
SAME = ("Anna", "Otto", "Mia", "Emil")


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


def by_words(one, other):
    """How alike each story of `one` is with each of `other`."""
    counter = CountVectorizer(ngram_range=(5, 5), binary=True, token_pattern=r"\w+")
    counts = counter.fit_transform([*one, *other]).astype(float)
    a, b = counts[: len(one)], counts[len(one) :]
    both = (a @ b.T).toarray()
    sizes = np.asarray(a.sum(axis=1)) + np.asarray(b.sum(axis=1)).T - both
    return both / np.maximum(sizes, 1)


def with_same_names(text):
    new = dict(zip(dict.fromkeys(NAMES.findall(text)), SAME, strict=False))
    return NAMES.sub(lambda hit: new[hit[0]], text)


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
        family = (both["seed"] + both["family"].astype(str)).to_numpy()
        same, told = family[:, None] == family, both["story"]
        vectors = embed(told.map(with_same_names).tolist(), MINILM)
        words = np.where(same, 0, by_words(told, told)).max(axis=1)
        cosines = np.where(same, -1, vectors @ vectors.T).max(axis=1)
        twice += int((words == 1).sum())
        print(f"{view}: {len(told)} stories; nearest of another family by words: mean", end=" ")
        print(f"{words.mean():.2f}, most {words.max():.2f}; cosine with the same names:", end=" ")
        shares = [f"{limit} or more {(cosines >= limit).mean():.2f}" for limit in (0.9, 0.95)]
        print(", ".join(shares), f"most {cosines.max():.3f};", end=" ")
        print("; ".join(f"{n} {by_words(told, t).max():.2f}" for n, t in others.items() if t))
    return int(twice > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
