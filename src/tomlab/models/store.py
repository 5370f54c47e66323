"""The response store: every answer that was paid for, in SQLite, keyed by the whole request.

It lies outside every stage's outputs. What differs from run to run (dates, latencies, cost) is
kept here and nowhere else.
"""

import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from tomlab.errors import InputError
from tomlab.models.ledger import LEDGER, OPENING, PATIENCE, Ledger, log_ahead
from tomlab.models.specs import Reply

VERSION = 3  # of the schema; 0 had no claims, 1 neither origins nor uses, 2 no spending
_ORIGIN = "origin TEXT NOT NULL DEFAULT '{}'"
_COLUMNS = (
    "key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL, "
    "finish_reason TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, "
    "completion_tokens INTEGER NOT NULL, cost REAL, seconds REAL NOT NULL, created REAL NOT NULL, "
    f"{_ORIGIN}"
)
_NAMES = tuple(column.split()[0] for column in _COLUMNS.split(", "))
REPLY = ("text", "finish_reason", "prompt_tokens", "completion_tokens")
_TABLES = {
    "responses": _COLUMNS,
    "claims": "key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL",
    # By which stages, and what for, an answer was asked.
    "uses": "key TEXT, stage TEXT, purpose TEXT, PRIMARY KEY (key, stage, purpose)",
    **LEDGER,
}
# By the beginning of SQLite's name of a fault: what to do.
_ADVICE = {
    "SQLITE_FULL": "free some space and run again",
    "SQLITE_READONLY": "make the file and its folder writable and run again",
    ("SQLITE_BUSY", "SQLITE_LOCKED"): "another program holds it: end that or wait, and run again",
    "SQLITE_CANTOPEN": "see that its folder is one and may be written to",
    "SQLITE_NOTADB": "not a response store. Move it away to start a new one",
    "SQLITE_CORRUPT": "it is damaged. Move it away to start a new one; what can still be read of "
    "it is saved by `sqlite3 DAMAGED .recover | sqlite3 NEW`",
}


class StoreError(InputError):
    """The store can't be read or written; the message names it, the cause and what to do."""


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


