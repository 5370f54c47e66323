"""What 10⁴, 10⁵ and 10⁶ answers take: seconds, and memory at its peak.

Measured: BigToM's items, our templates over and over under new names, put to the baseline `random`
and scored by `asking.parts.in_parts`; each size in a process of its own, imports included. The line
goes through a run of one template and the smallest size: `ratio` is how much longer a size takes
than it says. Then the metrics of the smallest size, by parts and at once.

Goals: 10⁶ in less than ten minutes on two cores; `ratio` at most 1.1; memory that does not grow
with the answers. Needs no key and no network:

    python speed/scale.py            # 10⁴, 10⁵ and 10⁶
    python speed/scale.py 10000      # the smallest alone
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SIZES = (10_000, 100_000, 1_000_000)
OF_A_TEMPLATE, METHOD = 25, "0-shot"


def write_items(path: Path, answers: int) -> None:
    """So many items, a copy of all templates at a time."""
    from tomlab.benchmarks import bigtom
    from tomlab.paths import DATA

    items = bigtom.read_released(DATA / "bigtom" / "templates.csv")
    with pq.ParquetWriter(path, pa.Table.from_pandas(items, preserve_index=False).schema) as file:
        for copy in range(-(-answers // len(items))):
            named = {name: items[name] + f"~{copy}" for name in ("item_id", "group_id")}
            part = items.assign(**named).head(answers - copy * len(items))
            file.write_table(pa.Table.from_pandas(part, preserve_index=False))


def model():
    from tomlab.models.specs import model_spec

    return model_spec("random", {"random": {"provider": "baseline", "model": "random"}})


def run(path: Path) -> None:
    """Ask and score by parts; prints seconds and megabytes."""
    start = time.perf_counter()
    from tomlab.asking.parts import in_parts
    from tomlab.benchmarks import bigtom

    asyncio.run(in_parts(bigtom, path, model(), [METHOD], path.parent))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([seconds, peak]))


def measured(answers: int, folder: Path) -> tuple[float, float]:
    """Seconds and megabytes at the peak of one size."""
    write_items(path := folder / "items.parquet", answers)
    command = [sys.executable, __file__, "--run", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def same_at_once(folder: Path) -> bool:
    """Whether the metrics of the items in a folder are those of all at once."""
    from tomlab.asking import evaluation
    from tomlab.benchmarks import bigtom
    from tomlab.records import tidy

    items = tidy.read("items", folder / "items.parquet")
    questions = evaluation.plan(bigtom, items, model(), [METHOD])
    responses = asyncio.run(evaluation.evaluate(bigtom, questions, model()))
    found = tidy.read("metrics", folder / "metrics" / "bigtom" / "random.parquet")
    expected = bigtom.metrics(bigtom.score(items, responses))
    keys = ["method", "metric", "condition"]
    found, expected = (each.sort_values(keys, ignore_index=True) for each in (found, expected))
    return found.equals(expected.astype(found.dtypes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES, help="how many answers")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        run(args.run)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        least, fixed = measured(OF_A_TEMPLATE, folder)
        print(f"{'answers':>9} {'seconds':>8} {'µs each':>8} {'peak MB':>8} {'ratio':>6}")
        print(f"{OF_A_TEMPLATE:>9,} {least:8.1f} {'':8} {fixed:8.0f}")
        each = None
        for size in sorted(args.sizes):
            seconds, peak = measured(size, folder)
            each = each or (seconds - least) / size
            ratio = seconds / (least + each * size)
            micros = (seconds - least) / size * 1e6
            print(f"{size:>9,} {seconds:8.1f} {micros:8.0f} {peak:8.0f} {ratio:6.2f}", flush=True)
            if size == min(args.sizes):
                same = "the same" if same_at_once(folder) else "not the same"
                print(f"the metrics of {size:,} are {same} as at once")


if __name__ == "__main__":
    main()
