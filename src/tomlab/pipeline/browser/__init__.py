"""The answers browser: every answer of a run on a static page a benchmark, without a server.

`write` makes `<benchmark>.html` and, as a page opened from disk may not fetch, its data as a script
beside it, `<benchmark>.js`. The other files in this folder are what all pages share; rows are drawn
by Tabulator, whose licence lies beside it.
"""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from string import Template

from tomlab import paths
from tomlab.pipeline.browser.data import data
from tomlab.records import tidy

SHARED = ("page.css", "page.js", "tabulator.min.css", "tabulator.min.js", "tabulator.LICENSE")
_PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))


def write(folder: Path, benchmarks: Iterable[str], models: Sequence[str]) -> None:
    """Write the pages of these benchmarks for what a run's models answered. Errors: `InputError`
    where a table of the run is missing.
    """
    wordings = {b: import_module(f"tomlab.benchmarks.{b}.paper").WORDING for b in benchmarks}
    titles = {name: wording.name for name, wording in wordings.items()}
    for name, wording in wordings.items():
        run = [tidy.read("items", paths.result("items", name))]
        for kind in ("responses", "scores"):
            run.append(tidy.read(kind, *(paths.result(kind, name, model) for model in models)))
        judges = paths.RESULTS / "judges" / name / "scores.parquet"
        judged = tidy.read("scores", judges) if judges.exists() else None
        found = data(import_module(f"tomlab.benchmarks.{name}"), wording, *run, judged)
        write_page(folder, name, titles, found)


def write_page(folder: Path, name: str, titles: Mapping[str, str], found: Mapping) -> None:
    """Write one page, what `data` found for it, and what all pages share. titles: by benchmark."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in SHARED:
        shutil.copyfile(Path(__file__).with_name(each), folder / each)
    links = "\n".join(
        f'<a href="{other}.html"{" aria-current=page" * (other == name)}>{escape(title)}</a>'
        for other, title in titles.items()
    )
    page = _PAGE.substitute(name=name, title=escape(titles[name]), links=links)
    for suffix, text in {"js": script(found), "html": page}.items():
        (folder / f"{name}.{suffix}").write_text(text, encoding="utf-8", newline="\n")


def script(found: Mapping) -> str:
    """The data as a script that hands them to `browse`: ASCII alone, whatever was answered."""
    text = json.dumps(found, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f"browse({text});\n"
