"""Asking in batches: what is missing goes out in few large parts, for hours or days, to the vendor
or to files for whatever answers OpenAI's batch input.

Nothing is paid twice, whatever ends a run and when, and whoever else asks at the same store. One
process at a time, which holds a lock, sends what is neither in the store nor in the ledger. A batch
is in the ledger before it is made, until all its results are stored. If nobody heard whether it was
made, the vendor's list tells (see `find`): only if two looks, `poll` apart, miss it, it is again.
"""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import AsyncFileLock

from tomlab.errors import InputError, refuse
from tomlab.models import batch_vendors as vendors
from tomlab.models import server_errors
from tomlab.models.replies import FilteredError, MalformedReplyError
from tomlab.models.specs import Reply, Request, Response
from tomlab.models.store import Store, canonical
from tomlab.paths import stage

_HASHED = re.compile(r"(.+)-[0-9a-f]{10}\b")  # a batch file's name: who asks, the requests' hash
ROUNDS = 3  # in so many batches is a request asked in one run, if its line fails


@dataclass
class Batch:
    """A batch under way."""

    local: str  # our own name of it
    usd: float  # the most it may cost, reserved under that name
    sent: float  # when its making began
    id: str | None  # the vendor's
    keys: set[str]  # of its requests


class Ledger:
    """The batches of one store that are or were under way, in SQLite beside it."""

    def __init__(self, store: Store):
        self.store, self.path = store, store.path.with_name(f"{store.path.name}.batches.sqlite")
        # Unlike the store it is flushed to disk with each change: a power cut forgets nothing.
        store.all("ATTACH ? AS ledger", str(self.path))
        make = "CREATE TABLE IF NOT EXISTS ledger."
        # id: the vendor's. Batches that are over stay, so that their ids are known.
        store.all(f"{make}batches (local TEXT PRIMARY KEY, usd REAL, sent REAL, id TEXT)")
        columns = "key TEXT PRIMARY KEY, local TEXT NOT NULL, request TEXT NOT NULL"
        store.all(f"{make}requests ({columns})")

    def begin(
        self, requests: Mapping[str, Mapping], costs: Sequence[float], limit: float | None
    ) -> Batch | None:
        """Note what is about to be sent: the first requests, as many as the cost limit admits."""
        local, sent = f"a batch, {uuid4().hex}", time.time()
        with self.store.changing() as db:
            if not (count := self.store.reserve(costs, limit, local)):
                return None
            admitted, usd = dict(islice(requests.items(), count)), sum(costs[:count])
            db.execute("INSERT INTO batches VALUES (?, ?, ?, NULL)", [local, usd, sent])
            rows = [(key, local, canonical(request)) for key, request in admitted.items()]
            db.executemany("INSERT INTO requests VALUES (?, ?, ?)", rows)
        return Batch(local, usd, sent, None, {*admitted})

    def made(self, batch: Batch, id: str) -> None:
        """A batch is made, and has this id at the vendor."""
        self.store.all("UPDATE batches SET id = ? WHERE local = ?", id, batch.local)

    def end(self, batch: Batch) -> None:
        """A batch is over, or was never made: its requests may be in another."""
        with self.store.changing() as db:
            db.execute("DELETE FROM requests WHERE local = ?", [batch.local])
            db.execute("DELETE FROM batches WHERE local = ? AND id IS NULL", [batch.local])
            db.execute("DELETE FROM reserved WHERE owner = ?", [batch.local])

    def under_way(self, keys: Collection[str]) -> list[Batch]:
        """The batches with any of these requests, the first one first."""
        found = self.store.all(
            "SELECT local, usd, sent, id, json_group_array(key)"
            " FROM batches JOIN requests USING (local) WHERE local IN (SELECT local FROM requests"
            " WHERE key IN (SELECT value FROM json_each(?))) GROUP BY local ORDER BY sent",
            json.dumps([*keys]),
        )
        return [Batch(*about, set(json.loads(requests))) for *about, requests in found]


async def ask(run: Any, missing: Mapping[str, Request]) -> None:
    """Ask until every request has an answer or an error, or `run` (see `ask.py`) has to stop."""
    asking, poll, faults, told = _Asking(run, missing), run.model.batch.poll, 0, ""
    options = {"poll_interval": min(poll, 1), "run_in_executor": False}
    lock = AsyncFileLock(f"{asking.ledger.path}.lock", **options)
    try:
        while asking.waiting and not run.stopped:
            try:
                async with lock:
                    await asking.step()
                faults = 0
            except InputError as error:
                run.stopped = run.stopped or f"{error}{asking.left()}"
            except Exception as error:  # noqa: BLE001 - what is under way must not be lost
                faults += 1
                said = run.describe(error) + asking.left()
                if not server_errors.passes(getattr(error, "status_code", None)):
                    run.stopped = f"the vendor refused with {said}"
                elif faults >= run.limits.give_up_after:
                    run.stopped = f"{faults} calls failed in a row, the last with {said}"
            before, told = told, ", ".join(filter(None, (asking.under_way(), run.spent_so_far())))
            run.bar.set_postfix_str(told, refresh=told != before)  # also before the first answer
            if asking.waiting and not run.stopped:
                await asyncio.sleep(poll)
    except asyncio.CancelledError:
        run.stopped = f"stopped{asking.left()}; answers go to {run.store.path}"
        raise


