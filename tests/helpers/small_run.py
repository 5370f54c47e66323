"""A folder with what the stages write for one benchmark and two models, small enough to be a book."""

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import nbformat
import pandas as pd
from nbformat import NotebookNode, v4

from bigtom_templates import MEI
from replies import of_baseline
from tomlab.benchmarks import bigtom
from tomlab.paths import ROOT
from tomlab.pipeline.publish import executed
from tomlab.records import tidy

COPIES = executed(["bigtom"], ["smol", "random"])
# Whatever the repository's own run has beside its chapters.
COPIES = {name: copies for name, copies in COPIES.items() if name.endswith("/bigtom.ipynb")}
# One transparent pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
TABLE = """\
<table><caption>Both right, by method</caption>
<thead><tr><th>Model</th><th>Condition</th><th>Source</th></tr></thead>
<tbody><tr><td>gpt-4</td><td>TB ∧ FB</td><td>paper</td></tr>
<tr><td>smol</td><td>TB ∧ FB</td><td class="run">this run</td></tr></tbody></table>
"""
CODE = """\
import json
from tomlab import paths
(paths.RESULTS / "index" / "findings.json").write_text(json.dumps({"bigtom": "Half is found."}))
print(benchmarks, models, paths.DOCS.name)
"""


def notebook(text: str, *outputs: NotebookNode) -> NotebookNode:
    """An executed notebook: one text, one code cell with its outputs."""
    cells = [v4.new_markdown_cell(text), v4.new_code_cell("show()", outputs=list(outputs))]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number:02d}"
    language = {"name": "python", "pygments_lexer": "ipython3"}
    return v4.new_notebook(cells=cells, metadata={"language_info": language})


def display(kind: str, content: str) -> NotebookNode:
    return v4.new_output("display_data", {kind: content})


def image(**metadata) -> NotebookNode:
    data = {"image/png": base64.b64encode(PNG).decode(), "text/plain": "<Figure>"}
    return v4.new_output("display_data", data, metadata={"image/png": metadata})


def write(root: Path) -> Path:
    """The run's files in `root`."""
    index = notebook(
        "# Who knows what?\n\n[ask](3_evaluation/bigtom.ipynb), [data](../docs/data.md), "
        "[card](../results/book/cards/smol.html)"
    )
    index.cells[1].source = "benchmarks = []\nmodels = []"
    index.cells[1].metadata["tags"] = ["parameters"]
    index.cells.append(v4.new_code_cell(CODE, id="cell-02"))
    card = notebook("# Report card\n\n[up](00_index.ipynb)")
    card.cells[1] = v4.new_code_cell("model = ''", metadata={"tags": ["parameters"]}, id="cell-01")
    card.cells.append(v4.new_code_cell("print(model)", id="cell-02"))
    across = notebook("# Drawn where?\n\n[up](00_index.ipynb), [3](3_evaluation/bigtom.ipynb)")
    across.cells[1] = index.cells[1]
    chapter = notebook(
        "# BigToM 1/5: who knows?\n\nNext: [asked](../3_evaluation/bigtom.ipynb)",
        image(alt="Accuracy of two models."),
        display("text/html", '<p><a href="../../figures/bigtom/figure3.png">PNG</a></p>'),
        display("text/html", '<p><a href="../../judges/bigtom/by_kind.png">PNG</a></p>'),
        display("text/html", TABLE),
    )
    files = {
        "params.yaml": b"run: {benchmarks: {bigtom: {}, fantom: {}}, models: [smol, random], seed: 0}\n",
        "notebooks/00_index.ipynb": nbformat.writes(index).encode(),
        "notebooks/01_drawn.ipynb": nbformat.writes(across).encode(),
        "notebooks/card.ipynb": nbformat.writes(card).encode(),
        "docs/data.md": b"# Data\n\n[The parameters](../params.yaml), [forms](../forms).\n",
        "README.md": b"![dots](docs/figures/bigtom/figure3.png)",
        "results/figures/bigtom/figure3.png": PNG,
        "results/figures/bigtom/figure3.pdf": b"%PDF-1.4",
        "results/figures/bigtom/figure3.caption.txt": b"Accuracy.",
        "results/judges/bigtom/by_kind.png": PNG,
        "results/tables/bigtom/table7.csv": b"model,value\n",
        "results/tables/bigtom/table7.tex": b"% needs booktabs\n",
        "results/tables/bigtom/table7.html": b"<table></table>",
        "results/notebooks/3_evaluation/bigtom-gone.ipynb": b"of a model no longer named",
        "docs/notebooks/3_evaluation/bigtom-gone.ipynb": b"of a model no longer named",
    }
    for name in (name for names in COPIES.values() for name in names):
        files[f"results/notebooks/{name}"] = nbformat.writes(chapter).encode()
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    shutil.copytree(ROOT / "book", root / "book")
    write_tables(root / "results")
    return root


def write_tables(results: Path) -> None:
    """Items of one template, and what both models answered."""
    items = bigtom.compose(pd.DataFrame([MEI]))
    tidy.write(items, "items", results / "items" / "bigtom.parquet")
    for model in ("smol", "random"):
        responses = of_baseline(bigtom, items, "random").assign(model=model)
        for kind, table in {
            "responses": responses,
            "scores": bigtom.score(items, responses),
        }.items():
            folder = results / kind / "bigtom"
            if model == "random":
                folder = results / "baselines" / "bigtom" / kind
            tidy.write(table, kind, folder / f"{model}.parquet")


def publish(root: Path, **environment: str) -> subprocess.CompletedProcess:
    process = publishing(root, environment)
    out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def publishing(root: Path, environment: Mapping[str, str] | None = None, **options: Any) -> Popen:
    """The command under way."""
    command = [sys.executable, "-m", "tomlab.pipeline.publish"]
    env = {**os.environ, "TOMLAB_ROOT": str(root), **(environment or {})}
    return Popen(command, env=env, stdout=PIPE, stderr=PIPE, text=True, **options)
