"""BigToM's sections of `params.yaml`."""

from typing import Literal

from tomlab import params
from tomlab.params import (
    AnswersByPeople,
    Count,
    Distinct,
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


class Evaluation(params.Evaluation):
    # A second number, beside the protocol's, treats answers that name no option's letter thus: they
    # stay unreadable, their text is read, or the grader of the fourth notebook reads them.
    answers_without_letter: Literal["unreadable", "text", "grader"]


class Settings(Section):
    generation: Generation
    filtering: Filtering
    evaluation: Evaluation
    judges: GradedAnswers
    people: People
