"""One self-contained HTML file for each participant, and a record of what each of them is asked.

What a participant is asked, in which order, follows from the seed, the participant's name and the
items alone: `random.Random(f"{seed}/{participant}/…")` shuffles the stories and the options of each
item. Questions about one story stay together, in the order of the table. Attention checks stand
between stories, one in each part of the questionnaire.
"""

import hashlib
import json
import random
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any, Literal

import pandera.pandas as pa
import yaml
from pydantic import BaseModel, ConfigDict

from tomlab.errors import InputError, refuse
from tomlab.paths import PACKAGE, writable
from tomlab.questionnaire.items import DEFAULTS, Item, checked, plain
from tomlab.records import files

RECORD = "questionnaire.json"
SCALE = ("1", "2", "3", "4", "5")
RATING_OF_CHECK = "check"  # stands in the column `question` of a check among ratings
Kind = Literal["answers", "ratings"]  # what a questionnaire asks for
_TEMPLATE = Path(__file__).with_name("questionnaire.html")
_NAME = re.compile(r"\w[\w.-]{0,59}")


class Record(BaseModel):
    """What was asked, to read the answers by. It stays with those who ask: it has the stated
    answers of the attention checks. pages: by participant and item, the options in the order shown.
    """

    model_config = ConfigDict(extra="forbid")
    kind: Kind
    seed: int
    ratings: list[str]
    checks: dict[str, str]
    pages: dict[str, dict[str, list[str]]]


@dataclass(frozen=True)
class Rating:
    """A question that is answered from 1 to 5; `low` and `high` say what these ends mean."""

    question: str  # its name in the answers
    ask: str
    low: str
    high: str


def write_pages(
    items: Sequence[Item],
    participants: Sequence[str],
    folder: Path | str,
    *,
    seed: int = 0,
    checks: Sequence[Item] = (),
    intro: str = "",
    ratings: Sequence[Rating] = (),
    deal: bool = False,
    overwrite: bool = False,
) -> list[Path]:
    """Write `<participant>.html` for each participant, and the record, `questionnaire.json`.

    intro: a text that is shown first, its paragraphs divided by blank lines. ratings: what is
    asked of each item in the place of its own question. deal: each group of items goes to one
    participant; otherwise everybody is asked all items. Returns the paths, the record last.
    Errors: `InputError`, also where a file is there already and `overwrite` is False.
    """
    kind: Kind = "ratings" if ratings else "answers"
    items = checked(items, "items")
    checks = checked(checks, "attention checks", are_checks=True)
    _demand_names(participants)
    _demand_fitting_checks(checks, kind)
    items_of = _dealt(items, participants, seed) if deal else dict.fromkeys(participants, items)
    stated = {check.item_id: check.answer for check in checks}
    names = [rating.question for rating in ratings]
    record = Record(kind=kind, seed=seed, ratings=names, checks=stated, pages={})
    contents = {}
    for participant in participants:
        asked = _in_order(items_of[participant], checks, f"{seed}/{participant}")
        record.pages[participant] = {item.item_id: list(item.options) for item in asked}
        contents[f"{participant}.html"] = _page(participant, asked, kind, intro, ratings)
    contents[RECORD] = record.model_dump_json(indent=1) + "\n"
    return _write(contents, Path(folder), overwrite)


def read_ratings(path: Path | str) -> list[Rating]:
    """The questions of a CSV with columns question, ask, low, high. Errors: `InputError`."""
    columns = {name: files.text() for name in ("question", "ask", "low", "high")}
    form = pa.DataFrameSchema(columns, strict="filter", unique=["question"])
    table = files.read_form(path, form)
    if table.empty:
        raise InputError(f"{path}: found no questions, expected at least one")
    if RATING_OF_CHECK in set(table["question"]):
        expected = "expected another name, since attention checks bear this one"
        raise InputError(f"{path}: found the question {RATING_OF_CHECK!r}, {expected}")
    return [Rating(**row) for row in table.to_dict("records")]


def default_ratings() -> list[Rating]:
    """The three questions of BigToM's experiment 1, in our own words."""
    path = PACKAGE / "benchmarks" / "bigtom" / "ratings.yaml"
    fields = ("question", "ask", "low", "high")
    questions = yaml.safe_load(files.read_text(path))["questions"]
    return [Rating(**{field: row[field] for field in fields}) for row in questions]


def _demand_names(participants: Sequence[str]) -> None:
    """Errors: `InputError` for names that can't be names of files, or are so twice."""
    if not participants:
        raise InputError("participants: found none, expected at least one name")
    problems = []
    for name in participants:
        if not _NAME.fullmatch(name):
            expected = "expected letters, digits, dots, hyphens and underscores, at most 60"
            problems.append(f"found {files.shown(name)}, {expected}")
    # Some file systems do not tell upper from lower case.
    if len({name.casefold() for name in participants}) < len(participants):
        problems.append("found the same name twice, expected a name of each participant's own")
    refuse(problems, "participants")


