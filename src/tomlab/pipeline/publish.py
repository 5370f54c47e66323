"""The last stage: executed notebooks, figures and tables as documents under `docs/`.

    python -m tomlab.pipeline.publish

Notebooks are kept as they are and as HTML pages of their own; links between them lead to the
executed copies. Only what `params.yaml` names is published.
"""

import re
import shutil
import sys
from functools import cache
from itertools import chain, product
from pathlib import Path
from string import Template

import nbformat
from nbconvert.exporters import HTMLExporter
from papermill.exceptions import PapermillExecutionError

from tomlab import params
from tomlab.errors import InputError
from tomlab.paths import DOCS, RESULTS, ROOT
from tomlab.pipeline import run_notebook

INDEX = "00_index.ipynb"
# What a reader of the web pages can use; PDF files stay in `results/`.
KINDS = {"figures": (".png", ".txt"), "tables": (".csv", ".tex", ".html")}
# From a source notebook up to `docs/`; the executed copies lie inside it.
_TO_STAGE = re.compile(r"\[([^\]]*)\]\((?:\.\./)?(\d_\w+/[\w-]+\.ipynb)\)")
_TO_DOCS = re.compile(r"\]\(((?:\.\./)+)docs/")
_PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))


def executed(benchmarks: list[str], models: list[str]) -> dict[str, list[str]]:
    """The executed notebooks of a run by their source, both relative to the notebooks' folders."""
    found = {}
    for b in benchmarks:
        for stage in ("1_generation", "2_filtering", "4_judge_calibration", "5_figures"):
            found[f"{stage}/{b}.ipynb"] = [f"{stage}/{b}.ipynb"]
        found[f"3_evaluation/{b}.ipynb"] = [f"3_evaluation/{b}-{m}.ipynb" for m in models]
    return found


def relink(text: str, copies: dict[str, list[str]], suffix: str = ".ipynb") -> str:
    """Links to source notebooks as links to the (first) executed copy with `suffix`, or as plain
    text where it was not run; links to documents as seen from inside `docs/`.
    """
    text = _TO_STAGE.sub(lambda link: link[0] if link[2] in copies else link[1], text)
    for source, names in copies.items():
        text = text.replace(f"{source})", f"{names[0].removesuffix('.ipynb')}{suffix})")
    text = text.replace(f"{INDEX})", f"{INDEX.removesuffix('.ipynb')}{suffix})")
    return _TO_DOCS.sub(r"](\1", text)


@cache
def _exporter() -> HTMLExporter:
    # One for all pages: each new one would compile its templates again.
    return HTMLExporter(template_name="basic", embed_images=True)


def page(notebook: nbformat.NotebookNode, title: str) -> str:
    """A notebook as one self-contained HTML page."""
    body = _exporter().from_notebook_node(notebook)[0]
    return _PAGE.substitute(title=title, body=body)


def publish_notebook(source: Path, target: Path, copies: dict[str, list[str]]) -> None:
    """Write one executed notebook to `target` and, beside it, as HTML."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for suffix in (".ipynb", ".html"):
        notebook = nbformat.read(source, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = relink(cell.source, copies, suffix)
        if suffix == ".ipynb":
            nbformat.write(notebook, target)
        else:
            title = f"tomlab: {target.stem}"
            target.with_suffix(suffix).write_text(page(notebook, title), encoding="utf-8")


def main() -> int:
    """Publish what `params.yaml` names; 1 with a message if something is missing."""
    try:
        run = params.load()["run"]
        run["benchmarks"] = list(run["benchmarks"])
        copies = executed(run["benchmarks"], run["models"])
        source, index = ROOT / "notebooks" / INDEX, RESULTS / "index" / INDEX
        run_notebook.run(source, index, {name: run[name] for name in ("benchmarks", "models")})
        publish_notebook(index, DOCS / "notebooks" / INDEX, copies)
        for name in chain.from_iterable(copies.values()):
            publish_notebook(RESULTS / "notebooks" / name, DOCS / "notebooks" / name, copies)
        for kind, benchmark in product(KINDS, run["benchmarks"]):
            target = DOCS / kind / benchmark
            target.mkdir(parents=True, exist_ok=True)
            for path in sorted((RESULTS / kind / benchmark).iterdir()):
                if path.suffix in KINDS[kind]:
                    shutil.copyfile(path, target / path.name)
    except (InputError, FileNotFoundError, PapermillExecutionError) as error:
        print(f"\npublish: {error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
