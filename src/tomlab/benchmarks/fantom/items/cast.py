"""What the FANToM grammar draws on: topics and the lines of a cast, read and checked (App. A.1).

A topic has subtopics, a subtopic has facts; a fact is something that its owner tells about
themselves and that nobody can guess. A cast has names and the lines with which people leave, come
back, join, are greeted and are told what they missed.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, permutations
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError

from tomlab.errors import InputError, refuse
from tomlab.records.files import complaint, shown

SEGMENTS = 4  # subtopics of one conversation
CAST = 5  # people of one conversation, at most as many at once (App. A.1)
_PLACEHOLDER = re.compile(r"\{(\w*)\}")


def _expected(expected: str, fits: Callable[[str], object]) -> AfterValidator:
    def check(text: str) -> str:
        if not fits(text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


def _holding(*names: str) -> AfterValidator:
    """Checks that a text has exactly the placeholders `names`, and no other brace."""
    wanted = " and ".join(f"{{{name}}}" for name in names) or "no placeholder"
    return _expected(
        f"{wanted} in it and no other brace",
        lambda text: (
            set(_PLACEHOLDER.findall(text)) == set(names)
            and not re.search(r"[{}]", _PLACEHOLDER.sub("", text))
        ),
    )


def _matching(pattern: str, expected: str) -> AfterValidator:
    return _expected(expected, re.compile(pattern).search)


def _distinct(texts: list[str]) -> list[str]:
    if doubled := _doubled(texts):
        raise ValueError(f"expected each once, but {doubled[0]!r} stands twice")
    return texts


def _doubled(texts: Iterable[str]) -> list[str]:
    counts = Counter(text.lower() for text in texts)
    return sorted(text for text, count in counts.items() if count > 1)


_LINE = _expected(
    "one line of text without spaces around it or doubled",
    lambda text: text.strip() and text == " ".join(text.split()),
)
Text = Annotated[str, Strict(), _LINE]
Plain = Annotated[Text, _holding()]
Question = Annotated[Text, _holding("owner"), _matching(r"\?$", "a question mark at its end")]
NounPhrase = Annotated[Text, _holding("owner"), _matching(r"[^.?!,;:]$", "no mark at its end")]
Answer = Annotated[
    Text,
    _holding("owner", "value"),
    _matching(r"^\{owner\}.*[^.]\.$", "{owner} at its beginning and a full stop at its end"),
]
Name = Annotated[
    Text, _matching(r"^[A-Z][a-z]{2,}$", "one word of at least three letters, the first a capital")
]


def _lines(kind: Any, least: int) -> Any:
    return Annotated[list[kind], Field(min_length=least), AfterValidator(_distinct)]


class _Checked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TopicFact(_Checked):
    """What an owner tells: the fact question, its answer, and the lines that bring it up.

    about: noun phrase of what is asked; ask, tell, react: lines of someone, of the owner and of
    someone else; values: what the fact may be, one of which is drawn.
    """

    id: Plain
    question: Question
    about: NounPhrase
    answer: Answer
    ask: Annotated[Text, _holding("owner")]
    tell: Annotated[Text, _holding("value")]
    react: _lines(Plain, 2)
    values: _lines(Plain, 4)


class Subtopic(_Checked):
    """One segment of a conversation: how it opens, what fills it, what is told in it."""

    name: Plain
    opener: Plain
    fillers: _lines(Plain, 5)
    facts: Annotated[list[TopicFact], Field(min_length=3)]


class Topic(_Checked):
    topic: Plain
    subtopics: Annotated[list[Subtopic], Field(min_length=SEGMENTS)]


class Leaving(_Checked):
    """Why someone leaves (Tab. 7 has the paper's reasons) and what they say."""

    reason: Plain
    line: Plain


class Cast(_Checked):
    """Names and lines. The least counts are what one conversation can use up."""

    names: _lines(Name, CAST)
    leaving: Annotated[list[Leaving], Field(min_length=4)]
    farewell: _lines(Annotated[Text, _holding("leaver")], 4)
    returning: _lines(Plain, 2)
    joining: _lines(Plain, 3)
    welcome: _lines(Annotated[Text, _holding("newcomer", "subtopic")], 5)
    retelling: _lines(Annotated[Text, _holding("newcomer", "claim")], 2)


def read_topics(path: Path | str) -> list[Topic]:
    """The topics of a YAML file.

    Errors: `InputError` that names topic, subtopic, fact and field of everything at fault: what is
    missing or malformed, what stands twice, and values that other lines of their subtopic give
    away.
    """
    content = _read_yaml(path)
    if not isinstance(content, list) or not content:
        raise InputError(f"{path}: found {shown(content)}, expected a list of topics")
    topics, problems = [], []
    for number, entry in enumerate(content):
        try:
            topics.append(Topic.model_validate(entry))
        except ValidationError as error:
            problems += [_problem(content, (number, *case["loc"]), case) for case in error.errors()]
        else:
            problems += [f"topic {topics[-1].topic!r}, {what}" for what in _faults(topics[-1])]
    problems += [f"topic {name!r}: stands twice" for name in _doubled(t.topic for t in topics)]
    refuse(problems, str(path))
    return topics


def read_cast(path: Path | str) -> Cast:
    """The cast of a YAML file.

    Errors: `InputError` that names every field at fault: what is missing or malformed, what stands
    twice, names that another name or a line of the file contains.
    """
    content = _read_yaml(path)
    if not isinstance(content, Mapping):
        raise InputError(f"{path}: found {shown(content)}, expected the sections of a cast")
    try:
        cast = Cast.model_validate(content)
    except ValidationError as error:
        refuse([_problem(content, case["loc"], case) for case in error.errors()], str(path))
        raise
    reasons, lines = zip(*((entry.reason, entry.line) for entry in cast.leaving), strict=True)
    problems = [
        f"field leaving: {what!r} stands twice" for what in (*_doubled(reasons), *_doubled(lines))
    ]
    problems += [
        f"field names: found {one!r} within {other!r}, expected names apart"
        for one, other in permutations(cast.names, 2)
        if one.lower() in other.lower()
    ]
    said = chain(cast.farewell, cast.returning, cast.joining, cast.welcome, cast.retelling)
    refuse(problems + name_problems(cast.names, (*lines, *said)), str(path))
    return cast


def topic_texts(topic: Topic) -> Iterator[str]:
    """Every text of a topic that can get into a conversation or a question."""
    for subtopic in topic.subtopics:
        yield from (subtopic.name, subtopic.opener, *subtopic.fillers)
        for fact in subtopic.facts:
            yield from (fact.question, fact.about, fact.answer, fact.ask, fact.tell)
            yield from (*fact.react, *fact.values)


def name_problems(names: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Names that stand in a text in any case, even inside a word.

    Answers to list questions are searched for names that way, so such a name would be found in
    answers that do not name it.
    """
    lower = [(text, _PLACEHOLDER.sub("", text).lower()) for text in texts]
    return [
        f"field names: found {name!r} within {text!r}, expected it nowhere else"
        for name in names
        for text, searched in lower
        if name.lower() in searched
    ]


def _faults(topic: Topic) -> Iterator[str]:
    """What no single field shows: what stands twice in the topic, and values given away."""
    parts = topic.subtopics
    twice = [("subtopic", name) for name in _doubled(part.name for part in parts)]
    twice += [("fact", name) for name in _doubled(fact.id for part in parts for fact in part.facts)]
    yield from (f"{what} {name!r}: stands twice" for what, name in twice)
    # No line stands twice within one subtopic, where the field's own check would have said so.
    fillers = _doubled(line for part in parts for line in part.fillers)
    yield from (f"field fillers: {line!r} stands twice" for line in fillers)
    yield from (f"subtopic {part.name!r}, {what}" for part in parts for what in _leaks(part))


def _leaks(subtopic: Subtopic) -> Iterator[str]:
    """Values that stand in a line which does not tell them."""
    lines = [("name", subtopic.name), ("opener", subtopic.opener)]
    lines += [("fillers", line) for line in subtopic.fillers]
    for fact in subtopic.facts:
        lines += [("question", fact.question), ("about", fact.about), ("ask", fact.ask)]
        lines += [("react", line) for line in fact.react]
    for fact in subtopic.facts:
        for value in fact.values:
            core = re.escape(re.sub(r"^(an?|the)\s+", "", value, flags=re.IGNORECASE))
            for field, line in lines:
                if re.search(rf"(?<!\w){core}(?!\w)", line, re.IGNORECASE):
                    yield (
                        f"fact {fact.id!r}, field values: found {value!r} in {field} {line!r}, "
                        "expected it in what the owner tells alone"
                    )


def _read_yaml(path: Path | str) -> Any:
    try:
        return yaml.safe_load(Path(path).read_bytes())
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from None


_ENTRIES = {"subtopics": ("subtopic", "name"), "facts": ("fact", "id")}


def _problem(content: Any, loc: tuple[str | int, ...], case: Mapping[str, Any]) -> str:
    """One complaint of pydantic's as a sentence: where, what was found, what was expected."""
    parts, entry, naming = [], content, ("topic", "topic")
    for key in loc:
        try:
            entry = entry[key]
        except (KeyError, IndexError, TypeError):
            entry = None
        if isinstance(key, int) and naming:
            name = entry.get(naming[1]) if isinstance(entry, Mapping) else None
            parts.append(f"{naming[0]} {key + 1 if name is None else name!r}")
        elif isinstance(key, int):
            parts.append(f"entry {key + 1}")
        elif key not in _ENTRIES or key == loc[-1]:
            parts.append(f"field {key}")
        naming = _ENTRIES.get(key)
    return f"{', '.join(parts) or 'file'}: {complaint(case)}"
