"""The text of a FANToM conversation: who says what, line by line."""

import re
from collections.abc import Iterable
from itertools import chain

Line = tuple[str, str]  # speaker, what they say

# A name is up to three words that do not begin as a sentence in small letters would.
_NAME = re.compile(r"(?![a-z])[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}")
_TURN = re.compile(r"([^:]+?) ?: *(\S.*)")
# What stands between the names of several people who say one thing.
_JOINT = re.compile(r",? (?:and|&) | ?& ?|, ?")


def turns(context: str) -> list[tuple[tuple[str, ...], str]]:
    """Who says what, line by line; a line that is no "Name: text" is left out. A turn has several
    speakers where the release joins them: "A & B: text", "A, B, and C: text".
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
    """Who speaks, alone or with others, in the order in which they first do."""
    names = chain.from_iterable(names for names, _ in turns(context))
    return list(dict.fromkeys(names))


def written(lines: Iterable[Line]) -> str:
    """Utterances as a conversation shows them, "Name: text" on each line."""
    return "\n".join(f"{speaker}: {text}" for speaker, text in lines)


def folded(text: str) -> str:
    """A text for comparison: case and spacing do not tell two apart."""
    return " ".join(text.casefold().split())
