"""What was spent at a response store, and what requests under way may cost: by all who ask there.

A process that is killed leaves what it had reserved; when the time of that is over it still counts.
"""

import math
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

LEDGER = {
    # In one row, US dollars that the answers asked for here cost.
    "spent": "one INTEGER PRIMARY KEY, usd REAL NOT NULL",
    # What requests under way may cost, by who asks. What is left of it when its time is over was
    # under way when its process was killed: it may be paid.
    "reserved": "owner TEXT PRIMARY KEY, usd REAL NOT NULL, until REAL NOT NULL",
}
# Of a store that has no ledger yet.
OPENING = "INSERT OR IGNORE INTO spent SELECT 1, TOTAL(cost) FROM responses"
# Seconds for which a reservation is known to be under way unless it is held.
RESERVED = 30.0
PATIENCE = 60.0  # seconds for which a database that another program holds is waited for
_ROUNDING = 1e-9  # US dollars by which sums of costs may be off


class Spending(NamedTuple):
    """What was spent at a store, in US dollars: on answers, on what was `lost` (under way when its
    process was killed, at the most it may have cost), and at most on what is under way.
    """

    answers: float
    lost: float
    under_way: float


def log_ahead(db: sqlite3.Connection) -> None:
    """Switch a database to write-ahead logging. Another that opens it holds it for moments, in
    which SQLite fails at once, whatever timeout the connection has: so this waits.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(0.01)


class Ledger:
    """The part of a store that is about money; each call takes as long whatever is stored."""

    _db: sqlite3.Connection
    _owner: str
    _told: Callable[[], AbstractContextManager]

    def reserve(self, usd: float, limit: float | None, by: str = "") -> bool:
        """Whether a request that may cost so much may be asked: what was spent and what is reserved
        here, by whomever, stay within `limit` with it (None: any).

        by: who asks, such as a batch that outlives its process; "": this one, which has to `hold`.
        """
        until = math.inf if by else time.time() + RESERVED
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            if limit is not None and sum(self.spending()) + usd > limit + _ROUNDING:
                return False
            self._db.execute(
                "INSERT INTO reserved VALUES (?, ?, ?) ON CONFLICT (owner) DO UPDATE"
                " SET usd = usd + excluded.usd, until = excluded.until",
                [by or self._owner, usd, until],
            )
        return True

    def settle(self, usd: float, by: str = "", paid: float = 0.0) -> None:
        """So much of a reservation is over: its request brought no answer, though it may have been
        `paid`. `put` does it for an answer.
        """
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("UPDATE spent SET usd = usd + ?", [paid])
            self._settle(usd, by or self._owner)

    def _settle(self, usd: float, owner: str) -> None:
        self._db.execute("UPDATE reserved SET usd = usd - ? WHERE owner = ?", [usd, owner])
        self._db.execute("DELETE FROM reserved WHERE owner = ? AND usd < ?", [owner, _ROUNDING])

    def spending(self) -> Spending:
        """What was spent here and may be under way."""
        query = (
            "SELECT (SELECT usd FROM spent), TOTAL(usd) FILTER (WHERE until < ?1),"
            " TOTAL(usd) FILTER (WHERE until >= ?1) FROM reserved"
        )
        with self._told():
            return Spending(*self._db.execute(query, [time.time()]).fetchone())

    def spent(self) -> float:
        """US dollars spent here, with what is lost."""
        found = self.spending()
        return found.answers + found.lost

    def owed(self, reserved: float, by: str = "") -> dict[str, Any]:
        """What an answer that is to be rescued says of its reservation."""
        return {"reserved": reserved, "owner": by or self._owner}

    def _book(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """The costs of answers, and the ends of their reservations."""
        if cost := sum(row["cost"] or 0 for row in rows):
            self._db.execute("UPDATE spent SET usd = usd + ?", [cost])
        for row in rows:
            if row.get("reserved"):
                self._settle(row["reserved"], row["owner"])
