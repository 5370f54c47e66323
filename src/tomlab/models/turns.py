"""When a model may be asked: by one process at a time, no faster than its rates."""

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

LOOK = 0.5  # seconds between two looks at what is waited for
PATIENCE = 4  # looks after which a run says for whom it waits


@asynccontextmanager
async def alone(store: Store, model: str) -> AsyncIterator[None]:
    """Be the only process that asks a model at a store. Who waits says once for whom."""
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
    """Lets requests go one by one, so many of them and of their tokens a minute."""

    def __init__(self, model: ModelSpec):
        self.requests = getattr(model, "requests_per_minute", None) or math.inf
        self.tokens = getattr(model, "tokens_per_minute", None) or math.inf
        self.next = 0.0  # when the next one may go

    async def wait(self, request: Request) -> None:
        """Wait until a request may go."""
        tokens = request.prompt_tokens + (request.max_tokens or UNLIMITED)
        now = time.monotonic()
        start = max(now, self.next)
        self.next = start + 60 * max(1 / self.requests, tokens / self.tokens)
        await asyncio.sleep(start - now)
