"""What the harness costs beside the bare client as people use it.

Measured: 2,000 short requests at concurrency 100 against a local server that waits 20 ms before it
answers, once through `tomlab.models.ask`, which takes the clients' aiohttp transport, with every
answer written to a fresh response store, once through the vendor's client alone, as its page shows
it, with as many workers; several rounds in alternating order, of which medians are shown (of
seconds by the clock and of processor time, and of the ratios within a round). Then `ask` answered
from the store. The server has its own process; its time is in the clock's.

Goals: `ask` takes at most 0.7 times as long as the bare client; the store is at least 20 times
faster than asking. Needs no key and no network; a minute or two on two cores:

    python speed/harness_overhead.py              # OpenAI's chat endpoint
    python speed/harness_overhead.py responses
    python speed/harness_overhead.py anthropic
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import anthropic
import openai

from tomlab.models.ask import ask
from tomlab.models.specs import ModelSpec, Request, model_spec

REQUESTS, CONCURRENCY, WAIT, MAX_TOKENS = 2000, 100, 0.02, 8
ROUNDS = 5
MOST, LEAST_SPEED_UP = 0.7, 20
SERVER = Path(__file__).resolve().parents[1] / "tests" / "helpers" / "faulty_server.py"
# By what the program is told: the entry of a model beside its server.
ENTRIES = {
    "chat": {"provider": "openai"},
    "responses": {"provider": "openai", "endpoint": "responses"},
    "anthropic": {"provider": "anthropic"},
}
Seconds = tuple[float, float]  # by the clock, of processor time


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


def call(kind: str, client: openai.AsyncOpenAI | anthropic.AsyncAnthropic) -> Callable:
    """What asks one question by the vendor's client."""

    def put(request: Request) -> Awaitable:
        messages, warmth = list(request.messages), request.temperature
        options = {"model": "toy", "temperature": warmth}
        if kind == "responses":
            limit = {"max_output_tokens": request.max_tokens}
            return client.responses.create(input=messages, **options, **limit)
        options = {"model": "toy", "messages": messages, "max_tokens": request.max_tokens}
        if kind == "anthropic":
            return client.messages.create(**options, extra_body={"temperature": warmth})
        return client.chat.completions.create(**options, temperature=warmth)

    return put


async def bare(kind: str, base_url: str) -> None:
    """The same questions through the vendor's client alone."""
    queue = iter(requests())
    made = anthropic.AsyncAnthropic if kind == "anthropic" else openai.AsyncOpenAI

    async def work(put: Callable) -> None:
        for request in queue:
            await put(request)

    async with made(base_url=base_url, api_key="none") as client:
        await asyncio.gather(*(work(call(kind, client)) for _ in range(CONCURRENCY)))


async def harness(spec: ModelSpec, store: Path) -> None:
    responses = await ask(requests(), spec, store=store, progress=False)
    failed = [response.error for response in responses if response.reply is None]
    assert not failed, failed[0]


def seconds(run: Coroutine) -> Seconds:
    clock, processor = time.perf_counter(), time.process_time()
    asyncio.run(run)
    return time.perf_counter() - clock, time.process_time() - processor


def measure(kind: str, url: str, stores: Path) -> dict[str, list[Seconds]]:
    """Seconds of each way, by round."""
    base_url = url if kind == "anthropic" else f"{url}/v1"
    entry = {**ENTRIES[kind], "model": "toy", "base_url": base_url, "max_concurrency": CONCURRENCY}
    spec = model_spec("toy", {"toy": entry})
    names = "bare client", "ask", "ask, from the store"
    taken: dict[str, list[Seconds]] = {name: [] for name in names}
    seconds(bare(kind, base_url))  # imports and connections of a first run are nobody's overhead
    seconds(harness(spec, stores / "first.sqlite"))
    for n in range(ROUNDS):
        store = stores / f"{n}.sqlite"
        ways = [
            ("bare client", lambda: bare(kind, base_url)),
            ("ask", lambda s=store: harness(spec, s)),
        ]
        for name, way in ways if n % 2 else reversed(ways):
            taken[name].append(seconds(way()))
        taken["ask, from the store"].append(seconds(harness(spec, store)))
    return taken


def ratio(these: list[Seconds], those: list[Seconds], which: int) -> float:
    """The median over the rounds of how many times longer these took than those."""
    return median(this[which] / that[which] for this, that in zip(these, those, strict=True))


def main() -> None:
    kind = sys.argv[1] if sys.argv[1:] else "chat"
    if kind not in ENTRIES:
        sys.exit(f"found {kind!r}, expected one of {', '.join(ENTRIES)}")
    with server() as url, tempfile.TemporaryDirectory() as stores:
        taken = measure(kind, url, Path(stores))
    print(f"{kind}: {REQUESTS} requests, concurrency {CONCURRENCY}, {ROUNDS} rounds")
    print(f"{'':22}{'seconds':>9}{'processor':>11}{'requests/s':>13}")
    for name, times in taken.items():
        clock, processor = (median(each) for each in zip(*times, strict=True))
        print(f"{name:22}{clock:9.3f}{processor:11.3f}{REQUESTS / clock:13.0f}")
    plain, asked, stored = taken.values()
    clock, processor = (ratio(asked, plain, which) for which in (0, 1))
    print(
        f"{'ask / bare client':22}{clock:9.2f}{processor:11.2f}   of the clock, of processor time"
    )
    least, speed_up = ratio(asked, plain, 0), ratio(asked, stored, 0)
    for what, value, goal, met in (
        ("ask / bare client", least, f"at most {MOST}", least <= MOST),
        ("store / ask", speed_up, f"at least {LEAST_SPEED_UP}", speed_up >= LEAST_SPEED_UP),
    ):
        print(f"{what:22}{value:9.2f}   goal: {goal:12} {'met' if met else 'not met'}")


if __name__ == "__main__":
    main()
