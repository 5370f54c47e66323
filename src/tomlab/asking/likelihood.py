"""Asks by likelihood: weighs each option as a continuation of a prompt that shows no options.

So the position of an option cannot matter. Methods whose names end with `likelihood` ask this way,
and only models whose entry allows it (`ask_by`). Their results are kept apart from generated ones.
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
    """The rows of scores, responses or metrics whose method does not ask for likelihoods."""
    return table[~table["method"].map(is_weighed).astype(bool)].reset_index(drop=True)


def is_asked_so(model: ModelSpec, method: str) -> bool:
    """Whether the model's `ask_by` includes the method's way: likelihood or generation."""
    way = LIKELIHOOD if is_weighed(method) else GENERATION
    return way in getattr(model, "ask_by", (GENERATION,))


Weighed = tuple[tuple[str, tuple[str, ...]], ...]  # prompts with their continuations


def weighed(benchmark: Any, item: Mapping, replaced: Mapping[str, str] | None) -> Weighed:
    """Pairs of a prompt and its continuations for one item, from the benchmark's own `weighed`.

    Without one: a single prompt, continued by the item's options or by "yes" and "no".
    """
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
    """The option of each prompt with the highest log-likelihood per character.

    As in `acc_norm` of the LM Evaluation Harness, the space before an option counts for its
    log-likelihood and not for its length. reply: the JSON text of the reply to a request.
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
    """The likeliest options in the words in which a model would answer, so that scorers read it."""
    picks = likeliest(weighed, reply)
    answer = benchmark.labelled(item, picks) if hasattr(benchmark, "labelled") else picks[0]
    return in_words_of_a_model(benchmark, item, answer, method)
