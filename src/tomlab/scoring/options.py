"""Which of the options (A), (B), … an answer names: one reading of letters for all benchmarks.

A key is the letter of an option. First, all that is no answer is removed: thinking (`visible`), and
what follows if the model goes on with a question of its own (`run_on`). Then every letter is put
into brackets (`letters`), and these rules are tried in turn:

1. An announcement is "answer is", "answer:", "correct option is", "I choose" … followed by a key.
   The text after the last announcement is the answer. An announcement does not count after "if" or
   "at first sight", nor if it denies the key ("is not (A)"). In cut-off text that begins with a
   key, the first announcement counts, because the token limit decided which one is last.
2. If the answer begins with a key, that is its choice, unless the key begins a question, a denial
   or a list.
3. Otherwise the answer must name exactly one key that it neither denies nor asks about, or have
   one key alone on its last line, or call exactly one key correct.

Chain of thought is only read by an announcement, if it is nothing but a key, or by a key alone on
its last line. A cut-off answer must begin with a key; cut-off chain of thought must do so after
"Therefore, the answer is". If the model takes an answer back ("Wait, …") and then names another
key, the answer is unreadable.
"""

import re
from collections.abc import Callable, Iterable

from tomlab.scoring.choices import Reading, no_option
from tomlab.scoring.letters import in_brackets
from tomlab.scoring.run_on import before_next_question
from tomlab.scoring.visible import visible

KEYS = "ABCD"


def read_answer(
    text: str, finish_reason: str, cot: bool, chooser: Callable[..., Reading] | None = None
) -> Reading:
    """The reading of one answer: the key that it names, or why there is none.

    text: the whole response; cot: whether the model was asked to reason first; chooser: takes the
    place of `choose`, for a benchmark whose answers begin in a way of their own.
    """
    if chooser is None:
        chooser = choose
    reply, open_thought = visible(text)

    def is_read(beginning: str) -> bool:
        return chooser(beginning, cut_off=False, cot=cot).key is not None

    answer = before_next_question(reply, is_read, cot)
    if answer is None:
        why = "goes on with another question before it names an option"
        return no_option(reply, finish_reason, open_thought, why)
    cut_off = finish_reason == "length" and answer == reply
    reading = chooser(answer, cut_off=cut_off, cot=cot)
    if reading.key is None or open_thought:
        return no_option(reply, finish_reason, open_thought, reading.rule)
    return reading


def choose(
    answer: str, cut_off: bool, cot: bool, keys: str = KEYS, has_colon: bool = True
) -> Reading:
    """The reading of an answer's text: "answered" with a key of `keys`, or "unparsed".

    answer: the response without thinking and questions of the model's own; cut_off: whether the
    token limit ended it; cot: whether the model was asked to reason first; keys: the letters of the
    options; has_colon: whether "A:" names an option (it may also stand for "answer:").
    """
    reading = _choice(in_brackets(answer, has_colon), cut_off, cot)
    if reading.key is not None and reading.key not in keys:
        return _unread("names a key under which no option stands")
    return reading


def leading(answer: str, keys: str = KEYS, has_colon: bool = True) -> Reading:
    """The reading of an answer by the key that it begins with, whatever keys it names later."""
    text = in_brackets(answer, has_colon)
    key = _leading_key(text, cut_off=False)
    if key is None or key not in keys:
        return _unread("does not lead with a key")
    return _unless_taken_back(text, key, LEADS)


def keys_in(answer: str, keys: str = KEYS, has_colon: bool = True) -> set[str]:
    """All keys that an answer names, also those that it denies."""
    return set(re.findall(_KEY, in_brackets(answer, has_colon))).intersection(keys)


# Rules in words, as they stand in a `Reading`.
LEADS = "leads with the key"
LAST_LINE = "its last line is the key"
TAKEN_BACK = "takes its answer back"


def _unread(rule: str) -> Reading:
    return Reading("unparsed", None, rule)


def _choice(text: str, cut_off: bool, cot: bool) -> Reading:
    """The reading of a text in which the letters already stand in brackets."""
    announced = _announced(text, _CLOSING if cot and cut_off else _OPENING)
    if announced:
        is_led = cut_off and not cot and _leading_key(text) is not None
        return _announced_choice(announced[0] if is_led else announced[-1], cut_off)
    if cot:
        return _bare(text, cut_off)
    return _plain_choice(text, cut_off)


def _announced_choice(answer: str, cut_off: bool) -> Reading:
    """The reading of the text after an announcement."""
    where = 'behind "answer is" or the like'
    key = _leading_key(answer, cut_off)
    if key is not None:
        return _unless_taken_back(answer, key, f"{LEADS} {where}")
    keys = _named(answer)
    if len(keys) == 1 and not cut_off:
        return _unless_taken_back(answer, keys.pop(), f"the only key named {where}")
    return _unread(f"{_no_choice(keys)} {where}")


