"""Beliefs of a released BigToM a second time, where its last sentences can be read: for `keys.py`.

Strict: two last sentences say in the same words, but for "does not", that the agent perceives the
event or misses it, and one answer's own words stand in the initial belief, where none of the
other's do: it names the initial state.
"""

import re
from itertools import product

from tomlab.benchmarks.bigtom.items import compose, templates
from tomlab.scoring.tracker import Event, Story, beliefs

SENSES = "notice|see|witness|feel|observe|hear|watch|sense"
PERCEIVED = re.compile(rf"(\S+) ({SENSES})e?s (.+)")
MISSED = re.compile(rf"(\S+) does not ({SENSES}) (.+)")
UNCLEAR = re.compile(r"\b(no|not|nothing|nobody|none|never|but|until|before|after|later)\b|n't")
EVENTS = {"belief": "event", "control": "random_event"}


def read(template):
    """Yields each condition that can be read with its right answer."""
    agent = template["agent"]
    answers = [template["belief_answer_not_aware"], template["belief_answer_aware"]]
    words, other_words = (set(re.findall(r"\w+", answer.lower())) for answer in answers)
    belief = set(re.findall(r"\w+", template["belief"].lower()))
    special = words - other_words
    other_special = other_words - words
    if other_special and other_special <= belief and not special & belief:
        answers.reverse()
    elif not special or not special <= belief or other_special & belief:
        return
    for kind, event in EVENTS.items():
        yes = PERCEIVED.fullmatch(template[f"aware_of_{event}"])
        no = MISSED.fullmatch(template[f"not_aware_of_{event}"])
        is_read = yes and no and yes.groups() == no.groups() and yes[1] == agent
        if not is_read or UNCLEAR.search(yes[3]):
            continue
        changes = [Event("move", thing="it", value=answers[1])] if kind == "belief" else []
        for truth, first in (("true", []), ("false", [Event("distract", agent)])):
            story = Story((agent,), (agent,), {"it": answers[0]}, (*first, *changes))
            yield f"{truth}_{kind}", beliefs(story, order=1)[(agent,)]["it"]


def bigtom(path):
    """Yields row from 0 and rest of an item's id, key found, key expected (None: not read)."""
    keys = compose.read_released(path).set_index("item_id")["answer"]
    for row, template in enumerate(templates.read_templates(path).to_dict("records")):
        expected = dict(read(template))
        for truth, kind, initial in product(("true", "false"), EVENTS, (0, 1)):
            name = f"forward_belief/{truth}_{kind}/{initial}"
            key = keys[f"{template['template_id']}/{name}"]
            yield f"{row}/{name}", key, expected.get(f"{truth}_{kind}")


def report(path):
    """Prints how many stories can be read, and which keys do not follow. It quotes nothing."""
    keys_read = [*bigtom(path)]
    apart = [item for item, key, expected in keys_read if expected and key != expected]
    for item in apart:
        state = "changed" if "true_belief" in item else "initial"
        print(f"  {item}: expected the answer of the {state} state, found the other")
    count = sum(expected is not None for *_, expected in keys_read)
    print(f"BigToM: {count} of {len(keys_read)} stories read, {len(apart)} disputes")
