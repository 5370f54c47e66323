"""SimpleToM's items (Sec. 2.3), prompts of interventions (Sec. 5.3, App. G), wordings (App. F)."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from tomlab.asking import prompts, techniques
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
COLUMNS = _TEXTS["columns"]  # of the items
# A sample of the items is drawn by whole stories, since first failures need all three questions. It
# takes one story of each set of entities (on which intervals cluster) before a second story of any
# set, and the scenarios take turns.
UNIT, STRATA = "story_id", ("group_id", "scenario")


class Method(NamedTuple):
    """How a question is put."""

    # The names of two prompts: the system message, and the end of the question.
    prompts: Sequence[str] = ("simpletom/system", "simpletom/respond")
    reminder: bool = False  # the model's own answer to the mental-state question stands before it
    cot: bool = False
    max_tokens: int = 20  # the release's limit for labels
    questions: Sequence[str] = QUESTIONS[1:]
    variants: Sequence[str] = (MAIN,)  # of the items


METHODS: dict[str, Method | techniques.TwoStep] = {}
METHODS |= {name: Method(**options) for name, options in _TEXTS["methods"].items()}
METHODS |= techniques.methods("none", Method(questions=QUESTIONS))
WITHOUT_STORY = ("none", "aware")

# Why no item may fit a method, and what to do then; see `evaluation.plan`.
WITHOUT_ITEMS = _TEXTS["without_items"]

# Matches a person X who is several people, such as "the beekeepers" or "Ann and Bo", but not "the
# rowing team".
_SEVERAL = re.compile(r"\band\b|\b([a-z]*[a-rt-z]s|[a-z]*men|people|children)$")


def compose(stories: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The items made from a story table, such as that of a model's stories: three questions on
    each story, and the judgment question in its other wordings. `released.read_released` is for
    questions that stand in files.

    Columns beyond those of every items table: `scenario`, `severity`, `story_id`, `variant` (the
    judgment's wording, or a twin) and `reality` (the option that would fit if X knew). `group_id`
    is the set of entities. The seed and the item id decide the order of the options.
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
            item = story | {"benchmark": NAME, "group_id": story["set_id"], "variant": MAIN}
            item |= {"item_id": f"{story['story_id']}/{kind}", "question_type": kind}
            items.append(_asking(item, question, options, seed))
    return check(pd.DataFrame(items, columns=COLUMNS), "items", "simpletom items")


def with_wordings(questions: pd.DataFrame, stories: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The questions, joined by the judgment question of each story in the other wordings of App. F.

    questions: from `questions_of` or `released.read_questions`; stories: a story table. A story
    with a `negative_judgment` also gets the wordings that offer it. seed: decides the order of
    options in the other wordings.
    """
    judgments = questions.query("question_type == 'judgment' and variant == @MAIN")
    judgment_of = judgments.set_index("story_id", drop=False).to_dict("index")
    judgments = []
    for story in stories.to_dict("records"):
        judgment = judgment_of[story["story_id"]]
        for variant, question, options in judgment_wordings(story)[1:]:
            item = judgment | {"variant": variant}
            item["item_id"] += f":{variant}"
            judgments.append(_asking(item, question, options, seed))
    items = pd.concat([questions[COLUMNS], pd.DataFrame(judgments, columns=COLUMNS)])
    return check(in_order(items), "items", "simpletom items")


def _asking(item: Mapping, question: str, options: list[str], seed: int) -> dict:
    """The item with this question and its options, shuffled. options: the right one comes first,
    the one that would fit if X knew comes last.
    """
    return {
        **item,
        "question": question,
        "choices": shuffled(options, seed, item["item_id"]),
        "answer": options[0],
        "reality": options[-1],
    }


