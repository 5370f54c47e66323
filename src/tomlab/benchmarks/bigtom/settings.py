"""BigToM's sections of `params.yaml`."""

from typing import Literal

from tomlab.params import (
    AnswersByPeople,
    Count,
    Distinct,
    Evaluation,
    GivenPath,
    GradedAnswers,
    Section,
    Share,
)


class Generation(Section):
    writers: Distinct[Literal["authored", "llm"]]
    llm_templates: Count
    own: GivenPath


class Filtering(Section):
    duplicate_cosine: Share


class People(AnswersByPeople):
    ratings_by_people: GivenPath
    rated_items: GivenPath


class Settings(Section):
    generation: Generation
    filtering: Filtering
    evaluation: Evaluation
    judges: GradedAnswers
    people: People
