"""SimpleToM's sections of `params.yaml`."""

from typing import Literal

from tomlab.params import (
    Count,
    Distinct,
    Evaluation,
    GivenPath,
    GradedAnswers,
    ModelName,
    Section,
    Share,
    Size,
)


class Generation(Section):
    writers: Distinct[Literal["authored", "llm"]]
    scenarios: GivenPath
    more_writers: list[ModelName]
    llm_scenarios: Count
    llm_sets: Count
    entity_tokens: Size
    rounds: Size


class Filtering(Section):
    duplicate_cosine: Share
    key: GivenPath
    llm_annotated: Count


class Settings(Section):
    generation: Generation
    filtering: Filtering
    evaluation: Evaluation
    judges: GradedAnswers
