"""Beliefs in ToMBench's false-belief stories a second time, where they can be read: for `keys.py`.

Two kinds of stories: one moves a thing while another is away; one finds something else in a
container than its label says, and another comes and sees the label. A label says something as a
person does.
"""

import json
import re
from pathlib import Path

from tomlab.scoring.tracker import Event, Story, beliefs

MOVED = re.compile(
    r"(?P<a>\w[\w ]*?) and (?P<b>\w[\w ]*?) (?:are |were )?(?:wander|stroll|hang|walk)\w*.*?"
    r" they (?:find|found|see) (?:the |an? |some )?(?P<thing>[\w ]+?) in (?:the |an? )(?P<first>[\w ]+), "
    r"(?P<out>\w[\w ]*?) leaves .*?, (?P<mover>\w[\w ]*?) move[sd] .*? (?:to|into) the (?P<second>[\w ]+?)\."
)
LABELLED = re.compile(
    r"(?P<a>\w[\w ]*?) finds .*?, the (?:label|tag) on the .*? is (?:an? )?(?P<label>[\w ]+?), .*?"
    r"opens .*? and finds (?:an? |some )?(?P<content>[\w ]+?), .*?, (?P<b>\w[\w ]*?) enters .* sees .*"
)
ASKED = re.compile(
    r"(?:After .*?, )?(?:where|what) does (?P<who>\w[\w ]*?) "
    r"(?:think (?P<whom>\w[\w ]*?) )?(?:looks? for|expects? to find)\b.*",
    re.IGNORECASE,
)
CONTENTS = re.compile(
    r"(?:(?P<whom>\w[\w ]*?) thinks )?[Tt]here (?:is|are) (?!no )(?:an? )?(?P<thing>\w[\w ]*?) "
    r"(?:in|inside) the (?:cabinet|safe|basket|drawer)"
)
WORLD = re.compile(r"(?:Where (?:is|are) .* now|What is (?:in|inside) .*)\?")


def plain(text):
    """A name or a noun as both stories and options may spell it."""
    return re.sub(r"^(an?|the) |[ -]|s$", "", text.strip(" .").lower())


def events_of(text):
    """The `Story` that a text tells, None if it can't be read."""
    if told := MOVED.fullmatch(text):
        a, b, out, mover = (plain(told[name]) for name in ("a", "b", "out", "mover"))
        if {a, b} == {out, mover}:
            first, second = plain(told["first"]), plain(told["second"])
            happens = (Event("leave", out), Event("move", mover, "it", second), Event("enter", out))
            return Story((a, b), (a, b), {"it": first}, happens)
    if told := LABELLED.fullmatch(text):
        a, b, says = plain(told["a"]), plain(told["b"]), plain(told["label"])
        sees = [Event("say", "label", "it", says, who) for who in ((a,), (b, a))]
        happens = (Event("enter", a), sees[0], Event("look", a, "it"), Event("enter", b), sees[1])
        return Story((a, b, "label"), (), {"it": plain(told["content"])}, happens)
    return None


def tombench(path):
    """Yields line, question, the option that is keyed and what follows (None: not read)."""
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), start=1):
        row = {name.split("\n")[-1]: value for name, value in json.loads(line).items()}
        options = {plain(row[f"OPTION-{letter}"]): letter for letter in "ABCD"}
        question, story = row["QUESTION"].strip(), events_of(row["STORY"].strip())
        asked, chain = ASKED.fullmatch(question), None
        if asked:
            chain = tuple(plain(name) for name in asked.groups() if name)
        elif WORLD.fullmatch(question):
            chain = ()
        found = beliefs(story, order=2).get(chain, {}).get("it") if story else None
        yield number, question, row["ANSWER"], options.get(found)


def omnitom(path):
    """Yields story, chain of people, the label of truth and what follows, of beliefs on contents in
    gold tables of OmniToM's: a belief on a belief is true if that person believes so.
    """
    for line in Path(path).read_text("utf-8").splitlines():
        record = json.loads(line)
        story = events_of(record["story"].strip())
        at = beliefs(story, order=2) if story else {}
        for belief in record["beliefs"]:
            told = CONTENTS.fullmatch(belief["belief"])
            if told and at:
                names = [belief["actor"].replace("world", ""), told["whom"]]
                chain = tuple(plain(name) for name in names if name)
                is_so = plain(told["thing"]) == at.get(chain[1:], {}).get("it")
                yield record["story_id"], chain, belief["labels"]["truth_status"], str(is_so)


def report(path):
    """Prints how many keys of a file can be derived, and which do not follow; how many do not."""
    every = [*(tombench(path) if "Task" in Path(path).name else omnitom(path))]
    read = [each for each in every if each[-1] is not None]
    apart = [each for each in read if each[-1] != each[-2]]
    for where, about, key, told in apart:
        who = about if isinstance(about, str) else " on ".join(about)
        print(f"  {where}, {who}: found {key}, expected {told}")
    print(f"{Path(path).name}: {len(read)} of {len(every)} keys read, {len(apart)} disputes")
    return len(apart)
