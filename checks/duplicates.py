"""How alike are fresh stories of different pairs, of two seeds, and of the fixed sets?

    python checks/duplicates.py                 sets of two seeds, items of the last run
    python checks/duplicates.py <file> …        stories in other files (CSV, JSON or JSON Lines), too

By words: the share of their runs of five words that both have (Jaccard). By meaning: the cosine of
their embeddings, once all stories have the same names. The two stories of a pair are alike by design
and not compared. Ends with 1 if a story stands in two pairs.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from tomlab import paths
from tomlab.fresh import items, sets, stories
from tomlab.scoring.embeddings import MINILM, embed

SEEDS = ("an open seed, for this page alone", "a second seed, to compare with")
PAIRS = 400
ALL_NAMES = [name for names in stories.WORDS["names"].values() for name in names]
NAMES = re.compile("|".join(rf"\b{name}\b" for name in ALL_NAMES))
SAME = ("Anna", "Otto", "Mia", "Emil")


def stories_of(seed):
    """The stories of a set with their pairs."""
    table = items.table(sets.drawn(seed, PAIRS))
    return table[["story", "group_id"]].assign(seed=seed)


def by_words(texts, other_texts):
    """How alike each story of `one` is with each of `other`."""
    counter = CountVectorizer(ngram_range=(5, 5), binary=True, token_pattern=r"\w+")
    counts = counter.fit_transform([*texts, *other_texts]).astype(float)
    a = counts[: len(texts)]
    b = counts[len(texts) :]
    shared = (a @ b.T).toarray()
    sizes = np.asarray(a.sum(axis=1)) + np.asarray(b.sum(axis=1)).T - shared
    return shared / np.maximum(sizes, 1)


def with_same_names(text):
    new = dict(zip(dict.fromkeys(NAMES.findall(text)), SAME, strict=False))
    return NAMES.sub(lambda hit: new[hit[0]], text)


def fixed(files):
    """The stories of the last run's items, and all longer texts of other files."""
    for path in sorted((paths.RESULTS / "items").glob("*.parquet")):
        yield path.stem, pd.read_parquet(path)["story"].drop_duplicates().tolist()
    for path in map(Path, files):
        texts = re.findall(r'"((?:[^"\\]|\\.){80,})"|([^;"\n]{80,})', path.read_text("utf-8"))
        yield path.name, [*{quoted or unquoted for quoted, unquoted in texts}]


def main(*files):
    stories_of_seeds = pd.concat([stories_of(seed) for seed in SEEDS], ignore_index=True)
    pair = (stories_of_seeds["seed"] + stories_of_seeds["group_id"]).to_numpy()
    is_same = pair[:, None] == pair
    texts = stories_of_seeds["story"]
    vectors = embed(texts.map(with_same_names).tolist(), MINILM)
    words = np.where(is_same, 0, by_words(texts, texts)).max(axis=1)
    cosines = np.where(is_same, -1, vectors @ vectors.T).max(axis=1)
    print(
        f"{len(texts)} stories; nearest of another pair by words: mean {words.mean():.2f},", end=" "
    )
    print(f"most {words.max():.2f}; cosine with the same names:", end=" ")
    shares = [f"{limit} or more {(cosines >= limit).mean():.2f}" for limit in (0.9, 0.95)]
    print(", ".join(shares), f"most {cosines.max():.3f}")
    for name, other_texts in fixed(files):
        if other_texts:
            print(f"{name}: by words at most {by_words(texts, other_texts).max():.2f}")
    return int((words == 1).sum() > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
