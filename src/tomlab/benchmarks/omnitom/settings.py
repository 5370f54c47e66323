"""OmniToM's sections of `params.yaml`."""

from typing import Literal, Self

from pydantic import model_validator

from tomlab.params import (
    Count,
    Distinct,
    Evaluation,
    Folds,
    GivenPath,
    ModelName,
    OptionalPath,
    Section,
    Share,
    Size,
)


class Generation(Section):
    writers: Distinct[Literal["authored", "grammar", "llm"]]
    tombench: OptionalPath
    grammar_stories: Count
    llm_stories: Count
    llm_tokens: Size


class Filtering(Section):
    duplicate_cosine: Share
    reviews: GivenPath
    tombench: OptionalPath
    linked_tries: Size
    linked_shuffle: bool


class Judges(Section):
    alignments: GivenPath
    tables_made: Size
    kinds: Distinct[Literal["exact", "token_f1", "embedding"]]
    folds: Folds
    llm_levels: list[Literal["L1", "L2", "L3", "L4"]]
    llm_tables: Count
    llm_tokens: Size
    llm_tokens_of: dict[ModelName, Size]
    groups_to_label: Size


class Settings(Section):
    generation: Generation
    filtering: Filtering
    evaluation: Evaluation
    judges: Judges

    @model_validator(mode="after")
    def _linked_has_questions(self) -> Self:
        if "linked" in self.evaluation.methods and not self.filtering.tombench:
            raise ValueError(
                "evaluation.methods has `linked`, expected filtering.tombench to name "
                "the folder with its questions"
            )
        return self
