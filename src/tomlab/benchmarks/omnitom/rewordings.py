"""OmniToM's beliefs rewritten by rule, to calibrate judges (App. B.4): in other words, joined, or
turned into a near miss. The wordings stand in `rewordings.yaml`.
"""

import random
import re
from collections.abc import Iterable, Sequence
from itertools import cycle

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
    rules = [rule for rule in _DATA["same"].items() if re.search(rule[0], belief)]
    text = belief
    for pattern, words in draw.sample(rules, min(2, len(rules))):
        text = re.sub(pattern, words, text, count=1)
    if plain(text) == plain(belief):
        return draw.choice(_DATA["frames"]).format(_in_mid_sentence(belief))
    if belief[0].isupper():
        return text[0].upper() + text[1:]
    return text


def joined(first: str, second: str, draw: random.Random) -> str:
    """Two sentences as one."""
    return first.rstrip(" .") + draw.choice([" and ", "; "]) + _in_mid_sentence(second)


def _in_mid_sentence(sentence: str) -> str:
    """The sentence with a small letter, unless it may begin with a name."""
    return sentence[0].lower() + sentence[1:] if _OPENER.match(sentence) else sentence


def _with(belief: str, match: re.Match, words: Iterable[str], group: str | int = 0) -> list[str]:
    """The belief with each of the words in the place of what was matched."""
    start, end = match.span(group)
    return [belief[:start] + word + belief[end:] for word in words]


def places(beliefs: Sequence[str]) -> list[str]:
    """The nouns, with their articles, that follow a preposition of place."""
    nouns = [match[2] for belief in beliefs for match in _PLACE.finditer(belief)]
    return list(dict.fromkeys(nouns))


def other_places(belief: str, nouns: Sequence[str]) -> list[str]:
    """The belief with another place in it: one of `nouns`, or one that no story has."""
    texts = []
    for match in _PLACE.finditer(belief):
        others = [noun for noun in (*nouns, *_DATA["elsewhere"]) if noun != match[2]]
        texts += _with(belief, match, others, 2)
    return texts


def other_people(belief: str, people: Sequence[str], strangers: Sequence[str]) -> list[str]:
    """The belief with one of `strangers`, whom it does not name, for somebody it names."""
    absent = [name for name in strangers if not _name_in(belief, name)]
    texts = []
    for name in people:
        match = _name_in(belief, name)
        if match:
            texts += _with(belief, match, absent)
    return texts


def _name_in(belief: str, name: str) -> re.Match | None:
    """Where the belief has the name. "Ana's father", who may be an actor as well, is not Ana."""
    return re.search(rf"\b{re.escape(name)}\b(?!['’])", belief)


def other_times(belief: str) -> list[str]:
    """The belief with another time in it, by the first of the `times` that has a word of it."""
    for times in _DATA["times"]:
        match = re.search(rf"\b(?:{'|'.join(times)})\b", belief)
        if match:
            return _with(belief, match, [time for time in times if time != match[0]])
    return []


def negations(belief: str) -> list[str]:
    """The belief denied; nothing if it is hedged, negative or without a verb of a short list."""
    match = _VERB.search(belief)
    if match is None or _HEDGED.search(belief):
        return []
    denied = f"does not {match['verb']}" if match["verb"] else f"{match[0]} not"
    return _with(belief, match, [denied])


def renamed(text: str, names: Sequence[str], people: Sequence[str]) -> str:
    """`text` with the first of `names` replaced by the first of `people`, and so on round."""
    if not names or not people:
        return text
    person_of_name = dict(zip(names, cycle(people), strict=False))
    longest_first = sorted(names, key=len, reverse=True)
    pattern = "|".join(rf"\b{re.escape(name)}\b" for name in longest_first)
    return re.sub(pattern, lambda match: person_of_name[match[0]], text)
