"""How many tokens a reply cost, wherever its vendor says so, and which counts can't be true."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tomlab.models.specs import UNLIMITED, Reply

# Tokens of thinking that are believed where they stand beside the answer's: the longest output that
# vendors sell. The limit of an answer does not bind them.
MOST_THOUGHT = 131_072
HIDDEN_PROMPT = 4096  # tokens that a server may put around a prompt: its template, tools and rules
# Where vendors put a count; a dot is a field of a field. Of several that are there the largest is
# taken.
FIELDS = {
    "prompt": ("prompt_tokens", "input_tokens"),
    "completion": ("completion_tokens", "output_tokens"),
    "total": ("total_tokens",),
    "thought": (
        "completion_tokens_details.reasoning_tokens",  # OpenAI, xAI, DeepSeek, OpenRouter
        "output_tokens_details.reasoning_tokens",  # OpenAI's responses
        "output_tokens_details.thinking_tokens",
        "reasoning_tokens",  # Perplexity, SGLang
        "thoughts_token_count",  # Gemini through proxies
    ),
    "cached": (
        "prompt_tokens_details.cached_tokens",  # OpenAI, Gemini, xAI, Azure, DashScope
        "input_tokens_details.cached_tokens",  # OpenAI's responses
        "prompt_cache_hit_tokens",  # DeepSeek
        "cache_read_input_tokens",  # Anthropic, and proxies to it
        "cached_tokens",  # Moonshot, Together
        "num_cached_tokens",  # Mistral
    ),
    "written": (
        "cache_creation_input_tokens",  # Anthropic, and proxies to it
        "prompt_tokens_details.cache_write_tokens",  # OpenRouter
        "input_tokens_details.cache_write_tokens",
        "prompt_tokens_details.cache_creation_input_tokens",  # DashScope
        "prompt_tokens_details.cache_creation_tokens",  # LiteLLM
    ),
}
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class Usage(NamedTuple):
    """Tokens of one reply; None where the server gives no count that can be.

    cached, written: of the prompt's, read from the vendor's cache and written there; thought: of
    the completion's, those that no limit of an answer binds.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int = 0
    written: int = 0
    thought: int = 0


def usage_of(counts: Any, *, cache_beside: bool = False) -> Usage:
    """The tokens in what a server calls `usage`. cache_beside: whether the protocol counts what its
    cache holds beside the prompt's other tokens (Anthropic's), not among them.
    """
    found = {name: _largest(counts, fields) for name, fields in FIELDS.items()}
    prompt, completion, total = found["prompt"], found["completion"], found["total"]
    cached = found["cached"] or 0
    written = found["written"] or 0
    thought = found["thought"] or 0
    if prompt is not None and (cache_beside or cached + written > prompt):
        prompt += cached + written
    if prompt is None and total is not None and completion and total > completion:
        prompt = total - completion
    answer = completion or 0
    if thought > answer:  # it can't be a part of it
        completion = answer + thought
    if prompt is not None and total is not None and total - prompt > (completion or 0):
        completion = total - prompt
    if completion is not None:
        thought = max(thought, completion - answer)
    if thought > MOST_THOUGHT:
        completion = None
        thought = 0
    return Usage(prompt or None, completion, cached, written, thought)


def believed(reply: Reply, sent: Mapping[str, Any]) -> Reply:
    """A reply without counts that can't be. sent: the request as its key has it.

    No prompt has more tokens than bytes, and no answer more than its limit or its text allows.
    """
    most_prompt = _bytes_of(sent) + HIDDEN_PROMPT
    most_answer = max(_limit_of(sent), len(reply.text.encode())) + reply.thought_tokens
    prompt = reply.prompt_tokens
    completion = reply.completion_tokens
    if prompt > most_prompt:
        prompt = 0
    if completion > most_answer:
        completion = 0
    if (prompt, completion) == (reply.prompt_tokens, reply.completion_tokens):
        return reply
    cached = min(reply.cached_tokens, prompt)
    written = min(reply.written_tokens, prompt - cached)
    return replace(
        reply,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        written_tokens=written,
        is_counted=False,
    )


def _largest(counts: Any, fields: tuple[str, ...]) -> int | None:
    """The largest of the counts that stand in some fields."""
    numbers = [_count(_at(counts, field)) for field in fields]
    return max((number for number in numbers if number is not None), default=None)


def _at(counts: Any, field: str) -> Any:
    value = counts
    for name in field.split("."):
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value


def _count(value: Any) -> int | None:
    """A number of tokens; None for what is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < 2**31 else None


def _bytes_of(sent: Mapping[str, Any]) -> int:
    """How long all texts are that were sent; each continuation is sent behind its prompt."""
    if weighed := sent.get("weighed"):
        texts = [prompt + option for prompt, options in weighed for option in options]
    else:
        texts = [str(value) for value in sent.values()]
    return sum(len(text.encode(errors="replace")) for text in texts)


def _limit_of(sent: Mapping[str, Any]) -> int:
    """The most tokens that were asked for."""
    options = {**sent, **(sent.get("extra_body") or {})}
    limits = [options[name] for name in _LIMITS if isinstance(options.get(name), int)]
    return max(limits, default=UNLIMITED)
