"""The response store: every answer that was paid for, in SQLite, keyed by the whole request; what
was spent; and what requests under way may cost.

It lies outside every stage's outputs. What differs from run to run (dates, latencies, cost) is
kept here and nowhere else.
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
from uuid import uuid4

from tomlab.errors import InputError
from tomlab.models.specs import Reply

VERSION = 3  # of the schema; 2 had no spending
RESERVED = 30.0  # seconds for which a reservation is known to be under way unless it is held
_PATIENCE = 60.0  # seconds for which a database that another program holds is waited for
_ROUNDING = 1e-9  # US dollars by which sums of costs may be off
_COLUMNS = (
    "key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL, "
    "finish_reason TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, "
    "completion_tokens INTEGER NOT NULL, cost REAL, seconds REAL NOT NULL, created REAL NOT NULL, "
    "origin TEXT NOT NULL DEFAULT '{}'"
)
_NAMES = tuple(column.split()[0] for column in _COLUMNS.split(", "))
REPLY = ("text", "finish_reason", "prompt_tokens", "completion_tokens")
_TABLES = {
    "responses": _COLUMNS,
    "claims": "key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL",
    # By which stages, and what for, an answer was asked.
    "uses": "key TEXT, stage TEXT, purpose TEXT, PRIMARY KEY (key, stage, purpose)",
    # In one row, US dollars that the answers asked for here cost.
    "spent": "one INTEGER PRIMARY KEY, usd REAL NOT NULL",
    # What requests under way may cost, by who asks; lost when its time is over.
    "reserved": "owner TEXT PRIMARY KEY, usd REAL NOT NULL, until REAL NOT NULL",
}


class StoreError(InputError):
    """The store can't be read or written; the message names it, the cause and what to do."""


class Spending(NamedTuple):
    """What was spent at a store, in US dollars: on answers, on what was `lost` (under way when its
    process was killed, at the most it may have cost), and at most on what is under way.
    """

    answers: float
    lost: float
    under_way: float


def canonical(request: Mapping) -> str:
    """`request` as JSON in one spelling, its fields in the order in which they are sent: that of a
    schema's properties is the order in which a model held to it answers.
    """
    return json.dumps(request, ensure_ascii=False, separators=(",", ":"))


def request_key(request: Mapping) -> str:
    """SHA-256 of everything that is sent and where to, as 64 hex digits."""
    return key_of(canonical(request))


def key_of(request: str) -> str:
    """The key of a request in its `canonical` spelling."""
    return sha256(request.encode()).hexdigest()


