"""docs/sharing.md, and what docs/adding.md says of data, followed to the end with git and DVC."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from laboratory import environment
from tomlab.paths import ROOT
from tomlab.pipeline.keep import remove_superseded

SHELL = re.compile(r"^```sh\n(.*?)```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`(data/[\w./]+)`\n\n```\w+\n(.*?)```$", re.MULTILINE | re.DOTALL)
ADDING = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
SHARING = (ROOT / "docs" / "sharing.md").read_text(encoding="utf-8")
_, WITH_GIT, BOTH, BUCKET = SHELL.findall(SHARING)


def run(root: Path, script: str) -> subprocess.CompletedProcess:
    """A script in a clone, by somebody whose name git knows."""
    who = {
        f"GIT_{role}_{of}": "ann@x" for role in ("AUTHOR", "COMMITTER") for of in ("NAME", "EMAIL")
    }
    command = ["sh", "-ec", script]
    env = environment(root) | who
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)


def done(root: Path, script: str) -> None:
    result = run(root, script)
    assert result.returncode == 0, result.stdout + result.stderr


def clone(hub: Path, name: str) -> Path:
    """Another person's clone, set up."""
    root = hub.parent / name
    done(hub, f"git clone -q {hub} {root}")
    (root / ".venv").mkdir()
    (root / ".venv" / ".ready").touch()
    return root


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """What people pull from and push to: a repository with this one's set-up and a little data."""
    first = tmp_path / "first"
    (first / "data").mkdir(parents=True)
    (first / "data" / "ours.csv").write_text("ours\n")
    for name in ("Makefile", ".gitignore", ".dvc/config", "docs/answers/README.md", "params.yaml"):
        (first / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, first / name)
    for name in ("requirements.lock", "pyproject.toml", ".venv/.ready"):
        (first / name).parent.mkdir(exist_ok=True)
        (first / name).touch()
    # The remote's folder comes with the first push.
    done(first, "git init -q && mkdir .dvcstore && make keep && git add . && git commit -qm one")
    done(first, f"git clone -q --bare . {tmp_path / 'hub'}")
    return tmp_path / "hub"


def data(root: Path) -> dict[str, str]:
    done(root, "make data")
    paths = [path for path in (root / "data").rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_text() for path in paths}


def test_new_benchmarks_data_can_be_worked_with_and_reach_whoever_pulls(hub):
    mine, theirs = clone(hub, "mine"), clone(hub, "theirs")
    there, added = data(mine), dict(FILE.findall(ADDING))
    for name, text in added.items():
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text(text)
    assert "make keep" in run(mine, "make data").stderr
    [pin] = [script for script in SHELL.findall(ADDING) if "keep" in script]
    done(mine, pin)
    assert data(mine) == there | added
    done(mine, WITH_GIT)
    done(theirs, "git pull -q")
    assert data(theirs) == there | added


def test_conflict_in_data_is_told_in_one_line_and_both_versions_can_be_kept(hub):
    mine, theirs = clone(hub, "mine"), clone(hub, "theirs")
    for root in (mine, theirs):
        data(root)
        (root / "data" / f"{root.name}.csv").write_text("new\n")
    # Mine still needs the earlier version of this file, which they take out of the store.
    (theirs / "data" / "ours.csv").unlink()
    (theirs / "data" / "ours.csv").write_text("theirs\n")
    done(theirs, WITH_GIT)
    shutil.rmtree(mine / ".dvc" / "cache")
    done(mine, WITH_GIT.replace("&& git push", ""))
    assert run(mine, "git pull -q --no-rebase").returncode
    for target in ("data", "figures"):
        [message] = [line for line in run(mine, f"make {target}").stderr.splitlines() if line][:-1]
        assert message.startswith("data.dvc: ")
        assert "git checkout --ours data.dvc" in message
    assert "git checkout --ours data.dvc" in run(mine, "make keep").stderr
    done(mine, BOTH)
    both = data(mine)
    assert {*both} == {"data/ours.csv", "data/mine.csv", "data/theirs.csv"}
    assert both["data/ours.csv"] == "theirs\n"
    stored = [path for path in (mine / ".dvcstore").rglob("*") if path.is_file()]
    assert len(stored) == len({*both.values()}) + 1  # and the list of files
    assert remove_superseded(mine, dry=True) == 0
