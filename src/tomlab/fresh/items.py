"""The file of fresh items: JSON Lines that hold the text and the events of each story."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from tomlab.errors import InputError, refuse
from tomlab.records.files import json_lines, read_text, unfit
from tomlab.records.tidy import check
from tomlab.scoring.tracker import Story, beliefs

Two = Annotated[list[str], Field(min_length=2, max_length=2)]


class Item(BaseModel):
    """A question on one of the two stories of a pair. The fields are the columns of an items table
    and further ones.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    benchmark: str
    item_id: str
    group_id: str  # the pair
    family: str  # the scene: pairs of one scene share words
    question_type: str  # such as "order 2"
    order: Annotated[
        int, Field(ge=0, le=4)
    ]  # of the belief that is asked about; 0 asks where the thing really is
    changes: int  # how often the thing is moved, or somebody misled about it
    hidden: bool  # whether the others do not see who comes to believe something
    way: str  # how the last change becomes known
    misled: int  # how often somebody is misled
    ending: int  # how many sentences follow the last change
    condition: str  # true_belief or false_belief; control for questions of order 0
    control: bool
    story: str
    question: str
    choices: Two
    answer: str
    reality: str  # the option that says where the thing really is
    source: str
    chain: list[str]  # whose belief is asked about: (A, B) is what A thinks that B thinks
    thing: str
    containers: Two  # those that `choices` name, in the same order
    record: Story  # the people and events, from which the key follows


def write_items(items: Iterable[Item], path: Path) -> None:
    lines = [json.dumps(item.model_dump(), ensure_ascii=False) for item in items]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")


def read_items(path: Path | str) -> pd.DataFrame:
    """The items table of a file. Errors: `InputError` that lists every faulty line and field, or
    else every key that does not follow from the events of its story.
    """
    records, problems = json_lines(read_text(path))
    problems += unfit(records, Item, "item_id", "line")
    refuse(problems, str(path))
    items = [Item.model_validate(record) for _, record in records]
    for item in items:
        problems += key_problems(item)
    refuse(problems, str(path))
    return table(items)


def table(items: Iterable[Item]) -> pd.DataFrame:
    rows = [dict(item) for item in items]
    return check(pd.DataFrame(rows, columns=[*Item.model_fields]), "items", "fresh items")


def key_problems(item: Item) -> list[str]:
    """The fields of an item that do not follow from the events of its story, each in words."""
    if item.thing not in item.record.things:
        return [f"{item.item_id}, field thing: found {item.thing!r}, which is not in the record"]
    try:
        believed = beliefs(item.record, item.order)
    except InputError as error:
        return [f"{item.item_id}, field record: {error}"]
    chain = tuple(item.chain)
    if len(chain) != item.order or chain not in believed:
        expected = f"expected {item.order} people of the record, none beside himself or herself"
        return [f"{item.item_id}, field chain: found {item.chain}, {expected}"]
    option_of: dict[str | None, str] = {}
    option_of.update(zip(item.containers, item.choices, strict=True))
    answer = option_of.get(believed[chain][item.thing], "an option for where it is")
    reality = option_of.get(believed[()][item.thing], "an option for where it is")
    condition = condition_of(item.order, answer == reality)
    fields = {"answer": answer, "reality": reality, "control": item.order == 0}
    problems = []
    for field, value in {**fields, "condition": condition}.items():
        if getattr(item, field) != value:
            found = f"found {getattr(item, field)!r}, expected {value!r}"
            problems.append(f"{item.item_id}, field {field}: {found}")
    return problems


def condition_of(order: int, is_true: bool) -> str:
    """The condition of a question. is_true: whether the belief that is asked about is true."""
    if order == 0:
        return "control"
    return "true_belief" if is_true else "false_belief"
