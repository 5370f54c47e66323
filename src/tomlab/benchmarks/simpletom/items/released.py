"""SimpleToM's questions: a folder in the layout of the release, or one on the hub.

Three configs, each `<config>/test.jsonl`, with rows `{id, story, question, scenario_name,
choices: {text, label}, answerKey}`; the id ends in `_sev<1|2|3>_<aware|action|judge>`. Further
fields are ours: `author` (a row with one is not a released row), `person_x`, `person_y`,
`object_z`, `negative_judgment`, and `twin_of`, the id of the question whose twin this is.

The questions quote the person, the actions and the key information, so a story table can be made
from the questions of any such folder (`stories_of`).
"""

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self, cast

import pandas as pd
from pydantic import BaseModel, Field, model_validator

from tomlab.benchmarks.simpletom.items.compose import (
    AWARE,
    COLUMNS,
    MAIN,
    NAME,
    in_order,
    with_wordings,
)
from tomlab.benchmarks.simpletom.items.stories import ENTITIES, story_table
from tomlab.errors import InputError, extra, refuse
from tomlab.params import fits
from tomlab.records import files
from tomlab.records.tidy import check
from tomlab.scoring.kept import is_released

CONFIGS = ("mental-state-qa", "behavior-qa", "judgment-qa")
# The type of a question, by the end of its id.
QUESTIONS = {"aware": "mental_state", "action": "behavior", "judge": "judgment"}
_ID = re.compile(
    r"(?P<story_id>(?P<group_id>.+)_sev(?P<severity>[123]))_(?P<end>aware|action|judge)"
)
_Id = Annotated[str, fits(_ID.fullmatch, "…_sev<1|2|3>_<aware|action|judge>")]
_Text = Annotated[str, Field(pattern=r"\S")]


class _Choices(BaseModel, strict=True):
    text: list[_Text]
    label: list[str]


class _Question(BaseModel, strict=True):
    id: _Id
    story: _Text
    question: _Text
    scenario_name: _Text
    choices: _Choices
    answerKey: str  # noqa: N815
    author: str = ""
    twin_of: str = ""
    person_x: str = ""
    person_y: str = ""
    object_z: str = ""
    negative_judgment: str = ""

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        texts = self.choices.text
        labels = self.choices.label
        are_labels = labels in (["A", "B"], ["A", "B", "C"])
        if not are_labels or self.answerKey not in labels or len(set(texts)) != len(labels):
            values = f"{files.shown(self.choices.model_dump())}, answerKey {self.answerKey!r}"
            expected = "as many different texts as labels, A, B or A, B, C, and one as answerKey"
            raise ValueError(f"field choices: found {values}, expected {expected}")
        return self


# The forms of two questions, as the paper prints them (Sec. 2.3, App. F) and its code writes them.
# An action must not contain `" and not "`, or nobody could tell where the first action ends.
_ACTION = r'(?:(?!" and not ").)+'
_JUDGMENT = (
    rf'^Next, (?P<person_x>[^"]+?) "(?P<unaware_action>{_ACTION})" and not '
    rf'"(?P<aware_action>{_ACTION})"\. '
    r"The behavior of (?P=person_x) can be best described as:\Z"
)
_AWARE = r'^(?:Is|Are) .+? likely to be aware that "(.+)"\?\Z'
_FORMS = {
    "judgment": 'Next, X "…" and not "…". The behavior of X can be best described as: '
    "Reasonable (right) / …",
    "mental_state": 'Is X likely to be aware that "…"?',
}


def read_released(source: Path | str, seed: int = 0) -> pd.DataFrame:
    """The questions of a folder as an items table, with the columns of `simpletom.compose`.

    The table also has the judgment question in the other wordings of App. F. Versions 2 and 3 offer
    a negative judgment, so stories for which the folder has none lack them. A warning lists, by
    file and row, the questions that are not in the paper's form. source: a folder, or a name on the
    hub such as allenai/SimpleToM. seed: decides the order of options in the other wordings. Errors:
    `InputError` that names file, row and field.
    """
    questions = read_questions(source)
    stories, odd = stories_of(questions)
    if len(odd):
        form = "another form than the paper's, so their stories lack wordings of the judgment"
        warning = f"{source}: {len(odd)} questions have {form} (App. F)"
        for row in odd.itertuples():
            fault = f"found {files.shown(row.found)}, expected {row.expected}"
            warning += f"\n  {row.place}, id {row.item_id!r}: {fault}"
        warnings.warn(warning, stacklevel=2)
    return with_wordings(questions, stories, seed)


def read_questions(source: Path | str) -> pd.DataFrame:
    """The questions as they stand in the files, three for each story and three for each twin, as an
    items table with the further columns `place` (file and row) and `negative_judgment`. source: as
    in `read_released`, and the same errors.
    """
    records = []
    for config in CONFIGS:
        for number, record in _rows(source, config):
            records.append((f"{config}/test.jsonl, row {number}", record))
    refuse([*files.unfit(records, _Question, "id", "file")], str(source))
    questions = {place: _Question.model_validate(record) for place, record in records}
    refuse(_faults_of_twins(questions), str(source))
    release = f"released:{Path(source).resolve().name}"
    rows = [_item(question, release) | {"place": place} for place, question in questions.items()]
    items = pd.DataFrame(rows, columns=[*COLUMNS, "negative_judgment", "place"])
    refuse(_faults_of_stories(items), str(source))
    return in_order(check(items, "items", str(source)))


