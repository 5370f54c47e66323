"""BigToM's sections of `params.yaml`."""

from typing import Literal

from tomlab.params import Count, Distinct, Evaluation, Folds, Section, Share, Size


class Generation(Section):
    writers: Distinct[Literal["authored", "llm"]]
    llm_templates: Count


class Filtering(Section):
    duplicate_cosine: Share


class Judges(Section):
    answers_made: Size
    folds: Folds
    llm_answers: Count


class Settings(Section):
    generation: Generation
    filtering: Filtering
    evaluation: Evaluation
    judges: Judges
