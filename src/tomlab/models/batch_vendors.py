"""The vendors' batches through their own clients: OpenAI's Batch API, Anthropic's Message Batches.

A request goes by its key, the batch's `custom_id`. Results are read line by line, by bytes: the
clients' own readers end at the first broken line.
"""

import json
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tomlab.models.remote import Payload, Remote

# How far a vendor's clock may be from ours, in seconds.
SKEW = 3600.0


@dataclass(frozen=True)
class Line:
    """One result. answer: what the client would have given back, None for a failure; said: the
    failure's cause; passing: whether asking again may fare better; filtered: whether it is the
    vendor's content filter that failed it. key: "" where none is told.
    """

    key: str = ""
    answer: Any = None
    said: str = ""
    passing: bool = True
    filtered: bool = False


BROKEN = Line(said="a broken line among a batch's results")


@dataclass(frozen=True)
class State:
    """How far a batch is. halt: why nothing more of it is to be asked by itself; full: only because
    too much is under way.
    """

    done: int
    is_over: bool
    halt: str = ""
    full: bool = False


def vendor(adapter: Remote, window: str) -> "OpenAIBatches | AnthropicBatches":
    """The batches of the vendor that an adapter speaks to."""
    is_openai = adapter.spec.provider == "openai"
    return OpenAIBatches(adapter, window) if is_openai else AnthropicBatches(adapter)


class OpenAIBatches:
    """Files of requests, which a batch turns into a file of answers and one of errors.

    most, most_bytes: the limits of one.
    """

    most, most_bytes = 50_000, 200_000_000

    def __init__(self, adapter: Remote, window: str = "24h"):
        self.adapter, self.window = adapter, window
        self.path = f"/v1{adapter.path}"

    @property
    def _client(self) -> Any:
        return self.adapter._client

    def entry(self, key: str, sent: Payload) -> dict[str, Any]:
        """The part of a batch that asks one request, as the client would ask it by itself."""
        return {"custom_id": key, "method": "POST", "url": self.path, "body": sent}

    async def upload(self, local: str, entries: Sequence[Mapping]) -> str:
        """What has to be there before a batch is made; it costs nothing."""
        file = (f"{local}.jsonl", jsonl(entries))
        return (await self._client.files.create(file=file, purpose="batch")).id

    async def create(self, local: str, uploaded: str) -> str:
        """Make the batch; its id. No retry of the client's: it might make a second one."""
        once = self._client.with_options(max_retries=0).batches
        about = {"endpoint": self.path, "completion_window": self.window}
        marked = {"input_file_id": uploaded, "metadata": {"tomlab": local}}
        return (await once.create(**about, **marked)).id

    async def look(self, batch: str) -> State:
        found = await self._client.batches.retrieve(batch)
        over = found.status in ("completed", "expired", "cancelled", "failed")
        errors = (found.errors and found.errors.data) or []
        said = "; ".join(str(error.message or error.code) for error in errors[:3])
        halts = {"cancelled": "was cancelled at the vendor", "failed": f"failed: {said}"}
        full = any(error.code == "token_limit_exceeded" for error in errors)
        counts = found.request_counts
        done = counts.completed + counts.failed if counts else 0
        return State(done, over, halts.get(found.status, ""), full)

    async def results(self, batch: str) -> AsyncIterator[Line]:
        found = await self._client.batches.retrieve(batch)
        for file in filter(None, (found.output_file_id, found.error_file_id)):
            async with self._client.files.with_streaming_response.content(file) as content:
                async for line in _lines(content.iter_bytes()):
                    yield self.read(line)

    def read(self, line: bytes) -> Line:
        """One line of a file of results, the vendor's or another's of that form."""
        from openai.types.chat import ChatCompletion
        from openai.types.responses import Response

        form = Response if self.adapter.spec.endpoint == "responses" else ChatCompletion
        try:
            told = json.loads(line)
            key, response = str(told["custom_id"]), told.get("response") or {}
            status, said = response.get("status_code"), response.get("body")
            if status == 200 and not told.get("error"):
                return Line(key, form.construct(**said))
            said = _said(told.get("error") or said)
        except (ValueError, TypeError, KeyError, AttributeError):
            return BROKEN
        passing = not status or status in (408, 409, 429) or status >= 500
        filtered = said.startswith("content_filter")  # the error's code
        return Line(key, None, f"{status}: {said}" if status else said, passing, filtered)

    async def find(
        self, local: str, keys: Collection[str], since: float, known: Collection[str]
    ) -> str | None:
        """The id of a batch of which nobody heard whether it was made; None if it was not, "" while
        that can't be told. known: ids of others.
        """
        # It bears our own id of it, and the list has the newest first.
        async for found in self._client.batches.list(limit=100):
            if (found.metadata or {}).get("tomlab") == local:
                return found.id
            if found.created_at < since - SKEW:
                break
        return None