def _plain_choice(text: str, cut_off: bool) -> Reading:
    """The reading of a text without an announcement."""
    key = _leading_key(text, cut_off)
    if key is not None:
        return _unless_taken_back(text, key, LEADS)
    keys = _named(text)
    if cut_off:
        return _unread(_no_choice(keys))
    if len(keys) == 1 and _has_passing(text):
        return _unread("names an option in passing")
    if len(keys) == 1:
        return _unless_taken_back(text, keys.pop(), "the only key named")
    key, rule = _singled_out(text)
    if key is None:
        return _unread(_no_choice(keys))
    return _unless_taken_back(text, key, rule)


def _unless_taken_back(answer: str, key: str, rule: str) -> Reading:
    """The reading "answered" with a key, or "unparsed" if the answer takes it back."""
    if _is_taken_back(answer, key):
        return _unread(TAKEN_BACK)
    return Reading("answered", key, rule)


def _no_choice(keys: set[str]) -> str:
    return "names several options" if keys else "chooses no option"


def _bare(text: str, cut_off: bool) -> Reading:
    """The reading of chain of thought without an announcement: the key that is all of the text, or
    stands alone on its last line.
    """
    if not cut_off:
        alone = _ALONE.fullmatch(text)
        if alone:
            return Reading("answered", alone[1], LEADS)
        key = _last_line(text)
        if key:
            return Reading("answered", key, LAST_LINE)
    return _unread('reasons without "the answer is" a key')


# A key, a key alone, and a key that leads: "(A)", "> - (A)", "It's (A)", "So, option (A)"
_KEY = r"\(([A-D])\)"
_ALONE = re.compile(rf"[\W_]*{_KEY}[\W_]*")
_LEAD_IN = (
    r"(?:(?:sure|okay|ok|yes|well|so|thus|hence|therefore|definitely|probably|clearly|surely"
    r"|likely|i (?:think|believe|guess|would say)(?: that)?|it(?:'s| is| must be| has to be)"
    r"|that(?:'s| is)|(?:the )?option|(?:the )?choice|(?:the )?letter|final|a:(?= *\())[\s,:!.]*)*"
)
_FIRST = re.compile(rf"[\s\"'\[#>•:=-]*{_LEAD_IN}{_KEY}", re.IGNORECASE)
_FIRST_ALONE = re.compile(rf"[\s\"'\[#>•:=-]*{_KEY}")
# Words after a key that show that it is no choice yet:
_GOES_ON = re.compile(
    r"""(?ix) \s*\?                                                 # "(A)? No, …"
    | [^\w\n.:;!]*(?:is|was|would|can|could)(?:n['’]?t)?\b         # "(A) is wrong", "(A) wouldn't"
    | [^\w\n.:;!]*(?:can['’]?t|cannot|seems|if|unless)\b           # "(A) can't be", "(A), if …"
    | \W*(?:or|and(?!\s+not\b)|nor|vs|versus)\b                    # "(A) or (B)"
    """
)
# "(B) is the correct answer", unless it goes on with "if"
_CALLED_RIGHT = re.compile(
    r"\s*(?:it\s+)?(?:is|must\s+be)\s+(?:\w+ly\s+)?(?:(?:the|my|most|more)\s+)*"
    r"(?:correct|right|best|answer|final|likely|true|accurate|appropriate)\b"
    r"(?![^.!?\n]*(?:\?|\b(?:if|unless|only|when)\b))",
    re.IGNORECASE,
)
# Another key beside it: "(A), (B)" on its line, or "(A) (B)" and nothing more
_BESIDE = re.compile(rf"[^\w\n]*{_KEY}|\W*{_KEY}\W*\Z")


def _leading_key(answer: str, cut_off: bool = True) -> str | None:
    """The key that an answer begins with and chooses; None if there is none, or if the next line
    begins with another key, as in a list of options.
    """
    alone = _ALONE.fullmatch(answer)
    if alone:
        return None if re.search(rf"{_KEY}\s*\?", answer) else alone[1]
    key, remainder = _led(answer, cut_off)
    if key is None or "\n" not in remainder:
        return key
    _, _, below = remainder.partition("\n")
    next_key, _ = _led(below.lstrip(), cut_off)
    return key if next_key in (None, key) else None


