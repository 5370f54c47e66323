"""ToMBench's false beliefs a second time, where they can be read: for `keys.py`.

Strict: a story with a clause that is none of `FORMS` is not read, nor a question that is none of
`ASKED`. A label tells whoever sees it what is inside; whoever opens a container looks. Two texts
name the same if they differ in nothing but articles, spaces, capitals and plurals.
"""

import re

from tomlab.benchmarks.omnitom.items.records import read_tombench
from tomlab.errors import InputError
from tomlab.scoring.tracker import KINDS, Event, Story, beliefs

LABEL, NAME = "the label", r"[A-Z]\w*(?: [A-Z]\w*)*"
WHO, OTHER = f"(?P<who>{NAME})", f"(?P<other>{NAME})"
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
    found = ((kind, re.fullmatch(form, text)) for kind, form in forms.items())
    kind, words = next(((kind, own.groupdict()) for kind, own in found if own), ("", {}))
    words = {name: plain(word) for name, word in words.items() if word}
    return kind, [words.pop(name) for name in ("who", "other") if name in words], words


def read(text):
    """What each chain believes, what is so or labelled so at first, and of which thing; or None."""
    people, present, things, first, events = [LABEL], [], {}, "", []
    for clause in re.split(r"[,.] (?=they |the |there |[A-Z])", text.strip().strip(".")):
        kind, own, words = hit(FORMS, clause)
        thing, value = words.get("thing", ""), words.get("value", "")
        people += [name for name in own if name not in people]
        present = own if kind == "scene" else present
        first = value if kind in ("put", "label say") else first
        things |= {thing: value} if "put" in kind else {}
        said = Event("say", LABEL, thing, first, (*people[1:],))
        acts = [act for act in kind.split() if act in KINDS]
        events += [said if act == "say" else Event(act, *own, thing, value) for act in acts]
        if not kind or len(things) > 1:
            return None
    story = Story((*people,), (*present,), things, (*events,))
    try:
        at = {chain: [*told.values()] for chain, told in beliefs(story, order=2).items()}
    except InputError:  # such as a story in which somebody leaves twice
        return None
    return ({chain: told[0] for chain, told in at.items()}, first, *things) if things else None


def tombench(folder):
    """Yields row from 0 and kind of question, letter found and the one expected (None: unread)."""
    told = read_tombench(folder).query("story_category == 'False Belief Task'")
    for _, _, story, asked in told.explode("questions").itertuples():
        kind, chain, _ = hit(ASKED, asked["question"])
        at, first, _ = read(story) or ({}, "", "")
        value = kind and (first if kind == "before" else at.get((*chain,)))
        letters = {plain(option): "ABCD"[n] for n, option in enumerate(asked["choices"])}
        follows = letters.get(value, "no option") if value else None
        yield f"{asked['source_row'] - 1} ({kind})", letters[plain(asked["answer"])], follows
