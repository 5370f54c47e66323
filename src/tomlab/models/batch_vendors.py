"""OpenAI's Batch API and Anthropic's Message Batches; a request's key is their `custom_id`."""

import json
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any

from tomlab.models.providers import by_prefix
from tomlab.models.remote import Payload, Remote
from tomlab.models.replies import FilteredError, MalformedReplyError, Told, form_of, from_json
from tomlab.models.specs import Reply, Request

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

    async def results(self, batch: Any) -> AsyncIterator[tuple[str, Reply | Exception]]:
        """Of a batch that is over, each key with the reply or the error in its place."""
        # By bytes: the clients' own readers end at the first broken line.
        for file in self.files(batch):
            async with file as content:
                rest = b""
                async for chunk in content.iter_bytes():
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in filter(bytes.strip, lines):
                        yield self.read(line)
                if rest.strip():
                    yield self.read(rest)

    def read(self, line: bytes) -> tuple[str, Reply | Exception]:
        """One line of results; a broken one has the key ""."""
        key = ""
        try:
            told = from_json(line)
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
            async for key, _ in self.results(found):
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
        said = _said(told.error or response.body)
        if said.startswith("content_filter"):  # the error's code
            raise FilteredError(said)
        fault = PassingError if passes(status) else LineError
        raise fault(f"{status}: {said}" if status else said)


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
        error = (result.error or Told()).error or Told()
        fault = LineError if error.type == "invalid_request_error" else PassingError
        raise fault(_said(error) or result.type)


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


def passes(status: int | None) -> bool:
    """Whether a failure with this HTTP status, or without one, may be gone the next time."""
    return not status or status in (408, 409, 429) or status >= 500


def jsonl(entries: Iterable[Mapping]) -> bytes:
    """JSON Lines."""
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


def _said(error: Any) -> str:
    """A vendor's error in words."""
    inner = getattr(error, "error", None) or error
    told = [getattr(inner, name, None) for name in ("code", "type", "message")]
    return ": ".join(str(part) for part in told if part) or str(inner or "")
