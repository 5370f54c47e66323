"""The page on upgrading: its commands bring a clone with a run of its own up to date."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tomlab.paths import ROOT

PAGE = (ROOT / "docs/upgrade.md").read_text(encoding="utf-8")
_, UNCOMMITTED, COMMITTED, _ = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
MADE = ("notebooks/a.ipynb", "figures/a.png", "tables/a.csv", "metrics/ours/a.json")
SETTINGS = {"GIT_CONFIG_COUNT": "3", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Me"}
SETTINGS |= {"GIT_CONFIG_KEY_1": "user.email", "GIT_CONFIG_VALUE_1": "me@example.org"}
SETTINGS |= {"GIT_CONFIG_KEY_2": "pull.rebase", "GIT_CONFIG_VALUE_2": "false"}
PARAMS = "run:\n  models:\n    - ours\n\n\n\nlimits: 1\n"


def sh(folder: Path, script: str, *, may_fail: bool = False) -> str:
    process = subprocess.run(
        ["sh", "-ec", script],
        cwd=folder,
        env={**os.environ, **SETTINGS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert may_fail or process.returncode == 0, process.stdout + process.stderr
    return process.stdout + process.stderr


def write_run(folder: Path, text: str) -> None:
    """What a run changes of what git holds."""
    (folder / "dvc.lock").write_text(text)
    for name in MADE:
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_text(text)


@pytest.fixture
def clone(tmp_path):
    """A clone in which somebody added a model and ran, while the project went on."""
    project, mine = tmp_path / "project", tmp_path / "mine"
    project.mkdir()
    (project / "params.yaml").write_text(PARAMS)
    (project / ".gitignore").write_text("/.responses/\n")
    write_run(project, "old")
    sh(tmp_path, f"git init -q -b main {project}")
    sh(project, "git add -A; git commit -qm old")
    sh(tmp_path, f"git clone -q {project} {mine}")
    write_run(project, "new")
    (project / "docs/metrics/ours/more.json").write_text("new")
    (project / "params.yaml").write_text(PARAMS.replace("limits: 1", "limits: 2"))
    (project / "docs/tables/a.csv").rename(project / "docs/tables/b.csv")
    sh(project, "git add -A; git commit -qm new")
    write_run(mine, "mine")
    (mine / "docs/metrics/ours/more.json").write_text("mine")
    (mine / "params.yaml").write_text(PARAMS.replace("    - ours\n", "    - ours\n    - mine\n"))
    (mine / ".responses").mkdir()
    (mine / ".responses" / "store.sqlite").write_text("paid for")
    return mine


@pytest.mark.parametrize("is_committed", [False, True], ids=["uncommitted", "committed"])
def test_the_page_s_commands_bring_a_clone_with_a_run_up_to_date(is_committed, clone):
    if is_committed:
        sh(clone, "git add -A; git commit -qm mine")
    before = sh(clone, "git pull", may_fail=True)
    assert "CONFLICT" in before if is_committed else "would be overwritten" in before
    sh(clone, COMMITTED if is_committed else UNCOMMITTED)
    expected = PARAMS.replace("    - ours\n", "    - ours\n    - mine\n")
    assert (clone / "params.yaml").read_text() == expected.replace("limits: 1", "limits: 2")
    assert (clone / "dvc.lock").read_text() == "new"
    assert (clone / "docs/metrics/ours/more.json").read_text() == "new"
    assert (clone / ".responses" / "store.sqlite").read_text() == "paid for"
    status = sh(clone, "git status --short")
    assert status.split() == ([] if is_committed else ["M", "params.yaml"])
