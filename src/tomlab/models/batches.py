"""Ask in a vendor's batches: missing requests are sent in a few large parts, for hours or days.

A file beside the store names each batch from before it is made until all its results are stored,
so that after any interruption the next run continues with it. If it is unknown whether a batch was
made, the vendor's list is searched; only if two searches, `poll` seconds apart, do not find it, its
requests are sent in another batch.
"""

import asyncio
import json
import os
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

from tomlab.errors import InputError
from tomlab.models import server_errors, specs
from tomlab.models.providers import by_prefix
from tomlab.models.remote import Payload, Remote
from tomlab.models.replies import FilteredError, JsonObject, NoAnswerError, form_of, from_json
from tomlab.models.run import Run
from tomlab.models.specs import Reply, Request
from tomlab.models.turns import alone

ROUNDS = 3  # how many batches of one run may ask a request whose result fails
SKEW = 3600.0  # how far a vendor's clock may be from ours, in seconds


async def ask(run: Run, options: specs.Batch) -> None:
    """Ask until every request has an answer or an error, or the run has to stop."""
    asking = _Asking(run, options)
    faults = 0
    while run.missing and not run.stopped:
        try:
            async with alone(run.store, run.model.name):
                await asking.step()
            faults = 0
        except InputError as error:
            run.stopped = str(error)
        except Exception as error:  # noqa: BLE001 - what is under way must not be lost
            faults += 1
            message = run.describe(error)
            if not server_errors.passes(getattr(error, "status_code", None)):
                run.stopped = f"the vendor refused with {message}"
            elif faults >= run.limits.give_up_after:
                run.stopped = f"{faults} calls failed in a row, the last with {message}"
        finally:
            asking.show()
        if run.missing and not run.stopped:
            await asyncio.sleep(options.poll)


@dataclass
class Batch:
    """A batch at the vendor."""

    name: str  # given by us
    sent: float  # when we began to make it, in seconds since 1970
    keys: list[str]  # of those requests whose results are not stored yet
    id: str | None = None  # given by the vendor; None until we receive it


