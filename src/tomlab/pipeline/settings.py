"""Check `params.yaml` as a whole, before anything is run or spent."""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tomlab import params
from tomlab.asking import prompts
from tomlab.asking.protocol import strange_methods
from tomlab.errors import InputError, refuse
from tomlab.models import specs
from tomlab.paths import PACKAGE, PARAMS, from_root
from tomlab.records.tidy import REVERSED


def check(path: Path | str = PARAMS) -> dict[str, Any]:
    """What the file says, if it says it right.

    Errors: `InputError` that lists every option at fault with what was found and expected.
    """
    content = params.load(path)
    problems: list[str] = []

    def told(validate: Any, *parts: Any) -> Any:
        """What `validate` makes of its arguments, None with a problem where it refuses them."""
        try:
            return validate(*parts)
        except InputError as error:
            return problems.append(str(error))

    run = told(params.checked, params.Run.model_validate, content.get("run"), "run")
    limits = content.get("limits", {})
    told(params.checked, specs.Limits.model_validate, limits, "limits")
    registry = content.get("models")
    if not isinstance(registry, Mapping):
        problems.append(f"models: found {params.shown(registry)}, expected entries by name")
        refuse(problems, str(path))
    models = {name: told(specs.model_spec, name, registry) for name in registry}
    benchmarks = sorted(p.parent.name for p in PACKAGE.glob("benchmarks/*/settings.py"))
    known = ["run", "limits", "models", *benchmarks]
    strange = [name for name in content if name not in known]
    problems += [f"no section {name!r}; there are: {', '.join(known)}" for name in strange]
    for name in benchmarks:
        if name in content or (run and name in run.benchmarks):
            of_benchmark = import_module(f"tomlab.benchmarks.{name}.settings").Settings
            validate = partial(of_benchmark.model_validate, context=registry)
            section = told(params.checked, validate, content.get(name), name)
            if section and run:
                right = {name: spec for name, spec in models.items() if spec}
                problems += _strange_methods(name, section.evaluation, right, run.models)
    if run:
        problems += _strangers(run, registry, benchmarks)
        for name, file in run.prompts.items():
            told(params.checked, partial(prompts.load, name), {name: file}, "run.prompts")
        problems += _strange_wordings(run.wordings, benchmarks)
    refuse(problems, str(path))
    return content


def _strange_methods(
    benchmark: str, evaluation: params.Evaluation, models: Mapping, run: list[str]
) -> list[str]:
    """Methods that a benchmark does not have, and models that are asked nothing by any."""
    where = f"{benchmark}.evaluation"
    named = {f"{where}.methods": evaluation.methods, f"{where}.max_tokens": evaluation.max_tokens}
    problems = []
    for name, spec in models.items():
        groups = spec.groups.get(benchmark, {})
        named[f"models.{name}.groups.{benchmark}"] = groups
        named[f"models.{name}.variants.{benchmark}"] = spec.variants.get(benchmark, {})
        named[f"models.{name}.answer_tokens.{benchmark}"] = spec.answer_tokens.get(benchmark, {})
        if name in run and all(groups.get(method) == 0 for method in evaluation.methods):
            problems.append(
                f"models.{name}.groups.{benchmark}: found 0 for all of {where}.methods, expected "
                "more for one of them"
            )
    return problems + strange_methods(import_module(f"tomlab.benchmarks.{benchmark}"), named)


def _strange_wordings(folders: list[str], benchmarks: list[str]) -> list[str]:
    """Wordings that share a name or bear one that is taken, and what is wrong in them."""
    names, problems = ["", REVERSED], []
    for folder in folders:
        if (name := Path(folder).name) in names:
            problems.append(f"{folder}: found the name {name!r}, expected one that is not taken")
        names.append(name)
        inside = sorted(from_root(folder).glob("*"))
        problems += [] if inside else [f"{folder}: found nothing in it"]
        for path in inside:
            if path.name not in benchmarks:
                known = ", ".join(benchmarks)
                problems.append(f"{path}: no such benchmark; there are: {known}")
                continue
            try:
                prompts.wording(path)
            except InputError as error:
                problems.append(str(error))
    return [f"run.wordings: {problem}" for problem in problems]


def _strangers(run: params.Run, registry: Mapping, benchmarks: list[str]) -> list[str]:
    """What `run` names and is not there: models, benchmarks."""
    named = {f"run.models: {name}": name for name in run.models}
    named |= {"run.embedder": run.embedder, "run.judge": run.judge}
    problems = []
    for name, source in run.benchmarks.items():
        where = f"run.benchmarks.{name}"
        if name not in benchmarks:
            problems.append(f"{where}: no such benchmark; there are: {', '.join(benchmarks)}")
        named |= {f"{where}.writer": source.writer, f"{where}.reader": source.reader}
    return problems + [
        f"{where}: no model {name!r} under `models`; there are: {', '.join(map(str, registry))}"
        for where, name in named.items()
        if name not in registry
    ]
