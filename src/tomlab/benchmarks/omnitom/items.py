"""OmniToM: what every actor of a story believes, extracted and labelled.

Bawatneh, Sapkota, Bedi, Karmaker and Shah (2026), "OmniToM: Benchmarking Theory of Mind in LLMs via
Explicit Belief Modeling". Two stages: belief extraction and belief labelling (Sec. 3, 5); prompt
levels after TELeR (App. C).
"""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from tomlab.asking import prompts
from tomlab.benchmarks.omnitom.labels import HEADS
from tomlab.benchmarks.omnitom.records import (
    CATEGORIES,
    CODES,
    DIMENSIONS,
    WORLD,
    Row,
    link,
    read_records,
    rows,
)
from tomlab.errors import InputError
from tomlab.records.tables import check

NAME = "omnitom"
KEYS = ("A", "B", "C", "D")  # of the options of a linked question
# A part of the items is drawn by story, each category in its turn.
UNIT, STRATUM = "group_id", "category"
STAGES = {1: "extraction", 2: "labelling", 0: "linked"}
TASKS = {1: "extract", 2: "label", 0: "linked"}  # as prompt files are called
LEVELS = ("L1", "L2", "L3", "L4")


@dataclass(frozen=True)
class Method:
    """How a stage is put. level: of detail of the prompt (TELeR); json: answers follow a schema.

    stage: 1 extraction, 2 labelling, 0 the ToMBench question that a story comes from.
    """

    stage: int
    level: str
    json: bool = False
    max_tokens: int = 4096

    @property
    def prompts(self) -> tuple[str, ...]:
        """The names of the prompt files that go into a request."""
        task = TASKS[self.stage]
        if self.stage == 0:
            return ("omnitom/linked",)
        form = (f"omnitom/{task}-json",) if self.json else ()
        emphases = [f"omnitom/emphasis-{code}" for code in CATEGORIES]
        detail = emphases if self.stage == 1 and self.level == "L4" else ()
        return ("omnitom/system", f"omnitom/{task}-{self.level}", *detail, *form)


METHODS = {
    **{f"stage{stage}-{level}": Method(stage, level) for stage in (1, 2) for level in LEVELS},
    "stage1-L3-json": Method(1, "L3", json=True),
    "stage2-L3-json": Method(2, "L3", json=True),
    "linked": Method(0, "", max_tokens=20),
}


def read_released(path: Path | str, seed: int = 0) -> pd.DataFrame:
    """The items of a file in the released format, one JSON object a story (App. B.5)."""
    return compose(read_records(path), seed)


def compose(
    records: Iterable[Mapping], seed: int = 0, examples: Iterable[Mapping] = ()
) -> pd.DataFrame:
    """Two items a story: extraction, and labelling of the gold beliefs.

    Beyond the columns of every items table: `category` (its code) and `example` (JSON: a record of
    the same category from `examples`, another story, for prompts of level L4; "" if there is none)
    and `paraphrases` (JSON: for each belief others in the same meaning). `answer` is the gold table
    as JSON.
    """
    known = list(examples)
    items = [item for record in records for item in _pair(record, known, seed)]
    if not items:
        raise InputError("omnitom: there are no stories to compose items from")
    return check(pd.DataFrame(items), "items", "omnitom items")


def _pair(record: Mapping, examples: Sequence[Mapping], seed: int) -> list[dict]:
    example = example_for(record, examples, seed)
    gold = [{name: b[name] for name in ("actor", "belief", "labels")} for b in record["beliefs"]]
    told = {
        "answer": _json(gold),
        "example": _json(example) if example else "",
        "paraphrases": _json([b.get("paraphrases", []) for b in record["beliefs"]]),
    }
    return [
        _item(record, STAGES[1], STAGES[1], **told),
        _item(record, STAGES[2], STAGES[2], question=given_table(gold), **told),
    ]


