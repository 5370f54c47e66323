"""Where everything is, relative to the repository's root or to the folder TOMLAB_ROOT names."""

import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from tomlab.errors import InputError

# DVC runs an experiment of its queue in a copy of the repository, which goes when it ends.
_COPY = re.compile(r"(?P<workspace>.*)/\.dvc/tmp/exps/(standalone/)?[^/]+")
_here = _COPY.match(str(Path.cwd()))
PACKAGE = Path(__file__).resolve().parent
# Installed without a checkout, the package looks where it was started.
_home = PACKAGE.parents[1] if (PACKAGE.parents[1] / "pyproject.toml").exists() else Path.cwd()
ROOT = Path(os.environ.get("TOMLAB_ROOT") or (_here and _here[0]) or _home).resolve()
_copy = _COPY.match(str(ROOT))
WORKSPACE = Path(_copy["workspace"]) if _copy else ROOT
PARAMS = ROOT / "params.yaml"
DATA = ROOT / "data"
PUBLISHED = DATA / "published"
RESULTS = ROOT / "results"
DOCS = ROOT / "docs"
# Outside every stage's outputs, which DVC deletes before a stage runs, and outside an experiment's
# copy: responses are paid for.
RESPONSE_STORE = WORKSPACE / ".responses" / "store.sqlite"


def from_root(path: Path | str) -> Path:
    """Where a user's path leads; one out of the repository, to the same place in any copy of it."""
    path = Path(path)
    return (WORKSPACE if ".." in path.parts else ROOT) / path.expanduser()


def there(text: Path | str) -> Path | None:
    """Where a path leads from the repository's root on; None where nothing is."""
    with suppress(OSError, RuntimeError):  # it can't be looked at, or is in an unknown user's home
        path = from_root(text)
        return path if path.exists() else None
    return None


def user_path(path: Path | str) -> Path:
    """A path from `params.yaml`, read from the repository's root on and checked to be there."""
    if (found := there(path)) is None:
        raise InputError(f"{str(path)[:300]}: no such file or folder, as seen from {ROOT}")
    return found


def writable(path: Path | str) -> Path:
    """The path to write to in place of `path`; makes its folder.

    It is `path` itself, but in a notebook run by hand a path in `results/` or `docs/` leads to
    `results/scratch/`: what the pipeline wrote stays as it is.
    """
    target = Path(path)
    if is_by_hand():
        target = _in_scratch(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def is_by_hand() -> bool:
    """Whether this is a kernel that no stage of the pipeline started."""
    kernel = sys.modules.get("ipykernel.kernelapp")
    is_kernel = kernel is not None and kernel.IPKernelApp.initialized()
    return is_kernel and "TOMLAB_STAGE" not in os.environ


def _in_scratch(path: Path) -> Path:
    absolute = Path(os.path.normpath(Path.cwd() / path))
    scratch = RESULTS / "scratch"
    if absolute.is_relative_to(scratch):
        return path
    if absolute.is_relative_to(RESULTS):
        target = scratch / absolute.relative_to(RESULTS)
    elif absolute.is_relative_to(DOCS):
        target = scratch / "docs" / absolute.relative_to(DOCS)
    else:
        return path
    _say_where_writes_go(scratch)
    return target


@cache
def _say_where_writes_go(scratch: Path) -> None:
    print(
        f"This notebook was started by hand. It reads results/ and writes to {scratch}, "
        "so that the results of `make figures` stay as they are."
    )


def stage() -> str:
    """The stage that runs, such as `3_evaluation/bigtom`; "" for a notebook run by hand."""
    source = Path(os.environ.get("TOMLAB_STAGE", ""))
    return "/".join(source.with_suffix("").parts[-2:]) if source.name else ""


def raw(benchmark: str, name: str) -> Path:
    """A file of what `generation` collected, each benchmark in its own format."""
    return RESULTS / "raw" / benchmark / name


def result(kind: str, benchmark: str, model: str | None = None) -> Path:
    """The Parquet file of a table: `items`, or a model's `responses`, `scores`, `metrics`."""
    name = benchmark if model is None else f"{benchmark}/{model}"
    return RESULTS / kind / f"{name}.parquet"


def baseline(kind: str, benchmark: str, name: str) -> Path:
    """The same of a baseline, which is evaluated where the items are made."""
    return RESULTS / "baselines" / benchmark / kind / f"{name}.parquet"
