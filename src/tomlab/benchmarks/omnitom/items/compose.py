"""OmniToM: what every actor of a story believes, extracted and labelled.

Bawatneh, Sapkota, Bedi, Karmaker and Shah (2026), "OmniToM: Benchmarking Theory of Mind in LLMs via
Explicit Belief Modeling" (Sec. 3, 5); prompt levels after TELeR (App. C).
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from tomlab.asking import prompts, techniques
from tomlab.benchmarks.omnitom.items.labels import HEADS
from tomlab.benchmarks.omnitom.items.parsing import EXTRACTION, LABELLING
from tomlab.benchmarks.omnitom.items.records import (
    CATEGORIES,
    CODES,
    DIMENSIONS,
    WORLD,
    Row,
    read_records,
    rows,
)
from tomlab.errors import InputError
from tomlab.records.files import yaml_beside
from tomlab.records.tidy import check
from tomlab.scoring.choices import key_of, shuffled

NAME = "omnitom"
KEYS = ("A", "B", "C", "D")  # the letters of a linked question's options
NEARLY_THE_SAME = 0.7
# Samples of items are drawn by story: one story of each family (stories with nearly the same text)
# before a second one of any, and categories in turn.
UNIT = "group_id"
STRATA = ("family", "category")
STAGES = ("linked", "extraction", "labelling")  # types of question, by `Method.stage`
# Columns of the table that each stage asks for; at 0, of the beliefs that are given for labelling.
_COLUMNS = (("actor", "belief"), EXTRACTION, LABELLING)
RELEASED_TOKENS = 6000  # an answer's limit in the release; the paper names none
_json = partial(json.dumps, ensure_ascii=False)


class Method(NamedTuple):
    """How a stage is asked: by its own system prompt, followed by the data of an item."""

    stage: int  # 1 extraction, 2 labelling, 0 the ToMBench question of a story
    prompts: Sequence[str]  # the names of the prompt files that go into requests
    level: str = ""  # the prompt's level of detail (TELeR)
    json: bool = False  # answers follow a schema
    max_tokens: int = RELEASED_TOKENS


METHODS: dict[str, Any] = {
    name: Method(**fields) for name, fields in yaml_beside(__file__)["methods"].items()
}
# The second step still shows the story, as tables have rows for facts and for every actor.
for _base in ("stage1-L3", "stage2-L3"):
    METHODS |= techniques.methods(_base, METHODS[_base], f"{_base}-", True, ("omnitom/minds",))


def read_released(path: Path | str, seed: int = 0) -> pd.DataFrame:
    """The items of a file in the released format: one JSON object per story (App. B.5)."""
    return compose(read_records(path), seed)


def compose(
    records: Sequence[Mapping],
    seed: int = 0,
    examples: Sequence[Mapping] = (),
    examples_shown: int = 1,
) -> pd.DataFrame:
    """Two items per story: extraction, and labelling of the gold beliefs. `answer` is the gold
    table as JSON. Columns beyond the common ones are `category` (a code), `examples` (JSON:
    `examples_shown` other stories of the category, for prompts of level L4, or all that `examples`
    has), `paraphrases` (JSON: a list for each belief) and `family` (see `families`).
    Errors: `InputError` without records.
    """
    if not records:
        raise InputError("omnitom: there are no stories to compose items from")
    items = []
    for record in records:
        gold = []
        paraphrases = []
        for belief in record["beliefs"]:
            gold.append({name: belief[name] for name in ("actor", "belief", "labels")})
            paraphrases.append(belief.get("paraphrases", []))
        columns = {
            "answer": _json(gold),
            "examples": _json(examples_for(record, examples, seed, examples_shown)),
            "paraphrases": _json(paraphrases),
        }
        beliefs = table_text(rows(record), 0)
        items.append(item_of(record, "extraction", **columns))
        items.append(item_of(record, "labelling", **columns, question=beliefs))
    table = pd.DataFrame(items)
    table["family"] = table["group_id"].map(families(records))
    return check(table, "items", "omnitom items")


def families(records: Sequence[Mapping]) -> dict[str, str]:
    """The family of each story, by story id. Two stories are nearly the same if the cosine of their
    TF-IDF vectors is over .7: many of ToMBench's stories differ only in names. A family is all
    stories that such pairs connect; its name is its least id. Intervals cluster on families.
    """
    from scipy.sparse.csgraph import connected_components
    from sklearn.feature_extraction.text import TfidfVectorizer  # takes a second to import

    stories = pd.DataFrame(records)[["story_id", "story"]].astype(str)
    words = TfidfVectorizer().fit_transform(stories["story"])
    _, families = connected_components(words @ words.T > NEARLY_THE_SAME, directed=False)
    least = stories["story_id"].groupby(families).transform("min")
    return dict(zip(stories["story_id"], least, strict=True))


def item_of(record: Mapping, name: str, **columns: Any) -> dict:
    """An item about a record's story. name: the end of the item's id; up to a colon it is the type
    of question. columns: values that replace or add to the common ones.
    """
    item = {
        "benchmark": NAME,
        "item_id": f"{record['story_id']}/{name}",
        "group_id": str(record["story_id"]),
        "question_type": name.partition(":")[0],
        "story": record["story"],
        "question": "",
        "choices": [],
        "answer": "",
        "source": record["source"],
        "category": CODES[record["story_category"]],
        "examples": "[]",
        "paraphrases": "[]",
    }
    return item | columns


def examples_for(
    record: Mapping, examples: Sequence[Mapping], seed: int, number: int
) -> list[Mapping]:
    """`number` other stories of the record's category, drawn from `examples`, or all if fewer."""
    category = record["story_category"]
    of_category = [example for example in examples if example["story_category"] == category]
    usable = [example for example in of_category if example["story"] != record["story"]]
    lot = random.Random(f"{seed}/{record['story_id']}")
    return lot.sample(usable, min(number, len(usable)))


