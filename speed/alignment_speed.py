"""What it takes to align and score a benchmark of the paper's size.

Measured: 895 stories with 22,343 predicted and 22,343 gold beliefs (Tab. 4 of OmniToM), aligned by
embeddings with optimal assignment and scored. Beside it, on a tenth of the stories, the plain way:
every predicted belief is held against every gold belief of the story, cosine by cosine, and takes
the closest free one of its actor. Stories are the project's own and generated ones, taken in turn
until the numbers are right. Vectors are random ones of length 1 that stand in for cached embeddings: a predicted
belief's lies close to its gold belief's, so that there are matches to find.

Goal: under 60 s. Needs no model, no key and no network; seconds on two cores:

    python speed/alignment_speed.py
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle, islice
from statistics import mean

import numpy as np

from tomlab.benchmarks.omnitom.alignment import (
    actor_key,
    align,
    precision_recall_f1,
    texts_to_embed,
)
from tomlab.benchmarks.omnitom.items.records import Row, read_records, rows
from tomlab.paths import DATA, ROOT

STORIES, BELIEFS, DIMENSIONS = 895, 22_343, 384
THRESHOLD = 0.75
MOST_SECONDS = 60
OWN = DATA / "omnitom" / "stories.jsonl"
WORKED = ROOT.parent / "shared" / "datasets" / "omnitom" / "worked_examples.jsonl"


def stories() -> Iterator[tuple[list[Row], list[Row]]]:
    """Predicted and gold tables, every text its own."""
    records = read_records(OWN if OWN.is_file() else WORKED)
    short, longer = divmod(BELIEFS, STORIES)
    for number, record in zip(range(STORIES), cycle(records), strict=False):
        size = short + (number < longer)
        own = enumerate(islice(cycle(rows(record)), size))
        gold = [replace(row, belief=f"{row.belief} ({number}.{i})") for i, row in own]
        predicted = [replace(row, belief=f"{row.belief}, as predicted") for row in gold]
        yield predicted[::-1], gold


def cached(tables: Sequence[tuple[list[Row], list[Row]]]) -> dict[str, np.ndarray]:
    """A vector a text: any direction for gold, and one near that for what was predicted from it."""
    draw = np.random.default_rng(0)
    texts = texts_to_embed(table for pair in tables for table in pair)
    vectors = dict(zip(texts, unit(draw.normal(size=(len(texts), DIMENSIONS))), strict=True))
    for predicted, gold in tables:
        for row, meant in zip(predicted, reversed(gold), strict=True):
            near = vectors[meant.belief] + draw.uniform(0, 1.5) * vectors[row.belief]
            vectors[row.belief] = unit(near)
    return vectors


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def aligned(
    tables: Sequence[tuple[list[Row], list[Row]]], vectors: Mapping[str, np.ndarray]
) -> float:
    """Macro F1 by `align`."""
    found = (align(*pair, "embedding", THRESHOLD, vectors) for pair in tables)
    return mean(precision_recall_f1(alignment)[2] for alignment in found)


def plain(
    tables: Sequence[tuple[list[Row], list[Row]]], vectors: Mapping[str, np.ndarray]
) -> float:
    """Macro F1 by two loops, the closest free partner first come, first served."""
    scores = []
    for predicted, gold in tables:
        actors, free, matched = {row.actor for row in gold}, set(range(len(gold))), 0
        for row in predicted:
            best, at = THRESHOLD, None
            for i, other in enumerate(gold):
                if actor_key(row.actor, actors) != other.actor or i not in free:
                    continue
                pairs = zip(vectors[row.belief], vectors[other.belief], strict=True)
                cosine = sum(a * b for a, b in pairs)
                if cosine >= best:
                    best, at = cosine, i
            matched += at is not None
            free.discard(at)
        precision, recall = matched / len(predicted), matched / len(gold)
        scores.append(2 * precision * recall / (precision + recall) if matched else 0.0)
    return mean(scores)


def seconds(way: Callable[[], float]) -> tuple[float, float]:
    start = time.perf_counter()
    score = way()
    return time.perf_counter() - start, score


def main() -> None:
    tables = list(stories())
    vectors = cached(tables)
    part = tables[: STORIES // 10]
    taken, f1 = seconds(lambda: aligned(tables, vectors))
    taken_part, f1_part = seconds(lambda: aligned(part, vectors))
    loops, f1_loops = seconds(lambda: plain(part, vectors))
    predicted, gold = (sum(len(pair[side]) for pair in tables) for side in (0, 1))
    print(
        f"{len(tables)} stories, {predicted} predicted and {gold} gold beliefs, {len(vectors)} texts"
    )
    print("vectors: random, in the place of cached embeddings")
    print(f"{'':34}{'seconds':>9}{'macro F1':>10}")
    print(f"{'aligned, all stories':34}{taken:9.2f}{f1:10.3f}")
    print(f"{f'aligned, {len(part)} stories':34}{taken_part:9.2f}{f1_part:10.3f}")
    print(f"{f'two plain loops, {len(part)} stories':34}{loops:9.2f}{f1_loops:10.3f}")
    met = "met" if taken < MOST_SECONDS else "not met"
    print(f"all stories: {taken:.1f} s   goal: under {MOST_SECONDS} s   {met}")
    print(f"the loops take {loops / taken_part:.1f} times as long as the alignment")


if __name__ == "__main__":
    main()
