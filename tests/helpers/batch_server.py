"""A local server that sells batches in both vendors' protocols, and misbehaves in single lines.

What it sold is written to an SQLite file at once, so that whoever counts sees what was paid for.
"""

import json
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from faulty_server import GOOD, Asked, FaultyServer, _body, _error, _http

# What may become of a line, besides a good answer: refused for now, broken inside, cut in two, left
# out, no JSON of the protocol.
FAULTS = ("busy", "failed", "cut", "lost", "malformed")


@dataclass
class Sold:
    """One batch. end: how it ends; share: how much of it is done by then."""

    id: str
    made: float
    entries: list[Mapping]
    metadata: Mapping
    seconds: float
    end: str
    share: float
    results: list[bytes] = field(default_factory=list)
    errors: list[bytes] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return time.time() >= self.made + self.seconds

    @property
    def done(self) -> int:
        return len(self.entries) if self.is_over else 0


class BatchServer(FaultyServer):
    """As a `FaultyServer`, with batches at both protocols' addresses.

    seconds: how long a batch takes; faulty: the share of lines that go wrong the first time they
    are asked, drawn by `seed`; ends: how the next batches end, each with the share of it that is
    done by then, before all others complete; faults: what is wrong with the next lines.
    most: the limit of a batch. on_create: called with each batch before anybody hears of it; if it
    gives true, the connection is closed in place of an answer. batches: all, the first one first.
    """

    def __init__(self, sold: Path, *, seconds: float = 0.0, faulty: float = 0.0, seed: int = 0):
        super().__init__()
        self.seconds = seconds
        self.faulty = faulty
        self.most = 50_000
        self.ends: list[tuple[str, float]] = []
        self.faults: list[str] = []
        self.on_create: Callable[[Sold], bool] = lambda _: False
        self.batches: dict[str, Sold] = {}
        self.files: dict[str, bytes] = {}
        self.statuses: dict[str, list[int]] = {}  # by path: what the next calls get instead
        self._draw = random.Random(seed)
        self._seen: set[str] = set()
        self._db = sqlite3.connect(sold, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS sold (key TEXT, batch TEXT)")

    def sold(self) -> Counter[str]:
        """How often each request was answered well, and so paid for."""
        return Counter(key for (key,) in self._db.execute("SELECT key FROM sold"))

    async def _answer(self, method: str, path: str, headers: Mapping, body: bytes) -> bytes | None:
        address = urlsplit(path)
        parts = address.path.strip("/").split("/")
        query = parse_qs(address.query)
        statuses = self.statuses.get(address.path)
        if statuses:
            return _http(statuses.pop(0), _error("scripted"))
        match (method, parts):
            case "POST", ["v1", "files"]:
                return self._upload(headers, body)
            case "GET", ["v1", "files", file, "content"]:
                return _http_bytes(self.files[file])
            case "POST", ["v1", "batches"]:
                order = json.loads(body)
                lines = self.files[order["input_file_id"]].splitlines()
                entries = [json.loads(line) for line in lines]
                assert all(entry["url"] == order["endpoint"] for entry in entries)
                return self._create(entries, order.get("metadata") or {}, self._openai)
            case "POST", ["v1", "messages", "batches"]:
                return self._create(json.loads(body)["requests"], {}, self._anthropic)
            case "GET", ["v1", "batches"]:
                return self._list(self._openai, query, "after")
            case "GET", ["v1", "messages", "batches"]:
                return self._list(self._anthropic, query, "after_id")
            case "GET", ["v1", "batches", id] if id in self.batches:
                return _http(200, json.dumps(self._openai(self.batches[id])))
            case "GET", ["v1", "messages", "batches", id] if id in self.batches:
                return _http(200, json.dumps(self._anthropic(self.batches[id])))
            case "GET", ["v1", "messages", "batches", id, "results"]:
                return _http_bytes(b"".join(self.batches[id].results))
        return await super()._answer(method, path, headers, body)

    def _upload(self, headers: Mapping, body: bytes) -> bytes:
        head = f"Content-Type: {headers['content-type']}\r\n\r\n".encode()
        fields = {}
        for part in message_from_bytes(head + body).get_payload():
            fields[part.get_param("name", header="content-disposition")] = part
        assert fields["purpose"].get_payload().strip() == "batch"
        id = f"file-{len(self.files)}"
        self.files[id] = fields["file"].get_payload(decode=True)
        return _http(200, json.dumps({"id": id, "object": "file"}))

    def _create(self, entries: list, metadata: Mapping, shown: Callable) -> bytes | None:
        if len(entries) > self.most:
            return _http(400, _error(f"more than {self.most} requests"))
        assert len({entry["custom_id"] for entry in entries}) == len(entries)
        end, share = self.ends.pop(0) if self.ends else ("completed", 1.0)
        id = f"batch_{len(self.batches)}"
        batch = Sold(id, time.time(), entries, metadata, self.seconds, end, share)
        self._answer_all(batch, "params" if shown == self._anthropic else "body")
        self.batches[id] = batch
        return None if self.on_create(batch) else _http(200, json.dumps(shown(batch)))

    def _answer_all(self, batch: Sold, name: str) -> None:
        """Work out all results; `batch.end` decides what becomes of what is not done by then."""
        done = 0 if batch.end == "failed" else int(len(batch.entries) * batch.share)
        line = _openai_line if name == "body" else _anthropic_line
        sold = []
        for entry in batch.entries[:done]:
            key = entry["custom_id"]
            fault = ""
            if self.faults:
                fault = self.faults.pop(0)
            elif key not in self._seen and self._draw.random() < self.faulty:
                fault = self._draw.choice(FAULTS)
            self._seen.add(key)
            path = "/v1/messages" if name == "params" else entry["url"]
            good = json.loads(_body(GOOD, Asked(path, entry[name], 0.0)))
            result, is_error = line(key, good, fault)
            (batch.errors if is_error else batch.results).append(result)
            if not fault:
                sold.append((key, batch.id))
        if batch.end in ("expired", "cancelled"):
            for entry in batch.entries[done:]:
                result, is_error = line(entry["custom_id"], {}, batch.end)
                (batch.errors if is_error else batch.results).append(result)
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT INTO sold VALUES (?, ?)", sold)

    def _list(self, shown: Callable, query: Mapping, after: str) -> bytes:
        newest = [*reversed(self.batches.values())]
        if after in query:
            ids = [batch.id for batch in newest]
            newest = newest[ids.index(query[after][0]) + 1 :]
        page = [shown(batch) for batch in newest[: int(query["limit"][0])]]
        more = len(page) < len(newest)
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        return _http(200, json.dumps({"object": "list", "data": page, "has_more": more, **ends}))

    def _openai(self, batch: Sold) -> dict:
        status = batch.end if batch.is_over else "in_progress"
        shown = {
            "id": batch.id,
            "object": "batch",
            "status": status,
            "created_at": int(batch.made),
            "metadata": dict(batch.metadata),
            "request_counts": {"total": len(batch.entries), "completed": batch.done, "failed": 0},
        }
        if status == "failed":
            error = {"code": "invalid_json_line", "message": "scripted"}
            shown["errors"] = {"object": "list", "data": [error]}
        elif batch.is_over:
            for kind, lines in (("output", batch.results), ("error", batch.errors)):
                if lines:
                    id = f"{kind}-{batch.id}"
                    shown[f"{kind}_file_id"] = id
                    self.files[id] = b"".join(lines)
        return shown

    def _anthropic(self, batch: Sold) -> dict:
        made = datetime.fromtimestamp(batch.made, UTC).isoformat()
        count = len(batch.entries)
        counts = {"processing": count - batch.done, "succeeded": batch.done}
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if batch.is_over else "in_progress",
            "request_counts": counts | dict.fromkeys(("errored", "canceled", "expired"), 0),
            "created_at": made,
            "expires_at": made,
            "ended_at": made if batch.is_over else None,
            "cancel_initiated_at": made if batch.end == "cancelled" else None,
            "results_url": f"{self.url}/v1/messages/batches/{batch.id}/results",
        }


