"""Beliefs of a released BigToM a second time, where its last sentences can be read: for `keys.py`.

Strict: the last sentences of a template say in the same words, but for "does not", that the agent
perceives the event or misses it. The answer that names the initial state is the one whose own words
all stand in the initial belief, where none of the other's does. All else is not read.
"""

import re
from itertools import product

from tomlab.benchmarks.bigtom.items import compose, templates
from tomlab.fresh.tracker import Event, Story, beliefs

SENSES = "notice|see|witness|feel|observe|hear|watch|sense"
PERCEIVED = re.compile(rf"(\S+) ({SENSES})e?s (.+)")
MISSED = re.compile(rf"(\S+) does not ({SENSES}) (.+)")
UNCLEAR = re.compile(r"\b(no|not|nothing|nobody|none|never|but|until|before|after|later)\b|n't")
EVENTS = {"belief": "event", "control": "random_event"}


def read(template):
    """Yields each condition that can be read with its right answer."""
    agent, people = template["agent"], (template["agent"],)
    answers = [template["belief_answer_not_aware"], template["belief_answer_aware"]]
    own, other, said = ({*re.findall(r"\w+", s.lower())} for s in (*answers, template["belief"]))
    own, other = own - other, other - own
    if other and other <= said and not own & said:
        answers.reverse()
    elif not own or not own <= said or other & said:
        return
    for kind, event in EVENTS.items():
        perceived = PERCEIVED.fullmatch(template[f"aware_of_{event}"])
        missed = MISSED.fullmatch(template[f"not_aware_of_{event}"])
        same = perceived and missed and perceived.groups() == missed.groups()
        if same and perceived[1] == agent and not UNCLEAR.search(perceived[3]):
            change = [Event("move", "", "it", answers[1])] if kind == "belief" else []
            for way, first in (("true", []), ("false", [Event("distract", agent)])):
                story = Story(people, people, {"it": answers[0]}, (*first, *change))
                yield f"{way}_{kind}", beliefs(story, 1)[people]["it"]


def bigtom(path):
    """Yields row from 0 and rest of an item's id, key found, key expected (None: not read)."""
    keys = compose.read_released(path).set_index("item_id")["answer"]
    for row, template in enumerate(templates.read_templates(path).to_dict("records")):
        expected = dict(read(template))
        for way, kind, initial in product(("true", "false"), EVENTS, (0, 1)):
            name = f"forward_belief/{way}_{kind}/{initial}"
            found = keys[f"{template['template_id']}/{name}"]
            yield f"{row}/{name}", found, expected.get(f"{way}_{kind}")


def report(path):
    """Prints how many stories can be read, and which keys do not follow. It quotes nothing."""
    every = [*bigtom(path)]
    known = [key for key in every if key[2]]
    apart = [item for item, found, expected in known if found != expected]
    for item in apart:
        why = "perceives the change" if "true_belief" in item else "knows of no change"
        print(f"  {item}: the agent {why}, expected the other answer")
    print(f"BigToM: {len(known)} of {len(every)} stories read, {len(apart)} disputes")
