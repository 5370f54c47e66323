"""FANToM's items and methods (Kim et al., EMNLP 2023): Sec. 3.2-3.4, App. A.4, the release."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tomlab.asking import prompts, techniques
from tomlab.benchmarks.fantom.items.sets import SCENARIOS, read_sets, source_of
from tomlab.errors import InputError
from tomlab.records.tidy import check
from tomlab.scoring.choices import AS_RELEASED, OURS, demand_orders

NAME = "fantom"
KEYS = ("a", "b")
INACCESSIBLE = SCENARIOS[0]
# A part of the items is drawn by question set: one of each conversation before a second of any,
# from either scenario in its turn.
UNIT, STRATA = "group_id", ("conversation_id", "set_scenario")
# The fields of the lists and of the yes/no questions of a family.
FAMILIES = {
    "answerability": ("answerabilityQA_list", "answerabilityQAs_binary"),
    "infoaccess": ("infoAccessibilityQA_list", "infoAccessibilityQAs_binary"),
}


@dataclass(frozen=True)
class Method:
    """How a question is put."""

    context: str = "short"  # the part of the conversation that matters, or "full": all of it
    first: str | None = None  # for chain of thought, the method that asks for the reasoning before
    reasoning: bool = False  # whether this is such a method, whose answers are never scored
    max_tokens: int = 256  # the release's limit
    # Whether reasoning is asked for as the release does it in batches, for models in process: with
    # no "Answer:" before the cue. For models behind an API it leaves "Answer:" there.
    in_batches: bool = False
    weighed: bool = False  # asked by likelihood, choices and yes/no questions alone

    @property
    def prompts(self) -> tuple[str, ...]:
        """The names of the prompt files that go into a request."""
        if self.weighed:
            return ("techniques/likelihood",)
        cues = ("fantom/step-by-step", "fantom/therefore") if self.first or self.reasoning else ()
        return ("fantom/choose", "fantom/yes-no", *cues)


METHODS = {
    "short": Method(),
    "short-cot": Method(first="short-reasoning"),
    "full": Method("full"),
    "full-cot": Method("full", first="full-reasoning"),
    "short-cot-batch": Method(first="short-reasoning-batch", in_batches=True),
    "full-cot-batch": Method("full", first="full-reasoning-batch", in_batches=True),
    "short-reasoning": Method(reasoning=True),
    "full-reasoning": Method("full", reasoning=True),
    "short-reasoning-batch": Method(reasoning=True, in_batches=True),
    "full-reasoning-batch": Method("full", reasoning=True, in_batches=True),
    "short-likelihood": Method(max_tokens=1, weighed=True),
    **techniques.methods("short", Method(), "short-"),
}


# The released script starts Python's random numbers with this.
RELEASED_SEED = 99


def read_released(path: Path | str, seed: int = 0, *, orders_as: str = OURS) -> pd.DataFrame:
    """The items of a file in the released format; see `sets.read_sets`."""
    return compose(read_sets(path), seed, orders_as=orders_as)


def compose(sets: Iterable[Mapping], seed: int = 0, *, orders_as: str = OURS) -> pd.DataFrame:
    """The items of question sets in the released format, one row a question; the two options of a
    choice are shuffled by `seed` and the item's id, of ours so that half have the right one first.
    With `orders_as` "release", they stand as the released code draws them (`released_orders`).

    Beyond the columns of every items table: `full_story` (`story` is the short context),
    `wrong_answer` (for beliefs in the inaccessible scenario the omniscient one), `aware`, `unaware`
    and `characters` (names, for lists), `part_id`, `conversation_id`, `scenario` and
    `full_scenario` (by context), `set_scenario` (of its beliefs), `tom_order`, `character` (whom
    the question is about, in lower case), `long_only` (unaware, and not in the short context),
    `fact_question`, `fact_answer`.
    """
    demand_orders(orders_as)
    asked = ((record, *one) for record in sets for one in _questions(record).items())
    rows = [_item(record, name, question, seed) for record, name, question in asked]
    if not rows:
        raise InputError("fantom: there are no question sets to compose items from")
    items = pd.DataFrame(rows)
    if orders_as == AS_RELEASED:
        items["choices"] = released_orders(items)
    return check(items, "items", "fantom items")


def released_orders(items: pd.DataFrame) -> list[list[str]]:
    """The options of each item as the released `eval_fantom.py` orders them.

    It seeds Python's `random` once. Then, question set by question set in the order of the file, it
    draws for each belief question whether the right option stands last. Nothing else draws.
    """
    draws = random.Random(RELEASED_SEED)
    orders = []
    for item in items.to_dict("records"):
        options = []
        if item["question_type"] == "belief_choice":
            is_last = draws.choice([True, False])
            options = [item["answer"], item["wrong_answer"]]
            if is_last:
                options.reverse()
        orders.append(options)
    return orders


def _questions(record: Mapping) -> dict[str, Mapping]:
    """The questions of a set by name: their type, and where there are several, their number."""
    asked = {"fact": record["factQA"]}
    for n, belief in enumerate(record["beliefQAs"]):
        asked |= {f"belief_dist:{n}": belief, f"belief_choice:{n}": belief}
    for family, (listed, yn) in FAMILIES.items():
        asked |= {f"{family}_list": record[listed]}
        asked |= {f"{family}_yn:{n}": question for n, question in enumerate(record[yn])}
    return asked


def _item(record: Mapping, name: str, question: Mapping, seed: int) -> dict:
    set_id, fact, kind = record["set_id"], record["factQA"], name.partition(":")[0]
    item_id, (conversation, part) = f"{set_id}/{name}", set_id.split("-")[:2]
    right, wrong = question["correct_answer"], question.get("wrong_answer") or ""
    scenario = "" if kind == "fact" else question["missed_info_accessibility"]
    of_set = next(iter(record["beliefQAs"]), record["answerabilityQA_list"])
    aware, unaware, characters, choices, long_only = [], [], [], [], False
    if is_list(kind):
        asked = [q["question"] for _, field in FAMILIES.values() for q in record[field]]
        characters = list(dict.fromkeys(_character("answerability_yn", q) for q in asked))
        aware, unaware = list(right), list(wrong)
        right, wrong = ", ".join(right), ", ".join(wrong)
    elif is_yn(kind):
        right, long_only = right.partition(":")[0], right == "no:long"
    elif kind == "belief_choice":
        choices = random.Random(f"{seed}/{item_id}").sample([wrong, right], 2)
        if source_of(record) == "authored":
            choices = _balanced([right, wrong], set_id, scenario, question["tom_type"], seed)
    return {
        "benchmark": NAME,
        "item_id": item_id,
        "group_id": set_id,
        "question_type": kind,
        "story": record["short_context"].strip(),
        "full_story": record["full_context"].strip(),
        "question": question["question"],
        "choices": choices,
        "answer": right,
        "wrong_answer": wrong,
        "aware": aware,
        "unaware": unaware,
        "characters": characters,
        "source": source_of(record),
        "conversation_id": conversation,
        "part_id": f"{conversation}-{part}",
        "set_scenario": of_set["missed_info_accessibility"],
        "scenario": scenario,
        "full_scenario": _full_scenario(record, kind, scenario),
        "tom_order": question.get("tom_type") or "",
        "character": _character(kind, question["question"]),
        "long_only": long_only,
        "fact_question": fact["question"],
        "fact_answer": fact["correct_answer"],
    }


def _balanced(options: list[str], set_id: str, *kind: str | int) -> list[str]:
    """The options by chance, turned in every other part, so that half have the right one first."""
    conversation, part, _ = set_id.split("-")
    first = random.Random("/".join(map(str, [conversation, *kind]))).randrange(2)
    is_turned = (first + ord(part[-1])) % 2
    return options[::-1] if is_turned else options


def is_list(kind: str) -> bool:
    return kind.endswith("_list")


def is_yn(kind: str) -> bool:
    return kind.endswith("_yn")


def _full_scenario(record: Mapping, kind: str, scenario: str) -> str:
    """The scenario that a question counts to with the full context. As in the release, a list with
    an unaware name is inaccessible, and all yes/no questions of a kind if one is keyed "no".
    """
    family = kind.partition("_")[0]
    if family not in FAMILIES:
        return scenario
    listed, yn = (record[field] for field in FAMILIES[family])
    if is_list(kind):
        return INACCESSIBLE if listed["wrong_answer"] else scenario
    someone_missed = any(question["correct_answer"] != "yes" for question in yn)
    return INACCESSIBLE if someone_missed else yn[0]["missed_info_accessibility"]


def _character(kind: str, question: str) -> str:
    """Whose mind a question asks about, read off its words as the release does; "" if nobody's."""
    if is_yn(kind):
        return question.removeprefix("Does ").split(" know")[0].lower()
    words = question.lower().partition("does ")[2].split() if kind.startswith("belief") else []
    return words[0] if words else ""


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items that a method is asked: with the short context, none about people not in it."""
    if METHODS[method].weighed:
        items = items[items["question_type"].str.endswith(("_choice", "_yn"))]
    return items if METHODS[method].context == "full" else items[~items["long_only"].astype(bool)]


def messages(item: Mapping, method: str, replaced: Mapping[str, str] | None = None) -> list[dict]:
    """The chat message for one item, laid out as in the release."""
    wanted, kind = METHODS[method], item["question_type"]
    if isinstance(wanted, techniques.TwoStep):
        return wanted.messages(messages, item, _asks(item), replaced)
    text = shared_prefix(item, method) + _asks(item)
    if kind == "belief_choice":
        options = zip(KEYS, item["choices"], strict=True)
        text += "".join(f"\n({letter}) {choice}" for letter, choice in options)
        text += f"\n\n{prompts.load('fantom/choose', replaced)}"
    else:
        text += f" {prompts.load('fantom/yes-no', replaced)}" if is_yn(kind) else ""
        text += "\n" if wanted.in_batches else "\nAnswer:"
    if wanted.reasoning or wanted.first:
        text += f" {prompts.load('fantom/step-by-step', replaced)}"
    if wanted.first:
        if "reasoning" not in item:
            raise InputError(f"fantom: {method} needs the reasoning of {wanted.first} before")
        text += f" {item['reasoning']}\n\n{prompts.load('fantom/therefore', replaced)}"
    return [{"role": "user", "content": text}]


def _asks(item: Mapping) -> str:
    """The question, with what it is about where its words do not say that."""
    about = {"answerability": f"Target: {item['fact_question']}\n"}
    about["infoaccess"] = f"Information: {item['fact_question']} {item['fact_answer']}\n"
    return f"{about.get(item['question_type'].partition('_')[0], '')}Question: {item['question']}"


def shared_prefix(item: Mapping, method: str) -> str:
    """The conversation, with which all questions about it begin."""
    if isinstance(METHODS[method], techniques.TwoStep):
        return METHODS[method].shared_prefix(shared_prefix, item)
    return item["full_story" if METHODS[method].context == "full" else "story"] + "\n\n"


def in_words(item: Mapping) -> dict[str, str]:
    """What an item asks, as `question`: of who knows, its prompt alone says about what."""
    return {"question": _asks(item)} if item["question_type"].endswith(("_list", "_yn")) else {}


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """What the baselines answer: `gold`, `omniscient` (as if nobody missed anything), `random`."""
    names, right, kind = ("gold", "omniscient", "random"), item["answer"], item["question_type"]
    draw = random.Random(f"random/{seed}/{method}/{item['item_id']}")
    if is_list(kind):
        everyone = [*item["aware"], *item["unaware"]]
        guess = ", ".join(name for name in everyone if draw.random() < 0.5)
        said = (right or "Nobody", ", ".join(everyone) or "Nobody", guess or "Nobody")
    elif is_yn(kind):
        said = right, "yes", draw.choice(["yes", "no"])
    else:
        wrong = item["wrong_answer"]
        omniscient = wrong if item["scenario"] == INACCESSIBLE else right
        said = right, omniscient, draw.choice([right, wrong])
    if kind == "belief_choice":
        letters = {text: f"({key})" for key, text in zip(KEYS, item["choices"], strict=True)}
        said = [letters[text] for text in said]
    return dict(zip(names, said, strict=True))
