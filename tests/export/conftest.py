"""A small run to export."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import exported
from tomlab import params, paths


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Its folder of results, which exports read and write."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("run") / "results"
        patch.setattr(paths, "RESULTS", folder)
        patch.setattr(params, "load", lambda *_: exported.PARAMS)
        exported.write(folder)
        yield folder