class _Asking:
    """The state of one call of `ask`."""

    def __init__(self, run: Any, missing: Mapping[str, Request]):
        self.run, self.waiting, self.options = run, dict(missing), run.model.batch
        kinds = {"openai": vendors.OpenAIBatches, "anthropic": vendors.AnthropicBatches}
        self.vendor = kinds[run.model.provider](run.adapter)
        self.ledger = Ledger(run.store)
        self.missed: set[str] = set()  # batches that a look at the vendor's list did not find
        self.answered: dict[str, int] = {}  # by batch, as the vendor counts
        self.failed = Counter[str]()  # by key: in how many batches

    @property
    def open(self) -> list[Batch]:
        """The batches with any of our requests."""
        return self.ledger.under_way(self.waiting)

    def under_way(self) -> str:
        """How far the batches are; of Anthropic's that is known when they are over."""
        batches = self.open
        count = sum(len(batch.keys) for batch in batches)
        answered = sum(self.answered.get(batch.local, 0) for batch in batches)
        told = f"{answered:,} of {count:,} requests answered"
        return f"{len(batches)} batches go on at the vendor, {told}" if batches else ""

    def left(self) -> str:
        """What goes on without us."""
        told = self.under_way()
        return told and f"; {told} ({self.ledger.path}); the next run takes them up"

    async def step(self) -> None:
        """Store what came back, and send what waits and is in no batch."""
        for key, reply in self.run.store.replies(self.waiting).items():  # by other processes
            self._over(Response(key, reply, cached=True))
        for batch in self.open:
            if await self._is_over(batch):
                self.ledger.end(batch)
            if self.run.stopped:
                return
        under_way = {key for batch in self.open for key in batch.keys}
        free = {key: request for key, request in self.waiting.items() if key not in under_way}
        for part in vendors.parts(self.vendor, free, self.options.requests):
            at_once = self.options.at_once
            if at_once is not None and len(self.open) >= at_once:
                return
            if not await self._make(part):
                return

    async def _make(self, part: Mapping[str, Mapping]) -> bool:
        """Make a batch of what the cost limit admits; whether that is all. Errors: `InputError`."""
        run = self.run
        costs = [run.model.worst_case(self.waiting[key]) for key in part]
        sent = {key: run.adapter.payload(self.waiting[key]) for key in part}
        batch = self.ledger.begin(sent, costs, run.limits.max_cost_usd)
        if batch is None:
            if said := run.no_more(costs[0]):
                raise InputError(f"{said}; {len(self.waiting):,} requests were not sent")
            return False
        entries = [part[key] for key in part if key in batch.keys]
        try:
            self.ledger.made(batch, await self.vendor.create(entries))
        except Exception as error:
            status = getattr(error, "status_code", None)
            if status is not None and status < 500:  # it was not made
                self.ledger.end(batch)
            raise
        return len(entries) == len(part)

    def _over(self, response: Response) -> None:
        """A request has its answer or its error, unless another run has asked it."""
        if self.waiting.pop(response.request_key, None):
            self.run.done[response.request_key] = response
            self.run.bar.update()

    async def _is_over(self, batch: Batch) -> bool:
        """Whether a batch is over, and its results are stored, or was never made."""
        vendor = self.vendor
        if batch.id is None:
            ids = self.run.store.all("SELECT id FROM batches WHERE id IS NOT NULL")
            if found := await vendor.find(batch.keys, batch.sent, {id for (id,) in ids}):
                self.ledger.made(batch, found)
            if found is not None or batch.local in self.missed:
                return found is None
            self.missed.add(batch.local)
            return False
        found = await vendor.batches.retrieve(batch.id)
        ended = vendor.ended(found)
        if ended is None:
            self.answered[batch.local] = getattr(found.request_counts, "completed", 0) or 0
            return False
        left = batch.keys - self.run.store.replies(batch.keys).keys()
        async for key, said in vendor.results(found, len(batch.keys)):
            if key in left:
                self._take(batch, key, said)
                left.remove(key)
            if not left:
                break
        for key in left:
            self._take(batch, key, vendors.PassingError("no result came back"))
        if ended:
            self.run.stopped = f"batch {batch.id} {ended}"
        return True

    def _take(self, batch: Batch, key: str, said: Reply | Exception) -> None:
        """Store one answer; a request without one waits again, or has an error in its place."""
        run, worst = self.run, batch.usd / len(batch.keys)
        [[request]] = run.store.all("SELECT request FROM requests WHERE key = ?", key)
        sent = json.loads(request)
        if isinstance(said, Reply):
            self._over(run.keep(key, sent, said, time.time() - batch.sent, worst))
            return
        self.failed[key] += 1
        again = isinstance(said, MalformedReplyError | vendors.PassingError)
        if key in self.waiting and not (again and self.failed[key] < ROUNDS):
            self._over(run.fail(key, said, sent, worst))
        else:
            run.store.settle(0.0, run.paid_for(said, sent, worst))


