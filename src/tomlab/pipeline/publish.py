"""The last stage: the executed notebooks, figures and tables, and the book of them, under `docs/`.

    python -m tomlab.pipeline.publish

Only what `params.yaml` names is published, and nothing of a run before.
"""

import shutil
import signal
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4
from papermill.exceptions import PapermillExecutionError

from tomlab import params
from tomlab.errors import InputError, refuse
from tomlab.paths import DOCS, RESULTS, ROOT
from tomlab.pipeline import book, browser, run_notebook
from tomlab.pipeline.check_notebooks import declared

INDEX = "00_index.ipynb"  # the front page; other notebooks beside it are chapters of their own
BY_HAND = ("forms.ipynb",)  # needs somebody to press its buttons: shown as it is
STAGES = ("1_generation", "2_filtering", "3_evaluation", "4_judge_calibration", "5_figures")
KINDS = {"figures": (".png", ".pdf", ".csv", ".txt"), "tables": (".csv", ".tex", ".html")}
FRONT, BOOK = RESULTS / "index", RESULTS / "book"


def executed(benchmarks: list[str], models: list[str]) -> dict[str, list[str]]:
    """The executed notebooks of a run by their source, both relative to the notebooks' folders."""
    return {
        f"{stage}/{b}.ipynb": [f"{stage}/{b}-{m}.ipynb" for m in models]
        if stage == "3_evaluation"
        else [f"{stage}/{b}.ipynb"]
        for b, stage in product(benchmarks, STAGES)
    }


def execute(values: Mapping[str, Any]) -> list[Path]:
    """Run the notebooks beside the chapters, two at a time. Errors: `InputError` with what was
    wrong in any of them.
    """
    shutil.rmtree(FRONT, ignore_errors=True)
    pages = sorted((ROOT / "notebooks").glob("*.ipynb"))
    # Interrupted, each ends at once, and its kernel after it; else they would go on to the next.
    ends_at_once = {"initializer": signal.signal, "initargs": (signal.SIGINT, signal.SIG_DFL)}
    with ProcessPoolExecutor(2, **ends_at_once) as pool:
        faults = pool.map(partial(_execute, values=values), pages)
        refuse([fault for fault in faults if fault], "notebooks")
    return pages


def _execute(path: Path, values: Mapping[str, Any]) -> str:
    """Run one notebook; what was wrong with it, if anything."""
    try:
        if path.name in BY_HAND:
            _write(nbformat.read(path, as_version=4), FRONT / path.name)
        else:
            named = {name: values[name] for name in declared(path)}
            run_notebook.run(path, FRONT / path.name, named)
    except (InputError, PapermillExecutionError) as error:
        return f"{path.name}: {error}"
    return ""


def publish_notebooks(copies: dict[str, list[str]]) -> None:
    """The executed notebooks, linked among each other, into `docs/notebooks`."""
    pages = {f"notebooks/{name}": f"docs/notebooks/{names[0]}" for name, names in copies.items()}
    for source, name, path in _chapters(copies):
        notebook = nbformat.read(path, as_version=4)
        book.relinked(notebook, f"notebooks/{source}", f"docs/notebooks/{name}", pages)
        _write(notebook, DOCS / "notebooks" / name)


def publish_files(benchmarks: list[str]) -> None:
    """Figures and tables."""
    for kind, benchmark in product(KINDS, benchmarks):
        (target := DOCS / kind / benchmark).mkdir(parents=True)
        for path in sorted((RESULTS / kind / benchmark).iterdir()):
            if path.suffix in KINDS[kind]:
                shutil.copyfile(path, target / path.name)


def gather(copies: dict[str, list[str]], benchmarks: list[str]) -> Path:
    """What Sphinx makes the book of: `book/`, chapters, documents, and what notebooks wrote into
    the folder of the front page (Markdown as chapters, all else as it is).
    """
    folder = BOOK / "source"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "book", folder)
    as_it_is = shutil.ignore_patterns("*.md", "*.ipynb")
    shutil.copytree(FRONT, folder / "extra", ignore=as_it_is)
    documents, beside = (
        {path.relative_to(home).as_posix(): path for path in sorted(home.rglob("*.md"))}
        for home in (DOCS, FRONT)
    )
    pages = {f"docs/{name}": f"docs/book/{_page(name)}" for name in documents | beside}
    pages |= {f"notebooks/{name}": f"docs/book/{_page(names[0])}" for name, names in copies.items()}
    pages[f"notebooks/{INDEX}"] = "docs/book/index.html"

    for name, path in (documents | beside).items():
        (folder / name).parent.mkdir(exist_ok=True)
        text = path.read_text(encoding="utf-8")
        text = book.relink(text, f"docs/{name}", f"docs/book/{name}", pages)
        (folder / name).write_text(text, encoding="utf-8")
    across = [name for name in copies if "/" not in name and name != INDEX] + list(beside)
    parts: dict[str, list[str]] = {}
    for source, name, path in _chapters(copies):
        notebook = nbformat.read(path, as_version=4)
        book.relinked(notebook, f"notebooks/{source}", f"docs/book/{name}", pages)
        notebook = book.chapter(notebook, Path(name).stem.removeprefix(Path(source).stem)[1:])
        if "/" in source:
            of, shown = book.title(notebook)
            parts.setdefault(Path(source).stem, [of]).append(f"{shown} <{_page(name, '')}>")
        elif source == INDEX:
            names = {"At a glance": across, "The benchmarks": benchmarks, "Behind it": documents}
            contents = book.filled(folder / "contents.md", parts=names)
            notebook.cells.append(v4.new_markdown_cell(contents, id="contents"))
        _write(notebook, folder / ("index.ipynb" if source == INDEX else name))
    for benchmark, (name, *chapters) in parts.items():
        about, browse = folder / "parts" / f"{benchmark}.md", f"browse/{benchmark}.html"
        values = {"name": name, "chapters": chapters}
        values["about"] = about.read_text(encoding="utf-8") if about.exists() else ""
        values["browse"] = browse if (FRONT / browse).exists() else ""
        text = book.filled(folder / "part.md", **values)
        (folder / f"{benchmark}.md").write_text(text, encoding="utf-8")
    return folder


def _page(name: str, suffix: str = ".html") -> str:
    return Path(name).with_suffix(suffix).as_posix()


def _chapters(copies: dict[str, list[str]]) -> Iterator[tuple[str, str, Path]]:
    """Source, name and file of each executed notebook."""
    for source, names in copies.items():
        home = RESULTS / "notebooks" if "/" in source else FRONT
        yield from ((source, name, home / name) for name in names)


def _write(notebook: NotebookNode, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def main() -> int:
    """Publish what `params.yaml` names; 1 with a message if something is missing, 130 if
    stopped.
    """
    try:
        run = params.load()["run"]
        run["benchmarks"] = list(run["benchmarks"])
        copies = executed(run["benchmarks"], run["models"])
        values = {name: run[name] for name in ("benchmarks", "models")}
        front = execute(values)
        browser.write(FRONT / "browse", run["benchmarks"], run["models"])
        copies = {path.name: [path.name] for path in front} | copies
        for name in ("notebooks", *KINDS):
            shutil.rmtree(DOCS / name, ignore_errors=True)
        publish_notebooks(copies)
        publish_files(run["benchmarks"])
        book.build(gather(copies, run["benchmarks"]), BOOK / "build", DOCS / "book")
    except (InputError, FileNotFoundError) as error:
        print(f"\npublish: {error}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; `make book` begins it anew.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
