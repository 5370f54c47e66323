"""The versions at the foot of the book: of a clean clone, a changed one and a downloaded archive."""

import json
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from dvc.repo import Repo

from tomlab.paths import ROOT
from tomlab.pipeline import versions


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=ann", "-c", "user.email=ann@x"]
    command = ["git", *who, *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def root(tmp_path: Path, monkeypatch) -> Path:
    """A clone of a repository with one commit."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-31T12:00:00+00:00")
    root = tmp_path / "clone"
    (root / "docs" / "notebooks").mkdir(parents=True)
    (root / "params.yaml").write_text("run: {}\n")
    (root / "dvc.lock").write_text("stages: {}\n")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message=one")
    return root


def clean(root: Path) -> None:
    """As it was cloned."""


def run(root: Path) -> None:
    """A run writes results that git holds."""
    (root / "dvc.lock").write_text("stages: {settings: {}}\n")
    (root / "docs" / "notebooks" / "00_index.ipynb").write_text("{}")


def edited(root: Path) -> None:
    (root / "params.yaml").write_text("run: {seed: 1}\n")


def added(root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "mine.py").touch()


def staged(root: Path) -> None:
    edited(root)
    git(root, "add", ".")


@pytest.mark.parametrize(
    ("change", "ending"),
    [
        (clean, ""),
        (run, ""),
        (edited, ", with local changes"),
        (added, ", with local changes"),
        (staged, ", with local changes"),
    ],
)
def test_commit_is_told_with_its_date_and_whether_files_differ(
    root, change: Callable[[Path], None], ending
):
    change(root)
    head = git(root, "rev-parse", "HEAD")
    assert versions.commit(root) == f"commit {head[:12]} of 2026-01-31{ending}"


def archive(root: Path) -> Path:
    """A downloaded archive, unpacked within somebody's repository."""
    folder = root / "unpacked"
    folder.mkdir()
    return folder


def nothing_committed(root: Path) -> Path:
    git(root.parent, "init", "--quiet")
    return root.parent


@pytest.mark.parametrize("place", [archive, nothing_committed])
def test_a_folder_without_a_commit_says_so(root, place):
    assert versions.commit(place(root)) == "without a git commit"


def test_a_computer_without_git_says_so(root, monkeypatch):
    monkeypatch.setenv("PATH", str(root))
    assert versions.commit(root) == "without a git commit"


def test_page_and_terminal_have_the_same_lines(root):
    code, packages = versions.lines(root)
    parameters = sha256((root / "params.yaml").read_bytes()).hexdigest()
    _, _, told = code.rpartition("sha256:")
    assert len(told) == 12
    assert parameters.startswith(told)
    assert all(f"{name} " in packages for name in ("Python", *versions.PACKAGES))
    script = root / "versions.js"
    versions.write(script, root)
    assignment = script.read_text(encoding="utf-8").strip().removesuffix(";")
    assert json.loads(assignment.partition(" = ")[2]) == f"{code} · {packages}"


def test_dvc_ignores_the_script_so_that_a_commit_makes_no_stage_out_of_date():
    with Repo(ROOT) as repo:
        assert repo.dvcignore.is_ignored_file(str(versions.SCRIPT))
        assert not repo.dvcignore.is_ignored_file(str(versions.SCRIPT.with_name("texts.js")))
