"""Read how many tokens a reply cost, in whichever field its vendor reports them."""

from typing import Any, NamedTuple

# The fields in which vendors report each count; a dot separates nested fields. Where a reply has
# several of them, the largest number is taken.
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
    """Tokens of one reply; 0 where the server gives no count. cached and written are the prompt's
    tokens that were read from the vendor's cache and written to it; `prompt` includes them.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    written: int = 0


def usage_of(counts: Any, *, cache_beside: bool = False) -> Usage:
    """The token counts in the object that a server calls `usage`. cache_beside: whether the server
    counts cached tokens apart from the prompt's (as Anthropic does), so that they must be added.
    """
    tokens = {name: _largest(counts, fields) for name, fields in FIELDS.items()}
    cache = tokens["cached"] + tokens["written"]
    completion = tokens["completion"]
    prompt = tokens["prompt"]
    if not prompt and completion:
        prompt = max(0, tokens["total"] - completion)
    if prompt and (cache_beside or cache > prompt):
        prompt += cache
    if tokens["thought"] > completion:  # thought is reported apart from the answer
        completion += tokens["thought"]
    if not prompt:
        return Usage(0, completion)
    completion = max(completion, tokens["total"] - prompt)
    return Usage(prompt, completion, tokens["cached"], tokens["written"])


def _largest(counts: Any, fields: tuple[str, ...]) -> int:
    """The largest whole number found in these fields of `counts`; 0 if there is none."""
    numbers = [0]
    for field in fields:
        value = counts
        for name in field.split("."):
            value = getattr(value, name, None)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is int and value < 2**31:
            numbers.append(value)
    return max(numbers)
