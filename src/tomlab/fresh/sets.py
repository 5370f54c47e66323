"""Sets of fresh items: draws them from a secret seed, writes each with a card (its hashes), and
checks later that the seed draws the set of a card.
"""

import json
import random
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from pydantic import BaseModel, PositiveInt, ValidationError

from tomlab.errors import InputError, refuse
from tomlab.fresh.items import Item, write_items
from tomlab.fresh.stories import VERSION, Cell, draw, items_of
from tomlab.params import complaint, matches
from tomlab.records.files import parsed, read_text

FILE, CARD = "fresh.jsonl", "fresh.card.json"
ORDERS = (0, 1, 2, 3, 4)
SHORTEST = 16  # characters: a shorter seed could be guessed from its hash


class Card(BaseModel):
    """The facts about a set that can be published while its seed is still secret."""

    version: Annotated[str, matches(VERSION, f"version {VERSION}")]
    pairs: PositiveInt
    seed_sha256: str
    file_sha256: str


def drawn(seed: str, pairs: int) -> list[Item]:
    """The items of this number of pairs. Belief orders take turns from pair to pair. With the same
    seed, a set of more pairs begins with the items of a set of fewer.
    """
    items = []
    for number in range(pairs):
        order = ORDERS[number % len(ORDERS)]
        is_hidden = random.Random(f"{VERSION}/{seed}/{number}").random() < 0.5
        cell = Cell(order, changes=1, hidden=is_hidden)
        items += items_of(draw(seed, cell, number // len(ORDERS)))
    return items


def write_set(seed: str, pairs: int, folder: Path) -> Path:
    """Draw a set, and write it and its card. Returns the card's path. Errors: `InputError` if the
    seed is too short or `pairs` is below 1.
    """
    if len(seed) < SHORTEST:
        raise InputError(f"seed: found {len(seed)} characters, expected {SHORTEST} or more")
    if pairs < 1:
        raise InputError(f"pairs: found {pairs}, expected 1 or more")
    folder.mkdir(parents=True, exist_ok=True)
    write_items(drawn(seed, pairs), folder / FILE)
    card = Card(
        version=VERSION,
        pairs=pairs,
        seed_sha256=sha256(f"{VERSION}/{seed}".encode()).hexdigest(),
        file_sha256=sha256((folder / FILE).read_bytes()).hexdigest(),
    )
    text = json.dumps(card.model_dump(), indent=2)
    (folder / CARD).write_text(f"{text}\n", encoding="utf-8", newline="\n")
    return folder / CARD


def check(seed: str, path: Path) -> Path:
    """Draw the set of a card again and compare. Returns the card's path. path: the card, beside the
    set's file. Errors: `InputError` if the file is not a card of this version, or if the set or the
    card differs from what the seed draws.
    """
    try:
        card = Card.model_validate(parsed(read_text(path)))
    except ValidationError as error:
        refuse([complaint(case) for case in error.errors(include_url=False)], str(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected the card of a fresh set ({error})") from None
    with TemporaryDirectory() as folder:
        write_set(seed, card.pairs, Path(folder))
        for name in (FILE, CARD):
            if read_text(Path(folder, name)) != read_text(path.parent / name):
                raise InputError(f"{path.parent}: {name}: differs from what the seed draws")
    return path
