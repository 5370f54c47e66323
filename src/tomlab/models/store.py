"""The response store: every answer that was paid for, in SQLite, keyed by the whole request; what
was spent; and what requests under way may cost. What differs from run to run (dates, latencies,
cost) is kept here and nowhere else.
"""

import json
import math
import os
import sqlite3
import sys
import tempfile
import time
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from socket import gethostname
from stat import S_ISREG
from typing import Annotated, Any, NamedTuple, Self
from uuid import uuid4

from filelock import FileLock, Timeout
from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter

from tomlab.errors import InputError
from tomlab.models.specs import Reply
from tomlab.paths import stage

VERSION = 3  # of the schema
_PATIENCE = 60.0  # seconds for which a database that another program holds is waited for
# `until` of what a process has reserved, and of what counts as spent as nobody waits for it.
_HELD, _OVER = 1.0, 0.0
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
    # Who has this store open. An owner lives as long as it holds the lock of its own file, which
    # the system takes from it when it dies: no clock tells.
    "owners": "owner TEXT PRIMARY KEY",
    # `until` is for earlier versions, which told by their clocks: for ever.
    "claims": "key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL",
    # By which stages, and what for, an answer was asked.
    "uses": "key TEXT, stage TEXT, purpose TEXT, PRIMARY KEY (key, stage, purpose)",
    # In one row, US dollars that the answers asked for here cost.
    "spent": "one INTEGER PRIMARY KEY, usd REAL NOT NULL",
    # What requests under way may cost, by who asks or by batch; lost when `until` is 0.
    "reserved": "owner TEXT PRIMARY KEY, usd REAL NOT NULL, until REAL NOT NULL",
    # How many requests each run has or may have under way to a model, and would have.
    "places": "owner TEXT PRIMARY KEY, model TEXT NOT NULL, held INTEGER NOT NULL, "
    "wanted INTEGER NOT NULL, until REAL NOT NULL",
    # When the last request went out that a rate limits, in seconds since this machine was started,
    # and for how many seconds no other may.
    "turns": "rate TEXT PRIMARY KEY, at REAL NOT NULL, seconds REAL NOT NULL",
}


_GONE = "it was removed or emptied while a run asked"


class StoreError(InputError):
    """The store can't be read or written; the message names it, the cause and what to do."""


class _Rescued(BaseModel, strict=True):
    """An answer in a file beside the store, as `row`, with what was reserved for it by whom."""

    key: str
    model: str
    request: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float
    created: float
    origin: str
    reserved: float = 0.0
    owner: str = ""


