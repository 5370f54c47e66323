"""One self-contained HTML file for each participant, and a record of what each of them is asked.

The order of a participant's stories and of the options of each item follows from the seed, the
participant's name and the items alone: `random.Random(f"{seed}/{participant}/…")` shuffles them.
Questions about one story stay together, in the order of the table. Attention checks stand between
stories, one in each of as many equal parts of the questionnaire as there are checks.
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
Kind = Literal["answers", "ratings"]  # what a questionnaire asks people to give
_TEMPLATE = Path(__file__).with_name("questionnaire.html")
_NAME = re.compile(r"\w[\w.-]{0,59}")


class Record(BaseModel):
    """What each participant was asked, which is needed to read the answers. Participants must not
    see it, since it has the right answers of the attention checks.

    ratings: the names of the rating questions. checks: the right answer by the check's item id.
    pages: by participant and item id, the options in the order shown.
    """

    model_config = ConfigDict(extra="forbid")
    kind: Kind
    seed: int
    ratings: list[str]
    checks: dict[str, str]
    pages: dict[str, dict[str, list[str]]]


@dataclass(frozen=True)
class Rating:
    """A question that is answered from 1 to 5; `low` says what 1 means, `high` what 5 means."""

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

    intro: a text that is shown first, its paragraphs divided by blank lines. ratings: the questions
    that are asked about each item; if there are none, the item's own question is asked. deal:
    whether each group of items goes to one participant only; otherwise everybody is asked all
    items. Returns the paths, the record last. Errors: `InputError` for items, checks or names that
    can't be used, and for files that exist already if `overwrite` is False.
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
    """Errors: `InputError` if there are no names, or for names that can't be names of files or are
    the same if case is ignored.
    """
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
    """Errors: `InputError` for checks without an answer. Among ratings, also for checks that have
    options, or whose answer is not from 1 to 5.
    """
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
    """The items of each participant. Each group of items goes to one participant, at random; the
    numbers of groups differ by one at most.
    """
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
    """Items and checks in the order in which one participant is asked them, with their options in
    the order shown. seed: the questionnaire's seed and the participant's name.
    """
    by_story: dict[str, list[Item]] = {}
    for item in items:
        by_story.setdefault(item.story or item.item_id, []).append(item)
    blocks = list(by_story.values())
    random.Random(f"{seed}/stories").shuffle(blocks)
    rng = random.Random(f"{seed}/checks")
    shuffled_checks = rng.sample(checks, len(checks))
    # The stories are divided into as many equal parts as there are checks. Each part gets one
    # check, at a random place.
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
    """The text of one participant's HTML file: the template, with what is asked as JSON."""
    content = {
        "participant": participant,
        "kind": kind,
        "intro": paragraphs(intro),
        "instructions": [plain(sentence) for sentence in DEFAULTS["instructions"]],
        "keys": DEFAULTS["keys"],
        "items": [_shown(item, ratings) for item in items],
    }
    # The browser stores answers under this id, so a page with other content starts without answers.
    content["id"] = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
    # The text is pure ASCII, and without "<" nothing in it can end the script or begin a comment.
    text = json.dumps(content, allow_nan=False).replace("<", "\\u003c")
    return _TEMPLATE.read_text(encoding="utf-8").replace('"QUESTIONNAIRE"', text, 1)


def _shown(item: Item, ratings: Collection[Rating]) -> dict[str, Any]:
    """An item as the page's script takes it: its id, its story and `fields`, which are filled in.
    Where an item is rated, also its question and options (`rated`).
    """
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
    """Write files into a folder; returns their paths. contents: text by file name. Errors:
    `InputError`, with nothing written, if a file exists already and `overwrite` is False.
    """
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
