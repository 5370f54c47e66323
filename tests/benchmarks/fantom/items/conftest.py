"""What tests of FANToM's question sets share: files of them, and what is said against them."""

import json
from pathlib import Path

import pytest

from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.errors import InputError


@pytest.fixture(scope="session")
def file_of(tmp_path_factory):
    """Write a file of records, or of any text or bytes."""
    path = tmp_path_factory.mktemp("fantom") / "sets.json"

    def write(content) -> Path:
        if isinstance(content, list):
            content = json.dumps(content)
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path

    return write


@pytest.fixture(scope="session")
def refusal(file_of):
    """What reading a file says against it, "" where it is read as it stands."""

    def read(content) -> str:
        path = file_of(content)
        try:
            assert read_sets(path) == content
        except InputError as error:
            assert str(path) in str(error)
            return str(error)
        return ""

    return read