def _item(record: Mapping, kind: str, name: str, **own: object) -> dict:
    """An item of a kind; own: where it has a question, choices, an example or paraphrases."""
    story_id = str(record["story_id"])
    return {
        "benchmark": NAME,
        "item_id": f"{story_id}/{name}",
        "group_id": story_id,
        "question_type": kind,
        "story": record["story"],
        "question": "",
        "choices": [],
        "answer": "",
        "source": record["source"],
        "category": CODES[record["story_category"]],
        "example": "",
        "paraphrases": "[]",
    } | own


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def example_for(record: Mapping, examples: Sequence[Mapping], seed: int) -> Mapping | None:
    """Another story of the record's category from `examples`, by lot; None if there is none."""
    category, story = record["story_category"], record["story"]
    others = [e for e in examples if e["story_category"] == category and e["story"] != story]
    return random.Random(f"{seed}/{record['story_id']}").choice(others) if others else None


def linked_items(records: Iterable[Mapping], tombench: pd.DataFrame) -> pd.DataFrame:
    """The ToMBench questions on the stories of `records`, as items asked by method `linked`.

    tombench: see `records.read_tombench`. Stories without such a question have none; the
    table may be empty. Options stand in the order of the file.
    """
    known = {str(record["story_id"]): record for record in records}
    return pd.DataFrame(
        _item(
            known[str(linked["story_id"])],
            STAGES[0],
            f"linked:{linked['source_row']}",
            question=linked["question"],
            choices=list(linked["choices"]),
            answer=linked["answer"],
            category=linked["code"],
        )
        for linked in link(list(known.values()), tombench).to_dict("records")
    )


def records_of(items: pd.DataFrame) -> list[dict]:
    """The records behind an items table, in the format of App. B.5 with their `source`."""
    extraction = items[items["question_type"] == STAGES[1]]
    return [
        {
            "story_id": item["group_id"],
            "story_category": CATEGORIES[item["category"]],
            "story": item["story"],
            "beliefs": [
                belief | ({"paraphrases": others} if others else {})
                for belief, others in zip(
                    json.loads(item["answer"]), json.loads(item["paraphrases"]), strict=True
                )
            ],
            "source": item["source"],
        }
        for item in extraction.to_dict("records")
    ]


def given_table(beliefs: Sequence[Mapping]) -> str:
    """The beliefs to label, as the pipe table that the prompt shows."""
    lines = [f"{b['actor']} | {b['belief']}" for b in beliefs]
    return "\n".join(["Actor | Belief", *lines])


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items of a method's stage; for L4 those with an example to show."""
    if method not in METHODS:
        raise InputError(f"omnitom: no method {method!r}; there are: {', '.join(METHODS)}")
    wanted = METHODS[method]
    chosen = items[items["question_type"] == STAGES[wanted.stage]]
    return chosen[chosen["example"] != ""] if wanted.level == "L4" else chosen


