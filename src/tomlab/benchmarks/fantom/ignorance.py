"""FANToM's second reading of a free belief: does it say that the person does not know?"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tomlab.benchmarks.fantom.items.contexts import speakers

# What may stand between somebody and what they lack: "would probably not even have any idea".
_LINKS = r"(?:,? (?:do(?:es)?|did|can?|could|wo|will|would|is|was|be|remains|has|have|had|holds?"
_LINKS += r"|a|any|the slightest|[a-z]+(?:ly|ic)|also|even|just|now|so|still|then|therefore|yet))*"
IGNORANT = re.compile(
    rf"\b(?P<who>[\w-]+)(?:, who [^,.]*,)?{_LINKS} (?:(?:lacks?|no|not){_LINKS} (?:aware|been told"
    r"|belief|clue|heard?|idea|information|know|knowledge|learn|realize|way)|ignorant|in the dark"
    r"|(?:heard|knows?) nothing|missed (?:it|that)|unaware|was not told)\b(?! (?:at first|until)\b)"
)
# What stands around a statement (@) where it is denied, open, or of a thing: "a word that she".
DENIED = re.compile(
    r"(?i)\b(?:not|false|untrue|wrong|nobody|doubts?)\b[^,.:;]*\b(?:that|believe|think|say) @"
    r"|\b(?:if|whether) @|\b(?:an?|the) \w+ that @(?:s?he|they) |@.*\bis (?:not true|false|wrong)\b"
)


def states_ignorance(item: Mapping, text: str) -> bool | None:
    """Whether a text says, and does not deny, that the person whose belief is asked for does not
    know; in the second order, that X believes so of Y (or that of Y, without a word of X). Saying
    it once is enough.

    None where it cannot be decided, because the item does not say whose ignorance is in question:
    see `_people_in_question`.
    """
    names = speakers(item["full_story"])
    people = _people_in_question(item, names)
    if not people:
        return None
    text = _with_codes(text, names)
    believes = ""
    believer = None
    if len(people) == 2 and people[0] in text:
        believer = people[0]
        believes = rf"\b{believer}\b.*\b(?:(?:believe|know|think|realize)s|sure)\b"
    for statement in _statements(text, believer):
        is_believed = re.search(believes, statement.opening)
        if statement.person == people[-1] and is_believed and not statement.is_denied:
            return True
    return False


class Statement(NamedTuple):
    """A statement of somebody's ignorance."""

    person: str | None  # who does not know: the code of a name, or another word
    opening: str  # what stands before it in its sentence
    is_denied: bool


def _statements(text: str, believer: str | None) -> Iterator[Statement]:
    """What a text says of who does not know. "She", "and …" and an "I" in quotes are the person
    whom the sentence names first, the believer aside, or the one before if it names nobody.
    """
    text = re.sub(r" ?(?:n['’]t|(?<=can)not|\bnever)\b", " not", text)
    topic = None
    for sentence in _SENTENCE_END.split(text):
        codes = [code for code in _CODE.findall(sentence) if code != believer]
        if codes:
            topic = codes[0]
        for match in IGNORANT.finditer(sentence):
            opening = sentence[: match.start()]
            person = match["who"]
            is_quoted = person == "I" and '"' in opening
            if is_quoted or person.lower() in ("he", "she", "they", "and"):
                person = topic
            is_denied = DENIED.search(f"{opening}@{sentence[match.start() :]}") is not None
            yield Statement(person, opening, is_denied)


# Where a sentence ends, but not behind a title such as "Mr.".
_SENTENCE_END = re.compile(
    r"(?<=[.!?;])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)\s+|, but (?!that )"
)
# A word of its own stands in for each name, which may have spaces, dots and quotes in it.
_CODE = re.compile(r"\bSpeaker\d+_")
_JOINED = re.compile(r"(?P<code>\bSpeaker\d+_)(?P<joint>(?:,? (?:and|&)|,) Speaker\d+_)?")


def _people_in_question(item: Mapping, names: list[str]) -> list[str]:
    """The person whose ignorance is in question and, in the second order, X before: the codes of
    those whom the belief of somebody who missed the information names first. None where it names
    nobody who speaks, in the second order fewer than two, or several in one breath.
    """
    column = "answer" if item["scenario"] == "inaccessible" else "wrong_answer"
    is_joint: dict[str, bool] = {}
    for match in _JOINED.finditer(_with_codes(item[column], names)):
        is_joint.setdefault(match["code"], match["joint"] is not None)
    needed = 2 if item["tom_order"].startswith("second") else 1
    people = list(is_joint)[:needed]
    if len(people) < needed or any(is_joint[code] for code in people):
        return []
    return people


def _with_codes(text: str, names: list[str]) -> str:
    """`text` with codes in place of names, as whole words; of two that overlap, the longer one."""
    if not names:
        return text
    codes = {name: f"Speaker{number}_" for number, name in enumerate(names)}
    longest_first = sorted(names, key=len, reverse=True)
    any_name = "|".join(re.escape(name) for name in longest_first)
    return re.sub(rf"(?<![\w-])(?:{any_name})(?![\w-])", lambda match: codes[match[0]], text)
