"""What the FANToM grammar draws on: topics and the lines of a cast, read and checked (App. A.1).

A topic has subtopics, a subtopic has facts; a fact is something that its owner tells about
themselves and that nobody can guess. A cast has names and the lines with which people leave, come
back, join, are greeted and are told what they missed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError

from tomlab.errors import InputError, refuse
from tomlab.records.files import complaint, shown

SEGMENTS = 4  # subtopics of one conversation
CAST = 5  # people of one conversation, at most as many at once (App. A.1)
_PLACEHOLDER = re.compile(r"\{(\w*)\}")


def _line(text: str) -> str:
    if not text.strip() or text != " ".join(text.split()):
        raise ValueError("expected one line of text without spaces around it or doubled")
    return text


def _holding(*names: str) -> AfterValidator:
    """Checks that a text has exactly the placeholders `names`, and no other brace."""

    def check(text: str) -> str:
        if set(_PLACEHOLDER.findall(text)) != set(names) or re.search(
            r"[{}]", _without_placeholders(text)
        ):
            wanted = " and ".join(f"{{{name}}}" for name in names) or "no placeholder"
            raise ValueError(f"expected {wanted} in it and no other brace")
        return text

    return AfterValidator(check)


def _matching(pattern: str, expected: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.search(pattern, text):
            raise ValueError(f"expected {expected}")
        return text

    return AfterValidator(check)


def _distinct(texts: list[str]) -> list[str]:
    if doubled := _doubled(texts):
        raise ValueError(f"expected each once, but {doubled[0]!r} stands twice")
    return texts


def _doubled(texts: Iterable[str]) -> list[str]:
    lower = [text.lower() for text in texts]
    return sorted({text for text in lower if lower.count(text) > 1})


Text = Annotated[str, Strict(), AfterValidator(_line)]
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
            topic = Topic.model_validate(entry)
        except ValidationError as error:
            problems += [_problem(content, (number, *case["loc"]), case) for case in error.errors()]
        else:
            topics.append(topic)
            problems += [f"topic {topic.topic!r}, {what}" for what in _faults(topic)]
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
    problems = [
        f"field leaving: {what!r} stands twice"
        for part in ("reason", "line")
        for what in _doubled(getattr(entry, part) for entry in cast.leaving)
    ]
    problems += [
        f"field names: found {one!r} within {other!r}, expected names apart"
        for one in cast.names
        for other in cast.names
        if one != other and one.lower() in other.lower()
    ]
    refuse(problems + name_problems(cast.names, _cast_texts(cast)), str(path))
    return cast


def _without_placeholders(text: str) -> str:
    return _PLACEHOLDER.sub("", text)


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
    lower = [(text, _without_placeholders(text).lower()) for text in texts]
    return [
        f"field names: found {name!r} within {text!r}, expected it nowhere else"
        for name in names
        for text, searched in lower
        if name.lower() in searched
    ]


def _cast_texts(cast: Cast) -> Iterator[str]:
    yield from (entry.line for entry in cast.leaving)
    for part in ("farewell", "returning", "joining", "welcome", "retelling"):
        yield from getattr(cast, part)


def _faults(topic: Topic) -> Iterator[str]:
    """What no single field shows: what stands twice in the topic, and values given away."""
    facts = [fact.id for subtopic in topic.subtopics for fact in subtopic.facts]
    fillers = [line for subtopic in topic.subtopics for line in subtopic.fillers]
    yield from (f"subtopic {name!r}: stands twice" for name in _doubled(_names(topic)))
    yield from (f"fact {name!r}: stands twice" for name in _doubled(facts))
    # Within one subtopic the field's own check has said so already.
    within = {name for subtopic in topic.subtopics for name in _doubled(subtopic.fillers)}
    yield from (
        f"field fillers: {line!r} stands twice" for line in _doubled(fillers) if line not in within
    )
    for subtopic in topic.subtopics:
        yield from (f"subtopic {subtopic.name!r}, {what}" for what in _leaks(subtopic))


def _names(topic: Topic) -> list[str]:
    return [subtopic.name for subtopic in topic.subtopics]


def _leaks(subtopic: Subtopic) -> Iterator[str]:
    """Values that stand in a line which does not tell them."""
    lines = [("name", subtopic.name), ("opener", subtopic.opener)]
    lines += [("fillers", line) for line in subtopic.fillers]
    for fact in subtopic.facts:
        lines += [("question", fact.question), ("about", fact.about), ("ask", fact.ask)]
        lines += [("react", line) for line in fact.react]
    for fact in subtopic.facts:
        for value in fact.values:
            core = re.sub(r"^(an?|the)\s+", "", value, flags=re.IGNORECASE)
            for field, line in lines:
                if re.search(rf"(?<!\w){re.escape(core)}(?!\w)", line, re.IGNORECASE):
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
        entry = _inner(entry, key)
        if isinstance(key, int) and naming:
            name = entry.get(naming[1]) if isinstance(entry, Mapping) else None
            parts.append(f"{naming[0]} {key + 1 if name is None else name!r}")
        elif isinstance(key, int):
            parts.append(f"entry {key + 1}")
        elif key not in _ENTRIES or key == loc[-1]:
            parts.append(f"field {key}")
        naming = _ENTRIES.get(key)
    return f"{', '.join(parts) or 'file'}: {complaint(case)}"


def _inner(entry: Any, key: str | int) -> Any:
    try:
        return entry[key]
    except (KeyError, IndexError, TypeError):
        return None
