"""Asking by the vendors' batches: what is missing goes out in few large parts, for hours or days.

Nothing is paid twice, whatever ends a run and when, and whoever else asks at the same store. One
process at a time, which holds a lock, looks at what is under way, stores what came back and sends:
- A request is sent only if it is neither in the store nor in the ledger of batches.
- A batch is in the ledger before it is made. If nobody heard whether it was, the vendor's list of
  batches tells (see `find`). Only if two looks, `poll` apart, miss it is it made again.
- A batch leaves the ledger once all its results are stored. What was stored when reading them was
  cut short is passed over the next time.
"""

import asyncio
import json
import math
import time
from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any
from uuid import uuid4

from filelock import FileLock, Timeout
from tqdm import tqdm

from tomlab.errors import InputError
from tomlab.models.batch_vendors import AnthropicBatches, LineError, OpenAIBatches, parts, passes
from tomlab.models.costs import worst_case
from tomlab.models.providers import whole
from tomlab.models.replies import MalformedReplyError, without_key
from tomlab.models.specs import Request
from tomlab.models.store import Store, canonical

ROUNDS = 3  # in so many batches is a request asked in one run, if its line fails


_LEDGER = {
    # id: the vendor's. Batches that are over stay, so that their ids are known.
    "batches": "local TEXT PRIMARY KEY, usd REAL, sent REAL, id TEXT",
    "requests": "key TEXT PRIMARY KEY, local TEXT NOT NULL, request TEXT NOT NULL",
}


@dataclass
class Batch:
    """A batch under way. local: our own name of it; usd: the most it may cost, which the store has
    reserved under that name; sent: when its making began; id: the vendor's, once that is known;
    keys: its requests.
    """

    local: str
    usd: float
    sent: float
    id: str | None
    keys: set[str]

    def __post_init__(self):
        self.share = self.usd / len(self.keys)  # of each request in the cost


class Ledger:
    """The batches of one store that are or were under way, in SQLite beside it."""

    def __init__(self, store: Store):
        self.store, self.path = store, store.path.with_name(f"{store.path.name}.batches.sqlite")
        # Unlike the store it is flushed to disk with each change: a power cut forgets nothing.
        store.all("ATTACH ? AS ledger", str(self.path))
        for name, columns in _LEDGER.items():
            store.all(f"CREATE TABLE IF NOT EXISTS ledger.{name} ({columns})")
        store.all("CREATE INDEX IF NOT EXISTS ledger.of ON requests (local)")

    def begin(self, requests: Mapping[str, Mapping], usd: float) -> Batch:
        """Note what is about to be sent. requests: by key, with all that is sent."""
        batch = Batch(uuid4().hex, usd, time.time(), None, set(requests))
        rows = [(key, batch.local, canonical(request)) for key, request in requests.items()]
        with self.store.changing() as db:
            command = "INSERT INTO batches (local, usd, sent) VALUES (?, ?, ?)"
            db.execute(command, [batch.local, usd, batch.sent])
            db.executemany("INSERT INTO requests VALUES (?, ?, ?)", rows)
        return batch

    def note(self, batch: Batch, id: str) -> None:
        """What the vendor calls a batch: it is made."""
        batch.id = id
        self.store.all("UPDATE batches SET id = ? WHERE local = ?", id, batch.local)

    def end(self, batch: Batch) -> None:
        """A batch is over, or was never made: its requests may be in another."""
        with self.store.changing() as db:
            db.execute("DELETE FROM requests WHERE local = ?", [batch.local])
            db.execute("DELETE FROM batches WHERE local = ? AND id IS NULL", [batch.local])

    def under_way(self, keys: Collection[str]) -> list[Batch]:
        """The batches with any of these requests, the first one first."""
        found = self.store.all(
            "SELECT local, usd, ifnull(sent, 0), id, json_group_array(key)"
            " FROM batches JOIN requests USING (local) WHERE local IN (SELECT local FROM requests"
            " WHERE key IN (SELECT value FROM json_each(?))) GROUP BY local ORDER BY sent",
            json.dumps([*keys]),
        )
        return [Batch(*about, set(json.loads(requests))) for *about, requests in found]

    def request(self, key: str) -> dict:
        """What was sent for a key."""
        [[request]] = self.store.all("SELECT request FROM requests WHERE key = ?", key)
        return json.loads(request)

    def ids(self) -> set[str]:
        """The vendors' ids of all batches."""
        return {id for (id,) in self.store.all("SELECT id FROM batches WHERE id IS NOT NULL")}


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


