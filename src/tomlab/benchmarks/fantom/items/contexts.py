"""The text of a FANToM conversation: who says what, line by line."""

import re
from collections.abc import Iterable
from itertools import chain

Line = tuple[str, str]  # the speaker and what they say

# A name is up to three words, the first of which begins with a letter that is not a-z.
_NAME = re.compile(r"(?![a-z])[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}")
_TURN = re.compile(r"([^:]+?) ?: *(\S.*)")
# Separates the names of several people who speak together.
_JOINT = re.compile(r",? (?:and|&) | ?& ?|, ?")


def turns(context: str) -> list[tuple[tuple[str, ...], str]]:
    """The turns of a conversation, each as (speakers, text); a line that is no "Name: text" is left
    out. A turn has several speakers if the release joins them: "A & B: text", "A, B, and C: text".
    """
    lines = []
    for line in context.splitlines():
        match = _TURN.fullmatch(line.strip())
        if match is None:
            continue
        names = tuple(_JOINT.split(match[1]))
        if all(map(_NAME.fullmatch, names)):
            lines.append((names, match[2]))
    return lines


def speakers(context: str) -> list[str]:
    """The names of all who speak, alone or with others, in the order in which they first do."""
    names = chain.from_iterable(names for names, _ in turns(context))
    return list(dict.fromkeys(names))


def written(lines: Iterable[Line]) -> str:
    """Utterances as a conversation shows them, "Name: text" on each line."""
    return "\n".join(f"{speaker}: {text}" for speaker, text in lines)


def folded(text: str) -> str:
    """A text in a form for comparison, without differences in case and spacing."""
    return " ".join(text.casefold().split())
