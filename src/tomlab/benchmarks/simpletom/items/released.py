"""SimpleToM's released questions, from the hub or from a folder in its layout.

Three configs, each `<config>/test.jsonl`, with rows `{id, story, question, scenario_name,
choices: {text, label}, answerKey}`; the id ends in `_sev<1|2|3>_<aware|action|judge>`.

The release has the judgment in one wording. Person and actions stand in its question, so the other
wordings of App. F are made of it.
"""

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import pandas as pd
from pydantic import AliasPath, BaseModel, Field, model_validator

from tomlab.benchmarks.simpletom.items.compose import MAIN, judgment_wordings
from tomlab.benchmarks.simpletom.items.stories import ENTITIES
from tomlab.errors import InputError, extra, refuse
from tomlab.params import fits
from tomlab.records import files
from tomlab.records.tidy import check
from tomlab.scoring.choices import shuffled

HUB_ID = "allenai/SimpleToM"
CONFIGS = ("mental-state-qa", "behavior-qa", "judgment-qa")
# What is asked, by the end of an id.
QUESTIONS = {"aware": "mental_state", "action": "behavior", "judge": "judgment"}
_ID = re.compile(r"(?P<story>(?P<set>.+)_sev(?P<severity>[123]))_(?P<end>aware|action|judge)")
_Id = Annotated[str, fits(_ID.fullmatch, "…_sev<1|2|3>_<aware|action|judge>")]
_Text = Annotated[str, Field(pattern=r"\S")]
_Texts = Annotated[list[_Text], fits(lambda texts: len({*texts}) == len(texts), "different texts")]
_Keys = Annotated[list[str], fits(lambda keys: keys in ([*"AB"], [*"ABC"]), "A, B or A, B, C")]


class _Question(BaseModel, strict=True):
    id: _Id
    story: _Text
    question: _Text
    scenario_name: _Text
    texts: _Texts = Field(validation_alias=AliasPath("choices", "text"))
    keys: _Keys = Field(validation_alias=AliasPath("choices", "label"))
    right: str = Field(validation_alias="answerKey")

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if len(self.texts) != len(self.keys) or self.right not in self.keys:
            raise ValueError("expected a text for each label, and one of the labels as answerKey")
        return self


# The forms of two questions, as the paper prints them (Sec. 2.3, App. F) and its code writes them.
_JUDGMENT = re.compile(
    r'Next, (?P<person_x>[^"]+?) "(?P<unaware_action>.+)" and not "(?P<aware_action>.+)"\. '
    r"The behavior of (?P=person_x) can be best described as:"
)
_AWARE = re.compile(r'(Is|Are) .+? likely to be aware that "(?P<key_information>.+)"\?')
_JUDGMENT_FORM = 'Next, X "…" and not "…". The behavior of X can be best described as:'
_AWARE_FORM = 'Is X likely to be aware that "…"?'
_STANCE = ("Reasonable", "Not reasonable")  # the options, the right one first
ODD_COLUMNS = ("place", "item_id", "found", "expected")


def read_released(source: Path | str = HUB_ID, seed: int = 0) -> pd.DataFrame:
    """The released questions as an items table, with the columns of `simpletom.compose`.

    The judgment stands there in the wordings of App. F, too, except in those that offer a word by a
    model (versions 2 and 3; see `with_wordings`). A warning names each question, by file and row,
    from which none can be made. source: a folder in the hub's layout, or a hub id. seed: draws the
    order of options in other wordings. Errors: `InputError`, by file, row, field.
    """
    questions = read_questions(source)
    stories, odd = stories_of(questions)
    if len(odd):
        lines = [
            f"{row.place}, id {row.item_id!r}: "
            f"found {files.shown(row.found)}, expected {row.expected}"
            for row in odd.itertuples()
        ]
        lost = f"{source}: {len(odd)} questions have another form than the paper's, so their "
        lost += "stories lack wordings of the judgment (App. F)"
        warnings.warn("\n  ".join([lost, *lines]), stacklevel=2)
    return with_wordings(questions, stories, seed)


def read_questions(source: Path | str = HUB_ID) -> pd.DataFrame:
    """The released questions alone, three a story, as an items table with `place`: file and row."""
    rows, problems = [], []
    for config in CONFIGS:
        where = f"{config}/test.jsonl"
        loaded, odd = _lines(source, config)
        problems += [f"{where}, {what}" for what in odd]
        problems += [] if loaded or odd else [f"{where}: no row in it"]
        rows += [(f"{where}, row {number}", value) for number, value in loaded]
    refuse([*problems, *files.unfit(rows, _Question, "id", "file")], str(source))
    name = f"released:{Path(source).resolve().name}"
    items = pd.DataFrame(
        _item(_Question.model_validate(value), name) | {"place": place} for place, value in rows
    )
    asked = items.groupby("story_id", sort=False)["question_type"].nunique()
    lone = asked.index[asked < len(QUESTIONS)]
    refuse([f"story {name!r}: expected all three questions on it" for name in lone], str(source))
    return check(items, "items", str(source))


