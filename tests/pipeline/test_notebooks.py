"""The notebooks as chapters, and the pipeline's own commands run in a folder apart.

The folder has the repository's notebooks and a part of its items, a `params.yaml` changed for a short
run, and what the stages write; the commands and the files they promise are read from `dvc.yaml`.
"""

import re
import shutil
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

from bigtom_templates import MEI
from chapters import check_figures_and_tables, check_judges, check_stages
from faulty_server import Act, FaultyServer
from laboratory import Laboratory, laboratory
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items.templates import AFTER_STORY, STORY
from tomlab.paths import ROOT
from tomlab.pipeline.run_notebook import declared
from tomlab.records import tidy
from tomlab.scoring import ledger

SOURCES = sorted((ROOT / "notebooks").rglob("*.ipynb"))
SOURCES = [path for path in SOURCES if ".ipynb_checkpoints" not in path.parts]
RELEASED = ROOT / "../shared/datasets/bigtom/bigtom.csv"
CHAIN = ["generation", "filtering", "evaluation", "judge_calibration", "figures"]
# The other two are run from end to end by `test_server_run` and `test_tombench`.
BENCHMARKS = ["fantom", "simpletom"]
STAGES = [
    f"{name}@{benchmark}" + ("-omniscient" if name == "evaluation" else "")
    for benchmark in BENCHMARKS
    for name in CHAIN
]
STAGES += ["fresh@models", "fresh@search", "changes"]
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


def test_index_links_to_every_notebook_that_is_no_chapter():
    """It lists the chapters of the run's benchmarks when it runs, see `test_adding`."""
    folder = ROOT / "notebooks"
    links = re.findall(r"\]\((\S+\.ipynb)\)", "\n".join(markdown(folder / "00_index.ipynb")))
    assert {*links} == {path.name for path in folder.glob("*.ipynb")} - {"00_index.ipynb"}


# The stages


def _another_method(content: dict) -> None:
    # One that the paper's figures do not know.
    content["fantom"]["evaluation"]["methods"] = ["short", "full", "short-perspective"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """The stages of two benchmarks, run for the omniscient baseline on our own items."""
    made = laboratory(tmp_path_factory.mktemp("lab"), _another_method)
    made.run(*STAGES)
    return made


@pytest.mark.parametrize("stage", STAGES)
def test_stage_writes_what_the_pipeline_says_and_reports_no_fault(stage, lab):
    check_stages(lab, stage)


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
    # One model asked by one method has no differences; the file then has its columns alone.
    check_figures_and_tables(lab, benchmark, empty={"differences"})


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_best_judge_is_named_and_people_have_a_form(lab, benchmark):
    check_judges(lab, benchmark)


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
        made.run(*(f"{stage}@bigtom" for stage in CHAIN[:2]))
        return made, len(server.asked)


def test_released_templates_become_the_5000_items_and_none_is_dropped(released):
    items = tidy.read("items", released[0].root / "results/items/bigtom.parquet")
    assert len(items) == 5000
    assert items["group_id"].nunique() == 200
    assert set(items["source"]) == {"released:bigtom"}


def test_model_is_asked_to_label_what_the_release_leaves_unlabelled(released):
    assert released[1] == 200


# A released file of which the ledger of keys has an entry


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """Stages on a small released file; the ledger finds the key of a false-belief item wrong."""
    folder = tmp_path_factory.mktemp("judged")
    names = [f"Mei{letter}" for letter in "abcdef"]
    rows = [{key: text.replace("Mei", name) for key, text in MEI.items()} for name in names]
    lines = [
        [" ".join(row[name] for name in STORY), *(row[name] for name in AFTER_STORY), "auto", "0"]
        for row in rows
    ]
    source = folder / "released.csv"
    source.write_text("\n".join(map(";".join, lines)) + "\n", encoding="utf-8")
    items = bigtom.read_released(source).set_index("item_id", drop=False)
    item = items.loc["released-003/forward_belief/false_belief/1"]
    entry = {"item": "2/forward_belief/false_belief/1", "text": ledger.fingerprint(item)}
    entry |= {"released_key": "belief_answer_not_aware", "verdict": "wrong", "why": "To test."}
    entry |= {"found_by": "reader", "read_by": "llm:toy", "confirmed_by": "nobody yet"}

    with FaultyServer(Act(text="State: ripeness\nMechanism: frost")) as server:

        def with_source(content: dict) -> None:
            model = {"provider": "openai", "model": "toy", "base_url": f"{server.url}/v1"}
            content["models"]["toy"] = model
            content["run"]["benchmarks"]["bigtom"] |= {"source": str(source), "reader": "toy"}

        made = laboratory(tmp_path_factory.mktemp("lab"), with_source)
        path = made.root / "data/published/bigtom/ledger.csv"
        path.unlink(missing_ok=True)
        pd.DataFrame([entry]).to_csv(path, index=False)
        stages = ("generation@bigtom", "filtering@bigtom", "evaluation@bigtom-omniscient")
        made.run(*stages, "figures@bigtom")  # which need no judges
    return made


def test_filtering_lists_what_the_ledger_says_and_drops_nothing(judged):
    said = str([cell.get("outputs") for cell in judged.executed("filtering@bigtom").cells])
    assert "The ledger has entries about 1 item: 1 wrong." in said
    assert "To test." in said
    items = tidy.read("items", judged.root / "results/items/bigtom.parquet")
    assert len(items) == 6 * 25


def test_evaluation_and_figures_show_numbers_as_released_and_as_corrected(judged):
    """The omniscient baseline is wrong on every false belief, so right on the corrected one."""
    moved = pd.read_csv(judged.root / "results/tables/bigtom/corrected.csv")
    moved = moved.query("model == 'omniscient' and metric == 'accuracy'")
    assert moved["condition"].unique().tolist() == ["forward_belief/false_belief/1"]
    assert moved.set_index("keys")["value"].to_dict() == {"released": 0, "corrected": 1 / 6}
    metrics = tidy.read("metrics", judged.root / "results/metrics/bigtom/omniscient.parquet")
    kept = metrics.query("metric == 'accuracy' and condition == 'forward_belief/false_belief/1'")
    assert kept["value"].item() == 0
