"""What of `params.yaml` each stage reads, as a file of its own on which the stage depends.

    python -m tomlab.pipeline.stages

So a change runs the stages that read it, and no others. The whole file is checked first.
"""

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from tomlab import params
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.paths import RESULTS, ROOT, there
from tomlab.pipeline import settings
from tomlab.pipeline.check_notebooks import declared

SETTINGS = RESULTS / "settings"
EVALUATION = "3_evaluation"
# The sections of `params.yaml` from which the notebooks of a stage take their parameters.
SECTIONS = {
    "1_generation": ("run.benchmarks.{}", "{}.generation", "run", "run.seeds"),
    "2_filtering": ("run.benchmarks.{}", "{}.filtering", "run", "run.seeds"),
    EVALUATION: ("{}.evaluation", "run", "run.seeds"),
    "4_judge_calibration": ("{}.judges", "run", "run.seeds"),
    "5_figures": ("run",),
}
# The parameters that name models, beside `model`, the one that is evaluated.
_MODELS = ("writer", "more_writers", "reader", "embedder", "embedders", "judge")


def parameters(
    names: Iterable[str],
    content: Mapping[str, Any],
    sections: Sequence[str],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """A value for each name, from `given` or else from exactly one of the sections of `content`."""
    found = {section: params.section(content, section) for section in sections}
    values = dict(given)
    for name in (name for name in names if name not in given):
        places = [section for section in sections if name in found[section]]
        if len(places) != 1:
            raise InputError(
                f"parameter {name!r}: expected in one of the sections {', '.join(sections)} of "
                f"params.yaml, found in {' and '.join(places) or 'none'}"
            )
        values[name] = found[places[0]][name]
    return {name: values[name] for name in names}


def read_by_stages(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By the name of an executed notebook all that it reads: its `parameters`, of the entries of
    the `models` that they name what bears on the answers, the SHA-256 of the `files` named.
    """
    run, found = content["run"], {}
    for benchmark in run["benchmarks"]:
        for stage, sections in SECTIONS.items():
            names = declared(ROOT / "notebooks" / stage / f"{benchmark}.ipynb")
            places = [section.format(benchmark) for section in sections]
            for model in run["models"] if stage == EVALUATION else [None]:
                own = {"model": model} if model else {}
                values = parameters(names, content, places, own)
                copy = f"{benchmark}-{model}" if model else benchmark
                found[f"{stage}/{copy}"] = _read(values, content["models"], benchmark)
    return found


def _read(values: dict[str, Any], registry: Mapping, benchmark: str) -> dict[str, Any]:
    if "prompts" in values:  # a benchmark's own, and those of the methods and judges that all have
        whose = (f"{benchmark}/", "techniques/", "judges/")
        values["prompts"] = {n: f for n, f in values["prompts"].items() if n.startswith(whose)}
    if "wordings" in values:
        own = (f"{folder}/{benchmark}" for folder in values["wordings"])
        values["wordings"] = [folder for folder in own if there(folder)]
    named = _texts([values.get(name, []) for name in _MODELS])
    entries = {name: specs.model_spec(name, registry).answering() for name in named}
    if model := values.get("model"):
        entries[model] = specs.model_spec(model, registry).answering(benchmark)
    files = {text: _digest(path) for text in _texts([values, entries]) if (path := there(text))}
    return {"parameters": values, "models": entries, "files": files}


def _texts(value: Any) -> Iterator[str]:
    """All texts that are values within lists and mappings, but empty ones."""
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)


def _digest(path: Path) -> str:
    """The SHA-256 of a file, or of the names and files of a folder."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file_digest(file, "sha256").hexdigest()
        inside = [(p.name, _digest(p)) for p in sorted(path.iterdir())]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return sha256(repr(inside).encode()).hexdigest()


def main() -> int:
    """Check, then write; 0 if the file is right, 1 with all that is wrong with it."""
    try:
        found = read_by_stages(settings.check())
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    shutil.rmtree(SETTINGS, ignore_errors=True)
    for name, read in found.items():
        path = SETTINGS / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(read, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print("params.yaml is right.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
