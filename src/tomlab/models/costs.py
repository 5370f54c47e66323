"""What a request may cost before it is asked, and what its answer did cost."""

from tomlab.models.specs import ModelSpec, Reply, Request

CHARS_PER_TOKEN = 3  # low on purpose: estimates of cost err on the dear side
# What an answer without a limit is reckoned at, in estimates of cost and of tokens a minute.
UNLIMITED = 4096


def worst_case(model: ModelSpec, request: Request) -> float:
    """At most so many US dollars may one request cost, if it has a limit; 0 without a price."""
    if model.price is None:
        return 0.0
    prompt, batched = prompt_tokens(request), bool(getattr(model, "batch", False))
    answer = (request.max_tokens or UNLIMITED) + getattr(model, "thinking_tokens", 0)
    # All of the prompt may be written to the vendor's cache.
    ways = (model.price.usd(prompt, answer, written=n, batched=batched) for n in (0, prompt))
    return max(ways)


def cost_of(model: ModelSpec, reply: Reply, worst: float) -> float | None:
    """What an answer cost in US dollars, None without a price. What a server does not count is
    reckoned at the worst case of its request.
    """
    if model.price is None:
        return None
    if not reply.prompt_tokens + reply.completion_tokens:
        return worst
    cache = {"cached": reply.cached_tokens, "written": reply.written_tokens}
    batched = bool(getattr(model, "batch", False))
    return model.price.usd(reply.prompt_tokens, reply.completion_tokens, **cache, batched=batched)


def prompt_tokens(request: Request) -> float:
    """An estimate by characters."""
    return sum(len(message["content"]) for message in request.messages) / CHARS_PER_TOKEN


def tokens_a_minute(request: Request) -> float:
    """What a request counts for in `tokens_per_minute`: its prompt, and its answer at its limit."""
    return prompt_tokens(request) + (request.max_tokens or UNLIMITED)
