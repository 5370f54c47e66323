"""What the FANToM grammar draws on, read and checked (App. A.1): topics, whose subtopics have facts
that an owner tells about themselves and nobody can guess; and the names and lines of a cast.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import permutations, product
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError

from tomlab import params
from tomlab.errors import refuse
from tomlab.records import files

SEGMENTS = 4  # subtopics of one conversation
CAST = 5  # people of one conversation, at most as many at once (App. A.1)
_BRACES = re.compile(r"\{(\w*)\}|[{}]")  # a placeholder by its name, or a brace of none
CHOICE = re.compile(r"\[([^][|{}]*(?:\|[^][|{}]*)+)\]")  # "[one way|another]", of which one is said
_UNSAID = ("id", "topic", "names", "reason")  # fields of what gets into no conversation


def _text(*names: str, pattern: str = "", expected: str = "") -> Any:
    """A line with exactly the placeholders `names`, that fits `pattern`; `expected` says so."""
    wanted = " and ".join(f"{{{name}}}" for name in names) or "no placeholder"

    def check(text: str) -> str:
        if not re.fullmatch(r"\S+( \S+)*", text):
            raise ValueError("expected one line of text without spaces around it or doubled")
        if set(_BRACES.findall(text)) != set(names):
            raise ValueError(f"expected {wanted} in it and no other brace")
        if re.search(r"[][]", CHOICE.sub("", text)):
            raise ValueError("expected brackets as in '[one way|another]', without braces in them")
        if not re.search(pattern, text):
            raise ValueError(f"expected {expected}")
        return text

    return Annotated[str, AfterValidator(check)]


def _once(texts: list[str]) -> list[str]:
    doubled = [text for text, count in Counter(map(str.lower, texts)).items() if count > 1]
    if doubled:
        raise ValueError(f"expected each once, but {doubled[0]!r} stands twice")
    return texts


def _lines(kind: Any, least: int) -> Any:
    return Annotated[list[kind], Field(min_length=least), AfterValidator(_once)]


Plain = _text()
Name = _text(pattern=r"^[A-Z][a-z]{2,}$", expected="one word of 3+ letters, the first a capital")


class _Checked(BaseModel, extra="forbid", frozen=True, strict=True):
    def said(self) -> Iterator[tuple[str, str]]:
        """Field and text of all that can get into a conversation or a question."""
        for field, found in self:
            for one in found if isinstance(found, list) else [found]:
                if isinstance(one, _Checked):
                    yield from one.said()
                elif field not in _UNSAID:
                    yield field, one


class Fact(_Checked):
    """What an owner tells. about: noun phrase of what is asked; ask, tell, react: lines of someone,
    of the owner and of someone else; values: what the fact may be. Lists are used up in turn.
    """

    id: Plain
    question: _lines(_text("owner", pattern=r"\?$", expected="a question mark at its end"), 1)
    about: _text("owner", pattern=r"[^.?!,;:]$", expected="no mark at its end")
    answer: _text("owner", "value", pattern=r"^\{owner\}.*[^.]\.$", expected="{owner} … and a stop")
    ask: _lines(_text("owner"), 1)
    tell: _lines(_text("value"), 1)
    react: _lines(Plain, 2)
    values: _lines(Plain, 4)


class Subtopic(_Checked):
    """One segment of a conversation: how it opens, what fills it, what is told in it."""

    name: Plain
    opener: _lines(Plain, 1)
    fillers: _lines(Plain, 5)
    facts: Annotated[list[Fact], Field(min_length=3)]


def _facts_apart(subtopics: list[Subtopic]) -> list[Subtopic]:
    _once([fact.id for part in subtopics for fact in part.facts])
    return subtopics


class Topic(_Checked):
    topic: Plain
    subtopics: Annotated[list[Subtopic], Field(min_length=SEGMENTS), AfterValidator(_facts_apart)]


class Leaving(_Checked):
    """Why someone leaves (Tab. 7 has the paper's reasons) and what they say."""

    reason: Plain
    line: Plain


class Cast(_Checked):
    """Names, and the lines with which people leave, come back, join, are greeted (after the end:
    late) and told what they missed. The least counts are what one conversation can use up.
    """

    names: _lines(Name, CAST)
    leaving: Annotated[list[Leaving], Field(min_length=4)]
    farewell: _lines(_text("leaver"), 4)
    returning: _lines(Plain, 2)
    joining: _lines(Plain, 3)
    welcome: _lines(_text("newcomer", "subtopic"), 5)
    welcome_late: _lines(_text("newcomer", "subtopic"), 1)
    retelling: _lines(_text("newcomer", "claim"), 2)


def read_topics(path: Path | str) -> list[Topic]:
    """The topics of a YAML file. Errors: `InputError` with the field of all that is missing,
    malformed or double, and of values that other lines of their subtopic give away.
    """
    topics = _read(path, Annotated[list[Topic], Field(min_length=1)])
    parts = ((topic, part) for topic in topics for part in topic.subtopics)
    refuse([f"topic {t.topic!r}, {what}" for t, part in parts for what in _leaks(part)], str(path))
    return topics


def read_cast(path: Path | str) -> Cast:
    """The cast of a YAML file. Errors: `InputError` with the field of all that is missing,
    malformed or double, and of names that another name or a line of the file contains.
    """
    cast = _read(path, Cast)
    problems = name_problems(cast.names, [line for _, line in cast.said()])
    for one, other in permutations(cast.names, 2):
        problems += name_problems([one], [other])
    refuse(problems, str(path))
    return cast


def _read(path: Path | str, kind: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(params.parsed(files.read_text(path), path))
    except ValidationError as error:
        problems = [params.complaint(case, files.shown) for case in error.errors()]
    return refuse(problems, str(path))


def name_problems(names: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Names that stand in a text in any case, even inside a word: answers to list questions are
    searched that way, and such a name would be found where nobody is named.
    """
    lower = [(text, _BRACES.sub("", text).lower()) for text in texts]
    return [
        f"field names: found {name!r} within {text!r}, expected it nowhere else"
        for name in names
        for text, searched in lower
        if name.lower() in searched
    ]


def _leaks(subtopic: Subtopic) -> Iterator[str]:
    """Values that stand in a line which does not tell them."""
    lines = [one for one in subtopic.said() if one[0] not in ("answer", "tell", "values")]
    for fact, (field, line) in product(subtopic.facts, lines):
        for value in fact.values:
            core = re.escape(re.sub(r"^(an?|the)\s+", "", value, flags=re.IGNORECASE))
            if re.search(rf"(?<!\w){core}(?!\w)", line, re.IGNORECASE):
                found = f"found {value!r} in {field} {line!r}, expected it in `tell` alone"
                yield f"subtopic {subtopic.name!r}, fact {fact.id!r}, field values: {found}"
