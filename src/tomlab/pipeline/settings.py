"""Check `params.yaml` as a whole, and write what of it each stage reads to a file of its own.

    python -m tomlab.pipeline.settings

A stage depends on its file, so that a change runs the stages that read it, and no others. Nothing
is run or spent where the file is wrong anywhere.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import file_digest, sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tomlab import params
from tomlab.asking import prompts
from tomlab.asking.protocol import strange_methods
from tomlab.errors import InputError, refuse
from tomlab.models import specs
from tomlab.models.remote import api_key
from tomlab.paths import PACKAGE, PARAMS, RESULTS, ROOT, from_root, there, writable
from tomlab.pipeline.run_notebook import declared
from tomlab.records.tidy import REVERSED

SETTINGS = RESULTS / "settings"
EVALUATION = "3_evaluation"
# The stages by the folders of their notebooks, each with its sections of a benchmark's parameters.
# Baselines are evaluated beside the filtering. Figures show how answers were read. So both may read
# what the evaluation reads.
STAGES = {
    "1_generation": ["generation"],
    "2_filtering": ["filtering", "evaluation"],
    EVALUATION: ["evaluation"],
    "4_judge_calibration": ["judges"],
    "5_figures": ["evaluation", "people"],
}
FRESH = "6_fresh"
# The parameters that name models, beside `model`, the one that is evaluated.
_MODELS = ("writer", "more_writers", "reader", "embedder", "embedders", "judge")


def check(path: Path | str = PARAMS) -> dict[str, Any]:
    """What the file says. Errors: an `InputError` for all options at fault, found and expected."""
    content = params.load(path)
    registry = content.get("models")
    if not isinstance(registry, Mapping):
        raise InputError(f"{path}: models: found {params.shown(registry)}, expected entries")
    problems: list[str] = []
    models = {}
    for name in registry:
        with noting(problems):
            models[name] = specs.model_spec(name, registry)
    problems += _run_problems(content)
    with noting(problems):
        _check_section(params.Fresh, content, "fresh")
    with noting(problems):
        limits = content.get("limits", {})
        params.checked(specs.Limits.model_validate, limits, "limits")
    problems += _benchmark_problems(content, models)
    refuse(problems, str(path))
    return content


@contextmanager
def noting(problems: list[str]) -> Iterator[None]:
    """Add to `problems` what an `InputError` says."""
    try:
        yield
    except InputError as error:
        problems.append(str(error))


def _check_section(section: type[params.Section], content: Mapping[str, Any], name: str) -> Any:
    """A section of the file as checked. Errors: `InputError`."""
    validate = partial(section.model_validate, context=content["models"])
    return params.checked(validate, content.get(name), name)


def _run_problems(content: Mapping[str, Any]) -> list[str]:
    """What is wrong with the section `run` and the files that it names."""
    problems: list[str] = []
    with noting(problems):
        _check_section(params.Run, content, "run")
    if problems:
        return problems
    run = content["run"]
    for name, file in run.get("prompts", {}).items():
        with noting(problems):
            params.checked(partial(prompts.load, name), {name: file}, "run.prompts")
    folders = run.get("wordings", [])
    for folder in folders:
        files = sorted(from_root(folder).glob("*"))
        if not files:
            problems.append(f"run.wordings: {folder}: found nothing in it")
        for file in files:
            with noting(problems):
                prompts.wording(file)
            problems += _unknown_sections([file.name])
    names = Counter(["", REVERSED, *(Path(folder).name for folder in folders)])
    repeated = [name for name, count in names.items() if count > 1]
    if repeated:
        problems.append(f"run.wordings: found the names {repeated} twice, or taken by us")
    return problems


def _benchmarks() -> list[str]:
    """The benchmarks that are there."""
    return sorted(path.parent.name for path in PACKAGE.glob("benchmarks/*/__init__.py"))


def _unknown_sections(names: Iterable[Any]) -> list[str]:
    """A complaint on each name that is none of a section."""
    sections = ["run", "limits", "models", "fresh", *_benchmarks()]
    unknown = [name for name in dict.fromkeys(names) if name not in sections]
    return [f"no section or benchmark {name!r}; there are: {sections}" for name in unknown]


def _benchmark_problems(
    content: Mapping[str, Any], models: Mapping[str, specs.ModelSpec]
) -> list[str]:
    """What is wrong with the sections of benchmarks, of those that the file names."""
    run = content.get("run")
    sections = [*content]
    if isinstance(run, Mapping) and isinstance(run.get("benchmarks"), Mapping):
        sections += run["benchmarks"]
    problems = _unknown_sections(sections)
    for name in _benchmarks():
        if name in sections:
            with noting(problems):
                section = _check_section(_settings_of(name), content, name)
                problems += _unknown_methods(name, section.evaluation, models)
    return problems


def _settings_of(benchmark: str) -> type[params.Section]:
    """What the section of a benchmark may hold: of its `settings.py`, or of all that have none."""
    module = f"tomlab.benchmarks.{benchmark}.settings"
    if find_spec(module) is None:
        return params.Settings
    return import_module(module).Settings


def _unknown_methods(
    benchmark: str, evaluation: params.Evaluation, models: Mapping[str, specs.ModelSpec]
) -> list[str]:
    """A complaint on each option that names a method which a benchmark does not have."""
    methods = {
        f"{benchmark}.evaluation.methods": evaluation.methods,
        f"{benchmark}.evaluation.max_tokens": evaluation.max_tokens,
    }
    for name, spec in models.items():
        for option in ("groups", "variants", "answer_tokens"):
            by_benchmark = getattr(spec, option)
            methods[f"models.{name}.{option}.{benchmark}"] = by_benchmark.get(benchmark, {})
    return strange_methods(import_module(f"tomlab.benchmarks.{benchmark}"), methods)


def read_by_stages(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By notebook: `parameters`, what bears on its `models`' answers, the SHA-256 of `files`."""
    run = content["run"]
    settings = {}
    for benchmark, source in run["benchmarks"].items():
        for stage, sections in STAGES.items():
            notebook = f"notebooks/{stage}/{benchmark}.ipynb"
            values = {**run, **run["seeds"], **source}
            values["models"] = params.with_baselines(run["models"])
            values["baselines"] = [*params.BASELINES]
            for section in sections:
                for name, value in content[benchmark].get(section, {}).items():
                    if value is not None:  # without a value, an option leaves that of `run`
                        values[name] = value
            if stage != EVALUATION:
                parameters = _parameters(notebook, values)
                settings[f"{stage}/{benchmark}"] = _read(parameters, content["models"], benchmark)
                continue
            for model in run["models"]:
                parameters = _parameters(notebook, {**values, "model": model})
                name = f"{stage}/{benchmark}-{model}"
                settings[name] = _read(parameters, content["models"], benchmark)
    for path in sorted((ROOT / "notebooks" / FRESH).glob("*.ipynb")):
        values = {**run, **run["seeds"], **content["fresh"], "benchmarks": [*run["benchmarks"]]}
        parameters = _parameters(f"notebooks/{FRESH}/{path.name}", values)
        settings[f"{FRESH}/{path.stem}"] = _read(parameters, content["models"], "")
    return settings


