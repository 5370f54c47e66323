"""What the prefix cache saves: FANToM questions on full conversations, with and without it.

    python speed/prefix_cache.py [--sets 20]

One question of each type of every question set goes to the embedded model three times: ordered by
conversation with the prefix cache; again in another order, by engines started afresh; and shuffled
without the cache. Prints the seconds of each, their ratio (goal: 4 or more), and whether the answers
with the cache are the same in any order and after a restart.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.models import specs
from tomlab.models.ask import ask
from tomlab.models.specs import ModelSpec, Request

MAX_TOKENS = 16


def requests_of(sets: int, model: ModelSpec) -> list[Request]:
    """One question of each type on `sets` question sets, in the order of the sets."""
    records = read_sets(paths.DATA / "fantom" / "fantom.json")
    items = fantom.compose(records[:sets]).drop_duplicates(["group_id", "question_type"])
    questions = [evaluation.Question(item, "full", 0) for item in items.to_dict("records")]
    return evaluation.requested(fantom, questions, model, max_tokens={"full": MAX_TOKENS})


def timed(requests: Sequence[Request], model: ModelSpec) -> tuple[float, list[str]]:
    """Seconds, engines' start included, and the answers, from an empty response store."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        answers = asyncio.run(ask(requests, model, store=Path(folder) / "store.sqlite"))
        seconds = time.perf_counter() - start
    return seconds, [answer.reply.text for answer in answers]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20, help="question sets to ask about")
    model = specs.model("smollm2-135m")
    requests = requests_of(parser.parse_args().sets, model)
    order = random.Random(0).sample(range(len(requests)), len(requests))
    cached, answers = timed(requests, model)
    _, again = timed([requests[i] for i in order], model)
    plain = [replace(requests[i], shared_prefix="") for i in order]
    uncached, without = timed(plain, model)
    same = sum(answers[i] == text for i, text in zip(order, again, strict=True))
    alike = sum(answers[i] == text for i, text in zip(order, without, strict=True))
    print(f"{len(requests)} questions, {len({r.shared_prefix for r in requests})} conversations")
    print(f"by conversation, with the prefix cache: {cached:7.1f} s")
    print(f"shuffled, without it:                   {uncached:7.1f} s")
    print(f"ratio: {uncached / cached:.1f} (goal: 4 or more)")
    print(f"same answers in another order after a restart: {same} of {len(requests)}")
    print(f"same answers as without the cache: {alike} of {len(requests)}")


if __name__ == "__main__":
    main()
