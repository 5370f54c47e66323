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
    own, other, said = ({*re.findall(r"\w+", s.lower())} for s in (*answers, template["belief"]))
    own, other = own - other, other - own
    if other and other <= said and not own & said:
        answers.reverse()
    elif not own or not own <= said or other & said:
        return
    for kind, event in EVENTS.items():
        yes = PERCEIVED.fullmatch(template[f"aware_of_{event}"])
        no = MISSED.fullmatch(template[f"not_aware_of_{event}"])
        is_read = yes and no and yes.groups() == no.groups() and yes[1] == agent
        if is_read and not UNCLEAR.search(yes[3]):
            change = [Event("move", thing="it", value=answers[1])] if kind == "belief" else []
            for way, first in (("true", []), ("false", [Event("distract", agent)])):
                story = Story((agent,), (agent,), {"it": answers[0]}, (*first, *change))
                yield f"{way}_{kind}", beliefs(story, order=1)[(agent,)]["it"]


def bigtom(path):
    """Yields row from 0 and rest of an item's id, key found, key expected (None: not read)."""
    keys = compose.read_released(path).set_index("item_id")["answer"]
    for row, t in enumerate(templates.read_templates(path).to_dict("records")):
        expected = dict(read(t))
        for way, kind, initial in product(("true", "false"), EVENTS, (0, 1)):
            name = f"forward_belief/{way}_{kind}/{initial}"
            yield f"{row}/{name}", keys[f"{t['template_id']}/{name}"], expected.get(f"{way}_{kind}")


def report(path):
    """Prints how many stories can be read, and which keys do not follow. It quotes nothing."""
    every = [*bigtom(path)]
    apart = [item for item, key, expected in every if expected and key != expected]
    for item in apart:
        state = "changed" if "true_belief" in item else "initial"
        print(f"  {item}: expected the answer of the {state} state, found the other")
    count = sum(expected is not None for *_, expected in every)
    print(f"BigToM: {count} of {len(every)} stories read, {len(apart)} disputes")
