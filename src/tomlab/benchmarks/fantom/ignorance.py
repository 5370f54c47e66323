"""FANToM's second reading of a free answer about a belief: does it state a lack of knowledge?"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tomlab.benchmarks.fantom.items.contexts import speakers

# Words that may stand between a person and what they lack, as all but "not" and "idea" do in
# "would probably not even have any idea".
_LINKS = r"(?:,? (?:do(?:es)?|did|can?|could|wo|will|would|is|was|be|remains|has|have|had|holds?"
_LINKS += r"|a|any|the slightest|[a-z]+(?:ly|ic)|also|even|just|now|so|still|then|therefore|yet))*"
IGNORANT = re.compile(
    rf"\b(?P<who>[\w-]+)(?:, who [^,.]*,)?{_LINKS} (?:(?:lacks?|no|not){_LINKS} (?:aware|been told"
    r"|belief|clue|heard?|idea|information|know|knowledge|learn|realize|way)|ignorant|in the dark"
    r"|(?:heard|knows?) nothing|missed (?:it|that)|unaware|was not told)\b(?! (?:at first|until)\b)"
)
# Words around a statement of ignorance (which begins at @) that deny it, leave it open, or make it
# a relative clause about a thing: "a word that she does not know".
DENIED = re.compile(
    r"(?i)\b(?:not|false|untrue|wrong|nobody|doubts?)\b[^,.:;]*\b(?:that|believe|think|say) @"
    r"|\b(?:if|whether) @|\b(?:an?|the) \w+ that @(?:s?he|they) |@.*\bis (?:not true|false|wrong)\b"
)


def states_ignorance(item: Mapping, text: str) -> bool | None:
    """Whether a text states, without denying it, that the person whose belief is asked for does not
    know. For a second-order belief (of X about Y), the text must say that X believes this of Y;
    if it does not name X, it is enough that it says so of Y. One such statement is enough.

    None if the item does not make clear whose ignorance is in question (`_people_in_question`).
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
    """A statement that somebody does not know."""

    person: str | None  # who does not know: the code of a name, or another word
    opening: str  # the words before the statement in its sentence
    is_denied: bool


def _statements(text: str, believer: str | None) -> Iterator[Statement]:
    """The statements of ignorance in a text. "She", "and …" and a quoted "I" stand for the first
    person other than the believer whom the sentence names or, if it names none, whom the last
    sentence that names one does.
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


# The end of a sentence; a full stop after a title such as "Mr." does not count.
_SENTENCE_END = re.compile(
    r"(?<=[.!?;])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)\s+|, but (?!that )"
)
# The code that replaces a name in a text, because names may contain spaces, dots and quotes.
_CODE = re.compile(r"\bSpeaker\d+_")
_JOINED = re.compile(r"(?P<code>\bSpeaker\d+_)(?P<joint>(?:,? (?:and|&)|,) Speaker\d+_)?")


def _people_in_question(item: Mapping, names: list[str]) -> list[str]:
    """The codes of the person whose ignorance is in question and, before it, in the second order of
    the person who holds the belief. They are the first speakers named in the item's answer that
    describes a belief without the missed information. The list is empty if that answer names too
    few speakers (one is needed, or two in the second order) or joins one of them to another name
    ("A and B").
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
    """`text` with each whole-word name replaced by its code; longer names are replaced first."""
    if not names:
        return text
    codes = {name: f"Speaker{number}_" for number, name in enumerate(names)}
    longest_first = sorted(names, key=len, reverse=True)
    any_name = "|".join(re.escape(name) for name in longest_first)
    return re.sub(rf"(?<![\w-])(?:{any_name})(?![\w-])", lambda match: codes[match[0]], text)
