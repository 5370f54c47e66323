"""Check `params.yaml` as a whole, before anything is run or spent.

python -m tomlab.pipeline.settings
"""

import sys
from collections.abc import Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from tomlab import params
from tomlab.errors import InputError, refuse
from tomlab.models import specs
from tomlab.paths import PACKAGE, PARAMS, ROOT


def check(path: Path | str = PARAMS) -> dict[str, Any]:
    """What the file says, if it says it right.

    Errors: `InputError` that lists every option at fault with what was found and expected.
    """
    content = params.load(path)
    problems: list[str] = []

    def told(validate: Any, part: Any, where: str) -> Any:
        try:
            return params.checked(validate, part, where)
        except InputError as error:
            problems.append(str(error))

    run = told(params.Run.model_validate, content.get("run"), "run")
    told(specs.Limits.model_validate, content.get("limits", {}), "limits")
    registry = content.get("models")
    if not isinstance(registry, Mapping):
        refuse([*problems, f"models: found {registry!r}, expected entries by name"], str(path))
    models = {}
    for name in registry:
        try:
            models[name] = specs.model_spec(name, registry)
        except InputError as error:
            problems.append(str(error))
    benchmarks = sorted(p.parent.name for p in PACKAGE.glob("benchmarks/*/settings.py"))
    known = ["run", "limits", "models", *benchmarks]
    problems += [
        f"no section {name!r}; there are: {', '.join(known)}"
        for name in content
        if name not in known
    ]
    for name in benchmarks:
        if name in content or (run and name in run.benchmarks):
            told(_settings(name).Settings.model_validate, content.get(name), name)
    if run:
        problems += _strangers(run, registry, benchmarks)
    refuse(problems, str(path))
    return content


def _settings(benchmark: str) -> Any:
    """A benchmark's settings alone: its package takes a second to import."""
    path = PACKAGE / "benchmarks" / benchmark / "settings.py"
    spec = spec_from_file_location(f"{benchmark}_settings", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _strangers(run: params.Run, registry: Mapping, benchmarks: list[str]) -> list[str]:
    """What `run` names and is not there: models, benchmarks, files."""
    named = {f"run.models: {name}": name for name in run.models}
    named |= {"run.embedder": run.embedder, "run.judge": run.judge}
    problems = []
    for name, source in run.benchmarks.items():
        where = f"run.benchmarks.{name}"
        if name not in benchmarks:
            problems.append(f"{where}: no such benchmark; there are: {', '.join(benchmarks)}")
        named |= {f"{where}.writer": source.writer, f"{where}.reader": source.reader}
        problems += [
            f"{where}.{option}: no such file or folder: {given}"
            for option, given in (("source", source.source), ("judgments", source.judgments))
            if not (ROOT / Path(given).expanduser()).exists()
        ]
    return problems + [
        f"{where}: no model {name!r} under `models`; there are: {', '.join(map(str, registry))}"
        for where, name in named.items()
        if name not in registry
    ]


def main() -> int:
    """0 if the file is right, 1 with all that is wrong with it."""
    try:
        check()
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    print("params.yaml is right.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
