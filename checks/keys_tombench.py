"""ToMBench's false beliefs a second time, where they can be read: for `keys.py`.

Strict: a story with a clause that is none of `FORMS` is not read, nor a question that is none of
`ASKED`. A label tells whoever sees it what is inside; whoever opens a container looks. Two texts
name the same if they differ in nothing but articles, spaces, capitals and plurals.
"""

import re

from tomlab.benchmarks.omnitom.items.records import read_tombench
from tomlab.errors import InputError
from tomlab.scoring.tracker import KINDS, Event, Story, beliefs

LABEL = "the label"
NAME = r"[A-Z]\w*(?: [A-Z]\w*)*"
WHO = f"(?P<who>{NAME})"
OTHER = f"(?P<other>{NAME})"
FORMS = {  # by what happens, in words of the tracker and others
    "scene": rf"{WHO} and {OTHER} (?:are|stroll|roam|wander)\b.*",
    "put": "(?:they find|There is) (?P<thing>.+) in the (?P<value>.+)",
    "move": f"{WHO} (?:moves|puts) (?P<thing>.+) (?:in|into|to) the (?P<value>.+)",
    "leave": f"{WHO} (?:leaves|exits) the .+",
    "label say": "the (?:label|tag) on the (?P<thing>.+) is (?P<value>.+)",
    "look put": f"{WHO} opens the (?P<thing>.+) and finds (?P<value>.+)",
    "enter say": f"{WHO} enters the .+ and sees the (?P<thing>.+)",
    "enter": f"{WHO} (?:returns to|enters) the .+|{OTHER} finds an? .+ (?:in|on) the .+",
    "pass": f"they see .+|{NAME} cannot see .+|there (?:is|are) no .+|{NAME} closes the .+",
}
HOW = f"(?:After .+, )?[Ww]h(?:ere|at) does {WHO}(?: think {OTHER})? (?:looks?|expects?)"
ASKED = {
    "now": r"Where (?:is|are) the .+ now\?|What is (?:in|inside) the .+\?",
    "before": r"Where (?:is|are) the .+ before\?|What should be (?:in|inside) the .+\?",
    "belief": rf"{HOW} .+\?",
}


def plain(text):
    text = re.sub(r"^(an?|the|some) ", "", text.strip().lower())
    return re.sub(r"(?<=o)es$|s$", "", text).replace(" ", "")


def hit(forms, text):
    """The name of the form that a text is in, "" for none, its people, and its other words."""
    for kind, form in forms.items():
        match = re.fullmatch(form, text)
        if match:
            words = {name: plain(word) for name, word in match.groupdict().items() if word}
            people = [words.pop(name) for name in ("who", "other") if name in words]
            return kind, people, words
    return "", [], {}


def read(text):
    """What each chain believes, what is so or labelled so at first, and of which thing; or None."""
    people = [LABEL]
    present = []
    objects = {}
    first = ""
    events = []
    for clause in re.split(r"[,.] (?=they |the |there |[A-Z])", text.strip().strip(".")):
        kind, names, words = hit(FORMS, clause)
        object_name = words.get("thing", "")
        value = words.get("value", "")
        people += [name for name in names if name not in people]
        if kind == "scene":
            present = names
        if kind in ("put", "label say"):
            first = value
        if "put" in kind:
            objects[object_name] = value
        for act in kind.split():
            if act == "say":
                events.append(Event("say", LABEL, object_name, first, (*people[1:],)))
            elif act in KINDS:
                events.append(Event(act, *names, object_name, value))
        if not kind or len(objects) > 1:
            return None
    if not objects:
        return None
    try:
        held = beliefs(Story((*people,), (*present,), objects, (*events,)), order=2)
    except InputError:  # such as a story in which somebody leaves twice
        return None
    [object_name] = objects
    return {chain: values[object_name] for chain, values in held.items()}, first, object_name


def tombench(folder):
    """Yields row from 0 and kind of question, letter found and the one expected (None: unread)."""
    stories = read_tombench(folder).query("story_category == 'False Belief Task'")
    for _, _, story, asked in stories.explode("questions").itertuples():
        kind, chain, _ = hit(ASKED, asked["question"])
        values, first, _ = read(story) or ({}, "", "")
        value = first if kind == "before" else values.get((*chain,))
        letters = {plain(option): "ABCD"[n] for n, option in enumerate(asked["choices"])}
        follows = None
        if kind and value:
            follows = letters.get(value, "no option")
        yield f"{asked['source_row'] - 1} ({kind})", letters[plain(asked["answer"])], follows
