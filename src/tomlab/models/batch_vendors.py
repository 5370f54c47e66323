"""OpenAI's Batch API and Anthropic's Message Batches; a request's key is their `custom_id`."""

import json
import time
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any

from tomlab.errors import InputError
from tomlab.models import server_errors
from tomlab.models.providers import by_prefix
from tomlab.models.remote import MOST_REPLY, SLOWEST, Payload, Remote
from tomlab.models.replies import FilteredError, MalformedReplyError, Told, body_of, form_of
from tomlab.models.specs import Reply, Request

# Bytes of a file of results: so many for each request of the batch, above those of one reply.
MOST_RESULT = 1_000_000
SKEW = 3600.0  # how far a vendor's clock may be from ours, in seconds
CANCELLED = "was cancelled at the vendor"


class LineError(Exception):
    """What a vendor said in place of one answer, for good."""


class PassingError(LineError):
    """The same, where asking again may fare better."""


class Batches:
    """Each adds the limits `most` and `most_bytes` of a batch; of: the batches of a client; entry:
    what asks one request; create: makes a batch, without retries, which might make a second one;
    ended: None under way, then "" or why; files: its results; answer: what came for one request.
    """

    def __init__(self, adapter: Remote):
        self.adapter = adapter

    @property
    def batches(self) -> Any:
        return self.of(self.adapter.client)

    async def results(self, batch: Any, count: int) -> AsyncIterator[tuple[str, Reply | Exception]]:
        """Of a batch that is over, each key with the reply or the error in its place. count: of its
        requests. Errors: `InputError` for a file that is too long, or comes too slowly, for them.
        """
        most = MOST_REPLY + count * MOST_RESULT
        for file in self.files(batch):
            async with file as content:
                chunks = _bounded(content.iter_bytes(), most, self.adapter.spec.timeout)
                async for line in _lines(chunks):
                    yield self.read(line)

    def read(self, line: bytes) -> tuple[str, Reply | Exception]:
        """One line of results; a broken one has the key ""."""
        key = ""
        try:
            told = body_of(line)
            with form_of(told):
                if not (key := str(told.custom_id or "")):
                    raise MalformedReplyError("custom_id: found nothing, expected a request's key")
                return key, self.adapter.reply(self.answer(told))
        except Exception as error:  # noqa: BLE001 - one line's fault must not lose the others
            return key, error

    async def find(self, keys: Collection[str], since: float, known: Collection[str]) -> str | None:
        """The id of a batch of which nobody heard whether it was made; None if it is not there, ""
        while that can't be told. since: when its making began; known: ids of others.

        Any of its results tells whether a batch is ours; until it has some, nothing is asked again.
        """
        told = None
        async for found in self.batches.list(limit=100):  # the newest first
            made = found.created_at  # seconds at OpenAI
            if (made if isinstance(made, int) else made.timestamp()) < since - SKEW:
                break
            if found.id in known:
                continue
            if self.ended(found) is None:
                told = ""
                continue
            async for key, _ in self.results(found, len(keys)):
                if key in keys:
                    return found.id
                if key:
                    break
        return told


class OpenAIBatches(Batches):
    """Files of requests, which a batch turns into a file of answers and one of errors."""

    most, most_bytes, of = 50_000, 200_000_000, attrgetter("batches")

    def entry(self, key: str, request: Request) -> Payload:
        url, body = f"/v1{self.adapter.path}", self.adapter.wire(request)
        return {"custom_id": key, "method": "POST", "url": url, "body": body}

    async def create(self, entries: Collection[Payload]) -> str:
        client, file = self.adapter.client, ("requests.jsonl", jsonl(entries))
        uploaded = await client.files.create(file=file, purpose="batch")
        asked = {"endpoint": f"/v1{self.adapter.path}", "input_file_id": uploaded.id}
        once = self.of(client.with_options(max_retries=0))
        return (await once.create(completion_window="24h", **asked)).id

    def ended(self, found: Any) -> str | None:
        if found.status == "failed":
            errors = (found.errors and found.errors.data) or []
            return "failed: " + "; ".join(str(error.message or error.code) for error in errors[:3])
        return {"completed": "", "expired": "", "cancelled": CANCELLED}.get(found.status)

    def files(self, found: Any) -> Iterator[Any]:
        streamed = self.adapter.client.files.with_streaming_response
        return map(streamed.content, filter(None, (found.output_file_id, found.error_file_id)))

    def answer(self, told: Any) -> Any:
        response = told.response or Told()
        if (status := response.status_code) == 200 and not told.error:
            return response.body
        raise _fault(told.error or response.body, status, server_errors.passes(status))