# A file has one answer or several.
_as_list = BeforeValidator(lambda found: [found] if isinstance(found, dict) else found)
_RESCUED = TypeAdapter(Annotated[list[_Rescued], _as_list, Field(min_length=1)])


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
        self._rescued = f"tomlab-{key_of(str(self.path.resolve()))[:12]}"
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
                self._file = self._status()
                self._is_emptied = False
                self._sign_in()
                self._take_in_rescued()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        with suppress(StoreError):
            self.all("DELETE FROM owners WHERE owner = ?", self._owner)
            self._end_without_owner()
        self._db.close()
        status = self._status()
        if self._is_emptied and status and os.path.samestat(status, self._file):
            # What the database has written since is a part of a store, which nobody can read.
            with suppress(OSError):
                os.truncate(self.path, 0)
        self._life.release()
        with suppress(OSError):
            Path(self._life.lock_file).unlink(missing_ok=True)

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

    def fault(self) -> str:
        """What became of the file since it was opened; "" where it is still there."""
        status = self._status()
        if status is None:
            return _GONE
        if not os.path.samestat(status, self._file):
            return "another file took its place while a run asked"
        if status.st_size == 0:
            self._is_emptied = True
            return _GONE
        return ""

    def _status(self) -> os.stat_result | None:
        """Of the file at our path; None for none."""
        with suppress(OSError):
            return self.path.stat()
        return None

    # Who asks here

    def _lock_of(self, owner: str) -> FileLock:
        """The lock that an owner holds while it lives."""
        name = owner.rpartition(", ")[2]
        return FileLock(f"{self.path}.{name}.alive", thread_local=False)

    def _sign_in(self) -> None:
        """Let others see that we have the store open, and end what the dead have left."""
        self._life = self._lock_of(self._owner)
        self._life.acquire(timeout=0)
        with self.changing() as db:
            db.execute("INSERT INTO owners VALUES (?)", [self._owner])
            self._end_dead()
            self._end_without_owner()

    def _end_dead(self) -> None:
        """Take from owners that died what they held."""
        for (owner,) in self.all("SELECT owner FROM owners WHERE owner <> ?", self._owner):
            lock = self._lock_of(owner)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue
            lock.release()
            Path(lock.lock_file).unlink(missing_ok=True)
            self.all("DELETE FROM owners WHERE owner = ?", owner)
            self._end_without_owner()

    def _end_without_owner(self) -> None:
        """Nobody waits for what nobody owns: claims and places are free, reservations are lost.
        Those of batches outlive their process.
        """
        is_nobodys = "owner NOT IN (SELECT owner FROM owners)"
        with self.changing() as db:
            db.execute(f"DELETE FROM claims WHERE {is_nobodys}")
            db.execute(f"DELETE FROM places WHERE {is_nobodys}")
            db.execute(
                f"UPDATE reserved SET until = {_OVER} WHERE until < 9e999 AND {is_nobodys}",
            )

    # Answers

    def _take_in_rescued(self) -> None:
        """Store the answers that an earlier run could not, each once; a file that has none stays,
        under another name.
        """
        for file in sorted(Path(tempfile.gettempdir()).glob(f"{self._rescued}-*.json")):
            with suppress(FileNotFoundError):  # folders of this kind are cleared now and then
                status = file.stat()
                # The folder is everybody's.
                if status.st_uid == os.getuid() and S_ISREG(status.st_mode):
                    answers = _answers_in(file)
                    with self.changing():
                        self._insert([answer for answer in answers if not self._has(answer)])
                    file.unlink(missing_ok=True)

    def _has(self, answer: Mapping[str, Any]) -> bool:
        """Whether the store has an answer that came at the same moment, and so is booked."""
        command = "SELECT 1 FROM responses WHERE key = ? AND created = ?"
        return bool(self.all(command, answer["key"], answer["created"]))

    def rescue(self, answers: Sequence[Mapping[str, Any]]) -> str:
        """Put answers into a file for the next run; what became of them, in words."""
        path = Path(tempfile.gettempdir()) / f"{self._rescued}-{uuid4().hex}.json"
        try:
            path.with_suffix(".partial").write_text(json.dumps(answers))
            path.with_suffix(".partial").replace(path)
        except OSError as error:
            return f"an answer that came back is lost: {error}"
        return f"what came back is in {path.parent}, for the next run"

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
            if fault := self.fault():
                raise StoreError(f"{self.path}: {fault}: see what does so")
        except StoreError as error:
            raise StoreError(f"{error}; {self.rescue([answer])}") from None
        # Somebody may have emptied its tables; that is found at the end.
        return self.replies([row["key"]]).get(row["key"], reply_of(row))

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
            self._end_dead()
            db.executemany(
                "INSERT OR IGNORE INTO claims VALUES (?, ?, 9e999)",
                [(key, self._owner) for key in keys],
            )
            ours = db.execute("SELECT key FROM claims WHERE owner = ?", [self._owner])
            return {key for (key,) in ours}

    def others(self) -> str:
        """Who else asks here, for whoever waits for them."""
        tables = ["SELECT owner FROM claims", "SELECT owner FROM places"]
        tables.append(f"SELECT owner FROM reserved WHERE until > {_OVER}")
        owners = {owner for (owner,) in self.all(" UNION ".join(tables))}
        return "; ".join(sorted(owner.partition(", ")[0] for owner in owners - {self._owner}))

    def let_go(self) -> None:
        """Give up all our claims."""
        self.all("DELETE FROM claims WHERE owner = ?", self._owner)

    def share(self, model: str, busy: int, wanted: int, most: int) -> int:
        """How many requests we may have under way to a model, of `most` for all who ask it here:
        an even share, and what others leave of theirs. Those that are `busy` count until they end.
        """
        with self.changing() as db:
            self._end_dead()
            query = "SELECT held, wanted FROM places WHERE model = ? AND owner <> ?"
            others = db.execute(query, [model, self._owner]).fetchall()
            even = max(1, most // (1 + len(others)))
            left = sum(max(0, even - wants) for _, wants in others)
            free = most - sum(held for held, _ in others)
            ours = max(0, min(wanted, even + left, free))
            held = max(busy, ours)
            row = [self._owner, model, held, wanted, math.inf]
            db.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?)", row)
        return ours

    def turn(self, rate: str, seconds: float) -> float:
        """How many seconds from now a request may go by a rate that all who ask here share. 0: ours
        goes now, and the next one `seconds` later.
        """
        with self.changing() as db:
            now = time.monotonic()  # one clock for all processes, which nobody sets
            for at, gap in db.execute("SELECT at, seconds FROM turns WHERE rate = ?", [rate]):
                if at <= now < at + gap:  # a time to come is from before the last start
                    return at + gap - now
            db.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?)", [rate, now, seconds])
        return 0.0

    def reserve(self, costs: Sequence[float], limit: float | None, by: str = "") -> int:
        """How many of these requests, the first ones, may be asked: the most that they may cost,
        with all that was spent and is reserved here, stays within `limit`. by: who asks, such as a
        batch that outlives its process; "": this process.
        """
        with self.changing() as db:
            count = len(costs)
            if limit is not None and any(costs):
                count = bisect([*accumulate(costs)], limit + _ROUNDING - sum(self.spending()))
            if usd := sum(costs[:count]):
                db.execute(
                    "INSERT INTO reserved VALUES (?, ?, ?) ON CONFLICT (owner) DO UPDATE"
                    " SET usd = usd + excluded.usd, until = excluded.until",
                    [by or self._owner, usd, math.inf if by else _HELD],
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
        with self.changing():
            self._end_dead()
            [(answers, lost, under_way)] = self.all(
                f"SELECT (SELECT usd FROM spent), TOTAL(usd) FILTER (WHERE until = {_OVER}),"
                f" TOTAL(usd) FILTER (WHERE until > {_OVER}) FROM reserved",
            )
        return Spending(answers, lost, under_way)

    def correct(self, usd: float) -> None:
        """Set what was spent here, such as to what the vendor's bill says, killed runs included."""
        with self.changing() as db:
            db.execute("UPDATE spent SET usd = ?", [usd])
            db.execute(f"DELETE FROM reserved WHERE until = {_OVER}")


def _answers_in(file: Path) -> list[dict[str, Any]]:
    """The answers that a run put into a file. One without any is kept under another name."""
    content = file.read_bytes()
    try:
        return [dict(answer) for answer in _RESCUED.validate_json(content)]
    except ValueError as error:
        aside = file.with_suffix(".unreadable")
        file.replace(aside)
        cause = str(error).splitlines()[-1].strip() if content else "it is empty"
        print(
            f"{file}: expected answers that a run could not store, found none ({cause}). "
            f"The file is now {aside.name}; the run goes on without it.",
            file=sys.__stderr__ or sys.stderr,
        )
        return []


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
