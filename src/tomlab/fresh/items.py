"""The file of fresh items: JSON Lines, in which the record of each story stands beside its text."""

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict

from tomlab.errors import refuse
from tomlab.records.files import json_lines, read_text, unfit
from tomlab.records.tidy import check
from tomlab.scoring.tracker import Story, beliefs


class Item(BaseModel):
    """A question on one story of a pair; the columns of an items table and further ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    benchmark: str
    item_id: str
    group_id: str  # the pair
    family: str  # the scene: pairs of one scene share words
    question_type: str  # such as "order 2"
    order: int  # of the belief that is asked about; 0 asks for what is so
    changes: int  # in the story
    hidden: bool  # whether the others do not see who comes to believe something
    way: str  # how the last change becomes known
    misled: int  # how often somebody is misled
    ending: int  # how many sentences follow the last change
    condition: str  # true_belief or false_belief; control, where both twins have the same key
    control: bool
    story: str
    question: str
    choices: list[str]
    answer: str
    reality: str  # the option that fits what is so
    source: str
    chain: list[str]  # whose belief is asked about: (A, B) is what A thinks that B thinks
    thing: str
    containers: list[str]  # what `choices` name, in their order
    record: Story


def write_items(items: Iterable[Item], path: Path) -> None:
    lines = [json.dumps(item.model_dump(), ensure_ascii=False) for item in items]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")


def read_items(path: Path | str) -> pd.DataFrame:
    """The items table of a file. Errors: `InputError` with every line and field at fault, and every
    key that does not follow from the events of its story.
    """
    records, problems = json_lines(read_text(path))
    problems += unfit(records, Item, "item_id", "line")
    refuse(problems, str(path))
    items = [Item.model_validate(record) for _, record in records]
    refuse([problem for item in items for problem in key_problems(item)], str(path))
    return table(items)


def table(items: Iterable[Item]) -> pd.DataFrame:
    rows = [dict(item) for item in items]
    return check(pd.DataFrame(rows, columns=[*Item.model_fields]), "items", "fresh items")


def key_problems(item: Item) -> list[str]:
    """What is wrong with the options of an item, by the events of its story."""
    container_of = dict(zip(item.choices, item.containers, strict=False))
    held = beliefs(item.record, order=len(item.chain))
    expected = {"answer": held[tuple(item.chain)], "reality": held[()]}
    problems = []
    for field, value in expected.items():
        option = getattr(item, field)
        container = container_of.get(option)
        if container != value[item.thing]:
            where = f"{item.item_id}, field {field}: found {option!r}"
            problems.append(f"{where}, expected the option for {value[item.thing]!r}")
    return problems
