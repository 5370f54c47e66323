"""OmniToM's beliefs rewritten by rule, to calibrate judges (App. B.4): in other words, joined, or
turned into a near miss. The wordings stand in `rewordings.yaml`.
"""

import random
import re
from collections.abc import Sequence

from tomlab.records.files import yaml_beside
from tomlab.scoring.similarity import plain

_DATA = yaml_beside(__file__)
_OPENER = re.compile(rf"({'|'.join(_DATA['openers'])})\b")
# Up to a word that no compound noun goes on with: "in the room", not "in the living".
_PLACE = re.compile(
    r"\b(in|on|under|behind|into|onto|inside|at|from|to|near|beside) "
    r"((?:the|a|an) (?!hurry|moment|morning|afternoon|evening|night|weekend|way|end)\w+)"
    r"(?=\W*$|[,;]| (?:and|but|for|if|in|on|under|to|when|while|with)\b)"
)
# A "not" would make these something else than the opposite, or the same again.
_HEDGED = re.compile(
    r"\b(not|never|nobody|nothing|may|might|maybe|perhaps|probably|half|whether|how|\w+n['’]t)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|will|would|can|could|should|must)\b|"
    rf"\b(?P<verb>{'|'.join(_DATA['verbs'])})s\b|\b(?:has|had)(?= (?:been|just|\w+ed)\b)"
)


def reworded(belief: str, draw: random.Random) -> str:
    """The belief in other words; where no rule applies, in a phrase that adds nothing."""
    able = [rule for rule in _DATA["same"].items() if re.search(rule[0], belief)]
    text = belief
    for pattern, words in draw.sample(able, min(2, len(able))):
        text = re.sub(pattern, words, text, count=1)
    if plain(text) != plain(belief):
        return text[0].upper() + text[1:] if belief[0].isupper() else text
    return draw.choice(_DATA["frames"]).format(_lowered(belief))


def joined(first: str, second: str, draw: random.Random) -> str:
    """Two sentences as one."""
    return first.rstrip(" .") + draw.choice([" and ", "; "]) + _lowered(second)


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:] if _OPENER.match(sentence) else sentence


def places(beliefs: Sequence[str]) -> list[str]:
    """The nouns, with their articles, that follow a preposition of place."""
    return [*dict.fromkeys(place[2] for belief in beliefs for place in _PLACE.finditer(belief))]


def other_places(belief: str, nouns: Sequence[str]) -> list[str]:
    """The belief with another place in it: one of `nouns`, or one that no story has."""
    return [
        belief[: place.start(2)] + noun + belief[place.end(2) :]
        for place in _PLACE.finditer(belief)
        for noun in (*nouns, *_DATA["elsewhere"])
        if noun != place[2]
    ]


def other_people(belief: str, people: Sequence[str], strangers: Sequence[str]) -> list[str]:
    """The belief with one of `strangers`, whom it does not name, for somebody it names."""
    # "Ana" is not named in "Ana's father", who may be an actor as well.
    names = (*people, *strangers)
    named = {name: re.search(rf"\b{re.escape(name)}\b(?!['’])", belief) for name in names}
    spans = [named[name].span() for name in people if named[name]]
    others = [name for name in strangers if not named[name]]
    return [belief[:start] + other + belief[end:] for start, end in spans for other in others]


def other_times(belief: str) -> list[str]:
    """The belief with another time in it, by the first of the `times` that has a word of it."""
    for times in _DATA["times"]:
        if found := re.search(rf"\b(?:{'|'.join(times)})\b", belief):
            others = [time for time in times if time != found[0]]
            return [belief[: found.start()] + time + belief[found.end() :] for time in others]
    return []


def negations(belief: str) -> list[str]:
    """The belief denied; nothing if it is hedged, negative or without a verb of a short list."""
    verb = _VERB.search(belief)
    if verb is None or _HEDGED.search(belief):
        return []
    words = f"does not {verb['verb']}" if verb["verb"] else f"{verb[0]} not"
    return [belief[: verb.start()] + words + belief[verb.end() :]]


def renamed(text: str, names: Sequence[str], people: Sequence[str]) -> str:
    """`text` with the first of `names` replaced by the first of `people`, and so on round."""
    if not names or not people:
        return text
    fitted = {name: people[i % len(people)] for i, name in enumerate(names)}
    pattern = "|".join(rf"\b{re.escape(name)}\b" for name in sorted(names, key=len, reverse=True))
    return re.sub(pattern, lambda found: fitted[found[0]], text)
