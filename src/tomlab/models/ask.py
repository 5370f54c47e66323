"""`ask` answers from the response store and asks for the rest; each is stored as it arrives."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tomlab.errors import InputError
from tomlab.models import answers, batches, pace, server_errors, specs
from tomlab.models.providers import by_prefix, provider
from tomlab.models.replies import FilteredError, redacted
from tomlab.models.specs import UNLIMITED, Limits, ModelSpec, Reply, Request, Response
from tomlab.models.store import Store, StoreError, request_key, row
from tomlab.models.usage import believed
from tomlab.paths import RESPONSE_STORE, stage

LOOK = 0.5  # seconds between looks at what other requests under way have brought
QUIET = 5.0  # seconds without an answer after which a run says for whom it waits


async def ask(
    requests: Sequence[Request],
    model: ModelSpec,
    *,
    store: Path | str = RESPONSE_STORE,
    limits: Limits | None = None,
    progress: bool = True,
) -> list[Response]:
    """Answer `requests` by `model`, in their order.

    Answers come from the store, then from the kept ones in `limits.answers`; the others are asked
    once each and stored one by one. Processes that ask at one store share the model's concurrency
    and rates, and wait for what another of them asks. A request that fails, or whose answer the
    vendor filters, becomes a `Response` with an `error`, which is not stored.

    Errors: `InputError` before anything is spent where nothing may or can be asked; in mid-run at
    the cost limit or after `limits.give_up_after` failures in a row, once what is under way, and
    paid, has come in. `StoreError` from the store.
    """
    limits, adapter = limits or Limits(), provider(model)
    keys = [request_key(adapter.payload(request)) for request in requests]
    if model.provider == "baseline":  # it says what it was given: nothing to look up or to limit
        replies = [Reply(adapter.payload(request)["says"], "stop") for request in requests]
        return [Response(*said) for said in zip(keys, replies, strict=True)]
    asked = dict(zip(keys, requests, strict=True))
    with Store(store) as kept:
        found = kept.replies(keys)
        given = answers.look_up(limits.answers, asked.keys() - found.keys())
        found |= given
        done = {key: Response(key, reply, cached=True) for key, reply in found.items()}
        run = _Run(model, limits, adapter, kept, len(asked), done, given.keys())
        missing = {key: request for key, request in asked.items() if key not in done}
        if missing:
            _check(run, missing.values())
            if progress:
                tokens = sum(request.prompt_tokens for request in missing.values())
                usd = f"at most ${sum(map(model.worst_case, missing.values())):,.2f}"
                told = (
                    f"{stage()} {model.name}: {len(asked):,} requests, {len(done):,} kept; "
                    f"{len(missing):,} are asked now: about {tokens:,.0f} tokens of prompts; "
                )
                told = told.lstrip() + (usd if model.price else "no price declared")
                told += f"; {pace.announcement(kept, limits.answers, model, len(missing))}"
                print(told, file=sys.__stderr__ or sys.stderr)
        # Before anything is asked: what came before a run stopped was asked by this stage too.
        kept.used((key, stage(), r.purpose) for key, r in zip(keys, requests, strict=True))
        if missing:
            try:
                await run.ask(missing, progress)
            except BaseException as error:
                lost = run.rescue_lost(asked)
                if lost and isinstance(error, InputError):
                    cause = "" if kept.fault() else f"{error}. "
                    raise InputError(f"{cause}{lost}") from None
                if lost:
                    print(lost, file=sys.__stderr__ or sys.stderr)
                raise
            if lost := run.rescue_lost(asked):
                raise StoreError(lost)
    return [done[key] for key in keys]


def _check(run: "_Run", missing: Collection[Request]) -> None:
    """Errors: `InputError` where the limits forbid to ask for what is missing."""
    where, model = f"models.{run.model.name}", run.model
    if run.limits.ask == "never":
        purposes = Counter(request.purpose or "asked" for request in missing)
        told = ", ".join(f"{count} for {purpose}" for purpose, count in purposes.items())
        said = f"{len(missing)} of {run.total} answers are not kept ({told}), and limits.ask is"
        raise InputError(f"{stage()} {where}: {said} never; `missing` asks for them".lstrip())
    if lacks := specs.lacking_price(model, run.limits):
        raise InputError(f"{where}: {lacks}")


@dataclass
class _Run:
    """The state of one call of `ask`."""

    model: ModelSpec
    limits: Limits
    adapter: Any
    store: Store
    total: int
    done: dict[str, Response]  # by key, so far
    given: Collection[str] = ()  # keys that files of kept answers answer
    spent: float = 0.0
    tokens: int = 0
    failed: int = 0
    failures_in_a_row: int = 0
    stopped: str = ""
    workers: int = 0  # that ask one by one
    places: int = 0  # how many of them may have a request under way
    busy: int = 0  # how many have one
    bar: tqdm | None = None
    last_sign: float = field(default_factory=time.monotonic)  # of life
    queue: asyncio.Lock = field(default_factory=asyncio.Lock)  # for the next turn

    async def ask(self, missing: Mapping[str, Request], progress: bool) -> None:
        """Ask for everything that is missing, in the way that the model declares."""
        if (batch := getattr(self.model, "batch", None)) and batch.to == "files":
            batches.ask_by_files(self, missing)
            return
        # The original stream: notebooks' outputs stay free of bars, terminals show them.
        stream = sys.__stderr__ or sys.stderr
        try:
            await self.adapter.check()
            shown = {"file": stream, "disable": not progress, "desc": self.model.name}
            shown |= {"mininterval": 0.5 if stream.isatty() else 15}
            with tqdm(total=self.total, initial=len(self.done), **shown) as self.bar:
                await (batches.ask if batch else _one_by_one)(self, missing)
        except asyncio.CancelledError:  # by Ctrl-C, or by whoever asked
            self.stopped = self.stopped or f"stopped; answers go to {self.store.path}"
            print(f"\n{self._end()}", file=stream, flush=True)
            raise
        finally:
            await self.adapter.close()
        if self.stopped:
            raise self._end()

    def _end(self) -> InputError:
        """Why the run stopped, and what became of the answers."""
        kept = sum(response.reply is not None for response in self.done.values())
        told = f"models.{self.model.name}: {self.stopped}. {kept} of {self.total} answers are kept"
        return InputError(f"{told} ({self.spent_so_far()}); running again asks only for the rest")

    def rescue_lost(self, asked: Mapping[str, Request]) -> str:
        """Put the answers aside that the store has lost since this run began; a sentence on them,
        "" if there are none.
        """
        rows = self._lost(asked)
        if not rows:
            return ""
        cause = self.store.fault() or "somebody took answers out while a run asked"
        missing = f"{len(rows)} of {self.total} answers are not there any more"
        where_they_are = self.store.rescue(rows)
        what = f"models.{self.model.name}: {self.store.path}: {cause}; {missing}"
        return f"{what}; {where_they_are}; running again asks only for the rest"

    def _lost(self, asked: Mapping[str, Request]) -> list[dict]:
        """The answers that this run has and the store has not, as its rows."""
        answered = [key for key, response in self.done.items() if response.reply is not None]
        there = {}
        if not self.store.fault():
            with suppress(StoreError):
                there = self.store.replies(answered)
        rows = []
        for key in answered:
            if key in there or key in self.given:
                continue
            request = asked[key]
            reply = self.done[key].reply
            cost = None
            if not self.done[key].cached:
                cost = self.model.cost_of(reply, self.model.worst_case(request))
            rows.append(row(key, self.model.name, self.adapter.payload(request), reply, cost, 0.0))
        return rows

    def share(self) -> None:
        """Look how many places are ours; each process has engines of its own."""
        if fault := self.store.fault():
            self.stopped = self.stopped or f"{self.store.path}: {fault}: see what does so"
        self.places, most = self.workers, self.model.max_concurrency
        if self.model.provider != "embedded":
            self.places = self.store.share(self.model.name, self.busy, self.workers, most)

    async def wait(self) -> None:
        """Wait a moment for others at the store; when it gets long, say who they are."""
        now = time.monotonic()
        if now - self.last_sign > QUIET and (others := self.store.others()):
            self.bar.set_postfix_str(f"waits for {others}")
            self.last_sign = now
        await asyncio.sleep(LOOK)

    def no_more(self, cost: float) -> str:
        """Why the cost limit admits no other request; "" while what is under way may cost less."""
        found = self.store.spending()
        if found.under_way:
            return ""
        lost = f" (${found.lost:.4f} of it under way when a run was killed)" if found.lost else ""
        return (
            f"the next request may cost ${cost:.4f}, and ${sum(found):.4f}{lost} of "
            f"limits.max_cost_usd = {self.limits.max_cost_usd} are spent at {self.store.path}"
        )

    def keep(self, key: str, sent: Mapping, reply: Reply, seconds: float, worst: float) -> Response:
        """Store and book one answer. worst: the most that it might cost. Errors: `StoreError`."""
        reply = believed(reply, sent)
        self.failures_in_a_row = 0
        answer = row(key, self.model.name, sent, reply, self._book(reply, worst), seconds)
        return Response(key, self.store.put(answer, worst))

    def fail(self, key: str, error: Exception, sent: Mapping, worst: float) -> Response:
        """Note that a request brought no answer."""
        filtered = isinstance(error, FilteredError)
        if filtered:  # which is no fault of the server's
            self.failures_in_a_row = 0
        self.store.settle(worst, self.paid_for(error, sent, worst))
        self.failed += 1
        return Response(key, None, self.describe(error), filtered=filtered)

    def paid_for(self, error: Exception, sent: Mapping, worst: float) -> float:
        """What a request without an answer cost: something if the vendor filtered it, or if its
        reply has a text or counts tokens.
        """
        reply = getattr(error, "reply", None)
        if reply is None:
            return 0.0
        is_written = reply.text or reply.prompt_tokens or reply.completion_tokens
        if not is_written and not isinstance(error, FilteredError):
            return 0.0
        return self._book(believed(reply, sent), worst) or 0.0

    def _book(self, reply: Reply, worst: float) -> float | None:
        """What one answer cost, which counts as spent; None without a price."""
        cost = self.model.cost_of(reply, worst)
        self.spent += cost or 0.0
        self.tokens += reply.prompt_tokens + reply.completion_tokens
        return cost

    def describe(self, error: Exception) -> str:
        """An error in one line of at most 300 characters, without the key, which servers repeat."""
        # What can't be written as UTF-8 would fail whoever writes the table of responses.
        text = f"{type(error).__name__}: {server_errors.described(error)}"
        text = text[:5000].encode(errors="replace").decode()
        text, key = " ".join(text.split()), self.adapter.secret
        return redacted(text.replace(key, "…") if key else text, key)[:300]

    def spent_so_far(self) -> str:
        cost = "no price declared" if self.model.price is None else f"${self.spent:.4f}"
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.tokens:,} tokens, {cost}{failed}"


async def _one_by_one(run: _Run, missing: Mapping[str, Request]) -> None:
    """Ask for each request by itself, with as many workers as the model allows."""
    model, store = run.model, run.store
    sharing = asyncio.create_task(_every(LOOK, run.share))
    try:
        while missing and not run.stopped:
            ours = store.claim(missing)
            for key, reply in store.replies(missing).items():  # by other processes
                run.done[key] = Response(key, reply, cached=True)
                run.bar.update()
            missing = {key: request for key, request in missing.items() if key not in run.done}
            asked = {key: request for key, request in missing.items() if key in ours}
            # What shares a prefix goes to one worker where that has the prefix worked out once.
            groups = by_prefix(asked)
            if model.provider == "openai":
                groups = [[entry] for group in groups for entry in group]
            handed = iter(groups)
            run.workers = min(model.max_concurrency, len(groups))
            run.share()
            async with asyncio.TaskGroup() as group:
                for _ in range(run.workers):
                    group.create_task(_work(run, handed))
            missing = {key: request for key, request in missing.items() if key not in ours}
            if missing and not run.stopped:
                store.let_go()  # what failed here may be asked by others
                await run.wait()
    finally:
        sharing.cancel()


async def _every(seconds: float, do: Callable[[], None]) -> None:
    """Do something again and again while requests are under way, until cancelled."""
    while True:
        await asyncio.sleep(seconds)
        with suppress(StoreError):  # the next answer will tell
            do()


async def _work(run: _Run, handed: Iterator) -> None:
    """Ask what is handed out, until there is nothing left or the run stops."""
    try:
        for key, request in chain.from_iterable(handed):
            await _turn(run, request)
            worst = run.model.worst_case(request)
            limit = run.limits.max_cost_usd
            while worst and not run.stopped and not run.store.reserve([worst], limit):
                run.stopped = run.no_more(worst)
                if not run.stopped:
                    await run.wait()
            if not run.stopped:
                await _one(run, key, request, worst)
            run.busy -= 1
            if run.stopped:
                return
            run.last_sign = time.monotonic()
            run.bar.set_postfix_str(run.spent_so_far(), refresh=False)
            run.bar.update()
    except StoreError as error:
        run.stopped = run.stopped or str(error)
    run.workers -= 1


async def _turn(run: _Run, request: Request) -> None:
    """Wait for a place among the requests under way, then for the rates to admit one more."""
    while run.busy >= run.places and not run.stopped:
        await run.wait()
    run.busy += 1
    tokens = request.prompt_tokens + (request.max_tokens or UNLIMITED)
    for option, count in {"requests": 1, "tokens": tokens}.items():
        if rate := getattr(run.model, f"{option}_per_minute", None):
            async with run.queue:  # one of our workers at a time
                while wait := run.store.turn(f"{run.model.name} {option}", 60 * count / rate):
                    await asyncio.sleep(wait)


async def _one(run: _Run, key: str, request: Request, worst: float) -> None:
    """Ask for one answer and keep it. Errors: `StoreError`."""
    start = time.monotonic()
    try:
        reply = await run.adapter.send(request)
    except Exception as error:  # noqa: BLE001 - one request's fault must not lose the others
        failed = run.fail(key, error, run.adapter.payload(request), worst)
        run.done[key] = failed
        run.failures_in_a_row += not failed.filtered  # which is no fault of the server's
        if isinstance(error, InputError):  # which all others would meet as well
            run.stopped = str(error)
        elif run.failures_in_a_row >= run.limits.give_up_after:
            in_a_row = f"{run.failures_in_a_row} requests failed in a row"
            run.stopped = f"{in_a_row}, the last with {failed.error}"
    else:
        seconds = time.monotonic() - start
        run.done[key] = run.keep(key, run.adapter.payload(request), reply, seconds, worst)
