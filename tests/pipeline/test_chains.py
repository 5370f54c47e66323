"""Chains side by side: everything is run once, told by benchmark, and a failure stops no other."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

STAGES = {
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
    return tmp_path


def start(root: Path, *options: str) -> subprocess.Popen:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # Tests that a shell runs in the background have interruptions ignored, and so would a process.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return subprocess.Popen(
        [sys.executable, "-m", "tomlab.pipeline.chains", *options],
        env={**os.environ, "TOMLAB_ROOT": str(root), "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(root: Path, *options: str) -> tuple[int, str, str]:
    process = start(root, *options)
    said, errors = process.communicate()
    return process.returncode, said, errors


def test_chains_run_everything_once_and_leave_the_lock_of_a_plain_run(root):
    code, said, errors = run(root)
    assert code == 0, errors
    for stage in ("generation@ant", "evaluation@ant-y"):
        assert f"[ant] Running stage '{stage}'" in said
    assert "[pipeline] Running stage 'documents'" in said
    assert said.count("Running stage") == 7
    assert said.endswith("\n0 answers were asked for; all others had been kept.\n")
    assert (root / "all").read_text() == "told of ant\ntold of bee\n"
    by_chains = yaml.safe_load((root / "dvc.lock").read_text())

    code, said, _ = run(root)
    assert (code, said) == (0, "Everything is up to date.\n")

    (root / "dvc.lock").unlink()
    code, said, _ = run(root, "--chains", "1")
    assert code == 0
    assert said.index("[ant] after") < said.index("[bee] after")
    assert yaml.safe_load((root / "dvc.lock").read_text()) == by_chains


def test_failing_chain_stops_no_other_and_shows_its_error_whole(root):
    (root / "make.sh").write_text("test $1 = bee || { echo no ants >&2; exit 3; }\necho told\n")
    code, said, errors = run(root)
    assert code == 1
    assert "s: failed" in said
    assert "no ants" in said
    assert (root / "bee-y").is_file()
    assert errors == "Failed: ant\n"


def test_interruption_ends_both_chains_in_one_line(root):
    (root / "make.sh").write_text("echo $$ > pid-$1\nsleep 60\n")
    process = start(root)
    while not all((root / f"pid-{name}").is_file() for name in ("ant", "bee")):
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.strip().splitlines() == [
        "Stopped. Answers that arrived are kept; running again goes on."
    ]
