"""A figure and what stands with it: saved, and displayed in a notebook."""

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import matplotlib
import pandas as pd
from IPython.display import HTML, Image, display
from jinja2 import Template
from matplotlib.figure import Figure

from tomlab import paths
from tomlab.reporting.printed import WORDS

DPI = 200
SHOWN = 780  # pixels: a figure's width in a notebook
# What `save` must not write into a file: a date or a version would differ from run to run.
_VARYING = {"png": ["Software"], "pdf": ["CreationDate", "Creator", "Producer"]}
_SHEET = Path(__file__).with_name("plain.mplstyle")
_STYLE = matplotlib.rc_params_from_file(_SHEET, use_default_template=False)
_BELOW = Template(Path(__file__).with_name("figure.html").read_text("utf-8"), autoescape=True)


class Drawn(NamedTuple):
    """A figure, whose title says what it finds, and what stands with it."""

    figure: Figure
    caption: str  # at most 60 words, with n
    notes: Sequence[str] = ()  # sources and checks, folded in the page
    said: Mapping[str, str] = MappingProxyType({})  # by `WORDS["said"]`
    data: pd.DataFrame | None = None  # the numbers that are drawn
    by: Callable | None = None  # the function that drew it


def style() -> AbstractContextManager:
    """The style as a context: figures are made, laid out and saved inside it."""
    return matplotlib.rc_context(_STYLE)


def alternative(figure: Figure, caption: str) -> str:
    """What is told of a figure to whoever can't see it: title and the caption's first sentence."""
    title = figure.get_suptitle().replace("\n", " ")
    first = re.split(r"(?<=\.)\s(?=[A-Z])", caption, maxsplit=1)[0]
    return f"{title}. {first}" if title else first


def save(
    figure: Figure,
    folder: Path | str,
    name: str,
    caption: str,
    notes: Sequence[str] = (),
    said: Mapping[str, str] = MappingProxyType({}),
    data: pd.DataFrame | None = None,
) -> list[Path]:
    """Write `name`.png, .pdf, .caption.txt (title, caption), .notes.txt and .csv (`data`) into
    `folder`, making it; the paths. What is not given is not written.

    The bytes depend on the figure alone: no date and no version is written.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    title = figure.get_suptitle().replace("\n", " ")
    below = [f"{WORDS['said'][key]}: {text}" for key, text in said.items()] + list(notes)
    written = {kind: _rendered(figure, kind) for kind in ("png", "pdf")}
    written["caption.txt"] = f"{title}\n\n{caption}\n".lstrip().encode()
    written |= {"notes.txt": "".join(f"{line}\n" for line in below).encode()} if below else {}
    written |= {} if data is None else {"csv": data.to_csv(index=False).encode()}
    for suffix, content in written.items():
        (folder / f"{name}.{suffix}").write_bytes(content)
    return [folder / f"{name}.{suffix}" for suffix in written]


def show(
    figure: Figure,
    caption: str,
    notes: Sequence[str] = (),
    said: Mapping[str, str] = MappingProxyType({}),
    data: pd.DataFrame | None = None,
    by: Callable | None = None,
    files: Mapping[str, Path] = MappingProxyType({}),
) -> None:
    """Display a figure in a notebook as it is saved; below it caption, what the paper and the run
    say, links to `files` and to the code, and folded notes. Arguments as the fields of `Drawn`.
    """
    alt = alternative(figure, caption)
    png = files["png"].read_bytes() if "png" in files else _rendered(figure, "png")
    image = Image(png, width=SHOWN, alt=alt)
    links = {WORDS["files"][kind]: files[kind] for kind in WORDS["files"] if kind in files}
    links = {text: _from_page(path) for text, path in links.items()}
    if by:
        path = paths.ROOT / "src" / Path(*by.__module__.split(".")).with_suffix(".py")
        links[WORDS["code"]] = f"{_from_page(path)}#L{inspect.getsourcelines(by)[1]}"
    told = {WORDS["said"][key]: text for key, text in said.items()}
    below = _BELOW.render(caption=caption, said=told, links=links, notes=notes, words=WORDS)
    display(image, HTML(below))


def draw(folder: Path | str, name: str, figure: Figure, caption: str, *more) -> None:
    """Save a figure into `folder` and `show` it; more: the other fields of `Drawn`, in order."""
    drawn = Drawn(figure, caption, *more)
    written = save(figure, folder, name, *drawn[1:5])
    show(*drawn, files={path.name.removeprefix(f"{name}."): path for path in written})


def _from_page(path: Path) -> str:
    """A path as the notebook that runs links to it: an executed copy, or a source run by hand."""
    page = (paths.RESULTS if paths.stage() else paths.ROOT) / "notebooks" / "stage"
    return Path(os.path.relpath(path, page)).as_posix()


def _rendered(figure: Figure, kind: str) -> bytes:
    buffer = BytesIO()
    with style():
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=dict.fromkeys(_VARYING[kind]))
    return buffer.getvalue()
