"""`ask` takes answers from the response store and asks for the others, storing each on arrival."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from tqdm import tqdm

from tomlab.errors import InputError
from tomlab.models import answers, batches, pace, specs
from tomlab.models.providers import by_prefix, provider
from tomlab.models.run import Run
from tomlab.models.specs import Limits, ModelSpec, Reply, Request, Response
from tomlab.models.store import Store, StoreError, request_key
from tomlab.models.turns import LOOK, Rate, alone
from tomlab.paths import RESPONSE_STORE, stage


async def ask(
    requests: Sequence[Request],
    model: ModelSpec,
    *,
    store: Path | str = RESPONSE_STORE,
    limits: Limits | None = None,
    progress: bool = True,
) -> list[Response]:
    """The responses of `model` to `requests`, in their order.

    Answers are taken from the store, then from the kept answers in `limits.answers`; the others
    are asked for once each and stored on arrival. Only one process at a time asks a model at a
    store. A request that fails, or whose answer the vendor filters, becomes a `Response` with an
    `error`, which is not stored.

    Errors: `InputError` before anything is spent, if missing answers may not or cannot be asked
    for; `InputError` during the run, at the cost limit or after `limits.give_up_after` failures in
    a row, but only once the requests under way have come in; `StoreError` from the store.
    """
    limits = limits or Limits()
    adapter = provider(model)
    keys = [request_key(adapter.payload(request)) for request in requests]
    if model.provider == "baseline":  # its answers are in the requests
        replies = [Reply(adapter.payload(request)["says"], "stop") for request in requests]
        return [Response(key, reply) for key, reply in zip(keys, replies, strict=True)]
    with Store(store) as opened:
        run = Run(model, limits, adapter, opened, dict(zip(keys, requests, strict=True)))
        run.take(opened.replies(keys))
        run.take(answers.look_up(limits.answers, run.missing.keys()))
        if run.missing:
            _check(run)
        # Noted before asking, so that answers that arrive before a stop count as this stage's too.
        pairs = zip(keys, requests, strict=True)
        opened.used((key, stage(), request.purpose) for key, request in pairs)
        if run.missing:
            await _ask_for_missing(run, progress)
    return [run.responses[key] for key in keys]


def _check(run: Run) -> None:
    """Raise `InputError` if the limits forbid asking for the missing answers."""
    entry = f"models.{run.model.name}"
    if run.limits.ask == "never":
        purposes = Counter(request.purpose or "asked" for request in run.missing.values())
        counts = ", ".join(f"{count} for {purpose}" for purpose, count in purposes.items())
        message = (
            f"{stage()} {entry}: {len(run.missing)} of {len(run.requests)} answers are not kept "
            f"({counts}), and limits.ask is never; `missing` asks for them"
        )
        raise InputError(message.lstrip())
    if lacking := specs.lacking_price(run.model, run.limits):
        raise InputError(f"{entry}: {lacking}")


async def _ask_for_missing(run: Run, progress: bool) -> None:
    """Ask one by one, or in batches if the model says so. Errors: `InputError` if it stopped."""
    try:
        options = getattr(run.model, "batch", None)
        if options:
            await _show(run, partial(batches.ask, options=options), progress)
        else:
            async with alone(run.store, run.model.name):
                run.store.lose_outside_batches(run.model.name)
                run.take(run.store.replies(run.missing))  # that other runs stored meanwhile
                if run.missing:
                    await _show(run, _one_by_one, progress)
    except asyncio.CancelledError:  # by Ctrl-C, or by the caller
        run.stopped = run.stopped or f"stopped; answers go to {run.store.path}"
        print(f"\n{run.end_error()}", file=sys.__stderr__ or sys.stderr, flush=True)
        raise
    finally:
        await run.adapter.close()
    if run.stopped:
        raise run.end_error()


async def _show(run: Run, way: Callable[[Run], Awaitable[None]], progress: bool) -> None:
    """Announce the requests, and send them by the function `way` under a progress bar."""
    # The original stream, so that bars appear in terminals but not in notebooks' outputs.
    stream = sys.__stderr__ or sys.stderr
    if progress:
        print(_announcement(run), file=stream)
    await run.adapter.check()
    with tqdm(
        total=len(run.requests),
        initial=len(run.responses),
        file=stream,
        disable=not progress,
        desc=run.model.name,
        mininterval=0.5 if stream.isatty() else 15,
    ) as run.bar:
        await way(run)


def _announcement(run: Run) -> str:
    """A line that says what is asked now, what it may cost and how long it may take."""
    missing = run.missing.values()
    tokens = sum(request.prompt_tokens for request in missing)
    cost = "no price declared"
    if run.model.price:
        cost = f"at most ${sum(map(run.model.worst_case, missing)):,.2f}"
    duration = pace.announcement(run.store, run.limits.answers, run.model, len(missing))
    text = (
        f"{stage()} {run.model.name}: {len(run.requests):,} requests, {len(run.responses):,} kept; "
        f"{len(missing):,} are asked now: about {tokens:,.0f} tokens of prompts; {cost}; {duration}"
    )
    return text.lstrip()


async def _one_by_one(run: Run) -> None:
    """Ask for each request by itself, with as many workers as the model allows."""
    # Requests that share a prefix go to one worker, so that the prefix is computed only once.
    groups = by_prefix(run.missing)
    if run.model.provider == "openai":
        groups = [[pair] for pair in chain.from_iterable(groups)]
    queue = iter(groups)
    rate = Rate(run.model)
    async with asyncio.TaskGroup() as workers:
        for _ in range(min(getattr(run.model, "max_concurrency", 1), len(groups))):
            workers.create_task(_work(run, queue, rate))


async def _work(run: Run, queue: Iterator, rate: Rate) -> None:
    """Send the requests in the queue until none is left or the run stops."""
    try:
        for key, request in chain.from_iterable(queue):
            await rate.wait(request)
            await _reserve(run, key)
            if run.stopped:
                return
            await _ask_one(run, key)
            run.bar.set_postfix_str(run.spent_so_far(), refresh=False)
    except StoreError as error:
        run.stopped = run.stopped or str(error)


async def _reserve(run: Run, key: str) -> None:
    """Wait until the cost limit admits a request, or stop the run if it never will."""
    cost = run.model.worst_case(run.requests[key])
    while cost and not run.stopped:
        if run.store.reserve({key: cost}, run.model.name, run.limits.max_cost_usd):
            return
        if run.under_way:  # it may cost less than was reserved
            await asyncio.sleep(LOOK)
        else:
            run.stopped = run.no_room(cost)


async def _ask_one(run: Run, key: str) -> None:
    """Ask for one answer and keep it. Errors: `StoreError`."""
    start = time.monotonic()
    run.under_way += 1
    try:
        reply = await run.adapter.send(run.requests[key])
    except Exception as error:  # noqa: BLE001 - one request's fault must not lose the others
        run.fail(key, error)
        if isinstance(error, InputError):  # all other requests would fail likewise
            run.stopped = str(error)
    else:
        run.keep(key, reply, time.monotonic() - start)
    finally:
        run.under_way -= 1
