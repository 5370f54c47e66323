"""OmniToM: what every actor of a story believes, extracted and labelled.

Bawatneh, Sapkota, Bedi, Karmaker and Shah (2026), "OmniToM: Benchmarking Theory of Mind in LLMs via
Explicit Belief Modeling" (Sec. 3, 5); prompt levels after TELeR (App. C).
"""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pandas as pd

from tomlab.asking import prompts, techniques
from tomlab.benchmarks.omnitom.items.labels import HEADS
from tomlab.benchmarks.omnitom.items.records import (
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
from tomlab.models.specs import LIKELIHOOD
from tomlab.records.tidy import check
from tomlab.scoring.choices import shuffled

NAME = "omnitom"
KEYS = ("A", "B", "C", "D")  # of the options of a linked question
NEARLY_THE_SAME = 0.7
# A part of the items is drawn by story: one of each family (stories about one plot) before a second
# of any, each category in its turn.
UNIT, STRATA = "group_id", ("family", "category")
STAGES = {1: "extraction", 2: "labelling", 0: "linked"}
TASKS = {1: "extract", 2: "label", 0: "linked"}  # as prompt files are called
LEVELS = ("L1", "L2", "L3", "L4")
_json = partial(json.dumps, ensure_ascii=False)


RELEASED_TOKENS = 6000  # of an answer in the release; the paper names no limit


@dataclass(frozen=True)
class Method:
    """How a stage is put: a system prompt of its own, then the data of an item in a layout."""

    stage: int  # 1 extraction, 2 labelling, 0 the ToMBench question of a story
    level: str  # of detail of the prompt (TELeR)
    json: bool = False  # answers follow a schema
    max_tokens: int = RELEASED_TOKENS

    @property
    def prompts(self) -> tuple[str, ...]:
        """The names of the prompt files that go into requests."""
        if self.level == LIKELIHOOD:
            return (f"omnitom/{LIKELIHOOD}",)
        if self.stage == 0:
            return (self.task,)
        names = [self.system, self.layout]
        if self.level == "L4":
            names.append(f"{self.task}-example")
        if self.shows_emphasis:
            names += [f"omnitom/emphasis-{code}" for code in CATEGORIES]
        return tuple(names)

    @property
    def task(self) -> str:
        """How the names of the stage's prompt files begin."""
        return f"omnitom/{TASKS[self.stage]}"

    @property
    def system(self) -> str:
        """The prompt file of the system role: the directive (App. C.2, C.3)."""
        return f"{self.task}-{self.level}"

    @property
    def layout(self) -> str:
        """The prompt file of the user role: where the data stand, and the order that closes it."""
        return f"{self.task}-json" if self.json else f"{self.task}-data"

    @property
    def shows_emphasis(self) -> bool:
        """Whether the directive has an instruction for the category of the story (Table 8)."""
        return self.stage == 1 and self.level == "L4"


METHODS = {
    **{f"stage{stage}-{level}": Method(stage, level) for stage in (1, 2) for level in LEVELS},
    **{f"stage{stage}-L3-json": Method(stage, "L3", json=True) for stage in (1, 2)},
    "linked": Method(0, "", max_tokens=20),
    "stage2-likelihood": Method(2, LIKELIHOOD, max_tokens=1),
}
# A table has rows for what happened and for everybody, so that the story stays in sight.
for _plain in ("stage1-L3", "stage2-L3"):
    _own = {"keeps_story": True, "also": ("omnitom/minds",)}
    METHODS |= techniques.methods(_plain, METHODS[_plain], f"{_plain}-", **_own)


def read_released(path: Path | str, seed: int = 0) -> pd.DataFrame:
    """The items of a file in the released format, one JSON object a story (App. B.5)."""
    return compose(read_records(path), seed)


def compose(
    records: Iterable[Mapping],
    seed: int = 0,
    examples: Iterable[Mapping] = (),
    examples_shown: int = 1,
) -> pd.DataFrame:
    """Two items a story: extraction, and labelling of the gold beliefs. `answer` is the gold table
    as JSON. Of their own they have `category` (its code), `examples` (JSON: of `examples` as many
    other stories of the category as prompts of level L4 show, or all there are), `paraphrases`
    (JSON: for each belief others in the same meaning) and `family` (of `families`).
    """
    records = list(records)
    examples = list(examples)
    if not records:
        raise InputError("omnitom: there are no stories to compose items from")
    items = []
    for record in records:
        beliefs = record["beliefs"]
        gold = [
            {name: belief[name] for name in ("actor", "belief", "labels")} for belief in beliefs
        ]
        columns = {
            "answer": _json(gold),
            "examples": _json(examples_for(record, examples, seed, examples_shown)),
            "paraphrases": _json([belief.get("paraphrases", []) for belief in beliefs]),
        }
        items.append(_item(record, STAGES[1], STAGES[1]) | columns)
        items.append(
            _item(record, STAGES[2], STAGES[2]) | columns | {"question": given_table(gold)}
        )
    table = pd.DataFrame(items)
    table["family"] = table["group_id"].map(families(records))
    return check(table, "items", "omnitom items")


def families(records: Sequence[Mapping]) -> dict[str, str]:
    """By story id the family: the least id among the stories that are nearly the same. Two are if
    the cosine of their TF-IDF is over .7: many of ToMBench's stories are one told with other names.
    Intervals cluster on families.
    """
    from scipy.sparse.csgraph import connected_components
    from sklearn.feature_extraction.text import TfidfVectorizer  # takes a second to import

    words = TfidfVectorizer().fit_transform([record["story"] for record in records])
    _, families = connected_components(words @ words.T > NEARLY_THE_SAME, directed=False)
    stories = pd.Series([str(record["story_id"]) for record in records])
    return dict(zip(stories, stories.groupby(families).transform("min"), strict=True))


def _item(record: Mapping, kind: str, name: str) -> dict:
    """What all items of a story have, with nothing in the columns that each kind fills."""
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
        "examples": "[]",
        "paraphrases": "[]",
    }


