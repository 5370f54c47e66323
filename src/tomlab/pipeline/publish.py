"""The last stage: writes the book to `results/book`, what the results hold to
`results/ro-crate-metadata.json`, and to `docs/` the few results kept in git.

    python -m tomlab.pipeline.publish

Git keeps the executed notebooks, the tables as CSV, and the figures that README and `docs/*.md`
show. Only the benchmarks and models in `params.yaml` are published, and nothing of an earlier run.
"""

import json
import re
import shutil
import signal
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path

import nbformat
from jinja2 import Environment, FileSystemLoader
from nbformat import NotebookNode, v4
from rocrate.rocrate import ROCrate

from tomlab import params
from tomlab.errors import InputError
from tomlab.paths import DOCS, RESULTS, ROOT, writable
from tomlab.pipeline import book, browser, run_notebook, versions
from tomlab.pipeline.settings import EVALUATION, FRESH, STAGES
from tomlab.reporting import tables

INDEX = "00_index.ipynb"  # the front page; other notebooks beside it are chapters of their own
CARD = "card.ipynb"  # a model's report card; executed once for each model that is no baseline
BY_HAND = ("forms.ipynb",)  # not executed here, as somebody must press its buttons
FRONT = RESULTS / "index"
BOOK = RESULTS / "book"
# Where the notebooks that `execute` runs save their figures.
FOLDERS = ("cards", "knowing", "likelihood", "real_models")
FIGURE_FOLDERS = [RESULTS / "figures" / folder for folder in FOLDERS]
NOT_IN_GIT = ("results", "data", ".responses")
CONTENTS = {
    "baselines": "Answers, scores and metrics of the baselines, and what shallow readers choose",
    "book": "The pages that show the run; index.html is the front page",
    "figures": "Figures (PNG, PDF), each with its caption and the numbers drawn (CSV)",
    "items": "The questions, each with its right answer and who wrote it",
    "judges": "How often each judge is right",
    "metrics": "The metrics of each model, with 95 % intervals",
    "notebooks": "The executed notebooks of the stages",
    "raw": "What the items were made from",
    "responses": "What each model was asked and answered",
    "scores": "The verdict on each answer",
    "settings": "The values of params.yaml that each stage read",
    "tables": "Tables (CSV, HTML, LaTeX)",
}
SHOWN = re.compile(r"figures/(\w+/[\w-]+\.png)")  # a figure that a document shows


def executed(benchmarks: list[str], models: list[str]) -> dict[str, list[str]]:
    """The names of the executed copies (one for each model in the evaluation) of each notebook of a
    run, by the notebook's name, such as `3_evaluation/bigtom.ipynb`. Names are relative to
    `results/notebooks` and `notebooks`.
    """
    copies = {}
    for benchmark in benchmarks:
        for stage in STAGES:
            name = f"{stage}/{benchmark}.ipynb"
            copies[name] = [name]
        asked = [f"{EVALUATION}/{benchmark}-{model}.ipynb" for model in models]
        copies[f"{EVALUATION}/{benchmark}.ipynb"] = asked
    for path in sorted((RESULTS / "notebooks" / FRESH).glob("*.ipynb")):
        copies[f"{FRESH}/{path.name}"] = [f"{FRESH}/{path.name}"]
    return copies


def with_results(benchmarks: Iterable[str]) -> list[str]:
    """Those of the benchmarks whose last notebook, the figures, has been executed. Prints which are
    left out. Errors: `InputError` if all are.
    """
    last = RESULTS / "notebooks" / [*STAGES][-1]
    finished = [name for name in benchmarks if (last / f"{name}.ipynb").is_file()]
    missing = ", ".join(name for name in benchmarks if name not in finished)
    if not finished:
        raise InputError(f"found no results of {missing}; `make figures` makes them")
    if missing:
        left_out = f"The book leaves out {missing}, which have no results here."
        print(f"{left_out} `make figures` makes them.", file=sys.stderr)
    return finished


