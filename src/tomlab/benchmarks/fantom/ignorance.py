"""FANToM's second reading of a free belief: does it say that the person does not know?"""

import re
from collections.abc import Mapping, Sequence

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


# A word of its own stands in for each name, which may have spaces, dots and quotes in it.
_CODE = "Speaker{}_"
_NAMED = re.compile(r"\bSpeaker\d+_(?P<joint>(?:,? (?:and|&)|,) Speaker\d+_)?")


# Where a sentence ends, but not behind a title such as "Mr.".
_SENTENCE_END = re.compile(
    r"(?<=[.!?;])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)\s+|, but (?!that )"
)


def states_ignorance(item: Mapping, text: str) -> bool | None:
    """Whether a text says, and does not deny, that the person whose belief is asked for does not
    know; in the second order, that X believes so of Y (or that of Y, without a word of X). Saying
    it once is enough. "She", "and …" and an "I" in quotes are the person whom the sentence names
    first, X aside, or the one before if it names nobody.

    None where it cannot be decided, because the item does not say whose ignorance is in question:
    see `_asked_about`.
    """
    names = speakers(item["full_story"])
    x, person = _asked_about(item, names)
    if person is None:
        return None
    text = _with_codes(text, names)
    believes = ""
    if x is not None and x in text:
        believes = rf"\b{x}\b.*\b(?:(?:believe|know|think|realize)s|sure)\b"
    text = re.sub(r" ?(?:n['’]t|(?<=can)not|\bnever)\b", " not", text)
    topic = None
    for sentence in _SENTENCE_END.split(text):
        for named in _codes(sentence):
            if named != x:
                topic = named
                break
        for match in IGNORANT.finditer(sentence):
            before = sentence[: match.start()]
            who = match["who"]
            if who.lower() in ("he", "she", "they", "and") or (who == "I" and '"' in before):
                who = topic
            is_denied = DENIED.search(f"{before}@{sentence[match.start() :]}")
            if who == person and re.search(believes, before) and not is_denied:
                return True
    return False


def _asked_about(item: Mapping, names: Sequence[str]) -> tuple[str | None, str | None]:
    """X (None in the first order) and the person whose ignorance is in question, as codes: those
    whom the belief of somebody who missed the information names first. The person is None where
    it names nobody who speaks, in the second order fewer than two, or several in one breath.
    """
    unaware = item["answer" if item["scenario"] == "inaccessible" else "wrong_answer"]
    needed = 2 if item["tom_order"].startswith("second") else 1
    people = []
    for match in _NAMED.finditer(_with_codes(unaware, names)):
        code = match[0].partition("_")[0] + "_"
        if code in people:
            continue
        if match["joint"]:
            return None, None
        people.append(code)
        if len(people) == needed:
            x = people[0] if needed == 2 else None
            return x, people[-1]
    return None, None


def _with_codes(text: str, names: Sequence[str]) -> str:
    """`text` with codes in place of names, as whole words; of two that overlap, the longer one."""
    if not names:
        return text
    codes = {name: _CODE.format(number) for number, name in enumerate(names)}
    longest_first = sorted(names, key=len, reverse=True)
    any_name = "|".join(re.escape(name) for name in longest_first)
    return re.sub(rf"(?<![\w-])(?:{any_name})(?![\w-])", lambda match: codes[match[0]], text)


def _codes(text: str) -> list[str]:
    return re.findall(r"\bSpeaker\d+_", text)
