"""OmniToM's sections of `params.yaml`."""

from typing import Literal, Self

from pydantic import model_validator

from tomlab import params


class Generation(params.Section):
    writers: params.Distinct[Literal["authored", "llm"]]
    tombench: params.OptionalPath
    llm_stories: params.Count
    llm_tokens: params.Tokens
    llm_examples: params.Size


class Filtering(params.Section):
    duplicate_cosine: params.Share
    tombench: params.OptionalPath
    linked_tries: params.Repeats
    examples: params.Size


Kind = Literal["exact", "token_f1", "embedding"]
Level = Literal["L1", "L2", "L3", "L4"]


class Judges(params.Section):
    alignments: params.GivenPath
    tables_made: params.Size
    kinds: params.Distinct[Kind]
    folds: params.Folds
    scoring_judge: Literal["best"] | Kind | Level
    llm_levels: list[Level]
    llm_tables: params.Count
    llm_tokens: params.Tokens
    llm_tokens_of: dict[params.ModelName, params.Tokens]
    groups_to_label: params.Size

    @model_validator(mode="after")
    def _scoring_judge_is_calibrated(self) -> Self:
        if self.scoring_judge == "best" or self.scoring_judge in self.kinds:
            return self
        expected = ""
        if self.scoring_judge not in self.llm_levels:
            expected = f"best or one that is tried here: {[*self.kinds, *self.llm_levels]}"
        elif self.llm_tables == 0:
            expected = "llm_tables above 0, so that its agreement is known"
        if expected:
            raise ValueError(f"scoring_judge: found {self.scoring_judge!r}, expected {expected}")
        return self


class Settings(params.Section):
    generation: Generation
    filtering: Filtering
    evaluation: params.Evaluation
    judges: Judges

    @model_validator(mode="after")
    def _linked_has_questions(self) -> Self:
        if "linked" in self.evaluation.methods and not self.filtering.tombench:
            raise ValueError(
                "evaluation.methods has `linked`, expected filtering.tombench to name a folder of "
                "questions"
            )
        return self