def linked_items(
    records: Sequence[Mapping], tombench: pd.DataFrame, seed: int = 0, *, tries: int = 5
) -> pd.DataFrame:
    """ToMBench's questions about the stories of `records`, for method `linked`: one item per try.

    tombench: from `records.read_tombench`; the table may be empty. As in ToMBench's released code
    (zhchen18/ToMBench, `run_api.py`), each of five tries shows the options in a random order, here
    drawn by `seed`, question and try. Our prompt asks for "(A)", that of the release for "[[A]]";
    both are read. Column `tried` (JSON) has `question` (its id), `try` (from 1) and `written`: the
    letters that the options have in the file, in the order shown, such as "BA".
    """
    stories = pd.DataFrame(records, columns=["story_id", "source", "story_category", "story"])
    stories = stories.merge(tombench, on=["story_category", "story"])
    family = families(records)
    items = []
    for story in stories.explode("questions").to_dict("records"):
        question = story["questions"]
        name = f"linked:{question['source_row']}"
        question_id = f"{story['story_id']}/{name}"
        options = dict(zip(KEYS, question["choices"], strict=False))
        for number in range(1, tries + 1):
            order = shuffled(list(options), seed, f"{question_id}/try{number}")
            tried = {"question": question_id, "try": number, "written": "".join(order)}
            items.append(
                item_of(
                    story,
                    f"{name}/try{number}",
                    question=question["question"],
                    choices=[options[letter] for letter in order],
                    answer=question["answer"],
                    tried=_json(tried),
                    family=family[str(story["story_id"])],
                )
            )
    return pd.DataFrame(items)


def records_of(items: pd.DataFrame) -> list[dict]:
    """The records that an items table was composed from: the format of App. B.5, with `source`."""
    records = []
    for item in items[items["question_type"] == "extraction"].to_dict("records"):
        beliefs = json.loads(item["answer"])
        for belief, paraphrases in zip(beliefs, json.loads(item["paraphrases"]), strict=True):
            if paraphrases:
                belief["paraphrases"] = paraphrases
        records.append(
            {
                "story_id": item["group_id"],
                "story_category": CATEGORIES[item["category"]],
                "story": item["story"],
                "beliefs": beliefs,
                "source": item["source"],
            }
        )
    return records


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items that a method asks: those of its stage; for L4 only those that have examples."""
    how = METHODS[method]
    chosen = items[items["question_type"] == STAGES[how.stage]]
    return chosen[chosen["examples"] != "[]"] if how.level == "L4" else chosen


def messages(item: Mapping, method: str, replaced: Mapping[str, str] | None = None) -> list[dict]:
    """The chat messages for one item.

    Requests for a table follow the roles of App. C.1 and the order of the release: the system
    message has the directive, for L4 with emphasis and examples; the user message has the data and
    ends with the order to write only the table. All wording but the data is in the prompt files.
    """
    how = METHODS[method]
    if isinstance(how, techniques.TwoStep):
        return how.messages(messages, item, prompts.load("omnitom/minds", replaced), replaced)
    options = zip(KEYS, item["choices"], strict=False)
    data = {
        **item,
        "story_id": item["group_id"],
        "category": CATEGORIES[item["category"]],
        "options": "\n".join(f"({key}) {option}" for key, option in options),
        "beliefs": item["question"],
    }
    if how.level == "L4":
        data["emphasis"] = prompts.load(f"omnitom/emphasis-{item['category']}", replaced)
        data["examples"] = _solved(json.loads(item["examples"]), how, replaced)
    texts = [prompts.filled(name, replaced, **data) for name in how.prompts[:2]]
    roles = ["user"] if how.stage == 0 else ["system", "user"]
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]


def _solved(examples: Sequence[Mapping], how: Method, replaced: Mapping[str, str] | None) -> str:
    """The examples' text in a prompt of level L4: each story with the table that is its answer."""
    parts = []
    for number, example in enumerate(examples, start=1):
        gold = rows(example)
        data = {
            "number": str(number),
            "story": example["story"],
            "beliefs": table_text(gold, 0),
            "table": table_text(gold, how.stage),
        }
        parts.append(prompts.filled(how.prompts[2], replaced, **data))
    return "\n\n".join(parts)


