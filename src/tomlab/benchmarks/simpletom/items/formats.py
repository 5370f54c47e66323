"""SimpleToM's text formats: writes what prompts show, and strictly parses what models answer.

See App. D and E. Where a parser cannot read an answer, it returns `Unparsed` with the reason.
"""

import re
from collections.abc import Mapping, Sequence

from tomlab.benchmarks.simpletom.items.compose import WORDINGS
from tomlab.benchmarks.simpletom.items.filtering import QUESTIONS
from tomlab.benchmarks.simpletom.items.stories import BASE, ENTITIES, SEVERITIES
from tomlab.benchmarks.writing import Draft, Unparsed, labelled_values
from tomlab.records.files import yaml_beside

ENTITY_SETS = 10  # for each scenario and model (Sec. 3.1)
# The output template of App. E.4: each label with the name of its field, the severity of the story
# that it belongs to (None: all) and perhaps a remark that the prompt adds.
_TEMPLATE = yaml_beside(__file__)
_EXAMPLE = re.compile(r"(?ims)^\W*Example ([0-9]+)\W*$(.*?)(?=^\W*Example [0-9]+\W*$|\Z)")
_SET = {"ENTITIES": "entities", "KEY INFORMATION": "key_information"}
_ENTITY = re.compile(r"\b[\w/]+ ([XYZ])\s*=(.*?)(?=\b[\w/]+ [XYZ]\s*=|\Z)")
_NOBODY = ("none", "n/a", "nobody", "no one")
_MARKS = " \t\r\n*_\"'“”‘’`.()[]"  # stripped from around an answer that is a word or a number
_WORDS = r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?: [^\W\d_]+(?:['’-][^\W\d_]+)*)?"
# All options of the judgment's wordings; a negative judgment must differ from each of them.
_OPTIONS = {o.casefold() for wording in WORDINGS.values() for o in wording["options"]}


def entities_line(entities: Mapping[str, str]) -> str:
    """The entities of a set as prompts show them: "Person X = …; Object Z = …"."""
    kind = "Action" if entities["scenario"] == "unobserved unethical actions" else "Object"
    labels = ("Person X", "Person Y", f"{kind} Z")
    pairs = zip(labels, ENTITIES, strict=True)
    return "; ".join(f"{label} = {entities[name]}" for label, name in pairs if entities[name])


def written_set(entities: Mapping[str, str]) -> str:
    """The entities and the key information of a set, or of a story."""
    return f"ENTITIES: {entities_line(entities)}\nKEY INFORMATION: {entities['key_information']}"


def written_out(stories: Sequence[Mapping]) -> str:
    """Three stories of one set as labelled lines, in the format that the prompt asks for."""
    by_severity = {story["severity"]: story for story in stories}
    lines = []
    for label, (name, severity, *remark) in _TEMPLATE.items():
        lines.append(f"{' '.join([label, *remark])}: {by_severity[severity or BASE][name]}")
    return "\n\n".join(lines)


def parse_entities(text: str, scenario: Draft) -> list[dict | Unparsed]:
    """The `ENTITY_SETS` sets of entities that were asked for: each has a `set_id`, person X, Z,
    person Y ("" if there is none) and key information. A set that can't be read is `Unparsed`.
    """
    blocks = {int(number): block for number, block in _EXAMPLE.findall(text)}
    sets: list[dict | Unparsed] = []
    for number in range(1, ENTITY_SETS + 1):
        entities = _parse_set(blocks[number]) if number in blocks else Unparsed("missing")
        if isinstance(entities, Unparsed):
            sets.append(Unparsed(f"Example {number}: {entities}"))
        else:
            sets.append(entities | {"set_id": f"{scenario['scenario_id']}-{number:02d}"})
    return sets


def _parse_set(block: str) -> dict[str, str] | Unparsed:
    values = labelled_values(block, _SET)
    if isinstance(values, Unparsed):
        return values
    by_letter = {"X": "", "Y": "", "Z": ""}
    for letter, text in _ENTITY.findall(values["entities"]):
        by_letter[letter] = text.strip(" ,;|*-")
    if by_letter["Y"].lower().strip(".") in _NOBODY:
        by_letter["Y"] = ""
    if not by_letter["X"] or not by_letter["Z"]:
        return Unparsed("found no person X or no Z")
    entities = dict(zip(ENTITIES, by_letter.values(), strict=True))
    return entities | {"key_information": values["key_information"]}


def parse_stories(text: str, draft: Draft) -> list[dict] | Unparsed:
    """Three stories in the order of severity (mild, base, high), each as values by field."""
    values = labelled_values(text, {label: label for label in _TEMPLATE}, draft["prompt"])
    if isinstance(values, Unparsed):
        return values
    stories = []
    for severity in SEVERITIES:
        story = {}
        for label, (name, only, *_) in _TEMPLATE.items():
            if only in (None, severity):
                story[name] = values[label]
        stories.append(story)
    return stories


def parse_annotation(text: str, _: Draft) -> dict[str, str] | Unparsed:
    """The answers to the four questions, by the question's name. Each answer must be one of those
    allowed, with nothing else on its line.
    """
    labels = {f"Question {number}": name for number, name in enumerate(QUESTIONS, start=1)}
    answers = labelled_values(text, labels)
    if isinstance(answers, Unparsed):
        return answers
    for label, name in labels.items():
        answers[name] = answers[name].strip(_MARKS).lower()
        if answers[name] not in QUESTIONS[name]:
            expected = " or ".join(QUESTIONS[name])
            return Unparsed(f"{label}: found {answers[name][:40]!r}, expected {expected}")
    return answers


def parse_judgment(text: str, _: Draft) -> str:
    """The judgment, capitalised as an option. It must be one or two words and nothing else, and
    differ from the other options.
    """
    words = text.strip(_MARKS)
    if not re.fullmatch(_WORDS, words):
        return Unparsed("found more than words, or more than two, expected one or two words")
    if words.casefold() in _OPTIONS:
        return Unparsed(f"found {words.casefold()!r}, which is another option")
    return words[0].upper() + words[1:]


def parse_rating(text: str, _: Draft) -> int | Unparsed:
    """A number from 1 to 5 and nothing else."""
    number = text.strip(_MARKS)
    if number not in ("1", "2", "3", "4", "5"):
        return Unparsed("found something else, expected a number from 1 to 5 alone")
    return int(number)


PARSERS = {
    "entity sets": parse_entities,
    "stories": parse_stories,
    "annotation": parse_annotation,
    "judgment": parse_judgment,
    "harm": parse_rating,
    "unethicality": parse_rating,
}