def _rows(source: Path | str, config: str) -> list[tuple[int, Any]]:
    """The rows of a config (one file of the release), each with its number, from 1."""
    folder = Path(source)
    if folder.is_dir():
        path = folder / config / "test.jsonl"
        rows, problems = files.json_lines(files.read_text(path))
        refuse(problems, str(path))
        if not rows:
            raise InputError(f"{path}: no row in it")
        return rows
    if folder.exists() or isinstance(source, Path):
        raise InputError(f"{source}: expected a folder with {config}/test.jsonl and the like")
    with extra("compendium"):
        import datasets  # takes seconds
    try:
        rows = datasets.load_dataset(source, config, split="test")
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = " ".join(str(error).split())[:200]
        problem = f"neither a folder nor to be had from the hub ({reason})"
        raise InputError(f"{source}, {config}: {problem}") from None
    return [*enumerate(rows, start=1)]


# Fields of a question, and whether a twin must have the same value as its story (True) or not.
_OF_TWINS = {"question": True, "choices": True, "story": False, "answerKey": False}


def _faults_of_twins(questions: Mapping[str, _Question]) -> list[str]:
    """The faults of twins, in words. A twin must repeat the question and options of an existing
    question, and have another story and another right option. questions: by place in the files.
    """
    main = {question.id: question for question in questions.values() if not question.twin_of}
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
        for name, is_shared in _OF_TWINS.items():
            is_same = getattr(twin, name) == getattr(story, name)
            if is_same != is_shared:
                expected = "the same as" if is_shared else "another than"
                value = files.shown(getattr(twin, name))
                faults.append(f"{where} {name}: found {value}, expected {expected} {story.id!r}")
    return faults


def _faults_of_stories(items: pd.DataFrame) -> list[str]:
    """The faults of stories and twins, in words: those that lack one of the three questions, and
    those of our own (with an author) whose texts differ between files.
    """
    faults = []
    for (story_id, variant), rows in items.groupby(["story_id", "variant"], sort=False):
        name = f"story {story_id!r}" if variant == MAIN else f"twin of story {story_id!r}"
        where = f"{rows['place'].iloc[0]}, {name}"
        if rows["question_type"].nunique() < len(QUESTIONS):
            faults.append(f"{where}: expected all three questions on it")
        if is_released(rows["source"]).all():
            continue
        for column in ["story", "scenario", "source", *ENTITIES]:
            texts = [*rows[column].unique()]
            if len(texts) > 1:
                fault = f"found {files.shown(texts)}, expected one in all files"
                faults.append(f"{where}, {column}: {fault}")
    return faults


def _item(row: _Question, release: str) -> dict:
    item_id = row.twin_of or row.id
    match = cast(re.Match, _ID.fullmatch(item_id))  # checked by `_Id` and `_faults_of_twins`
    parts = match.groupdict()
    kind = QUESTIONS[parts["end"]]
    if row.author:  # the names under which answers to our items are kept
        item_id = f"{parts['story_id']}/{kind}"
    texts = row.choices.text
    answer = texts[row.choices.label.index(row.answerKey)]
    alternatives = [text for text in texts if text != answer]
    item = {
        **row.model_dump(),
        **parts,
        "benchmark": NAME,
        "item_id": item_id,
        "question_type": kind,
        "choices": texts,
        "answer": answer,
        "source": "authored" if row.author else release,
        "scenario": row.scenario_name,
        "severity": int(parts["severity"]),
        "variant": MAIN,
        # The option that would fit if X knew: the wrong one of a story, the right one of a twin.
        "reality": alternatives[0],
    }
    if row.twin_of:
        item |= {"item_id": f"{item_id}:{AWARE}", "variant": AWARE, "reality": answer}
    return item


def stories_of(questions: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A story table made from the questions, and a table of questions not in the paper's form.

    questions: from `read_questions`. The story table has the stories whose judgment question is in
    the paper's form; `key_information` and `second_sentence` are "" where the mental-state question
    is not. The second table has the columns `place`, `item_id`, `found` and `expected`.
    """
    stories = []
    odd = []
    for _, rows in questions[questions["variant"] == MAIN].groupby("story_id", sort=False):
        state, behavior, judgment = rows.to_dict("records")
        aware = re.match(_AWARE, state["question"].strip())
        if not aware:
            odd.append(state)
        actions = re.match(_JUDGMENT, judgment["question"].strip())
        if not actions or judgment["answer"] != "Reasonable":
            odd.append(judgment)
            continue
        story = judgment | actions.groupdict()
        story |= {"set_id": judgment["group_id"], "question": behavior["question"]}
        if aware:
            story["key_information"] = aware[1]
            if story["story"].startswith(aware[1]):
                story["second_sentence"] = story["story"].removeprefix(aware[1]).strip()
        stories.append(story)
    odd = pd.DataFrame(odd, columns=questions.columns)
    odd["found"] = odd["question"] + " " + odd["choices"].map(" / ".join)
    odd["expected"] = odd["question_type"].map(_FORMS)
    return story_table(stories), odd[["place", "item_id", "found", "expected"]]
