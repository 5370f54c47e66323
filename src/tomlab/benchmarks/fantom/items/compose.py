"""FANToM's items and methods (Kim et al., EMNLP 2023): Sec. 3.2-3.4, App. A.4, the release."""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tomlab.asking import prompts, techniques
from tomlab.benchmarks.fantom.items.sets import SCENARIOS, read_sets, scenario_of, source_of
from tomlab.errors import InputError
from tomlab.models.specs import LIKELIHOOD
from tomlab.records.files import yaml_beside
from tomlab.records.tidy import check
from tomlab.scoring.choices import AS_RELEASED, OURS, demand_orders, key_of, shuffled

NAME = "fantom"
KEYS = ("a", "b")
INACCESSIBLE = SCENARIOS[0]
# A sample of the items is drawn in whole question sets: one of each conversation before a second
# of any, alternating between the scenarios.
UNIT = "group_id"
STRATA = ("conversation_id", "set_scenario")
# The families of questions on who knows, and how the names of their fields in a record begin.
FAMILIES = {"answerability": "answerability", "infoaccess": "infoAccessibility"}


class Method(NamedTuple):
    """How a method asks a question; `compose.yaml` says what the fields mean."""

    prompts: Sequence[str]  # the names of the prompt files that go into a request
    context: str = "short"
    first: str | None = None
    max_tokens: int = 256  # the release's limit
    in_batches: bool = False


METHODS: dict[str, Method | techniques.TwoStep] = {
    name: Method(**options) for name, options in yaml_beside(__file__)["methods"].items()
}
METHODS |= techniques.methods("short", METHODS["short"], "short-")
WITHOUT_STORY = ("short",)

# Finds the person whom a yes/no question asks about.
OF_YES_NO = r"does (.+?) know"
# The seed with which the released script starts Python's `random`.
RELEASED_SEED = 99


def read_released(path: Path | str, seed: int = 0, *, orders_as: str = OURS) -> pd.DataFrame:
    """The items of a file in the released format; see `sets.read_sets`."""
    return compose(read_sets(path), seed, orders_as=orders_as)


def compose(sets: Iterable[Mapping], seed: int = 0, *, orders_as: str = OURS) -> pd.DataFrame:
    """The items of question sets in the released format, one row per question. The two options of
    a belief choice are shuffled by `seed` and the item's id; in our sets, half of them have the
    right option first. With `orders_as` "release", they are ordered as by the released code
    (`released_orders`). Errors: `InputError` if there are no sets.

    Beyond the columns of every items table: `full_story` (`story` is the short context),
    `wrong_answer` (the omniscient one for beliefs in the inaccessible scenario), `aware`, `unaware`
    and `characters` (names, for lists), `part_id`, `conversation_id`, `scenario` (of the short
    context) and `full_scenario` (of the full one), `set_scenario` (of the set's beliefs),
    `tom_order`, `character` (whom the question is about, in lower case), `long_only` (that person
    does not know and does not speak in the short context), `fact_question`, `fact_answer`.
    """
    demand_orders(orders_as)
    rows = []
    for record in sets:
        for name, question, fields in _questions(record):
            rows.append(_item(record, name, question, fields, seed))
    if not rows:
        raise InputError("fantom: there are no question sets to compose items from")
    items = pd.DataFrame(rows)
    if orders_as == AS_RELEASED:
        items["choices"] = released_orders(items)
    return check(items, "items", "fantom items")


def released_orders(items: pd.DataFrame) -> list[list[str]]:
    """The options of each item as the released `eval_fantom.py` orders them.

    That script seeds Python's `random` once. Then, in the order of the file, it draws for each
    belief question whether the right option comes last. Nothing else draws random numbers.
    """
    draws = random.Random(RELEASED_SEED)
    orders = []
    for item in items.to_dict("records"):
        options = []
        if item["question_type"] == "belief_choice":
            options = [item["answer"], item["wrong_answer"]]
            if draws.choice([True, False]):
                options.reverse()
        orders.append(options)
    return orders


