"""Ask 10,000 questions in batches, kill the asking time and again: what is stored, what was paid?

    python checks/killed_batches.py openai|anthropic [--questions 10000] [--seed 0]

A local server sells the batches over HTTP in the vendor's protocol. Of its lines 3 % go wrong the
first time: busy, failed, cut in two, left out, malformed. The asking process is killed (SIGKILL)
five times at random moments, and once more while a batch is being made of which it then never
hears. Prints a line a kill and one with all counts; exits with 1 if an answer is not stored, or any
was sold twice.
"""

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

from batch_server import BatchServer
from faulty_server import good_answer

SHARE, KILLS, PARTS = 0.03, 5, 10
ASKER = """
import asyncio, sys
from tomlab.models.ask import ask
from tomlab.models.specs import Request, model_spec
client, url, store, count, most = sys.argv[1:]
batch = {"poll": 0.3, "requests": int(most)}
entry = {"provider": client, "model": "toy", "base_url": url, "batch": batch}
requests = [Request(({"role": "user", "content": f"Question {n}?"},), 10) for n in range(int(count))]
print("asking", flush=True)
asyncio.run(ask(requests, model_spec("toy", {"toy": entry}), store=store, progress=False))
"""


class Asker:
    """The process that asks."""

    def __init__(self, client: str, url: str, store: Path, count: int):
        url = f"{url}/v1" if client == "openai" else url
        arguments = [client, url, str(store), str(count), str(count // PARTS)]
        command = [sys.executable, "-c", ASKER, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def kill(self) -> None:
        self.process.kill()  # which may have ended by itself
        self.process.wait()


def count(path: Path, query: str) -> int:
    """What a query counts, 0 before there is anything."""
    try:
        with sqlite3.connect(path) as db:
            return db.execute(query).fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("client", choices=["openai", "anthropic"])
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    lot, start = random.Random(args.seed), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite"
        ledger = store.with_name(f"{store.name}.batches.sqlite")
        sold = Path(folder) / "sold.sqlite"
        with BatchServer(sold, seconds=1.5, faulty=SHARE, seed=args.seed) as server:
            asker: Asker

            def told(when: str) -> None:
                stored = count(store, "SELECT COUNT(*) FROM responses")
                unknown = count(ledger, "SELECT COUNT(*) FROM batches WHERE id IS NULL")
                print(
                    f"killed {when}: {stored:,} stored, {len(server.batches)} batches made, "
                    f"{unknown} without an id in the ledger"
                )

            def kill_while_made(_: object) -> bool:
                server.on_create = lambda _: False
                asker.kill()
                return True

            def ask() -> Asker:
                return Asker(args.client, server.url, store, args.questions)

            asker = ask()
            # The third batch is made, and nobody hears of it.
            server.on_create = lambda b: b.id == "batch_2" and kill_while_made(b)
            asker.process.wait()
            told("while a batch is made")
            for number in range(1, KILLS + 1):
                calls, seconds = len(server.headers), lot.uniform(0.3, 0.3 + 0.8 * number)
                asker = ask()
                while len(server.headers) == calls and asker.process.poll() is None:
                    time.sleep(0.05)
                time.sleep(seconds)
                asker.kill()
                told(f"{number}, {seconds:.1f} s after its first call")
            ended = ask().process.wait()
            bought = server.sold()
            made = len(server.batches)
        rows = sqlite3.connect(store).execute("SELECT text FROM responses").fetchall()
        texts = {text for (text,) in rows}
        right = sum(good_answer(f"Question {n}?") in texts for n in range(args.questions))
        twice = sum(times > 1 for times in bought.values())
        open_ones = count(ledger, "SELECT COUNT(*) FROM requests")
    print(
        f"{args.client}: {args.questions:,} questions, {SHARE:.0%} of lines faulty, "
        f"{KILLS + 1} kills: {right:,} right answers stored in {len(rows):,} rows, "
        f"{sum(bought.values()):,} answers sold, {twice} of them twice, {made} batches, "
        f"{open_ones} requests left in the ledger, {time.monotonic() - start:.0f} s"
    )
    good = right == len(rows) == args.questions == sum(bought.values()) and not twice
    return 0 if good and not ended and not open_ones else 1


if __name__ == "__main__":
    sys.exit(main())