def table_text(beliefs: Sequence[Row], stage: int) -> str:
    """Beliefs as the pipe table that a stage asks for; at stage 0 only actors and beliefs."""
    lines = []
    for cells in [HEADS, *({**vars(row), **row.labels} for row in beliefs)]:
        lines.append(" | ".join(cells[name] for name in _COLUMNS[stage]))
    return "\n".join(lines)


def in_words(item: Mapping) -> dict[str, str]:
    """An item for readers: `question` (the question or given beliefs, else the story) and `gold`
    (the gold table as a pipe table, or the right option).
    """
    gold = item["answer"]
    stage = STAGES.index(item["question_type"])
    if stage:
        gold = table_text(gold_rows(item), stage)
    return {"question": item["question"] or item["story"], "gold": gold}


def schema(method: str) -> dict | None:
    """The JSON schema of a method's answers, for providers that enforce one; None if the method
    asks for pipe tables.
    """
    how = METHODS[method]
    if not how.json:
        return None
    fields = {}
    for name in _COLUMNS[how.stage]:
        legal = {"enum": list(DIMENSIONS[name])} if name in DIMENSIONS else {}
        fields[name] = {"type": "string", **legal}
    return _object({"beliefs": {"type": "array", "items": _object(fields)}})


def _object(properties: dict[str, dict]) -> dict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def shared_prefix(item: Mapping, method: str) -> str:
    """The start that several prompts of a method share: the story in the first call of a two-step
    method, else "", since each method asks about a story once and its directive stands first.
    """
    if isinstance(METHODS[method], techniques.TwoStep):
        return METHODS[method].shared_prefix(shared_prefix, item)
    return ""


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """The baselines' answers, by name. omniscient: every actor believes every fact (extraction);
    every belief is true and public (labelling); it has no answer to a linked question. random: each
    gold belief with probability .5, given to a random actor (extraction); random labels; a random
    option. gold: the gold table or right option.
    """
    stage = METHODS[method].stage
    draw = random.Random(f"random/{seed}/{method}/{item['item_id']}")
    if stage == 0:
        # A ToMBench question does not say which option fits if everybody knew everything.
        guess = draw.choice(KEYS[: len(item["choices"])])
        return {"gold": f"({key_of(item, item['answer'], KEYS)})", "random": f"({guess})"}
    gold = gold_rows(item)
    tables = _extractions(gold, draw) if stage == 1 else _labellings(gold, draw)
    return {name: table_text(table, stage) for name, table in {"gold": gold, **tables}.items()}


def _extractions(gold: Sequence[Row], draw: random.Random) -> dict[str, list[Row]]:
    actors = list(dict.fromkeys(row.actor for row in gold))
    facts = [row.belief for row in gold if row.actor == WORLD]
    omniscient = []
    for actor, fact in product(actors, facts):
        omniscient.append(Row(actor, fact, "0" if actor == WORLD else "1"))
    by_lot = [replace(row, actor=draw.choice(actors)) for row in gold if draw.random() < 0.5]
    return {"omniscient": omniscient, "random": by_lot}


def _labellings(gold: Sequence[Row], draw: random.Random) -> dict[str, list[Row]]:
    public = {"truth_status": "True", "knowledge_access": "Public"}
    omniscient = [replace(row, labels={**row.labels, **public}) for row in gold]
    by_lot = []
    for row in gold:
        labels = {name: draw.choice(legal) for name, legal in DIMENSIONS.items()}
        by_lot.append(replace(row, labels=labels))
    return {"omniscient": omniscient, "random": by_lot}


def weighed(item: Mapping, replaced: Mapping[str, str] | None = None) -> Iterator[tuple]:
    """Yields (prompt, legal labels) for each dimension of each gold belief. The labels are weighed
    as continuations of the prompt.
    """
    for row in gold_rows(item):
        data = {"story": item["story"], "actor": row.actor, "belief": row.belief}
        for name, labels in DIMENSIONS.items():
            yield prompts.filled("omnitom/likelihood", replaced, **data, head=HEADS[name]), labels


def labelled(item: Mapping, picks: Sequence[str]) -> str:
    """The gold beliefs as JSON, with the labels `picks` (in the order of `weighed`) as theirs."""
    labels = iter(picks)
    beliefs = json.loads(item["answer"])
    for belief in beliefs:
        belief["labels"] = {name: next(labels) for name in DIMENSIONS}
    return _json(beliefs)


def gold_rows(item: Mapping) -> list[Row]:
    """The gold table of an item."""
    return rows({"beliefs": json.loads(item["answer"])})
