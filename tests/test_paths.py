"""What there is at a path that a user names; where the root of an experiment's copy is."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_client.manager import start_new_kernel

from tomlab import paths
from tomlab.errors import InputError


def test_a_file_and_a_folder_are_there(tmp_path):
    (tmp_path / "mine.csv").touch()
    for path in (tmp_path, tmp_path / "mine.csv"):
        assert paths.user_path(path) == paths.there(str(path)) == path


@pytest.mark.parametrize("name", ["none", "loop", "x" * 5000, "nul\0", "~nobody-here/x"])
def test_path_at_which_there_is_nothing_is_an_input_error(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="no such file or folder") as caught:
        paths.user_path(name if name.startswith("~") else tmp_path / name)
    assert len(str(caught.value)) < 500


# An experiment of DVC's queue, which runs in a copy of the repository


def seen_from(folder, **environment):
    """What the package takes for root and store, and where a path out of the repository leads."""
    code = "from tomlab import paths as p\n"
    code += "released = p.from_root('released/mine')\n"
    code += "print(p.ROOT, p.RESPONSE_STORE, p.from_root('../mine').resolve(), released, sep='\\n')"
    inherited = {name: value for name, value in os.environ.items() if name != "TOMLAB_ROOT"}
    options = {"cwd": folder, "env": inherited | environment, "text": True}
    printed = subprocess.check_output([sys.executable, "-c", code], **options)
    return [Path(line) for line in printed.splitlines()]


def test_in_the_copy_of_an_experiment_answers_go_to_the_workspace(tmp_path):
    tmp_path = tmp_path.resolve()
    copy = tmp_path / ".dvc" / "tmp" / "exps" / "standalone" / "tmpabc"
    (copy / ".dvc").mkdir(parents=True)
    (copy / "notebooks").mkdir()
    outside = [tmp_path / ".responses" / "store.sqlite", tmp_path.parent / "mine"]
    outside.append(tmp_path / "released" / "mine")
    for folder in (copy, copy / "notebooks"):
        assert seen_from(folder) == [copy, *outside]
    assert seen_from(tmp_path / ".dvc", TOMLAB_ROOT=str(copy)) == [copy, *outside]


def test_elsewhere_the_root_is_the_packages(tmp_path):
    root = Path(paths.__file__).resolve().parents[2]
    assert seen_from(tmp_path)[:2] == [root, root / ".responses" / "store.sqlite"]


# A notebook run by hand


def test_a_program_that_only_imports_the_kernel_is_not_one(monkeypatch, tmp_path):
    monkeypatch.delenv("TOMLAB_STAGE", raising=False)
    importlib.import_module("ipykernel.kernelapp")
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    assert not paths.is_by_hand()
    assert paths.writable(tmp_path / "one.parquet") == tmp_path / "one.parquet"


# Notes whatever is opened, made, listed or copied in the folder where the kernel runs.
WATCHED = """
import os, sys
touched = []
def note(event, arguments):
    if event != "open" and event.partition(".")[0] not in ("os", "shutil", "sqlite3", "glob"):
        return
    for argument in arguments[:1] if event == "open" else arguments:
        if isinstance(argument, str | os.PathLike):
            path = os.path.abspath(os.fspath(argument))
            # The folder itself is listed by Python, which looks for modules there.
            if path.startswith(os.getcwd() + os.sep):
                touched.append(f"{event} {path}")
sys.addaudithook(note)
import tomlab
import tomlab.paths
import tomlab.params, tomlab.records.tidy, tomlab.reporting.tables
print(touched)
"""
WRITES = """
import pandas as pd
from tomlab import paths
from tomlab.records import tidy
from tomlab.reporting import tables
frame = pd.DataFrame({"n": [1]})
tables.table(frame, "bigtom/table1", "A table.")
tables.table(frame, "../judges/bigtom/table2", "A table.")
tables.table(frame, paths.ROOT / "mine" / "table3", "A table.")
paths.writable(paths.DOCS / "metrics" / "one.json").write_text("{}")
print(paths.raw("bigtom", "templates.parquet").read_text())
"""


@pytest.fixture
def run_by_hand(tmp_path, monkeypatch):
    """Runs code in a real kernel in a folder apart, as JupyterLab does; returns what it prints."""
    monkeypatch.delenv("TOMLAB_STAGE", raising=False)
    monkeypatch.setenv("TOMLAB_ROOT", str(tmp_path))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    printed = []

    def note(message: dict) -> None:
        printed.append(message["content"].get("text", ""))

    def run(code: str) -> str:
        manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
        try:
            reply = client.execute_interactive(code, output_hook=note)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
        assert reply["content"]["status"] == "ok", reply["content"]
        return "".join(printed)

    return run


def files_in(folder):
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_importing_in_a_kernel_reads_and_writes_nothing(run_by_hand, tmp_path):
    raw = tmp_path / "results" / "raw"
    raw.mkdir(parents=True)
    (raw / "mine.csv").write_text("mine")
    assert run_by_hand(WATCHED).strip() == "[]"
    assert files_in(tmp_path) == {"results/raw/mine.csv"}
    assert not (tmp_path / "results" / "scratch").exists()


def test_a_notebook_run_by_hand_reads_the_results_and_says_where_it_writes(run_by_hand, tmp_path):
    raw = tmp_path / "results" / "raw" / "bigtom" / "templates.parquet"
    raw.parent.mkdir(parents=True)
    raw.write_text("as the pipeline wrote it")
    printed = run_by_hand(WRITES)
    assert "as the pipeline wrote it" in printed
    assert printed.count("results/scratch") == 1
    scratch = files_in(tmp_path / "results" / "scratch")
    written = {"tables/bigtom/table1.csv", "judges/bigtom/table2.csv", "docs/metrics/one.json"}
    assert written <= scratch
    others = files_in(tmp_path) - {f"results/scratch/{name}" for name in scratch}
    mine = {f"mine/table3.{kind}" for kind in ("csv", "html", "tex")}
    assert others == mine | {"results/raw/bigtom/templates.parquet"}