class _Asking:
    """The state of one call of `ask`."""

    def __init__(self, run: Any, missing: Mapping[str, Request], bar: tqdm):
        self.run, self.waiting, self.bar, self.options = run, dict(missing), bar, run.model.batch
        openai = run.model.provider == "openai"
        self.vendor = (OpenAIBatches if openai else AnthropicBatches)(run.adapter)
        self.ledger = Ledger(run.store)
        self.lock = FileLock(f"{self.ledger.path}.lock")
        self.open: list[Batch] = []  # with any of our requests
        self.missed: set[str] = set()  # batches that a look at the vendor's list did not find
        self.failed: dict[str, set[str]] = defaultdict(set)  # by key: in which batches
        self.faults, self.is_full, self.stored = 0, False, 0.0  # when the last answer was

    async def all(self) -> None:
        while True:
            await self._guarded()
            said = f"{len(self.open)} batches under way, {self.run.spent_so_far()}"
            self.bar.set_postfix_str(said, refresh=False)
            if self.run.stopped or not self.waiting:
                return
            await asyncio.sleep(self.options.poll)

    def left(self) -> str:
        """What goes on without us."""
        if not self.open:
            return ""
        count = sum(len(batch.keys) for batch in self.open)
        goes_on = f"; {count:,} requests in {len(self.open)} batches go on at the vendor"
        return f"{goes_on} ({self.ledger.path}); the next run takes them up"

    async def _guarded(self) -> None:
        """One step; a fault that passes is borne `limits.give_up_after` times in a row."""
        run, fault = self.run, ""
        while not self.lock.is_locked:
            try:
                self.lock.acquire(blocking=False)
            except Timeout:  # another process is at it
                await asyncio.sleep(min(self.options.poll, 1))
        try:
            await self._step()
        except InputError as error:
            fault = str(error)
        except Exception as error:  # noqa: BLE001 - what is under way must not be lost
            self.faults += 1
            said = run.describe(error)
            if not passes(getattr(error, "status_code", None)):
                fault = f"the vendor refused with {said}"
            elif self.faults >= run.limits.give_up_after:
                fault = f"{self.faults} calls failed in a row, the last with {said}"
        finally:
            self.lock.release()
        if fault and not run.stopped:
            run.stopped = fault + self.left()

    async def _step(self) -> None:
        """Store what came back, and send what waits and is in no batch."""
        stored = self.run.store.replies(self.waiting)  # by other processes
        self.run.cached |= stored
        for key in stored:
            self._over(key)
        self.open = self.ledger.under_way(self.waiting)
        for batch in [*self.open]:
            if await self._is_over(batch):
                self._end(batch)
            if self.run.stopped:
                return
        await self._send()

    def _over(self, key: str) -> None:
        if self.waiting.pop(key, None):
            self.bar.update()

    # Sending

    async def _send(self) -> None:
        if self.is_full and self.open:
            return
        self.is_full = False
        under_way = {key for batch in self.open for key in batch.keys}
        free = {key: request for key, request in self.waiting.items() if key not in under_way}
        for part in parts(self.vendor, free, self.options.requests):
            if not await self._make(part):
                return

    async def _make(self, part: Mapping[str, Mapping]) -> bool:
        """Make one batch of what the cost limit admits at its worst; whether that is all of it.
        Errors: `InputError` where it is none, unless what is under way may come in cheaper.
        """
        run, limit = self.run, self.run.limits.max_cost_usd
        found = run.store.spending()
        worst = [*accumulate(worst_case(run.model, self.waiting[key]) for key in part)]
        room = math.inf if limit is None else limit - sum(found)
        admitted = [*part][: bisect(worst, room)]
        if not admitted and not found.under_way:
            said = run.no_more(worst[0], found)
            raise InputError(f"{said}; {len(self.waiting):,} requests were not sent")
        if not admitted:
            return False
        sent = {key: whole(run.adapter, run.model, self.waiting[key]) for key in admitted}
        batch = self.ledger.begin(sent, worst[len(admitted) - 1])
        if batch.usd and not run.store.reserve(batch.usd, limit, batch.local):
            self.ledger.end(batch)
            return False
        self.open.append(batch)
        try:
            made = await self.vendor.create(batch.local, [part[key] for key in admitted])
        except Exception as error:
            status = getattr(error, "status_code", None)
            if status is not None and status < 500:  # it was not made
                self._end(batch)
            raise
        self.ledger.note(batch, made)
        self.faults = 0
        return len(admitted) == len(part)

    def _end(self, batch: Batch) -> None:
        self.run.store.settle(math.inf, batch.local)
        self.ledger.end(batch)
        self.open.remove(batch)

    # Coming back

    async def _is_over(self, batch: Batch) -> bool:
        """Whether a batch is over, and its results are stored, or was never made."""
        if batch.id is None:
            known = self.ledger.ids()
            found = await self.vendor.find(batch.local, batch.keys, batch.sent, known)
            if found:
                self.ledger.note(batch, found)
            elif found is None and batch.local in self.missed:
                return True
            elif found is None:
                self.missed.add(batch.local)
            return False
        state, run = await self.vendor.look(batch.id), self.run
        self.faults = 0
        if not state.is_over:
            return False
        left = batch.keys - run.store.replies(batch.keys).keys()
        async for key, said in self.vendor.results(batch.id):
            if key in left:
                self._take(batch, key, said)
                left.remove(key)
            if run.stopped:
                return False
        # Too much was under way: no fault of the requests', which go once others are back.
        too_early = state.full and (len(self.open) > 1 or self.stored > batch.sent)
        self.is_full |= too_early
        for key in left if not too_early else ():
            self._take(batch, key, LineError("no result came back"))
        if state.halt and not too_early:
            run.stopped = f"batch {batch.id} {state.halt}"
        return True

    def _take(self, batch: Batch, key: str, said: Any) -> None:
        """Store one answer; a request without one waits again, or has an error in its place."""
        run, sent = self.run, self.ledger.request(key)
        try:
            if isinstance(said, Exception):
                raise said
            reply = without_key(run.adapter.read(said), run.adapter.secret)
        except Exception as error:  # noqa: BLE001 - one line's fault must not lose the others
            self.failed[key].add(batch.local)
            again = isinstance(error, MalformedReplyError) or getattr(error, "passes", False)
            if key in self.waiting and not (again and len(self.failed[key]) < ROUNDS):
                if paid := run.fail(key, error, batch.share):
                    run.store.settle(batch.share, batch.local, paid)
                self._over(key)
        else:
            run.keep(key, sent, reply, time.time() - batch.sent, batch.share, batch.local)
            self.stored = time.time()
            if key not in self.waiting:  # an earlier run asked for it
                del run.replies[key]
            self._over(key)
