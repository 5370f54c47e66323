"""SimpleToM's questions: a folder in the hub's layout (released, ours or a user's), or the hub.

Three configs, each `<config>/test.jsonl`, with rows `{id, story, question, scenario_name,
choices: {text, label}, answerKey}`; the id ends in `_sev<1|2|3>_<aware|action|judge>`. Further
fields are ours: `author` (a row with one is not a released row), `person_x`, `person_y`,
`object_z`, `negative_judgment`, and `twin_of`, the id of the question whose twin this is.

Person, actions and key information stand in the questions, so what is made of stories is made of
the questions of any folder.
"""

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

import pandas as pd
from pydantic import AliasPath, BaseModel, Field, model_validator

from tomlab.benchmarks.simpletom.items.compose import AWARE, MAIN, in_order, with_wordings
from tomlab.benchmarks.simpletom.items.stories import COLUMNS, ENTITIES, story_table
from tomlab.errors import InputError, extra, refuse
from tomlab.params import fits
from tomlab.records import files
from tomlab.records.tidy import check

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
    author: str = ""
    twin_of: str = ""
    person_x: str = ""
    person_y: str = ""
    object_z: str = ""
    negative_judgment: str = ""

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
# What a twin shares with its story's question, and what it does not.
_OF_TWINS = (
    ("question", "question", True),
    ("texts", "choices", True),
    ("story", "story", False),
    ("right", "answerKey", False),
)
ODD_COLUMNS = ("place", "item_id", "found", "expected")


