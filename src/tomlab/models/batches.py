"""Asking by the vendors' batches: what is missing goes out in few large parts, for hours or days.

Nothing is paid twice, whatever ends a run and when:
- Before its requests are in the ledger a batch does not exist; they are asked as if never thought
  of.
- In the ledger, but not yet `sent`: nothing was made; the requests go into a new batch.
- `sent`, but without the vendor's id: it may or may not be there, and the vendor's list of batches
  tells (see `find` in `batch_vendors`). Only once that says no, a while after, is it made again.
- With an id: it is looked at until it is over. Results are stored one by one as they are read; when
  reading is cut short, those that are stored are passed over the next time.
"""

import asyncio
import json
import math
import time
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain
from typing import Any

from tqdm import tqdm

from tomlab.errors import InputError
from tomlab.models.batch_ledger import Batch, Ledger
from tomlab.models.batch_vendors import Line, State, vendor
from tomlab.models.costs import cost_of, worst_case
from tomlab.models.providers import by_prefix, whole
from tomlab.models.replies import FilteredError, MalformedReplyError, without_key
from tomlab.models.specs import Request
from tomlab.models.store import canonical, row

ROUNDS = 3  # so often is a request asked in one run, if its line fails
_LOOK = 5.0  # seconds between two looks at what other processes ask


async def ask(run: Any, missing: Mapping[str, Request], bar: tqdm) -> None:
    """Ask for all that is missing in batches, until every request has an answer or an error.

    run: the call of `ask` that this is part of; it is told what came and why it stops.
    """
    asking = _Asking(run, missing, bar)
    try:
        await asking.all()
    except asyncio.CancelledError:
        run.stopped = f"stopped{asking.left()}; answers go to {run.store.path}"
        raise
    finally:
        asking.ledger.close()


def parts(entries: list[tuple], most: int, most_bytes: int) -> Iterator[list[tuple]]:
    """Entries, of which the last value is a size in bytes, in parts within both limits."""
    part, size = [], 0
    for entry in entries:
        if part and (len(part) == most or size + entry[-1] > most_bytes):
            yield part
            part, size = [], 0
        part.append(entry)
        size += entry[-1]
    if part:
        yield part


