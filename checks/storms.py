"""Kill runs that ask, fill their disk, start several at once: what is lost, asked twice, overspent?

    python checks/storms.py [--kills 20] [--seed 0]     # or: make storms KILLS=200

Local servers speak the vendors' protocols and count what they sell, at $7 an answer. Runs are killed (SIGKILL) at random moments and started again until all is asked, or until
the cost limit stops them. The table has, for each storm:

stopped    runs that were killed, or that a full disk ended
again      requests that were under way at a kill, and so had to be asked again
lost       questions without their right answer in the store at the end
twice      questions that were asked again though the store had their answer, or sold twice in batches
overspent  US dollars sold beyond the cost limit, or beyond what counts as spent

All of the last three must be 0; else it exits with 1.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tomlab.models.store import Store

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from batch_server import BatchServer
from faulty_server import COMPLETION_TOKENS, Act, FaultyServer, good_answer

CONCURRENCY = 4
PER_KILL = 100  # questions for each kill, so that there is something left to ask
DEADLINE = 600  # seconds for one run
ASKER = """
import asyncio, json, resource, signal, sys
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, Request, model_spec
entry, store, count, limit, disk = json.loads(sys.argv[1])
requests = [Request(({"role": "user", "content": f"Question {n}?"},), 10) for n in range(count)]
if disk:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (disk, disk))
print("asking", flush=True)
model, limits = model_spec("toy", {"toy": entry}), Limits(max_cost_usd=limit)
asyncio.run(ask(requests, model, store=store, limits=limits, progress=False))
"""


@dataclass
class Storm:
    """Runs at one store and one server."""

    name: str
    server: FaultyServer
    store: Path
    questions: int
    client: str = "openai"
    batch: dict | None = None
    limit: float | None = None
    stopped: int = 0  # runs that ended before all was asked
    stored_at: dict[str, int] = field(default_factory=dict)  # by answer: how often asked by then

    def start(self, disk: int = 0) -> subprocess.Popen:
        """A run. disk: how long a file may get, in bytes; 0: as long as it likes."""
        url = f"{self.server.url}/v1" if self.client == "openai" else self.server.url
        entry = {"provider": self.client, "model": "toy", "base_url": url, "batch": self.batch}
        entry |= {"max_concurrency": CONCURRENCY, "price": {"input": 0, "output": 1_000_000}}
        arguments = json.dumps([entry, str(self.store), self.questions, self.limit, disk])
        run = subprocess.Popen(
            [sys.executable, "-c", ASKER, arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(self.store.parent)},
        )
        run.stdout.readline()
        return run

    def kill(self, run: subprocess.Popen, seconds: float) -> None:
        """Kill a run so long after its first call."""
        calls = len(self.server.headers)
        while len(self.server.headers) == calls and run.poll() is None:
            time.sleep(0.01)
        time.sleep(seconds)
        self.stopped += run.poll() is None
        run.kill()
        run.wait()
        self.look()

    def look(self) -> None:
        """Note what the store has, and how often that was asked so far."""
        asked = self.asked()
        for answer in self.answers():
            self.stored_at.setdefault(answer, asked[answer])

    def answers(self) -> set[str]:
        with Store(self.store) as store:
            return {text for (text,) in store.all("SELECT text FROM responses")}

    def asked(self) -> Counter[str]:
        """How often each question was asked by itself, by its answer."""
        return Counter(good_answer(asked.text) for asked in [*self.server.asked])

    def row(self) -> dict:
        """What became of it."""
        self.look()
        asked = self.asked()
        answers = self.answers()
        with Store(self.store) as store:
            counted = sum(store.spending())
        if self.batch:
            times = self.server.sold()
            sold = sum(times.values())
            n_twice = sum(count > 1 for count in times.values())
        else:
            sold = sum(asked.values())
            n_twice = sum(asked[answer] > count for answer, count in self.stored_at.items())
        expected = {good_answer(f"Question {n}?") for n in range(self.questions)}
        n_lost = len(expected - answers) if self.limit is None else 0
        paid = sold * COMPLETION_TOKENS
        return {
            "storm": self.name,
            "questions": self.questions,
            "stopped": self.stopped,
            "again": sold - len(answers),
            "lost": n_lost,
            "twice": n_twice,
            "overspent": max(0, paid - counted, paid - (self.limit or paid)),
        }


def by_process(folder: Path, kills: int, lot: random.Random, *, share: float | None) -> dict:
    """share: of all questions that the cost limit admits; None: no limit."""
    with FaultyServer(Act(wait=0.05)) as server:
        count = PER_KILL * kills
        limit = None if share is None else share * count * COMPLETION_TOKENS
        name = "by process" if share is None else "by process, cost limit"
        storm = Storm(name, server, folder / "store.sqlite", count, limit=limit)
        for _ in range(kills):
            storm.kill(storm.start(), lot.uniform(0, 0.5))
        storm.start().wait(DEADLINE)
        return storm.row()


def by_batch(folder: Path, kills: int, lot: random.Random, client: str) -> dict:
    """Of the lines 3 % go wrong; of one batch in five nobody hears that it is made."""
    with BatchServer(folder / "sold.sqlite", seconds=0.4, faulty=0.03) as server:
        server.on_create = lambda _: lot.random() < 0.2
        batch = {"poll": 0.1, "requests": 20, "at_once": 2}
        store = folder / "store.sqlite"
        storm = Storm(f"by batch, {client}", server, store, PER_KILL * kills, client, batch)
        for _ in range(kills):
            storm.kill(storm.start(), lot.uniform(0, 1.0))
        storm.start().wait(DEADLINE)
        return storm.row()


def at_once(folder: Path, processes: int, kills: int, lot: random.Random) -> dict:
    """Several runs; one of them is killed and started again, time after time."""
    with FaultyServer(Act(wait=0.05)) as server:
        store = folder / "store.sqlite"
        storm = Storm(f"{processes} processes", server, store, PER_KILL * kills)
        runs = [storm.start() for _ in range(processes)]
        for _ in range(kills):
            victim = runs.pop(lot.randrange(processes))
            storm.kill(victim, lot.uniform(0, 0.5))
            runs.append(storm.start())
        codes = [run.wait(DEADLINE) for run in runs]
        assert not any(codes), "a run failed"
        return storm.row()


def full_disk(folder: Path, batch: dict | None) -> dict:
    """Files may get a little longer from run to run."""
    with BatchServer(folder / "sold.sqlite", seconds=0.1) as server:
        name = "full disk, by batch" if batch else "full disk, by process"
        storm = Storm(name, server, folder / "store.sqlite", 400, batch=batch)
        for disk in range(1, 400_000, 20_000):
            storm.stopped += bool(storm.start(disk).wait(DEADLINE))
            storm.look()
        storm.start().wait(DEADLINE)
        return storm.row()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=20, help="in each storm")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    lot = random.Random(arguments.seed)
    kills = arguments.kills
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(tempfile.mkdtemp(dir=folder)) for _ in range(8)]
        rows = [
            by_process(folders[0], kills, lot, share=None),
            by_process(folders[1], kills, lot, share=0.5),
            by_batch(folders[2], kills, lot, "openai"),
            by_batch(folders[3], kills, lot, "anthropic"),
            at_once(folders[4], 2, kills, lot),
            at_once(folders[5], 4, kills, lot),
            full_disk(folders[6], None),
            full_disk(folders[7], {"poll": 0.05, "requests": 50}),
        ]
    table = pd.DataFrame(rows)
    print(f"\n{table.to_string(index=False)}")
    return int(table[["lost", "twice", "overspent"]].any(axis=None))


if __name__ == "__main__":
    sys.exit(main())
