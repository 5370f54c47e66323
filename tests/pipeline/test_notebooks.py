"""The notebooks as chapters, and the pipeline's own commands run in a folder apart.

The folder has the repository's notebooks and a part of its items, a `params.yaml` changed for a short
run, and what the stages write; the commands and the files they promise are read from `dvc.yaml`.
"""

import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest

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
CHAIN = ["generation", "filtering", "evaluation", "judge_calibration", "figures"]
# The other two are run from end to end by `test_server_run` and `test_tombench`.
BENCHMARKS = ["fantom", "simpletom"]


def chain(benchmark: str) -> list[str]:
    """The stages of a benchmark for the omniscient baseline."""
    stages = [f"{stage}@{benchmark}" for stage in CHAIN]
    return [f"{stage}-omniscient" if "evaluation" in stage else stage for stage in stages]


STAGES = [*chain("fantom"), *chain("simpletom"), "fresh@models", "fresh@search", "changes"]
# The judges of BigToM are calibrated by `test_server_run`.
RELEASED = [stage for stage in chain("bigtom") if "judge" not in stage]
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
    prepared = laboratory(tmp_path_factory.mktemp("lab"), _another_method)
    prepared.run(*STAGES)
    return prepared


def test_stages_write_what_the_pipeline_says_and_report_no_fault(lab):
    check_stages(lab, *STAGES)


def test_stages_write_nothing_into_their_inputs(lab):
    inputs = {"book", "data", "dvc.yaml", "forms", "notebooks", "params.yaml", "src", ".dvc"}
    folders = {path.name for path in lab.root.iterdir()}
    assert folders - inputs <= {".responses", "docs", "results"}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_figures_can_be_seen_tables_read_and_people_have_a_form(lab, benchmark):
    # One model asked by one method has no differences; the file then has its columns alone.
    check_figures_and_tables(lab, benchmark, empty={"differences"})
    check_judges(lab, benchmark)


# A released file of which the ledger of keys has an entry


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """Stages on a small released file; the ledger finds the key of a false-belief item wrong."""
    folder = tmp_path_factory.mktemp("released")
    rows = []
    for letter in "abcdef":
        texts = {key: text.replace("Mei", f"Mei{letter}") for key, text in MEI.items()}
        story = " ".join(texts[name] for name in STORY)
        rows.append([story, *(texts[name] for name in AFTER_STORY), "auto", "0"])
    source = folder / "released.csv"
    source.write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")
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

        lab = laboratory(tmp_path_factory.mktemp("lab"), with_source)
        path = lab.root / "data/published/bigtom/ledger.csv"
        path.unlink(missing_ok=True)
        pd.DataFrame([entry]).to_csv(path, index=False)
        lab.run(*RELEASED)
        assert len(server.asked) == len(rows)  # for the labels that a release lacks
    return lab


def test_released_file_runs_from_generation_to_the_figures(released):
    check_stages(released, *RELEASED)
    items = tidy.read("items", released.root / "results/items/bigtom.parquet")
    assert len(items) == 6 * 25
    assert items["source"].unique().tolist() == ["released:released"]  # by the name of the file


def test_pages_show_the_ledger_and_numbers_as_released_and_as_corrected(released):
    """The omniscient baseline is wrong on every false belief, so right on the corrected one."""
    outputs = str([cell.get("outputs") for cell in released.executed("filtering@bigtom").cells])
    assert "The ledger has entries about 1 item: 1 wrong." in outputs
    assert "To test." in outputs
    corrected = pd.read_csv(released.root / "results/tables/bigtom/corrected.csv")
    corrected = corrected.query("model == 'omniscient' and metric == 'accuracy'")
    assert corrected["condition"].unique().tolist() == ["forward_belief/false_belief/1"]
    assert corrected.set_index("keys")["value"].to_dict() == {"released": 0, "corrected": 1 / 6}
    metrics = tidy.read("metrics", released.root / "results/metrics/bigtom/omniscient.parquet")
    value = metrics.query("metric == 'accuracy' and condition == 'forward_belief/false_belief/1'")
    assert value["value"].item() == 0
