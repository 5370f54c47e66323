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
from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.benchmarks.simpletom.items.stories import read_stories
from tomlab.paths import ROOT
from tomlab.pipeline.check_notebooks import main as check
from tomlab.pipeline.check_notebooks import problems
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
def test_source_notebook_is_clean(path):
    assert problems(path) == []


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


def test_notebook_with_outputs_or_a_long_cell_is_told_apart(tmp_path, capsys):
    source = nbformat.read(SOURCES[0], as_version=4)
    code = [cell for cell in source.cells if cell.cell_type == "code"]
    code[1].execution_count = 1
    code[2].source = "x = 1\n" * 41
    code[0].metadata["tags"] = []
    nbformat.write(source, tmp_path / "edited.ipynb")
    assert check([str(tmp_path)]) == 1
    said = capsys.readouterr().out
    for fault in ("carries outputs", "longer than 40 lines", "found 0 cells tagged", "3 problems"):
        assert fault in said


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


def test_every_template_becomes_25_items(lab):
    items = tidy.read("items", lab.root / "results/items/bigtom.parquet")
    templates = read_templates(lab.root / "data/bigtom/templates.csv")
    assert items.groupby("group_id").size().to_dict() == dict.fromkeys(templates["template_id"], 25)
    assert set(items["source"]) == {"authored"}


def test_omniscient_is_right_on_true_and_wrong_on_false_beliefs(lab):
    scores = tidy.read("scores", lab.root / "results/scores/bigtom/omniscient.parquet")
    forward = scores[scores["variable"] == "forward_belief"]
    by_condition = forward.groupby("condition")["score"].agg(["min", "max"])
    assert by_condition.loc["true_belief"].to_list() == [1.0, 1.0]
    assert by_condition.loc["false_belief"].to_list() == [0.0, 0.0]
    assert set(scores["outcome"]) == {"correct", "wrong"}


def test_metrics_carry_intervals_over_all_templates(lab):
    metrics = tidy.read("metrics", lab.root / "results/metrics/bigtom/omniscient.parquet")
    accuracy = metrics[metrics["metric"] == "accuracy"].set_index("condition")
    assert len(accuracy) == 25
    false_belief = accuracy.loc["forward_belief/false_belief/1"]
    assert false_belief["value"] == false_belief["ci_low"] == 0
    assert 0 < false_belief["ci_high"] < 0.2
    items = tidy.read("items", lab.root / "results/items/bigtom.parquet")
    assert (accuracy["n_groups"] == items["group_id"].nunique()).all()


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


def metric(lab: Laboratory, benchmark: str, name: str) -> pd.Series:
    """The values of one metric by condition, over all methods the first."""
    metrics = tidy.read("metrics", lab.root / f"results/metrics/{benchmark}/omniscient.parquet")
    own = metrics[metrics["metric"] == name].drop_duplicates("condition")
    return own.set_index("condition")["value"]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_best_judge_is_named_and_people_have_a_form(lab, benchmark):
    folder = lab.root / "results/judges" / benchmark
    winner = json.loads((folder / "winner.json").read_text(encoding="utf-8"))
    agreement = pd.read_csv(folder / "agreement.csv").set_index("judge")
    assert winner["truth"] == "known by construction"
    assert agreement.loc[winner["judge"], "agreement"] == agreement["agreement"].max()
    form = pd.read_csv(folder / "to_label.csv")
    assert "annotator" in form and form["annotator"].isna().all()
    errors = pd.read_csv(folder / "judge_error.csv")
    # Copies of an option hang on no judge; of OmniToM's tables only people could tell.
    assert errors["metric"].str.endswith("_uncorrected").any() == (benchmark == "omnitom")


def test_stories_become_three_questions_and_six_wordings_each(lab):
    items = tidy.read("items", lab.root / "results/items/simpletom.parquet")
    assert items["scenario"].nunique() == 10
    assert items.groupby("story_id").size().eq(9).all()
    stories = read_stories(lab.root / "data/simpletom/stories.csv")
    assert set(items["story_id"]) == set(stories["story_id"])


def test_who_knows_everything_fails_every_question_of_simpletom(lab):
    scores = tidy.read("scores", lab.root / "results/scores/simpletom/omniscient.parquet")
    assert set(scores["outcome"]) == {"wrong"}


def test_conversations_become_question_sets_in_the_released_format(lab):
    sets = json.loads((lab.root / "results/raw/fantom/sets.json").read_text(encoding="utf-8"))
    assert len(sets) == 24
    assert {"set_id", "short_context", "full_context", "factQA", "beliefQAs"} <= set(sets[0])
    items = tidy.read("items", lab.root / "results/items/fantom.parquet")
    assert items["group_id"].nunique() == 24
    assert items["conversation_id"].nunique() == 6


def test_who_knows_everything_fails_beliefs_about_what_was_missed_alone(lab):
    choice = metric(lab, "fantom", "belief_choice")
    assert choice.to_dict() == {"inaccessible": 0, "accessible": 1}


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


def test_calibration_tables_are_as_many_as_asked_for(lab):
    agreement = pd.read_csv(lab.root / "results/judges/omnitom/agreement.csv")
    assert (agreement["n"] > 500).all()
    best = agreement.set_index("judge")["agreement"]
    assert best["embedding"] > best["token_f1"] > best["exact"]


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
