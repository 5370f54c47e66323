"""How many tokens a reply cost, wherever its vendor says so."""

from collections.abc import Mapping
from typing import Any, NamedTuple

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


class Usage(NamedTuple):
    """Tokens of one reply; None where the server gives no count. cached, written: of the prompt's,
    read from the vendor's cache and written there.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int = 0
    written: int = 0


def usage_of(counts: Any, *, cache_beside: bool = False) -> Usage:
    """The tokens in what a server calls `usage`. cache_beside: whether the protocol counts what its
    cache holds beside the prompt's other tokens (Anthropic's), not among them.
    """
    tokens = {name: _largest(counts, fields) for name, fields in FIELDS.items()}
    prompt = tokens["prompt"]
    completion = tokens["completion"]
    total = tokens["total"] or 0
    thought = tokens["thought"] or 0
    cached = tokens["cached"] or 0
    written = tokens["written"] or 0
    if prompt is None and completion and total > completion:
        prompt = total - completion
    if not prompt:
        cached = written = 0
    elif cache_beside or cached + written > prompt:
        prompt += cached + written
    if thought > (completion or 0):  # it stands beside the answer and is no part of it
        completion = (completion or 0) + thought
    if prompt is not None and total - prompt > (completion or 0):
        completion = total - prompt
    return Usage(prompt or None, completion, cached, written)


def _largest(counts: Any, fields: tuple[str, ...]) -> int | None:
    """The largest of the counts that stand in some fields."""
    numbers = [_count(_value(counts, field)) for field in fields]
    return max((number for number in numbers if number is not None), default=None)


def _value(counts: Any, field: str) -> Any:
    """What stands in a field, perhaps one of a field."""
    for name in field.split("."):
        counts = counts.get(name) if isinstance(counts, Mapping) else getattr(counts, name, None)
    return counts


def _count(value: Any) -> int | None:
    """A number of tokens; None for what is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < 2**31 else None
