"""BigToM's items, composed from templates (Sec. 3.3, Fig. 6), and prompts (App. E, Fig. 9-12)."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tomlab.asking import prompts, techniques
from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.errors import InputError
from tomlab.records.files import yaml_beside
from tomlab.records.tidy import check
from tomlab.scoring.answers import baselines
from tomlab.scoring.choices import AS_RELEASED, OURS, demand_orders, key_of, shuffled

NAME = "bigtom"
UNIT = "group_id"
STRATA = ()
VARIABLES = ("forward_belief", "forward_action", "backward_belief")
_TEXTS = yaml_beside(__file__)
ENDINGS = _TEXTS["endings"]  # by condition: the variables of its event, perception, action
KEYS = ("a", "b")


class Method(NamedTuple):
    """How a method asks a question; `compose.yaml` says more about the fields."""

    prompts: Sequence[str]  # the names of the prompt files that go into a request
    cot: bool = False
    max_tokens: int = 100
    main_only: bool = True  # only `main_cells`, as in Table 7; else all items (Tables 8, 9)


METHODS: dict[str, Method | techniques.TwoStep] = {
    name: Method(**options) for name, options in _TEXTS["methods"].items()
}
METHODS |= techniques.methods("0-shot", METHODS["0-shot"]._replace(main_only=True))
WITHOUT_STORY = ("0-shot",)  # the example of 1-shot has a story of its own

# The seed with which the release's script, run once per condition, starts Python's `random`.
RELEASED_SEED = 0


def read_released(path: Path | str, seed: int = 0, *, orders_as: str = OURS) -> pd.DataFrame:
    """The items of a file in the layout of the released `bigtom.csv`, whoever wrote it.

    Errors: `InputError`, as in `templates.read_templates`.
    """
    return compose(read_templates(path), seed, orders_as=orders_as)


def compose(templates: pd.DataFrame, seed: int = 0, *, orders_as: str = OURS) -> pd.DataFrame:
    """The items for the 25 conditions of each template (Sec. 3.3, Fig. 6).

    Beyond the columns of every items table: `variable`, `condition`, `initial_belief` (1 if stated
    in the story, else 0), `background` (the beginning of the story, which sibling items share),
    `reality` (the option that fits the world as it is) and `duplicate_of` (the id of the item with
    the same text, else "": a template's two backward-belief controls are alike, a known quirk).
    `choices` are shuffled by `seed` and the item's id; with `orders_as` "release", they have the
    order that the released code draws, whatever the seed (see `released_orders`).
    """
    demand_orders(orders_as)
    if templates.empty:
        raise InputError("bigtom items: there are no templates to compose them from")
    cells = [*product((0, 1), VARIABLES, ENDINGS), (0, "percept_to_belief", "true_belief")]
    rows = []
    for template in templates.to_dict("records"):
        rows += [_item(template, *cell, seed) for cell in cells]
    items = pd.DataFrame(rows)
    if orders_as == AS_RELEASED:
        items["choices"] = released_orders(items)
    return check(items, "items", "bigtom items")


def released_orders(items: pd.DataFrame) -> list[list[str]]:
    """The options of each item as the released `evaluate_conditions.py` orders them.

    A run of that script evaluates one condition. It seeds Python's `random` once and shuffles
    [right, wrong] once per template, in the order of the file. So a template's right option has the
    same place in every condition. Two things cannot be known: whether the authors' runs began at
    the first template (the script's default), and whether their libraries drew random numbers, too.
    """
    draws: dict[tuple, random.Random] = defaultdict(lambda: random.Random(RELEASED_SEED))
    orders = []
    for item in items.to_dict("records"):
        options = sorted(item["choices"], key=lambda option: option != item["answer"])
        if item["variable"] == "percept_to_belief":
            options.reverse()  # here the release counts the other option as right
        draws[item["variable"], item["condition"], item["initial_belief"]].shuffle(options)
        orders.append(options)
    return orders


def _item(
    template: Mapping[str, str], initial_belief: int, variable: str, condition: str, seed: int
) -> dict:
    """One item. The answer that describes the initial state is right if the agent missed the event
    or the state never changed. It never changes in the two controls nor in percept-to-belief, whose
    story stops before the event. There the release counts the other answer as right, although
    Sec. 3.1 means the initial belief.
    """
    event, last, action = ENDINGS[condition]
    if variable == "backward_belief":
        last = action  # here the agent's action, not their perception, shows what they believe
    sentences = ["context", "desire", "percept"]
    if initial_belief:
        sentences.append("belief")
    if variable != "percept_to_belief":
        sentences.append(event)
    background = " ".join(template[name] for name in sentences)
    story = background if variable == "percept_to_belief" else f"{background} {template[last]}"
    kind = "action" if variable == "forward_action" else "belief"
    aware = template[f"{kind}_answer_aware"]
    not_aware = template[f"{kind}_answer_not_aware"]
    reality = aware if "causal_event" in sentences else not_aware
    item_id = f"{template['template_id']}/{variable}/{condition}/{initial_belief}"
    duplicate_of = ""
    if variable == "backward_belief" and condition == "false_control":
        duplicate_of = item_id.replace("false_control", "true_control")
    return {
        "benchmark": NAME,
        "item_id": item_id,
        "group_id": template["template_id"],
        "question_type": kind,
        "story": story,
        "question": template[f"{kind}_question"],
        "choices": shuffled([aware, not_aware], seed, item_id),
        "answer": reality if condition == "true_belief" else not_aware,
        "source": template["source"],
        "variable": variable,
        "condition": condition,
        "initial_belief": initial_belief,
        "background": background,
        "reality": reality,
        "duplicate_of": duplicate_of,
    }


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items that a method is asked: all, or those of `main_cells` (12 per template)."""
    return main_cells(items) if METHODS[method].main_only else items


def main_cells(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the true- and false-belief conditions of the three inferences."""
    main = table["condition"].isin(["true_belief", "false_belief"])
    return table[main & table["variable"].isin(VARIABLES)]


def messages(item: Mapping, method: str, replaced: Mapping[str, str] | None = None) -> list[dict]:
    """The chat messages for one item: the instruction, the example (if the method has one) as a
    turn of its own, then story, question and lettered options in the layout of Fig. 11.
    replaced: as for `prompts.load`.
    """
    how = METHODS[method]
    if isinstance(how, techniques.TwoStep):
        return how.messages(messages, item, f"Question: {item['question']}", replaced)
    texts = [prompts.load(name, replaced) for name in how.prompts]
    roles = ("system", "user", "assistant")
    turns = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    options = "\n".join(f"{key}){text}" for key, text in zip(KEYS, item["choices"], strict=True))
    asked = f"Question: {item['question']}\nChoose one of the following:\n{options}"
    return [*turns, {"role": "user", "content": f"Story: {item['story']}\n{asked}"}]


def shared_prefix(item: Mapping, method: str) -> str:
    how = METHODS[method]
    if isinstance(how, techniques.TwoStep):
        return how.shared_prefix(shared_prefix, item)
    return f"Story: {item['background']}"


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """The baselines' answers: `gold`, `omniscient` (as if everyone knew everything), `random`."""
    chosen = baselines(item, method, seed)
    return {name: f"Answer: {key_of(item, text, KEYS)}){text}" for name, text in chosen.items()}