def examples_for(
    record: Mapping, examples: Sequence[Mapping], seed: int, number: int = 1
) -> list[Mapping]:
    """So many other stories of the record's category from `examples`, by lot, or all there are."""
    category = record["story_category"]
    others = [one for one in examples if one["story_category"] == category]
    others = [one for one in others if one["story"] != record["story"]]
    lot = random.Random(f"{seed}/{record['story_id']}")
    return lot.sample(others, min(number, len(others)))


def linked_items(
    records: Sequence[Mapping], tombench: pd.DataFrame, seed: int = 0, *, tries: int = 5
) -> pd.DataFrame:
    """The ToMBench questions on the stories of `records`: for method `linked`, one item a try.

    tombench: of `records.read_tombench`; the table may be empty. As in ToMBench's released code
    (zhchen18/ToMBench, `run_api.py`), each of five tries has its options in an order by lot, here
    by `seed` and the item's id. The prompt is ours and asks for "(A)", where the release asks for
    "[[A]]"; both are read. Column `tried` (JSON) has `question` (its id), `try` (from 1) and
    `written`: for each option as shown the letter of its place in the file, such as "BA".
    """
    family = families(records)
    items = []
    for record, question in link(records, tombench):
        name = f"linked:{question['source_row']}"
        question_id = f"{record['story_id']}/{name}"
        options = dict(zip(KEYS, question["choices"], strict=False))
        for number in range(1, tries + 1):
            order = shuffled(list(options), seed, f"{question_id}/try{number}")
            tried = {"question": question_id, "try": number, "written": "".join(order)}
            columns = {
                "question": question["question"],
                "answer": question["answer"],
                "choices": [options[letter] for letter in order],
                "tried": _json(tried),
                "family": family[str(record["story_id"])],
            }
            items.append(_item(record, STAGES[0], f"{name}/try{number}") | columns)
    return pd.DataFrame(items)


def records_of(items: pd.DataFrame) -> list[dict]:
    """The records behind an items table, in the format of App. B.5 with their `source`."""
    records = []
    for item in items[items["question_type"] == STAGES[1]].to_dict("records"):
        beliefs = json.loads(item["answer"])
        for belief, paraphrases in zip(beliefs, json.loads(item["paraphrases"]), strict=True):
            if paraphrases:
                belief["paraphrases"] = paraphrases
        record = {
            "story_id": item["group_id"],
            "story_category": CATEGORIES[item["category"]],
            "story": item["story"],
            "beliefs": beliefs,
            "source": item["source"],
        }
        records.append(record)
    return records


def given_table(beliefs: Sequence[Mapping]) -> str:
    """The beliefs to label, as the pipe table that the prompt shows."""
    return "\n".join(["Actor | Belief", *(f"{b['actor']} | {b['belief']}" for b in beliefs)])


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items of a method's stage; for L4 those with an example to show."""
    wanted = METHODS[method]
    chosen = items[items["question_type"] == STAGES[wanted.stage]]
    return chosen[chosen["examples"] != "[]"] if wanted.level == "L4" else chosen


def messages(item: Mapping, method: str, replaced: Mapping[str, str] | None = None) -> list[dict]:
    """The chat messages for one item.

    A table is asked for in the roles of App. C.1 and the order of the release: the system message
    has the directive, for L4 with emphasis and examples; the user message has the data and, last,
    the order to write only the table. Prompt files have every word of it but the data.
    """
    how = METHODS[method]
    if isinstance(how, techniques.TwoStep):
        return how.messages(messages, item, prompts.load("omnitom/minds", replaced), replaced)
    data = {"story": item["story"], "question": item["question"], "beliefs": item["question"]}
    if how.stage == 0:
        options = zip(KEYS, item["choices"], strict=False)
        data["options"] = "\n".join(f"({key}) {option}" for key, option in options)
        return [{"role": "user", "content": prompts.filled(how.task, replaced, **data)}]
    data["story_id"] = item["group_id"]
    data["category"] = CATEGORIES[item["category"]]
    details = {}
    if how.shows_emphasis:
        details["emphasis"] = prompts.load(f"omnitom/emphasis-{item['category']}", replaced)
    if how.level == "L4":
        details["examples"] = _solved(json.loads(item["examples"]), how, replaced)
    directive = prompts.filled(how.system, replaced, **details)
    user = prompts.filled(how.layout, replaced, **data)
    return [{"role": "system", "content": directive}, {"role": "user", "content": user}]


