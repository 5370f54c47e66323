"""The response store: every answer that was paid for, in SQLite, keyed by the whole request.

It lies outside every stage's outputs. What differs from run to run (dates, latencies, cost) is
kept here and nowhere else.
"""

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Self

from tomlab.errors import InputError
from tomlab.models.specs import Reply

_SCHEMA = """
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL,
    finish_reason TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, cost REAL, seconds REAL NOT NULL, created REAL NOT NULL
) WITHOUT ROWID
"""
_CHUNK = 500


def canonical(request: Mapping) -> str:
    """`request` as JSON in one spelling, so that equal requests have equal text."""
    return json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def request_key(request: Mapping) -> str:
    """SHA-256 of everything that is sent and where to, as 64 hex digits."""
    return sha256(canonical(request).encode()).hexdigest()


class Store:
    """Replies by request key. Each one is committed as it arrives.

    Write-ahead logging without a flush to disk per commit: killing the process loses nothing; a
    power cut may lose the last moments.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_SCHEMA)
        except sqlite3.OperationalError as error:
            raise InputError(f"{self.path}: cannot be opened or is in use ({error})") from error
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"{self.path}: not a response store ({error}). Move it away to start a new one"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self._db.close()

    def replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        """The replies that are there, by key."""
        keys, found = list(dict.fromkeys(keys)), {}
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            rows = self._db.execute(
                "SELECT key, text, finish_reason, prompt_tokens, completion_tokens"
                f" FROM responses WHERE key IN ({','.join('?' * len(chunk))})",
                chunk,
            )
            found.update({key: Reply(*reply) for key, *reply in rows})
        return found

    def put(
        self, key: str, model: str, request: Mapping, reply: Reply, cost: float | None, secs: float
    ) -> None:
        """Keep one reply for good. `secs`: how long it took, with all retries."""
        row = (key, model, canonical(request), reply.text, reply.finish_reason)
        row += (reply.prompt_tokens, reply.completion_tokens, cost, secs, time.time())
        self._db.execute(f"INSERT OR REPLACE INTO responses VALUES ({','.join('?' * 10)})", row)
