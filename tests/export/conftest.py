"""A small run to export, and the libraries that read the exports."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import exported
from tomlab import export as command
from tomlab import params, paths

PYTHON = paths.ROOT / ".venv-export" / "bin" / "python"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Its folder of results, with all exports."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("run") / "results"
        patch.setattr(paths, "RESULTS", folder)
        patch.setattr(params, "load", lambda *_: exported.PARAMS)
        exported.write(folder)
        assert command.main() == 0
        yield folder


@pytest.fixture(scope="session")
def read_by_library() -> Callable[[str, Path], list | dict]:
    """What the library of a format reads in a folder."""
    if not PYTHON.exists():
        pytest.skip("`make test-exports` runs this with the libraries of the formats")

    def read(name: str, folder: Path) -> list | dict:
        script = Path(__file__).with_name("validate.py")
        order = [PYTHON, script, name, folder]
        told = subprocess.run(order, capture_output=True, text=True, check=False)
        assert told.returncode == 0, told.stderr
        return json.loads(told.stdout.splitlines()[-1])

    return read
