"""SimpleToM's items (Sec. 2.3), prompts of interventions (Sec. 5.3, App. G), wordings (App. F)."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from tomlab.asking import prompts, techniques
from tomlab.benchmarks.simpletom.items.stories import ENTITIES
from tomlab.errors import InputError
from tomlab.records.files import yaml_beside
from tomlab.records.tidy import check
from tomlab.scoring.answers import baselines
from tomlab.scoring.choices import key_of, shuffled
from tomlab.scoring.options import read_answer
from tomlab.scoring.visible import visible

NAME = "simpletom"
KEYS = ("A", "B", "C", "D")
QUESTIONS = ("mental_state", "behavior", "judgment")
MAIN, AWARE = "main", "aware"
_TEXTS = yaml_beside(__file__)
WORDINGS = _TEXTS["wordings"]  # of the judgment (App. F): question and options
_ORDER = dict.fromkeys([*QUESTIONS, MAIN, AWARE, *WORDINGS])  # of questions and of variants
# A part of the items is drawn by story, so that first failures have all their questions: one of
# each set of entities, on which intervals cluster, before a second of any, each scenario in turn.
UNIT, STRATA = "story_id", ("group_id", "scenario")


class Method(NamedTuple):
    """How a question is put."""

    # Of the system message and of the question's end.
    prompts: Sequence[str] = ("simpletom/system", "simpletom/respond")
    reminder: bool = False  # the model's own answer to the mental-state question stands before it
    cot: bool = False
    max_tokens: int = 20  # the release's limit for labels
    questions: Sequence[str] = QUESTIONS[1:]
    variants: Sequence[str] = (MAIN,)  # of the items


METHODS = {name: Method(**options) for name, options in _TEXTS["methods"].items()}
METHODS |= techniques.methods("none", Method(questions=QUESTIONS))

# Why no item may fit a method, and what to do then; see `evaluation.plan`.
WITHOUT_ITEMS = {
    "aware": "it is ours and asks about twins, in which person X perceives the fault, and no story "
    "of run.benchmarks.simpletom.source has a twin; take aware out of "
    "simpletom.evaluation.methods, or name a folder with twins as source, such as "
    "data/simpletom/questions"
}

# Person X is several people, as in "the beekeepers", "Ann and Bo"; "the rowing team" is one.
_SEVERAL = re.compile(r"\band\b|\b([a-z]*[a-rt-z]s|[a-z]*men|people|children)$")


def compose(stories: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The items of a story table, as of stories that a model writes: three questions each, and the
    other judgment wordings. See `released.read_released` for questions that stand in files.

    Beyond the columns of every items table: `scenario`, `severity`, `story_id`, `variant` (the
    judgment's wording, or a twin) and `reality` (what fits if X knew). `group_id` is the set of
    entities. `seed` and item id shuffle options.
    """
    return with_wordings(questions_of(stories, seed), stories, seed)


