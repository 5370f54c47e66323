"""The pages beside the chapters: nothing of a paper is missing silently from the list of coverage."""

import ast
import re

import nbformat
import pytest

from tomlab import paths

PAPERS = {"bigtom": (15, 12), "fantom": (5, 9), "omnitom": (8, 19), "simpletom": (13, 8)}
TEXTS = paths.ROOT / "../shared/seeds"
CELLS = nbformat.read(paths.ROOT / "notebooks/02_coverage.ipynb", as_version=4).cells
each_paper = pytest.mark.parametrize("name", PAPERS)


def listed(name: str) -> dict[str, list[str]]:
    """What the notebook lists of a paper: the fields of each line by its place."""
    [source] = [cell.source for cell in CELLS if f'covered("{name}"' in cell.source]
    lines = ast.literal_eval(ast.parse(source).body[0].value).splitlines()
    rows = [re.split(r"\s*\|\s*", line) for line in lines]
    assert all(3 <= len(row) <= 5 for row in rows)
    return {where: [*fields, "", ""][:4] for where, *fields in rows}


@each_paper
def test_every_figure_and_table_is_listed(name):
    for kind, last in zip(("Figure", "Table"), PAPERS[name], strict=True):
        found = {int(n) for key in listed(name) for n in re.findall(rf"^{kind} (\d+)[a-z]?$", key)}
        assert found == set(range(1, last + 1)), kind


@each_paper
@pytest.mark.skipif(not TEXTS.is_dir(), reason="the papers are not here")
def test_no_caption_of_the_paper_is_without_an_entry(name):
    text = (TEXTS / f"{name}.txt").read_text(encoding="utf-8")
    captions = set(re.findall(r"^((?:Figure|Table) \d+):", text, re.MULTILINE))
    assert len(captions) >= sum(PAPERS[name])
    assert captions - {re.sub(r"(?<=\d)[a-z]$", "", key) for key in listed(name)} == set()


@each_paper
def test_what_is_not_drawn_has_a_reason(name):
    for where, (_, has, drawn, why) in listed(name).items():
        assert has in ("numbers", "drawn", "texts"), where
        assert drawn or why, where