def _solved(examples: Sequence[Mapping], how: Method, replaced: Mapping[str, str] | None) -> str:
    """Records as the examples of a prompt of level L4, each with the table that answers it."""
    parts = []
    for number, example in enumerate(examples, start=1):
        part = prompts.filled(
            f"{how.task}-example",
            replaced,
            number=str(number),
            story=example["story"],
            beliefs=given_table(example["beliefs"]),
            table=table_text(rows(example), how.stage),
        )
        parts.append(part)
    return "\n\n".join(parts)


def table_text(beliefs: Sequence[Row], stage: int) -> str:
    """Beliefs as the pipe table that a stage asks for."""
    names = ("actor", "belief", *(["order"] if stage == 1 else DIMENSIONS))
    lines = [HEADS, *({**row.labels, **vars(row)} for row in beliefs)]
    return "\n".join(" | ".join(line[name] for name in names) for line in lines)


def in_words(item: Mapping) -> dict[str, str]:
    """What an item asks about and its gold table, as pipe tables: `question` and `gold`."""
    if item["question_type"] == STAGES[0]:
        return {"question": item["question"], "gold": item["answer"]}
    gold = table_text(gold_rows(item), 1 if item["question_type"] == STAGES[1] else 2)
    return {"question": item["question"] or item["story"], "gold": gold}


def schema(method: str) -> dict | None:
    """The JSON schema of a method's answers, for providers that keep to one; None for tables."""
    wanted = METHODS[method]
    if not wanted.json:
        return None
    fields = {"actor": {"type": "string"}, "belief": {"type": "string"}}
    for name in DIMENSIONS if wanted.stage == 2 else ["order"]:
        fields[name] = {"type": "string", "enum": list(DIMENSIONS[name])}
    return _object({"beliefs": {"type": "array", "items": _object(fields)}})


def _object(fields: dict[str, dict]) -> dict:
    known = {"required": list(fields), "additionalProperties": False}
    return {"type": "object", "properties": fields} | known


def shared_prefix(item: Mapping, method: str) -> str:
    """Nothing where the directive stands first: a story is asked about once by each method."""
    if isinstance(METHODS[method], techniques.TwoStep):
        return METHODS[method].shared_prefix(shared_prefix, item)
    return ""


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """What the baselines answer. omniscient: everybody believes all that happened (extraction); all
    is true and public (labelling). random: half of the gold beliefs, each given to an actor by lot
    (extraction); labels by lot. gold: the gold table.
    """
    stage = METHODS[method].stage
    draw = random.Random(f"random/{seed}/{method}/{item['item_id']}")
    if stage == 0:
        # Nothing in a ToMBench question says which option fits if everybody knew everything.
        keys = KEYS[: len(item["choices"])]
        right = keys[list(item["choices"]).index(item["answer"])]
        return {"gold": f"({right})", "random": f"({draw.choice(keys)})"}
    gold = gold_rows(item)
    omniscient = []
    by_lot = []
    if stage == 1:
        actors = list(dict.fromkeys(row.actor for row in gold))
        for actor in actors:
            order = "0" if actor == WORLD else "1"
            omniscient += [Row(actor, fact.belief, order) for fact in gold if fact.actor == WORLD]
        for row in gold:
            if draw.random() < 0.5:
                by_lot.append(replace(row, actor=draw.choice(actors)))
    else:
        for row in gold:
            public = {"truth_status": "True", "knowledge_access": "Public"}
            omniscient.append(replace(row, labels=row.labels | public))
            labels = {name: draw.choice(legal) for name, legal in DIMENSIONS.items()}
            by_lot.append(replace(row, order=labels["order"], labels=labels))
    tables = {"gold": gold, "omniscient": omniscient, "random": by_lot}
    return {name: table_text(table, stage) for name, table in tables.items()}


def weighed(item: Mapping, replaced: Mapping[str, str] | None = None) -> Iterator[tuple]:
    """For each label of each gold belief the prompt that its legal values continue."""
    for row in gold_rows(item):
        data = {"story": item["story"], "actor": row.actor, "belief": row.belief}
        for name, labels in DIMENSIONS.items():
            yield (
                prompts.filled(f"omnitom/{LIKELIHOOD}", replaced, **data, head=HEADS[name]),
                labels,
            )


def labelled(item: Mapping, picks: Sequence[str]) -> str:
    """The gold beliefs as JSON with other labels, in the order of `weighed`."""
    labels = iter(picks)
    beliefs = json.loads(item["answer"])
    for belief in beliefs:
        belief["labels"] = {name: next(labels) for name in DIMENSIONS}
    return _json(beliefs)


def gold_rows(item: Mapping) -> list[Row]:
    """The gold table of an item."""
    return rows({"beliefs": json.loads(item["answer"])})
