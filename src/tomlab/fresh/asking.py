"""How fresh items are put to models and scored: the face that `asking.evaluation` asks by."""

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
    """How a question is put."""

    prompts: tuple[str, ...]
    max_tokens: int


METHODS = {
    "0-shot": Method(("fresh/instruction",), max_tokens=100),
    "likelihood": Method(("techniques/likelihood",), max_tokens=1),
}


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items that a method is asked: all."""
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
    """Nothing: no two stories begin alike."""
    return ""


schema = no_schema


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """What the baselines answer: `gold`, `omniscient` (as if all knew all) and `random`."""
    chosen = baselines(item, method, seed)
    return {name: f"Answer: {key_of(item, text, KEYS)}) {text}" for name, text in chosen.items()}


def read_answer(text: str, finish_reason: str, cot: bool) -> Reading:
    """How one answer is read, by the rules of `scoring.options`."""
    # "A:" may stand for "answer:", as options are shown as "A) …".
    choose = partial(options.choose, keys="".join(KEYS), has_colon=False)
    return options.read_answer(text, finish_reason, cot, choose)


def score(items: pd.DataFrame, responses: pd.DataFrame, *, by_text: bool = False) -> pd.DataFrame:
    """One row a response, with `outcome`, `score` (1 correct, else 0), `chosen` (the option's text)
    and what the item asks about. Errors: those of `scoring.answers.pairs`.
    """
    conditions = ("group_id", "source", "family", "order", "condition")
    asked_items = pairs(items, responses, METHODS)
    rows = []
    for item, response in asked_items:
        reading = judged(item, response, KEYS, read_answer, cot=False, by_text=by_text)
        rows.append(scored(item, response, reading, KEYS, conditions))
    return table_of(rows, asked_items, KEYS, "fresh scores")


def rule(item: Mapping, response: Mapping) -> str:
    """The rule that decided a verdict, in words."""
    return judged(item, response, KEYS, read_answer, False, was_read(response)).rule
