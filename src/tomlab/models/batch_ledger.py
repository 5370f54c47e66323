"""The ledger of batches: what was sent to a vendor or is about to be, in SQLite beside the store.

A request stands in it from before its batch is made until its result is stored. Whatever ends a
process, the next one finds there what is under way.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from time import time
from uuid import uuid4

from tomlab.models.store import Store, canonical

_TABLES = {
    # id: the vendor's. Batches that are over stay, so that their ids are known.
    "batches": "local TEXT PRIMARY KEY, usd REAL, sent REAL, id TEXT",
    "requests": "key TEXT PRIMARY KEY, local TEXT NOT NULL, request TEXT NOT NULL",
}


@dataclass
class Batch:
    """A batch under way. local: our own name of it; usd: the most it may cost, which the store has
    reserved under that name; sent: when its making began; id: the vendor's, once that is known;
    keys: its requests.
    """

    local: str
    usd: float
    sent: float
    id: str | None
    keys: set[str]

    def __post_init__(self):
        self.share = self.usd / len(self.keys)  # of each request in the cost


class Ledger:
    """The batches of one store. Only who holds the lock of `batches` writes here."""

    def __init__(self, store: Store):
        self.store, self.path = store, store.path.with_name(f"{store.path.name}.batches.sqlite")
        # Unlike the store it is flushed to disk with each change: a power cut forgets nothing.
        store.all("ATTACH ? AS ledger", str(self.path))
        for name, columns in _TABLES.items():
            store.all(f"CREATE TABLE IF NOT EXISTS ledger.{name} ({columns})")
        store.all("CREATE INDEX IF NOT EXISTS ledger.of ON requests (local)")

    def begin(self, requests: Mapping[str, Mapping], usd: float) -> Batch:
        """Note what is about to be sent. requests: by key, with all that is sent."""
        batch = Batch(uuid4().hex, usd, time(), None, set(requests))
        rows = [(key, batch.local, canonical(request)) for key, request in requests.items()]
        with self.store.changing() as db:
            command = "INSERT INTO batches (local, usd, sent) VALUES (?, ?, ?)"
            db.execute(command, [batch.local, usd, batch.sent])
            db.executemany("INSERT INTO requests VALUES (?, ?, ?)", rows)
        return batch

    def note(self, batch: Batch, id: str) -> None:
        """What the vendor calls a batch: it is made."""
        batch.id = id
        self.store.all("UPDATE batches SET id = ? WHERE local = ?", id, batch.local)

    def end(self, batch: Batch) -> None:
        """A batch is over, or was never made: its requests may be in another."""
        with self.store.changing() as db:
            db.execute("DELETE FROM requests WHERE local = ?", [batch.local])
            db.execute("DELETE FROM batches WHERE local = ? AND id IS NULL", [batch.local])

    def under_way(self, keys: Collection[str]) -> list[Batch]:
        """The batches with any of these requests, the first one first."""
        found = self.store.all(
            "SELECT local, usd, ifnull(sent, 0), id, json_group_array(key)"
            " FROM batches JOIN requests USING (local) WHERE local IN (SELECT local FROM requests"
            " WHERE key IN (SELECT value FROM json_each(?))) GROUP BY local ORDER BY sent",
            json.dumps([*keys]),
        )
        return [Batch(*about, set(json.loads(requests))) for *about, requests in found]

    def request(self, key: str) -> dict:
        """What was sent for a key."""
        [[request]] = self.store.all("SELECT request FROM requests WHERE key = ?", key)
        return json.loads(request)

    def ids(self) -> set[str]:
        """The vendors' ids of all batches."""
        return {id for (id,) in self.store.all("SELECT id FROM batches WHERE id IS NOT NULL")}
