"""`make chains`: side by side all is run once, and a failure of one benchmark stops no other."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from dvc.repo import Repo

from tomlab.paths import ROOT

STAGES = {
    "settings": {"cmd": "echo right > settings", "outs": ["settings"]},
    "generation": {
        "foreach": "${run.benchmarks}",
        "do": {
            "cmd": "sh make.sh ${key} > raw-${key}",
            "deps": ["make.sh"],
            "outs": ["raw-${key}"],
        },
    },
    "evaluation": {
        "matrix": {"benchmark": "${run.benchmarks}", "model": "${run.models}"},
        "cmd": "cat raw-${item.benchmark} > ${item.benchmark}-${item.model}",
        "deps": ["raw-${item.benchmark}"],
        "outs": ["${item.benchmark}-${item.model}"],
    },
    "figures": {
        "matrix": {"benchmark": "${run.benchmarks}"},
        "cmd": "cat ${item.benchmark}-x > figure-${item.benchmark}",
        "deps": ["${item.benchmark}-x"],
        "outs": ["figure-${item.benchmark}"],
    },
    "documents": {
        "cmd": "cat ant-x bee-x > all",
        "deps": ["ant-x", "bee-x"],
        "outs": ["all"],
    },
}
RUN = {"benchmarks": {"ant": {}, "bee": {}}, "models": ["x", "y"]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository of DVC with two short chains and what follows from both."""
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc" / "config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
    (tmp_path / "params.yaml").write_text(yaml.safe_dump({"run": RUN}))
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": STAGES}, sort_keys=False))
    (tmp_path / "make.sh").write_text("echo told of $1\n")
    (tmp_path / "Makefile").symlink_to(ROOT / "Makefile")
    return tmp_path


def start(root: Path) -> subprocess.Popen:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.Popen(
        ["make", "chains"],
        cwd=root,
        env={**os.environ, "PATH": path},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(root: Path) -> tuple[int, str, str]:
    process = start(root)
    output, errors = process.communicate()
    return process.returncode, output, errors


def test_chains_run_everything_once_and_leave_nothing_to_a_plain_run(root):
    code, output, errors = run(root)
    assert code == 0, errors
    assert output.count("Running stage") == 10
    assert (root / "all").read_text() == "told of ant\ntold of bee\n"

    # What no stage of the whole needs any more, no stage of a chain does.
    with Repo(root) as repo:
        assert repo.status() == {}


def test_failing_chain_stops_no_other_and_is_told(root):
    (root / "make.sh").write_text("test $1 = bee || { echo no ants >&2; exit 3; }\necho told\n")
    code, output, errors = run(root)
    assert code == 2
    assert "no ants" in errors
    assert "chain-ant] Error" in errors
    assert (root / "bee-y").is_file()
    assert "Running stage 'documents'" not in output


def test_interruption_ends_both_chains(root):
    (root / "make.sh").write_text("echo $$ > pid-$1\nsleep 60\n")
    process = start(root)
    pids = [root / f"pid-{name}" for name in ("ant", "bee")]
    while not all(path.is_file() and path.read_text() for path in pids):
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode
    assert not any(Path(f"/proc/{path.read_text().strip()}").exists() for path in pids)