def in_order(items: pd.DataFrame) -> pd.DataFrame:
    """The items sorted by story (in order of first appearance), then question, then variant."""
    names = [*QUESTIONS, MAIN, AWARE, *WORDINGS, *items["story_id"].unique()]
    by = ["story_id", "question_type", "variant"]
    return items.sort_values(by, key=lambda column: column.map(names.index), ignore_index=True)


def judgment_wordings(story: Mapping) -> list[tuple[str, str, list[str]]]:
    """The judgment question in each wording (App. F): (the wording's name, the question, the
    options with the right one first).

    story: a row of a story table; where its `negative_judgment` is empty, the wordings that offer
    it (versions 2 and 3) are left out.
    """
    wordings = []
    for name, wording in WORDINGS.items():
        options = [option.format_map(story) for option in wording["options"]]
        if "" not in options:
            wordings.append((name, wording["question"].format_map(story), options))
    return wordings


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    settings = METHODS[method]
    is_asked = items["question_type"].isin(settings.questions)
    return items[is_asked & items["variant"].isin(settings.variants)]


def remind(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The behavior and judgment items, each with the model's answer to the mental-state question.

    responses: those of one model. Adds two columns: `reminder`, the mental-state question and the
    model's first answer to it (method `none`) as the prompt shows them; and `reminder_parsed`,
    False where that answer named no option, so that the prompt quotes its words. Items whose story
    has no such answer are left out.
    """
    answers = responses.query("method == 'none' and sample == 0").dropna(subset="response")
    states = items.query("question_type == 'mental_state'").merge(answers, on="item_id")
    reminders = []
    for state in states.to_dict("records"):
        key = read_answer(state["response"], state["finish_reason"], cot=False).key
        if key:
            answer = f"({key})"
        else:
            words = visible(state["response"])[0].split()
            answer = " ".join(words)[:200]
        reminder = f"Question: {_options(state)}\nAnswer: {answer}\n"
        reminders.append((state["story_id"], reminder, key is not None))
    columns = ["story_id", "reminder", "reminder_parsed"]
    reminders = pd.DataFrame(reminders, columns=columns)
    return items.query("question_type != 'mental_state'").merge(reminders, on="story_id")


def messages(item: Mapping, method: str, replaced: Mapping[str, str] | None = None) -> list[dict]:
    """The chat messages for one item, in the release's layout (App. G.1)."""
    settings = METHODS[method]
    if isinstance(settings, techniques.TwoStep):
        return settings.messages(messages, item, f"Question: {item['question']}", replaced)
    system, final = (prompts.load(name, replaced) for name in settings.prompts)
    text = shared_prefix(item, method)
    if settings.reminder:
        if "reminder" not in item:
            raise InputError(f"simpletom: {method} needs items with a reminder; see `remind`")
        text += f"{item['reminder']}\n"
    keys = " or ".join(f'"({key})"' for key in KEYS[: len(item["choices"])])
    text += f"Question: {_options(item)}\n\nWhat is the correct answer? {final} {keys}\n"
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


def _options(item: Mapping) -> str:
    lines = [f"({key}) {text}" for key, text in zip(KEYS, item["choices"], strict=False)]
    return f"{item['question']} \n" + " \n".join(lines)


def shared_prefix(item: Mapping, method: str) -> str:
    """The beginning of the user message, which all questions on the same story share."""
    settings = METHODS[method]
    if isinstance(settings, techniques.TwoStep):
        return settings.shared_prefix(shared_prefix, item)
    keys = " or ".join(f"({key})" for key in KEYS[: len(item["choices"])])
    rule = "Given the following story, answer the question by giving the correct answer choice"
    return f"{rule}, {keys}.\n\nStory:\n{item['story']}\n\n"


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """What the baselines answer: `gold`, `omniscient` (as if X knew everything) and `random`."""
    chosen = baselines(item, method, seed)
    opening = "Therefore, the answer is: " if METHODS[method].cot else ""
    return {name: f"{opening}({key_of(item, text, KEYS)})" for name, text in chosen.items()}
