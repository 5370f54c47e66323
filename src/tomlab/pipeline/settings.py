"""Check all of `params.yaml`, and write for each stage a file with the options that it reads.

    python -m tomlab.pipeline.settings

DVC runs a stage again if its file changes, so an edit of `params.yaml` reruns only the stages that
read the edited option. A mistake anywhere in `params.yaml` stops the run before anything is spent.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tomlab import params
from tomlab.asking import likelihood, prompts
from tomlab.asking.protocol import strange_methods
from tomlab.errors import InputError, refuse
from tomlab.models import specs
from tomlab.models.remote import api_key
from tomlab.paths import PACKAGE, PARAMS, RESULTS, ROOT, from_root, hash_of, there, writable
from tomlab.pipeline import released
from tomlab.pipeline.run_notebook import declared
from tomlab.records.tidy import NO_STORY, REVERSED

SETTINGS = RESULTS / "settings"
EVALUATION = "3_evaluation"
# The stages, named as the folders of their notebooks, each with the sections of a benchmark's
# parameters that it may read. The filtering reads `evaluation` as it evaluates the baselines; the
# figures do as they show how answers were read.
STAGES = {
    "1_generation": ["generation"],
    "2_filtering": ["filtering", "evaluation"],
    EVALUATION: ["evaluation"],
    "4_judge_calibration": ["judges"],
    "5_figures": ["evaluation", "people"],
}
FRESH = "6_fresh"
# The parameters that name models, other than `model`, which names the evaluated one.
_MODELS = ("writer", "more_writers", "reader", "embedder", "embedders", "judge")


def check(path: Path | str = PARAMS) -> dict[str, Any]:
    """The content of the file of parameters, by section. Errors: one `InputError` that lists all
    wrong options, with what was found and what was expected.
    """
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
    """A context that catches an `InputError` and adds its message to `problems`."""
    try:
        yield
    except InputError as error:
        problems.append(str(error))


def _check_section(section: type[params.Section], content: Mapping[str, Any], name: str) -> Any:
    """The section `name`, as an object of the class `section`. Errors: `InputError`."""
    validate = partial(section.model_validate, context=content["models"])
    return params.checked(validate, content.get(name), name)


def _run_problems(content: Mapping[str, Any]) -> list[str]:
    """Messages about what is wrong in the section `run` and the files that it names."""
    problems: list[str] = []
    with noting(problems):
        _check_section(params.Run, content, "run")
    if problems:
        return problems
    run = content["run"]
    for benchmark, source in run["benchmarks"].items():
        with noting(problems):
            released.source_of(benchmark, source["source"])
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
    names = Counter(["", REVERSED, NO_STORY, *(Path(folder).name for folder in folders)])
    repeated = [name for name, count in names.items() if count > 1]
    if repeated:
        problems.append(f"run.wordings: found the names {repeated} twice, or taken by us")
    return problems


def _benchmarks() -> list[str]:
    """The names of all benchmarks in the package."""
    return sorted(path.parent.name for path in PACKAGE.glob("benchmarks/*/__init__.py"))


def _unknown_sections(names: Iterable[Any]) -> list[str]:
    """A message for each of `names` that is neither a section nor a benchmark."""
    sections = ["run", "limits", "models", "fresh", *_benchmarks()]
    unknown = [name for name in dict.fromkeys(names) if name not in sections]
    return [f"no section or benchmark {name!r}; there are: {sections}" for name in unknown]


def _benchmark_problems(
    content: Mapping[str, Any], models: Mapping[str, specs.ModelSpec]
) -> list[str]:
    """Messages about what is wrong in the sections of the benchmarks that the file names."""
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
    """The class that checks a benchmark's section: `Settings` in its `settings.py`, or else the one
    for benchmarks without such a file.
    """
    module = f"tomlab.benchmarks.{benchmark}.settings"
    if find_spec(module) is None:
        return params.Settings
    return import_module(module).Settings


def _unknown_methods(
    benchmark: str, evaluation: params.Evaluation, models: Mapping[str, specs.ModelSpec]
) -> list[str]:
    """A message for each method that an option names and the benchmark does not have."""
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
    """What each stage reads, by the stage's name, e.g. `3_evaluation/bigtom-MODEL`; see `_read`."""
    run = content["run"]
    settings = {}
    for benchmark, inputs in run["benchmarks"].items():
        source = released.source_of(benchmark, inputs["source"])
        for stage, sections in STAGES.items():
            notebook = f"notebooks/{stage}/{benchmark}.ipynb"
            values = {**run, **run["seeds"], **inputs, "source": source}
            values["models"] = params.with_baselines(run["models"])
            values["baselines"] = [*params.BASELINES]
            for section in sections:
                for name, value in content[benchmark].get(section, {}).items():
                    if value is not None:  # otherwise the value in `run` holds
                        values[name] = value
            if stage != EVALUATION:
                parameters = _parameters(notebook, values)
                settings[f"{stage}/{benchmark}"] = _read(parameters, content["models"], benchmark)
                continue
            for model in run["models"]:
                _check_groups(benchmark, specs.model_spec(model, content["models"]), values)
                parameters = _parameters(notebook, {**values, "model": model})
                name = f"{stage}/{benchmark}-{model}"
                settings[name] = _read(parameters, content["models"], benchmark)
    for path in sorted((ROOT / "notebooks" / FRESH).glob("*.ipynb")):
        values = {**run, **run["seeds"], **content["fresh"], "benchmarks": [*run["benchmarks"]]}
        parameters = _parameters(f"notebooks/{FRESH}/{path.name}", values)
        settings[f"{FRESH}/{path.stem}"] = _read(parameters, content["models"], "")
    return settings


