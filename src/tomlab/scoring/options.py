"""Which of the options (A), (B), … an answer names: SimpleToM's questions, OmniToM's linked ones.

The last "answer is" or "answer:" opens the answer. A key that leads it settles it, unless it leads
a question, a denial or a list of options; else the answer must name exactly one key, those that it
denies aside. Chain of thought needs such an opening, or be a bare key. What was cut off counts only
if a key leads it; cut-off chain of thought, only behind "Therefore, the answer is".
"""

import re

from tomlab.scoring.answers import visible
from tomlab.scoring.choices import Reading, no_option


def read_answer(text: str, finish_reason: str, cot: bool) -> Reading:
    """How one answer is read. text: all of it; cot: it was to reason first."""
    said, open_thought = visible(text)
    cut_off = open_thought or finish_reason == "length"
    *_, opening = [None, *(_CLOSING if cot and cut_off else _OPENING).finditer(said)]
    answer, where = (said[opening.end() :], ' behind "answer is"') if opening else (said, "")
    if open_thought or (cot and not opening and (cut_off or not _ALONE.fullmatch(answer))):
        return no_option(said, finish_reason, open_thought, 'reasons without "the answer is"')
    if key := _leading_key(answer):
        return Reading("answered", key, f"leads with the key{where}")
    # The keys that are named and not denied.
    named = {key.upper() for hit in _NAMED.findall(_DENIED.sub("", answer)) for key in hit if key}
    if len(named) == 1 and not cut_off:
        return Reading("answered", named.pop(), f"the only key named{where}")
    why = "denies all it names" if _NAMED.search(answer) else "names no option"
    why = "names several options" if named else why
    return no_option(said, finish_reason, open_thought, why + where)


# "The answer is" or "Answer:", but not "This answer is …" and "The answer would be …", which stand
# in arguments.
_OPENING = re.compile(r"(?<!this )\banswer(?: choice)?(?:\s+is\b[\s*]*:?|\W{0,4}:)", re.IGNORECASE)
# What chain of thought is asked to close with; in what was cut off, nothing else opens an answer.
_CLOSING = re.compile(r"therefore\W+the (?:\w+ )?answer\s+is\b[\s*]*:?", re.IGNORECASE)


# The whole answer: "A", "**(B)**"
_ALONE = re.compile(r"[\W_]*([A-D])[\W_]*", re.IGNORECASE)
# A key at the very beginning: "A", "(A", "> **(A"
_FIRST = re.compile(r"""[\s"'“‘*_`\[#>-]*\(?([A-D])""", re.IGNORECASE)
# What ends a key, so that it is no word: "(A)", "A. Yes", "A" on its line, "A because", "A - Yes"
_END = re.compile(
    r"""\) | [.:,;*_`"'”’\]](?:\W|\Z) | \s*(?:\n|\Z) | \s+(?:because|since|[-–—])\s""",
    re.IGNORECASE | re.VERBOSE,
)
# What follows a key that chooses nothing yet:
_GOES_ON = re.compile(
    r"""\s*\?                                                       # "(A)? No, …"
    | [^\w\n.:;!]*(?:is|was|would|can|could)(?:n['’]?t)?\b         # "(A) is wrong", "(A) wouldn't"
    | [^\w\n.:;!]*(?:can['’]?t|cannot|seems|if)\b                  # "(A) can't be", "(A), if …"
    | \W*(?:or|and|nor|vs|versus)\b                                # "(A) or (B)"
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Another key beside it: "(A), (B)" on its line, or "A B" and nothing more
_BESIDE = [re.compile(key, re.IGNORECASE) for key in (r"[^\w\n]*([A-D])\)", r"\W*([A-D])\W*\Z")]


def _leading_key(answer: str) -> str | None:
    """The key that leads an answer, unless another leads its next line, as in a list of options."""
    if alone := _ALONE.fullmatch(answer):
        return alone[1].upper()
    key, rest = _led(answer)
    below, _ = _led(rest.partition("\n")[2])
    return key if below in (None, key) else None


def _led(text: str) -> tuple[str | None, str]:
    """The key that a text leads with and chooses, None if none does, and what follows it."""
    first = _FIRST.match(text)
    if not first or not _END.match(text, first.end()):
        return None, ""
    key, rest = first[1].upper(), text[first.end() :].removeprefix(")")
    beside = [found[1].upper() for pattern in _BESIDE if (found := pattern.match(rest))]
    chooses = not _GOES_ON.match(rest) and all(other == key for other in beside)
    return (key, rest) if chooses else (None, "")


# "(A)", "(b)", "[[C]]" (what ToMBench asks for), "option B", "choice: c". Behind "option" a
# lower-case a is the article.
_KEY = r"(?:\(([A-Da-d])\)|\[\[([A-D])\]\]|\b(?i:option|choice|answer)[\s:*(]{0,3}([A-Dbcd])\b)"
_NAMED = re.compile(_KEY)
_NOT = r"(?i:\b(?:not|neither|nor|rather than|instead of)|n['’]t)"
_NEGATED = r"(?i:\w*n['’]t|cannot|(?:is|was|does|would|can)\s+not)"
_REJECTED = r"(?i:wrong|incorrect|ruled out|excluded|un\w+|im\w+)"
_DENIED = re.compile(
    rf"{_NOT}\s+{_KEY}(?:\s+n?or\s+{_KEY})?"  # "not (A)", "neither (A) nor (B)"
    rf"|{_KEY}\)?[\s*]*{_NEGATED}\b"  # "(A) isn't", "(A) cannot"
    rf"|{_KEY}\)?[\s*]*(?i:is|was|would be|can be)\s+{_REJECTED}\b"  # "(A) is unlikely"
)
