"""What there is at a path that a user names, or why that can't be told."""

import os

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