def _led(text: str, cut_off: bool) -> tuple[str | None, str]:
    """The key that a text begins with and chooses, and the text after it; None and "" if none."""
    lead = _FIRST_ALONE.match(text) or _FIRST.match(text)
    if not lead:
        return None, ""
    key = lead[1].upper()
    remainder = text[lead.end() :]
    if not cut_off and _CALLED_RIGHT.match(remainder):
        return key, remainder
    second = _BESIDE.match(remainder)
    if second and (second[1] or second[2]) != key:
        return None, ""
    if _GOES_ON.match(remainder):
        return None, ""
    return key, remainder


# How an answer denies a key, or asks about it.
_NOT = r"(?i:\b(?:not|neither|nor|rather than|instead of|over|except)|n['’]t)"
_OPTION = r"(?:\s+(?i:the|option|answer|choice))*\s+"
_NEGATED = r"(?i:\w*n['’]t|cannot|(?:is|was|does|would|can)\s+not)"
_REJECTED = (
    r"(?i:(?:is|was|would be|can be|must be|seems)\s+(?:\w+ly\s+)?"
    r"(?:wrong|false|incorrect|ruled out|excluded|eliminated|un\w+|im\w+|less\s\w+))"
)
_EXCLUDING = r"(?i:\b(?:rul\w+ out|eliminat\w+|reject\w*|exclud\w+|discard\w*|dismiss\w*))"
_BAD = (
    r"(?i:\b(?:wrong|incorrect|other|unlikely|false)(?: \w+)? (?:options?|answers?|choices?|ones?))"
)
_DENIED = re.compile(
    rf"{_NOT}{_OPTION}{_KEY}(?:\s+n?or{_OPTION}{_KEY})?"  # "not (A)", "neither (A) nor (B)"
    rf"|{_EXCLUDING}{_OPTION}{_KEY}"  # "rules out (A)"
    rf"|{_BAD}\s*(?:is|was|:|,)?\s*{_KEY}"  # "the wrong answer: (A)"
    rf"|{_KEY}\s*(?:(?:{_NEGATED}|{_REJECTED})\b|\?)"  # "(A) isn't", "(A) is unlikely", "(A)?"
    rf"|{_KEY}[^\w\n.:;!]*(?i:only\s+if|if|unless|assuming|provided|otherwise)\b"  # "(A) if she …"
)


def _named(answer: str) -> set[str]:
    """The keys that an answer names and neither denies nor asks about."""
    return set(re.findall(_KEY, _DENIED.sub("", answer)))


def _singled_out(text: str) -> tuple[str | None, str]:
    """For a text that does not name exactly one key: the key alone on its last line, or the only
    one that it calls correct, and the rule in words; None and "" if neither applies.
    """
    key = _last_line(text)
    if key:
        return key, LAST_LINE
    plain = _DENIED.sub("", text)
    called_right = set()
    for match in re.finditer(_KEY, plain):
        if _CALLED_RIGHT.match(plain, match.end()):
            called_right.add(match[1])
    if len(called_right) == 1:
        return called_right.pop(), "the only key that it calls correct"
    return None, ""


def _last_line(text: str) -> str | None:
    """The key that stands alone on the last line of a text and on no other line."""
    above, _, last = text.rstrip().rpartition("\n")
    alone = _ALONE.fullmatch(last)
    lines = [line for line in above.split("\n") if line.strip()]
    if alone is None or "?" in last or not lines:
        return None
    if not above.endswith("\n") and _FIRST.match(lines[-1]):
        return None  # the last line of a list of options
    if any(_ALONE.fullmatch(line) for line in lines):
        return None
    return alone[1]


