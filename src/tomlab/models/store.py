"""The response store: every answer that was paid for, in SQLite, keyed by the whole request; what
was spent; and what requests under way may cost. What differs from run to run (dates, latencies,
cost) is kept here and nowhere else.
"""

import json
import math
import os
import sqlite3
import tempfile
import time
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from socket import gethostname
from typing import Any, NamedTuple, Self
from uuid import uuid4

from filelock import FileLock

from tomlab.errors import InputError
from tomlab.models.specs import Reply
from tomlab.paths import stage

VERSION = 3  # of the schema
HELD = 30.0  # seconds for which claims, reservations and places are ours unless we `hold` them
_PATIENCE = 60.0  # seconds for which a database that another program holds is waited for
# What ends later than we could hold it, but not never, was dated by a clock that was wrong.
_HELD = "(until BETWEEN ?1 AND ?2 OR until = 9e999)"
_ROUNDING = 1e-9  # US dollars by which sums of costs may be off
_COLUMNS = (
    "key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL, "
    "finish_reason TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, "
    "completion_tokens INTEGER NOT NULL, cost REAL, seconds REAL NOT NULL, created REAL NOT NULL, "
    "origin TEXT NOT NULL DEFAULT '{}'"
)
_NAMES = tuple(column.split()[0] for column in _COLUMNS.split(", "))
REPLY = ("text", "finish_reason", "prompt_tokens", "completion_tokens")
_HELDS = "claims", "reserved", "places"
_TABLES = {
    "responses": _COLUMNS,
    "claims": "key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL",
    # By which stages, and what for, an answer was asked.
    "uses": "key TEXT, stage TEXT, purpose TEXT, PRIMARY KEY (key, stage, purpose)",
    # In one row, US dollars that the answers asked for here cost.
    "spent": "one INTEGER PRIMARY KEY, usd REAL NOT NULL",
    # What requests under way may cost, by who asks; lost when its time is over.
    "reserved": "owner TEXT PRIMARY KEY, usd REAL NOT NULL, until REAL NOT NULL",
    # How many requests each run has or may have under way to a model, and would have.
    "places": "owner TEXT PRIMARY KEY, model TEXT NOT NULL, held INTEGER NOT NULL, "
    "wanted INTEGER NOT NULL, until REAL NOT NULL",
    # When the last request went out that a rate limits, and for how many seconds no other may.
    "turns": "rate TEXT PRIMARY KEY, at REAL NOT NULL, seconds REAL NOT NULL",
}


class StoreError(InputError):
    """The store can't be read or written; the message names it, the cause and what to do."""


class Spending(NamedTuple):
    """US dollars spent, and at most what is lost with runs that were killed or is under way."""

    answers: float
    lost: float
    under_way: float


def canonical(request: Mapping) -> str:
    """`request` as JSON in one spelling. The order stays: a model answers in that of a schema."""
    return json.dumps(request, ensure_ascii=False, separators=(",", ":"))


def request_key(request: Mapping) -> str:
    """SHA-256 of everything that is sent and where to, as 64 hex digits."""
    return key_of(canonical(request))


def key_of(request: str) -> str:
    """The key of a request in its `canonical` spelling."""
    return sha256(request.encode()).hexdigest()


