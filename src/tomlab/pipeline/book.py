"""The book: executed notebooks and other pages, gathered as Sphinx reads them, and built. What all
pages share (settings, style, contents, the pages of the parts) lies in `book/`.
"""

import posixpath
import re
import shutil
from collections.abc import Collection, Mapping
from copy import deepcopy
from html import escape
from pathlib import Path
from textwrap import shorten

from nbformat import NotebookNode, v4
from sphinx.cmd.build import build_main

from tomlab.errors import InputError

ALT = 250  # characters: a longer text is no help to those who hear it
# What stands before an address in Markdown or HTML, and the address.
_ADDRESS = re.compile(r'(\]\(|\b(?:href|src)=")([^)"\s]+)(?=[)"])')
# What Sphinx and the theme write and no page reads.
NEEDLESS = (".buildinfo", "objects.inv", "_sources", "locales", "*.map", "*-macros.html")
_PARAMETERS = {"parameters", "injected-parameters"}
# Sphinx's search takes tags out of HTML, which would make one word of two cells.
_ENDS = re.compile(r"(</(?:td|th|li|p|div|caption|summary)>)(?=<)")
_SET_UP = re.compile(r"^(?:from|import) ", re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_FIGURE = re.compile(r"figures/\w+/([\w-]+)\.png")


def relink(
    text: str, home: str, place: str, pages: Mapping[str, str], files: Collection[str] = ()
) -> str:
    """A text in Markdown or HTML, written for `home`, with its links as seen from `place`, both
    from the repository's root on.

    pages: what is published, and where; files: what else readers of `place` have. A link to
    anything else becomes its label, with the path behind it where a run makes that file.
    """
    edits = []
    for match in _ADDRESS.finditer(text):
        target = target_of(match[2], home)
        if target is None:
            continue
        if target in pages or target in files:
            _, mark, anchor = match[2].partition("#")
            folder = posixpath.dirname(place)
            address = posixpath.relpath(pages.get(target, target), folder) + mark + anchor
            edits.append((match.start(2), match.end(2), address))
        else:
            path = f" ({target})" if target.startswith("results/") else ""
            edits += _without_link(text, match, path)
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def targets(text: str, home: str) -> set[str]:
    """What a text links to, from the repository's root on."""
    found = {target_of(match[2], home) for match in _ADDRESS.finditer(text)}
    return found - {None}


def target_of(link: str, home: str) -> str | None:
    """Where a link of `home` leads, from the repository's root on; None for an address of the web
    or a place on the same page.
    """
    path = link.partition("#")[0]
    if not path or ":" in path:
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(home), path))


def _without_link(text: str, match: re.Match, behind: str) -> list[tuple[int, int, str]]:
    """The edits (start, end, replacement) that leave a link's label, with `behind` after it."""
    if match[1] == "](":
        start = _opening_bracket(text, match.start())
        is_picture = text[:start].endswith("!")
        before = (start - 1 if is_picture else start, start + 1, "")
        return [before, (match.start(), match.end() + 1, behind)]
    tag_start = text.rfind("<", 0, match.start())
    tag_end = text.find(">", match.end()) + 1
    closing = text.find("</a>", tag_end)
    if closing < 0 or not text.startswith("<a", tag_start):  # a picture
        return [(tag_start, tag_end, "")]
    return [(tag_start, tag_end, ""), (closing, closing + len("</a>"), behind)]


def _opening_bracket(text: str, closing: int) -> int:
    """The place of the `[` that the `]` at `closing` belongs to."""
    depth = 0
    for place in range(closing, -1, -1):
        if text[place] == "]":
            depth += 1
        elif text[place] == "[":
            depth -= 1
        if depth == 0:
            return place
    return closing


def chapter(notebook: NotebookNode, of: str = "") -> NotebookNode:
    """An executed notebook as the book shows it: without parameters and set-up, code folded, images
    described, an anchor such as `#figure3` above each figure; `of` stands behind its title.
    """
    cells = []
    for cell in notebook.cells:
        cells += _one_picture_each(cell)
    heading = ""
    shown = []
    for cell in cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "markdown":
            headings = _HEADING.findall(cell.source)
            if headings:
                heading = headings[-1]
            shown.append(cell)
        elif not tags & _PARAMETERS and (cell.outputs or not _SET_UP.search(cell.source)):
            cell.metadata["tags"] = sorted(tags | {"hide-input"})
            _describe_picture(cell, heading)
            shown += _anchors(cell)
            shown.append(cell)
    notebook.cells = shown
    if of:
        shown[0].source = _HEADING.sub(rf"\g<0> ({of})", shown[0].source, count=1)
    return notebook


def _describe_picture(cell: NotebookNode, heading: str) -> None:
    """Give the picture of a cell a text for those who cannot see it: its own, else the heading."""
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):
            text = output.metadata.get("image/png", {}).get("alt") or heading
            cell.metadata["mystnb"] = {"image": {"alt": shorten(text, ALT, placeholder=" …")}}
            return


def _anchors(cell: NotebookNode) -> list[NotebookNode]:
    """Cells with an anchor for each figure that a cell shows; its HTML gets its lines' ends."""
    html = ""
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/html" in data:
            data["text/html"] = _ENDS.sub("\\1\n", data["text/html"])
            html += data["text/html"]
    anchors = []
    for name in dict.fromkeys(_FIGURE.findall(html)):
        anchor = f'<span id="{name}" class="anchor"></span>'
        anchors.append(v4.new_markdown_cell(anchor, id=f"at-{name}"))
    return anchors


def _one_picture_each(cell: NotebookNode) -> list[NotebookNode]:
    """A cell as cells of one picture each: MyST-NB knows one text for all pictures of a cell."""
    groups = [[]]
    for output in cell.get("outputs", []):
        if _is_picture(output) and any(_is_picture(other) for other in groups[-1]):
            groups.append([])
        groups[-1].append(output)
    if len(groups) == 1:
        return [cell]
    first = deepcopy(cell)
    first.outputs = groups[0]
    parts = [first]
    for number, outputs in enumerate(groups[1:], 1):
        part = v4.new_code_cell(outputs=outputs, id=f"{cell.id}-{number}")
        part.metadata["tags"] = [*cell.metadata.get("tags", []), "remove-input"]
        parts.append(part)
    return parts


def _is_picture(output: NotebookNode) -> bool:
    return "image/png" in output.get("data", {})


def gallery(figures: Path) -> dict[str, str]:
    """The title of each figure in a folder by its name, those of the paper first."""
    texts = {p.name.partition(".")[0]: p.read_text("utf-8") for p in figures.glob("*.caption.txt")}
    order = sorted(texts, key=lambda name: (not name.startswith("figure"), name))
    return {name: escape(texts[name].strip().partition("\n\n")[0]) for name in order}


def build(source: Path, target: Path) -> None:
    """Build the pages of `source` as the new `target`. Errors: `InputError` where Sphinx warns."""
    html, notes = source.with_name("html"), source.with_name("doctrees")
    options = ["-q", "-j", "2", "-W", "--keep-going", "-b", "html", "-d", str(notes)]
    if build_main([*options, str(source), str(html)]):
        raise InputError(f"{source}: Sphinx found what it says above")
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(html, target, ignore=shutil.ignore_patterns(*NEEDLESS))
