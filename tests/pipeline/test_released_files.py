"""The released BigToM and OmniToM's released samples from generation to the figures.

Of the parameters only `source` and the models are others than in a short run of our own items.
"""

from pathlib import Path

import pytest

from chapters import check_stages
from laboratory import Laboratory, laboratory
from tomlab.paths import ROOT
from tomlab.records import tidy

SHARED = ROOT.parent / "shared" / "datasets"
STAGES = ["generation", "filtering", "evaluation", "judge_calibration", "figures"]
TEMPLATES = 12
STORIES = 23

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="no released files in ../shared")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    root = tmp_path_factory.mktemp("released")
    lines = (SHARED / "bigtom/bigtom.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (root / "bigtom.csv").write_text("".join(lines[:TEMPLATES]), encoding="utf-8")

    def from_release(content: dict) -> None:
        benchmarks = content["run"]["benchmarks"]
        content["run"]["benchmarks"] = {
            "bigtom": benchmarks["bigtom"] | {"source": "bigtom.csv"},
            "omnitom": benchmarks["omnitom"]
            | {"source": str(SHARED / "omnitom/gold_sample.jsonl")},
        }

    return laboratory(root, from_release)


def stages(benchmark: str) -> list[str]:
    names = [f"{stage}@{benchmark}" for stage in STAGES]
    return [f"{name}-omniscient" if "evaluation" in name else name for name in names]


@pytest.mark.parametrize(("benchmark", "units"), [("bigtom", TEMPLATES), ("omnitom", STORIES)])
def test_released_file_runs_from_generation_to_the_figures(lab, benchmark: str, units: int):
    lab.run(*stages(benchmark))
    check_stages(lab, *stages(benchmark))
    results: Path = lab.root / "results"
    items = tidy.read("items", results / f"items/{benchmark}.parquet")
    assert items["group_id"].nunique() == units
    assert items["source"].str.startswith("released:").all()
    metrics = tidy.read("metrics", results / f"metrics/{benchmark}/omniscient.parquet")
    assert metrics["value"].notna().any()
