"""The notebooks as chapters, and the pipeline's own commands run in a folder apart.

The folder has the repository's notebooks and a part of its items, a `params.yaml` changed for a short
run, and what the stages write; the commands and the files they promise are read from `dvc.yaml`.
"""

import json
import re
import shutil
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from matplotlib.image import imread
from nbclient import NotebookClient

from faulty_server import Act, FaultyServer
from laboratory import Laboratory, laboratory
from tomlab.paths import ROOT
from tomlab.pipeline.run_notebook import declared
from tomlab.records import tidy

SOURCES = sorted((ROOT / "notebooks").rglob("*.ipynb"))
SOURCES = [path for path in SOURCES if ".ipynb_checkpoints" not in path.parts]
RELEASED = ROOT / "../shared/datasets/bigtom/bigtom.csv"
CHAIN = [
    *("generation@bigtom", "filtering@bigtom", "evaluation@bigtom-omniscient"),
    *("judge_calibration@bigtom", "figures@bigtom"),
]
OTHERS = {
    name: [stage.replace("bigtom", name) for stage in CHAIN]
    for name in ("fantom", "omnitom", "simpletom")
}
OTHER_STAGES = [stage for stages in OTHERS.values() for stage in stages]
BENCHMARKS = ["bigtom", *OTHERS]
each_source = pytest.mark.parametrize("path", SOURCES, ids=lambda p: f"{p.parent.name}/{p.stem}")


def markdown(path: Path) -> list[str]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


# The sources


@each_source
def test_source_notebook_has_no_outputs_short_cells_and_parameters(path):
    """A check that fails, not a git filter: filters go stale on clones."""
    cells = nbformat.read(path, as_version=4).cells
    assert not [c for c in cells if c.get("outputs") or c.get("execution_count")]
    assert max(len(c.source.splitlines()) for c in cells if c.cell_type == "code") <= 40
    assert declared(path) is not None


@each_source
def test_notebook_has_one_title_and_ends_with_where_to_go(path):
    texts = markdown(path)
    assert texts[0].startswith("# ")
    assert len(re.findall(r"^# ", "\n".join(texts), re.MULTILINE)) == 1
    assert re.search(r"(Next: |Back to the )\[.+\]\(\S+\.ipynb\)", texts[-1])


@each_source
def test_every_link_between_files_leads_somewhere(path):
    links = re.findall(r"\]\(([^)#\s]+)", "\n".join(markdown(path)))
    assert links
    assert [link for link in links if "://" not in link and not (path.parent / link).exists()] == []


def test_index_links_to_every_notebook():
    links = re.findall(
        r"\]\((\S+\.ipynb)\)", "\n".join(markdown(ROOT / "notebooks/00_index.ipynb"))
    )
    found = {(ROOT / "notebooks" / link).resolve() for link in links}
    assert found == {path.resolve() for path in SOURCES if path.stem != "00_index"}


# The stages


