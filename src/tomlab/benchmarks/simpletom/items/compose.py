"""SimpleToM: explicit and applied theory of mind in two-sentence stories.

Questions: Sec. 2.3; interventions: Sec. 5.3, App. G; judgment wordings: App. F; released data and
code: allenai.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from tomlab.asking import prompts
from tomlab.benchmarks.simpletom.items.stories import story_text
from tomlab.errors import InputError
from tomlab.records.tidy import check
from tomlab.scoring.answers import baselines, visible
from tomlab.scoring.choices import key_of, shuffled
from tomlab.scoring.options import read_answer

NAME = "simpletom"
KEYS = ("A", "B", "C", "D")
ENTITIES = ("person_x", "person_y", "object_z")
QUESTIONS = ("mental_state", "behavior", "judgment")
MAIN = "main"
# A part of the items is drawn by story, so that first failures have all their questions, and each
# scenario has its share. (Intervals cluster on the set of entities that stories share.)
UNIT, STRATUM = "story_id", "scenario"


@dataclass(frozen=True)
class Method:
    """How a question is put. reminder: the model's own answer to the mental-state question stands
    before it. max_tokens: the release's limits for labels and for chain of thought.
    """

    system: str = "simpletom/system"
    final: str = "simpletom/respond"
    reminder: bool = False
    cot: bool = False
    max_tokens: int = 20
    questions: tuple[str, ...] = ("behavior", "judgment")
    wordings: bool = False

    @property
    def prompts(self) -> tuple[str, ...]:
        """The names of the prompt files that go into a request."""
        return (self.system, self.final)


_COT, _STAR = {"final": "simpletom/cot"}, {"final": "simpletom/cot-star"}
_LONG = {"cot": True, "max_tokens": 500}
METHODS = {
    "none": Method(questions=QUESTIONS),
    "ms-remind": Method(reminder=True),
    "sysp": Method(system="simpletom/sysp"),
    "sysp-star": Method(system="simpletom/sysp-star"),
    "cot": Method(**_COT, **_LONG),
    "cot-star": Method(**_STAR, **_LONG),
    "cot-star-ms": Method(**_STAR, **_LONG, reminder=True),
    # The other judgment wordings of App. F, asked like `none`.
    "wordings": Method(questions=("judgment",), wordings=True),
}

# The judgment's wordings (App. F): question and options.
WORDINGS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_bytes())


def compose(stories: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The items of each story: three questions and the other judgment wordings.

    stories: a story table (`stories`). Beyond the columns of every items table:
    `scenario`, `severity`, `story_id`, `variant` (the judgment's wording) and `reality` (the option
    that fits if X knew). `group_id` is the set of entities, whose three stories share a sentence
    and an answer. Options are shuffled by `seed` and the item's id.
    """
    items = [item for story in stories.to_dict("records") for item in _questions(story, seed)]
    return check(pd.DataFrame(items), "items", "simpletom items")


def _questions(story: Mapping, seed: int) -> list[dict]:
    aware = f'Is {story["person_x"]} likely to be aware that "{story["key_information"]}"?'
    unaware_first = (story["unaware_action"], story["aware_action"])
    asked = [
        ("mental_state", MAIN, aware, ("No", "Yes")),
        ("behavior", MAIN, story["question"], unaware_first),
    ]
    words = {"x": story["person_x"], "u": story["unaware_action"], "a": story["aware_action"]}
    for variant, wording in WORDINGS.items():
        if story["negative_judgment"] or not any("{n}" in option for option in wording["options"]):
            options = [option.format(n=story["negative_judgment"]) for option in wording["options"]]
            asked.append(("judgment", variant, wording["question"].format(**words), options))
    return [_item(story, *question, seed) for question in asked]


def _item(
    story: Mapping, kind: str, variant: str, question: str, options: Sequence[str], seed: int
) -> dict:
    item_id = f"{story['story_id']}/{kind}" + ("" if variant == MAIN else f":{variant}")
    return {
        "benchmark": NAME,
        "item_id": item_id,
        "group_id": story["set_id"],
        "question_type": kind,
        "story": story_text(story),
        "question": question,
        "choices": shuffled(options, seed, item_id),
        "answer": options[0],
        "source": story["source"],
        **{name: story[name] for name in ("scenario", "severity", "story_id", *ENTITIES)},
        "variant": variant,
        "reality": options[-1],
    }


def asked(items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The items that a method is asked."""
    if method not in METHODS:
        raise InputError(f"simpletom: no method {method!r}; there are: {', '.join(METHODS)}")
    wanted = METHODS[method]
    other = items["variant"] != MAIN
    return items[items["question_type"].isin(wanted.questions) & (other == wanted.wordings)]


def remind(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The behavior and judgment items with the model's own mental-state answer before them.

    responses: of one model, by `none`. Adds `reminder`, the earlier question with its answer as it
    goes into the prompt, and `reminder_parsed`: False where that answer named no option, so that
    the model is shown its own words instead of a letter. With repeats the first answer counts.
    Items whose story was not asked, or whose request failed, are left out.
    """
    own = responses[(responses["method"] == "none") & (responses["sample"] == 0)]
    own = own[own["response"].notna()]
    states = items[items["question_type"] == "mental_state"].merge(own, on="item_id")
    shown = {row["story_id"]: _reminder(row) for row in states.to_dict("records")}
    applied = items[items["question_type"].isin(["behavior", "judgment"])]
    applied = applied[applied["story_id"].isin(shown)]
    return applied.assign(
        reminder=[shown[story][0] for story in applied["story_id"]],
        reminder_parsed=[shown[story][1] for story in applied["story_id"]],
    )


def _reminder(row: Mapping) -> tuple[str, bool]:
    said = row["response"]
    key = read_answer(said, row["finish_reason"], cot=False).key
    words = f"({key})" if key else " ".join(visible(said)[0].split())[:200]
    return f"Question: {_options(row)}\nAnswer: {words}\n", key is not None


def messages(
    item: Mapping, method: str, replaced: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """The chat messages for one item, in the release's layout (App. G.1)."""
    system, final = (prompts.load(name, replaced) for name in METHODS[method].prompts)
    if METHODS[method].reminder and "reminder" not in item:
        raise InputError(f"simpletom: {method} needs items with a reminder; see `remind`")
    reminder = f"{item['reminder']}\n" if METHODS[method].reminder else ""
    keys = [f"({key})" for key in KEYS[: len(item["choices"])]]
    quoted = " or ".join(f'"{key}"' for key in keys)
    text = (
        f"{shared_prefix(item, method)}{reminder}Question: {_options(item)}\n\n"
        f"What is the correct answer? {final} {quoted}\n"
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


def _options(item: Mapping) -> str:
    lines = [f"({key}) {text}" for key, text in zip(KEYS, item["choices"], strict=False)]
    return f"{item['question']} \n" + " \n".join(lines)


def shared_prefix(item: Mapping, method: str) -> str:
    """The beginning of the question that all questions on the story share."""
    keys = " or ".join(f"({key})" for key in KEYS[: len(item["choices"])])
    return (
        f"Given the following story, answer the question by giving the correct answer choice, "
        f"{keys}.\n\nStory:\n{item['story']}\n\n"
    )


def reference(item: Mapping, method: str, seed: int) -> dict[str, str]:
    """What the baselines answer: `gold`, `omniscient` (as if X knew it all) and `random`."""
    chosen = baselines(item, method, seed)
    opening = "Therefore, the answer is: " if METHODS[method].cot else ""
    return {name: f"{opening}({key_of(item, text, KEYS)})" for name, text in chosen.items()}
