"""Which of the options (A), (B), … an answer names: SimpleToM's questions, OmniToM's linked ones.

The last "answer is" or "answer:" that names a key opens the answer; "is not (A)" opens nothing. In
cut-off text that a key leads the first one does: "(A) No, the answer is (B)" corrects itself, but
in "(B) Yes. The answer is (B). The answer is (A)" the token limit decided what comes last. A key
that leads the answer settles it, unless it leads a question, a denial or a list of options; else
the answer must name exactly one key that it does not deny. Chain of thought needs an opening, or is
a bare key. What was cut off needs a leading key; cut-off chain of thought, "Therefore, the answer
is" as well.
"""

import re

from tomlab.scoring.answers import visible
from tomlab.scoring.choices import Reading, no_option


def read_answer(text: str, finish_reason: str, cot: bool) -> Reading:
    """How one answer is read. text: all of it; cot: it was to reason first."""
    said, open_thought = visible(text)
    cut_off = open_thought or finish_reason == "length"
    _, *parts = (_CLOSING if cot and cut_off else _OPENING).split(said)
    openings = [part for part in parts if _leading_key(part) or _named(part)]
    if open_thought or (cot and not openings and (cut_off or not _ALONE.fullmatch(said))):
        return no_option(said, finish_reason, open_thought, 'reasons without "the answer is" a key')
    first = cut_off and not cot and _leading_key(said)
    answer = openings[0 if first else -1] if openings else said
    where = ' behind "answer is"' if openings else ""
    if key := _leading_key(answer):
        return Reading("answered", key, f"leads with the key{where}")
    named = _named(answer)
    if len(named) == 1 and not cut_off:
        return Reading("answered", named.pop(), f"the only key named{where}")
    why = "names several options" if named else "chooses no option"
    return no_option(said, finish_reason, open_thought, why + where)


# "The answer is" or "Answer:", but not "This answer is …" and "The answer would be …", which stand
# in arguments.
_OPENING = re.compile(r"(?i)(?<!this )\banswer(?: choice)?(?:\s+is\b(?: indeed)?[\s*]*:?|\W{0,4}:)")
# What chain of thought is asked to close with; in what was cut off, nothing else opens an answer.
_CLOSING = re.compile(r"(?i)therefore\W+the (?:\w+ )?answer\s+is\b[\s*]*:?")

# The whole answer: "A", "**(B)**"
_ALONE = re.compile(r"(?i)[\W_]*([A-D])[\W_]*")
# A key at the very beginning: "A", "(A", "> **(A"
_FIRST = re.compile(r"""(?i)[\s"'“‘*_`\[#>-]*\(?([A-D])""")
# What ends a key, so that it is no word: "(A)", "A. Yes", "A" on its line, "A because", "A - Yes"
_END = re.compile(
    r"""(?ix) \) | [.:,;*_`"'”’\]](?:\W|\Z) | \s*(?:\n|\Z) | \s+(?:because|since|[-–—])\s"""
)
# What follows a key that chooses nothing yet:
_GOES_ON = re.compile(
    r"""(?ix) \s*\?                                                 # "(A)? No, …"
    | [^\w\n.:;!]*(?:is|was|would|can|could)(?:n['’]?t)?\b         # "(A) is wrong", "(A) wouldn't"
    | [^\w\n.:;!]*(?:can['’]?t|cannot|seems|if)\b                  # "(A) can't be", "(A), if …"
    | \W*(?:or|and(?!\s+not\b)|nor|vs|versus)\b                    # "(A) or (B)"
    """
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


def _named(answer: str) -> set[str]:
    """The keys that an answer names and does not deny."""
    return {key.upper() for hit in re.findall(_KEY, _DENIED.sub("", answer)) for key in hit if key}


# "(A)", "(b)", "[[C]]" (what ToMBench asks for), "option B", "choice: c". Behind "option" a
# lower-case a is the article.
_KEY = r"(?:\(([A-Da-d])\)|\[\[([A-D])\]\]|\b(?i:option|choice|answer)[\s:*(]{0,3}([A-Dbcd])\b)"
_NOT = r"(?i:\b(?:not|neither|nor|rather than|instead of)|n['’]t)"
_NEGATED = r"(?i:\w*n['’]t|cannot|(?:is|was|does|would|can)\s+not)"
_REJECTED = r"(?i:(?:is|was|would be|can be)\s+(?:wrong|incorrect|ruled out|excluded|un\w+|im\w+))"
_DENIED = re.compile(
    rf"{_NOT}\s+{_KEY}(?:\s+n?or\s+{_KEY})?"  # "not (A)", "neither (A) nor (B)"
    rf"|{_KEY}\)?[\s*]*(?:{_NEGATED}|{_REJECTED})\b"  # "(A) isn't", "(A) is unlikely"
)