def questions_of(stories: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The three questions of each story (Sec. 2.3), as an items table."""
    items = []
    for story in stories.to_dict("records"):
        verb = "Are" if _SEVERAL.search(story["person_x"]) else "Is"
        aware = f'{verb} {story["person_x"]} likely to be aware that "{story["key_information"]}"?'
        _, judgment, stance = judgment_wordings(story)[0]
        questions = {
            "mental_state": (aware, ["No", "Yes"]),
            "behavior": (story["question"], [story["unaware_action"], story["aware_action"]]),
            "judgment": (judgment, stance),
        }
        for kind, (question, options) in questions.items():
            item_id = f"{story['story_id']}/{kind}"
            item = {
                "benchmark": NAME,
                "item_id": item_id,
                "group_id": story["set_id"],
                "question_type": kind,
                "story": story["story"],
                "question": question,
                "choices": shuffled(options, seed, item_id),
                "answer": options[0],
            }
            for name in ("source", "scenario", "severity", "story_id", *ENTITIES):
                item[name] = story[name]
            items.append(item | {"variant": MAIN, "reality": options[-1]})
    return check(pd.DataFrame(items), "items", "simpletom items")


def with_wordings(questions: pd.DataFrame, stories: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The items: the questions, and the judgment of each story in the other wordings of App. F.

    questions: of `questions_of` or `released.read_questions`; stories: a story table. A story with
    a `negative_judgment` also has the wordings that offer it. seed: draws the order of options in
    other wordings.
    """
    questions = questions.drop(columns=["place", "negative_judgment"], errors="ignore")
    judgments = questions[questions["question_type"].eq("judgment") & questions["variant"].eq(MAIN)]
    judgment_of = {judgment["story_id"]: judgment for judgment in judgments.to_dict("records")}
    worded = []
    for story in stories.to_dict("records"):
        judgment = judgment_of[story["story_id"]]
        for variant, question, options in judgment_wordings(story)[1:]:
            item_id = f"{judgment['item_id']}:{variant}"
            item = judgment | {"item_id": item_id, "variant": variant, "question": question}
            item["choices"] = shuffled(options, seed, item_id)
            item |= {"answer": options[0], "reality": options[-1]}
            worded.append(item)
    items = pd.concat([questions, pd.DataFrame(worded, columns=questions.columns)])
    return check(in_order(items), "items", "simpletom items")


def in_order(items: pd.DataFrame) -> pd.DataFrame:
    """The items by story, as these first come, then by question, then by variant."""
    by = ["story_id", "question_type", "variant"]
    return items.sort_values(by, key=_rank, ignore_index=True)


def _rank(column: pd.Series) -> pd.Series:
    places = column.drop_duplicates() if column.name == "story_id" else _ORDER
    return column.map({name: place for place, name in enumerate(places)})


def judgment_wordings(story: Mapping) -> list[tuple[str, str, list[str]]]:
    """The judgment in each wording (App. F): its name, the question, options, the right one first.

    story: with `person_x`, `unaware_action`, `aware_action` and `negative_judgment`; where the last
    is empty, the wordings that offer it (versions 2 and 3) are left out.
    """
    parts = {"x": story["person_x"], "u": story["unaware_action"], "a": story["aware_action"]}
    negative = story["negative_judgment"]
    worded = []
    for name, wording in WORDINGS.items():
        offers_negative = any("{n}" in option for option in wording["options"])
        if offers_negative and not negative:
            continue
        options = [option.format(n=negative) for option in wording["options"]]
        worded.append((name, wording["question"].format(**parts), options))
    return worded


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    own = METHODS[method]
    return items[items["question_type"].isin(own.questions) & items["variant"].isin(own.variants)]


def remind(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The behavior and judgment items with the model's own mental-state answer before them.

    responses: of one model. Adds `reminder`, the earlier question with the first answer to it as it
    goes into the prompt, and `reminder_parsed`: False where that answer named no option, so that
    the model is shown its own words. Items whose story has no such answer are left out.
    """
    own = responses.query("method == 'none' and sample == 0").dropna(subset="response")
    states = items[items["question_type"] == "mental_state"].merge(own, on="item_id")
    shown = []
    for row in states.to_dict("records"):
        key = read_answer(row["response"], row["finish_reason"], cot=False).key
        words = f"({key})" if key else " ".join(visible(row["response"])[0].split())[:200]
        reminder = f"Question: {_options(row)}\nAnswer: {words}\n"
        shown.append((row["story_id"], reminder, key is not None))
    shown = pd.DataFrame(shown, columns=["story_id", "reminder", "reminder_parsed"])
    return items[items["question_type"].isin(QUESTIONS[1:])].merge(shown, on="story_id")


def messages(item: Mapping, method: str, replaced: Mapping[str, str] | None = None) -> list[dict]:
    """The chat messages for one item, in the release's layout (App. G.1)."""
    wanted = METHODS[method]
    if isinstance(wanted, techniques.TwoStep):
        return wanted.messages(messages, item, f"Question: {item['question']}", replaced)
    system, final = (prompts.load(name, replaced) for name in wanted.prompts)
    if wanted.reminder and "reminder" not in item:
        raise InputError(f"simpletom: {method} needs items with a reminder; see `remind`")
    reminder = f"{item['reminder']}\n" if wanted.reminder else ""
    keys = " or ".join(f'"({key})"' for key in KEYS[: len(item["choices"])])
    question = f"Question: {_options(item)}\n\nWhat is the correct answer? {final} {keys}\n"
    text = f"{shared_prefix(item, method)}{reminder}{question}"
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


def _options(item: Mapping) -> str:
    lines = [f"({key}) {text}" for key, text in zip(KEYS, item["choices"], strict=False)]
    return f"{item['question']} \n" + " \n".join(lines)


def shared_prefix(item: Mapping, method: str) -> str:
    """The beginning of the question that all questions on the story share."""
    if isinstance(METHODS[method], techniques.TwoStep):
        return METHODS[method].shared_prefix(shared_prefix, item)
    keys = " or ".join(f"({key})" for key in KEYS[: len(item["choices"])])
    rule = "Given the following story, answer the question by giving the correct answer choice"
    return f"{rule}, {keys}.\n\nStory:\n{item['story']}\n\n"


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """What the baselines answer: `gold`, `omniscient` (as if X knew it all) and `random`."""
    chosen = baselines(item, method, seed)
    opening = "Therefore, the answer is: " if METHODS[method].cot else ""
    return {name: f"{opening}({key_of(item, text, KEYS)})" for name, text in chosen.items()}