def execute(benchmarks: list[str], models: list[str]) -> dict[str, list[str]]:
    """Write the answers browser, and run the notebooks that lie directly in `notebooks/`. Returns
    the names of the executed copies of each, as `executed` does.
    """
    for earlier in (FRONT, *FIGURE_FOLDERS):
        shutil.rmtree(earlier, ignore_errors=True)
    FRONT.mkdir(parents=True)
    notebooks = ROOT / "notebooks"
    card = notebooks / CARD
    # The last chapter takes longest, so it is started first.
    chapters = sorted(notebooks.glob("*.ipynb"), reverse=True)
    chapters = [chapter for chapter in chapters if chapter.name not in (CARD, INDEX)]
    tested = [model for model in models if model not in params.BASELINES]
    run = partial(_execute, benchmarks=benchmarks, models=models)
    # On Ctrl-C each worker ends at once, and then its kernel; otherwise they would keep running.
    end_at_once = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with ProcessPoolExecutor(2, initializer=end_at_once) as pool:
        browse = pool.submit(browser.write, FRONT / "browse", benchmarks, models)
        cards = [pool.submit(run, card, model) for model in tested if card.exists()]
        names = [INDEX, *pool.map(run, chapters)]
        copies = {name: [name] for name in sorted(names)}
        if cards:
            copies[CARD] = [job.result() for job in cards]
        # The front page shows figures of chapters and cards. It runs in a worker, too: running a
        # notebook changes environment variables of its process.
        pool.submit(run, notebooks / INDEX).result()
        browse.result()
    return copies


def _execute(path: Path, model: str = "", **values: list[str]) -> str:
    """Run a notebook with those of `values` that it declares, or copy it if it is one of `BY_HAND`.
    model: the model if the notebook is its report card. Returns the name of the executed copy.
    Errors: `InputError` that names the notebook.
    """
    copy = f"cards/{model}.ipynb" if model else path.name
    if path.name in BY_HAND:
        shutil.copyfile(path, FRONT / copy)
        return copy
    available = {"model": model, **values}
    try:
        parameters = {name: available[name] for name in run_notebook.declared(path)}
        run_notebook.run(path, writable(FRONT / copy), parameters)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None
    return copy


def commit(copies: dict[str, list[str]], benchmarks: list[str]) -> None:
    """Write what git keeps to `docs/`: executed notebooks, with links that hold there, tables, and
    the figures that documents show.
    """
    for kind in ("notebooks", "figures", "tables"):
        shutil.rmtree(DOCS / kind, ignore_errors=True)
        (DOCS / kind).mkdir(parents=True)
    pages = {f"notebooks/{name}": f"docs/notebooks/{names[0]}" for name, names in copies.items()}
    documents = [*ROOT.glob("README.md"), *DOCS.glob("*.md")]
    texts = "".join(path.read_text(encoding="utf-8") for path in documents)
    copied = [RESULTS / "figures" / name for name in SHOWN.findall(texts)]
    for benchmark in benchmarks:
        # In git, links to a benchmark's page of the book lead to its last notebook instead.
        last = f"docs/notebooks/5_figures/{benchmark}.ipynb"
        pages[f"results/book/{benchmark}.html"] = last
        copied += (RESULTS / "tables" / benchmark).glob("*.csv")
    for name in copies.get(CARD, []):
        pages[f"results/book/{_page(name)}.html"] = f"docs/notebooks/{name}"
    for path in copied:
        if path.is_file():
            target = DOCS / path.relative_to(RESULTS)
            shutil.copyfile(path, writable(target))
            pages[_from_root(path)] = _from_root(target)
    chapters = list(_chapters(copies))
    files = {target for target in _targets(chapters) if _is_in_git(target)}
    for source, name, notebook in chapters:
        _relink(notebook, source, f"docs/notebooks/{name}", pages, files)
        _drop_plain_copies(notebook)
        nbformat.write(notebook, writable(DOCS / "notebooks" / name))


