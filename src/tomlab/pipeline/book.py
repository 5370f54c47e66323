"""The book: executed notebooks and other pages, gathered as Sphinx reads them, and built. What all
pages share (settings, style, contents, the pages of the parts) lies in `book/`.
"""

import posixpath
import re
import shutil
from collections.abc import Collection, Mapping
from html import escape
from pathlib import Path
from textwrap import shorten

from nbformat import NotebookNode, v4
from sphinx.cmd.build import build_main

from tomlab.errors import InputError

ALT = 250  # characters: a longer text is no help to those who hear it
# Links in Markdown and in HTML.
_LINKS = (
    re.compile(r"(?P<before>!?\[(?P<label>[^\]]*)\]\()(?P<address>[^)\s]+)(?P<after>\))"),
    re.compile(
        r'(?P<before><a\b[^>]*\bhref=")(?P<address>[^"]+)(?P<after>"[^>]*>(?P<label>.*?)</a>)',
        re.DOTALL,
    ),
)
# What Sphinx and the theme write and no page reads.
NEEDLESS = (".buildinfo", "objects.inv", "_sources", "locales", "*.map", "*-macros.html")
_PARAMETERS = {"parameters", "injected-parameters"}
# Sphinx's search takes tags out of HTML, which would make one word of two cells.
_ENDS = re.compile(r"(</(?:td|th|li|p|div|caption|summary)>)(?=<)")
_SET_UP = re.compile(r"^(?:from|import) ", re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_FIGURE = re.compile(r"figures/\w+/([\w-]+)\.png")


def relink(
    text: str, home: str, page: str, pages: Mapping[str, str], files: Collection[str] = ()
) -> str:
    """A text in Markdown or HTML, written for `home`, with its links as seen from `page`, both
    from the repository's root on.

    pages: what is published, and where; files: what else readers of `page` have. A link to
    anything else becomes its label, with the path behind it where a run makes that file.
    """

    def moved(link: re.Match) -> str:
        target = target_of(link["address"], home)
        if target is None:
            return link[0]
        if target in pages or target in files:
            _, mark, anchor = link["address"].partition("#")
            folder = posixpath.dirname(page)
            address = posixpath.relpath(pages.get(target, target), folder) + mark + anchor
            return link["before"] + address + link["after"]
        if target.startswith("results/"):
            return f"{link['label']} ({target})"
        return link["label"]

    for pattern in _LINKS:
        text = pattern.sub(moved, text)
    return text


def targets(text: str, home: str) -> set[str]:
    """What a text links to, from the repository's root on."""
    targets = set()
    for pattern in _LINKS:
        for link in pattern.finditer(text):
            target = target_of(link["address"], home)
            if target is not None:
                targets.add(target)
    return targets


def target_of(link: str, home: str) -> str | None:
    """Where a link of `home` leads, from the repository's root on; None for an address of the web
    or a place on the same page.
    """
    path = link.partition("#")[0]
    if not path or ":" in path:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(home), path))


def chapter(notebook: NotebookNode, model: str = "") -> NotebookNode:
    """An executed notebook as the book shows it: without parameters and set-up, code folded, images
    described, an anchor such as `#figure3` above each figure; `model` stands behind its title.
    """
    heading = ""
    cells = []
    for cell in notebook.cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "markdown":
            headings = _HEADING.findall(cell.source)
            if headings:
                heading = headings[-1]
            cells.append(cell)
        elif not tags & _PARAMETERS and (cell.outputs or not _SET_UP.search(cell.source)):
            cell.metadata["tags"] = sorted(tags | {"hide-input"})
            cells += _anchors(cell, heading)
            cells.append(cell)
    if model:
        cells[0].source = _HEADING.sub(rf"\g<0> ({model})", cells[0].source, count=1)
    notebook.cells = cells
    return notebook


def _anchors(cell: NotebookNode, heading: str) -> list[NotebookNode]:
    """Cells with an anchor for each figure that a cell shows. Its picture gets a text for those who
    cannot see it, its own or else the heading; its HTML gets its lines' ends.
    """
    html = ""
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            text = output.metadata.get("image/png", {}).get("alt") or heading
            cell.metadata["mystnb"] = {"image": {"alt": shorten(text, ALT, placeholder=" …")}}
        if "text/html" in data:
            data["text/html"] = _ENDS.sub("\\1\n", data["text/html"])
            html += data["text/html"]
    anchors = []
    for name in dict.fromkeys(_FIGURE.findall(html)):
        anchor = f'<span id="{name}" class="anchor"></span>'
        anchors.append(v4.new_markdown_cell(anchor, id=f"at-{name}"))
    return anchors


def gallery(figures: Path) -> dict[str, str]:
    """The title of each figure in a folder by its name, those of the paper first."""
    titles = {}
    for path in figures.glob("*.caption.txt"):
        title = path.read_text(encoding="utf-8").strip().partition("\n\n")[0]
        titles[path.name.partition(".")[0]] = escape(title)
    order = sorted(titles, key=lambda name: (not name.startswith("figure"), name))
    return {name: titles[name] for name in order}


def build(source: Path, target: Path) -> None:
    """Build the pages of `source` as the new `target`. Errors: `InputError` where Sphinx warns."""
    html = source.with_name("html")
    doctrees = source.with_name("doctrees")
    options = ["-q", "-j", "2", "-W", "--keep-going", "-b", "html", "-d", str(doctrees)]
    if build_main([*options, str(source), str(html)]):
        raise InputError(f"{source}: Sphinx found what it says above")
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(html, target, ignore=shutil.ignore_patterns(*NEEDLESS))
