"""What SimpleToM's prompts show and models answer: written out, read back strictly (App. D, E)."""

import re
from collections.abc import Mapping, Sequence

from tomlab.benchmarks.simpletom.items.compose import WORDINGS
from tomlab.benchmarks.simpletom.items.filtering import QUESTIONS
from tomlab.benchmarks.simpletom.items.stories import BASE, ENTITIES, SEVERITIES
from tomlab.benchmarks.writing import Draft, Unparsed, labelled_values
from tomlab.records.files import yaml_beside

ENTITY_SETS = 10  # a scenario and a model, Sec. 3.1
# The output template of App. E.4: label, what it holds, in which stories and with which remark.
_TEMPLATE = yaml_beside(__file__)
_EXAMPLE = re.compile(r"(?ims)^\W*Example ([0-9]+)\W*$(.*?)(?=^\W*Example [0-9]+\W*$|\Z)")
_SET = {"ENTITIES": "entities", "KEY INFORMATION": "key_information"}
_ENTITY = re.compile(r"\b[\w/]+ ([XYZ])\s*=(.*?)(?=\b[\w/]+ [XYZ]\s*=|\Z)")
_NOBODY = ("none", "n/a", "nobody", "no one")
_MARKS = " \t\r\n*_\"'“”‘’`.()[]"  # around an answer of a word or a number
_WORDS = r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?: [^\W\d_]+(?:['’-][^\W\d_]+)*)?"
# The options that stand beside a negative judgment.
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
    """The lines of three stories of one set as the prompt shows and asks for them."""
    by_severity = {story["severity"]: story for story in stories}
    lines = []
    for label, (name, severity, *remark) in _TEMPLATE.items():
        lines.append(f"{' '.join([label, *remark])}: {by_severity[severity or BASE][name]}")
    return "\n\n".join(lines)


def parse_entities(text: str, scenario: Draft) -> list[dict | Unparsed]:
    """The `ENTITY_SETS` sets of entities that were asked for: each with its number, a person X and
    a Z, perhaps a person Y, and key information.
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
    """Three stories (mild, base, high)."""
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
    """The answers to the four questions by name: one of the allowed ones on a line, alone."""
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
    """One or two words and nothing else, as an option."""
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
