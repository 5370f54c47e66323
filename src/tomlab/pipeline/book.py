"""The book: executed notebooks and other pages, gathered as Sphinx reads them, and built.

What all pages share (settings, style, contents, the pages of the parts) lies in `book/`.
"""

import posixpath
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Template
from nbformat import NotebookNode
from sphinx.cmd.build import build_main

from tomlab.errors import InputError

ALT = 250  # characters: a longer text is no help to who hears it
# [text](address) or ![text](address), the text with brackets in brackets; an address in HTML.
_TEXT = r"(?:[^][]|\[(?:[^][]|\[[^][]*\])*\])*"
_LINK = re.compile(rf"(!?)\[({_TEXT})\]\(([^)\s]+)\)")
_ADDRESS = re.compile(r'\b(href|src)="([^"]+)"')
# What Sphinx and the theme write and no page reads.
NEEDLESS = (".buildinfo", "objects.inv", "_sources", "locales", "*.map", "*-macros.html")
_PARAMETERS = {"parameters", "injected-parameters"}
# Sphinx's search takes tags out of HTML, which would make one word of two cells.
_ENDS = re.compile(r"(</(?:td|th|li|p|div|caption|summary)>)(?=<)")
_SET_UP = re.compile(r"^(?:from|import) ", re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
# "Sec. 4" and "vs. people" end no sentence.
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_MARKUP = re.compile(r"[*`_]|<[^>]*>|\]\([^)]*\)|!?\[")


# ---- Links ---------------------------------------------------------------------------------------


def moved(link: str, home: str, place: str, pages: Mapping[str, str]) -> str | None:
    """A link in a text for `home`, as seen from `place`; None if to a notebook that was not run.

    pages: what is published, and where; figures and tables of `results/` are under `docs/`. All
    paths are from the repository's root on.
    """
    path, mark, anchor = link.partition("#")
    if not path or ":" in path:
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(home), path))
    target = target.removeprefix("results/")
    if target.startswith(("figures/", "tables/")):
        target = f"docs/{target}"
    target = pages.get(target, target)
    if target.startswith("notebooks/"):
        return None
    return posixpath.relpath(target, posixpath.dirname(place)) + mark + anchor


def relink(text: str, home: str, place: str, pages: Mapping[str, str]) -> str:
    """A text in Markdown or HTML with its links `moved`; what leads nowhere is plain text.

    Images become HTML, for whatever renders the text to leave their addresses alone.
    """

    def markdown(found: re.Match) -> str:
        image, shown, link = found.groups()
        seen = moved(link, home, place, pages)
        if seen is None:
            return shown
        return f'<img src="{seen}" alt="{shown}">' if image else f"[{shown}]({seen})"

    def attribute(found: re.Match) -> str:
        return f'{found[1]}="{moved(found[2], home, place, pages) or found[2]}"'

    return _LINK.sub(markdown, _ADDRESS.sub(attribute, text))


def relinked(
    notebook: NotebookNode, home: str, place: str, pages: Mapping[str, str]
) -> NotebookNode:
    """The notebook with `relink` done in its texts; what its cells display was written by an
    executed copy, so that its links lead from there.
    """
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = relink(cell.source, home, place, pages)
        for output in cell.get("outputs", []):
            shown = output.get("data", {})
            for kind in shown.keys() & {"text/markdown", "text/html"}:
                shown[kind] = relink(shown[kind], f"results/{home}", place, pages)
    return notebook


# ---- Chapters ------------------------------------------------------------------------------------


def alt_text(outputs: Iterable[NotebookNode], heading: str) -> str | None:
    """What the image among a cell's outputs shows: what came with it, or else the beginning of its
    caption, or the heading above it; None without an image.
    """
    images = [output for output in outputs if "image/png" in output.get("data", {})]
    if not images:
        return None
    own = images[0].metadata.get("image/png", {}).get("alt", "")
    shown = [output.get("data", {}) for output in outputs]
    captions = [data["text/markdown"] for data in shown if "text/markdown" in data]
    text = " ".join(_MARKUP.sub("", next(filter(None, [own, *captions, heading]))).split())
    told, *rest = _SENTENCE_END.split(text)
    for sentence in rest:
        if len(told) + len(sentence) >= ALT:
            break
        told += f" {sentence}"
    return told


def chapter(notebook: NotebookNode, of: str = "") -> NotebookNode:
    """An executed notebook as the book shows it: without parameters and set-up, its code folded,
    its images described; `of` stands behind its title.
    """
    heading, kept = "", []
    for cell in notebook.cells:
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "markdown":
            heading = [heading, *_HEADING.findall(cell.source)][-1]
        elif tags & _PARAMETERS or (_SET_UP.search(cell.source) and not cell.outputs):
            continue
        else:
            cell.metadata["tags"] = sorted(tags | {"hide-input"})
            if alt := alt_text(cell.outputs, heading):
                cell.metadata["mystnb"] = {"image": {"alt": alt}}
            for shown in (output.get("data", {}) for output in cell.outputs):
                if "text/html" in shown:
                    shown["text/html"] = _ENDS.sub("\\1\n", shown["text/html"])
        kept.append(cell)
    notebook.cells = kept
    if of:
        kept[0].source = _HEADING.sub(rf"\g<0> ({of})", kept[0].source, count=1)
    return notebook


def title(notebook: NotebookNode) -> tuple[str, str]:
    """What the first heading of a chapter names, and what it asks: "BigToM 1/5: where from?" is of
    BigToM and "1/5 Where from?".
    """
    name, _, rest = _HEADING.search(notebook.cells[0].source)[1].partition(" ")
    number, _, question = rest.partition(": ")
    return name, f"{number} {question[:1].upper()}{question[1:]}"


# ---- Building ------------------------------------------------------------------------------------


def filled(template: Path, **values: Any) -> str:
    """A template of `book/` with its values."""
    return Template(template.read_text(encoding="utf-8")).render(values)


def build(source: Path, scratch: Path, target: Path) -> None:
    """Build the pages of `source` into `target`, in place of what was there.

    scratch: a folder for what Sphinx notes for itself. Errors: `InputError` where Sphinx warns of
    anything; it has said of what on the terminal.
    """
    for folder in (scratch, target):
        shutil.rmtree(folder, ignore_errors=True)
    folders = ["-d", str(scratch / "doctrees"), str(source), str(scratch / "html")]
    if build_main(["-q", "-W", "--keep-going", "-b", "html", *folders]):
        raise InputError(f"{source}: Sphinx found what it says above")
    shutil.copytree(scratch / "html", target, ignore=shutil.ignore_patterns(*NEEDLESS))