def _drop_plain_copies(notebook: NotebookNode) -> None:
    """Drop the plain text of tables and pictures: viewers show the table or the picture."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if len(data) > 1:
                data.pop("text/plain", None)


def _from_root(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _is_in_git(target: str) -> bool:
    """Whether a path, relative to the root, exists in a folder that git holds."""
    return target.split("/")[0] not in NOT_IN_GIT and (ROOT / target).exists()


def gather(copies: dict[str, list[str]], benchmarks: list[str]) -> Path:
    """Write the folder that Sphinx makes the book from, and return its path. It has `book/`, the
    executed notebooks, the documents, the answers browser, and copies of all files that these link
    to, so that the book works elsewhere too.
    """
    folder = FRONT / "sphinx" / "source"
    shutil.copytree(ROOT / "book", folder)
    shutil.copytree(FRONT / "browse", folder / "extra" / "browse")
    figures = _figure_folders(benchmarks)
    for path in figures:
        shutil.copytree(path, folder / "extra" / "figures" / path.name)
    documents = {}
    for path in sorted(DOCS.rglob("*.md")):
        documents[path.relative_to(DOCS).as_posix()] = path.read_text(encoding="utf-8")
    chapters = list(_chapters(copies))
    pages = _pages_of_the_book(copies, benchmarks, list(documents), figures)
    linked = _targets(chapters)
    for name, text in documents.items():
        linked |= book.targets(text, f"docs/{name}")
    pages |= _copies_of_linked(linked - pages.keys(), folder / "extra" / "files")
    for name, text in documents.items():
        text = book.relink(text, f"docs/{name}", f"results/book/{name}", pages)
        writable(folder / name).write_text(text, encoding="utf-8")
    for source, name, notebook in chapters:
        _relink(notebook, source, f"results/book/{name}", pages)
    templates = Environment(loader=FileSystemLoader(folder), trim_blocks=True)
    templates.globals["figures"] = {path.name: book.gallery(path) for path in figures}
    # The contents list only pages that belong to no single benchmark.
    names = [name for name in (*documents, *copies) if not name.startswith((*STAGES, CARD))]
    templates.globals["there"] = [_page(name) for name in names]
    templates.globals["cards"] = [_page(name) for name in copies.get(CARD, [])]
    templates.globals["names"] = _titles(benchmarks)
    _write_chapters(chapters, folder, templates)
    _write_overviews(copies, benchmarks, folder, templates)
    return folder


def _copies_of_linked(targets: Collection[str], folder: Path) -> dict[str, str]:
    """Copy those of the paths `targets` that are files to `folder`. Returns the path of each copy
    in the book, by the original's path.
    """
    pages = {}
    for target in targets:
        if (ROOT / target).is_file():
            shutil.copyfile(ROOT / target, writable(folder / target))
            pages[target] = f"results/book/files/{target}"
    return pages


def _titles(benchmarks: list[str]) -> dict[str, str]:
    """The names of benchmarks as their papers write them, by our names."""
    titles = {}
    for benchmark in benchmarks:
        titles[benchmark] = import_module(f"tomlab.benchmarks.{benchmark}").WORDING.name
    return titles


def _figure_folders(benchmarks: list[str]) -> list[Path]:
    folders = [RESULTS / "figures" / benchmark for benchmark in benchmarks]
    folders += [folder for folder in FIGURE_FOLDERS if folder.is_dir()]
    return folders + sorted((RESULTS / "figures").glob("fresh_*"))


def _pages_of_the_book(
    copies: dict[str, list[str]],
    benchmarks: list[str],
    documents: list[str],
    figures: list[Path],
) -> dict[str, str]:
    """The path at which the book shows each file, by the file's own path. Both are relative to the
    repository's root.
    """
    pages = {}
    for folder in figures:
        for file in folder.iterdir():
            pages[_from_root(file)] = f"results/book/figures/{folder.name}/{file.name}"
    in_place = [f"results/book/browse/{path.name}" for path in (FRONT / "browse").iterdir()]
    own_pages = [*benchmarks, *map(_page, copies.get(CARD, []))]
    in_place += [f"results/book/{page}.html" for page in own_pages]
    pages |= {page: page for page in in_place}
    pages |= {f"docs/{name}": f"results/book/{_page(name)}.html" for name in documents}
    for source, names in copies.items():
        pages[f"notebooks/{source}"] = f"results/book/{_page(names[0])}.html"
    pages[f"notebooks/{INDEX}"] = "results/book/index.html"
    return pages


def _write_chapters(
    chapters: list[tuple[str, str, NotebookNode]], folder: Path, templates: Environment
) -> None:
    """Write the executed notebooks to `folder` as the book shows them. The front page gets the
    table of contents at its end.
    """
    for source, name, notebook in chapters:
        model = Path(name).stem.removeprefix(Path(source).stem).removeprefix("-")
        notebook = book.chapter(notebook, tables.name(model, "model"))
        path = folder / name
        if source == INDEX:
            contents = templates.get_template("contents.md").render()
            notebook.cells.append(v4.new_markdown_cell(contents, id="contents"))
            path = folder / "index.ipynb"
        nbformat.write(notebook, writable(path))


def _write_overviews(
    copies: dict[str, list[str]], benchmarks: list[str], folder: Path, templates: Environment
) -> None:
    """Write the gallery of figures, and a page for each benchmark with its chapters."""
    gallery = templates.get_template("gallery.md").render()
    (folder / "gallery.md").write_text(gallery, encoding="utf-8")
    findings = json.loads((FRONT / "findings.json").read_text(encoding="utf-8"))
    for benchmark in benchmarks:
        chapters = []
        for source, names in copies.items():
            if Path(source).stem == benchmark:
                chapters += [_page(name) for name in names]
        text = templates.get_template("part.md").render(
            benchmark=benchmark, chapters=chapters, finding=findings.get(benchmark)
        )
        (folder / f"{benchmark}.md").write_text(text, encoding="utf-8")


def describe(results: Path) -> None:
    """Write `ro-crate-metadata.json`, which tells archives what each folder of `results` holds:
    https://w3id.org/ro/crate
    """
    crate = ROCrate()
    crate.name = "A run of tomlab"
    crate.description = "Theory-of-mind benchmarks of language models: items, answers, scores, book"
    crate.license = "Our items: MIT. Released items and answers: as their authors and vendors say."
    for name, contents in CONTENTS.items():
        if (results / name).is_dir():
            crate.add_directory(dest_path=name, properties={"name": name, "description": contents})
    crate.metadata.write(results)


def _page(name: str) -> str:
    return Path(name).with_suffix("").as_posix()


def _chapters(copies: dict[str, list[str]]) -> Iterator[tuple[str, str, NotebookNode]]:
    """The source's name, the copy's name and the content of each executed notebook."""
    for source, names in copies.items():
        for name in names:
            path = (RESULTS / "notebooks" if "/" in source else FRONT) / name
            yield source, name, run_notebook.read_notebook(path)


def texts_with_links(
    notebook: NotebookNode, source: str
) -> Iterator[tuple[NotebookNode, str, str]]:
    """The texts of an executed notebook that may have links. Yields for each the part of the
    notebook and the field in it that hold the text, and the path for which the text was written.
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield cell, "source", f"notebooks/{source}"
        # Links in outputs start from the executed copy under `results/`.
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for kind in sorted(data.keys() & {"text/markdown", "text/html"}):
                yield data, kind, f"results/notebooks/{source}"