def stories_of(questions: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What the questions say of each story, and the questions that are not in the paper's form.

    questions: of `read_questions`. The first table has one row a story whose judgment question is
    in the form: `story_id`, `scenario`, `severity`, `story`, `person_x`, `unaware_action`,
    `aware_action`, `key_information` ("" where the mental-state question is in another form) and
    an empty `negative_judgment`. The second has `ODD_COLUMNS`.
    """
    states = questions[questions["question_type"] == "mental_state"]
    state_of = states.set_index("story_id").to_dict("index")
    judgments = questions[questions["question_type"] == "judgment"]
    stories = []
    odd = []
    for judgment in judgments.to_dict("records"):
        parts = _parts_of(judgment)
        if parts is None:
            found = f"{judgment['question']} {' / '.join(judgment['choices'])}"
            expected = f"{_JUDGMENT_FORM} Reasonable (right) / Not reasonable"
            odd.append((judgment["place"], judgment["item_id"], found, expected))
            continue
        state = state_of[judgment["story_id"]]
        aware = _AWARE.fullmatch(state["question"].strip())
        if aware is None:
            odd.append((state["place"], state["item_id"], state["question"], _AWARE_FORM))
        shared = {name: judgment[name] for name in ("story_id", "scenario", "severity", "story")}
        key_information = aware["key_information"] if aware else ""
        own = {"key_information": key_information, "negative_judgment": ""}
        stories.append({**shared, **parts, **own})
    columns = ["story_id", "scenario", "severity", "story", "person_x", "unaware_action"]
    columns += ["aware_action", "key_information", "negative_judgment"]
    return pd.DataFrame(stories, columns=columns), pd.DataFrame(odd, columns=[*ODD_COLUMNS])


def _parts_of(judgment: Mapping) -> dict[str, str] | None:
    """Person and actions in a judgment question; None where it is in another form."""
    right, wrong = _STANCE
    if judgment["answer"] != right or set(judgment["choices"]) != {right, wrong}:
        return None
    question = judgment["question"].strip()
    match = _JUDGMENT.fullmatch(question)
    # With a second such mark, nobody could tell where the one action ends.
    if match is None or question.count('" and not "') != 1:
        return None
    return match.groupdict()


def with_wordings(questions: pd.DataFrame, stories: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """The items: the released questions, and the judgment in the other wordings of App. F.

    questions: of `read_questions`; stories: of `stories_of`. A story with a `negative_judgment`
    also has the wordings that offer it. seed: draws the order of options in other wordings.
    """
    questions = questions.drop(columns="place")
    judgments = questions[questions["question_type"] == "judgment"]
    released = {judgment["story_id"]: judgment for judgment in judgments.to_dict("records")}
    worded = []
    for story in stories.to_dict("records"):
        judgment = released[story["story_id"]]
        for variant, question, options in judgment_wordings(story):
            if variant == MAIN:  # stands in the release
                continue
            item_id = f"{judgment['item_id']}:{variant}"
            own = {"item_id": item_id, "variant": variant, "question": question}
            own |= {"choices": shuffled(options, seed, item_id)}
            own |= {"answer": options[0], "reality": options[-1]}
            worded.append({**judgment, **own})
    items = pd.concat([questions, pd.DataFrame(worded, columns=questions.columns)])
    return check(items.reset_index(drop=True), "items", "simpletom items")


def _lines(source: Path | str, config: str) -> tuple[list[tuple[int, Any]], list[str]]:
    """The rows of a config by their number, and what is wrong with lines that are none."""
    if Path(source).is_dir():
        return files.json_lines(files.read_text(Path(source) / config / "test.jsonl"))
    with extra("compendium"):
        import datasets  # takes seconds
    try:
        rows = datasets.load_dataset(str(source), config, split="test")
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        what = f"neither a folder nor to be had from the hub ({' '.join(str(error).split())[:200]})"
        raise InputError(f"{source}, {config}: {what}") from None
    return [*enumerate(rows, start=1)], []


def _item(row: _Question, source: str) -> dict:
    parts, right = _ID.fullmatch(row.id), row.texts[row.keys.index(row.right)]
    return {
        "benchmark": "simpletom",
        "item_id": row.id,
        "group_id": parts["set"],
        "question_type": QUESTIONS[parts["end"]],
        "story": row.story,
        "question": row.question,
        "choices": row.texts,
        "answer": right,
        "source": source,
        "scenario": row.scenario_name,
        "severity": int(parts["severity"]),
        "story_id": parts["story"],
        # Person X stands in some questions; Y and Z stand in none by that name.
        **dict.fromkeys(ENTITIES, ""),
        "variant": MAIN,
        "reality": next(text for text in row.texts if text != right),
    }
