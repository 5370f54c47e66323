"""`dvc.yaml`: a stage names all that its result depends on, and nothing else, so that DVC runs it
again when that changes."""

import ast
import re
import shlex
import shutil
import subprocess
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml
from dvc.dependency import ParamsDependency
from dvc.repo import Repo
from dvc.stage import PipelineStage

from laboratory import environment
from tomlab import params
from tomlab.paths import ROOT
from tomlab.pipeline import publish
from tomlab.pipeline.settings import read_by_stages

PACKAGE = ROOT / "src" / "tomlab"
# What the last stage runs.
BY_HAND = {f"notebooks/{name}" for name in publish.BY_HAND}
FRONT = [f"notebooks/{path.name}" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
FRONT = [name for name in FRONT if name not in BY_HAND]
BENCHMARKS = [folder.name for folder in (PACKAGE / "benchmarks").iterdir() if folder.is_dir()]
with Repo(ROOT) as repo:
    STAGES = {s.name: s for s in repo.index.stages if isinstance(s, PipelineStage)}
SETTINGS = STAGES.pop("settings")
each_stage = pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)

# Code that no stage need name, because a change in it changes no answer and no score.
NEEDLESS = {
    # How the file of parameters is read and checked; what it says is among a stage's settings.
    "params.py",
    # Words of messages, and where files lie, which the stage itself names.
    *("errors.py", "paths.py"),
    # How a notebook is run.
    "pipeline",
}
# How items are put to a model, which a benchmark's modules of items list; no item depends on it.
_ASKED_LATER = {"asking/techniques", "asking/protocol.py"}
# The same, of one kind of stage.
NEEDLESS_FOR = {
    "generation": _ASKED_LATER,
    # It asks no model: what was answered is in the responses, which it names.
    "figures": {"models"},
}
# The stages that ask a model, or embed texts with one.
ASKING = ("generation", "filtering", "evaluation", "judge_calibration", "fresh", "changes")


def notebooks(stage: PipelineStage) -> list[str]:
    """The source notebooks that a stage runs: one; the last stage runs those of the front."""
    return re.findall(r"notebooks/\S+\.ipynb", stage.cmd)[:1] or FRONT


def dependencies(stage: PipelineStage) -> set[str]:
    return {dep.def_path for dep in stage.deps if not isinstance(dep, ParamsDependency)}


# What a notebook imports


def files_of(name: str) -> set[Path]:
    """The files behind a dotted module name; none for what is no module."""
    base = PACKAGE.parent.joinpath(*name.split("."))
    return {p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()}


def imported(code: str) -> Iterator[str]:
    """Dotted names that may be modules of the package, wherever in the code they are imported; of
    `import_module(f"tomlab.benchmarks.{name}.paper")` those of every benchmark.
    """
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
            module = ast.unparse(node.args[0]).removeprefix("f").strip("'\"")
            yield from (re.sub(r"{\w+}", name, module) for name in BENCHMARKS)


@cache
def imported_by(path: Path) -> frozenset[str]:
    """What a file imports. Most files are behind most stages: each is read once."""
    return frozenset(imported(path.read_text(encoding="utf-8")))


@cache
def all_behind(path: Path) -> frozenset[Path]:
    """A module's file and all that it imports, and they import in turn."""
    files = set()
    to_read = {path}
    while to_read:
        file = to_read.pop()
        files.add(file)
        for name in imported_by(file):
            # What is read of the parameters, and checked of them, is in a file that a stage names.
            if name.startswith("tomlab") and name != "tomlab.pipeline.settings":
                to_read |= files_of(name) - files
    return frozenset(files)


@cache
def holds_code(path: Path) -> bool:
    """Whether there is more to a file than a docstring."""
    return len(ast.parse(path.read_text(encoding="utf-8")).body) > 1


@cache
def code_behind(stage: PipelineStage) -> set[str]:
    """The package's files that a stage's notebook works with, relative to the package."""
    names = [re.search(r"tomlab\.pipeline\.\w+", stage.cmd)[0]]
    for source in notebooks(stage):
        cells = nbformat.read(ROOT / source, as_version=4).cells
        names += imported("\n".join(cell.source for cell in cells if cell.cell_type == "code"))
    files = set()
    for name in names:
        for path in files_of(name):
            files |= all_behind(path)
    return {path.relative_to(PACKAGE).as_posix() for path in files if holds_code(path)}


def code_named(stage: PipelineStage) -> set[str]:
    """The package's folders and files among a stage's dependencies, relative to the package."""
    names = (Path(name) for name in dependencies(stage))
    code = PACKAGE.relative_to(ROOT)
    return {n.relative_to(code).as_posix() for n in names if n.is_relative_to("src")}


def lies_in(file: str, places: Collection[str]) -> bool:
    """Whether a file is one of the places or lies in one of them."""
    return any(f"{file}/".startswith(f"{place}/") for place in places)


