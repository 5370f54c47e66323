"""The Makefile says what it can do, and what it needs before it begins."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tomlab.paths import ROOT


def made(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    outer = {name: os.environ[name] for name in ("PATH", "HOME")}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={**outer, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def fresh_clone(tmp_path):
    """What there is before anything is set up."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


def test_help_lists_every_target_that_readers_are_told_of(fresh_clone):
    listed = re.findall(r"^make ([a-z-]+) +\S", made(fresh_clone, "help").stdout, re.MULTILINE)
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    told = set(re.findall(r"`make ([a-z][a-z-]*)", text))
    assert told - set(listed) == set()
    assert len(listed) == len(set(listed)) > 12


@pytest.mark.parametrize("place", ["HOME", "XDG_CACHE_HOME", "UV_CACHE_DIR"])
def test_a_cache_that_cannot_be_written_is_named_at_once(place, fresh_clone):
    (fresh_clone / "file").touch()
    process = made(fresh_clone, "figures", **{place: str(fresh_clone / "file")})
    assert process.returncode != 0
    assert str(fresh_clone / "file") in process.stdout
    assert "UV_CACHE_DIR=" in process.stdout
    assert not (fresh_clone / ".venv").exists()
