"""Pages of the front that several tests read."""

import json
import os
from pathlib import Path

import pytest
from filelock import FileLock

from laboratory import environment, start
from tomlab.paths import ROOT
from tomlab.pipeline import run_notebook

PAGES = ["05_real_models", "08_knowing", "09_no_mind"]


@pytest.fixture(scope="session")
def front(tmp_path_factory) -> Path:
    """A folder with the executed pages, run as the book runs them without models of a run. All
    processes of one run of the tests read the same.
    """
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "front"
    with FileLock(f"{root}.lock"):
        if not root.exists():
            root.mkdir()
            run_pages(root)
    return root


def run_pages(root: Path) -> None:
    for name in ("data", "docs", "notebooks"):
        (root / name).symlink_to(ROOT / name)
    commands = []
    for name in PAGES:
        source = f"notebooks/{name}.ipynb"
        values = {key: [] for key in run_notebook.declared(ROOT / source)}
        (root / f"{name}.json").write_text(json.dumps({"parameters": values}), encoding="utf-8")
        run = f"python -m tomlab.pipeline.run_notebook {source}"
        # A page that fails leaves the others as they are, and no copy for its tests.
        commands.append(f"{run} results/index/{name}.ipynb {name}.json || true")
    start(commands, environment(root))
