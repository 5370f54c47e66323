"""Sets of fresh items: drawn from a secret seed, refused if a blind rule does well, with a card."""

import json
import random
from collections.abc import Sequence
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from tomlab.benchmarks import bigtom as questions
from tomlab.benchmarks import fantom as conversations
from tomlab.errors import InputError, refuse
from tomlab.fresh import bigtom, fantom, omnitom, simpletom
from tomlab.fresh.draw import LOTS, VERSION
from tomlab.records.files import parsed, read_text
from tomlab.scoring import readers

VIEWS = {"bigtom": bigtom, "fantom": fantom, "omnitom": omnitom, "simpletom": simpletom}
MOST, FEWEST = 0.55, 400  # the balanced accuracy that no blind rule may exceed; questions
SHORTEST = 16  # characters: a shorter seed could be guessed from its hash
# Whoever composes items from a file draws the order of their options, which no file says.
_BY_ORDER = ("first option", "last option")


def drawn(seed: str, view: str, n: int) -> list[dict]:
    """`n` templates or stories, family by family; a family depends on version, seed, view and its
    own number alone, so that it is the same on any machine.
    """
    lots = (random.Random(f"{LOTS}/{seed}/{view}/{number}") for number in range(n))
    families = (VIEWS[view].family(rng, number) for number, rng in enumerate(lots))
    return [*islice(chain.from_iterable(families), max(n, 0))]


def readers_of(view: str, rows: Sequence[dict]) -> pd.DataFrame:
    """What each blind rule gets on a drawn set. Errors: `InputError` with the rules that get more
    than `MOST`, or if there are too few questions to tell.
    """
    items = VIEWS[view].items(rows)
    if len(items) < FEWEST:
        raise InputError(f"fresh {view}: found {len(items)} questions, expected {FEWEST} or more")
    # Most are questions with two options, which BigToM puts as they are.
    asked = (conversations, "short") if view == "fantom" else (questions, "0-shot")
    table = readers.table(readers.choices(asked[0], items, asked[1]))
    high = table[~table["control"] & ~table["rule"].isin(_BY_ORDER) & (table["value"] > MOST)]
    problems = [f"{r.kind}: {r.rule} gets {r.value:.2f}, not {MOST}" for r in high.itertuples()]
    refuse(problems, f"fresh {view}: questions that can be answered without the story")
    return table


def write(seed: str, view: str, n: int, folder: Path) -> Path:
    """Draw a set, check its keys and its floors, write it and its card; returns the card's path."""
    if len(seed) < SHORTEST:
        raise InputError(f"seed: found {len(seed)} characters, expected {SHORTEST} or more")
    readers_of(view, drawn(seed, view, n))
    return _put(seed, view, n, folder)


def _put(seed: str, view: str, n: int, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path, told = folder / VIEWS[view].FILE, folder / f"{view}.card.json"
    VIEWS[view].write(drawn(seed, view, n), path)
    card = {"version": VERSION, "view": view, "parameters": {"n": n}}
    card |= {"seed_sha256": sha256(f"{VERSION}/{seed}".encode()).hexdigest()}
    card |= {"file": path.name, "file_sha256": sha256(path.read_bytes()).hexdigest()}
    told.write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8", newline="\n")
    return told


def check(seed: str, card: Path) -> Path:
    """Draw the set of a card again; returns the card. Errors: `InputError` if anything differs."""
    try:
        told = parsed(read_text(card))
        view, n, version = told["view"], told["parameters"]["n"], told["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{card}: expected the card of a fresh set ({error})") from None
    if (version, type(n)) != (VERSION, int) or view not in VIEWS:
        raise InputError(f"{card}: found {view} {version}, expected {'/'.join(VIEWS)} {VERSION}")
    with TemporaryDirectory() as folder:
        _put(seed, view, n, Path(folder))
        again = {path.name: read_text(path) for path in sorted(Path(folder).iterdir())}
    apart = [name for name, text in again.items() if read_text(card.parent / name) != text]
    refuse([f"{name}: differs from what the seed draws" for name in apart], str(card.parent))
    return card