class _Asking:
    """The state of one call of `ask`."""

    def __init__(self, run: Run, options: specs.Batch):
        self.run = run
        self.options = options
        self.vendor: Vendor
        if run.model.provider == "openai":
            self.vendor = OpenAIBatches(run.adapter)
        else:
            self.vendor = AnthropicBatches(run.adapter)
        self.file = Path(f"{run.store.path}.{run.model.name}.batches.json")
        self.batches: list[Batch] = []
        self.missed: set[str] = set()  # names of batches that one search of the list did not find
        self.answered: dict[str, int] = {}  # the vendor's counts, by batch name
        self.failures: Counter[str] = Counter()  # how often each request failed, by key

    @property
    def under_way(self) -> list[Batch]:
        """The batches that contain requests still missing in this run."""
        missing = self.run.missing.keys()
        return [batch for batch in self.batches if not missing.isdisjoint(batch.keys)]

    def save(self) -> None:
        """Write the list of batches to the file."""
        partial = self.file.with_suffix(".partial")
        with partial.open("w") as file:
            json.dump([asdict(batch) for batch in self.batches], file)
            file.flush()
            os.fsync(file.fileno())  # so that a power cut loses nothing
        partial.replace(self.file)

    def show(self) -> None:
        """Show how far the batches are; Anthropic's count answers only when they are over."""
        batches = self.under_way
        status = ""
        self.run.at_vendor = ""
        if batches:
            asked = sum(len(batch.keys) for batch in batches)
            answered = sum(self.answered.get(batch.name, 0) for batch in batches)
            status = f"{len(batches)} batches go on at the vendor, "
            status += f"{answered:,} of {asked:,} requests answered"
            self.run.at_vendor = f"; {status} ({self.file}); the next run takes them up"
        self.run.bar.set_postfix_str(f"{status} {self.run.spent_so_far()}")

    async def step(self) -> None:
        """Store the results that came back, and send missing requests that are in no batch."""
        run = self.run
        run.take(run.store.replies(run.missing))  # that other runs stored meanwhile
        if self.file.exists():
            self.batches = [Batch(**fields) for fields in json.loads(self.file.read_text())]
        run.store.lose(run.model.name, [batch.name for batch in self.batches])
        for batch in self.under_way:
            if batch.id is None:
                await self._find(batch)
            else:
                await self._look(batch)
        self.save()
        if run.stopped:
            return
        await self._send_waiting()

    async def _send_waiting(self) -> None:
        """Send requests that are in no batch, as far as options and cost limit allow."""
        options = self.options
        sent = set(chain.from_iterable(batch.keys for batch in self.batches))
        waiting = {key: request for key, request in self.run.missing.items() if key not in sent}
        for part in parts(self.vendor, waiting, options.requests):
            is_full = options.at_once is not None and len(self.under_way) >= options.at_once
            if is_full or not await self._make(part):
                return

    async def _make(self, part: Mapping[str, Payload]) -> bool:
        """Make a batch of the requests that the cost limit admits; whether these are all of `part`.
        Errors: `InputError` if it admits none and no batch is under way.
        """
        run = self.run
        costs = {key: run.model.worst_case(run.requests[key]) for key in part}
        name = uuid4().hex
        keys = run.store.reserve(costs, run.model.name, run.limits.max_cost_usd, name)
        if not keys:
            if not self.under_way:  # a batch may cost less than reserved
                message = run.no_room(min(costs.values()))
                raise InputError(f"{message}; {len(run.missing):,} requests were not sent")
            return False
        batch = Batch(name, time.time(), keys)
        self.batches.append(batch)
        self.save()
        try:
            batch.id = await self.vendor.create([part[key] for key in keys])
        except Exception as error:
            status = getattr(error, "status_code", None)
            if status is not None and status < 500:
                self._forget(batch)
            raise
        finally:
            self.save()
        return len(keys) == len(part)

    def _forget(self, batch: Batch) -> None:
        """Forget a batch that was not made, and free what was reserved for it."""
        self.batches.remove(batch)
        self.run.store.free(batch.name)

    async def _find(self, batch: Batch) -> None:
        """Search the vendor's list for a batch that may not have been made. A batch is recognised
        by its results, so its requests are sent again only after every listed batch is over.
        """
        ids = {known_batch.id for known_batch in self.batches}
        all_are_over = True
        async for listed in self.vendor.batches.list(limit=100):  # the newest first
            if self.vendor.made(listed) < batch.sent - SKEW:
                break
            if listed.id in ids:
                continue
            if self.vendor.end_of(listed) is None:
                all_are_over = False
            elif await self._is_ours(listed, batch):
                batch.id = listed.id
                return
        if all_are_over and batch.name in self.missed:
            self._forget(batch)
        elif all_are_over:
            self.missed.add(batch.name)

    async def _is_ours(self, listed: Any, batch: Batch) -> bool:
        """Whether the first result of a listed batch answers a request in `batch`."""
        async for key, _ in self.vendor.results(listed):
            if key:  # else the line is broken
                return key in batch.keys
        return False

    async def _look(self, batch: Batch) -> None:
        """Check on a batch. If it is over, store the results that this run asks for."""
        run = self.run
        status = await self.vendor.batches.retrieve(batch.id)
        end = self.vendor.end_of(status)
        if end is None:
            self.answered[batch.name] = getattr(status.request_counts, "completed", 0) or 0
            return
        without_result = run.missing.keys() & batch.keys
        async for key, result in self.vendor.results(status):
            if key in without_result:
                without_result.remove(key)
                self._take(key, result, batch)
        for key in without_result:
            self._take(key, PassingError("no result came back"), batch)
        batch.keys = [key for key in batch.keys if key not in run.requests]
        if end:
            run.stopped = f"batch {batch.id} {end}"

    def _take(self, key: str, result: Reply | Exception, batch: Batch) -> None:
        """Store one answer. A request without one waits for another batch or, if its error is final
        or it failed `ROUNDS` times, gets the error as its response.
        """
        if isinstance(result, Reply):
            self.run.keep(key, result, time.time() - batch.sent)
            return
        self.failures[key] += 1
        is_final = isinstance(result, RefusedError | FilteredError)
        if is_final or self.failures[key] == ROUNDS:
            self.run.fail(key, result)
        else:
            self.run.end(key, result)


# The vendors


class RefusedError(Exception):
    """The vendor gave an error instead of one answer, and would do so again."""


class PassingError(Exception):
    """The vendor gave an error instead of one answer, but asking again may work."""


class Batches(ABC):
    """What both vendors' batches share."""

    adapter: Remote

    @abstractmethod
    def files(self, batch: Any) -> list[AbstractAsyncContextManager]:
        """The files with the results of a batch, to be opened as streams."""

    @abstractmethod
    def answer(self, result: Any) -> Any:
        """The body of the answer in a line of results. Errors: those made by `_fault`."""

    async def results(self, batch: Any) -> AsyncIterator[tuple[str, Reply | Exception]]:
        """Yield each request's key with its reply or error, for a batch that is over."""
        for file in self.files(batch):
            begun_line = b""
            async with file as content:
                # The clients' own readers stop at the first broken line.
                async for chunk in content.iter_bytes():
                    *lines, begun_line = (begun_line + chunk).split(b"\n")
                    for line in lines:
                        yield self.read(line)
            yield self.read(begun_line)

    def read(self, line: bytes) -> tuple[str, Reply | Exception]:
        """The key and the reply or error in one line of results; a broken line has the key ""."""
        key = ""
        try:
            result = from_json(line)
            with form_of(result):
                key = str(result.custom_id or "")
                return key, self.adapter.reply(self.answer(result))
        except (NoAnswerError, FilteredError, RefusedError, PassingError) as error:
            return key, error