def kind(stage: PipelineStage) -> tuple[str, str]:
    """Which stage of dvc.yaml it is, and of which benchmark (none for the last one)."""
    name, _, instance = stage.name.partition("@")
    return name, instance.partition("-")[0]


# The tests


@each_stage
def test_stage_depends_on_the_source_notebook_that_it_runs(stage):
    for name in notebooks(stage):
        assert (ROOT / name).is_file()
        assert {name, "notebooks"} & dependencies(stage)


def test_every_notebook_is_run_by_a_stage():
    sources = {p.relative_to(ROOT).as_posix() for p in (ROOT / "notebooks").rglob("*.ipynb")}
    run = {name for stage in STAGES.values() for name in notebooks(stage)}
    assert {path for path in sources if "checkpoint" not in path} == run | BY_HAND


@each_stage
def test_stage_takes_its_parameters_from_its_own_file_and_depends_on_it(stage):
    if stage.name == "documents":
        return
    source, copy, settings = shlex.split(stage.cmd)[3:]
    assert Path(copy).relative_to("results/notebooks").parent.name == Path(source).parent.name
    expected = Path("results/settings") / Path(copy).relative_to("results/notebooks")
    assert settings == expected.with_suffix(".json").as_posix()
    assert {settings, source} <= dependencies(stage)


def test_every_file_of_settings_is_read_by_one_stage():
    written = {f"results/settings/{name}.json" for name in read_by_stages(params.load())}
    read = [d for s in STAGES.values() for d in dependencies(s) if d.startswith("results/settings")]
    assert sorted(read) == sorted(written)


@each_stage
def test_stage_runs_again_when_code_behind_its_notebook_changes(stage):
    places = NEEDLESS | NEEDLESS_FOR.get(kind(stage)[0], set()) | code_named(stage)
    unnamed = {file for file in code_behind(stage) if not lies_in(file, places)}
    assert not unnamed, f"{stage.name} lacks among its deps: {', '.join(sorted(unnamed))}"


@each_stage
def test_stage_names_no_folder_that_no_stage_of_its_kind_needs(stage):
    """What is written once for all benchmarks is needed by at least one of them."""
    name, benchmark = kind(stage)
    needed = set()
    for similar in STAGES.values():
        if kind(similar)[0] == name:
            folder = f"/{kind(similar)[1]}/"
            needed |= {file.replace(folder, f"/{benchmark}/") for file in code_behind(similar)}
    # Prompts are read, not imported.
    code = [folder for folder in code_named(stage) if not folder.endswith("/prompts")]
    assert [folder for folder in code if not any(lies_in(file, [folder]) for file in needed)] == []


def out_of_date_by(file: str) -> set[str]:
    """The kinds of stage that a change in a file of the package makes out of date by itself."""
    return {kind(s)[0] for s in STAGES.values() if lies_in(file, code_named(s))}


@pytest.mark.parametrize(
    "file", sorted(f"models/{path.name}" for path in (PACKAGE / "models").glob("[!_]*.py"))
)
def test_what_decides_an_answer_makes_the_stages_that_ask_out_of_date(file):
    assert out_of_date_by(file) == {*ASKING, "documents"}


def test_verdicts_are_no_dependency_of_the_stages_that_write_items():
    for stage in STAGES.values():
        if kind(stage)[0] == "generation":
            files = code_behind(stage)
            assert not [file for file in files if file.endswith(("/scoring.py", "/metrics.py"))]


def repository(root: Path, content: dict) -> None:
    """The stages as they are, with other parameters."""
    (root / "params.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    shutil.copyfile(ROOT / "dvc.yaml", root / "dvc.yaml")
    (root / ".dvc").mkdir()
    (root / ".dvc" / "config").write_text("[core]\n    no_scm = true\n    analytics = false\n")


def test_benchmark_that_is_left_out_is_left_out_of_everything(tmp_path):
    content = params.load()
    del content["run"]["benchmarks"]["bigtom"]
    repository(tmp_path, content)
    with Repo(tmp_path) as repo:
        stages = {stage.name for stage in repo.index.stages}
    assert stages == {"settings", *(name for name in STAGES if "bigtom" not in name)}


def test_name_that_a_shell_would_run_is_refused_before_a_shell_sees_it(tmp_path):
    content = params.load()
    model, benchmark = "x;touch of_model", "x;touch of_benchmark"
    content["run"]["models"] = [model]
    content["run"]["benchmarks"] = {benchmark: content["run"]["benchmarks"]["bigtom"]}
    repository(tmp_path, content)
    for folder in ("data", "forms", "notebooks", "src"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    options = {"cwd": tmp_path, "env": environment(tmp_path), "capture_output": True, "text": True}
    process = subprocess.run(["make", "-f", ROOT / "Makefile", "chains"], check=False, **options)
    assert process.returncode != 0
    output = process.stdout + process.stderr
    for name in (model, benchmark):
        assert re.search(rf"{name}.*at most 100 letters, digits, - and _ alone", output)
    assert list(tmp_path.rglob("of_*")) == []
