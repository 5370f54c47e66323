"""Sets of fresh items: drawn from a secret seed, checked with readers, written with a card."""

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
from tomlab.fresh import bigtom, fantom, simpletom
from tomlab.fresh.draw import LOTS, VERSION
from tomlab.records.files import parsed, read_text
from tomlab.scoring import cues, readers

VIEWS = {"bigtom": bigtom, "fantom": fantom, "simpletom": simpletom}
# The balanced accuracy that no reader may exceed which sets are balanced against; questions.
MOST, FEWEST = 0.55, 400
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
    """What each reader gets on a drawn set. `is_balanced`: sets are balanced against this reader.
    Errors: `InputError` with the readers of these that get more than `MOST`, or if there are too
    few questions to tell.
    """
    items = VIEWS[view].items(rows)
    if len(items) < FEWEST:
        raise InputError(f"fresh {view}: found {len(items)} questions, expected {FEWEST} or more")
    # Most are questions with two options, which BigToM puts as they are.
    asked = (conversations, "short") if view == "fantom" else (questions, "0-shot")
    table = readers.table(readers.choices(asked[0], items, asked[1]))
    table["is_balanced"] = ~table["reader"].isin([*_BY_ORDER, *cues.BY_VERSION])
    high = table[table["is_balanced"] & ~table["control"] & (table["value"] > MOST)]
    problems = [f"{r.kind}: {r.reader} gets {r.value:.2f}, not {MOST}" for r in high.itertuples()]
    refuse(problems, f"fresh {view}: questions that a blind or shallow reader can answer")
    return table


def write(seed: str, view: str, n: int, folder: Path) -> Path:
    """Draw a set, check its keys and what readers get, write it and its card. Returns the card."""
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
