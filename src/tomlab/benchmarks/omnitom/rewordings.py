"""Rules that rewrite OmniToM's beliefs, to calibrate judges (App. B.4): they paraphrase a belief,
join two, or turn one into a near miss. The wordings are in `rewordings.yaml`.
"""

import random
import re
from collections.abc import Iterable, Sequence
from itertools import cycle

from tomlab.records.files import yaml_beside
from tomlab.scoring.similarity import plain

_DATA = yaml_beside(__file__)
_OPENER = re.compile(rf"({'|'.join(_DATA['openers'])})\b")
# The next word must not continue a compound noun: "in the room", not "in the living" (room).
_PLACE = re.compile(
    r"\b(in|on|under|behind|into|onto|inside|at|from|to|near|beside) "
    r"((?:the|a|an) (?!hurry|moment|morning|afternoon|evening|night|weekend|way|end)\w+)"
    r"(?=\W*$|[,;]| (?:and|but|for|if|in|on|under|to|when|while|with)\b)"
)
# With these words, adding "not" gives no opposite: the result may even mean the same.
_HEDGED = re.compile(
    r"\b(not|never|nobody|nothing|may|might|maybe|perhaps|probably|half|whether|how|\w+n['’]t)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|will|would|can|could|should|must)\b|"
    rf"\b(?P<verb>{'|'.join(_DATA['verbs'])})s\b|\b(?:has|had)(?= (?:been|just|\w+ed)\b)"
)


def reworded(belief: str, draw: random.Random) -> str:
    """The belief in other words. If no rule changes it, a phrase that adds no meaning frames it."""
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
    """Two sentences joined by "and" or a semicolon."""
    return first.rstrip(" .") + draw.choice([" and ", "; "]) + _in_mid_sentence(second)


def _in_mid_sentence(sentence: str) -> str:
    """The sentence with a lower-case first letter if it begins with one of the YAML's `openers`, so
    that names keep their capital.
    """
    return sentence[0].lower() + sentence[1:] if _OPENER.match(sentence) else sentence


def _with(belief: str, match: re.Match, words: Iterable[str], group: str | int = 0) -> list[str]:
    """Copies of the belief, in each of which one of `words` replaces the matched text."""
    start, end = match.span(group)
    return [belief[:start] + word + belief[end:] for word in words]


def places(beliefs: Sequence[str]) -> list[str]:
    """The distinct nouns, with their articles, that follow a preposition of place."""
    nouns = [match[2] for belief in beliefs for match in _PLACE.finditer(belief)]
    return list(dict.fromkeys(nouns))


def other_places(belief: str, nouns: Sequence[str]) -> list[str]:
    """Copies of the belief with one place replaced by another of `nouns` or of `elsewhere`."""
    texts = []
    for match in _PLACE.finditer(belief):
        others = [noun for noun in (*nouns, *_DATA["elsewhere"]) if noun != match[2]]
        texts += _with(belief, match, others, 2)
    return texts


def other_people(belief: str, people: Sequence[str], strangers: Sequence[str]) -> list[str]:
    """Copies of the belief in which one of `people` is replaced by one of `strangers` whom the
    belief does not name.
    """
    absent = [name for name in strangers if not _name_in(belief, name)]
    texts = []
    for name in people:
        match = _name_in(belief, name)
        if match:
            texts += _with(belief, match, absent)
    return texts


def _name_in(belief: str, name: str) -> re.Match | None:
    """The match of a name in a belief, or None. "Ana's father" is no match for "Ana"."""
    return re.search(rf"\b{re.escape(name)}\b(?!['’])", belief)


def other_times(belief: str) -> list[str]:
    """Copies of the belief with another time. The first group of the YAML's `times` that has a word
    of the belief provides the others; [] if none has.
    """
    for times in _DATA["times"]:
        match = re.search(rf"\b(?:{'|'.join(times)})\b", belief)
        if match:
            return _with(belief, match, [time for time in times if time != match[0]])
    return []


def negations(belief: str) -> list[str]:
    """The belief with its verb negated; [] if it is hedged or negative or has no listed verb."""
    match = _VERB.search(belief)
    if match is None or _HEDGED.search(belief):
        return []
    denied = f"does not {match['verb']}" if match["verb"] else f"{match[0]} not"
    return _with(belief, match, [denied])


def renamed(text: str, names: Sequence[str], people: Sequence[str]) -> str:
    """`text` with each of `names` replaced by the person at its place in `people`, which starts
    again if it is shorter.
    """
    if not names or not people:
        return text
    person_of_name = dict(zip(names, cycle(people), strict=False))
    longest_first = sorted(names, key=len, reverse=True)
    pattern = "|".join(rf"\b{re.escape(name)}\b" for name in longest_first)
    return re.sub(pattern, lambda match: person_of_name[match[0]], text)