def ask_by_files(run: Any, missing: Mapping[str, Request]) -> None:
    """Take in every `*.out.jsonl` in `batches/<model>` beside the store, write what is left to
    `*.in.jsonl`. Errors: `InputError` where anything is left; before that, for two answers to one.
    """
    if run.model.provider != "openai":
        raise InputError(f"models.{run.model.name}: batch files are of OpenAI's protocol alone")
    vendor, folder = vendors.OpenAIBatches(run.adapter), run.store.path.parent / "batches"
    folder /= run.model.name
    folder.mkdir(parents=True, exist_ok=True)
    asker = (stage() or "asked").replace("/", "-")  # as the names of its files begin
    came: dict[str, tuple[Reply | FilteredError, str]] = {}
    failed, doubled = [], []
    for path in sorted(folder.glob("*.out.jsonl")):
        of_others = (name := _HASHED.match(path.name)) and name[1] != asker
        for number, line in enumerate(path.open("rb"), start=1):
            key, said = vendor.read(line) if line.strip() else ("", None)
            where = f"{path.name}, line {number}"
            if key in missing and isinstance(said, Reply | FilteredError):
                before, there = came.setdefault(key, (said, where))
                if isinstance(said, Reply) and said != before:
                    doubled.append(f"{where}: another answer to {key} than in {there}")
            elif said and (key in missing and key not in came if key else not of_others):
                failed.append(f"{where}: {run.describe(said)}")
    refuse(doubled, f"{folder}: two answers to one request; take out one of them")
    for key, (said, _) in came.items():
        if isinstance(said, Reply):
            worst = run.model.worst_case(missing[key])
            run.done[key] = run.keep(key, run.adapter.payload(missing[key]), said, 0.0, worst)
        else:
            run.done[key] = Response(key, None, run.describe(said), filtered=True)
    left = {key: request for key, request in missing.items() if key not in run.done}
    if not left:
        return
    files = _write(run, vendor, left, folder, asker)
    told = "".join(f"\n  {path.name}: {count:,} requests" for path, count in files.items())
    also = f" ({len(failed):,} came back without one, such as: {failed[-1]})" if failed else ""
    raise InputError(
        f"models.{run.model.name}: {len(left):,} of {run.total:,} answers are to come{also}. Have "
        f"the files in {folder} answered, each X.in.jsonl to an X.out.jsonl beside it (how: "
        f"docs/batches.md), then run again:{told}"
    )


def _write(
    run: Any, vendor: vendors.OpenAIBatches, left: Mapping[str, Request], folder: Path, asker: str
) -> dict[Path, int]:
    """Files with what is left, and how many requests each. Waiting ones stay, answered ones go."""
    waiting, new = {}, dict(left)
    for path in folder.glob("*.in.jsonl"):
        has_come = path.with_name(path.name.replace(".in.", ".out.")).exists()
        if has_come or run.store.replies(keys := _ids(path)):
            path.unlink()
        elif keys & new.keys():
            waiting[path] = len(keys)
            new = {key: request for key, request in new.items() if key not in keys}
    for part in vendors.parts(vendor, new, run.model.batch.requests):
        hashed = sha256("".join(part).encode()).hexdigest()[:10]
        path = folder / f"{asker}-{hashed}.in.jsonl"
        partial = path.with_suffix(".partial")
        partial.write_bytes(vendors.jsonl(part.values()))
        partial.replace(path)
        waiting[path] = len(part)
    return dict(sorted(waiting.items()))


def _ids(path: Path) -> set[str]:
    """The requests in a file that waits. Errors: `InputError` for a line that has none."""
    found = set()
    for number, line in enumerate(path.open("rb"), start=1):
        try:
            found.add(json.loads(line)["custom_id"])
        except (ValueError, LookupError, TypeError, RecursionError):
            told = "found no request with a custom_id; remove the file, and it is written anew"
            raise InputError(f"{path}: line {number}: {told}") from None
    return found
