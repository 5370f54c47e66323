"""What SimpleToM's prompts show and models answer: written out, parsed strictly (App. D, E.3-5)."""

import re
from collections.abc import Collection, Mapping, Sequence

from tomlab.asking.attempts import Unparsed, label_fault
from tomlab.benchmarks.simpletom.items.filtering import QUESTIONS
from tomlab.benchmarks.simpletom.items.stories import BASE, ENTITIES, SEVERITIES
from tomlab.records.files import yaml_beside

# The output template of App. E.4: label, what it holds, in which stories and with which remark.
_TEMPLATE = yaml_beside(__file__)
_LABEL = rf"(?i)[\W\d]*({'|'.join(_TEMPLATE)})\s*(?:\([^()]*\))?[\s*]*:[\s*]*(.*)"
_EXAMPLE = r"(?im)^[^\w\n]*Example[^\w\n]{0,3}([0-9]{1,3})[^\w\n]*?(?::|$)"
_KEY = r"(?i)\bKEY INFORMATION[ *]*:"
_KIND = "(?:Object|Person|Action|Event|Business)"
_ENTITY = rf"(?i)\b{_KIND}(?:/{_KIND})* ([XYZ])\s*="
_NOBODY = ("", "none", "n/a", "nobody", "no one")
_MARKS = " \t\r\n*_\"'“”‘’`.()[]"  # around an answer of a word or a number
_WORDS = r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?: [^\W\d_]+(?:['’-][^\W\d_]+)*)?"
_QUESTION = r"(?i)\W*Question ([1-4])\W*:\W*(.*?)\W*"


def entities_line(entities: Mapping[str, str]) -> str:
    """The entities of a set as prompts show them: "Person X = …; Object Z = …"."""
    kind = "Action" if entities["scenario"] == "unobserved unethical actions" else "Object"
    named = {"Person X": "person_x", "Person Y": "person_y", f"{kind} Z": "object_z"}
    return "; ".join(f"{label} = {entities[n]}" for label, n in named.items() if entities[n])


def written_set(entities: Mapping[str, str]) -> str:
    """The entities and the key information of a set, or of a story."""
    return f"ENTITIES: {entities_line(entities)}\nKEY INFORMATION: {entities['key_information']}"


def written_out(stories: Sequence[Mapping]) -> str:
    """Three stories of one set in the form in which the prompt shows and asks for them."""
    of = {story["severity"]: story for story in stories}
    lines = [f"ENTITIES: {entities_line(of[BASE])}"] if "object_z" in of[BASE] else []
    for label, (name, severity, *remark) in _TEMPLATE.items():
        lines.append(f"{' '.join([label, *remark])}: {of[severity or BASE][name]}")
    return "\n\n".join(lines)


def parse_entities(text: str, count: int) -> tuple[list[dict[str, str]], list[str]]:
    """The sets of entities in a model's answer, and a reason for each that is none.

    Strict: an example has its number from 1 to `count` once, a person X and a Z, at most one
    person Y ("none" is nobody), and key information on its own line. What is missing or too much
    is among the failures, so that together there are at least `count`.
    """
    _, *parts = re.split(_EXAMPLE, text)
    sets, failures, seen = [], [], set()
    for number, block in zip(map(int, parts[::2]), parts[1::2], strict=True):
        if number in seen:
            failures.append(f"Example {number}: stands twice")
        elif not 1 <= number <= count:
            failures.append(f"Example {number}: {count} were asked for")
        elif isinstance(parsed := _parse_set(block), str):
            failures.append(f"Example {number}: {parsed}")
        else:
            sets.append(parsed)
        seen.add(number)
    failures += [f"Example {i}: missing" for i in range(1, count + 1) if i not in seen]
    return sets, failures


def _parse_set(block: str) -> dict[str, str] | str:
    """The entities and the key information of an example, or why it is no set."""
    entities, *keys = re.split(_KEY, block)
    if not keys:
        return "KEY INFORMATION: missing"
    if len(keys) > 1:
        return f"KEY INFORMATION: stands {len(keys)} times"
    head, *parts = re.split(_ENTITY, entities)
    if not re.fullmatch(r"\W*ENTITIES\W*", head, re.IGNORECASE):
        return "ENTITIES: missing"
    letters = [letter.upper() for letter in parts[::2]]
    for letter in "XYZ":
        if letters.count(letter) > 1:
            return f"{letter}: stands {letters.count(letter)} times"
    values = [" ".join(value.split()).strip(" ,;|*-") for value in parts[1::2]]
    value_of = dict(zip(letters, values, strict=True))
    parsed = {name: value_of.get(letter, "") for letter, name in zip("XYZ", ENTITIES, strict=True)}
    parsed["key_information"] = keys[0].split("\n")[0].strip(" \t\r*")
    if parsed["person_y"].lower().strip(".") in _NOBODY:
        parsed["person_y"] = ""
    for name, value in parsed.items():
        if not value and name != "person_y":
            return f"{name}: missing"
    return parsed


def parse_generation(text: str) -> list[dict] | Unparsed:
    """Three stories (mild, base, high) from a model's answer, or the reason why there are none.

    Strict: every label of the template once, in order, each with text on its own line, and no
    other text between them. Text before the first label and after the last line is let pass.
    """
    pairs = []
    stray = ""
    for line in text.split("\n"):
        match = re.match(_LABEL, line)
        if match:
            pairs.append((match[1].upper(), match[2].strip(" \t\r*")))
        elif 0 < len(pairs) < len(_TEMPLATE) and re.search(r"\w", line) and not stray:
            stray = f"{pairs[-1][0]}: text without a label after it, {line.strip()[:40]!r}"
    fault = label_fault(pairs, list(_TEMPLATE), "lines") or stray
    if fault:
        return Unparsed(fault)
    stories = [{"severity": severity} for severity in SEVERITIES]
    for (_, value), (name, severity, *_) in zip(pairs, _TEMPLATE.values(), strict=True):
        for story in stories:
            if severity in (None, story["severity"]):
                story[name] = value
    return stories


def first_label(prompt: str) -> str:
    """The first label of the template if a prompt ends with it, as the paper's does; else ""."""
    last_line = prompt.rstrip().rpartition("\n")[2]
    hit = re.fullmatch(_LABEL, last_line)
    if hit is None or hit[2] or hit[1].upper() != next(iter(_TEMPLATE)):
        return ""
    return last_line


def with_label(text: str, label: str) -> str:
    """An answer after the `label` with which its prompt ended, unless it repeats that label."""
    opening = text.lstrip()
    repeats = re.match(_LABEL, opening)
    if not label or (repeats and label.upper().startswith(repeats[1].upper())):
        return text
    return f"{label} {opening}"


def parse_annotation(text: str) -> dict[str, str] | Unparsed:
    """The answers to the four questions by name, or the reason why there are none.

    Strict: each question on one line with one of its answers and nothing else on that line.
    """
    matches = [re.fullmatch(_QUESTION, line) for line in text.split("\n")]
    answers = {}
    for number, (name, allowed) in enumerate(QUESTIONS.items(), start=1):
        texts = [match[2].lower() for match in matches if match and match[1] == str(number)]
        if not texts:
            return Unparsed(f"Question {number}: missing")
        if len(texts) > 1:
            return Unparsed(f"Question {number}: stands {len(texts)} times")
        # The crowd's form offers "Possibly/Conceivably".
        answers[name] = texts[0].removesuffix("/conceivably")
        if answers[name] not in allowed:
            expected = " or ".join(allowed)
            return Unparsed(f"Question {number}: found {texts[0][:40]!r}, expected {expected}")
    return answers


def parse_description(text: str, taken: Collection[str]) -> str | Unparsed:
    """The one or two words in a model's answer, as an option, or the reason why there are none.

    Strict: nothing but these words. taken: the options that stand beside it.
    """
    words = text.strip(_MARKS)
    if not re.fullmatch(_WORDS, words):
        return Unparsed("found more than words, or more than two, expected one or two words")
    if words.casefold() in {option.casefold() for option in taken}:
        return Unparsed(f"found {words.casefold()!r}, which is another option")
    return words[0].upper() + words[1:]


def parse_rating(text: str) -> int | Unparsed:
    """The number from 1 to 5 in a model's answer, or the reason why there is none.

    Strict: nothing but the number.
    """
    number = text.strip(_MARKS)
    if number not in ("1", "2", "3", "4", "5"):
        return Unparsed("found something else, expected a number from 1 to 5 alone")
    return int(number)
