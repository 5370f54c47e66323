"""Coverage: every figure and table of the papers, and where this run draws it.

What a paper holds stands in `coverage.yaml` of its folder: by its name `about`, `has` (numbers in
print, drawn without numbers, or texts), `drawn` (files of `results/`, without suffix), `whose`
where no drawn table tells, and `why` it is not drawn, or not all. What is drawn is looked up.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tomlab import paths
from tomlab.papers.book import FIGURES, WORDS, texts
from tomlab.reporting.printed import PAPER, RUN

SUFFIXES = {"figures": ".png", "tables": ".csv"}


def file(benchmark: str, drawn: str) -> Path:
    """The file behind such a name as "tables/table7"."""
    kind, name = drawn.split("/")
    return paths.RESULTS / kind / benchmark / f"{name}{SUFFIXES[kind]}"


def link(benchmark: str, name: str) -> str:
    """The name of a figure or table, as a link to the page that draws it, if any does."""
    drawn = texts(benchmark)["coverage"][name].get("drawn", [])
    is_there = any(file(benchmark, each).is_file() for each in drawn)
    return f"[{name}]({FIGURES.format(benchmark)})" if is_there else name


def whose(benchmark: str, entry: Mapping) -> str:
    """Whose numbers are drawn: as the drawn tables say, else as the entry does; "" for none."""
    files = [file(benchmark, drawn) for drawn in entry.get("drawn", [])]
    tables = [path.with_suffix(".csv") for path in files if path.with_suffix(".csv").is_file()]
    told = [set(pd.read_csv(path, usecols=["source"])["source"]) for path in tables]
    sources = set().union(*told)
    if not sources & {PAPER, RUN}:
        return entry.get("whose", "") if any(path.is_file() for path in files) else ""
    return "both" if {PAPER, RUN} <= sources else "paper" if PAPER in sources else "run"


def own(benchmark: str) -> list[str]:
    """What the run draws that is of no paper, such as "figures/outcomes"."""
    entries = texts(benchmark)["coverage"].values()
    known = {drawn for entry in entries for drawn in entry.get("drawn", [])}
    found = [
        f"{kind}/{path.stem}"
        for kind, suffix in SUFFIXES.items()
        for path in sorted((paths.RESULTS / kind / benchmark).glob(f"*{suffix}"))
    ]
    # Beside a figure, its data bear its name.
    return [name for name in found if name not in known]


def table(benchmark: str) -> pd.DataFrame:
    """A row a figure, table or place with numbers: about, has, drawn (Markdown), whose, why."""
    rows = {}
    for name, entry in texts(benchmark)["coverage"].items():
        drawn = [_drawn(benchmark, each) for each in entry.get("drawn", [])]
        by = WORDS["whose"][whose(benchmark, entry)]
        rows[name] = {"about": entry["about"], "has": entry["has"], "drawn": ", ".join(drawn)}
        rows[name] |= {"whose": by, "why": entry.get("why", "")}
    return pd.DataFrame.from_dict(rows, orient="index")


def page(benchmark: str) -> str:
    """What a paper holds and where it is drawn, as Markdown."""
    if "coverage" not in texts(benchmark):
        return ""
    rows = table(benchmark)
    is_text, is_drawn = rows["has"].eq("texts"), rows["whose"].ne("")
    counts = {
        "printed": rows["has"].eq("numbers").sum(),
        "drawn": (rows["has"].eq("numbers") & is_drawn).sum(),
        "shown": rows["has"].eq("drawn").sum(),
        "redrawn": (rows["has"].eq("drawn") & is_drawn).sum(),
    }
    shown = [f"{_drawn(benchmark, each)} ({each.split('s/')[0]})" for each in own(benchmark)]
    return WORDS["coverage"].format(
        counts=WORDS["counts"].format(**counts),
        drawn=_markdown(rows[~is_text], list(WORDS["heads"])),
        texts=_markdown(rows[is_text], ["about", "why"]),
        n=is_text.sum(),
        own=", ".join(shown),
    )


def _drawn(benchmark: str, name: str) -> str:
    stem = name.split("/")[1]
    if file(benchmark, name).is_file():
        return f"[{stem}]({FIGURES.format(benchmark)})"
    return WORDS["absent_file"].format(name=stem)


def _markdown(rows: pd.DataFrame, columns: list[str]) -> str:
    return rows[columns].rename(columns=WORDS["heads"]).to_markdown(disable_numparse=True)
