"""What a model writes for FANToM, read back strictly: utterances, questions, answers (App. A).

A parser never raises: it gives what it found, or the reason why it is `Unparsed`. `cut` says that
the answer ended at the token limit, so that what stands last may be unfinished and is left out.
"""

import re
from collections.abc import Sequence

from tomlab.asking.attempts import Unparsed
from tomlab.benchmarks.fantom.items.contexts import Line, folded
from tomlab.benchmarks.fantom.items.outlines import Change, Outline
from tomlab.records.files import yaml_beside
from tomlab.scoring.answers import unanswered

Segments = tuple[tuple[Line, ...], ...]
QUESTIONS = 3  # about each piece of missed information, App. A.2
MIN_LINES = 4  # of a segment; the paper gives no number
# In how many lines those who leave may still speak: "I have to go." "Bye!" "See you." (Table 6).
FAREWELL = 3
# Words by which answers are sorted.
_WORDS = {name: "|".join(words) for name, words in yaml_beside(__file__).items()}
_FINISHED = re.compile(r"""[.!?…]["'”’)*_]*$""")
_SENTENCES = re.compile(r""".*[.!?…]["'”’)*_]*(?=\s|$)""", re.DOTALL)
_ITEM = re.compile(r"""(?i)[\s*_]*(?:[-*•–]\s|(?:Q(?:uestion)? ?)?\(?\d\d?[.):])[\s*_"“]*(.*)""")
_LABEL = re.compile(r"\A[\s*_]*(?:question|answer)[\s*_]*:[\s*_]*", re.IGNORECASE)
_BY_SOMEBODY = re.compile(r"\W*\w+\W*:")
_NOTHING = re.compile(r"\W*(nothing|none|no (new )?information)\b", re.IGNORECASE)
_ASKS_WHAT = re.compile(r"\b(what|which|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)
_YES_NO = re.compile(rf"\W*({_WORDS['yes_no']})(n['’]t)?\b", re.IGNORECASE)
_BELIEF = re.compile(rf"\b({_WORDS['belief']})", re.IGNORECASE)


def parse_segment(
    text: str, outline: Outline, before: Segments, *, cut: bool = False
) -> Segments | Unparsed:
    """The segments `before` and the next one, after a prompt that ended with who speaks first.

    Reading stops at the first line by anybody whom the outline does not have. Those who leave do
    not count for `MIN_LINES`, and may speak in the first `FAREWELL` lines only. Everybody present
    has to speak, or the conversation would not show that they are there.
    """
    present = outline.present(len(before))
    change = outline.change(len(before))
    opener = change.name if change else present[0]
    lines = _lines(_whole_lines(text, cut), outline.characters, opener)
    if lines and change:
        announced = re.search(rf"\b({_WORDS[change.kind]})\b", lines[0][1], re.IGNORECASE)
        if lines[0][0] != opener or not announced:
            return Unparsed("no announcement")
    goodbye = farewell_length(lines, change)
    staying = {speaker for speaker, _ in lines[goodbye:]}
    answering = {speaker for speaker, _ in lines[:goodbye] if speaker != opener}
    if not staying | answering <= set(present):
        return Unparsed("absent speaker")
    if len(lines) - goodbye < MIN_LINES:
        return Unparsed(f"fewer than {MIN_LINES} lines")
    if not set(present) <= staying:
        return Unparsed("somebody present is silent")
    return (*before, tuple(lines))


def farewell_length(lines: Sequence[Line], change: Change | None) -> int:
    """The number of lines to the last of the first `FAREWELL` by who leaves, 0 if nobody does."""
    leaver = change.name if change and change.kind == "leave" else None
    by_leaver = [i for i, (speaker, _) in enumerate(lines[:FAREWELL], start=1) if speaker == leaver]
    return max(by_leaver, default=0)


def _lines(lines: Sequence[str], characters: Sequence[str], opener: str) -> list[Line]:
    """The leading lines by `characters`; the very first, if it names nobody, is by `opener`."""
    names = "|".join(map(re.escape, sorted(characters, key=len, reverse=True)))
    by_name = re.compile(rf"[\W\d_]*({names})[*_\])]*\s?:[\s*_]*(.*)")
    found = []
    for line in (line.strip(" \t\r*_") for line in lines):
        if hit := by_name.fullmatch(line):
            speaker, said = hit.groups()
        elif not line or (not found and line.endswith(":")):
            continue  # "Here is the conversation:"
        elif not found and not _BY_SOMEBODY.match(line):
            speaker, said = opener, line  # the prompt ended with the name
        else:
            break
        if not re.search(r"\w", said):
            break
        found.append((speaker, " ".join(said.split())))
    return found


def _whole_lines(text: str, cut: bool) -> list[str]:
    """The lines of an answer, without the last one if it was cut and that is unfinished."""
    kept, _, last = text.rstrip().rpartition("\n")
    return (kept if cut and not _FINISHED.search(last) else text).split("\n")


def parse_summary(text: str, *, cut: bool = False) -> str | Unparsed:
    """The summary of what was missed: the whole answer, or its finished sentences if it was cut."""
    summary = _whole_sentences(text, cut)
    if not re.search(r"\w", summary) or unanswered(summary, "", False) == "refused":
        return Unparsed("no summary")
    return Unparsed("nothing was missed") if _NOTHING.match(summary) else summary


def parse_questions(text: str, *, cut: bool = False) -> tuple[str, ...] | Unparsed:
    """The fact questions of a numbered or bulleted list, `QUESTIONS` of them and none yes-or-no.
    Lines that are no items are let pass, items that are no questions are not.
    """
    found = (_ITEM.fullmatch(line.rstrip()) for line in _whole_lines(text, cut))
    items = [_bare(hit[1]) for hit in found if hit]
    if any(not _is_question(item) for item in items):
        return Unparsed("an item is no question")
    if len(items) != QUESTIONS:
        return Unparsed(f"{'fewer' if len(items) < QUESTIONS else 'more'} than three questions")
    if any(_YES_NO.match(item) or not _ASKS_WHAT.search(item) for item in items):
        return Unparsed("yes-no question")
    is_double = len({folded(item) for item in items}) < QUESTIONS
    return Unparsed("a question stands twice") if is_double else tuple(items)


def parse_answer(text: str, other: str = "", *, cut: bool = False) -> str | Unparsed:
    """An answer in free text: the first paragraph, or its finished sentences if it was cut. It has
    to differ from the `other` one, or there is no asymmetry between the two.
    """
    first, *more = re.split(r"\n\s*\n", _LABEL.sub("", text.strip(), count=1), maxsplit=1)
    answer = " ".join(_whole_sentences(first, cut and not more).split()).strip("*_ ")
    if not re.search(r"\w", answer):
        return Unparsed("no answer")
    return Unparsed("same as the other answer") if folded(answer) == folded(other) else answer


def parse_belief_question(
    text: str, names: Sequence[str], fact_question: str, *, cut: bool = False
) -> str | Unparsed:
    """A question about the belief of all `names`: the first line that is a question."""
    lines = (_bare(_LABEL.sub("", line, count=1)) for line in _whole_lines(text, cut))
    question = next(filter(_is_question, lines), None)
    if question is None:
        return Unparsed("no question")
    if folded(question) == folded(fact_question):
        return Unparsed("the fact question again")
    if not all(names_person(question, name) for name in names):
        return Unparsed("a name is missing")
    return question if _BELIEF.search(question) else Unparsed("asks for no belief")


def names_person(text: str, name: str) -> bool:
    """Whether `name` stands in a text as a word of its own."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _is_question(text: str) -> bool:
    return text.endswith("?") and re.search(r"\w", text) is not None


def _bare(text: str) -> str:
    return " ".join(text.split()).strip("""*_"“” """)


def _whole_sentences(text: str, cut: bool) -> str:
    """A text, or its finished sentences if it was cut."""
    finished = _SENTENCES.match(text.strip())
    return (finished[0] if finished else "") if cut else text.strip()


# How the answer to a step is read.
PARSERS = {
    "segment": parse_segment,
    "missed": parse_summary,
    "facts": parse_questions,
    "full-answer": parse_answer,
    "limited-answer": parse_answer,
    "belief-question": parse_belief_question,
    "omniscient-answer": parse_answer,
    "centric-answer": parse_answer,
}
