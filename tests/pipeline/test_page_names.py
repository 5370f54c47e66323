"""What pages and comments name is there: files, Make targets, modules, functions, options."""

import re
import subprocess
from functools import cache
from importlib import import_module
from pathlib import Path

import nbformat
import pytest

from tomlab import params
from tomlab.paths import ROOT

# Folders whose files a page names by their path from the root.
FOLDERS = ("src", "tests", "docs", "notebooks", "checks", "speed", "book", "data", "forms", ".ci")
# What a page tells its reader to make, or that others have.
MADE_BY_READERS = re.compile(
    r"doors|<|…|\*|data/published/tombench|data/results/|data/models/mine|my[-/]"
)
PATH = re.compile(rf"(?<![\w/.])(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./<>*-]*[\w*>]")
TARGET = re.compile(r"(?:^|&& |\$ )make ([a-z][a-z-]*)", re.MULTILINE)
MODULE = re.compile(r"\btomlab(?:\.[a-z_]\w*)+")
BENCHMARK = "(?:bigtom|fantom|omnitom|simpletom)"
SECTION = rf"(?:run|limits|fresh|{BENCHMARK}\.(?:generation|filtering|evaluation|judges))"
OPTION = re.compile(rf"{SECTION}(?:\.[a-z_]+)+")
FUNCTION = re.compile(rf"{BENCHMARK}\.(?:score|metrics|compose|read_\w+|messages)\b")
TICKED = re.compile(r"`([^`\n]+)`")


def texts() -> dict[str, str]:
    """The pages' texts, and the comments of files that people edit, by path."""
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / ".github").glob("*.md"))]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    pages = [path for path in pages if "doors" not in path.parts]
    found = {path: path.read_text(encoding="utf-8") for path in pages}
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        if "checkpoint" not in path.as_posix():
            cells = nbformat.read(path, as_version=4).cells
            found[path] = "\n".join(c.source for c in cells if c.cell_type == "markdown")
    for name in ("Makefile", "dvc.yaml", "params.yaml", "environment.yml", ".ci/run"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        found[ROOT / name] = "\n".join(line for line in lines if "#" in line)
    return {path.relative_to(ROOT).as_posix(): text for path, text in found.items()}


TEXTS = texts()
each_text = pytest.mark.parametrize("page", TEXTS)


@cache
def tracked() -> frozenset[str]:
    """The files that git holds, those of `data/`, and all their folders."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [Path(line) for line in listed.stdout.splitlines()]
    files += [path.relative_to(ROOT) for path in (ROOT / "data").rglob("*")]
    return frozenset(p.as_posix() for file in files for p in (file, *file.parents))


@each_text
def test_files_that_a_page_names_are_there(page):
    named = {path.rstrip("/") for path in PATH.findall(TEXTS[page])}
    lost = {path for path in named if not MADE_BY_READERS.search(path) and path not in tracked()}
    assert lost == set()


@each_text
def test_make_targets_that_a_page_names_are_there(page):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w@%-]+):", makefile, re.MULTILINE))
    commands = [*TICKED.findall(TEXTS[page]), *blocks(TEXTS[page])]
    named = {target for command in commands for target in TARGET.findall(command)}
    assert named - targets == set()


def blocks(text: str) -> list[str]:
    """The fenced blocks of commands."""
    return re.findall(r"```sh\n(.*?)```", text, re.DOTALL)


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[split:]:
            if not hasattr(thing, attribute):
                return False
            thing = getattr(thing, attribute)
        return True
    return False


@each_text
def test_modules_and_functions_that_a_page_names_are_there(page):
    names = {name for name in MODULE.findall(TEXTS[page]) if "doors" not in name}
    names |= {f"tomlab.benchmarks.{name}" for name in FUNCTION.findall(TEXTS[page])}
    assert {name for name in names if not is_there(name)} == set()


@each_text
def test_options_that_a_page_names_are_there(page):
    content = params.load()
    lost = set()
    for text in TICKED.findall(TEXTS[page]):
        option = text.partition(":")[0].strip()
        if not OPTION.fullmatch(option):
            continue
        value = content
        for part in option.split("."):
            if not isinstance(value, dict) or part not in value:
                lost.add(option)
                break
            value = value[part]
    assert lost == set()
