"""Labels scored by our rules and by those of the released evaluation, written a second time.

The release (`run_replication.py`) reads pipe tables by position: the first nine cells of a line, of
an order its first figure, and of a row what repeats actor and belief of a gold row.
"""

import random
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.items import records
from tomlab.benchmarks.omnitom.items.compose import table_text
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, Row
from tomlab.paths import DATA, ROOT

SHARED = ROOT.parent / "shared" / "datasets" / "omnitom"
FILES = [DATA / "omnitom" / "stories.jsonl", SHARED / "gold_sample.jsonl"]


def key(actor: str, belief: str, seen: Counter) -> tuple:
    """A row's actor and belief, and how many rows before it have the same."""
    same = tuple(" ".join(text.split()).lower().strip("\"'") for text in (actor, belief))
    seen[same] += 1
    return (*same, seen[same])


def plain(label: str) -> str:
    return re.sub(r"[^a-z0-9]", "", label.lower())


def released_accuracy(text: str, gold: list[Row]) -> float:
    """The mean accuracy of seven dimensions over the gold rows."""
    said, seen = {}, Counter()
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 9 and cells[0].lower() != "actor" and set(cells[0]) != {"-"}:
            order = re.search(r"\d+", cells[2])
            labels = [order[0] if order else cells[2], *cells[3:9]]
            said[key(cells[0], cells[1].rstrip("."), seen)] = labels
    seen, right = Counter(), []
    for row in gold:
        labels = said.get(key(row.actor, row.belief, seen), [""] * 7)
        wanted = [row.labels[name] for name in DIMENSIONS]
        right += [plain(a) == plain(b) for a, b in zip(labels, wanted, strict=True)]
    return float(np.mean(right))


# Headings of models' own, which name no column.
RENAMED = {
    "Actor": ["Name", "Subject"],
    "Order": ["Nesting", "ToM Order"],
    "Truth-Status": ["Truth Value", "Veracity"],
    "Knowledge-Access": ["Accessibility", "Visibility"],
    "Representation": ["Representation Type", "Form"],
    "Content Type": ["Category", "Content Category"],
    "Mental-Source": ["Mental State", "Origin"],
    "Context": ["Framing", "Notes"],
}


def renamed(head: str, draw: random.Random) -> str:
    """The headings, up to four of them as a model may call them, perhaps with one too many."""
    for name in draw.sample([*RENAMED], draw.randrange(5)):
        head = head.replace(name, draw.choice(RENAMED[name]))
    return f"{head} | Why" if draw.random() < 0.1 else head


def corrupted(gold: list[Row], draw: random.Random) -> str:
    """A labelled table with some rows reworded, misplaced, dropped, repeated, short or too long."""
    actors, kept = [row.actor for row in gold], []
    for row in gold:
        labels = {
            name: draw.choice(legal) if draw.random() < 0.2 else row.labels[name]
            for name, legal in DIMENSIONS.items()
        }
        actor, belief = row.actor, row.belief
        match draw.randrange(9):
            case 0:
                belief = f"It is the case that {belief}"
            case 1:
                actor = draw.choice(actors)
            case 2:
                continue
            case 3:
                belief = f'"{belief.upper()}".'
            case 4:
                kept.append(Row(actor, belief, labels["order"], labels))
        kept.append(Row(actor, belief, labels["order"], labels))
    if draw.random() < 0.3:
        draw.shuffle(kept)
    head, *lines = table_text(kept, 2).splitlines()
    head = renamed(head, draw).replace("-", draw.choice("-\u2011\u2212"))
    for i, line in enumerate(lines):
        match draw.randrange(8):
            case 0:
                lines[i] = line.rpartition(" | ")[0]
            case 1:
                lines[i] = f"{line} | stated"
            case 2:
                actor, belief, order, *rest = line.split(" | ")
                told = {"1": "1st", "2": "2+"}.get(order, f"order-{order}")
                lines[i] = " | ".join([actor, belief, told, *rest])
    return "\n".join([head, "|".join(["---"] * 9), *lines])


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_accuracy_is_that_of_the_released_rules(path):
    """On every fourth story, each answered in ten corrupted ways."""
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    told = records.read_records(path)[::4]
    items = omnitom.asked(omnitom.compose(told), "stage2-L3")
    golds, draw = [records.rows(record) for record in told], random.Random(0)
    texts = {n: [corrupted(gold, draw) for gold in golds] for n in range(10)}
    keys = {"item_id": items["item_id"], "model": "m", "method": "stage2-L3"}
    responses = [pd.DataFrame({**keys, "sample": n, "response": said}) for n, said in texts.items()]
    scores = omnitom.score(items, pd.concat(responses)).set_index(["sample", "item_id"])["score"]
    for n, said in texts.items():
        expected = [released_accuracy(*pair) for pair in zip(said, golds, strict=True)]
        assert scores[n][items["item_id"]].tolist() == pytest.approx(expected)
        assert 0.2 < np.mean(expected) < 0.9
