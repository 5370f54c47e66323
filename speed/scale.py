"""What it takes to score 10⁴ and 10⁵ answers on a Dask cluster of this machine's cores.

Measured: BigToM's items, our templates over and over under new names, with answers by the baseline
`random`, scored by `asking.cluster.score` in parts of 500 groups (12,500 answers) and by one process
at once; seconds, and whether both give the same metrics. The cluster's start is not counted. It
needs the extra `dask`, no key and no network:

    python speed/scale.py            # 10⁴ and 10⁵
    python speed/scale.py 1000000
"""

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

import pandas as pd
from distributed import Client, LocalCluster

from tomlab.asking import evaluation
from tomlab.asking.cluster import score
from tomlab.benchmarks import bigtom
from tomlab.models.specs import model_spec
from tomlab.paths import DATA
from tomlab.records import tidy

SIZES = (10_000, 100_000)
METHOD = "0-shot"


def write_tables(folder: Path, answers: int) -> dict[str, Path]:
    """So many items with their answers: a copy of all templates at a time."""
    items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv")
    model = model_spec("random", {"random": {"provider": "baseline", "model": "random"}})
    questions = evaluation.plan(bigtom, items, model, [METHOD])
    responses = asyncio.run(evaluation.evaluate(bigtom, questions, model))
    files = {}
    for kind, table in (("items", items), ("responses", responses)):
        names = [name for name in ("item_id", "group_id") if name in table]
        copies = [
            table.assign(**{name: table[name] + f"~{copy}" for name in names})
            for copy in range(-(-answers // len(items)))
        ]
        files[kind] = folder / f"{kind}.parquet"
        pd.concat(copies).head(answers).to_parquet(files[kind], index=False, row_group_size=10_000)
    return files


def in_order(metrics: pd.DataFrame) -> pd.DataFrame:
    return metrics.sort_values(["metric", "condition"], ignore_index=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*", default=SIZES, help="how many answers")
    sizes = parser.parse_args().sizes
    print(f"{'answers':>9} {'at once, s':>10} {'cluster, s':>10} metrics")
    options = {"n_workers": os.cpu_count(), "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(__import__, "tomlab.benchmarks.bigtom")
        for size in sorted(sizes):
            with tempfile.TemporaryDirectory() as name:
                files = write_tables(Path(name), size)
                start = time.perf_counter()
                found = in_order(score(client, "bigtom", **files, folder=Path(name)))
                cluster_took = time.perf_counter() - start
                start = time.perf_counter()
                tables = [tidy.read(kind, path) for kind, path in files.items()]
                expected = in_order(bigtom.metrics(bigtom.score(*tables)))
                took = time.perf_counter() - start
            same = "the same" if found.equals(expected) else "NOT THE SAME"
            print(f"{size:>9,} {took:>10.1f} {cluster_took:>10.1f} {same}", flush=True)


if __name__ == "__main__":
    main()
