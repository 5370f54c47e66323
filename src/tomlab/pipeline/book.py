"""Turns executed notebooks and other pages into what Sphinx reads, and builds the book (the
website) from them. Sphinx's settings, the style, the contents and the parts' pages lie in `book/`.
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

ALT = 250  # characters of an image's text; a longer one is of no help to those who hear it
# Links in Markdown and in HTML.
_LINKS = (
    re.compile(r"(?P<before>!?\[(?P<label>[^\]]*)\]\()(?P<address>[^)\s]+)(?P<after>\))"),
    re.compile(
        r'(?P<before><a\b[^>]*\bhref=")(?P<address>[^"]+)(?P<after>"[^>]*>(?P<label>.*?)</a>)',
        re.DOTALL,
    ),
)
# Files that Sphinx and the theme write, but no page needs.
NEEDLESS = (".buildinfo", "objects.inv", "_sources", "locales", "*.map", "*-macros.html")
_PARAMETERS = {"parameters", "injected-parameters"}
# Ends of cells, paragraphs and so on without a line break behind them. Sphinx's search drops tags,
# which would join the words on both sides.
_ENDS = re.compile(r"(</(?:td|th|li|p|div|caption|summary)>)(?=<)")
_SET_UP = re.compile(r"^(?:from|import) ", re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_FIGURE = re.compile(r"figures/\w+/([\w-]+)\.png")


def relink(
    text: str, home: str, page: str, pages: Mapping[str, str], files: Collection[str] = ()
) -> str:
    """A text in Markdown or HTML that was written for the file `home`, with its links changed to
    hold in the file `page`. All paths are relative to the repository's root.

    pages: the published path of each published file; files: other paths that readers of `page`
    have. A link to any other file becomes its label, followed by the path if it is in `results/`.
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
    """The paths, relative to the repository's root, that a text written for `home` links to."""
    targets = set()
    for pattern in _LINKS:
        for link in pattern.finditer(text):
            target = target_of(link["address"], home)
            if target is not None:
                targets.add(target)
    return targets


def target_of(link: str, home: str) -> str | None:
    """The path, relative to the repository's root, that a link in the file `home` leads to; None
    for a web address or a place on the same page.
    """
    path = link.partition("#")[0]
    if not path or ":" in path:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(home), path))


def chapter(notebook: NotebookNode, model: str = "") -> NotebookNode:
    """Change an executed notebook to what the book shows, and return it: the cells of parameters
    and imports are dropped, code is folded, images get a text, and each figure gets an anchor such
    as `#figure3` above it. model: if given, its name is added to the title, in brackets.
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
            for part in _parts(cell):
                anchors = _anchors(part, heading)
                cells += [anchor for anchor in anchors if anchor not in cells]
                cells.append(part)
    if model:
        cells[0].source = _HEADING.sub(rf"\g<0> ({model})", cells[0].source, count=1)
    notebook.cells = cells
    return notebook


def _parts(cell: NotebookNode) -> list[NotebookNode]:
    """The cell, without its second and further pictures, and for each of these a cell that does not
    show its code: Sphinx gives all pictures of a cell the same text.
    """
    parts = [cell]
    has_picture = False
    outputs = cell.outputs
    cell.outputs = []
    for output in outputs:
        if "image/png" in output.get("data", {}):
            if has_picture:
                part = v4.new_code_cell(cell.source, id=f"{cell.id}-{len(parts)}")
                part.metadata["tags"] = ["remove-input"]
                parts.append(part)
            has_picture = True
        parts[-1].outputs.append(output)
    return parts


def _anchors(cell: NotebookNode, heading: str) -> list[NotebookNode]:
    """New cells, one with an anchor for each figure that `cell` shows. In `cell` itself, a picture
    gets a text for those who cannot see it (its own, or else `heading`), and HTML gets line breaks.
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
    """The title (HTML) of each figure in a folder, by name, the paper's figures first."""
    titles = {}
    for path in figures.glob("*.caption.txt"):
        title = path.read_text(encoding="utf-8").strip().partition("\n\n")[0]
        titles[path.name.partition(".")[0]] = escape(title)
    order = sorted(titles, key=lambda name: (not name.startswith("figure"), name))
    return {name: titles[name] for name in order}


def build(source: Path, target: Path) -> None:
    """Build the book from the folder `source` and replace the folder `target` with it. Errors:
    `InputError` if Sphinx warns of anything.
    """
    html = source.with_name("html")
    doctrees = source.with_name("doctrees")
    options = ["-q", "-j", "2", "-W", "--keep-going", "-b", "html", "-d", str(doctrees)]
    if build_main([*options, str(source), str(html)]):
        raise InputError(f"{source}: Sphinx found what it says above")
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(html, target, ignore=shutil.ignore_patterns(*NEEDLESS))
