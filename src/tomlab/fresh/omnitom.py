"""Fresh OmniToM records: stories with gold tables, drawn in the story language."""

import random
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from tomlab.benchmarks.omnitom.items import grammar, records
from tomlab.fresh import draw
from tomlab.records.files import yaml_beside
from tomlab.scoring.tracker import states

FILE = "omnitom.jsonl"
write = records.write_records
_TEXTS = yaml_beside(__file__)
_ASKED = (("1", "Location", "Perception"), ("2", "Epistemic", "Inference"))  # for the readers
_VERBS = {"leave": "leaves", "enter": "returns", "move": "moves"}


def family(rng: random.Random, number: int) -> Iterator[dict]:
    """Four records that are alike but for who comes to know what happens, and for where the thing
    is at first. `record` has the events as the grammar of `benchmarks.omnitom` does.
    """
    # Without reasons: no gold table has a row for them.
    text = [*map(rng.choice, _TEXTS["fields"]), draw.happening(rng, draw.WORDS["moves"])]
    ways, letters = draw.ways(rng, _TEXTS["who"]), rng.sample("AOM", 3)
    members = [(words, *way) for words in draw.scenes(rng) for way in ways]
    for member, (words, last, steps) in enumerate(members):
        events = _events(words, steps, letters)
        told = " ".join(each.format(**words) for each in (*text, last))
        record = {"story_id": 100_001 + 4 * number + member, "source": "grammar", "story": told}
        record |= {"story_category": records.CATEGORIES["FBT"], "beliefs": grammar.beliefs(events)}
        for row in record["beliefs"]:  # the plainest wording of a belief on a belief
            wordings = [row["belief"], *row["paraphrases"]]
            row["belief"], *row["paraphrases"] = sorted(wordings, key=lambda w: " thinks " not in w)
        yield record | {"record": events, "family": number, "words": words}


def _events(words: Mapping[str, str], steps: Sequence[str], letters: Sequence[str]) -> list[dict]:
    """The events of a story as the grammar has them."""
    thing, story = words["thing"], draw.story(words, steps, letters)
    people, (_, *later) = story.present, states(story, order=1)
    start = {"event": "start", "place": words["place"], "object": thing, "actors": [*people]}
    found = [start | {"seen_by": [*people], "container": words["s1"]}]
    for event, state in zip(story.events, later, strict=True):
        own = {"event": _VERBS[event.kind], "actor": event.who, "watched_by": [*event.secretly]}
        own["seen_by"] = [person for person in people if person in state.openly]
        found.append(own | ({"container": event.value} if event.value else {}))
    return found


def items(rows: Sequence[Mapping]) -> pd.DataFrame:
    """Questions whether beliefs on where the thing is now are true, but for those of the mover."""
    found = []
    for row in rows:
        for at, belief in enumerate(row["beliefs"]):
            labels, is_mover = belief["labels"], belief["actor"] == row["words"]["M"]
            kind = tuple(labels[name] for name in ("order", "content_type", "mental_source"))
            if kind in _ASKED and row["words"]["thing"] in belief["belief"] and not is_mover:
                own = {"item_id": f"{row['story_id']}/{at}", "tom_order": labels["order"]}
                told = f"{belief['actor']} believes this: “{belief['belief']}.”"
                own |= {"question": f"{told} Is that true?", "story": row["story"]}
                own |= {"choices": ["yes", "no"], "reality": "yes", "family": row["family"]}
                found.append(own | {"answer": "yes" if labels["truth_status"] == "True" else "no"})
    return pd.DataFrame(found)
