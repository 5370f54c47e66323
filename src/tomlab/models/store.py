"""The response store, a SQLite file: every answer by the hash of its whole request, what was
spent, and what requests under way may cost. Whatever differs from run to run (dates, latencies,
cost) is kept here and in files of kept answers only.
"""

import json
import math
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Self

from filelock import FileLock, Timeout

from tomlab.errors import InputError
from tomlab.models.specs import Reply

VERSION = 4  # of the schema
PATIENCE = 60.0  # seconds to wait for a database that another program has locked
# Gives a request one spelling; the hash of that text is the request's key.
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
ROUNDING = 1e-9  # US dollars by which sums of costs may be off
SCHEMA = """
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL,
    finish_reason TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    cost REAL, seconds REAL NOT NULL, created REAL NOT NULL, origin TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID;
-- By which stages, and what for, an answer was asked.
CREATE TABLE IF NOT EXISTS uses (
    key TEXT, stage TEXT, purpose TEXT, PRIMARY KEY (key, stage, purpose)
) WITHOUT ROWID;
-- In one row, US dollars that the answers asked for here cost.
CREATE TABLE IF NOT EXISTS spent (one INTEGER PRIMARY KEY, usd REAL NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO spent VALUES (1, 0);
-- The most that each request under way may cost. batch: its name in the file of batches, '' for
-- none, 'lost' for a request that was under way when its run was killed.
CREATE TABLE IF NOT EXISTS under_way (
    key TEXT NOT NULL, model TEXT NOT NULL, usd REAL NOT NULL, batch TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS under_way_by_key ON under_way (key, model);
"""
INSERT = """
INSERT OR IGNORE INTO responses VALUES (:key, :model, :request, :text, :finish_reason,
    :prompt_tokens, :completion_tokens, :cost, :seconds, :created, :origin)
"""
REPLIES = """
SELECT key, text, finish_reason, prompt_tokens, completion_tokens FROM responses
WHERE key IN (SELECT value FROM json_each(?))
"""
KEPT = """
SELECT responses.*, by_key.uses FROM responses JOIN (
    SELECT key, group_concat(stage || ' ' || purpose, char(10)) uses FROM uses
    WHERE stage LIKE '%/' || ?1 OR stage LIKE ?1 || '/%' GROUP BY key
) by_key USING (key)
"""
SPENDING = """
SELECT (SELECT usd FROM spent), TOTAL(usd) FILTER (WHERE batch = 'lost'),
    TOTAL(usd) FILTER (WHERE batch <> 'lost') FROM under_way
"""
LOSE = """
UPDATE under_way SET batch = 'lost'
WHERE model = ? AND batch NOT IN (SELECT value FROM json_each(?))
"""


class StoreError(InputError):
    """The store can't be read or written; the message names it, the cause and what to do."""


class Spending(NamedTuple):
    """US dollars: what answers cost, and the most that requests of killed runs (lost) and those
    under way may cost.
    """

    answers: float
    lost: float
    under_way: float


