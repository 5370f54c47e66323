"""Fresh FANToM conversations, and what the tracker says of who knows a fact, and of whom."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path

import pandas as pd

from tomlab.benchmarks.fantom.items import compose, grammar
from tomlab.benchmarks.fantom.items.sets import SCENARIOS, belief_question, question_set
from tomlab.errors import refuse
from tomlab.fresh.draw import WORDS
from tomlab.records.files import yaml_beside
from tomlab.scoring.tracker import Event, Story, beliefs

FILE = "fantom.json"
_TEXTS, _ASKED = yaml_beside(__file__), yaml_beside(grammar.__file__)
_ORDERS = {"first-order": "", "second-order:cyclic": "y", "second-order:acyclic": "z"}
_MOVES = {"leave": "leave", "return": "enter"}


def family(rng: random.Random, number: int) -> Iterator[dict]:
    """Four question sets about one fact, in conversations that are alike but for who is away when:
    of two people each misses one of two facts. In the second and the fourth these two are changed.
    """
    names = a, b, c, d = rng.sample([*WORDS["names"]["she"], *WORDS["names"]["he"]], 4)
    topic, at = rng.choice(_TEXTS["topics"]), rng.randrange(2)
    facts = [_drawn(rng, forms) for forms in rng.sample(topic["facts"], 2)]
    lines = {kind: rng.sample(forms, 4) for kind, forms in _TEXTS["lines"].items()}
    asked = _drawn(rng, _ASKED) | facts[at]
    first, last, speakers = rng.choice(names), rng.choice((b, d)), rng.choice(_TEXTS["speakers"])
    u, v = (rng.choice([name for name in two if name != first]) for two in ((a, b), (c, d)))
    [x] = {*names} - {first, u, v}
    texts = [rng.choice(topic["opener"]), *rng.sample(topic["replies"], len(speakers) - 1)]
    for part, (p, q, s, t) in enumerate(((a, b, c, d), (b, a, c, d), (c, d, a, b), (d, c, a, b))):
        by = dict(zip("fxuv", (first, x, u, v) if part < 2 else (first, x, v, u), strict=True))
        turns = [(by[who], text, "", names) for who, text in zip(speakers, texts, strict=True)]
        for n, (away, here, tells, asks) in enumerate(((p, q, s, t), (q, p, t, s))):
            left = [name for name in names if name != away]
            happens = [(away, "leave", names), (here, "farewell", left), (asks, "ask", left)]
            happens += [(tells, "tell", left), (here, "react", left), (asks, "react", left)]
            happens += [(away, "return", names), (tells, "welcome", names)]
            for place, (who, kind, present) in enumerate(happens):
                text = facts[n].get(kind) or lines[kind][2 * n + (place == 5)]
                is_asked = "fact" if kind == "tell" and n == at else kind
                turns.append((who, text.format(name=away), is_asked, present))
        turns += [(s, lines["closing"][0], "", names), (last, lines["goodbye"][0], "", names)]
        roles = {"x": min(p, q, key=names.index), "y": (s, t)[at], "z": (t, s)[at]}
        yield _question_set(f"{number + 1}-{part}-0", turns, asked, roles)


def _drawn(rng: random.Random, forms: Mapping) -> dict[str, str]:
    """One of each kind of texts, in which the value of a fact, if there is one, is put."""
    fact = {name: rng.choice(texts) for name, texts in forms.items()}
    return {name: text.replace("{value}", fact.get("values", "")) for name, text in fact.items()}


def _question_set(set_id: str, turns: Sequence, asked: Mapping, roles: Mapping) -> dict:
    """Everything asked about one fact. turns: speaker, text, kind, who is there; roles: x, who is
    asked about, y, who tells the fact, z, who has asked for it. Errors: `InputError` if somebody
    knows the fact, or is taken to know it, by the record and not by the tracker.
    """
    words, beliefs_asked = {name: asked[name] for name in ("about", "claim")} | roles, []
    [aware] = [there for _, _, kind, there in turns if kind == "fact"]
    people, knows = turns[0][3], roles["x"] in aware
    events = [Event("peek", roles["y"], "fact"), *(Event("enter", name) for name in people)]
    for who, _, kind, there in turns:
        others = tuple(name for name in there if name != who)
        told = Event("say", who, "fact", asked["claim"], others)
        events += [Event(_MOVES[kind], who)] if kind in _MOVES else [told] * (kind == "fact")
    at = beliefs(Story(tuple(people), (), {"fact": asked["claim"]}, tuple(events)), order=2)
    derived = {chain for chain, value in at.items() if chain and value["fact"]}
    apart = derived ^ {chain for n in (1, 2) for chain in permutations(aware, n)}
    refuse([f"{set_id}: found {', '.join(chain)} either way" for chain in apart], "fresh fantom")
    answers = [asked[kind].format(**words) for kind in ("knows", "knows nothing")]
    for order, who in _ORDERS.items():
        named = words | {"y": roles.get(who)}
        told = [asked["believes"].format(belief=one, **named) if who else one for one in answers]
        question = asked[order.partition(":")[0]].format(**named)
        right, wrong = told if knows else told[::-1]
        beliefs_asked.append(belief_question(question, right, wrong, order, SCENARIOS[knows]))
    said = [(who, text) for who, text, *_ in turns]
    claim = f"{asked['claim'][0].upper()}{asked['claim'][1:]}."
    fact = (asked["question"], claim, asked["no information"].format(**words))
    return question_set(set_id, (said, said), fact, beliefs_asked, aware, "grammar")


def write(rows: Sequence[Mapping], path: Path) -> None:
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8", newline="\n")


def items(rows: Sequence[Mapping]) -> pd.DataFrame:
    """The questions with two answers: what somebody believes, who can answer and who knows."""
    found = compose.compose(rows).assign(family=lambda every: every["conversation_id"])
    return found[found["question_type"].str.endswith(("_choice", "_yn"))]
