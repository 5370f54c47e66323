"""What there is at a path that a user names; where the root of an experiment's copy is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tomlab import paths
from tomlab.errors import InputError


def test_a_file_and_a_folder_are_there(tmp_path):
    (tmp_path / "mine.csv").touch()
    for path in (tmp_path, tmp_path / "mine.csv"):
        assert paths.user_path(path) == paths.there(str(path)) == path


@pytest.mark.parametrize(
    "name", ["none", "mine.csv/x", "loop", "closed/mine.csv", "x" * 5000, "nul\0", "~nobody-here/x"]
)
def test_path_at_which_nothing_can_be_found_is_an_input_error(tmp_path, name):
    (tmp_path / "mine.csv").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "closed").mkdir(mode=0)
    mine = os.geteuid()
    if mine == 0:  # whom no folder's mode stops
        os.seteuid(65534)
    try:
        with pytest.raises(InputError, match="no such file or folder") as caught:
            paths.user_path(name if name.startswith("~") else tmp_path / name)
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