class Store:
    """Replies by request key. Each one is committed as it arrives, and the first one stays.

    Several processes may ask at one store: what one has claimed, no other asks meanwhile, and what
    each may still spend counts for all. Without a flush to disk per commit: killing the process
    loses nothing; a power cut may lose the last moments. What a killed process had reserved still
    counts as spent.
    """

    def __init__(self, path: Path | str):
        """Open or make a store, and take in what a run before could not store.

        Errors: `StoreError` for no store, a damaged or newer one; nothing is deleted.
        """
        self.path, self._owner, self.unsaved = Path(path), uuid4().hex, []
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{path}: its folder can't be made ({error})") from None
        with self._told():
            self._db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
            self._check_form()
            self._log_ahead()
            self._db.execute("PRAGMA main.synchronous=NORMAL")
            for name, columns in _TABLES.items():
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")
        if not self.all("SELECT usd FROM spent"):
            self.all("INSERT OR IGNORE INTO spent SELECT 1, TOTAL(cost) FROM responses")
            self.check_writable()
        self._rescued = f"tomlab-{key_of(str(self.path.resolve()))[:12]}"
        for file in Path(tempfile.gettempdir()).glob(f"{self._rescued}-*.jsonl"):
            if file.stat().st_uid == os.getuid():  # the folder is everybody's
                self._insert([json.loads(line) for line in file.read_text().splitlines()])
                file.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        with suppress(sqlite3.Error):
            self._db.execute("DELETE FROM claims WHERE owner = ?", [self._owner])
            # Nobody waits for what is under way now.
            self._db.execute("UPDATE reserved SET until = 0 WHERE owner = ?", [self._owner])
        self._db.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Faults of the file as one sentence."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            todo = "see that it is a whole response store, writable, on a disk with space"
            raise StoreError(f"{self.path}: {error}: {todo}") from error

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """The database, for changes of which all or none are made."""
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db

    def all(self, command: str, *values: Any) -> list[tuple]:
        """The rows that a command gives."""
        with self._told():
            return self._db.execute(command, values).fetchall()

    def _log_ahead(self) -> None:
        # Another that opens it holds it for moments, in which SQLite fails at once, whatever
        # timeout the connection has.
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            time.sleep(0.01)

    def _check_form(self) -> None:
        [[version]] = self.all("PRAGMA user_version")
        if version > VERSION:
            found = f"found schema {version} of the response store, expected {VERSION}"
            raise StoreError(f"{self.path}: {found}: made by a newer tomlab; update this one")
        tables = [name for (name,) in self.all("SELECT name FROM sqlite_schema")]
        # Read after that: another process may be making the tables.
        columns = [row[1] for row in self.all("PRAGMA table_info(responses)")]
        if tables and columns != [*_NAMES]:
            found = f"not a response store: found {', '.join(columns or tables)}"
            raise StoreError(f"{self.path}: {found}, expected {', '.join(_NAMES)}")

    def check_writable(self) -> None:
        """Write to the store without changing it. Errors: `StoreError` if that fails."""
        self.all(f"PRAGMA user_version = {VERSION}")

    # Answers

    def replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        """The replies that are there, by key."""
        query = f"SELECT key, {', '.join(REPLY)} FROM responses"
        query += " WHERE key IN (SELECT value FROM json_each(?))"
        return {key: Reply(*reply) for key, *reply in self.all(query, json.dumps([*keys]))}

    def put(self, row: Mapping[str, Any], reserved: float = 0.0, by: str = "") -> Reply:
        """Keep one answer (see `row`) for good, book its cost and end its reservation; the reply
        that is kept, which is an earlier one if there was one. Errors: `StoreError`; the answer is
        among those to `rescue` then.
        """
        answer = {**row, "reserved": reserved, "owner": by or self._owner}
        try:
            self._insert([answer])
        except StoreError:
            self.unsaved.append(answer)
            raise
        return self.replies([row["key"]])[row["key"]]

    def take(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Store answers from elsewhere; the keys of those that differ here, which stay as here.

        rows: as of `kept`. They cost nothing here.
        """
        self._insert(rows, paid=False)
        uses = [
            (row["key"], *use.split(" ", 1)) for row in rows for use in row["uses"].splitlines()
        ]
        with self.changing() as db:
            db.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?)", uses)
        there = self.replies(row["key"] for row in rows)
        return [row["key"] for row in rows if there[row["key"]] != reply_of(row)]

    def _insert(self, rows: Sequence[Mapping[str, Any]], paid: bool = True) -> None:
        command = f"INSERT OR IGNORE INTO responses VALUES ({','.join('?' * len(_NAMES))})"
        with self.changing() as db:
            db.executemany(command, [[row[name] for name in _NAMES] for row in rows])
            db.executemany("DELETE FROM claims WHERE key = ?", [[row["key"]] for row in rows])
            for row in rows if paid else ():
                if row["cost"] or row["reserved"]:
                    self._book(row["cost"] or 0.0, row["reserved"], row["owner"])

    def used(self, purposes: Iterable[tuple[str, str]], stage: str) -> None:
        """Note by which stage, such as `3_evaluation/bigtom`, answers were asked.

        purposes: of each the key and what it was asked for.
        """
        rows = sorted({(key, stage, purpose) for key, purpose in purposes})
        with self.changing() as db:
            db.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?)", rows)

    def kept(self, benchmark: str) -> Iterator[dict[str, Any]]:
        """The answers that stages of a benchmark asked for, as `row` makes them, with their `uses`:
        lines of stage and purpose.
        """
        query = (
            f"SELECT {', '.join(f'r.{name}' for name in _NAMES)}, u.uses FROM responses r JOIN"
            " (SELECT key, group_concat(stage || ' ' || purpose, char(10)) uses FROM uses"
            " WHERE substr(stage, instr(stage, '/') + 1) = ? GROUP BY key) u ON u.key = r.key"
        )
        with self._told():
            for *values, uses in self._db.execute(query, [benchmark]):
                row = dict(zip(_NAMES, values, strict=True))
                yield row | {"uses": "\n".join(sorted(uses.splitlines()))}

    # Claims

    def claim(self, key: str, seconds: float) -> Reply | bool:
        """Whether a request is now ours to ask, for so many seconds; the reply if there is one.

        False while another process has claimed it and its time is not over.
        """
        now = time.time()
        claimed = self.all(
            "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE"
            " SET owner = excluded.owner, until = excluded.until"
            " WHERE until < ? OR owner = excluded.owner RETURNING 1",
            *(key, self._owner, now + seconds, now),
        )
        # Looked up after the claim: the other process stores a reply before it lets go.
        if reply := self.replies([key]).get(key):
            self.let_go(key)
            return reply
        return bool(claimed)

    def hold(self, seconds: float) -> None:
        """Prolong all our claims and our reservation to so many seconds from now."""
        for table in ("claims", "reserved"):
            command = f"UPDATE {table} SET until = ? WHERE owner = ?"
            self.all(command, time.time() + seconds, self._owner)

    def let_go(self, key: str) -> None:
        """Give up a claim."""
        self.all("DELETE FROM claims WHERE key = ? AND owner = ?", key, self._owner)

    # Money

    def reserve(self, usd: float, limit: float | None, by: str = "") -> bool:
        """Whether a request that may cost so much may be asked: what was spent and what is reserved
        here, by whomever, stay within `limit` with it (None: any).

        by: who asks, such as a batch that outlives its process; "": this one, which has to `hold`.
        """
        until = math.inf if by else time.time() + RESERVED
        with self.changing() as db:
            if limit is not None and sum(self.spending()) + usd > limit + _ROUNDING:
                return False
            db.execute(
                "INSERT INTO reserved VALUES (?, ?, ?) ON CONFLICT (owner) DO UPDATE"
                " SET usd = usd + excluded.usd, until = excluded.until",
                [by or self._owner, usd, until],
            )
        return True

    def settle(self, usd: float, by: str = "", paid: float = 0.0) -> None:
        """So much of a reservation is over: its request brought no answer, though it may have been
        `paid`. `put` does it for an answer.
        """
        with self.changing():
            self._book(paid, usd, by or self._owner)

    def _book(self, paid: float, reserved: float, owner: str) -> None:
        self._db.execute("UPDATE spent SET usd = usd + ?", [paid])
        self._db.execute("UPDATE reserved SET usd = usd - ? WHERE owner = ?", [reserved, owner])
        self._db.execute("DELETE FROM reserved WHERE owner = ? AND usd < ?", [owner, _ROUNDING])

    def spending(self) -> Spending:
        """What was spent here and may be under way."""
        [found] = self.all(
            "SELECT (SELECT usd FROM spent), TOTAL(usd) FILTER (WHERE until < ?1),"
            " TOTAL(usd) FILTER (WHERE until >= ?1) FROM reserved",
            time.time(),
        )
        return Spending(*found)

    def spent(self) -> float:
        """US dollars spent here, with what is lost."""
        found = self.spending()
        return found.answers + found.lost

    def rescue(self) -> Path:
        """Write the answers that the store did not take to another disk; where. The next one who
        opens the store takes them in. Errors: `OSError`.
        """
        path = Path(tempfile.gettempdir()) / f"{self._rescued}-{self._owner}.jsonl"
        partial = path.with_suffix(".partial")
        partial.write_text("".join(json.dumps(row) + "\n" for row in self.unsaved))
        return partial.replace(path)


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