_ABOUT = r"(?:\s+(?:to|for|in|of|here|on)\b[^.\n:?!()]{0,60}?)?"
_IS = (
    r"(?:\s+(?:is|was|remains)\b(?:\s+(?:indeed|clearly|definitely|therefore|thus|simply))*\s*:?"
    r"|\s*(?:->|→|\s[-–—]\s)|\W{0,4}[:=])"
)
_CHOSEN = r"(?:correct|right|best|final|chosen|selected|likely|appropriate|better|preferred|my)"
_CHOOSE = (
    r"(?:choose|chose|pick|picked|select|selected|go with|going with|opt for|settle on|vote for"
    r"|conclude(?: that)?(?: it is)?|say)"
).replace(" ", r"\ ")
# Words before "answer" that make it no announcement: "this answer is …" argues, "the other answer
# is …" names the option that is not chosen.
_ARGUING = [
    "this",
    "that",
    "other",
    "wrong",
    "incorrect",
    "false",
    "another",
    "alternative",
    "first",
    "second",
]
_NOT_CHOSEN = "".join(rf"(?<!\b{word}[ ])" for word in _ARGUING)
_OPENING = re.compile(
    rf"""(?ix)
      {_NOT_CHOSEN}\banswer(?:\ choice|\ option|\ letter|\ key)?{_ABOUT}{_IS}
    | \b{_CHOSEN}\ (?:option|choice|response|selection|letter|alternative|pick|one){_ABOUT}{_IS}
    | \b(?:option|choice|selection|selected|chosen|verdict)[_ ]?(?:option|letter)?"\s*:\s*  # JSON
    | \bI(?:'d|'ll|'m|\ would|\ will|\ am|\ must|\ shall)?(?:\ \w+ly)?\ {_CHOOSE}\b\s*:?
    | \b(?:wait|actually|correction|no)[,:.]+\s+(?:it(?:'s|\ is)\s+|option\s+)*(?={_KEY})
    """
)
# How chain of thought is asked to end; if it was cut off, nothing else counts as an announcement.
_CLOSING = re.compile(r"(?i)therefore\W+the (?:\w+ )?(?:answer|option|choice)\s+is\b\s*:?")
_WOULD_BE = re.compile(rf"(?i){_NOT_CHOSEN}\banswer{_ABOUT}\s+(?:would|should|must) be\b\s*:?")
# Words that make an announcement one in passing, which does not count, before or after it.
_PASSING = re.compile(
    r"\b(?:if|unless|suppose|supposing|assuming|initially|tempting|at first"
    r"|first (?:sight|glance|thought)"
    r"|(?:one|you|some|people|someone) (?:might|may|could|would) (?:think|say|argue))\b",
    re.IGNORECASE,
)
_FORCED = re.compile(r"(?i)\bif (?:I|one) (?:had|have|has) to \w+")
_CLAUSE = re.compile(r"[.!?\n;]|\b(?:but|however)\b")


def _announced(text: str, opening: re.Pattern) -> list[str]:
    """The text after each announcement that names a key, up to the next announcement. "The answer
    would be" only announces where nothing else does.
    """
    answers = _behind(text, opening)
    if answers or opening is _CLOSING or " be" not in text:
        return answers
    return [answer for answer in _behind(text, _WOULD_BE) if not _PASSING.search(answer)]


# The patterns of announcements are slow: they are only tried on texts that have one of these words.
_ANNOUNCING = (
    "answer", "option", "choice", "select", "verdict", "letter", "alternative", "response",
    "pick", "choose", "i'd ", "i'll ", "i say", "would say", "opt for", "settle on", "vote",
    "go with", "going with", "conclude", "correct", "best", "right", "final", "chosen", "likely",
    "wait", "actually", "no,", "no.", "no:",
)  # fmt: skip


def _has_word(text: str, words: Iterable[str]) -> bool:
    folded = text.lower()
    return any(word in folded for word in words)


def _behind(text: str, opening: re.Pattern) -> list[str]:
    """The text after each match of `opening`, up to the next one, if it names a key and the match
    is not in passing.
    """
    if not _has_word(text, _ANNOUNCING):
        return []
    matches = list(opening.finditer(text))
    ends = [*(match.start() for match in matches[1:]), len(text)]
    answers = []
    for match, end in zip(matches, ends, strict=False):
        answer = text[match.end() : end]
        names_key = _leading_key(answer) is not None or _named(answer)
        if names_key and not _is_in_passing(text, match.start()):
            answers.append(answer)
    return answers


def _has_passing(text: str) -> bool:
    """Whether a text has an announcement in passing: "If she knew, the answer is (A)"."""
    if not _has_word(text, _ANNOUNCING):
        return False
    for match in [*_OPENING.finditer(text), *_WOULD_BE.finditer(text)]:
        if _is_in_passing(text, match.start()) or _PASSING.search(text, match.end()):
            return True
    return False


def _is_in_passing(text: str, position: int) -> bool:
    """Whether words before an announcement, in the same clause, make it one in passing."""
    beginning = _FORCED.sub("", text[max(0, position - 300) : position])
    clause = _CLAUSE.split(beginning)[-1]
    return _PASSING.search(clause) is not None


# Parts of words, one of which every match of `_CORRECTION` has: without one, it is not tried.
_CORRECTING = [
    "wait",
    "actual",
    "correction",
    "scratch",
    "second",
    "mist",
    "was",
    "mind",
    "oops",
    "reco",
]
_CORRECTION = re.compile(
    r"\b(?:wait|actually|correction|scratch that|on second thought|my mistake|i was wrong"
    rf"|changed my mind|oops|reconsider\w*)\b[^?\n]{{0,80}}?{_KEY}",
    re.IGNORECASE,
)


def _is_taken_back(answer: str, key: str) -> bool:
    """Whether an answer goes on with "wait", "actually" … and a key other than `key`."""
    if not _has_word(answer, _CORRECTING):
        return False
    corrected = [match[1] for match in _CORRECTION.finditer(_DENIED.sub("", answer))]
    return any(new_key != key for new_key in corrected)