def _demand_fitting_checks(checks: Sequence[Item], kind: str) -> None:
    """Errors: `InputError` for checks without an answer, and for those that fit no rating."""
    problems = []
    for check in checks:
        if not check.answer:
            problems.append(f"item {check.item_id}: found no answer, expected the attentive one")
        elif kind == "ratings" and (check.options or check.answer not in SCALE):
            found = f"found {files.shown(check.answer)}"
            expected = "expected no options and an answer from 1 to 5, as among ratings"
            problems.append(f"item {check.item_id}: {found}, {expected}")
    refuse(problems, "attention checks")


def _dealt(items: Sequence[Item], participants: Sequence[str], seed: int) -> dict[str, list[Item]]:
    """The items by participant; each group of items goes to one of them, by lot."""
    groups = list(dict.fromkeys(item.group for item in items))
    if len(groups) < len(participants):
        found = f"found {len(groups)} groups of items to deal out"
        raise InputError(f"{found}, expected at least one for each of {len(participants)} people")
    random.Random(f"{seed}/deal").shuffle(groups)
    participant_of = dict(zip(groups, cycle(participants), strict=False))
    items_of: dict[str, list[Item]] = {participant: [] for participant in participants}
    for item in items:
        items_of[participant_of[item.group]].append(item)
    return items_of


def _in_order(items: Sequence[Item], checks: Sequence[Item], seed: str) -> list[Item]:
    """Items and checks as one participant is asked them, with their options in the order shown."""
    by_story: dict[str, list[Item]] = {}
    for item in items:
        by_story.setdefault(item.story or item.item_id, []).append(item)
    blocks = list(by_story.values())
    random.Random(f"{seed}/stories").shuffle(blocks)
    rng = random.Random(f"{seed}/checks")
    shuffled_checks = rng.sample(checks, len(checks))
    # The stories fall into as many equal parts as there are checks; each part has one, by lot.
    n_stories = len(blocks)
    for part, check in enumerate(shuffled_checks):
        position = 1 + int((part + rng.random()) * n_stories / len(checks))
        blocks.insert(position + part, [check])
    ordered = []
    for block in blocks:
        for item in block:
            options = list(item.options)
            random.Random(f"{seed}/options/{item.item_id}").shuffle(options)
            ordered.append(replace(item, options=tuple(options)))
    return ordered


def _page(
    participant: str, items: Sequence[Item], kind: str, intro: str, ratings: Collection[Rating]
) -> str:
    """The HTML file of one participant."""
    content = {
        "participant": participant,
        "kind": kind,
        "intro": paragraphs(intro),
        "instructions": [plain(sentence) for sentence in DEFAULTS["instructions"]],
        "keys": DEFAULTS["keys"],
        "items": [_shown(item, ratings) for item in items],
    }
    # A browser keeps answers by it: a page that asks something else begins anew.
    content["id"] = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
    # ASCII alone, and nothing that could end the script or begin a comment.
    text = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
    return _TEMPLATE.read_text(encoding="utf-8").replace('"QUESTIONNAIRE"', text, 1)


def _shown(item: Item, ratings: Collection[Rating]) -> dict[str, Any]:
    """An item for the page: its story, and the fields that are filled in."""
    content: dict[str, Any] = {"item_id": item.item_id, "story": item.story}
    options = list(item.options)
    if not ratings:
        field = {"name": "answer", "ask": item.question, "options": options, "hint": item.hint}
        return {**content, "fields": [field]}
    if item.answer:
        field = {"name": RATING_OF_CHECK, "ask": item.question, "options": SCALE}
        return {**content, "fields": [field | DEFAULTS["rating_of_check"]]}
    fields = []
    for rating in ratings:
        field = {"name": rating.question, "ask": rating.ask, "options": SCALE}
        fields.append({**field, "low": rating.low, "high": rating.high})
    return {**content, "rated": {"question": item.question, "options": options}, "fields": fields}


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text; blank lines divide them."""
    parts = re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n"))
    return [part.strip() for part in parts if part.strip()]


def _write(contents: dict[str, str], folder: Path, overwrite: bool) -> list[Path]:
    """Write files by name into a folder; none if one is there and may not be overwritten."""
    targets = {writable(folder / name): content for name, content in contents.items()}
    present = [path for path in targets if path.exists()]
    if present and not overwrite:
        raise InputError(
            f"{present[0]}: {len(present)} of {len(targets)} files are there already, and nothing "
            "was written. Name another folder, or allow to overwrite: pages that were handed out "
            "can then no longer be read"
        )
    for path, content in targets.items():
        path.write_text(content, encoding="utf-8", newline="\n")
    return list(targets)
