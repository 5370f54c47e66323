"""A local server that speaks enough of the OpenAI and Anthropic protocols to misbehave in both.

What it does with successive questions is a script, a list of `Act`s; after that it gives good
answers. It keeps what it was asked. Run as a program (`python faulty_server.py [SECONDS]`, the
wait before an answer) it prints its URL and serves until its standard input ends.
"""

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

PROMPT_TOKENS, COMPLETION_TOKENS = 11, 7
_STOP_REASON = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


@dataclass(frozen=True)
class Act:
    """What is done with one question; unless told otherwise it is answered well.

    text: the answer (default: `good_answer`); finish: in the words of OpenAI's chat protocol;
    body: sent in place of a whole reply; drop: the connection is closed without a reply.
    """

    status: int = 200
    text: str | None = None
    finish: str = "stop"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    drop: bool = False
    wait: float = 0.0


GOOD = Act()
BUSY = Act(status=429, headers={"Retry-After": "1"})
BROKEN = Act(status=500)
DROPPED = Act(drop=True)


@dataclass(frozen=True)
class Asked:
    """One question as it arrived, and when, in seconds."""

    path: str
    body: Mapping[str, Any]
    at: float

    @property
    def text(self) -> str:
        return self.body.get("messages", self.body.get("input"))[-1]["content"]


def good_answer(question: str) -> str:
    """What the server says to a question when all is well."""
    return f"You asked: {question}"


class FaultyServer:
    """Serves on a free loopback port, in a thread, inside a `with` block.

    models: what it lists; aliases: what it knows besides; it answers for any. key: if set, the only
    one it lets in; others are turned away with a message that repeats theirs, as some servers do.
    asked: the questions so far; most_at_once: the most that were open at the same time.
    headers: of everything that came in, questions or not; names in lower case.
    listing: what is done in place of the list of models. moved: the URL of another server, to which
    everything is redirected. drips_after: what follows this in a reply comes a byte at a time.
    on_asked: called with the number of questions so far, before each is answered.
    """

    def __init__(self, default: Act = GOOD):
        self.script: list[Act] = []
        self.default = default
        self.models = ["toy"]
        self.aliases: list[str] = []
        self.key: str | None = None
        self.listing: Act | None = None
        self.moved = ""
        self.drips_after: bytes | None = None
        self.on_asked: Callable[[int], object] | None = None
        self.asked: list[Asked] = []
        self.headers: list[Mapping[str, str]] = []
        self.most_at_once = 0
        self._at_once = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *_) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self, ready: threading.Event) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(ready))

    async def _serve(self, ready: threading.Event) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0, backlog=512)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await self._stop.wait()
        server.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                reply = await self._answer(*await _read(reader))
                if reply is None:
                    break
                if self.drips_after:
                    head, mark, reply = reply.partition(self.drips_after)
                    writer.write(head + mark)
                    while reply:
                        await asyncio.sleep(0.05)
                        writer.write(reply[:1])
                        reply = reply[1:]
                writer.write(reply)
                await writer.drain()
        writer.close()

    async def _answer(self, method: str, path: str, headers: Mapping, body: bytes) -> bytes | None:
        """The bytes to send back; None closes the connection."""
        self.headers.append(headers)
        if self.moved:
            return _http(307, "", {"Location": f"{self.moved}{path}"})
        key = headers.get("authorization", "")
        if self.key and self.key not in key:
            return _http(401, _error(f"Wrong key: {key}"))
        if method == "GET" and self.listing:
            return _http(self.listing.status, self.listing.body or "", self.listing.headers)
        if method == "GET" and path == "/v1/models":
            return _http(200, json.dumps({"data": [{"id": model} for model in self.models]}))
        if method == "GET" and path.removeprefix("/v1/models/") in self.aliases:
            return _http(200, json.dumps({"id": self.models[0]}))
        if path not in _REPLY:
            return _http(404, _error(f"Nothing at {path}"))
        asked = Asked(path, json.loads(body), time.monotonic())
        self.asked.append(asked)
        if self.on_asked:
            self.on_asked(len(self.asked))
        act = self.script.pop(0) if self.script else self.default
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await asyncio.sleep(act.wait)
        self._at_once -= 1
        return None if act.drop else _http(act.status, _body(act, asked), act.headers)


async def _read(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes]:
    """Method, path, headers and body of the next request on a connection."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    pairs = (line.split(": ", 1) for line in lines)
    headers = {name.lower(): value for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return *first.split()[:2], headers, body


def _body(act: Act, asked: Asked) -> str:
    if act.body is not None:
        return act.body
    if act.status != 200:
        return _error(f"scripted {act.status}")
    text = good_answer(asked.text) if act.text is None else act.text
    return json.dumps({"id": "x", "model": asked.body["model"], **_REPLY[asked.path](act, text)})


def _completion(act: Act, text: str) -> dict:
    message = {"role": "assistant", "content": text}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": act.finish}],
        "usage": {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS},
    }


def _response(act: Act, text: str) -> dict:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "id": "m", "role": "assistant", "content": content}
    return {
        "output": [message] if text else [],
        "status": "completed" if act.finish == "stop" else "incomplete",
        "incomplete_details": {"reason": _INCOMPLETE.get(act.finish)},
        "usage": {"input_tokens": PROMPT_TOKENS, "output_tokens": COMPLETION_TOKENS},
    }


def _message(act: Act, text: str) -> dict:
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": _STOP_REASON[act.finish],
        "usage": {"input_tokens": PROMPT_TOKENS, "output_tokens": COMPLETION_TOKENS},
    }


_REPLY = {"/v1/chat/completions": _completion, "/v1/messages": _message}
_REPLY |= {"/v1/responses": _response, "/v1/completions": _completion}


def _error(message: str) -> str:
    return json.dumps({"type": "error", "error": {"type": "scripted", "message": message}})


def _http(status: int, body: str, headers: Mapping[str, str] | None = None) -> bytes:
    """A reply of HTTP."""
    payload = body.encode()
    lines = [f"HTTP/1.1 {status} scripted", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    lines += [f"Content-Length: {len(payload)}", "", ""]
    return "\r\n".join(lines).encode() + payload


if __name__ == "__main__":
    with FaultyServer(Act(wait=float(sys.argv[1]) if sys.argv[1:] else 0.0)) as running:
        print(running.url, flush=True)
        sys.stdin.read()