class AnthropicBatches(Batches):
    """Batches that carry their requests and give one list of results."""

    most, most_bytes, of = 100_000, 256_000_000, attrgetter("messages.batches")

    def entry(self, key: str, request: Request) -> Payload:
        return {"custom_id": key, "params": self.adapter.wire(request)}

    async def create(self, entries: Collection[Payload]) -> str:
        once = self.of(self.adapter.client.with_options(max_retries=0))
        return (await once.create(requests=entries)).id

    def ended(self, found: Any) -> str | None:
        if found.processing_status != "ended":
            return None
        return CANCELLED if found.cancel_initiated_at else ""

    def files(self, found: Any) -> Iterable[Any]:
        return [self.batches.with_streaming_response.results(found.id)]

    def answer(self, told: Any) -> Any:
        result = told.result
        if result.type == "succeeded":
            return result.message
        error = (result.error or Told()).error or Told(type=result.type)
        raise _fault(error, None, error.type != "invalid_request_error")


def parts(
    vendor: Batches, requests: Mapping[str, Request], most: int | None
) -> Iterator[dict[str, Payload]]:
    """What asks these requests, by key, in parts within the vendor's limits and `most`."""
    part, size, most = {}, 0, min(most or vendor.most, vendor.most)
    for key, request in chain.from_iterable(by_prefix(requests)):
        entry = vendor.entry(key, request)
        length = len(json.dumps(entry)) + 2
        if part and (len(part) == most or size + length > vendor.most_bytes):
            yield part
            part, size = {}, 0
        part[key] = entry
        size += length
    if part:
        yield part


def jsonl(entries: Iterable[Mapping]) -> bytes:
    """JSON Lines."""
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


async def _bounded(chunks: AsyncIterator[bytes], most: int, timeout: float) -> AsyncIterator[bytes]:
    """The chunks of a file. Errors: `InputError` after `most` bytes, or where they come slowly."""
    start = time.monotonic()
    read = 0
    async for chunk in chunks:
        read += len(chunk)
        if read > most:
            raise InputError(f"a file of results is longer than {most:,} bytes; it was not read on")
        if time.monotonic() - start > timeout + read / SLOWEST:
            raise InputError(f"only {read:,} bytes of a file of results came in {timeout:g} s")
        yield chunk


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a file that are not blank. The clients' own readers end at the first broken one.
    One that is longer than a reply may be is cut, and so broken.
    """
    rest = bytearray()
    async for chunk in chunks:
        *ends, beginning = chunk.split(b"\n")
        for end in ends:
            line = bytes(rest + end)[:MOST_REPLY]
            rest.clear()
            if line.strip():
                yield line
        if len(rest) < MOST_REPLY:
            rest += beginning
    if rest.strip():
        yield bytes(rest)


def _fault(error: Any, status: int | None, is_passing: bool) -> Exception:
    """What stands in place of an answer: a `FilteredError`, `PassingError` or `LineError`."""
    message = server_errors.said(error)
    if server_errors.is_filtered(error, status):
        return FilteredError(f"in place of an answer: {message}")
    kind = PassingError if is_passing else LineError
    return kind(f"{status}: {message}" if status else message)
