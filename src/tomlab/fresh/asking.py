"""How models are asked fresh items and how answers are scored: the interface of a benchmark that
`asking.evaluation` expects.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import pandas as pd

from tomlab.asking import prompts
from tomlab.asking.protocol import no_schema
from tomlab.scoring import options
from tomlab.scoring.answers import baselines, pairs
from tomlab.scoring.choices import Reading, judged, key_of, scored, table_of, was_read

NAME = "fresh"
UNIT, STRATA = "group_id", ()
KEYS = ("A", "B")


class Method(NamedTuple):
    """How a question is asked: the names of its prompts, and the limit of the answer's length."""

    prompts: tuple[str, ...]
    max_tokens: int


METHODS = {
    "0-shot": Method(("fresh/instruction",), max_tokens=100),
    "likelihood": Method(("techniques/likelihood",), max_tokens=1),
}


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items that are asked by a method: all of them."""
    return items


def messages(item: Mapping, method: str, replaced: Mapping[str, str] | None = None) -> list[dict]:
    """The chat messages for one item: the instruction, then story, question and two options."""
    instruction = prompts.load(METHODS[method].prompts[0], replaced)
    lines = [f"{key}) {text}" for key, text in zip(KEYS, item["choices"], strict=True)]
    question = "\n".join([f"Question: {item['question']}", *lines])
    return [
        {"role": "system", "content": instruction},
        {"role": "user", "content": f"Story: {item['story']}\n\n{question}"},
    ]


def shared_prefix(item: Mapping, method: str) -> str:
    """The beginning that prompts share: none, since each story begins differently."""
    return ""


schema = no_schema


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """What the baselines answer: `gold`, `omniscient` (as if everybody knew all) and `random`."""
    chosen = baselines(item, method, seed)
    return {name: f"Answer: {key_of(item, text, KEYS)}) {text}" for name, text in chosen.items()}


def read_answer(text: str, finish_reason: str, cot: bool) -> Reading:
    """Find the option that one answer names, by the rules of `scoring.options`."""
    # Options are shown as "A) …", so an "A:" may be short for "answer:" and does not name option A.
    choose = partial(options.choose, keys="".join(KEYS), has_colon=False)
    return options.read_answer(text, finish_reason, cot, choose)


def score(items: pd.DataFrame, responses: pd.DataFrame, *, by_text: bool = False) -> pd.DataFrame:
    """One row a response, with `outcome`, `score` (1 correct, else 0), `chosen` (the option's text)
    and the item's group, source, family, order and condition. by_text: an option's text without its
    letter counts, too. Errors: those of `scoring.answers.pairs`.
    """
    conditions = ("group_id", "source", "family", "order", "condition")
    asked_items = pairs(items, responses, METHODS)
    rows = []
    for item, response in asked_items:
        reading = judged(item, response, KEYS, read_answer, cot=False, by_text=by_text)
        rows.append(scored(item, response, reading, KEYS, conditions))
    return table_of(rows, asked_items, KEYS, "fresh scores")


def rule(item: Mapping, response: Mapping) -> str:
    """The rule by which one response was read, in words."""
    return judged(item, response, KEYS, read_answer, False, was_read(response)).rule
