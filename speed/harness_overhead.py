"""What the harness costs over the bare client.

Measured: 2,000 short requests at concurrency 100 against a local server that waits 20 ms before it
answers, once through `tomlab.models.ask` with every answer written to a fresh response store, once
through `openai.AsyncOpenAI` alone with as many workers; several rounds in alternating order, of
which medians are shown (of seconds, and of the ratios within a round). Then `ask` again, answered from the store. The server has its own process.

Goals: `ask` takes at most 1.3 times as long as the bare client; the store is at least 20 times
faster than asking. Needs no key and no network; a minute on two cores:

    python speed/harness_overhead.py
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import openai

from tomlab.models.ask import ask
from tomlab.models.specs import ModelSpec, Request, model_spec

REQUESTS, CONCURRENCY, WAIT, MAX_TOKENS = 2000, 100, 0.02, 8
ROUNDS = 5
MOST_OVERHEAD, LEAST_SPEED_UP = 1.3, 20
SERVER = Path(__file__).resolve().parents[1] / "tests" / "helpers" / "faulty_server.py"


@contextmanager
def server() -> Iterator[str]:
    """The URL of a server in a process of its own."""
    command = [sys.executable, str(SERVER), str(WAIT)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate("")


def requests() -> list[Request]:
    return [
        Request(({"role": "user", "content": f"Question {n}: a) or b)?"},), MAX_TOKENS)
        for n in range(REQUESTS)
    ]


async def bare(url: str) -> None:
    """The same questions through the vendor's client alone."""
    queue = iter(requests())

    async def work(client: openai.AsyncOpenAI) -> None:
        for request in queue:
            await client.chat.completions.create(
                model="toy",
                messages=list(request.messages),
                max_tokens=request.max_tokens,
                temperature=request.temperature,
            )

    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        await asyncio.gather(*(work(client) for _ in range(CONCURRENCY)))


async def harness(spec: ModelSpec, store: Path) -> None:
    responses = await ask(requests(), spec, store=store, progress=False)
    failed = [response.error for response in responses if response.reply is None]
    assert not failed, failed[0]


def seconds(run: Coroutine) -> float:
    start = time.perf_counter()
    asyncio.run(run)
    return time.perf_counter() - start


def measure(url: str, stores: Path) -> dict[str, list[float]]:
    """Seconds of each way, by round."""
    entry = {"provider": "openai", "model": "toy", "base_url": f"{url}/v1"}
    spec = model_spec("toy", {"toy": {**entry, "max_concurrency": CONCURRENCY}})
    taken: dict[str, list[float]] = {"bare client": [], "ask": [], "ask, from the store": []}
    seconds(bare(url))  # imports and connections of a first run are nobody's overhead
    for n in range(ROUNDS):
        store = stores / f"{n}.sqlite"
        ways = [("bare client", lambda: bare(url)), ("ask", lambda s=store: harness(spec, s))]
        for name, way in ways if n % 2 else reversed(ways):
            taken[name].append(seconds(way()))
        taken["ask, from the store"].append(seconds(harness(spec, store)))
    return taken


def ratio(these: list[float], those: list[float]) -> float:
    """The median over the rounds of how many times longer these took than those."""
    return median(this / that for this, that in zip(these, those, strict=True))


def main() -> None:
    with server() as url, tempfile.TemporaryDirectory() as stores:
        taken = measure(url, Path(stores))
    print(f"{REQUESTS} requests, concurrency {CONCURRENCY}, {ROUNDS} rounds")
    print(f"{'':22}{'seconds':>9}{'requests/s':>13}")
    for name, times in taken.items():
        print(f"{name:22}{median(times):9.3f}{REQUESTS / median(times):13.0f}")
    plain, asked, stored = taken.values()
    overhead, speed_up = ratio(asked, plain), ratio(asked, stored)
    for what, value, goal, met in (
        ("ask / bare client", overhead, f"at most {MOST_OVERHEAD}", overhead <= MOST_OVERHEAD),
        (
            "speed-up of the store",
            speed_up,
            f"at least {LEAST_SPEED_UP}",
            speed_up >= LEAST_SPEED_UP,
        ),
    ):
        print(f"{what:22}{value:9.2f}   goal: {goal:12} {'met' if met else 'not met'}")


if __name__ == "__main__":
    main()
