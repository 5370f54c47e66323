"""Asking models: one entry, `ask`, that answers from the response store and asks for the rest.

Whatever kills a run, every answer that arrived is in the store; running again asks only for what
is missing.
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from aiolimiter import AsyncLimiter
from tqdm import tqdm

from tomlab.errors import InputError
from tomlab.models import answers, batch_files, batches
from tomlab.models.costs import cost_of, tokens_a_minute, worst_case
from tomlab.models.ledger import Spending
from tomlab.models.providers import Provider, by_prefix, provider, whole
from tomlab.models.replies import FilteredError, redacted, without_key
from tomlab.models.specs import Batch, Limits, ModelSpec, Reply, Request, Response, is_paid
from tomlab.models.store import Store, StoreError, request_key, row
from tomlab.paths import RESPONSE_STORE, stage

# Seconds for which a request is ours alone unless we prolong it, how often we do, and how often we
# look for the answers to requests that another process has claimed.
CLAIM, HOLD, LOOK = 30.0, 10.0, 0.5


async def ask(
    requests: Sequence[Request],
    model: ModelSpec,
    *,
    store: Path | str = RESPONSE_STORE,
    limits: Limits | None = None,
    progress: bool = True,
) -> list[Response]:
    """Answer `requests` by `model`, in their order.

    Answers come from the store where the very same request was answered before, then from the kept
    ones in `limits.answers`; identical requests within one call are asked once. The others are
    asked with the concurrency and rates that the model declares and stored one by one. A request
    that fails after the client's retries, or whose answer the vendor filters, becomes a `Response`
    with an `error`, which is not stored, so that it is asked again next time.

    Errors: `InputError` before anything is spent where `limits.ask` is never and an answer is
    missing, for a missing key, an unknown model or a server out of reach; and in mid-run
    when the cost limit is reached, the server turns us away for good, or `limits.give_up_after`
    requests fail in a row. What was answered until then is kept, and what is under way then is
    waited for: it is paid. `StoreError` where the store can't be written:
    before anything is spent, or, where that begins in mid-run, after what came back was written
    beside it (see `Store.rescue`). What another process asks at the same store is waited for.
    """
    limits, adapter = limits or Limits(), provider(model)
    keys = [request_key(whole(adapter, model, request)) for request in requests]
    if model.provider == "baseline":  # it says what it was given: nothing to look up or to limit
        replies = [await adapter.send(request) for request in requests]
        return [Response(*said) for said in zip(keys, replies, strict=True)]
    with Store(store) as kept:
        replies = kept.replies(keys)
        replies |= answers.look_up(limits.answers, set(keys) - set(replies))
        missing = {
            key: request for key, request in zip(keys, requests, strict=True) if key not in replies
        }
        run = _Run(model, limits, adapter, kept, total=len(set(keys)), done=len(replies))
        if missing and limits.ask == "never":
            raise _not_kept(model, requests, [key in missing for key in keys])
        if missing:
            _check_price(model, limits)
            kept.check_writable()
            if run.batch and run.batch.to == "files":
                batch_files.ask(run, missing)
            else:
                try:
                    await adapter.check()
                    await run.all(missing, progress)
                finally:
                    await adapter.close()
        purposes = zip(keys, (request.purpose for request in requests), strict=True)
        kept.used(purposes, stage())
    replies |= run.others
    return [
        Response(key, replies[key], cached=True)
        if key in replies
        else Response(key, run.replies.get(key), run.errors.get(key), filtered=key in run.filtered)
        for key in keys
    ]


def _not_kept(model: ModelSpec, requests: Sequence[Request], lost: Sequence[bool]) -> InputError:
    """What `limits.ask: never` forbids to ask, counted by purpose."""
    purposes = Counter(request.purpose for request in requests)
    missing = Counter(each.purpose for each, gone in zip(requests, lost, strict=True) if gone)
    told = [f"{name} {missing[name]} of {of}" for name, of in purposes.items() if name]
    by = f" ({', '.join(told)})" if told else ""
    where = f"{stage()}, models.{model.name}" if stage() else f"models.{model.name}"
    count = f"{sum(lost)} of {len(lost)} answers are not kept"
    return InputError(f"{where}: {count}{by}, and limits.ask is never; `missing` asks for them")


@dataclass
class _Run:
    """The state of one call of `ask`: what came back, what failed, what it cost."""

    model: ModelSpec
    limits: Limits
    adapter: Provider
    store: Store
    total: int
    done: int
    replies: dict[str, Reply] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    filtered: set[str] = field(default_factory=set)
    spent: float = 0.0
    admission: asyncio.Lock = field(default_factory=asyncio.Lock)
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    tokens: int = 0
    failures_in_a_row: int = 0
    stopped: str = ""
    # By key: what another process has claimed, what it answered; and answers the store refused.
    claimed: dict[str, Request] = field(default_factory=dict)
    others: dict[str, Reply] = field(default_factory=dict)
    unsaved: list[dict] = field(default_factory=list)

    @property
    def batch(self) -> Batch | None:
        return getattr(self.model, "batch", None)

    async def all(self, missing: Mapping[str, Request], progress: bool) -> None:
        """Ask for everything that is missing, with as many workers as the model allows."""
        limiters = self._limiters(missing.values())
        # The original stream: notebooks' outputs stay free of bars, terminals show them.
        stream = sys.__stderr__ or sys.stderr
        with tqdm(
            total=self.total,
            initial=self.done,
            desc=self.model.name,
            unit="answer",
            file=stream,
            disable=not progress,
            mininterval=0.5 if stream.isatty() else 15,
            dynamic_ncols=True,
        ) as bar:
            holding = asyncio.create_task(self._hold())
            try:
                while missing and not self.stopped:
                    await self._once(missing, bar, limiters)
                    missing, self.claimed = self.claimed, {}
                    await asyncio.sleep(LOOK if missing else 0)
            except asyncio.CancelledError:  # by Ctrl-C, or by whoever asked
                self.stopped = self.stopped or f"stopped; answers go to {self.store.path}"
                print(f"\n{self._end()}", file=stream, flush=True)
                raise
            finally:
                holding.cancel()
        if self.stopped:
            raise self._end()

    async def _once(self, missing: Mapping[str, Request], bar: tqdm, limiters: list) -> None:
        """Ask for all that no other process has claimed."""
        if self.batch:
            await batches.ask(self, missing, bar)
            return
        queue = iter(_handed_out(missing, self.model))
        async with asyncio.TaskGroup() as group:
            for _ in range(min(getattr(self.model, "max_concurrency", 1), len(missing))):
                group.create_task(self._work(queue, bar, limiters))

    async def _hold(self) -> None:
        """Keep our claims while their requests are under way, however long those take."""
        while True:
            await asyncio.sleep(HOLD)
            with suppress(StoreError):  # the next answer will tell
                self.store.hold(CLAIM)

    def _end(self) -> InputError:
        """Why the run stopped, and what became of the answers."""
        where, of_all = f"models.{self.model.name}", f"of {self.total} answers are kept"
        kept = self.done + len(self.replies) + len(self.others) - len(self.unsaved)
        told = f"{where}: {self.stopped}. {kept} {of_all} ({self._spent_so_far()})"
        again = "running again asks only for the rest"
        if not self.unsaved:
            return InputError(f"{told}; {again}")
        count = f"{len(self.unsaved)} more that came back could not be stored"
        try:
            rescued = self.store.rescue(self.unsaved)
        except StoreError as error:
            return StoreError(f"{told}; {count} and are lost: {error}")
        return StoreError(
            f"{told}; {count} and are in {rescued}: the next run takes them in; {again}"
        )

    def _limiters(self, requests: Collection[Request]) -> list[tuple[AsyncLimiter, Callable]]:
        """The model's rate limits, each with what a request counts for."""
        limiters = []
        weights = {"requests_per_minute": lambda _: 1, "tokens_per_minute": tokens_a_minute}
        for option, weigh in weights.items():
            if rate := getattr(self.model, option, None):
                # Room for the largest request, not for a minute's worth, which would go out at once
                # and the next one's within the same minute.
                room = max(map(weigh, requests))
                limiters.append((AsyncLimiter(room, 60 * room / rate), weigh))
        return limiters

    async def _work(self, queue: Iterator, bar: tqdm, limiters: list) -> None:
        for key, request in chain.from_iterable(queue):
            if self._ours(key, request):
                for limiter, weigh in limiters:
                    await limiter.acquire(weigh(request))
                cost = worst_case(self.model, request)
                if self.stopped or not await self._affords(cost):
                    return
                await self._one(key, request, cost)
                self.finished.set()
            if self.stopped:
                return
            if key not in self.claimed:
                bar.set_postfix_str(self._spent_so_far(), refresh=False)
                bar.update()

    def _ours(self, key: str, request: Request) -> bool:
        """Whether to ask; not what another process asks or has asked since we looked."""
        try:
            claimed = self.store.claim(key, CLAIM)
        except StoreError as error:
            self.stopped = str(error)
            return False
        if isinstance(claimed, Reply):
            self.others[key] = claimed
        elif not claimed:
            self.claimed[key] = request
        return claimed is True

    async def _affords(self, cost: float) -> bool:
        """Whether the cost limit admits one more request, which is reserved then. What is under
        way, here and in other processes, is reckoned at its worst, so near the limit this waits for
        it to come in cheaper.
        """
        limit = self.limits.max_cost_usd
        if not cost:
            return not self.stopped
        async with self.admission:
            while not self.stopped:
                self.finished.clear()
                try:
                    if self.store.reserve(cost, limit):
                        return True
                    found = self.store.spending()
                except StoreError as error:
                    self.stopped = str(error)
                    return False
                if not found.under_way:
                    self.stopped = self._no_more(cost, found)
                    return False
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.finished.wait(), LOOK)
        return False

    def _no_more(self, cost: float, found: Spending) -> str:
        """Why the cost limit admits no other request."""
        lost = f" (${found.lost:.4f} of it under way when a run was killed)" if found.lost else ""
        return (
            f"the next request may cost ${cost:.4f}, and of limits.max_cost_usd = "
            f"{self.limits.max_cost_usd} ${sum(found):.4f}{lost} are spent at {self.store.path}: a "
            "larger limit goes on"
        )

    async def _one(self, key: str, request: Request, reserved: float) -> None:
        start, paid = time.monotonic(), 0.0
        try:
            reply = without_key(await self.adapter.send(request), self.adapter.secret)
        except self.adapter.fatal as error:
            said = self._describe(error)
            self.stopped = f"turned away with {said}; check its base_url, model and key"
        except FilteredError as error:  # no fault of the server's
            paid = self._fail(key, request, error)
        except Exception as error:  # noqa: BLE001 - one request's fault must not lose the others
            self._fail(key, request, error)
            self.failures_in_a_row += 1
            if self.failures_in_a_row >= self.limits.give_up_after:
                in_a_row = f"{self.failures_in_a_row} requests failed in a row"
                self.stopped = f"{in_a_row}, the last with {self.errors[key]}"
        else:
            self._keep(key, request, reply, time.monotonic() - start, reserved)
            return
        with suppress(StoreError):  # both end by themselves
            self.store.let_go(key)
            if reserved:
                self.store.settle(reserved, paid=paid)

    def _keep(
        self,
        key: str,
        request: Request,
        reply: Reply,
        seconds: float,
        reserved: float = 0.0,
        by: str = "",
    ) -> None:
        """Store and book one answer; one that the store does not take ends the asking."""
        cost = self._book(request, reply)
        self.replies[key] = reply
        sent = whole(self.adapter, self.model, request)
        answer = row(key, self.model.name, sent, reply, cost, seconds)
        try:
            self.replies[key] = self.store.put(answer, reserved, by)
        except StoreError as error:
            self.unsaved.append(answer | self.store.owed(reserved, by))
            self.stopped = str(error)

    def _book(self, request: Request, reply: Reply) -> float | None:
        """What one answer cost, which counts as spent; None without a price."""
        cost = cost_of(self.model, reply, worst_case(self.model, request))
        self.failures_in_a_row = 0
        self.spent += cost or 0.0
        self.tokens += reply.prompt_tokens + reply.completion_tokens
        return cost

    def _fail(self, key: str, request: Request, error: Exception) -> float:
        """Note that one request brought no answer; US dollars that it cost all the same."""
        self.errors[key] = self._describe(error)
        if not isinstance(error, FilteredError):
            return 0.0
        self.filtered.add(key)
        return self._book(request, error.reply) or 0.0

    def _describe(self, error: Exception) -> str:
        """An error in one line of at most 300 characters, without the key, which servers repeat."""
        text, key = f"{type(error).__name__}: {error}", self.adapter.secret
        text = text.replace(key, "…") if key else text
        # What can't be written as UTF-8 would fail whoever writes the table of responses.
        line = " ".join(text.encode(errors="replace").decode().split())[:300]
        return redacted(line, key)  # parts of a key are looked for in what is shown alone

    def _spent_so_far(self) -> str:
        cost = "no price declared" if self.model.price is None else f"${self.spent:.4f}"
        failed = f", {len(self.errors)} failed" if self.errors else ""
        return f"{self.tokens:,} tokens, {cost}{failed}"


def _handed_out(
    missing: Mapping[str, Request], model: ModelSpec
) -> list[list[tuple[str, Request]]]:
    """The requests as workers take them: what shares a prefix goes to one worker if the prefix is
    then worked out once, by one engine or before the vendor's cache is asked for it.
    """
    together = model.provider == "embedded" or getattr(model, "prompt_caching", False)
    groups = by_prefix(missing)
    return groups if together else [[entry] for group in groups for entry in group]


def _check_price(model: ModelSpec, limits: Limits) -> None:
    if limits.max_cost_usd is not None and is_paid(model) and model.price is None:
        raise InputError(
            f"models.{model.name}: limits.max_cost_usd is set, but the model declares no price; "
            "add `price: {input: …, output: …}` in US dollars for a million tokens"
        )