class Store(Ledger):
    """Replies by request key. Each one is committed as it arrives, and the first one stays.

    Several processes may ask at one store: what one has claimed, no other asks meanwhile.
    Write-ahead logging without a flush to disk per commit: killing the process loses nothing; a
    power cut may lose the last moments.
    """

    def __init__(self, path: Path | str):
        """Open or make a store, and take in what a run before could not store.

        Errors: `StoreError` for no store, a damaged or newer one; nothing is deleted.
        """
        self.path, self._owner = Path(path), uuid4().hex
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path}: its folder can't be made ({error})") from None
        with self._told():
            self._db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            self._check_form()
            log_ahead(self._db)
            self._db.execute("PRAGMA synchronous=NORMAL")
            if self._version() < VERSION:
                self._upgrade()
        for rescued in self._rescued():
            # In a folder for all, another's file may stand under the name.
            if rescued.is_file() and rescued.stat().st_uid == os.getuid():
                self._take_in(rescued)

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
            name, todo = getattr(error, "sqlite_errorname", ""), "see that its disk has space"
            todo = next((said for fault, said in _ADVICE.items() if name.startswith(fault)), todo)
            raise StoreError(f"{self.path}: {error}: {todo}") from error

    def _version(self) -> int:
        return self._db.execute("PRAGMA user_version").fetchone()[0]

    def _upgrade(self) -> None:
        """Make the tables that are not there, and the columns of an earlier version."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for name, columns in _TABLES.items():
                self._db.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}) WITHOUT ROWID")
            if len(self._columns()) < len(_NAMES):
                self._db.execute(f"ALTER TABLE responses ADD COLUMN {_ORIGIN}")
            self._db.execute(OPENING)
            self._db.execute(f"PRAGMA user_version = {VERSION}")

    def _columns(self) -> list[str]:
        return [row[1] for row in self._db.execute("PRAGMA table_info(responses)")]

    def _check_form(self) -> None:
        """Refuse, before anything is written, what another program or a later version made."""
        if (version := self._version()) > VERSION:
            raise StoreError(
                f"{self.path}: found schema {version} of the response store, expected {VERSION} or "
                "an earlier one: it was made by a newer tomlab. Update this one, or move it away"
            )
        tables = [name for (name,) in self._db.execute("SELECT name FROM sqlite_schema")]
        columns = self._columns()
        # Another process may have made the tables since the version was read.
        if tables and columns not in ([*_NAMES], [*_NAMES[:-1]]):
            found = f"columns {', '.join(columns)}" if columns else f"tables {', '.join(tables)}"
            raise StoreError(
                f"{self.path}: not a response store: found {found}; expected a table `responses` "
                f"with the columns {', '.join(_NAMES)}. Move it away to start a new one"
            )

    def check_writable(self) -> None:
        """Write to the store without changing it. Errors: `StoreError` if that fails."""
        with self._told():
            self._db.execute(f"PRAGMA user_version = {VERSION}")

    def replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        """The replies that are there, by key."""
        query = (
            f"SELECT key, {', '.join(REPLY)} FROM responses"
            " WHERE key IN (SELECT value FROM json_each(?))"
        )
        with self._told():
            rows = self._db.execute(query, [json.dumps([*keys])])
            return {key: Reply(*reply) for key, *reply in rows}

    def asked_since(self, moment: float) -> int:
        """How many answers came in since a moment, in seconds as of `time.time`."""
        query = "SELECT COUNT(*) FROM responses WHERE created >= ?"
        with self._told():
            return self._db.execute(query, [moment]).fetchone()[0]

    def used(self, purposes: Iterable[tuple[str, str]], stage: str) -> None:
        """Note by which stage, such as `3_evaluation/bigtom`, answers were asked.

        purposes: of each the key and what it was asked for.
        """
        rows = sorted({(key, stage, purpose) for key, purpose in purposes})
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?)", rows)

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

    def measured(self, stage: str) -> list[tuple]:
        """What answers asked for by a stage took, by model and method: how many, sums of their
        tokens, of the characters of their messages as JSON and of their seconds.
        """
        texts = " + ".join(
            f"ifnull(length(json_extract(request, '$.{name}')), 0)"
            for name in ("messages", "input", "system")
        )
        query = (
            "SELECT model, method, COUNT(*), SUM(prompt_tokens), SUM(completion_tokens),"
            f" SUM({texts}), SUM(seconds) FROM responses JOIN (SELECT DISTINCT key,"
            " substr(purpose, 1, instr(purpose || ' ', ' ') - 1) method FROM uses WHERE stage = ?)"
            " USING (key) WHERE prompt_tokens > 0 GROUP BY model, method"
        )
        with self._told():
            return self._db.execute(query, [stage]).fetchall()

    def take(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Store answers from elsewhere; the keys of those that differ here, which stay as here.

        rows: as of `kept`. They cost nothing here.
        """
        self._insert(rows, paid=False)
        uses = [
            (row["key"], *use.split(" ", 1)) for row in rows for use in row["uses"].splitlines()
        ]
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?)", uses)
        there = self.replies(row["key"] for row in rows)
        return [row["key"] for row in rows if there[row["key"]] != reply_of(row)]

    def claim(self, key: str, seconds: float) -> Reply | bool:
        """Whether a request is now ours to ask, for so many seconds; the reply if there is one.

        False while another process has claimed it and its time is not over.
        """
        now = time.time()
        with self._told():
            claimed = self._db.execute(
                "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE"
                " SET owner = excluded.owner, until = excluded.until"
                " WHERE until < ? OR owner = excluded.owner",
                [key, self._owner, now + seconds, now],
            ).rowcount
        # Looked up after the claim: the other process stores a reply before it lets go.
        if reply := self.replies([key]).get(key):
            self.let_go(key)
            return reply
        return bool(claimed)

    def hold(self, seconds: float) -> None:
        """Prolong all our claims and our reservation to so many seconds from now."""
        with self._told():
            for table in ("claims", "reserved"):
                command = f"UPDATE {table} SET until = ? WHERE owner = ?"
                self._db.execute(command, [time.time() + seconds, self._owner])

    def let_go(self, key: str) -> None:
        """Give up a claim."""
        with self._told():
            command = "DELETE FROM claims WHERE key = ? AND owner = ?"
            self._db.execute(command, [key, self._owner])

    def put(self, row: Mapping[str, Any], reserved: float = 0.0, by: str = "") -> Reply:
        """Keep one answer (see `row`) for good, book its cost and end its reservation; the reply
        that is kept, which is an earlier one if there was one. Errors: `StoreError`; the answer is
        not kept then.
        """
        self._insert([{**row, **self.owed(reserved, by)}])
        return self.replies([row["key"]])[row["key"]]

    def _insert(self, rows: Sequence[Mapping[str, Any]], paid: bool = True) -> None:
        command = f"INSERT OR IGNORE INTO responses VALUES ({','.join('?' * len(_NAMES))})"
        with self._told(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(command, [[row[name] for name in _NAMES] for row in rows])
            self._db.executemany("DELETE FROM claims WHERE key = ?", [[row["key"]] for row in rows])
            self._book(rows if paid else [])

    def _rescued(self) -> list[Path]:
        """Where answers go that the store does not take: beside it, or to another disk."""
        name = f"{self.path.name}.rescued.jsonl"
        elsewhere = f"tomlab-{sha256(str(self.path.resolve()).encode()).hexdigest()[:12]}-{name}"
        folders = (Path(tempfile.gettempdir()), Path.home())
        return [self.path.with_name(name), *(folder / elsewhere for folder in folders)]

    def rescue(self, rows: Sequence[Mapping[str, Any]]) -> Path:
        """Write answers that the store did not take as JSON Lines; where. The next one takes them
        in. Errors: `StoreError` where nothing can be written anywhere.
        """
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        failures = []
        for path in self._rescued():
            before = path.stat().st_size if path.is_file() else 0
            try:
                with path.open("ab") as file:
                    file.write(lines)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                failures.append(f"{path} ({error.strerror})")
                with suppress(OSError):
                    os.truncate(path, before)
            else:
                return path
        raise StoreError(f"{len(rows)} answers could be written to none of {', '.join(failures)}")

    def _take_in(self, path: Path) -> None:
        """Store the answers that `rescue` wrote; the file goes when all of them are kept."""
        rows = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                rows.append({name: row[name] for name in _NAMES[:-1]})
                rows[-1] |= {"origin": "{}", **row}
            except (ValueError, TypeError, KeyError) as error:
                raise StoreError(
                    f"{path}, line {number}: found {line[:60]!r} ({error!r}), expected an answer "
                    f"as JSON with {', '.join(_NAMES)}. Mend or move the line away; the others "
                    "were not taken in yet"
                ) from None
        self._insert(rows)
        path.unlink()


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
