"""What there is at a path that a user names, or why that can't be told."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tomlab import paths
from tomlab.errors import InputError


def test_files_folders_and_nothing_are_told_apart(tmp_path):
    (tmp_path / "mine.csv").touch()
    assert paths.kind(tmp_path / "mine.csv") == "file"
    assert paths.kind(tmp_path) == "folder"
    assert paths.kind(tmp_path / "nowhere") == paths.kind(tmp_path / "mine.csv" / "x") == ""


@pytest.mark.parametrize("name", ["loop", "closed/mine.csv", "x" * 5000, "nul\0"])
@pytest.mark.parametrize("look", [paths.kind, paths.user_file, paths.user_path])
def test_path_that_cannot_be_looked_at_is_an_input_error(tmp_path, name, look):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "closed").mkdir(mode=0)
    mine = os.geteuid()
    if mine == 0:  # whom no folder's mode stops
        os.seteuid(65534)
    try:
        with pytest.raises(InputError, match="cannot be read") as caught:
            look(tmp_path / name)
    finally:
        os.seteuid(mine)
    assert len(str(caught.value)) < 500


# An experiment of DVC's queue, which runs in a copy of the repository


def seen_from(folder, **environment):
    """What the package takes for root and store, and where a path out of the repository leads."""
    code = "from tomlab import paths as p\n"
    code += "print(p.ROOT, p.RESPONSE_STORE, p.from_root('../mine').resolve(), sep='\\n')"
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**{n: v for n, v in os.environ.items() if n != "TOMLAB_ROOT"}, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(line) for line in told.stdout.splitlines()]


@pytest.mark.parametrize("place", ["tmpabc", "standalone/tmpabc"])
def test_in_the_copy_of_an_experiment_answers_are_kept_in_the_workspace(tmp_path, place):
    tmp_path = tmp_path.resolve()
    copy = tmp_path / ".dvc" / "tmp" / "exps" / place
    (copy / ".dvc").mkdir(parents=True)
    (copy / "notebooks").mkdir()
    outside = [tmp_path / ".responses" / "store.sqlite", tmp_path.parent / "mine"]
    for folder in (copy, copy / "notebooks"):
        assert seen_from(folder) == [copy, *outside]
    assert seen_from(tmp_path / ".dvc", TOMLAB_ROOT=str(copy)) == [copy, *outside]


def test_elsewhere_the_root_is_the_package_s_own(tmp_path):
    own = Path(paths.__file__).resolve().parents[2]
    assert seen_from(tmp_path)[:2] == [own, own / ".responses" / "store.sqlite"]
