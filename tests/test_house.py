"""The house: which module may import which, how long a file is, and what every benchmark has."""

import ast
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from pathlib import Path

import pytest

from tomlab.paths import PACKAGE

# From the top down. A module imports from its own level or from one below it, never upwards.
LEVELS = (
    ("forms", "fresh", "questionnaire", "inspect"),
    ("benchmarks",),
    ("judging", "pipeline"),
    ("reporting",),
    ("asking", "scoring"),
    ("records", "models"),
    ("params", "paths", "errors"),
)
# On these levels a package may import from those to its right, as docs/inside.md draws them.
ORDERED = LEVELS[5:]
RANK = {part: rank for rank, level in enumerate(LEVELS) for part in level}
BENCHMARKS = sorted(path.parent.name for path in PACKAGE.glob("benchmarks/*/__init__.py"))
CORE = (
    "items/compose",
    "items/filtering",
    "items/writing",
    "scoring",
    "metrics",
    "paper",
)
LONGEST = 500  # lines; above that a file has more than one subject


def module_name(path: Path) -> str:
    """Such as "tomlab.scoring.stats", or "tomlab.scoring" for a package's `__init__`."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part(name: str) -> str:
    """The part of the package that a module belongs to; "" for the package itself and others."""
    package, _, inner = name.partition(".")
    return inner.partition(".")[0] if package == PACKAGE.name else ""


FILES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(name: str) -> set[str]:
    """The modules of the package that a module imports anywhere in its code."""
    found = set()
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{FILES[name]}:{node.lineno}: a relative import"
            found |= {_meant(node.module, alias.name) for alias in node.names}
    return {each for each in found if part(each)}


def _meant(module: str, member: str) -> str:
    """The module that `from module import member` reads: the member, if it is one, or its home."""
    inner = f"{module}.{member}"
    # A benchmark's face exports functions that bear the names of its modules.
    return inner if inner in FILES and member not in _exported(module) else module


def _exported(package: str) -> set[str]:
    body = ast.parse(FILES[package].read_text(encoding="utf-8")).body
    return {a.name for node in body if isinstance(node, ast.ImportFrom) for a in node.names}


IMPORTS = {name: imports(name) for name in FILES}
EDGES = [(name, other) for name, others in IMPORTS.items() for other in sorted(others)]


def benchmark(name: str) -> str | None:
    """The benchmark that a module belongs to."""
    benchmarks = set(name.split(".")) & set(BENCHMARKS)
    return benchmarks.pop() if benchmarks else None


def in_words(edges: list[tuple[str, str]]) -> str:
    return "\n".join(f"{FILES[name]} imports {other}" for name, other in edges)


def test_every_module_has_its_level():
    assert {part(name) for name in FILES if part(name)} == set(RANK)


def test_every_import_is_of_a_module_that_is_there():
    lost = [(name, other) for name, other in EDGES if other not in FILES]
    assert not lost, in_words(lost)


def test_no_module_imports_upwards():
    up = [(name, other) for name, other in EDGES if RANK[part(other)] < RANK[part(name)]]
    assert not up, in_words(up)


def test_packages_of_a_level_import_from_left_to_right_or_not_at_all():
    allowed = {pair for level in ORDERED for pair in combinations(level, 2)}
    beside = [
        (name, other)
        for name, other in EDGES
        if part(name) != part(other)
        and RANK[part(name)] == RANK[part(other)]
        and (part(name), part(other)) not in allowed
    ]
    assert not beside, in_words(beside)


def test_no_benchmark_knows_another():
    across = [
        (name, other)
        for name, other in EDGES
        if benchmark(name) and benchmark(other) and benchmark(name) != benchmark(other)
    ]
    assert not across, in_words(across)


def test_no_module_imports_itself_by_way_of_others():
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_no_file_is_too_long():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES.values()}
    assert {path: n for path, n in lines.items() if n > LONGEST} == {}


def test_four_benchmarks_are_there():
    assert {"bigtom", "fantom", "omnitom", "simpletom"} <= set(BENCHMARKS)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_has_the_files_that_all_have(name):
    folder = PACKAGE / "benchmarks" / name
    assert list((folder / "prompts").glob("*.*"))
    # A small benchmark is one file.
    if (folder / "items").is_dir():
        assert [file for file in CORE if not (folder / f"{file}.py").exists()] == []
