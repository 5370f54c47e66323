"""Asking by likelihood: each option as a continuation of a prompt that shows none of them.

So the place of an option can't matter. A method's name ends with `likelihood` if it asks so, of the
models whose entry says so (`ask_by`); its series is one of its own.
"""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from tomlab.asking import prompts
from tomlab.asking.protocol import in_words_of_a_model
from tomlab.models.specs import GENERATION, LIKELIHOOD, ModelSpec
from tomlab.records.asked import options_of


def is_weighed(method: str) -> bool:
    """Whether a method asks for likelihoods."""
    return method.endswith(LIKELIHOOD)


def generated(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of scores, responses or metrics whose answers were generated."""
    return table[~table["method"].map(is_weighed).astype(bool)].reset_index(drop=True)


def is_asked_so(model: ModelSpec, method: str) -> bool:
    """Whether a model is asked in the way of a method."""
    way = LIKELIHOOD if is_weighed(method) else GENERATION
    return way in getattr(model, "ask_by", (GENERATION,))


Weighed = tuple[tuple[str, tuple[str, ...]], ...]  # prompts with their continuations


def weighed(benchmark: Any, item: Mapping, replaced: Mapping[str, str] | None) -> Weighed:
    """An item's prompts with their continuations: options, "yes" and "no", or its benchmark's."""
    if hasattr(benchmark, "weighed"):
        parts = benchmark.weighed(item, replaced)
    else:
        words = dict(item)
        if hasattr(benchmark, "in_words"):
            words |= benchmark.in_words(item)
        prompt = prompts.filled("techniques/likelihood", replaced, **words)
        parts = [(prompt, options_of(item))]
    continued = []
    for prompt, options in parts:
        continuations = tuple(f" {option}" for option in options)
        continued.append((prompt, continuations))
    return tuple(continued)


def likeliest(weighed: Weighed, reply: str) -> list[str]:
    """The likeliest option of each prompt by its mean over characters, as `acc_norm` of the LM
    Evaluation Harness has it: the space before an option is weighed with it and is no part of its
    length. reply: the text of the reply to a request.
    """
    picks = []
    for (_, continuations), weights in zip(weighed, json.loads(reply), strict=True):
        means = {}
        for continuation, (log_likelihood, _) in zip(continuations, weights, strict=True):
            option = continuation.removeprefix(" ")
            means[option] = log_likelihood / len(option)
        picks.append(max(means, key=means.__getitem__))
    return picks


def said(benchmark: Any, item: Mapping, method: str, weighed: Weighed, reply: str) -> str:
    """An answer as a model would give it that chose what is likeliest, for the scorers."""
    picks = likeliest(weighed, reply)
    answer = benchmark.labelled(item, picks) if hasattr(benchmark, "labelled") else picks[0]
    return in_words_of_a_model(benchmark, item, answer, method)
