"""FANToM's sections of `params.yaml`."""

from typing import Literal

from tomlab import params


class Generation(params.Section):
    writers: params.Distinct[Literal["authored", "llm"]]
    llm_conversations: params.Count
    llm_tokens: params.Tokens


class Evaluation(params.Evaluation):
    # Which rule reads answers as yes or no: the released code's, or App. A.4 of the paper.
    yes_no_as: Literal["release", "paper"]
    # The encoder that decides BeliefQ [Dist.]; None means the encoder of `run.embedder`.
    embedder: params.ModelName | None


class Judges(params.LabelledAnswers):
    embedders: params.Distinct[params.ModelName]
    answers_made: params.Size
    folds: params.Folds


class Settings(params.Section):
    generation: Generation
    filtering: params.Section
    evaluation: Evaluation
    judges: Judges
    people: params.AnswersByPeople