def _questions(record: Mapping) -> Iterator[tuple[str, Mapping, dict]]:
    """Yields for each question of a set its name (the type, with a number if there are several, as
    in "belief_dist:0"), its record, and the item's columns that depend on its type.
    """
    yield "fact", record["factQA"], {}
    for n, belief in enumerate(record["beliefQAs"]):
        fields = {
            "scenario": scenario_of(belief),
            "tom_order": belief["tom_type"],
            "character": _name(r"does\s+(\S+)", belief["question"]),
        }
        yield f"belief_dist:{n}", belief, fields
        yield f"belief_choice:{n}", belief, fields
    yes_no = record["answerabilityQAs_binary"] + record["infoAccessibilityQAs_binary"]
    names = [_name(OF_YES_NO, question["question"]) for question in yes_no]
    for family, field in FAMILIES.items():
        people = record[f"{field}QA_list"]
        yield f"{family}_list", people, _list_fields(people, names)
        questions = record[f"{field}QAs_binary"]
        scenario = questions[0]["missed_info_accessibility"]
        # As in the release, one "no" makes all yes/no questions inaccessible in the full context.
        if any(question["correct_answer"] != "yes" for question in questions):
            scenario = INACCESSIBLE
        for n, question in enumerate(questions):
            key = question["correct_answer"]
            fields = {
                "answer": key.removesuffix(":long"),
                "long_only": key == "no:long",
                "character": _name(OF_YES_NO, question["question"]),
                "scenario": question["missed_info_accessibility"],
                "full_scenario": scenario,
            }
            yield f"{family}_yn:{n}", question, fields


def _list_fields(people: Mapping, names: Sequence[str]) -> dict:
    """The item's columns for a list question. names: the people with a yes/no question."""
    aware = people["correct_answer"]
    unaware = people["wrong_answer"]
    scenario = people["missed_info_accessibility"]
    return {
        "answer": ", ".join(aware),
        "wrong_answer": ", ".join(unaware),
        "aware": aware,
        "unaware": unaware,
        "characters": list(dict.fromkeys(names)),
        "scenario": scenario,
        # As in the release, one unaware name makes a list inaccessible in the full context.
        "full_scenario": INACCESSIBLE if unaware else scenario,
    }


def _name(pattern: str, question: str) -> str:
    """The person whose mind a question asks about, found by `pattern` as in the release, or ""."""
    match = re.search(pattern, question.lower())
    return match[1] if match else ""


def _item(record: Mapping, name: str, question: Mapping, fields: dict, seed: int) -> dict:
    part_id = record["set_id"].rpartition("-")[0]
    set_scenario = record["answerabilityQA_list"]["missed_info_accessibility"]
    if record["beliefQAs"]:
        set_scenario = scenario_of(record["beliefQAs"][0])
    item = {
        "benchmark": NAME,
        "item_id": f"{record['set_id']}/{name}",
        "group_id": record["set_id"],
        "question_type": name.partition(":")[0],
        "story": record["short_context"].strip(),
        "full_story": record["full_context"].strip(),
        "question": question["question"],
        "choices": [],
        "answer": question["correct_answer"],
        "wrong_answer": question.get("wrong_answer", ""),
        "aware": [],
        "unaware": [],
        "characters": [],
        "source": source_of(record),
        "conversation_id": part_id.partition("-")[0],
        "part_id": part_id,
        "set_scenario": set_scenario,
        "scenario": "",
        "full_scenario": fields.get("scenario", ""),
        "tom_order": "",
        "character": "",
        "long_only": False,
        "fact_question": record["factQA"]["question"],
        "fact_answer": record["factQA"]["correct_answer"],
    } | fields
    if item["question_type"] == "belief_choice":
        item["choices"] = _options(item, seed)
    return item


def _options(item: Mapping, seed: int) -> list[str]:
    """The two options in random order. In our sets, the order alternates between the parts of a
    conversation, so that half of them have the right option first.
    """
    options = [item["answer"], item["wrong_answer"]]
    if item["source"] != "authored":
        return shuffled(options[::-1], seed, item["item_id"])
    chance = f"{item['conversation_id']}/{item['scenario']}/{item['tom_order']}/{seed}"
    is_turned = (random.Random(chance).randrange(2) + ord(item["part_id"][-1])) % 2
    return options[::-1] if is_turned else options


