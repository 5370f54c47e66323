"""Measure how likely a model finds each continuation of a prompt (`ask_by: likelihood`).

A server that repeats prompts with their log-probabilities, such as vLLM's, is asked once a prompt.
The server of llama.cpp, and so the embedded engine, can't do this. There, a grammar forces the
server to write each continuation, and it reports the probability of each token without the grammar.
"""

import json
import math
import re
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import openai

from tomlab.errors import InputError
from tomlab.models.replies import JsonObject, NoAnswerError, form_of, from_json, refuse_error
from tomlab.models.specs import LIKELIHOOD, Reply, Request
from tomlab.models.usage import usage_of

Weight = tuple[float, int]  # the log-likelihood of a continuation (nats), and its tokens


async def by_grammar(client: openai.AsyncOpenAI, model: str, request: Request) -> Reply:
    """Get the likelihoods from a server of llama.cpp: a grammar lets it write only the tokens of a
    continuation, and it reports the log-probability of each. Errors: `NoAnswerError` if the server
    wrote other tokens.
    """
    root = str(client.base_url).removesuffix("/").removesuffix("/v1")
    weights: list[list[Weight]] = []
    prompt_tokens = []
    for prompt, options in request.weighed:
        body = {"model": model, "prompt": prompt, "temperature": 0}
        # The server first reads the prompt alone, so that every continuation starts from the same
        # state; remains of an earlier request would change the last digits.
        reading = {**body, "max_tokens": 1, "cache_prompt": bool(weights)}
        first = await _post(client, "/completions", reading)
        prompt_tokens.append(usage_of(first.usage).prompt)
        row = []
        for option in options:
            tokens = (await _post(client, f"{root}/tokenize", {"content": option})).tokens
            only_these = " ".join(f"<[{token}]>" for token in tokens)
            weighing = {
                **body,
                "grammar": f"root ::= {only_these}",
                "max_tokens": len(tokens),
                "logprobs": 1,
                "cache_prompt": True,
            }
            row.append(_of_tokens(await _post(client, "/completions", weighing), tokens, option))
        weights.append(row)
    return _reply(weights, prompt_tokens)


def _of_tokens(answer: Any, tokens: list[int], option: str) -> Weight:
    """The weight of `option` in an answer that must consist of exactly these tokens."""
    with form_of(answer):
        choice = answer.choices[0]
        written = choice.logprobs.content
        if [token.id for token in written] != tokens:
            raise NoAnswerError(f"expected {option!r}, found {choice.text!r}")
        return sum(token.logprob for token in written), len(written)


async def by_echo(
    client: openai.AsyncOpenAI, model: str, request: Request, extra: Mapping[str, Any]
) -> Reply:
    """Get the likelihoods from a server that repeats prompts. extra: more fields of the request.
    Errors: `InputError` if the server gives no log-probabilities of prompts; `NoAnswerError` if the
    tokens of a continuation can't be found among those that it repeats.
    """
    weights = []
    prompt_tokens = []
    for prompt, options in request.weighed:
        body = {"model": model, "prompt": [prompt + option for option in options], "echo": True}
        # The server must generate at least one token, which is thrown away.
        body |= {"logprobs": 1, "max_tokens": 1, "temperature": 0, **extra}
        answer = await _post(client, "/completions", body)
        with form_of(answer):
            choices = sorted(answer.choices, key=lambda choice: choice.index)
            refuse_error(*choices)
            logprobs = [choice.logprobs or JsonObject() for choice in choices]
            is_repeated = any(logs.tokens for logs in logprobs)
        if not is_repeated:
            raise InputError(
                "the server gave no log-probabilities of the prompt, expected them with `echo`; a "
                "server that does not repeat prompts may take `likelihood: grammar`"
            )
        with form_of(answer):
            pairs = zip(logprobs, options, strict=True)
            weights.append([_behind(logs, prompt, option) for logs, option in pairs])
        prompt_tokens.append(usage_of(answer.usage).prompt)
    return _reply(weights, prompt_tokens)


def _behind(logprobs: Any, prompt: str, option: str) -> Weight:
    """The weight of `option`, from the log-probabilities of all tokens of prompt and option.
    Errors: `NoAnswerError` if it is not clear at which token the option begins.
    """
    tokens = logprobs.tokens
    # A character that spans several tokens comes back as unreadable pieces, so the prompt is not
    # found as a whole. Then its part after the last non-ASCII character shows where it ends, if
    # that part fits in one place only.
    tail = re.split(r"[^\x00-\x7f]", prompt)[-1]
    is_whole = prompt in "".join(tokens)
    end = prompt if is_whole else tail
    begins = []
    for begin in range(1, len(tokens)):
        is_behind = end and "".join(tokens[:begin]).endswith(end)
        if is_behind and option in accumulate(tokens[begin:]):
            begins.append(begin)
    if not begins or (len(begins) > 1 and not is_whole):
        message = f"the tokens that came back do not show where {option[:40]!r} begins"
        raise NoAnswerError(f"{message}: perhaps a character came in pieces")
    begin = begins[0]
    n = [*accumulate(tokens[begin:])].index(option) + 1
    return sum(logprobs.token_logprobs[begin : begin + n]), n


async def _post(client: openai.AsyncOpenAI, path: str, body: Mapping[str, Any]) -> Any:
    answer = from_json(await client.post(path, body=body, cast_to=str))
    refuse_error(answer)
    return answer


def _reply(weights: list[list[Weight]], prompt_tokens: list[int]) -> Reply:
    """A reply whose text is the weights as JSON: a list for each prompt, with a pair
    (log-likelihood, tokens) for each continuation. prompt_tokens: of each prompt, 0 where the
    server did not count. Errors: `NoAnswerError` for a log-likelihood that is not finite.
    """
    tokens = 0
    for row in weights:
        for likelihood, n in row:
            if not math.isfinite(likelihood):
                raise NoAnswerError(f"found {likelihood} as the logarithm of a likelihood")
            tokens += n
    is_counted = all(prompt_tokens)
    text = json.dumps(weights)
    return Reply(text, LIKELIHOOD, sum(prompt_tokens), tokens, is_counted=is_counted)
