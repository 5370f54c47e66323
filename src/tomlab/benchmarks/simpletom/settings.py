"""SimpleToM's sections of `params.yaml`."""

from typing import Literal

from tomlab import params


class Generation(params.Section):
    writers: params.Distinct[Literal["authored", "llm"]]
    scenarios: params.GivenPath
    more_writers: list[params.ModelName]
    llm_scenarios: params.Count
    llm_sets: params.Count
    entity_tokens: params.Tokens
    rounds: params.Repeats


class Filtering(params.Section):
    duplicate_cosine: params.Share
    llm_annotated: params.Count
    llm_rated: params.Count
    more_writers: list[params.ModelName]


class Settings(params.Section):
    generation: Generation
    filtering: Filtering
    evaluation: params.Evaluation
    judges: params.GradedAnswers
