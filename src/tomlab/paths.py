"""The project's paths. The root is the repository, or the folder that TOMLAB_ROOT names."""

import os
import re
import sys
from contextlib import suppress
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path

from tomlab.errors import InputError

# DVC runs a queued experiment in a copy of the repository and deletes the copy afterwards.
_COPY = re.compile(r"(?P<workspace>.*)/\.dvc/tmp/exps/(standalone/)?[^/]+")
_here = _COPY.match(str(Path.cwd()))
PACKAGE = Path(__file__).resolve().parent
# If the package is installed without a checkout, the root is the folder where Python was started.
_home = PACKAGE.parents[1] if (PACKAGE.parents[1] / "pyproject.toml").exists() else Path.cwd()
ROOT = Path(os.environ.get("TOMLAB_ROOT") or (_here and _here[0]) or _home).resolve()
_copy = _COPY.match(str(ROOT))
WORKSPACE = Path(_copy["workspace"]) if _copy else ROOT
PARAMS = ROOT / "params.yaml"
DATA = ROOT / "data"
PUBLISHED = DATA / "published"
RESULTS = ROOT / "results"
DOCS = ROOT / "docs"
# What `make released` fetches. Git ignores it, so the copies in which DVC runs experiments lack it.
RELEASED = WORKSPACE / "released"
# Responses cost money. So the store lies outside the outputs of stages, which DVC deletes before a
# stage runs, and outside the copies in which DVC runs experiments.
RESPONSE_STORE = WORKSPACE / ".responses" / "store.sqlite"


def from_root(path: Path | str) -> Path:
    """A user's path as seen from the root. A path with `..`, or one in `released/`, is seen from
    the workspace instead, so that it leads to the same place in each copy that DVC makes of the
    repository.
    """
    path = Path(path)
    in_workspace = ".." in path.parts or path.parts[:1] == (RELEASED.name,)
    return (WORKSPACE if in_workspace else ROOT) / path.expanduser()


def there(text: Path | str) -> Path | None:
    """The path as `from_root` completes it; None if no file or folder is there."""
    with suppress(OSError, RuntimeError):  # no access, or an unknown user's home
        path = from_root(text)
        return path if path.exists() else None
    return None


def user_path(path: Path | str) -> Path:
    """A path from `params.yaml` as seen from the root. Errors: `InputError` if nothing is there."""
    if (found := there(path)) is None:
        raise InputError(f"{str(path)[:300]}: no such file or folder, as seen from {ROOT}")
    return found


def hash_of(path: Path) -> str:
    """The SHA-256 of a file, or of the names and contents of all that is in a folder. Errors:
    `InputError` if something cannot be read.
    """
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file_digest(file, "sha256").hexdigest()
        hashes = [(inner.name, hash_of(inner)) for inner in sorted(path.iterdir())]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return sha256(repr(hashes).encode()).hexdigest()


def writable(path: Path | str) -> Path:
    """The path to write to in place of `path`, whose folder this function makes.

    It is `path` itself, except in a notebook run by hand: there, a path in `results/` or `docs/`
    becomes one in `results/scratch/`, so that the pipeline's files stay as they are.
    """
    target = Path(path)
    if is_by_hand():
        target = _in_scratch(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def is_by_hand() -> bool:
    """Whether this code runs in a Jupyter kernel that no stage of the pipeline started."""
    kernel = sys.modules.get("ipykernel.kernelapp")
    is_kernel = kernel is not None and kernel.IPKernelApp.initialized()
    return is_kernel and "TOMLAB_STAGE" not in os.environ


def _in_scratch(path: Path) -> Path:
    """The path in `results/scratch/` for a path in `results/` or `docs/`; any other unchanged."""
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
    """The name of the running stage, such as `3_evaluation/bigtom`; "" outside the pipeline."""
    source = Path(os.environ.get("TOMLAB_STAGE", ""))
    return "/".join(source.with_suffix("").parts[-2:]) if source.name else ""


def raw(benchmark: str, name: str) -> Path:
    """The path of a raw file that the stage `generation` wrote. Formats differ by benchmark."""
    return RESULTS / "raw" / benchmark / name


def result(kind: str, benchmark: str, model: str | None = None) -> Path:
    """The path of a Parquet table. kind: `items` (without a model), or `responses`, `scores` or
    `metrics` of a model.
    """
    name = benchmark if model is None else f"{benchmark}/{model}"
    return RESULTS / kind / f"{name}.parquet"


def baseline(kind: str, benchmark: str, name: str) -> Path:
    """The path of a baseline's table, as `result` has it for models. kind: `responses`, `scores` …

    Baselines have a folder of their own because another stage evaluates them (filtering).
    """
    return RESULTS / "baselines" / benchmark / kind / f"{name}.parquet"
