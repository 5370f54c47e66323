"""The ledger of batches: what was sent to a vendor or is about to be, in SQLite beside the store.

A request stands in it from before its batch is made until its result is stored. So it is in one
batch at a time, whichever process asks, and whatever ends that process, the next one knows what is
under way.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

from tomlab.errors import InputError
from tomlab.models.ledger import PATIENCE, log_ahead

_TABLES = {
    # id: the vendor's; sent: when its making began. Those that are over stay: their ids are known.
    "batches": "local TEXT PRIMARY KEY, owner TEXT, usd REAL, sent REAL, id TEXT",
    "requests": "key TEXT PRIMARY KEY, local TEXT NOT NULL, request TEXT NOT NULL",
}


@dataclass
class Batch:
    """A batch under way. requests: by key, as the store keeps them; usd: the most it may cost,
    which the store has reserved under the name `local`; share: of each request.
    """

    local: str
    usd: float
    sent: float | None
    id: str | None
    requests: dict[str, str]
    done: int = 0
    share: float = 0.0


class Ledger:
    """The batches of one store. A process that asks owns those that it made or took up: it holds a
    lock, which ends with it.
    """

    def __init__(self, store: Path):
        self.path, self._owner = store.with_name(f"{store.name}.batches.sqlite"), uuid4().hex
        self._lock = self._lock_of(self._owner)
        with self._told():
            self._db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            log_ahead(self._db)
            self._db.execute("PRAGMA synchronous=FULL")  # a power cut forgets nothing
            for name, columns in _TABLES.items():
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
            self._db.execute("CREATE INDEX IF NOT EXISTS of ON requests (local)")

    def close(self) -> None:
        """What is under way is anybody's to take up."""
        self._db.close()
        Path(self._lock.lock_file).unlink(missing_ok=True)
        self._lock.release(force=True)

    def _lock_of(self, owner: str) -> FileLock:
        return FileLock(self.path.with_name(f"{self.path.name}.{owner}.lock"))

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: the ledger of batches: {error}") from error

    def begin(self, requests: Mapping[str, str], usd: float) -> Batch:
        """Note what is about to be sent; the batch has those that no other one has."""
        local = uuid4().hex
        self._lock.acquire()
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            command = "INSERT INTO batches (local, owner, usd) VALUES (?, ?, ?)"
            self._db.execute(command, [local, self._owner, usd])
            rows = [(key, local, request) for key, request in requests.items()]
            self._db.executemany("INSERT OR IGNORE INTO requests VALUES (?, ?, ?)", rows)
        return self._read(local)

    def note(self, batch: Batch, *, sent: float | None = None, id: str | None = None) -> None:
        """That its making begins, or what the vendor calls it."""
        batch.sent, batch.id = sent or batch.sent, id or batch.id
        with self._told():
            command = "UPDATE batches SET sent = ?, id = ? WHERE local = ?"
            self._db.execute(command, [batch.sent, batch.id, batch.local])

    def end(self, batch: Batch) -> None:
        """It is over, or was never made: its requests may be in another."""
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM requests WHERE local = ?", [batch.local])
            self._db.execute("DELETE FROM batches WHERE local = ? AND id IS NULL", [batch.local])

    def ids(self) -> set[str]:
        """The vendors' ids of all batches."""
        with self._told():
            return {id for (id,) in self._db.execute("SELECT id FROM batches WHERE id IS NOT NULL")}

    def take_up(self, keys: Collection[str]) -> tuple[list[Batch], set[str]]:
        """The batches with any of these requests that nobody looks after any more, ours from now
        on; and the requests that others look after.
        """
        query = (
            "SELECT local, owner, json_group_array(key) FROM requests JOIN batches USING (local)"
            " WHERE key IN (SELECT value FROM json_each(?)) AND owner != ? GROUP BY local"
        )
        with self._told():
            found = self._db.execute(query, [json.dumps([*keys]), self._owner]).fetchall()
        ours, theirs = [], set()
        for local, owner, of in found:
            if self._inherit(local, owner):
                ours.append(self._read(local))
            else:
                theirs.update(json.loads(of))
        return ours, theirs

    def _inherit(self, local: str, owner: str) -> bool:
        """Whether a batch could be had from its owner, who is gone."""
        with suppress(Timeout), self._lock_of(owner).acquire(blocking=False), self._told():
            command = "UPDATE batches SET owner = ? WHERE local = ? AND owner = ?"
            self._lock.acquire()
            taken = self._db.execute(command, [self._owner, local, owner]).rowcount
            query = "SELECT 1 FROM requests JOIN batches USING (local) WHERE owner = ?"
            if not self._db.execute(query, [owner]).fetchone():
                Path(self._lock_of(owner).lock_file).unlink(missing_ok=True)
            return bool(taken)
        return False

    def _read(self, local: str) -> Batch:
        with self._told():
            query = "SELECT usd, sent, id FROM batches WHERE local = ?"
            [about] = self._db.execute(query, [local])
            query = "SELECT key, request FROM requests WHERE local = ?"
            found = Batch(local, *about, dict(self._db.execute(query, [local])))
        found.share = found.usd / max(len(found.requests), 1)
        return found
