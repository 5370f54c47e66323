"""How FANToM's release reads answers: letters, names, yes or no, token overlap (Sec. 3.4, App. A.4).

The rules are those of the released code, quirks included, so that scores compare with the paper's.
What a rule credits and a reader would doubt is told apart in `scoring`.
"""

from collections import Counter
from collections.abc import Sequence

from tomlab.scoring.answers import visible

YES, NO, IRRELEVANT = 1, 0, -1

_YES_WITHIN, _YES_FIRST = (" yes,", " yes ", " yes.", " knows "), ("yes", "true")
_NO_WITHIN = (" no,", " no ", " no.", " does not know ", " doesn't know ")
_NO_FIRST = ("no", "false")


def answer_text(response: str) -> tuple[str, bool]:
    """The part of a response that is scored, and whether its thinking never ended.

    As in the release, what follows the last "Answer:" counts, else what follows the last repetition
    of "Choose an answer from above:", else all of it.
    """
    text, open_thought = visible(response)
    for cue in ("Answer:", "Choose an answer from above:"):
        if cue in text:
            return text.rsplit(cue, 1)[1].strip(), open_thought
    return text, open_thought


def names_option(text: str, letter: str) -> bool:
    """Whether an answer names option `letter`: it opens with the letter and one of `) . : ,`, is
    the letter alone, or has "(letter)" anywhere, be it beside the other option.
    """
    text = text.lower()
    openings = (f"({letter})", *(f"{letter}{mark}" for mark in ").:,"))
    return text.startswith(openings) or f"({letter})" in text or text == letter


def yes_or_no(text: str) -> int:
    """`YES`, `NO` or `IRRELEVANT`; signs of "yes" are looked for first.

    The release lacks "does know", which App. A.4 lists, and takes any answer that opens with "no",
    such as "not sure", for a no.
    """
    said = text.lower().strip("'").strip('"')
    if any(sign in said for sign in _YES_WITHIN) or said.startswith(_YES_FIRST):
        return YES
    if any(sign in said for sign in _NO_WITHIN) or said.startswith(_NO_FIRST):
        return NO
    return IRRELEVANT


def says_both(text: str) -> bool:
    """Whether an answer that counts as "yes" has signs of "no" too."""
    said = text.lower().strip("'").strip('"')
    return any(sign in said for sign in _NO_WITHIN) or said.startswith(_NO_FIRST)


def named(text: str, names: Sequence[str]) -> list[str]:
    """The names, in lower case, that stand anywhere in an answer, be it within another word."""
    said = text.lower()
    return [name.lower() for name in dict.fromkeys(names) if name.lower() in said]


def token_f1(reference: str, text: str) -> float:
    """F1 of the words, split at spaces, that two texts share, counted with repeats; 0 for none."""
    ours, theirs = reference.split(), text.split()
    shared = sum((Counter(ours) & Counter(theirs)).values())
    if shared == 0:
        return 0.0
    precision, recall = shared / len(theirs), shared / len(ours)
    return 2 * precision * recall / (precision + recall)


def reasoning_of(response: str) -> str:
    """What the second call of chain of thought repeats of the response to the first."""
    return answer_text(response)[0]