class _Asking:
    """The state of one call of `ask`: batches under way, requests for the next round."""

    def __init__(self, run: Any, missing: Mapping[str, Request], bar: tqdm):
        self.run, self.missing, self.bar, self.options = run, missing, bar, run.batch
        self.vendor = vendor(run.adapter, self.options.completion_window)
        self.ledger = Ledger(run.store.path)
        self.open: list[Batch] = []
        self.waiting, self.again = dict(missing), {}
        self.free: set[str] = set()  # of those that wait, what no other process can have
        self.failed: Counter[str] = Counter()
        self.faults, self.unmade, self.halt = 0, 0, ""
        self.stored = 0.0  # when the last answer was

    async def all(self) -> None:
        while not self.run.stopped and (self.waiting or self.again or self.open):
            if not self.open:
                self.waiting, self.again = self.waiting | self.again, {}
            await self._guarded(self._send())
            for batch in [*self.open]:
                await self._guarded(self._step(batch))
            self._show()
            if self.halt and not self.open:
                self.run.stopped = self.halt
            elif self.open or self.faults:
                await asyncio.sleep(self.options.poll)
            elif self.waiting:
                await asyncio.sleep(min(self.options.poll, _LOOK))

    def left(self) -> str:
        """What goes on without us."""
        count = sum(len(batch.requests) for batch in self.open)
        if not self.open:
            return ""
        goes_on = f"; {count:,} requests in {len(self.open)} batches go on at the vendor"
        return f"{goes_on} ({self.ledger.path}); the next run takes them up"

    def _show(self) -> None:
        done = sum(batch.done for batch in self.open)
        count = sum(len(batch.requests) for batch in self.open)
        under_way = f"{done:,} of {count:,} done in {len(self.open)} batches, " * bool(self.open)
        self.bar.set_postfix_str(under_way + self.run._spent_so_far(), refresh=False)

    async def _guarded(self, step: Any) -> None:
        """One step; a fault that passes is borne `limits.give_up_after` times in a row."""
        run, fault = self.run, ""
        try:
            await step
            self.faults = 0
        except InputError as error:
            fault = str(error)
        except run.adapter.fatal as error:
            fault = f"turned away with {run._describe(error)}; check its base_url, model and key"
        except Exception as error:  # noqa: BLE001 - what is under way must not be lost
            self.faults += 1
            said = run._describe(error)
            if not _passes(error):
                fault = f"the vendor refused a batch with {said}"
            elif self.faults >= run.limits.give_up_after:
                fault = f"{self.faults} calls failed in a row, the last with {said}"
        if fault and not run.stopped:
            run.stopped = fault + self.left()

    # Sending

    async def _send(self) -> None:
        """Send what waits and nobody else asks, as far as the cost limit admits."""
        self._take_up()
        if not self.waiting or self.halt:
            return
        run, vendor = self.run, self.vendor
        entries = []
        for key, request in chain.from_iterable(by_prefix(self.waiting)):
            entry = vendor.entry(key, run.adapter.wire(request))
            entries.append((key, request, entry, len(json.dumps(entry)) + 2))
        most = min(self.options.requests or vendor.most, vendor.most)
        for part in parts(entries, most, vendor.most_bytes):
            mine = [each for each in part if self._is_ours(*each[:2])]
            if run.stopped:
                return
            admitted = self._admitted([request for _, request, *_ in mine])
            if mine and not (admitted and await self._make(mine[:admitted])):
                admitted = 0
            if admitted < len(mine):  # until something comes back
                for key, *_ in mine[admitted:]:
                    run.store.let_go(key)
                    self.free.discard(key)
                return

    def _take_up(self) -> None:
        """Look after the batches whose owner is gone, and leave to others what they look after."""
        run = self.run
        found, self.theirs = self.ledger.take_up(self.waiting)
        for batch in found:
            if batch.sent is None:
                self._end(batch)
                self.free |= batch.requests.keys()
                continue
            stored = run.store.replies(batch.requests)
            for key in batch.requests.keys() & self.waiting.keys():
                del self.waiting[key]
                if key in stored:
                    run.others[key] = stored[key]
                    self.bar.update()
            if batch.id is not None:  # without one, it is known by all of its requests
                batch.requests = {k: r for k, r in batch.requests.items() if k not in stored}
            if not batch.requests:
                self._end(batch)
                continue
            self.open.append(batch)

    def _is_ours(self, key: str, request: Request) -> bool:
        """Whether to ask; what another process has answered need wait no longer."""
        run = self.run
        if key in self.theirs or run.stopped:
            return False
        ours = key in self.free or run._ours(key, request)
        run.claimed.clear()  # what others ask stays among what waits
        if key in run.others:
            del self.waiting[key]
            self.bar.update()
        return ours

    def _admitted(self, requests: list[Request]) -> int:
        """How many of the requests, one after the other, the cost limit admits at their worst. None
        of them stops the asking, unless what is under way may come in cheaper.
        """
        run, limit = self.run, self.run.limits.max_cost_usd
        if limit is None or run.model.price is None or not requests:
            return len(requests)
        found = run.store.spending()
        worst = [*accumulate(worst_case(run.model, request) for request in requests)]
        count = bisect(worst, limit - sum(found))
        if not count and not self.open and not found.under_way:
            said = run._no_more(worst[0], found)
            self.halt = f"{said}; {len(self.waiting):,} requests were not sent"
        return count

    async def _make(self, part: list[tuple]) -> bool:
        """Make one batch, which is in the ledger before it is at the vendor; whether the cost limit
        still admits it.
        """
        run, asked = self.run, {key: request for key, request, *_ in part}
        usd = sum(worst_case(run.model, request) for request in asked.values())
        sent = {k: canonical(whole(run.adapter, run.model, r)) for k, r in asked.items()}
        batch = self.ledger.begin(sent, usd)
        self.open.append(batch)
        for key in batch.requests:
            del self.waiting[key]
        self.free -= batch.requests.keys()
        if not batch.requests:  # another process was faster
            self._unmade(batch)
            return True
        if usd and not run.store.reserve(usd, run.limits.max_cost_usd, batch.local):
            self._unmade(batch)
            return False
        entries = [entry for key, _, entry, _ in part if key in batch.requests]
        try:
            uploaded = await self.vendor.upload(batch.local, entries)
            self.ledger.note(batch, sent=time.time())
            self.ledger.note(batch, id=await self.vendor.create(batch.local, uploaded))
        except Exception as error:
            status = getattr(error, "status_code", None)
            if batch.sent is None or (status is not None and status < 500):
                self._unmade(batch)
            raise
        return True

    def _end(self, batch: Batch) -> None:
        """A batch is over, or never was: nothing is reserved for it any more."""
        self.run.store.settle(math.inf, batch.local)
        self.ledger.end(batch)

    def _unmade(self, batch: Batch) -> None:
        """A batch is not at the vendor: its requests wait again, ours to ask."""
        self._end(batch)
        self.open.remove(batch)
        self.waiting |= {key: self.missing[key] for key in batch.requests if key in self.missing}
        self.free |= batch.requests.keys()

    # Coming back

    async def _step(self, batch: Batch) -> None:
        """Look how far a batch is; store its results once it is over."""
        if batch.id is None:
            known = self.ledger.ids()
            found = await self.vendor.find(batch.local, batch.requests, batch.sent, known)
            if found:
                self.ledger.note(batch, id=found)
            # Its making may still be on the way to the vendor.
            elif found is None and time.time() - batch.sent > self.options.poll:
                self._unmade(batch)
                self.unmade += 1
                if self.unmade == ROUNDS:
                    self.halt = f"the vendor made none of {ROUNDS} batches"
            return
        state = await self.vendor.look(batch.id)
        batch.done = state.done
        if state.is_over:
            await self._collect(batch, state)

    async def _collect(self, batch: Batch, state: State) -> None:
        async for line in self.vendor.results(batch.id):
            if line.key in batch.requests:
                self._take(batch, line)
            if self.run.stopped:
                return
        # Too much was under way: no fault of its own, so it goes once others are back.
        too_early = state.full and (len(self.open) > 1 or self.stored > batch.sent)
        for key in [*batch.requests]:
            self.failed[key] -= too_early
            self._take(batch, Line(key, said="no result came back"))
        self._end(batch)
        self.open.remove(batch)
        if state.halt and not too_early:
            self.halt = f"batch {batch.id} {state.halt}"

    def _take(self, batch: Batch, line: Line) -> None:
        """Store one answer, or put the request off to the next round."""
        run, key = self.run, line.key
        sent, request = batch.requests[key], self.missing.get(key)
        seconds = time.time() - batch.sent
        try:
            if line.answer is None:
                raise FilteredError(line.said) if line.filtered else _LineError(line.said)
            reply = without_key(run.adapter.read(line.answer), run.adapter.secret)
        except Exception as error:  # noqa: BLE001 - one line's fault must not lose the others
            self.failed[key] += 1
            passing = line.passing and isinstance(error, _LineError | MalformedReplyError)
            if request is not None and passing and self.failed[key] < ROUNDS:
                self.again[key] = request
            elif request is not None:
                if paid := run._fail(key, request, error):
                    run.store.settle(batch.share, batch.local, paid)
                self.bar.update()
            run.store.let_go(key)
        else:
            if request is not None:
                run._keep(key, request, reply, seconds, batch.share, batch.local)
                self.stored = time.time()
                self.bar.update()
            else:  # what an earlier run asked for
                cost = cost_of(run.model, reply, batch.share)
                answer = row(key, run.model.name, json.loads(sent), reply, cost, seconds)
                run.store.put(answer, batch.share, batch.local)
        del batch.requests[key]


class _LineError(Exception):
    """What the vendor said in place of one answer."""


def _passes(error: Exception) -> bool:
    status = getattr(error, "status_code", None)
    return status is None or status in (408, 409, 429) or status >= 500