class AnthropicBatches:
    """The same of batches that carry their requests and give one list of results."""

    most, most_bytes = 100_000, 256_000_000

    def __init__(self, adapter: Remote):
        self.adapter = adapter
        self._others: set[str] = set()

    @property
    def _batches(self) -> Any:
        return self.adapter._client.messages.batches

    def entry(self, key: str, sent: Payload) -> dict[str, Any]:
        return {"custom_id": key, "params": sent}

    async def upload(self, local: str, entries: Sequence[Mapping]) -> Sequence[Mapping]:
        return entries

    async def create(self, local: str, uploaded: Sequence[Mapping]) -> str:
        once = self.adapter._client.with_options(max_retries=0).messages.batches
        return (await once.create(requests=uploaded)).id

    async def look(self, batch: str) -> State:
        found = await self._batches.retrieve(batch)
        counts = found.request_counts
        done = counts.succeeded + counts.errored + counts.canceled + counts.expired
        cancelled = "was cancelled at the vendor" if found.cancel_initiated_at else ""
        return State(done, found.processing_status == "ended", cancelled)

    async def results(self, batch: str) -> AsyncIterator[Line]:
        async with self._batches.with_streaming_response.results(batch) as content:
            async for line in _lines(content.iter_bytes()):
                yield self.read(line)

    def read(self, line: bytes) -> Line:
        from anthropic.types import Message

        try:
            told = json.loads(line)
            key, result = str(told["custom_id"]), told["result"]
            if result["type"] == "succeeded":
                return Line(key, Message.construct(**result["message"]))
            error = (result.get("error") or {}).get("error") or {}
            lasting = error.get("type") == "invalid_request_error"
            return Line(key, None, _said(error or result["type"]), not lasting)
        except (ValueError, TypeError, KeyError, AttributeError):
            return BROKEN

    async def find(
        self, local: str, keys: Collection[str], since: float, known: Collection[str]
    ) -> str | None:
        # No batch bears an id of ours. What was made since then, is not known by its id and has as
        # many requests as ours may be ours: the `custom_id` of any of its results proves it or
        # rules it out, and those are there once it has ended. Until then nothing is asked again:
        # waiting costs time alone.
        told = None
        async for found in self._batches.list(limit=100):
            if found.created_at.timestamp() < since - SKEW:
                break
            counts = found.request_counts.to_dict().values()
            if found.id in {*known, *self._others} or sum(counts) != len(keys):
                continue
            if found.processing_status != "ended":
                told = ""
            elif found.archived_at is None:
                async for line in self.results(found.id):
                    if line.key in keys:
                        return found.id
                    if line.key:
                        break
                self._others.add(found.id)
        return told


def jsonl(entries: Iterable[Mapping]) -> bytes:
    """JSON Lines."""
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream that are not empty."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in filter(bytes.strip, whole):
            yield line
    if rest.strip():
        yield rest


def _said(error: Any) -> str:
    """A vendor's error in words."""
    inner = error.get("error", error) if isinstance(error, Mapping) else error
    told = inner if isinstance(inner, Mapping) else {"message": inner}
    return ": ".join(str(told[name]) for name in ("code", "type", "message") if told.get(name))
