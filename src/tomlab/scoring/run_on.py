"""Finds where an answer ends because the model goes on with a new question or story of its own."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

# The labels that open a new question or story, and those that open somebody else's turn.
_TASKS = (
    "question|q|story|scenario|context|passage|conversation|dialogue|example|problem|exercise"
    "|task|case|quiz"
)
_TURNS = "human|user|instruction|input|prompt|student|system"
_LABEL = re.compile(
    rf"""
      ^[^\S\n]*(?P<markup>[\#>*_\-=\[]*)[^\S\n]*(?:(?:new|next|another|second)[ ])?
      (?P<line>{_TASKS}|{_TURNS})s?[ ]?\#?(?P<number>\d*)[ ]?[*_\]]*
      (?:[:：]|[.)](?=\s)|[^\S\n]*$)
    | (?:(?<=[^\w\s])|(?<=\b[^\Wa]))[^\S\n]+
      (?-i:(?P<inline>Question|Q|Story|Human|User|Scenario|Context)[ ]?\d*:)
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
# Two options, on two lines or on one. A sentence with "?" before them counts as a question.
_OPTIONS = re.compile(r"\(?\b[Aa][).:]\s?[^\n]{1,200}?\s\(?[Bb][).:]\s?\w")
# A question begins after one of these: the end of a sentence or line, or the space before a label
# within a line ("the chips Question: Is …").
_SENTENCE = re.compile(r"[.!)?]\s+|\n|\s(?=(?:Question|Q)[ ]?\d*:)")


class _Start(NamedTuple):
    position: int
    label: str
    is_turn: bool  # whether somebody else's turn begins, which always ends an answer


def before_next_question(
    text: str, is_read: Callable[[str], bool], cot: bool = False
) -> str | None:
    """`text` up to where the model goes on with another question, story or turn; None if it does so
    before it has answered.

    A question at the very beginning repeats the one that was asked. A later one ends the answer if
    `is_read` can read the text before it; a later turn always does. The result is None if a label
    comes twice before that. If nothing ends the answer, the result is the whole text where it has
    no such start, begins with a question or reasons first (`cot`), and None elsewhere, because the
    text could answer either question.
    """
    starts = _starts(text)
    if not starts:
        return text
    begins_with_question = not text[: starts[0].position].strip(" \n*_#>\"'")
    labels = set()
    for start in starts:
        beginning = text[: start.position]
        is_opening = not beginning.strip(" \n*_#>\"'")
        if not is_opening and (start.is_turn or is_read(beginning)):
            return beginning.rstrip()
        if start.label in labels:
            return None
        labels.add(start.label)
    return text if begins_with_question or cot else None


def _starts(text: str) -> list[_Start]:
    """The starts of questions, stories and turns in a text, in order."""
    folded = text.lower()
    starts = []
    if any(word in folded for word in _WORDS):
        labels = [_of_label(match) for match in _LABEL.finditer(text)]
        starts = [start for start in labels if start is not None]
    if "?" in text:
        starts += _with_options(text, [start.position for start in starts])
    return sorted(starts)


_WORDS = [word for word in f"{_TASKS}|{_TURNS}".split("|") if word != "q"] + ["q:", "q1", "q2"]


def _of_label(match: re.Match) -> _Start | None:
    """What a match of `_LABEL` opens; None if it is an ordinary word of the text."""
    label = (match["line"] or match["inline"]).lower()
    has_colon = match[0].rstrip().endswith((":", "："))
    # "Example 2" or "## Question" on a line; but not "Context" or "Case." in a sentence.
    if match["line"] and not has_colon and not match["number"] and "#" not in match["markup"]:
        return None
    is_turn = re.fullmatch(_TURNS, label) is not None
    label = "question" if label == "q" else label
    return _Start(match.start(), label, is_turn)


_LONGEST_QUESTION = 600  # characters


def _with_options(text: str, labels: list[int]) -> Iterator[_Start]:
    """Yields questions without a label: sentences that end in "?" and are followed by options.
    labels: the positions of all labels; a question that one of them stands in is left out.
    """
    for match in _OPTIONS.finditer(text):
        first = max(0, match.start() - _LONGEST_QUESTION)
        beginning = text[first : match.start()].rstrip()
        if not beginning.endswith("?"):
            continue
        sentences = [first + end.end() for end in _SENTENCE.finditer(beginning[:-1])]
        position = sentences[-1] if sentences else first
        if not any(position <= label < match.start() for label in labels):
            yield _Start(position, "?", is_turn=False)