class Store:
    """Replies by request key. Each one is committed as it arrives; a later reply to the same
    request is ignored. A power cut may lose the last replies, as commits are not flushed to disk.
    """

    def __init__(self, path: Path | str):
        """Open or make a store, and add the answers that an earlier run could not store. Errors:
        `StoreError` for a damaged store or one of a newer version, which is left unchanged.
        """
        self.path = Path(path)
        with self.faults():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # SQLite fails at once, whatever its timeout, if another process is opening the file.
            with FileLock(f"{path}.lock"):
                self._db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
                [[version]] = self.all("PRAGMA user_version")
                if version > VERSION:
                    raise StoreError(
                        f"{path}: found schema {version} of the response store, expected "
                        f"{VERSION}: made by a newer tomlab; update this one"
                    )
                self.all("PRAGMA journal_mode=WAL")
                self.all("PRAGMA synchronous=NORMAL")
                if version < VERSION:
                    self._db.executescript(SCHEMA)
                    self.all(f"PRAGMA user_version = {VERSION}")
                self._take_in()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self._db.close()

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turn errors of the file within the block into a `StoreError` of one sentence."""
        try:
            yield
        except (sqlite3.DatabaseError, OSError) as error:
            advice = "see that it is a whole response store, writable, on a disk with space"
            raise StoreError(f"{self.path}: {error}: {advice}") from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """The database within a transaction: all changes in the block are made, or none."""
        with self.faults(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db

    def all(self, command: str, *values: Any) -> list[tuple]:
        """Run an SQL command and return its rows."""
        with self.faults():
            return self._db.execute(command, values).fetchall()

    def lock(self, model: str) -> FileLock:
        """The lock that a process holds while it asks a model."""
        return FileLock(f"{self.path}.{model}.lock")

    # Answers

    def replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        """The stored replies to these keys, by key."""
        rows = self.all(REPLIES, json.dumps([*keys]))
        return {key: Reply(*reply) for key, *reply in rows}

    def put(self, answer: Mapping[str, Any]) -> Reply:
        """Store an answer (see `row`) and book its cost if its request was under way. Returns the
        stored reply, which is the earlier one if there was one. Errors: `StoreError`; the answer
        is then written to a file, which the next run adds.
        """
        try:
            self._book(answer)
            if not self.path.exists():
                raise StoreError(f"{self.path}: it was removed while a run asked")
        except StoreError as error:
            raise StoreError(f"{error}; {self._put_aside(answer)}") from None
        return self.replies([answer["key"]])[answer["key"]]

    def _book(self, answer: Mapping[str, Any]) -> None:
        """Store an answer and end its request, in one transaction."""
        with self._changing() as db:
            db.execute(INSERT, answer)
            _end(db, answer["key"], answer["model"], answer["cost"] or 0.0)

    def _put_aside(self, answer: Mapping[str, Any]) -> str:
        """Write an answer to a file for the next run; returns in words whether that worked."""
        file = Path(f"{self._aside()}{answer['model']}-{answer['key']}.json")
        partial = file.with_suffix(".partial")
        try:
            partial.write_text(json.dumps(answer))
            partial.replace(file)
        except OSError as error:
            return f"an answer that came back is lost: {error}"
        return f"what came back is in {file.parent}, for the next run"

    def _take_in(self) -> None:
        """Store the answers that were put aside."""
        start = self._aside()
        for file in start.parent.glob(f"{start.name}*.json"):
            if file.stat().st_uid != os.getuid():  # other users write to this folder too
                continue
            try:
                answer = json.loads(file.read_text())
            except ValueError:
                raise StoreError(f"{file}: found no answer that was put aside; remove it") from None
            self._book(answer)
            file.unlink()

    def _aside(self) -> Path:
        """The beginning of the paths of all files with answers put aside for this store."""
        return Path(tempfile.gettempdir()) / f"tomlab-{key_of(str(self.path.resolve()))[:12]}-"

    def take(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Store rows like those of `kept`, at no cost; the keys that had another answer here."""
        uses = []
        for answer in rows:
            uses += [(answer["key"], *use.split(" ", 1)) for use in answer["uses"].splitlines()]
        with self._changing() as db:
            db.executemany(INSERT, rows)
        self.used(uses)
        replies = self.replies(answer["key"] for answer in rows)
        return [answer["key"] for answer in rows if replies[answer["key"]] != reply_of(answer)]

    def used(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Note uses of answers. rows: key, stage (such as `3_evaluation/bigtom`), purpose."""
        with self._changing() as db:
            db.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?)", rows)

    def kept(self, name: str) -> Iterator[dict[str, Any]]:
        """The answers that the stages of a benchmark, or of a folder such as `6_fresh`, asked for.
        Yields dicts as `row` makes, with `uses`: a line "<stage> <purpose>" for each such use.
        """
        with self.faults():
            cursor = self._db.execute(KEPT, [name])
            cursor.row_factory = sqlite3.Row
            for answer in cursor:
                uses = "\n".join(sorted(answer["uses"].splitlines()))
                yield {**answer, "uses": uses}

    # Money

    def reserve(
        self, costs: Mapping[str, float], model: str, limit: float | None, batch: str = ""
    ) -> list[str]:
        """Mark requests as under way, in order, as long as all that is spent and under way here
        stays within `limit` (None: no limit), and return their keys. costs: the most that each
        request may cost, in US dollars, by key.
        """
        room = math.inf
        admitted = []
        with self._changing() as db:
            if limit is not None:
                [spending] = db.execute(SPENDING)
                room = limit + ROUNDING - sum(spending)
            for key, usd in costs.items():
                room -= usd
                if usd and room < 0:
                    break
                admitted.append(key)
            rows = [(key, model, costs[key], batch) for key in admitted if costs[key]]
            db.executemany("INSERT INTO under_way VALUES (?, ?, ?, ?)", rows)
        return admitted

    def end(self, key: str, model: str, paid: float = 0.0) -> None:
        """End a request that brought no answer. paid: US dollars that it cost all the same."""
        with self._changing() as db:
            _end(db, key, model, paid)

    def lose(self, model: str, batches: Iterable[str] = ()) -> None:
        """Count as lost the requests that a killed run had under way to a model, except those in
        `batches`. Only the process that holds the model's lock may call this.
        """
        self.all(LOSE, model, json.dumps([*batches]))

    def lose_outside_batches(self, model: str) -> None:
        """As `lose`, except all requests in batches, which the vendor may still answer."""
        in_batches = "SELECT DISTINCT batch FROM under_way WHERE model = ? AND batch <> ''"
        self.lose(model, [batch for (batch,) in self.all(in_batches, model)])

    def free(self, batch: str) -> None:
        """Take back what was reserved for a batch that was not made."""
        self.all("DELETE FROM under_way WHERE batch = ?", batch)

    def spending(self) -> Spending:
        """What was spent at this store, what was lost and what is under way. Requests that killed
        runs left under way are first counted as lost.
        """
        for (model,) in self.all("SELECT DISTINCT model FROM under_way WHERE batch = ''"):
            with suppress(Timeout), self.lock(model).acquire(timeout=0):
                self.lose_outside_batches(model)
        [spending] = self.all(SPENDING)
        return Spending(*spending)

    def correct(self, usd: float) -> None:
        """Set what was spent here, such as to the vendor's bill, which includes killed runs."""
        self.spending()  # finds what is lost
        self.all("UPDATE spent SET usd = ?", usd)
        self.all("DELETE FROM under_way WHERE batch = 'lost'")


def _end(db: sqlite3.Connection, key: str, model: str, paid: float) -> None:
    """Take a request off those under way, and book what was paid unless it was already ended."""
    where = "key = ? AND model = ? AND batch <> 'lost'"
    ended = db.execute(f"DELETE FROM under_way WHERE {where}", [key, model])
    if ended.rowcount:
        db.execute("UPDATE spent SET usd = usd + ?", [paid])


def canonical(request: Mapping | Sequence) -> str:
    """`request` as JSON in one spelling. Keys keep their order, as models follow a schema's."""
    return _JSON.encode(request)


def request_key(request: Mapping) -> str:
    """SHA-256 of everything that is sent and where to, as 64 hex digits."""
    return key_of(canonical(request))


def key_of(request: str) -> str:
    """The key of a request in its `canonical` spelling."""
    return sha256(request.encode()).hexdigest()


def row(
    key: str, model: str, request: Mapping, reply: Reply, cost: float | None, seconds: float
) -> dict[str, Any]:
    """One answer as the store keeps it. `seconds`: how long it took, with all retries."""
    return {
        "key": key,
        "model": model,
        "request": canonical(request),
        "text": reply.text,
        "finish_reason": reply.finish_reason,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "cost": cost,
        "seconds": seconds,
        "created": time.time(),
        "origin": canonical(reply.origin),
    }


def reply_of(row: Mapping[str, Any]) -> Reply:
    """The reply in a row of the store, without its origin."""
    counts = row["prompt_tokens"], row["completion_tokens"]
    return Reply(row["text"], row["finish_reason"], *counts)