def _check_groups(benchmark: str, spec: specs.ModelSpec, values: Mapping[str, Any]) -> None:
    """Errors: `InputError` if a model's `groups` leave out all methods of a benchmark."""
    methods = values.get("methods", [])
    methods = [method for method in methods if likelihood.is_asked_so(spec, method)]
    counts = spec.groups.get(benchmark, {})
    if methods and all(counts.get(method) == 0 for method in methods):
        entry = f"models.{spec.name}.groups.{benchmark}"
        raise InputError(f"{entry}: all are 0; leave {benchmark} out of run.benchmarks instead")


def _parameters(notebook: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the parameters that a notebook declares, by name. Errors: `InputError` if
    `values` lacks one.
    """
    names = declared(ROOT / notebook)
    lacking = [name for name in names if values.get(name) is None]
    if lacking:
        raise InputError(f"{notebook}: {', '.join(lacking)}: found in no section it may read")
    return {name: values[name] for name in names}


def _read(parameters: dict[str, Any], registry: Mapping, benchmark: str) -> dict[str, Any]:
    """What a stage with these parameters reads: `parameters` (with the prompts and wordings of the
    benchmark alone), `models` (the parts of their entries that affect answers, by name) and `files`
    (the SHA-256 of each named file or folder). benchmark: "" for the stages of fresh items.
    """
    parameters = dict(parameters)
    if "prompts" in parameters:
        # The benchmark's own prompts, and those of methods and judges, which all benchmarks share.
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
    """The parts of the entries of a stage's models that affect their answers, by model."""
    # The notebooks of figures also name the run's `models`, but ask none of them.
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
    """All texts in nested lists and mappings, except keys and empty texts."""
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


def unready(content: Mapping[str, Any], read: Mapping[str, Any]) -> Iterator[str]:
    """Messages about what is missing (a price or an API key) to ask the models that stages name.
    Their kept answers can be used without it. read: as `read_by_stages` returns it.
    """
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
    """Make `results/settings` hold one file for each stage in `read`, and no others. A file that is
    already right is not written again, as a run that is under way may be reading it.
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
    """Check `params.yaml` and write the stages' files. Returns the exit code: 0, or 1 with a
    message that lists all that is wrong.
    """
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