class OpenAIBatches(Batches):
    """OpenAI's batches: from a file of requests come a file of answers and one of errors. A
    request's key is its `custom_id`.
    """

    most_requests = 50_000
    most_bytes = 200_000_000

    def __init__(self, adapter: Remote):
        self.adapter = adapter
        self.batches = adapter.client.batches
        self.url = f"/v1{adapter.path}"

    def entry(self, key: str, request: Request) -> Payload:
        """The entry of a batch that asks one request."""
        body = self.adapter.wire(request)
        return {"custom_id": key, "method": "POST", "url": self.url, "body": body}

    async def create(self, entries: Collection[Payload]) -> str:
        """Make a batch and return its id. No retries, as they might make a second batch."""
        client = self.adapter.client
        lines = [json.dumps(entry).encode() for entry in entries]
        file = await client.files.create(file=("x.jsonl", b"\n".join(lines)), purpose="batch")
        batch = await client.with_options(max_retries=0).batches.create(
            completion_window="24h", endpoint=self.url, input_file_id=file.id
        )
        return batch.id

    def made(self, batch: Any) -> float:
        """When a batch was made, in seconds since 1970."""
        return batch.created_at

    def end_of(self, batch: Any) -> str | None:
        """None while a batch is under way; then "", or why it failed or was cancelled."""
        if batch.status == "failed":
            errors = (batch.errors and batch.errors.data) or []
            return "failed: " + "; ".join(str(error.message or error.code) for error in errors[:3])
        ends = {"completed": "", "expired": "", "cancelled": "was cancelled at the vendor"}
        return ends.get(batch.status)

    def files(self, batch: Any) -> list[AbstractAsyncContextManager]:
        content = self.adapter.client.files.with_streaming_response.content
        return [content(id) for id in (batch.output_file_id, batch.error_file_id) if id]

    def answer(self, result: Any) -> Any:
        response = result.response or JsonObject()
        status = response.status_code
        if status == 200 and not result.error:
            return response.body
        raise _fault(result.error or response.body, status, server_errors.passes(status))


class AnthropicBatches(Batches):
    """Anthropic's batches: requests are sent in the call itself; results come as one list."""

    most_requests = 100_000
    most_bytes = 256_000_000

    def __init__(self, adapter: Remote):
        self.adapter = adapter
        self.batches = adapter.client.messages.batches

    def entry(self, key: str, request: Request) -> Payload:
        return {"custom_id": key, "params": self.adapter.wire(request)}

    async def create(self, entries: Collection[Payload]) -> str:
        client = self.adapter.client.with_options(max_retries=0)
        return (await client.messages.batches.create(requests=entries)).id

    def made(self, batch: Any) -> float:
        return batch.created_at.timestamp()

    def end_of(self, batch: Any) -> str | None:
        if batch.processing_status != "ended":
            return None
        return "was cancelled at the vendor" if batch.cancel_initiated_at else ""

    def files(self, batch: Any) -> list[AbstractAsyncContextManager]:
        return [self.batches.with_streaming_response.results(batch.id)]

    def answer(self, result: Any) -> Any:
        outcome = result.result
        if outcome.type == "succeeded":
            return outcome.message
        error = (outcome.error or JsonObject()).error or JsonObject(type=outcome.type)
        raise _fault(error, None, error.type != "invalid_request_error")


Vendor = OpenAIBatches | AnthropicBatches


def _fault(error: Any, status: int | None, is_passing: bool) -> Exception:
    """The exception for an error instead of an answer. is_passing: asking again may work."""
    message = server_errors.words(error)
    if server_errors.is_filtered(error, status):
        return FilteredError(f"in place of an answer: {message}")
    kind = PassingError if is_passing else RefusedError
    return kind(f"{status}: {message}" if status else message)


def parts(
    vendor: Vendor, requests: Mapping[str, Request], limit: int | None
) -> Iterator[dict[str, Payload]]:
    """Yield batch entries by key, in parts within the vendor's limits and `limit` (requests)."""
    most_requests = min(limit or vendor.most_requests, vendor.most_requests)
    part: dict[str, Payload] = {}
    size = 0
    for key, request in chain.from_iterable(by_prefix(requests)):
        entry = vendor.entry(key, request)
        length = len(json.dumps(entry)) + 2
        if part and (len(part) == most_requests or size + length > vendor.most_bytes):
            yield part
            part = {}
            size = 0
        part[key] = entry
        size += length
    if part:
        yield part
