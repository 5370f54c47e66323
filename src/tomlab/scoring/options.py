"""Which option an answer to a SimpleToM question names, by our reading and by the release's."""

import re

from tomlab.scoring.answers import unanswered, visible

# What opens an answer. "The answer would be ..." and "This answer is ..." stand in arguments.
_MARKER = re.compile(r"(?<!this )\banswer(?: choice)?(?:\s+is\b[\s*]*:?|\W{0,4}:)", re.IGNORECASE)
# What chain of thought is asked to close with; in what was cut off, nothing else opens an answer.
_CLOSING = re.compile(r"therefore\W+the (?:\w+ )?answer\s+is\b[\s*]*:?", re.IGNORECASE)
_ALONE = re.compile(r"[\W_]*([A-D])[\W_]*", re.IGNORECASE)
_LEADING = re.compile(
    r"""[\s"'“‘*_`\[\#>-]* \(?([A-D])  # a key in brackets; or bare, with an end mark behind it
    (?: \) | (?= [.:,;*_`"'”’\]](?!\w) | \s*(?:\n|\Z) | \s+(?:because|since|[-–—])\s ))
    # which is no question, no subject or condition, and not the first of several
    (?! \s*\? | [^\w\n.:;!]*(?:(?:is|was|would|can|could)(?:n['’]?t)?|can['’]?t|cannot|seems|if)\b )
    (?! \W*(?:or|and|nor|vs|versus)\b | [^\w\n]*(?!\1)[A-D]\) | \W*(?!\1)[A-D]\W*\Z )""",
    re.IGNORECASE | re.VERBOSE,
)
# A key within a sentence. Behind "option" a lower-case a is the article.
_KEY = r"(?:\(([A-Da-d])\)|\b(?i:option|choice|answer)[\s:*(]{0,3}([A-Dbcd])\b)"
_NAMED = re.compile(_KEY)
_DENIED = re.compile(
    rf"(?i:\b(?:not|neither|nor|rather than|instead of)|n['’]t)\s+{_KEY}(?:\s+n?or\s+{_KEY})?"
    rf"|{_KEY}\)?[\s*]*(?i:\w*n['’]t|cannot|(?:is|was|does|would|can)\s+not"
    r"|(?:is|was|would be|can be)\s+(?:wrong|incorrect|ruled out|excluded|un\w+|im\w+))\b"
)


def read_answer(text: str, finish_reason: str, cot: bool) -> tuple[str, str | None]:
    """The outcome-or-"answered" of one answer, and the key it names.

    The last "answer is" or "answer:" opens the answer. A key that leads it settles it; otherwise
    it must name exactly one key, those that it denies aside. Chain of thought needs such an
    opening, or be a bare key. What was cut off at the token limit counts only if a key leads it;
    cut-off chain of thought, only behind "Therefore, the answer is".
    """
    said, open_thought = visible(text)
    cut_off = open_thought or finish_reason == "length"
    *_, marker = [None, *(_CLOSING if cot and cut_off else _MARKER).finditer(said)]
    answer = said[marker.end() :] if marker else said
    if open_thought or (cot and not marker and (cut_off or not _ALONE.fullmatch(answer))):
        key = None
    else:
        key = _leading_key(answer) or (None if cut_off else _only_key(answer))
    return ("answered", key) if key else (unanswered(said, finish_reason, open_thought), None)


def _leading_key(answer: str) -> str | None:
    """The key that leads an answer, unless another leads its next line, as in a list of options."""
    if alone := _ALONE.fullmatch(answer):
        return alone[1].upper()
    if not (first := _LEADING.match(answer)):
        return None
    _, _, below = answer[first.end() :].partition("\n")
    second = _LEADING.match(below)
    key = first[1].upper()
    return None if second and second[1].upper() != key else key


def _only_key(answer: str) -> str | None:
    """The one key that an answer names and does not deny, None if there are several."""
    found = {key.upper() for hit in _NAMED.findall(_DENIED.sub("", answer)) for key in hit if key}
    return found.pop() if len(found) == 1 else None