_ANTHROPIC_ERRORS = {
    "busy": "overloaded_error",
    "failed": "api_error",
    "wrong": "invalid_request_error",
}


def _openai_line(key: str, good: Mapping, fault: str) -> tuple[bytes, bool]:
    """A line of results, and whether it belongs to the file of errors."""
    if fault in ("expired", "cancelled"):
        error = {"code": f"batch_{fault}", "message": "not executed"}
        return _line({"id": "x", "custom_id": key, "response": None, "error": error}), True
    status = {"busy": 429, "failed": 500, "wrong": 400, "filtered": 400}.get(fault, 200)
    code = "content_filter" if fault == "filtered" else None
    body = good if status == 200 else {"error": {"message": "scripted", "code": code}}
    body = {"id": "x"} if fault == "malformed" else body
    response = {"status_code": status, "request_id": "x", "body": body}
    result = _line({"id": "x", "custom_id": key, "response": response, "error": None})
    return _marred(result, fault), status != 200


def _anthropic_line(key: str, good: Mapping, fault: str) -> tuple[bytes, bool]:
    """A line of results; none has a file of errors."""
    kind = _ANTHROPIC_ERRORS.get(fault)
    if fault in ("expired", "cancelled"):
        result = {"type": {"cancelled": "canceled"}.get(fault, fault)}
    elif kind:
        error = {"type": "error", "error": {"type": kind, "message": "scripted"}}
        result = {"type": "errored", "error": error}
    else:
        message = {"id": "x"} if fault == "malformed" else good
        result = {"type": "succeeded", "message": message}
    return _marred(_line({"custom_id": key, "result": result}), fault), False


def _marred(line: bytes, fault: str) -> bytes:
    return {"cut": line[: len(line) // 2] + b"\n", "lost": b""}.get(fault, line)


def _line(result: Mapping) -> bytes:
    return json.dumps(result, ensure_ascii=False).encode() + b"\n"


def _http_bytes(payload: bytes) -> bytes:
    head = "HTTP/1.1 200 scripted\r\nContent-Type: application/binary\r\n"
    return f"{head}Content-Length: {len(payload)}\r\n\r\n".encode() + payload