def is_list(kind: str) -> bool:
    return kind.endswith("_list")


def is_yn(kind: str) -> bool:
    return kind.endswith("_yn")


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items that a method is asked. Methods that show the short context get no questions about
    people who do not speak in it; likelihood methods get only choices and yes/no questions.
    """
    if method.endswith(LIKELIHOOD):
        items = items[items["question_type"].str.endswith(("_choice", "_yn"))]
    return items if METHODS[method].context == "full" else items[~items["long_only"].astype(bool)]


def messages(item: Mapping, method: str, replaced: Mapping[str, str] | None = None) -> list[dict]:
    """The chat message for one item, laid out as in the release. replaced: as for `prompts.load`.
    Errors: `InputError` if the method needs `item["reasoning"]` and there is none.
    """
    how = METHODS[method]
    kind = item["question_type"]
    if isinstance(how, techniques.TwoStep):
        return how.messages(messages, item, _asks(item), replaced)
    text = shared_prefix(item, method) + _asks(item)
    if kind == "belief_choice":
        options = zip(KEYS, item["choices"], strict=True)
        text += "".join(f"\n({letter}) {choice}" for letter, choice in options)
        text += f"\n\n{prompts.load('fantom/choose', replaced)}"
    else:
        if is_yn(kind):
            text += f" {prompts.load('fantom/yes-no', replaced)}"
        text += "\n" if how.in_batches else "\nAnswer:"
    if "fantom/step-by-step" in how.prompts:
        text += f" {prompts.load('fantom/step-by-step', replaced)}"
    if how.first:
        if "reasoning" not in item:
            raise InputError(f"fantom: {method} needs the reasoning of {how.first} before")
        text += f" {item['reasoning']}\n\n{prompts.load('fantom/therefore', replaced)}"
    return [{"role": "user", "content": text}]


def _asks(item: Mapping) -> str:
    """The question, after the fact or fact question that it refers to, if it is on who knows."""
    question = f"Question: {item['question']}"
    if item["question_type"].startswith("answerability"):
        return f"Target: {item['fact_question']}\n{question}"
    if item["question_type"].startswith("infoaccess"):
        return f"Information: {item['fact_question']} {item['fact_answer']}\n{question}"
    return question


def shared_prefix(item: Mapping, method: str) -> str:
    """The conversation, with which the prompts of all questions about it begin."""
    how = METHODS[method]
    if isinstance(how, techniques.TwoStep):
        return how.shared_prefix(shared_prefix, item)
    return item["full_story" if how.context == "full" else "story"] + "\n\n"


def in_words(item: Mapping) -> dict[str, str]:
    """The whole `question` of an item on who knows, as its prompt shows it; {} for other items."""
    return {"question": _asks(item)} if item["question_type"].endswith(("_list", "_yn")) else {}


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """The baselines' answers: `gold`, `omniscient` (as if nobody missed anything) and `random`."""
    draw = random.Random(f"random/{seed}/{method}/{item['item_id']}")
    answers = {"gold": item["answer"]}
    if is_list(item["question_type"]):
        everyone = [*item["aware"], *item["unaware"]]
        answers["omniscient"] = ", ".join(everyone)
        answers["random"] = ", ".join(name for name in everyone if draw.random() < 0.5)
    elif is_yn(item["question_type"]):
        answers["omniscient"] = "yes"
        answers["random"] = draw.choice(["yes", "no"])
    else:
        options = [item["answer"], item["wrong_answer"]]
        answers["omniscient"] = options[item["scenario"] == INACCESSIBLE]
        answers["random"] = draw.choice(options)
    return {name: reply(item, answer) for name, answer in answers.items()}


def reply(item: Mapping, answer: str) -> str:
    """An answer as a model would give it: an option as its letter, an empty list as "Nobody"."""
    if item["question_type"] == "belief_choice":
        return f"({key_of(item, answer, KEYS)})"
    return answer or "Nobody"
