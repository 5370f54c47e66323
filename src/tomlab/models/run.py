"""The state of one call of `ask`: what is asked, what came back, what it cost, why it stopped."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tqdm import tqdm

from tomlab.errors import InputError
from tomlab.models import server_errors
from tomlab.models.remote import SHORTEST_KEY
from tomlab.models.replies import FilteredError
from tomlab.models.specs import Limits, ModelSpec, Reply, Request, Response
from tomlab.models.store import Store, row


@dataclass
class Run:
    """The state of one call of `ask`."""

    model: ModelSpec
    limits: Limits
    adapter: Any
    store: Store
    requests: Mapping[str, Request]  # by key
    responses: dict[str, Response] = field(default_factory=dict)  # by key, so far
    spent: float = 0.0
    tokens: int = 0
    failed: int = 0
    failures_in_a_row: int = 0
    under_way: int = 0
    stopped: str = ""  # why the run sends no more requests; "" while it does
    at_vendor: str = ""  # batches that continue at the vendor after the run, in words
    bar: tqdm = field(default_factory=lambda: tqdm(disable=True))

    @property
    def missing(self) -> dict[str, Request]:
        """The requests that have neither an answer nor an error yet, by key."""
        return {key: request for key, request in self.requests.items() if key not in self.responses}

    def take(self, replies: Mapping[str, Reply]) -> None:
        """Record replies from the store or from kept answers, which cost nothing now."""
        for key, reply in replies.items():
            self.finish(Response(key, reply, cached=True))

    def finish(self, response: Response) -> None:
        """Record the answer or the error of a request."""
        self.responses[response.request_key] = response
        self.bar.update()

    def end_error(self) -> InputError:
        """The error to raise when the run stops: why it stopped, and how many answers are kept."""
        answers = [response for response in self.responses.values() if response.reply is not None]
        return InputError(
            f"models.{self.model.name}: {self.stopped}{self.at_vendor}. {len(answers)} of "
            f"{len(self.requests)} answers are kept ({self.spent_so_far()}); "
            "running again asks only for the rest"
        )

    def no_room(self, cost: float) -> str:
        """A clause that says why the cost limit does not admit a request of this cost."""
        spending = self.store.spending()
        of_killed_runs = ""
        if spending.lost:
            of_killed_runs = f" (${spending.lost:.4f} of it under way when a run was killed)"
        return (
            f"the next request may cost ${cost:.4f}, and ${sum(spending):.4f}"
            f"{of_killed_runs} of limits.max_cost_usd = {self.limits.max_cost_usd} "
            f"are spent or under way at {self.store.path}"
        )

    def keep(self, key: str, reply: Reply, seconds: float) -> None:
        """Store one answer and book its cost. seconds: how long it took. Errors: `StoreError`."""
        reply = replace(reply, text=self._without_key(reply.text))
        cost = self._count(key, reply)
        self.failures_in_a_row = 0
        sent = self.adapter.payload(self.requests[key])
        answer = row(key, self.model.name, sent, reply, cost, seconds)
        self.finish(Response(key, self.store.put(answer)))

    def fail(self, key: str, error: Exception) -> None:
        """Record that a request brought no answer; too many failures in a row stop the run."""
        self.end(key, error)
        self.failed += 1
        message = self.describe(error)
        is_filtered = isinstance(error, FilteredError)  # not a fault of the server
        self.failures_in_a_row = 0 if is_filtered else self.failures_in_a_row + 1
        if self.failures_in_a_row >= self.limits.give_up_after:
            failures = f"{self.failures_in_a_row} requests failed in a row"
            self.stopped = f"{failures}, the last with {message}"
        self.finish(Response(key, None, message, filtered=is_filtered))

    def end(self, key: str, error: Exception) -> None:
        """Book what a request without an answer cost. It is charged only if the vendor filtered it,
        or if its reply has a text or a count of tokens.
        """
        paid = 0.0
        reply = getattr(error, "reply", None)
        if reply is not None:
            is_written = reply.text or reply.prompt_tokens or reply.completion_tokens
            if is_written or isinstance(error, FilteredError):
                paid = self._count(key, reply) or 0.0
        self.store.end(key, self.model.name, paid)

    def _count(self, key: str, reply: Reply) -> float | None:
        """Add an answer to the run's totals; what it cost in US dollars, None without a price."""
        cost = self.model.cost_of(reply, self.model.worst_case(self.requests[key]))
        self.spent += cost or 0.0
        self.tokens += reply.prompt_tokens + reply.completion_tokens
        return cost

    def describe(self, error: Exception) -> str:
        """An error in one line of at most 300 characters, without the key, which servers repeat."""
        text = self._without_key(f"{type(error).__name__}: {server_errors.described(error)}")
        # Characters that UTF-8 can't encode would break the writing of the table of responses.
        text = text.encode(errors="replace").decode()
        return " ".join(text.split())[:300]

    def _without_key(self, text: str) -> str:
        key = self.adapter.secret or ""
        return text.replace(key, "…") if len(key) >= SHORTEST_KEY else text

    def spent_so_far(self) -> str:
        cost = "no price declared" if self.model.price is None else f"${self.spent:.4f}"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.tokens:,} tokens, {cost}{failed}"