def _targets(chapters: Iterable[tuple[str, str, NotebookNode]]) -> set[str]:
    """The paths, relative to the repository's root, that executed notebooks link to."""
    linked = set()
    for source, _, notebook in chapters:
        for part, field, home in texts_with_links(notebook, source):
            linked |= book.targets(part[field], home)
    return linked


def _relink(
    notebook: NotebookNode,
    source: str,
    page: str,
    pages: Mapping[str, str],
    files: Collection[str] = (),
) -> None:
    """Change an executed notebook's links so that they hold in `page`, see `book.relink`."""
    for part, field, home in texts_with_links(notebook, source):
        part[field] = book.relink(part[field], home, page, pages, files)


def main() -> int:
    """Publish the run of `params.yaml`. Returns the exit code: 0; 1 if something is missing, with a
    message; 130 on Ctrl-C.
    """
    try:
        run = params.load()["run"]
        benchmarks = with_results(run["benchmarks"])
        pages = execute(benchmarks, params.with_baselines(run["models"]))
        copies = pages | executed(benchmarks, run["models"])
        commit(copies, benchmarks)
        book.build(gather(copies, benchmarks), BOOK)
        versions.write()
        describe(RESULTS)
    except (InputError, FileNotFoundError) as error:
        print(f"\npublish: {error}\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; `make book` begins it anew.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
