"""Labels scored by our rules and by those of the released evaluation, written a second time.

The release (`run_replication.py`) reads pipe tables by position: the first nine cells of a line, of
an order its first figure, and of a row what repeats actor and belief of a gold row.
"""

import random
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from omnitom_stories import SHARED
from replies import answered
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.items.compose import table_text
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, read_records, rows
from tomlab.paths import DATA

FILES = [DATA / "omnitom" / "stories.jsonl", SHARED / "omnitom" / "gold_sample.jsonl"]


def counted_key(actor, belief, times):
    """A row's actor and belief, and how many rows before it have the same."""
    key = tuple(" ".join(text.split()).lower().strip("\"'") for text in (actor, belief))
    times[key] += 1
    return (*key, times[key])


def plain(label):
    return re.sub(r"[^a-z0-9]", "", label.lower())


def released_accuracy(text, gold):
    """The mean accuracy of seven dimensions over the gold rows."""
    labels_by_key = {}
    times = Counter()
    for line in text.splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 9:
            order = re.search(r"\d+", cells[2])
            labels = [order[0] if order else cells[2], *cells[3:9]]
            key = counted_key(cells[0], cells[1].rstrip("."), times)
            labels_by_key[key] = [plain(label) for label in labels]
    right = []
    times = Counter()
    for row in gold:
        labels = labels_by_key.get(counted_key(row.actor, row.belief, times), [""] * 7)
        gold_labels = [plain(row.labels[name]) for name in DIMENSIONS]
        right += np.equal(labels, gold_labels).tolist()
    return float(np.mean(right))


def corrupted_rows(gold, draw):
    """The gold rows, some relabelled, reworded, misplaced, dropped or repeated."""
    corrupted = []
    for row in gold:
        labels = dict(row.labels)
        for name, legal in DIMENSIONS.items():
            if draw.random() < 0.2:
                labels[name] = draw.choice(legal)
        relabelled = replace(row, labels=labels)
        reworded = replace(relabelled, belief=f"It is the case that {row.belief}")
        misplaced = replace(relabelled, actor=draw.choice(gold).actor)
        in_quotes = replace(relabelled, belief=f'"{row.belief.upper()}".')
        edits = [[reworded], [misplaced], [], [in_quotes], [relabelled] * 2]
        corrupted += draw.choice([*edits, *[[relabelled]] * 3])
    if draw.random() < 0.3:
        draw.shuffle(corrupted)
    return corrupted


def corrupted(gold, draw):
    """The labelled table of corrupted rows, some of them short, too long or with other orders."""
    header, *lines = table_text(corrupted_rows(gold, draw), 2).splitlines()
    for place, line in enumerate(lines):
        actor, belief, order, labels = line.split(" | ", 3)
        in_words = {"1": "1st", "2": "2+"}.get(order, f"order-{order}")
        reordered = f"{actor} | {belief} | {in_words} | {labels}"
        too_short = line.rpartition(" | ")[0]
        lines[place] = draw.choice([too_short, f"{line} | stated", reordered, *[line] * 5])
    return "\n".join([header, "|".join(["---"] * 9), *lines])


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_accuracy_is_that_of_the_released_rules(path):
    """On every fourth story, each answered in ten corrupted ways."""
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    records = read_records(path)[::4]
    items = omnitom.asked(omnitom.compose(records), "stage2-L3")
    draw = random.Random(0)
    responses = []
    expected = []
    for sample in range(10):
        texts = []
        for record in records:
            gold = rows(record)
            texts.append(corrupted(gold, draw))
            expected.append(released_accuracy(texts[-1], gold))
        responses.append(answered(items, texts, "stage2-L3", sample=sample))
    scores = omnitom.score(items, pd.concat(responses))
    assert scores["score"].tolist() == pytest.approx(expected)
    assert 0.2 < np.mean(expected) < 0.9
