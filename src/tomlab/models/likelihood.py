"""How likely a model finds each of some continuations of a prompt (`ask_by: likelihood`).

A server that repeats prompts with their log-probabilities, as vLLM's does, is asked once. That of
llama.cpp, and so the embedded engine, does not do it: a grammar holds it to the tokens of each
continuation, and it tells how likely the model alone finds each token.
"""

import json
from collections.abc import Mapping
from functools import partial
from itertools import accumulate
from typing import Any

import openai

from tomlab.errors import InputError
from tomlab.models.replies import MalformedReplyError, form_of, from_json
from tomlab.models.specs import LIKELIHOOD, Reply, Request

Weight = list[float | int]  # the log-likelihood of a continuation (nats), and its tokens


async def _post(client: openai.AsyncOpenAI, path: str, **body: Any) -> Any:
    return from_json(await client.post(path, body=body, cast_to=str))


def _reply(told: list[list[Weight]], read: int) -> Reply:
    """The log-likelihoods as JSON, by prompt and continuation."""
    return Reply(json.dumps(told), LIKELIHOOD, read, sum(n for row in told for _, n in row))


async def by_grammar(client: openai.AsyncOpenAI, model: str, request: Request) -> Reply:
    """Of a server of llama.cpp. Errors: `MalformedReplyError` for what the grammar forbids."""
    root = str(client.base_url).removesuffix("/").removesuffix("/v1")
    told, read = [], 0
    for prompt, options in request.weighed:
        own = {"model": model, "prompt": prompt, "temperature": 0}
        ask = partial(_post, client, "/completions", **own)
        # All continuations are weighed from one state, in which the prompt has just been read; what
        # an earlier request left there would change the last digits.
        first, row = await ask(max_tokens=1, cache_prompt=bool(told)), []
        for option in options:
            found = await _post(client, f"{root}/tokenize", content=option)
            held = {"grammar": f"root ::= {' '.join(f'<[{n}]>' for n in found.tokens)}"}
            held |= {"max_tokens": len(found.tokens), "logprobs": 1, "cache_prompt": True}
            answer = await ask(**held)
            with form_of(answer):
                said = answer.choices[0].logprobs.content
                if [token.id for token in said] != found.tokens:
                    raise MalformedReplyError(
                        f"expected {option!r}, found {answer.choices[0].text!r}"
                    )
                row.append([sum(token.logprob for token in said), len(said)])
        told.append(row)
        read += getattr(first.usage, "prompt_tokens", None) or 0
    return _reply(told, read)


async def by_echo(
    client: openai.AsyncOpenAI, model: str, request: Request, extra: Mapping[str, Any]
) -> Reply:
    """Of a server that repeats prompts. Errors: `InputError` for one that gives no likelihoods."""
    told, read = [], 0
    for prompt, options in request.weighed:
        body = {"model": model, "prompt": [prompt + option for option in options], "echo": True}
        # One token is the least that can be asked for; it is thrown away.
        body |= {"logprobs": 1, "max_tokens": 1, "temperature": 0, **extra}
        answer = await _post(client, "/completions", **body)
        with form_of(answer):
            choices = sorted(answer.choices, key=lambda choice: choice.index)
            pairs = zip(choices, options, strict=True)
            told.append([_behind(choice.logprobs, prompt, option) for choice, option in pairs])
            read += getattr(answer.usage, "prompt_tokens", None) or 0
    return _reply(told, read)


def _behind(given: Any, prompt: str, option: str) -> Weight:
    """The log-likelihood of a continuation in what a server gives of all tokens."""
    tokens = getattr(given, "tokens", None) or []
    for at in range(1, len(tokens)):
        ends = [*accumulate(tokens[at:])]
        if "".join(tokens[:at]).endswith(prompt) and option in ends:
            n = ends.index(option) + 1
            return [sum(given.token_logprobs[at : at + n]), n]
    lacks = f"found no log-probabilities of {option!r}, expected them with `echo`"
    raise InputError(f"{lacks}; `likelihood: grammar` is for servers of llama.cpp")
