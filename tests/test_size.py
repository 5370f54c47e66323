"""What a clone downloads stays small: no large files, and no data that nothing names any more."""

import subprocess

import pytest

from tomlab.paths import ROOT
from tomlab.pipeline.keep import remove_superseded

# Megabytes. Data belong in data/, which `make keep` stores; a notebook grows with its pictures.
LARGEST_FILE = 1.5
ALL_NOTEBOOKS = 12.0


@pytest.fixture(scope="module")
def sizes() -> dict[str, float]:
    """The size in megabytes of each file of the last commit, without the data."""
    command = ["git", "ls-tree", "-r", "-l", "-z", "HEAD"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    sizes = {}
    for line in listed.stdout.rstrip("\0").split("\0"):
        entry, _, name = line.partition("\t")
        if not name.startswith(".dvcstore/"):
            sizes[name] = int(entry.split()[-1]) / 1e6
    return sizes


def test_no_file_in_git_is_large(sizes):
    large = {name: size for name, size in sizes.items() if size > LARGEST_FILE}
    assert large == {}, f"these are above {LARGEST_FILE} MB"


def test_executed_notebooks_are_not_large_together(sizes):
    total = sum(size for name, size in sizes.items() if name.startswith("docs/notebooks/"))
    assert total <= ALL_NOTEBOOKS, f"docs/notebooks: {total:.1f} MB, above {ALL_NOTEBOOKS} MB"


def test_the_store_has_no_file_that_the_data_do_not_name():
    superseded = remove_superseded(dry=True)
    assert superseded == 0, f".dvcstore: {superseded} files that data.dvc does not name: make keep"
