"""Make requests wait: one process at a time asks a model, no faster than its rate limits."""

import asyncio
import math
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

from filelock import Timeout

from tomlab.models.specs import UNLIMITED, ModelSpec, Request
from tomlab.models.store import Store
from tomlab.paths import stage

LOOK = 0.5  # seconds between two checks whether the wait is over
PATIENCE = 4  # checks after which a waiting run says which process it waits for


@asynccontextmanager
async def alone(store: Store, model: str) -> AsyncIterator[None]:
    """Hold a model's lock at a store. A process that waits for it says once which one holds it."""
    lock = store.lock(model)
    holder = Path(lock.lock_file).with_suffix(".holder")
    for look in count(1):
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            if look == PATIENCE:
                print(
                    f"models.{model} is asked by {holder.read_text()}. This run goes on by itself "
                    "when that ends, and asks for what is missing then; Ctrl-C ends it.",
                    file=sys.__stderr__ or sys.stderr,
                )
            await asyncio.sleep(LOOK)
    try:
        with store.faults():
            holder.write_text(f"{stage() or 'a run'}, process {os.getpid()}, at {store.path}")
        yield
    finally:
        lock.release()


class Rate:
    """Spaces requests out to keep within the model's limits of requests and tokens a minute."""

    def __init__(self, model: ModelSpec):
        self.requests = getattr(model, "requests_per_minute", None) or math.inf
        self.tokens = getattr(model, "tokens_per_minute", None) or math.inf
        self.next = 0.0  # when the next request may be sent (`time.monotonic`)

    async def wait(self, request: Request) -> None:
        """Wait until a request may be sent."""
        tokens = request.prompt_tokens + (request.max_tokens or UNLIMITED)
        now = time.monotonic()
        start = max(now, self.next)
        self.next = start + 60 * max(1 / self.requests, tokens / self.tokens)
        await asyncio.sleep(start - now)
