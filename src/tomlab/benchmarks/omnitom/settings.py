"""OmniToM's sections of `params.yaml`."""

from typing import Literal, Self

from pydantic import model_validator

from tomlab import params


class Generation(params.Section):
    writers: params.Distinct[Literal["authored", "grammar", "llm"]]
    tombench: params.OptionalPath
    grammar_stories: params.Count
    llm_stories: params.Count
    llm_tokens: params.Tokens


class Filtering(params.Section):
    duplicate_cosine: params.Share
    tombench: params.OptionalPath
    linked_tries: params.Repeats


class Judges(params.Section):
    alignments: params.GivenPath
    tables_made: params.Size
    kinds: params.Distinct[Literal["exact", "token_f1", "embedding"]]
    folds: params.Folds
    llm_levels: list[Literal["L1", "L2", "L3", "L4"]]
    llm_tables: params.Count
    llm_tokens: params.Tokens
    llm_tokens_of: dict[params.ModelName, params.Tokens]
    groups_to_label: params.Size


class Settings(params.Section):
    generation: Generation
    filtering: Filtering
    evaluation: params.Evaluation
    judges: Judges

    @model_validator(mode="after")
    def _linked_has_questions(self) -> Self:
        if "linked" in self.evaluation.methods and not self.filtering.tombench:
            found = "evaluation.methods has `linked`"
            raise ValueError(f"{found}, expected filtering.tombench to name a folder of questions")
        return self