class Store:
    """Replies by request key. Each one is committed as it arrives, and the first one stays; a power
    cut may lose the last moments, as commits are not flushed to disk. Of several processes that ask
    here, no other asks what one has claimed; what each may still spend counts for all, even after
    it was killed; and they share a model's rates and concurrency.
    """

    def __init__(self, path: Path | str):
        """Open or make a store, and take in what an earlier run could not store. Errors:
        `StoreError` for a damaged or newer one, which is left alone.
        """
        self.path, process = Path(path), f"process {os.getpid()} on {gethostname()}"
        self._owner = f"{stage() or 'a run'} in {process}, {uuid4().hex}"
        with self._told():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # One at a time: SQLite fails at once where another is opening it, whatever its timeout.
            with FileLock(f"{path}.lock"):
                self._db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
                [[version]] = self.all("PRAGMA user_version")
                if version > VERSION:
                    found = f"found schema {version} of the response store, expected {VERSION}"
                    raise StoreError(f"{path}: {found}: made by a newer tomlab; update this one")
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA main.synchronous=NORMAL")
                for name, columns in _TABLES.items():
                    self._db.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")
                if not self.all("SELECT usd FROM spent"):
                    self.all("INSERT INTO spent VALUES (1, 0)")
                    self.all(f"PRAGMA user_version = {VERSION}")
        self._rescued = f"tomlab-{key_of(str(self.path.resolve()))[:12]}"
        for file in Path(tempfile.gettempdir()).glob(f"{self._rescued}-*.json"):
            if file.stat().st_uid == os.getuid():  # the folder is everybody's
                self._insert([json.loads(file.read_text())])
                file.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        with suppress(StoreError):
            self.let_go()
            for table in ("reserved", "places"):  # nobody waits for what is under way now
                self.all(f"UPDATE {table} SET until = 0 WHERE owner = ?", self._owner)
        self._db.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Faults of the file as one sentence."""
        try:
            yield
        except (sqlite3.DatabaseError, OSError) as error:
            todo = "see that it is a whole response store, writable, on a disk with space"
            raise StoreError(f"{self.path}: {error}: {todo}") from error

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """The database, for changes of which all or none are made."""
        if self._db.in_transaction:  # they are part of a larger one
            yield self._db
            return
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db

    def all(self, command: str, *values: Any) -> list[tuple]:
        """The rows that a command gives."""
        with self._told():
            return self._db.execute(command, values).fetchall()

    def replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        """The replies that are there, by key."""
        query = f"SELECT key, {', '.join(REPLY)} FROM responses"
        query += " WHERE key IN (SELECT value FROM json_each(?))"
        return {key: Reply(*reply) for key, *reply in self.all(query, json.dumps([*keys]))}

    def put(self, row: Mapping[str, Any], reserved: float = 0.0) -> Reply:
        """Keep one answer (see `row`), book its cost, end its reservation; the reply that is kept,
        the first one. Errors: `StoreError`; the answer is then kept for the next run.
        """
        answer = {**row, "reserved": reserved, "owner": self._owner}
        try:
            self._insert([answer])
        except StoreError as error:
            path = Path(tempfile.gettempdir()) / f"{self._rescued}-{uuid4().hex}.json"
            told = f"what came back is in {path.parent}, for the next run"
            try:
                path.with_suffix(".partial").write_text(json.dumps(answer))
                path.with_suffix(".partial").replace(path)
            except OSError as lost:
                told = f"an answer that came back is lost: {lost}"
            raise StoreError(f"{error}; {told}") from None
        return self.replies([row["key"]])[row["key"]]

    def take(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Store rows as of `kept`, at no cost; the keys of those with another answer here."""
        self._insert(rows, paid=False)
        self.used((r["key"], *use.split(" ", 1)) for r in rows for use in r["uses"].splitlines())
        there = self.replies(row["key"] for row in rows)
        return [row["key"] for row in rows if there[row["key"]] != reply_of(row)]

    def _insert(self, rows: Sequence[Mapping[str, Any]], paid: bool = True) -> None:
        command = f"INSERT OR IGNORE INTO responses VALUES ({','.join('?' * len(_NAMES))})"
        with self.changing() as db:
            db.executemany(command, [[row[name] for name in _NAMES] for row in rows])
            for row in rows if paid else ():
                self.settle(row["reserved"], row["cost"] or 0.0, row["owner"])

    def used(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Note keys, by which stage each was asked, such as `3_evaluation/bigtom`, and what for."""
        with self.changing() as db:
            db.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?)", rows)

    def kept(self, name: str) -> Iterator[dict[str, Any]]:
        """The answers that the stages of a benchmark or of a folder such as `6_fresh` asked for, as
        `row`, with `uses` in lines.
        """
        query = (
            f"SELECT {', '.join(f'r.{name}' for name in _NAMES)}, u.uses FROM responses r JOIN"
            " (SELECT key, group_concat(stage || ' ' || purpose, char(10)) uses FROM uses"
            " WHERE stage LIKE '%/' || ?1 OR stage LIKE ?1 || '/%' GROUP BY key) u ON u.key = r.key"
        )
        with self._told():
            for *values, uses in self._db.execute(query, [name]):
                row = dict(zip(_NAMES, values, strict=True))
                yield row | {"uses": "\n".join(sorted(uses.splitlines()))}

    def claim(self, keys: Collection[str]) -> set[str]:
        """Those that are ours to ask now. Look for replies after this, not before."""
        with self.changing() as db:
            now, until = _span()  # others may have written while this waited
            db.executemany(
                "INSERT INTO claims VALUES (?3, ?4, ?2) ON CONFLICT (key) DO UPDATE"
                f" SET owner = ?4, until = ?2 WHERE NOT {_HELD}",
                [(now, until, key, self._owner) for key in keys],
            )
            ours = db.execute("SELECT key FROM claims WHERE owner = ?", [self._owner])
            return {key for (key,) in ours}

    def others(self) -> str:
        """Who else asks here, for whoever waits for them."""
        tables = [f"SELECT owner FROM {table} WHERE {_HELD}" for table in _HELDS]
        owners = {owner for (owner,) in self.all(" UNION ".join(tables), *_span())}
        return "; ".join(sorted(owner.partition(", ")[0] for owner in owners - {self._owner}))

    def let_go(self) -> None:
        """Give up all our claims."""
        self.all("DELETE FROM claims WHERE owner = ?", self._owner)

    def hold(self) -> None:
        """Keep all our claims, our reservation and our places."""
        for table in _HELDS:
            self.all(f"UPDATE {table} SET until = ? WHERE owner = ?", _span()[1], self._owner)

    def share(self, model: str, busy: int, wanted: int, most: int) -> int:
        """How many requests we may have under way to a model, of `most` for all who ask it here:
        an even share, and what others leave of theirs. Those that are `busy` count until they end.
        """
        with self.changing() as db:
            now, until = _span()
            # Who died, or whose clock was wrong, gives its places back.
            db.execute(f"DELETE FROM places WHERE NOT {_HELD}", [now, until])
            query = "SELECT held, wanted FROM places WHERE model = ? AND owner <> ?"
            others = db.execute(query, [model, self._owner]).fetchall()
            even = max(1, most // (1 + len(others)))
            left = sum(max(0, even - wants) for _, wants in others)
            free = most - sum(held for held, _ in others)
            ours = max(0, min(wanted, even + left, free))
            row = [self._owner, model, max(busy, ours), wanted, until]
            db.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?)", row)
        return ours

    def turn(self, rate: str, seconds: float) -> float:
        """How many seconds from now a request may go by a rate that all who ask here share. 0: ours
        goes now, and the next one `seconds` later.
        """
        with self.changing() as db:
            now = time.time()
            for at, gap in db.execute("SELECT at, seconds FROM turns WHERE rate = ?", [rate]):
                if at <= now < at + gap:  # a time to come is that of a wrong clock
                    return at + gap - now
            db.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?)", [rate, now, seconds])
        return 0.0

    def reserve(self, costs: Sequence[float], limit: float | None, by: str = "") -> int:
        """How many of these requests, the first ones, may be asked: the most that they may cost,
        with all that was spent and is reserved here, stays within `limit`. by: who asks, such as a
        batch that outlives its process; "": this process, which has to `hold`.
        """
        with self.changing() as db:
            count = len(costs)
            if limit is not None and any(costs):
                count = bisect([*accumulate(costs)], limit + _ROUNDING - sum(self.spending()))
            if usd := sum(costs[:count]):
                db.execute(
                    "INSERT INTO reserved VALUES (?, ?, ?) ON CONFLICT (owner) DO UPDATE"
                    " SET usd = usd + excluded.usd, until = excluded.until",
                    [by or self._owner, usd, math.inf if by else _span()[1]],
                )
        return count

    def settle(self, usd: float, paid: float = 0.0, owner: str = "") -> None:
        """So much of our reservation, or of another's, is over, and so much of it was paid."""
        if not usd and not paid:
            return
        owner = owner or self._owner
        with self.changing() as db:
            db.execute("UPDATE spent SET usd = usd + ?", [paid])
            db.execute("UPDATE reserved SET usd = usd - ? WHERE owner = ?", [usd, owner])
            db.execute("DELETE FROM reserved WHERE owner = ? AND usd < ?", [owner, _ROUNDING])

    def spending(self) -> Spending:
        """What was spent here and may be under way."""
        [found] = self.all(
            f"SELECT (SELECT usd FROM spent), TOTAL(usd) FILTER (WHERE NOT {_HELD}),"
            f" TOTAL(usd) FILTER (WHERE {_HELD}) FROM reserved",
            *_span(),
        )
        return Spending(*found)


def _span() -> tuple[float, float]:
    """Now, and until when what we hold is ours."""
    now = time.time()
    return now, now + HELD


def row(
    key: str, model: str, request: Mapping, reply: Reply, cost: float | None, seconds: float
) -> dict[str, Any]:
    """One answer as the store keeps it. `seconds`: how long it took, with all retries."""
    values = (key, model, canonical(request), reply.text, reply.finish_reason)
    values += (reply.prompt_tokens, reply.completion_tokens, cost, seconds, time.time())
    return dict(zip(_NAMES, (*values, canonical(reply.origin)), strict=True))


def reply_of(row: Mapping[str, Any]) -> Reply:
    """The reply of an answer, as the store gives it back."""
    return Reply(*(row[name] for name in REPLY))
