"""Publishing: links of executed notebooks, pages that stand alone, and what goes to `docs/`."""

import base64
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from tomlab.pipeline.publish import executed, page, relink

# One transparent pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
COPIES = executed(["bigtom"], ["smol", "random"])


def notebook(text: str, *outputs: NotebookNode) -> NotebookNode:
    """An executed notebook: one text, one code cell with its outputs."""
    cells = [v4.new_markdown_cell(text), v4.new_code_cell("show()", outputs=list(outputs))]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number:02d}"
    return v4.new_notebook(cells=cells)


def image() -> NotebookNode:
    data = {"image/png": base64.b64encode(PNG).decode(), "text/plain": "<Figure>"}
    return v4.new_output("display_data", data)


# Names and links


def test_each_stage_has_a_copy_and_evaluation_one_a_model():
    assert COPIES == {
        "1_generation/bigtom.ipynb": ["1_generation/bigtom.ipynb"],
        "2_filtering/bigtom.ipynb": ["2_filtering/bigtom.ipynb"],
        "3_evaluation/bigtom.ipynb": [
            "3_evaluation/bigtom-smol.ipynb",
            "3_evaluation/bigtom-random.ipynb",
        ],
        "4_judge_calibration/bigtom.ipynb": ["4_judge_calibration/bigtom.ipynb"],
        "5_figures/bigtom.ipynb": ["5_figures/bigtom.ipynb"],
    }


@pytest.mark.parametrize(
    ("link", "as_notebook", "as_page"),
    [
        (
            "[next benchmark](../1_generation/fantom.ipynb), [last](5_figures/omnitom.ipynb)",
            "next benchmark, last",
            "next benchmark, last",
        ),
        (
            "[next](../2_filtering/bigtom.ipynb)",
            "[next](../2_filtering/bigtom.ipynb)",
            "[next](../2_filtering/bigtom.html)",
        ),
        (
            "[asked](3_evaluation/bigtom.ipynb)",
            "[asked](3_evaluation/bigtom-smol.ipynb)",
            "[asked](3_evaluation/bigtom-smol.html)",
        ),
        ("[up](../00_index.ipynb)", "[up](../00_index.ipynb)", "[up](../00_index.html)"),
        (
            "[docs/data.md](../docs/data.md)",
            "[docs/data.md](../data.md)",
            "[docs/data.md](../data.md)",
        ),
        ("[data](../../docs/data.md)", "[data](../../data.md)", "[data](../../data.md)"),
        (
            "[a](https://x.org/docs/a.md)",
            "[a](https://x.org/docs/a.md)",
            "[a](https://x.org/docs/a.md)",
        ),
        ("`docs/metrics/bigtom.json`", "`docs/metrics/bigtom.json`", "`docs/metrics/bigtom.json`"),
    ],
    ids=[
        "not run",
        "copy",
        "first model",
        "index",
        "document",
        "document from a folder",
        "elsewhere",
        "text",
    ],
)
def test_links_lead_to_what_is_published(link, as_notebook, as_page):
    assert relink(f"See {link}.", COPIES) == f"See {as_notebook}."
    assert relink(f"See {link}.", COPIES, ".html") == f"See {as_page}."


def test_every_link_of_a_text_is_followed():
    text = "Before: [1](../1_generation/bigtom.ipynb) · Next: [3](../3_evaluation/bigtom.ipynb)"
    assert re.findall(r"\((.*?)\)", relink(text, COPIES, ".html")) == [
        "../1_generation/bigtom.html",
        "../3_evaluation/bigtom-smol.html",
    ]


# Pages


def test_page_stands_alone():
    html = page(notebook("# Who knows?\n\n| a | b |\n|---|---|\n| 1 | 2 |", image()), "tomlab: x")
    assert html.startswith("<!DOCTYPE html>")
    assert html.count("<html") == html.count("<body") == 1
    assert "<title>tomlab: x</title>" in html
    assert 'charset="utf-8"' in html
    assert base64.b64encode(PNG).decode() in html
    assert "<td>1</td>" in html
    assert re.findall(r"<(?:script|link|iframe)\b", html) == []
    sources = re.findall(r"""(?:src|url)\s*[=(]\s*["']?([^"')\s>]+)""", html)
    assert sources
    assert [source for source in sources if not source.startswith("data:image/")] == []


