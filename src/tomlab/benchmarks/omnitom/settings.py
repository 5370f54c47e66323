"""OmniToM's sections of `params.yaml`."""

from typing import Literal

from tomlab.params import (
    Count,
    Distinct,
    Evaluation,
    Folds,
    GivenPath,
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


class Settings(Section):
    generation: Generation
    filtering: Filtering
    evaluation: Evaluation
    judges: Judges
