"""Fresh stories of several changes with chosen features, and questions on beliefs to order 4."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import pandas as pd

from tomlab.errors import InputError
from tomlab.fresh import draw
from tomlab.records.files import yaml_beside
from tomlab.scoring.choices import shuffled
from tomlab.scoring.tracker import Chain, Event, Story, beliefs

LIE = "lied to"
_TEXTS = yaml_beside(__file__)
_WAYS = draw.WORDS["who"] | {LIE: _TEXTS[LIE]}
# The others do not know who has been told something, has watched in secret or has looked.
_HIDDEN = ("told", "overheard", "watched in secret", "found", LIE)
_BACK = {"leave": "enter", "distract": "attend"}
_TRIES = 1000  # to find a story in which the key turns with the one event


class Cell(NamedTuple):
    """order: of the belief that is asked about; changes: how often something happens, each time in
    one sentence, with another on who comes to know of it and who does not; hidden: whether the
    others do not see who comes to know of the change that decides.
    """

    order: int
    changes: int
    hidden: bool


def items(seed: str, cell: Cell, numbers: Iterable[int]) -> pd.DataFrame:
    """The questions of some families of a cell, four each, as an items table that BigToM puts, of
    which `group_id` is a pair, two stories that differ in one event. More columns: `family`, those
    of the cell, `people`, `channel` (how one comes to know of the change that decides), `lies` (how
    many are told) and `distance` (how many sentences come after that change).
    """
    rows = []
    for number in numbers:
        name = "/".join(map(str, [*cell, number]))
        rows += _family(random.Random(f"{draw.LOTS}/{seed}/stories/{name}"), cell, name)
    return pd.DataFrame(rows)


def _family(rng: random.Random, cell: Cell, name: str) -> Iterator[dict]:
    """Two stories in which two people have changed places once, which turns the key, and the two
    in which the thing is in the other container at first.
    """
    scenes = draw.scenes(rng)
    three = [scenes[0][letter] for letter in "AOM"]
    others = [n for names in draw.WORDS["names"].values() for n in names if n not in three]
    people = [*three, *rng.sample(others, rng.randrange(2))]
    begins = " ".join(rng.choice(_TEXTS[kind]) for kind in ("intros", "gone")[: len(people) - 2])
    between = ["", *rng.sample(_TEXTS["together"], cell.changes - 1)]
    ends = [draw.happening(rng, draw.WORDS["others"]) for _ in range(rng.randrange(3))]
    kinds = [kind for kind in _WAYS if (kind in _HIDDEN) is cell.hidden]
    for _ in range(_TRIES):
        decides = rng.randrange(cell.changes)
        every = (kinds if n == decides else [*_WAYS] for n in range(cell.changes))
        changes = [_change(rng, three, each) for each in every]
        turned, own = [*changes], changes[decides]
        turned[decides] = own | {"X": own["Y"], "Y": own["X"]}
        one, other = (_beliefs(scenes[0], people, told, cell.order) for told in (changes, turned))
        chains = [c for c in one if len(c) == cell.order and {*c} <= {*people}]
        chains = [c for c in chains if None not in (one[c], other[c]) and one[c] != other[c]]
        if chains:
            break
    else:
        raise InputError(f"fresh stories, {name}: found no pair in {_TRIES} draws")
    chain = rng.choice(chains)
    thing, containers = scenes[0]["thing"], [scenes[0]["first"], scenes[0]["second"]]
    thinks = [f"{chain[0]} thinks", *(f"{who} thinks" for who in chain[1:])]
    texts = {c: f"{' that '.join(thinks)} that the {thing} is in the {c}." for c in containers}
    asks = " ".join([f"does {chain[0]} think", *(f"that {each}" for each in thinks[1:])])
    asks = f"Where {asks} that the {thing} is, in the {' or in the '.join(containers)}?"
    row = {"benchmark": "bigtom", "question_type": "belief", "variable": f"order {cell.order}"}
    row |= {"initial_belief": 0, "duplicate_of": "", "source": "grammar", "question": asks}
    row |= {"family": name, "choices": shuffled([*texts.values()], 0, name)} | cell._asdict()
    row |= {"people": len(people), "channel": own["kind"]}
    row["lies"] = sum(change["kind"] == LIE for change in changes)
    row["distance"] = 3 * (cell.changes - 1 - decides) + len(ends)
    for (m, words), (n, told) in product(enumerate(scenes), enumerate((changes, turned))):
        parts = [begins.format(**words, N=people[-1])]
        for back, now in zip(between, _in_turn(words, told), strict=True):
            happens = f"{now['happens']} {now['told']}".format(**now)
            parts.append(f"{back.format(**words)} {happens}".strip())
        # Who has changed something last is there for sure.
        parts[-1] = " ".join([parts[-1], *(each.format(**now) for each in ends)])
        story = "\n\n".join(parts)
        at = _beliefs(words, people, told, cell.order)
        own = {"item_id": f"{name}/{m}{n}", "group_id": f"{name}/{m}", "story": story}
        own |= {"condition": "true_belief" if at[chain] == at[()] else "false_belief"}
        own |= {"answer": texts[at[chain]], "reality": texts[at[()]], "background": story}
        yield row | own


def _change(rng: random.Random, three: Sequence[str], kinds: Sequence[str]) -> dict[str, str]:
    """Who changes something (M), who learns of it (X) and who does not (Y), and the templates of
    the sentences on both.
    """
    kind, people = rng.choice(kinds), dict(zip("MXY", rng.sample(three, 3), strict=True))
    moves = draw.WORDS["moves"], _TEXTS["reasons"]
    happens = draw.happening(rng, *((draw.WORDS["others"],) if kind == LIE else moves))
    return people | {"kind": kind, "happens": happens, "told": rng.choice(_WAYS[kind]["told"])}


def _in_turn(words: Mapping, changes: Iterable[Mapping]) -> Iterator[dict]:
    """The words of each change, with where the thing is before it (s1) and the other place (s2)."""
    for change in changes:
        yield {**words, **change}
        if change["kind"] != LIE:
            words = {**words, "s1": words["s2"], "s2": words["s1"]}


def _beliefs(
    words: Mapping, people: Sequence[str], changes: Iterable[Mapping], order: int
) -> dict[Chain, str | None]:
    """Where each chain of people takes the thing to be at the end, and () where it is."""
    out, happened = {}, [Event("leave", who) for who in people[3:]]
    for now in _in_turn(words, changes):
        happened += [Event(_BACK[kind], who) for who, kind in out.items()]  # all are together again
        events = draw.events(now, _WAYS[now["kind"]]["steps"], words["thing"], now["s2"])
        last = {event.who: event.kind for event in events}
        out = {who: kind for who, kind in last.items() if kind in _BACK}
        happened += events
    others = {draw.AWAY} & {who for event in happened for who in event.to}
    start = {words["thing"]: words["s1"]}
    story = Story((*people, *others), (*people,), start, (*happened,))
    return {chain: value[words["thing"]] for chain, value in beliefs(story, order).items()}
