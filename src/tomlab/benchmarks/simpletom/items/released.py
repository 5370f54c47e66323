"""SimpleToM's released questions, from the hub or from a folder in its layout.

Three configs, each `<config>/test.jsonl`, with rows `{id, story, question, scenario_name,
choices: {text, label}, answerKey}`; the id ends in `_sev<1|2|3>_<aware|action|judge>`.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Self

import pandas as pd
from pydantic import AliasPath, BaseModel, Field, model_validator

from tomlab.benchmarks.simpletom.items.stories import ENTITIES
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

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if len(self.texts) != len(self.keys) or self.right not in self.keys:
            raise ValueError("expected a text for each label, and one of the labels as answerKey")
        return self


def read_released(source: Path | str = HUB_ID) -> pd.DataFrame:
    """The released questions as an items table, with the columns of `simpletom.compose`.

    source: a folder in the hub's layout, or a hub id. Errors: `InputError`, by file, row, field.
    """
    rows, problems = [], []
    for config in CONFIGS:
        where = f"{config}/test.jsonl"
        loaded, odd = _lines(source, config)
        problems += [f"{where}, {what}" for what in odd]
        problems += [] if loaded or odd else [f"{where}: no row in it"]
        rows += [(f"{where}, row {number}", value) for number, value in loaded]
    refuse([*problems, *files.unfit(rows, _Question, "id", "file")], str(source))
    name = f"released:{Path(source).resolve().name}"
    items = pd.DataFrame(_item(_Question.model_validate(value), name) for _, value in rows)
    asked = items.groupby("story_id", sort=False)["question_type"].nunique()
    lone = asked.index[asked < len(QUESTIONS)]
    refuse([f"story {name!r}: expected all three questions on it" for name in lone], str(source))
    return check(items, "items", str(source))


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
        # The questions do not tell who is who.
        **dict.fromkeys(ENTITIES, ""),
        "variant": "main",
        "reality": next(text for text in row.texts if text != right),
    }