def _baselines_only(content: dict) -> None:
    content["run"]["benchmarks"]["bigtom"]["reader"] = "omniscient"
    # One that the paper's figures do not know.
    content["fantom"]["evaluation"]["methods"] = ["short", "full", "short-perspective"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """The stages of all benchmarks, run for the omniscient baseline on our own items."""
    made = laboratory(tmp_path_factory.mktemp("lab"), _baselines_only)
    for stage in CHAIN + OTHER_STAGES:
        made.run(stage)
    return made


@pytest.mark.parametrize("stage", CHAIN + OTHER_STAGES)
def test_stage_writes_what_the_pipeline_says_and_reports_no_fault(stage, lab):
    for path in lab.written(stage):
        assert path.exists(), path.relative_to(lab.root)
    cells = [cell for cell in lab.executed(stage).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells if cell.source)
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []


def test_stages_write_nothing_into_their_inputs(lab):
    inputs = {"book", "data", "dvc.yaml", "forms", "notebooks", "params.yaml", "src", ".dvc"}
    there = {path.name for path in lab.root.iterdir()}
    assert there - inputs <= {".responses", "docs", "results"}


def test_notebook_run_by_hand_leaves_the_pipelines_results_alone(lab):
    results = lab.root / "results"
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    source = nbformat.read(lab.root / "notebooks/2_filtering/fantom.ipynb", as_version=4)
    environment = {k: v for k, v in lab.environment.items() if k != "TOMLAB_STAGE"}
    client = NotebookClient(source, resources={"metadata": {"path": str(lab.root)}})
    client.execute(env=environment)
    after = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    written = {path for path in after if path.is_relative_to(results / "scratch")}
    shutil.rmtree(results / "scratch")
    assert {path: after[path] for path in after.keys() - written} == before
    assert results / "scratch/items/fantom.parquet" in written


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_figures_can_be_seen_and_tables_read(lab, benchmark):
    pictures = sorted((lab.root / "results/figures" / benchmark).glob("*.png"))
    assert pictures
    for path in pictures:
        pixels = imread(path)
        assert 200 < pixels.shape[1] < 4000
        assert pixels.std() > 0.02, f"{path.name} is blank"
        assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
    tables = sorted((lab.root / "results/tables" / benchmark).glob("*.csv"))
    assert tables
    # One model asked by one method has no differences, and a baseline of tables no other order or
    # wording; the file then has its columns alone.
    empty = {path.stem for path in tables if not len(pd.read_csv(path))}
    assert empty <= {"differences"} | ({"variants"} if benchmark == "omnitom" else set())


# The other benchmarks


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_best_judge_is_named_and_people_have_a_form(lab, benchmark):
    folder = lab.root / "results/judges" / benchmark
    winner = json.loads((folder / "winner.json").read_text(encoding="utf-8"))
    agreement = pd.read_csv(folder / "agreement.csv").set_index("judge")
    assert winner["truth"] == "known by construction"
    assert agreement.loc[winner["judge"], "agreement"] == agreement["agreement"].max()
    form = pd.read_csv(folder / "to_label.csv")
    assert "annotator" in form and form["annotator"].isna().all()
    # Copies of an option hang on no judge; of OmniToM's tables only people could tell.
    assert pd.read_csv(folder / "judge_error.csv").empty


def test_omnitom_is_scored_by_the_judge_that_won(lab):
    folder = lab.root / "results/judges/omnitom"
    scores = tidy.read("scores", folder / "scores.parquet")
    winner = json.loads((folder / "winner.json").read_text(encoding="utf-8"))
    assert set(scores.loc[scores["stage"] == 1, "judge"]) == {winner["similarity"]}
    assert pd.read_csv(folder / "judge_error.csv").empty
    form = pd.read_csv(folder / "to_label.csv", dtype=str)
    assert len(form) and form["match_count"].isna().all()
    headline = lab.root / "docs/metrics/omnitom/omniscient/stage1-L3_f1.json"
    assert 0 < json.loads(headline.read_text(encoding="utf-8"))["value"] < 1


# The released items


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Laboratory, int]:
    """The first two stages on the released file, and how often a model was asked for labels."""
    if not RELEASED.is_file():
        pytest.skip("no released bigtom.csv under ../shared/datasets/bigtom")

    with FaultyServer(Act(text="State: ripeness\nMechanism: frost")) as server:

        def with_server(content: dict) -> None:
            entry = {"provider": "openai", "model": "toy", "base_url": f"{server.url}/v1"}
            content["models"]["toy"] = entry
            given = {"source": str(RELEASED.resolve()), "reader": "toy"}
            content["run"]["benchmarks"]["bigtom"] |= given

        made = laboratory(tmp_path_factory.mktemp("released"), with_server)
        for stage in CHAIN[:2]:
            made.run(stage)
        return made, len(server.asked)


def test_released_templates_become_the_5000_items_and_none_is_dropped(released):
    items = tidy.read("items", released[0].root / "results/items/bigtom.parquet")
    assert len(items) == 5000
    assert items["group_id"].nunique() == 200
    assert set(items["source"]) == {"released:bigtom"}


def test_model_is_asked_to_label_what_the_release_leaves_unlabelled(released):
    assert released[1] == 200