def messages(
    item: Mapping, method: str, replaced: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """The chat messages for one item: role, directive, examples for L4, then the data."""
    wanted = METHODS[method]
    name = TASKS[wanted.stage]
    if wanted.stage == 0:
        return [{"role": "user", "content": _linked(item, replaced)}]
    parts = [prompts.load(f"omnitom/{name}-{wanted.level}", replaced)]
    if wanted.level == "L4":
        if wanted.stage == 1:
            parts.append(prompts.load(f"omnitom/emphasis-{item['category']}", replaced))
        parts.append(f"Example\n\n{_example(json.loads(item['example']), wanted.stage)}")
        parts.append("Now the story to work on.")
    if wanted.json:
        parts.append(prompts.load(f"omnitom/{name}-json", replaced))
    parts.append(_data(item["story"], item["question"]))
    return [
        {"role": "system", "content": prompts.load("omnitom/system", replaced)},
        {"role": "user", "content": "\n\n".join(parts)},
    ]


def _linked(item: Mapping, replaced: Mapping[str, str] | None) -> str:
    options = "\n".join(f"({key}) {text}" for key, text in zip(KEYS, item["choices"], strict=False))
    asked = f"Story:\n{item['story']}\n\nQuestion: {item['question']}\n{options}"
    return f"{prompts.load('omnitom/linked', replaced)}\n\n{asked}\n\nAnswer:"


def _data(story: str, given: str) -> str:
    table = f"\n\nBeliefs:\n{given}" if given else ""
    return f"Story:\n{story}{table}\n\nTable:"


def _example(record: Mapping, stage: int) -> str:
    given = given_table(record["beliefs"]) if stage == 2 else ""
    return f"{_data(record['story'], given)}\n{table_text(rows(record), stage)}"


def table_text(beliefs: Sequence[Row], stage: int) -> str:
    """Beliefs as the pipe table that a stage asks for."""
    dimensions = ["order"] if stage == 1 else list(DIMENSIONS)
    header = [HEADS[name] for name in ("actor", "belief", *dimensions)]
    cells = [
        [row.actor, row.belief, row.order, *(row.labels[name] for name in dimensions[1:])]
        for row in beliefs
    ]
    return "\n".join(" | ".join(line) for line in [header, *cells])


def in_words(item: Mapping) -> dict[str, str]:
    """What an item asks about and its gold table, as pipe tables: `question` and `gold`."""
    if item["question_type"] == STAGES[0]:
        return {"question": item["question"], "gold": item["answer"]}
    stage = 1 if item["question_type"] == STAGES[1] else 2
    return {
        "question": item["question"] or item["story"],
        "gold": table_text(gold_rows(item), stage),
    }


def schema(method: str) -> dict | None:
    """The JSON schema of a method's answers, for providers that keep to one; None for tables."""
    wanted = METHODS[method]
    if not wanted.json:
        return None
    fields = {"actor": {"type": "string"}, "belief": {"type": "string"}}
    labels = DIMENSIONS if wanted.stage == 2 else {"order": DIMENSIONS["order"]}
    fields |= {name: {"type": "string", "enum": list(legal)} for name, legal in labels.items()}
    belief = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"beliefs": {"type": "array", "items": belief}},
        "required": ["beliefs"],
        "additionalProperties": False,
    }


def shared_prefix(item: Mapping, method: str) -> str:
    """Nothing: a story is asked about once by each method, and the directive stands first."""
    return ""


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """What the baselines answer.

    gold: the gold table. omniscient: everybody believes all that happened (extraction); all is
    true and public, whatever the belief (labelling). random: half of the gold beliefs, each given
    to an actor by lot (extraction); labels by lot.
    """
    stage = METHODS[method].stage
    draw = random.Random(f"random/{seed}/{method}/{item['item_id']}")
    if stage == 0:
        # Nothing in a ToMBench question says which option fits if everybody knew everything.
        keys = KEYS[: len(item["choices"])]
        right = keys[list(item["choices"]).index(item["answer"])]
        return {"gold": f"({right})", "random": f"({draw.choice(keys)})"}
    gold = gold_rows(item)
    answers = _extracted(gold, draw) if stage == 1 else _labelled(gold, draw)
    return {name: table_text(rows, stage) for name, rows in {"gold": gold, **answers}.items()}


def _extracted(gold: Sequence[Row], draw: random.Random) -> dict[str, list[Row]]:
    actors = list(dict.fromkeys(row.actor for row in gold))
    world = [row for row in gold if row.actor == WORLD]
    return {
        "omniscient": [
            Row(actor, row.belief, "0" if actor == WORLD else "1")
            for actor in actors
            for row in world
        ],
        "random": [
            Row(draw.choice(actors), row.belief, row.order) for row in gold if draw.random() < 0.5
        ],
    }


def _labelled(gold: Sequence[Row], draw: random.Random) -> dict[str, list[Row]]:
    fixed = {"truth_status": "True", "knowledge_access": "Public"}
    by_lot = [{name: draw.choice(legal) for name, legal in DIMENSIONS.items()} for _ in gold]
    return {
        "omniscient": [replace(row, labels={**row.labels, **fixed}) for row in gold],
        "random": [
            replace(row, order=labels["order"], labels=labels)
            for row, labels in zip(gold, by_lot, strict=True)
        ],
    }


def gold_rows(item: Mapping) -> list[Row]:
    """The gold table of an item."""
    return [
        Row(b["actor"], b["belief"], b["labels"]["order"], b["labels"])
        for b in json.loads(item["answer"])
    ]
