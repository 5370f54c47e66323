"""What each stage reads of `params.yaml`: all that its notebook takes, and nothing else."""

import json
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat import v4

from tomlab.errors import InputError
from tomlab.paths import PARAMS, ROOT
from tomlab.pipeline import settings
from tomlab.pipeline.run_notebook import declared
from tomlab.pipeline.settings import read_by_stages

RIGHT = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))


def notebook(folder: Path, *tagged: str) -> Path:
    """A source notebook with cells tagged `parameters`."""
    cells = [v4.new_code_cell(code, metadata={"tags": ["parameters"]}) for code in tagged]
    path = folder / "x.ipynb"
    nbformat.write(v4.new_notebook(cells=cells), path)
    return path


# What a notebook declares


def test_names_come_with_their_literals(tmp_path):
    source = "seed = 0  # the run's\nprompts = {}\nmethods = ['0-shot']\nlow = -1"
    assert declared(notebook(tmp_path, source)) == {
        "seed": 0,
        "prompts": {},
        "methods": ["0-shot"],
        "low": -1,
    }


@pytest.mark.parametrize(
    "line",
    [
        "twice = 2 * seed",
        "seed =",
    ],
)
def test_cell_that_derives_a_value_is_refused(line, tmp_path):
    with pytest.raises(InputError, match=r"x\.ipynb: .*`name = literal` alone"):
        declared(notebook(tmp_path, f"seed = 0\n{line}"))


@pytest.mark.parametrize("cells", [[], ["seed = 0", "seed = 1"]])
def test_one_cell_is_tagged_parameters(cells, tmp_path):
    with pytest.raises(InputError, match=rf"x\.ipynb: found {len(cells)} cells tagged `param"):
        declared(notebook(tmp_path, *cells))


# What it is given


def test_name_that_no_section_has_is_told():
    content = deepcopy(RIGHT)
    del content["bigtom"]["judges"]["folds"]
    with pytest.raises(InputError, match=r"4_judge_calibration/bigtom.ipynb: folds: found in no"):
        read_by_stages(content)


# Which stages a change concerns

READ = read_by_stages(RIGHT)
ALL = list(READ)


def concerned(before: dict, after: dict) -> set[str]:
    return {name for name in before | after if before.get(name) != after.get(name)}


def of(*starts: str) -> set[str]:
    return {name for name in ALL if name.startswith(starts)}


CHANGES = {
    "models/smollm2-135m/groups/bigtom/0-shot": (2, of("3_evaluation/bigtom-smollm2-135m")),
    "models/smollm2-135m/answer_tokens/omnitom/stage1-L3": (
        50,
        of("3_evaluation/omnitom-smollm2-135m"),
    ),
    "models/smollm2-135m/engines": (1, set()),
    "limits/max_cost_usd": (1, set()),
    "bigtom/generation/llm_templates": (2, of("1_generation/bigtom")),
    "run/judge": (
        "random",
        of(*(f"4_judge_calibration/{name}" for name in ("bigtom", "omnitom", "simpletom"))),
    ),
    "run/prompts": (
        {"fantom/belief-question": "README.md"},
        of(*(f"{stage}/fantom" for stage in ("1_generation", "2_filtering", "3_evaluation"))),
    ),
    "run/seeds/draw_seed": (
        1,
        of("2_filtering/", "3_evaluation/", "4_judge_calibration/"),
    ),
    "run/seeds/sampling_seed": (
        1,
        of("1_generation/", "2_filtering/", "3_evaluation/")
        | of(*(f"4_judge_calibration/{name}" for name in ("bigtom", "omnitom", "simpletom")))
        | of("6_fresh/"),
    ),
    "models/random/groups/fantom/short": (1, of("2_filtering/fantom")),
    "run/wordings": ([], of("3_evaluation/")),
    "run/models": (
        ["smollm2-135m", "my-vllm"],
        {f"3_evaluation/{name}-my-vllm" for name in RIGHT["run"]["benchmarks"]} | of("4_", "5_"),
    ),
    "run/benchmarks": (
        {"bigtom": RIGHT["run"]["benchmarks"]["bigtom"]},
        {name for name in ALL if "/bigtom" not in name} - of("6_fresh/models", "6_fresh/search"),
    ),
}


@pytest.mark.parametrize(("change", "case"), CHANGES.items(), ids=CHANGES)
def test_change_concerns_what_reads_it_and_nothing_else(change, case):
    value, expected = case
    content = deepcopy(RIGHT)
    *sections, name = change.split("/")
    part = content
    for each in sections:
        part = part[each]
    part[name] = value
    assert concerned(READ, read_by_stages(content)) == expected


def test_edit_of_a_file_that_somebody_filled_in_concerns_its_readers(tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("template_id\n")
    content = deepcopy(RIGHT)
    content["run"]["benchmarks"]["bigtom"]["judgments"] = str(mine)
    before = read_by_stages(content)
    mine.write_text("template_id\n1\n")
    assert concerned(before, read_by_stages(content)) == {"2_filtering/bigtom"}


def test_wording_of_one_benchmark_concerns_its_evaluation_alone(tmp_path):
    (tmp_path / "mine" / "bigtom").mkdir(parents=True)
    (tmp_path / "mine" / "bigtom" / "instruction.txt").write_text("Pick one.\n")
    content = deepcopy(RIGHT)
    content["run"]["wordings"] = []
    before = read_by_stages(content)
    content["run"]["wordings"] = [str(tmp_path / "mine")]
    after = read_by_stages(content)
    assert concerned(before, after) == of("3_evaluation/bigtom")
    (tmp_path / "mine" / "bigtom" / "instruction.txt").write_text("Take one.\n")
    assert concerned(after, read_by_stages(content)) == of("3_evaluation/bigtom")


# What is written


def test_each_stage_has_a_file_and_those_that_are_not_run_have_none(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(settings, "SETTINGS", tmp_path)
    (tmp_path / "5_figures").mkdir()
    (tmp_path / "5_figures" / "no_more.json").write_text("{}")
    assert settings.main() == 0
    assert capsys.readouterr().out == "params.yaml is right.\n"
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json")}
    assert written == {f"{name}.json" for name in ALL}
    read = json.loads((tmp_path / "3_evaluation" / "bigtom-smollm2-135m.json").read_text())
    assert read["parameters"]["model"] == "smollm2-135m"
    assert list(read["models"]) == ["smollm2-135m"]
    assert not list((tmp_path / "3_evaluation").glob("*-random.json"))


def test_baseline_that_is_named_as_a_model_is_accepted_and_its_figures_name_it_once():
    content = deepcopy(RIGHT)
    content["run"]["models"] = ["random", "smollm2-135m"]
    read = read_by_stages(content)
    assert read["5_figures/bigtom"] == READ["5_figures/bigtom"]
    assert "3_evaluation/bigtom-random" in read  # which is a stage of its own, as DVC sees it


# What a notebook has as defaults, when somebody runs it by hand


def test_defaults_of_notebooks_are_those_of_the_pipeline():
    for name, read in READ.items():
        stage, copy = name.split("/")
        benchmark, _, model = copy.partition("-")
        if model in ("", RIGHT["run"]["models"][0]):
            source = ROOT / "notebooks" / stage / f"{benchmark}.ipynb"
            assert declared(source) == read["parameters"], name
