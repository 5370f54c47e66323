"""Check `params.yaml` as a whole, and write what of it each stage reads to a file of its own.

    python -m tomlab.pipeline.settings

A stage depends on its file, so that a change runs the stages that read it, and no others. Nothing
is run or spent where the file is wrong anywhere.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import file_digest, sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML, YAMLError

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
    refuse([*_names_that_are_no_text(content), *_read_otherwise_by_dvc(content, path)], str(path))
    problems = []

    def told(validate: Any, *parts: Any) -> Any:
        """What `validate` makes of its arguments, None with a problem where it refuses them."""
        try:
            return validate(*parts)
        except InputError as error:
            return problems.append(str(error))

    registry = content.get("models")
    if not isinstance(registry, Mapping):
        raise InputError(f"{path}: models: found {params.shown(registry)}, expected entries")
    models = {name: told(specs.model_spec, name, registry) for name in registry}
    of_run = partial(params.Run.model_validate, context=registry)
    run = told(params.checked, of_run, content.get("run"), "run")
    of_fresh = partial(params.Fresh.model_validate, context=registry)
    told(params.checked, of_fresh, content.get("fresh"), "fresh")
    told(params.checked, specs.Limits.model_validate, content.get("limits", {}), "limits")
    benchmarks = sorted(p.parent.name for p in PACKAGE.glob("benchmarks/*/settings.py"))
    known, named, worded = ["run", "limits", "models", "fresh", *benchmarks], [*content], []
    if run:
        named += run.benchmarks
        for name, file in run.prompts.items():
            told(params.checked, partial(prompts.load, name), {name: file}, "run.prompts")
        for folder in run.wordings:
            inside = sorted(from_root(folder).glob("*"))
            problems += [] if inside else [f"run.wordings: {folder}: found nothing in it"]
            for each in inside:
                worded.append(each.name)
                told(prompts.wording, each)
        taken = ["", REVERSED, *(Path(folder).name for folder in run.wordings)]
        if twice := [name for name, n in Counter(taken).items() if n > 1]:
            problems.append(f"run.wordings: found the names {twice} twice, or taken by us")
    strange = dict.fromkeys(name for name in [*named, *worded] if name not in known)
    problems += [f"no section or benchmark {name!r}; there are: {known}" for name in strange]
    for name in (name for name in benchmarks if name in named):
        benchmark = import_module(f"tomlab.benchmarks.{name}.settings").Settings
        validate = partial(benchmark.model_validate, context=registry)
        if section := told(params.checked, validate, content.get(name), name):
            asked = section.evaluation
            where = {f"{name}.evaluation.methods": asked.methods}
            where[f"{name}.evaluation.max_tokens"] = asked.max_tokens
            for model, spec in models.items():
                for option in ("groups", "variants", "answer_tokens") if spec else ():
                    where[f"models.{model}.{option}.{name}"] = getattr(spec, option).get(name, {})
            problems += strange_methods(import_module(f"tomlab.benchmarks.{name}"), where)
    refuse(problems, str(path))
    return content


def _names_that_are_no_text(value: Any, place: str = "") -> Iterator[str]:
    """Names that YAML reads as numbers, dates or nothing; everything here is looked up by text."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str):
                found = f"found the name {params.shown(name)}"
                yield f"{place or 'the file'}: {found}, expected a text: put it in quotes"
            yield from _names_that_are_no_text(inner, f"{place}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _names_that_are_no_text(inner, f"{place}.{number}")


def _read_otherwise_by_dvc(content: Mapping[str, Any], path: Path | str) -> Iterator[str]:
    """What DVC, which reads YAML 1.2, takes for something else than we, who read YAML 1.1."""
    text = Path(path).read_text(encoding="utf-8")
    try:
        by_dvc = YAML(typ="safe").load(text)
    except (YAMLError, ValueError) as error:
        yield f"DVC cannot read it as YAML 1.2 ({params.shown(str(error))}): put names in quotes"
        return
    yield from _differences(content, by_dvc, "")


def _differences(ours: Any, by_dvc: Any, place: str) -> Iterator[str]:
    if isinstance(ours, Mapping) and isinstance(by_dvc, Mapping):
        for name, inner in ours.items():
            where = f"{place}.{name}".lstrip(".")
            if name in by_dvc:
                yield from _differences(inner, by_dvc[name], where)
            else:
                yield f"{where}: DVC reads this name as something else than text: put it in quotes"
    elif isinstance(ours, list) and isinstance(by_dvc, list):
        for number, (inner, other) in enumerate(zip(ours, by_dvc, strict=True)):
            yield from _differences(inner, other, f"{place}.{number}")
    elif ours != by_dvc:
        found = f"found {params.shown(ours)}, which DVC reads as {params.shown(by_dvc)}"
        yield f"{place}: {found}: put a name in quotes, and write a number in full"


def read_by_stages(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By notebook: `parameters`, what bears on its `models`' answers, the SHA-256 of `files`."""
    run, found = content["run"], {}
    for benchmark, source in run["benchmarks"].items():
        for stage, sections in STAGES.items():
            names = declared(ROOT / "notebooks" / stage / f"{benchmark}.ipynb")
            values = run | run["seeds"] | source
            values["models"] = params.with_baselines(run["models"])
            values["baselines"] = [*params.BASELINES]
            for section in sections:
                given = content[benchmark].get(section, {})
                # An option without a value leaves that of `run` as it is.
                values |= {name: value for name, value in given.items() if value is not None}
            for model in run["models"] if stage == EVALUATION else [None]:
                values["model"] = model
                if lost := [name for name in names if values.get(name) is None]:
                    where = f"notebooks/{stage}/{benchmark}.ipynb"
                    raise InputError(f"{where}: {', '.join(lost)}: found in no section it may read")
                copy = f"{benchmark}-{model}" if model else benchmark
                own = {name: values[name] for name in names}
                found[f"{stage}/{copy}"] = _read(own, content["models"], benchmark)
    for path in sorted((ROOT / "notebooks" / FRESH).glob("*.ipynb")):
        values = run | run["seeds"] | content["fresh"] | {"benchmarks": [*run["benchmarks"]]}
        own = {name: values[name] for name in declared(path)}
        found[f"{FRESH}/{path.stem}"] = _read(own, content["models"], "")
    return found


def _read(values: dict[str, Any], registry: Mapping, benchmark: str) -> dict[str, Any]:
    if "prompts" in values:  # a benchmark's own, and those of the methods and judges that all have
        whose = (f"{benchmark or 'fresh'}/", "techniques/", "judges/")
        values["prompts"] = {n: f for n, f in values["prompts"].items() if n.startswith(whose)}
    if "wordings" in values:
        own = (f"{folder}/{benchmark}" for folder in values["wordings"])
        values["wordings"] = [folder for folder in own if there(folder)]
    # Figures name the models of a run, too, but ask none.
    named = _texts([values.get(name, []) for name in (_MODELS if benchmark else ("models",))])
    entries = {name: specs.model_spec(name, registry).answering() for name in named}
    evaluated = [values["model"]] if "model" in values else values.get("baselines", [])
    for model in evaluated:
        entries[model] = specs.model_spec(model, registry).answering(benchmark)
    files = {text: hash_of(path) for text in _texts([values, entries]) if (path := there(text))}
    return {"parameters": values, "models": entries, "files": files}


def _texts(value: Any) -> list[str]:
    """All texts that are values within lists and mappings, but empty ones."""
    if isinstance(value, Mapping | list):
        inside = value.values() if isinstance(value, Mapping) else value
        return [text for inner in inside for text in _texts(inner)]
    return [value] if isinstance(value, str) and value else []


def hash_of(path: Path) -> str:
    """The SHA-256 of a file, or of the names and files of a folder."""
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file_digest(file, "sha256").hexdigest()
        inside = [(p.name, hash_of(p)) for p in sorted(path.iterdir())]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    return sha256(repr(inside).encode()).hexdigest()


def unready(content: Mapping[str, Any], read: Mapping[str, Any]) -> Iterator[str]:
    """What the models that stages name lack to be asked, in words. Their kept answers need none."""
    limits = specs.Limits.model_validate(content.get("limits", {}))
    for name in dict.fromkeys(name for each in read.values() for name in each["models"]):
        spec = specs.model_spec(name, content["models"])
        if lacks := specs.lacking_price(spec, limits):
            yield f"models.{name}: {lacks}"
        if isinstance(spec, specs.OpenAIModel | specs.AnthropicModel):
            try:
                api_key(spec, f"{spec.provider.upper()}_API_KEY")
            except InputError as error:
                yield str(error)


def write(read: Mapping[str, dict[str, Any]]) -> None:
    """Make `results/settings` hold these files and no others. What is there already stays, as a run
    that is under way may be reading it.
    """
    named = set()
    for name, values in read.items():
        path = writable(SETTINGS / f"{name}.json")
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        named.add(path)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            unfinished = path.with_suffix(".unfinished")
            unfinished.write_text(text, encoding="utf-8")
            unfinished.replace(path)
    for path in SETTINGS.rglob("*"):
        if path.is_file() and path not in named:
            path.unlink()


def main() -> int:
    """Check, then write; 0 if the file is right, 1 with all that is wrong with it."""
    try:
        content = check()
        found = read_by_stages(content)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    write(found)
    print("params.yaml is right.")
    for name in params.BASELINES:
        if name in content["run"]["models"]:
            print(f"run.models: {name} is evaluated in every run and need not be named.")
    for lacks in unready(content, found):
        print(f"{lacks}. Until then, only its kept answers can be used.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