def _parameters(notebook: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a notebook's parameters take. Errors: `InputError` where one is lacking."""
    names = declared(ROOT / notebook)
    lacking = [name for name in names if values.get(name) is None]
    if lacking:
        raise InputError(f"{notebook}: {', '.join(lacking)}: found in no section it may read")
    return {name: values[name] for name in names}


def _read(parameters: dict[str, Any], registry: Mapping, benchmark: str) -> dict[str, Any]:
    """What a stage reads. benchmark: "" for the stages of fresh items."""
    parameters = dict(parameters)
    if "prompts" in parameters:
        # A benchmark's own, and those of the methods and judges that all have.
        sections = (f"{benchmark or 'fresh'}/", "techniques/", "judges/")
        files = parameters["prompts"].items()
        parameters["prompts"] = {name: file for name, file in files if name.startswith(sections)}
    if "wordings" in parameters:
        folders = [f"{folder}/{benchmark}" for folder in parameters["wordings"]]
        parameters["wordings"] = [folder for folder in folders if there(folder)]
    entries = _entries(parameters, registry, benchmark)
    hashes = {}
    for text in _texts([parameters, entries]):
        path = there(text)
        if path:
            hashes[text] = hash_of(path)
    return {"parameters": parameters, "models": entries, "files": hashes}


def _entries(parameters: Mapping[str, Any], registry: Mapping, benchmark: str) -> dict[str, Any]:
    """What of the entries of a stage's models bears on their answers, by name."""
    # Figures name the models of a run, too, but ask none.
    asked_names = _MODELS if benchmark else ("models",)
    entries = {}
    for name in _texts([parameters.get(asked, []) for asked in asked_names]):
        entries[name] = specs.model_spec(name, registry).answering()
    evaluated = parameters.get("baselines", [])
    if "model" in parameters:
        evaluated = [parameters["model"]]
    for name in evaluated:
        entries[name] = specs.model_spec(name, registry).answering(benchmark)
    return entries


def _texts(value: Any) -> list[str]:
    """All texts that are values within lists and mappings, but empty ones."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, Mapping):
        value = [*value.values()]
    if not isinstance(value, list):
        return []
    texts = []
    for inner in value:
        texts += _texts(inner)
    return texts


def hash_of(path: Path) -> str:
    """The SHA-256 of a file, or of the names and files of a folder."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file_digest(file, "sha256").hexdigest()
        hashes = [(inner.name, hash_of(inner)) for inner in sorted(path.iterdir())]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return sha256(repr(hashes).encode()).hexdigest()


def unready(content: Mapping[str, Any], read: Mapping[str, Any]) -> Iterator[str]:
    """What the models that stages name lack to be asked, in words. Their kept answers need none."""
    limits = specs.Limits.model_validate(content.get("limits", {}))
    names = {}
    for settings in read.values():
        names.update(settings["models"])
    for name in names:
        spec = specs.model_spec(name, content["models"])
        lacking = specs.lacking_price(spec, limits)
        if lacking:
            yield f"models.{name}: {lacking}"
        if isinstance(spec, specs.OpenAIModel | specs.AnthropicModel):
            problems: list[str] = []
            with noting(problems):
                api_key(spec, f"{spec.provider.upper()}_API_KEY")
            yield from problems


def write(read: Mapping[str, dict[str, Any]]) -> None:
    """Make `results/settings` hold these files and no others. What is there already stays, as a run
    that is under way may be reading it.
    """
    files = {writable(SETTINGS / f"{name}.json"): values for name, values in read.items()}
    for path, values in files.items():
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(path)
    for path in SETTINGS.rglob("*"):
        if path.is_file() and path not in files:
            path.unlink()


def main() -> int:
    """Check, then write; 0 if the file is right, 1 with all that is wrong with it."""
    try:
        content = check()
        settings = read_by_stages(content)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    write(settings)
    print("params.yaml is right.")
    for name in params.BASELINES:
        if name in content["run"]["models"]:
            print(f"run.models: {name} is evaluated in every run and need not be named.")
    for lacking in unready(content, settings):
        print(f"{lacking}. Until then, only its kept answers can be used.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