def read_released(source: Path | str = HUB_ID, seed: int = 0) -> pd.DataFrame:
    """The questions of a folder as an items table, with the columns of `simpletom.compose`.

    The judgment stands there in the wordings of App. F, too, except in those that offer a word
    (versions 2 and 3) where the folder has none. A warning names each question, by file and row,
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
        summary = f"{source}: {len(odd)} questions have another form than the paper's, so their "
        summary += "stories lack wordings of the judgment (App. F)"
        warnings.warn("\n  ".join([summary, *lines]), stacklevel=2)
    return with_wordings(questions, stories, seed)


def read_questions(source: Path | str = HUB_ID) -> pd.DataFrame:
    """The questions as they stand in the files, three a story and three a twin: an items table with
    `place` (file and row) and `negative_judgment`.
    """
    rows = []
    problems = []
    for config in CONFIGS:
        file = f"{config}/test.jsonl"
        numbered, unreadable = _lines(source, config)
        problems += [f"{file}, {problem}" for problem in unreadable]
        if not numbered and not unreadable:
            problems.append(f"{file}: no row in it")
        rows += [(f"{file}, row {number}", value) for number, value in numbered]
    problems += files.unfit(rows, _Question, "id", "file")
    refuse(problems, str(source))
    questions = {place: _Question.model_validate(value) for place, value in rows}
    refuse(_faults_of_twins(questions), str(source))
    name = f"released:{Path(source).resolve().name}"
    items = pd.DataFrame(_item(row, name) | {"place": place} for place, row in questions.items())
    refuse(_faults_of_stories(items), str(source))
    return in_order(check(items, "items", str(source)))


def _lines(source: Path | str, config: str) -> tuple[list[tuple[int, Any]], list[str]]:
    """The rows of a config by their number, and what is wrong with lines that are none."""
    if Path(source).is_dir():
        return files.json_lines(files.read_text(Path(source) / config / "test.jsonl"))
    if isinstance(source, Path) or Path(source).exists():
        raise InputError(f"{source}: expected a folder with {config}/test.jsonl and the like")
    with extra("compendium"):
        import datasets  # takes seconds
    try:
        rows = datasets.load_dataset(source, config, split="test")
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = " ".join(str(error).split())[:200]
        problem = f"neither a folder nor to be had from the hub ({reason})"
        raise InputError(f"{source}, {config}: {problem}") from None
    return [*enumerate(rows, start=1)], []


def _faults_of_twins(questions: Mapping[str, _Question]) -> list[str]:
    """What is wrong with twins. questions: by their place. A twin has the question and the options
    of a question that there is, another story and another right option.
    """
    main = {row.id: row for row in questions.values() if not row.twin_of}
    faults = []
    for place, twin in questions.items():
        if not twin.twin_of:
            continue
        where = f"{place}, id {twin.id!r}, field"
        story = main.get(twin.twin_of)
        if story is None:
            expected = "expected the id of a question that is no twin"
            faults.append(f"{where} twin_of: found {twin.twin_of!r}, {expected}")
            continue
        for field, name, is_shared in _OF_TWINS:
            value = getattr(twin, field)
            if (value == getattr(story, field)) != is_shared:
                expected = "that" if is_shared else "another than that"
                expected = f"expected {expected} of {story.id!r}, whose twin it is"
                faults.append(f"{where} {name}: found {files.shown(value)}, {expected}")
    return faults


def _faults_of_stories(items: pd.DataFrame) -> list[str]:
    """Which stories and twins lack a question; which of those with an author differ in a text."""
    faults = []
    for (story_id, variant), rows in items.groupby(["story_id", "variant"], sort=False):
        place = rows["place"].iloc[0]
        what = f"story {story_id!r}" if variant == MAIN else f"twin of story {story_id!r}"
        if rows["question_type"].nunique() < len(QUESTIONS):
            faults.append(f"{place}, {what}: expected all three questions on it")
        is_released = rows["source"].str.startswith("released:").all()
        for name in ["story", "scenario", "source", *ENTITIES]:
            if not is_released and rows[name].nunique() > 1:
                found = files.shown([*rows[name].unique()])
                faults.append(f"{place}, {what}, {name}: found {found}, expected one in all files")
    return faults


def _item(row: _Question, released: str) -> dict:
    parts = _ID.fullmatch(row.twin_of or row.id)
    kind = QUESTIONS[parts["end"]]
    right = row.texts[row.keys.index(row.right)]
    item_id = row.twin_of or row.id
    if row.author:  # the names under which answers to our items are kept
        item_id = f"{parts['story']}/{kind}"
    return {
        "benchmark": "simpletom",
        "item_id": f"{item_id}:{AWARE}" if row.twin_of else item_id,
        "group_id": parts["set"],
        "question_type": kind,
        "story": row.story,
        "question": row.question,
        "choices": row.texts,
        "answer": right,
        "source": "authored" if row.author else released,
        "scenario": row.scenario_name,
        "severity": int(parts["severity"]),
        "story_id": parts["story"],
        **{name: getattr(row, name) for name in ENTITIES},
        "variant": AWARE if row.twin_of else MAIN,
        # What fits if X knew: the other option of a story, the right one of a twin.
        "reality": right if row.twin_of else next(text for text in row.texts if text != right),
        "negative_judgment": row.negative_judgment,
    }


def stories_of(questions: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What the questions say of each story, and the questions that are not in the paper's form.

    questions: of `read_questions`. The first is a story table of those whose judgment question is
    in the form; `key_information` and `second_sentence` are "" where the mental-state question is
    in another. The second has `ODD_COLUMNS`.
    """
    main = questions[questions["variant"] == MAIN]
    stories = []
    odd = []
    for _, asked in main.groupby("story_id", sort=False):
        by_kind = {item["question_type"]: item for item in asked.to_dict("records")}
        state, behavior, judgment = (by_kind[kind] for kind in QUESTIONS.values())
        parts = _parts_of(judgment)
        if parts is None:
            found = f"{judgment['question']} {' / '.join(judgment['choices'])}"
            expected = f"{_JUDGMENT_FORM} Reasonable (right) / Not reasonable"
            odd.append((judgment["place"], judgment["item_id"], found, expected))
            continue
        match = _AWARE.fullmatch(state["question"].strip())
        key_information = match["key_information"] if match else ""
        if match is None:
            odd.append((state["place"], state["item_id"], state["question"], _AWARE_FORM))
        text = judgment["story"]
        rest = text.removeprefix(key_information).strip()
        story = {name: judgment[name] for name in COLUMNS if name in judgment}
        story |= {"set_id": judgment["group_id"], "question": behavior["question"], **parts}
        story["key_information"] = key_information
        story["second_sentence"] = "" if rest == text else rest
        stories.append(story)
    return story_table(stories), pd.DataFrame(odd, columns=[*ODD_COLUMNS])


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
