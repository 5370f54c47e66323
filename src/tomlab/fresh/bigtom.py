"""Fresh BigToM templates, and what the tracker says of each item that composes from them."""

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from tomlab.benchmarks.bigtom.items import compose, templates
from tomlab.fresh import draw
from tomlab.records.files import yaml_beside
from tomlab.scoring.tracker import beliefs

FILE = "bigtom.csv"
_TEXTS = yaml_beside(__file__)


def family(rng: random.Random, number: int) -> Iterator[dict]:
    """Two templates that are alike but for where the thing is at first, each with its `words` and
    the steps of who will `know` and who will `miss` what happens, also in the controls.
    """
    verbs = dict(zip(("goes", "go", "get"), rng.choice(_TEXTS["verbs"]), strict=True))
    text = {name: rng.choice(forms) for name, forms in _TEXTS["fields"].items()}
    text["causal_event"] = draw.happening(rng, draw.WORDS["moves"], _TEXTS["reasons"])
    text["random_event"] = draw.happening(rng, draw.WORDS["others"])
    steps = {}
    for event, prefix in (("event", ""), ("random_event", "control_")):
        ways = draw.ways(rng, draw.WORDS["who"], _TEXTS[f"{prefix}kinds"])
        (text[f"aware_of_{event}"], know), (text[f"not_aware_of_{event}"], miss) = ways
        steps |= {f"{prefix}know": know, f"{prefix}miss": miss}
    for member, words in zip("ab", draw.scenes(rng), strict=True):
        row = {name: each.format(**words, **verbs) for name, each in text.items()}
        yield row | steps | {"template_id": f"fresh-{number + 1:04d}{member}", "words": words}


def write(rows: Sequence[Mapping], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        for row in rows:
            story = " ".join(row[name] for name in templates.STORY)
            after = [row[name] for name in templates.AFTER_STORY]
            writer.writerow([story, *after, "authored", row["template_id"]])


def items(rows: Sequence[Mapping]) -> pd.DataFrame:
    """The items of templates, with `family`, the pair, and `control`. Errors: `InputError` with
    every item whose key is not what the tracker derives from its events.
    """
    found = compose.compose(templates.template_table(list(rows)))
    of = {row["template_id"]: row for row in rows}
    draw.check_keys("bigtom", found, found["group_id"].map(of), derived)
    control = found["condition"].str.endswith("control")
    return found.assign(family=found["group_id"].str[:-1], control=control)


def derived(item: Mapping, row: Mapping) -> str:
    """The option that fits what the agent believes after the events of an item. In a backward
    inference these are the events that make the agent do what the story says.
    """
    is_control = item["condition"].endswith("control")
    outcome = "know" if item["condition"].startswith("true") else "miss"
    is_earlier, words = item["variable"] == "percept_to_belief", row["words"]
    steps = () if is_earlier else row["control_" * is_control + outcome]
    at = beliefs(draw.story(words, steps, "AOM", is_control), order=1)[words["A"],]
    who = "aware" if at[words["thing"]] == words["s2"] else "not_aware"
    return row[f"{item['question_type']}_answer_{who}"]
