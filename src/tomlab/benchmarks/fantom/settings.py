"""FANToM's sections of `params.yaml`."""

from typing import Literal

from tomlab.params import (
    Count,
    Distinct,
    Evaluation,
    Folds,
    LabelledAnswers,
    ModelName,
    Section,
    Size,
)


class Generation(Section):
    writers: Distinct[Literal["grammar", "llm"]]
    conversations: Size
    sets_per_part: Size
    llm_conversations: Count
    llm_subtopics: Size
    llm_tokens: Size


class Judges(LabelledAnswers):
    embedders: Distinct[ModelName]
    answers_made: Size
    folds: Folds


class Settings(Section):
    generation: Generation
    filtering: Section
    evaluation: Evaluation
    judges: Judges