def test_page_of_the_same_notebook_is_the_same():
    source = notebook("# Who knows?", image())
    assert page(source, "x") == page(source, "x")


# The whole


INDEX = """\
import json
from tomlab import paths
print(benchmarks, models, paths.DOCS.name)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with an index notebook and what the stages wrote for one benchmark and two models."""
    source = notebook("# Index\n\n[ask](3_evaluation/bigtom.ipynb), [data](../docs/data.md)")
    source.cells[1].source = "benchmarks = []\nmodels = []"
    source.cells[1].metadata["tags"] = ["parameters"]
    source.cells.append(v4.new_code_cell(INDEX, id="cell-02"))
    files = {
        "params.yaml": b"run: {benchmarks: {bigtom: {}}, models: [smol, random], seed: 0}\n",
        "notebooks/00_index.ipynb": nbformat.writes(source).encode(),
        "docs/data.md": b"# Data\n",
        "results/figures/bigtom/figure3.png": PNG,
        "results/figures/bigtom/figure3.pdf": b"%PDF-1.4",
        "results/figures/bigtom/figure3.caption.txt": b"Accuracy.",
        "results/tables/bigtom/table7.csv": b"model,value\n",
        "results/tables/bigtom/table7.tex": b"% needs booktabs\n",
        "results/tables/bigtom/table7.html": b"<table></table>",
        "results/notebooks/3_evaluation/bigtom-gone.ipynb": b"of a model no longer named",
    }
    chapter = notebook("# Chapter\n\nNext: [3/4](../3_evaluation/bigtom.ipynb)", image())
    for name in (name for names in COPIES.values() for name in names):
        files[f"results/notebooks/{name}"] = nbformat.writes(chapter).encode()
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def publish(root: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "tomlab.pipeline.publish"],
        env={**os.environ, "TOMLAB_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_the_run_names_is_published_with_links_that_lead_somewhere(root):
    done = publish(root)
    assert done.returncode == 0, done.stderr
    docs = root / "docs"
    found = {str(path.relative_to(docs)) for path in docs.rglob("*") if path.is_file()}
    chapters = [f"notebooks/{name}" for names in COPIES.values() for name in names]
    chapters.append("notebooks/00_index.ipynb")
    assert found == {
        "data.md",
        *chapters,
        *(name.replace(".ipynb", ".html") for name in chapters),
        "figures/bigtom/figure3.png",
        "figures/bigtom/figure3.caption.txt",
        *(f"tables/bigtom/table7.{suffix}" for suffix in ("csv", "tex", "html")),
    }

    index = nbformat.read(docs / "notebooks/00_index.ipynb", as_version=4)
    assert index.cells[-1].outputs[0].text == "['bigtom'] ['smol', 'random'] docs\n"
    for chapter in chapters:
        text = nbformat.read(docs / chapter, as_version=4).cells[0].source
        links = re.findall(r"\]\((.*?)\)", text)
        links += re.findall(
            r'<a href="([^"#]+)"', (docs / chapter).with_suffix(".html").read_text(encoding="utf-8")
        )
        assert len(links) >= 2
        for link in links:
            assert ((docs / chapter).parent / link).is_file(), link


def test_copy_that_is_missing_is_named(root):
    (root / "results/notebooks/3_evaluation/bigtom-random.ipynb").unlink()
    done = publish(root)
    assert done.returncode == 1
    assert "bigtom-random.ipynb" in done.stderr
    assert "Traceback" not in done.stderr


def test_fault_in_the_index_is_told_and_nothing_is_published(root):
    path = root / "notebooks/00_index.ipynb"
    source = nbformat.read(path, as_version=4)
    source.cells[-1].source = "1 / 0"
    nbformat.write(source, path)
    done = publish(root)
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert not (root / "docs/notebooks").exists()
