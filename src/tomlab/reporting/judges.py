"""How well judges agree with decisions known by construction, as a table (after OmniToM, App. B.4),
by kind of case as a figure, and the files that a calibration leaves.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from tomlab.records.files import yaml_beside
from tomlab.reporting import beside, charts, plotting, printed, tables
from tomlab.reporting.headings import listed
from tomlab.reporting.printed import WORDS

TITLES = yaml_beside(__file__)["titles"]
QUALITIES = WORDS["qualities"]
SIDES = {True: "Yes is right (sensitivity)", False: "No is right (specificity)"}
LOOKS = plotting.described(WORDS["looks"]["decisions"])
BLIND = 0.5  # a kind of case of which a judge gets less than this right it can't see


def agreement(name: str, found: pd.DataFrame, title: str) -> printed.Table:
    """One row a judge, its qualities with their intervals.

    name: of the table's files; found: of `judging.agreement_by_judge`; title: the task.
    """
    frames = []
    for quality in QUALITIES:
        ends = "ci" if quality == "agreement" else quality
        of = {"value": quality, "ci_low": f"{ends}_low", "ci_high": f"{ends}_high"}
        values = {to: found[column] for to, column in of.items()}
        kept = found[["judge", "n", "n_groups"]].assign(quality=quality, **values)
        frames.append(kept.assign(source=printed.RUN, mark=""))
    cells = pd.concat(frames, ignore_index=True)
    forms = dict.fromkeys(QUALITIES, printed.share) | {"kappa": printed.signed}
    own = cells.assign(n=pd.NA)  # n has a column
    shown = beside.layout(own, {"judge": "Judge"}, QUALITIES, across="quality", forms=forms)
    counts = found[["n", "undefined", "n_groups"]].astype(int).astype(str).reset_index(drop=True)
    shown = shown.drop(columns="Source").join(counts)
    caption = WORDS["agreement"].format(title=title)
    return printed.Table(name, cells, shown, caption, WORDS["agreement_notes"])


def in_words(table: printed.Table) -> pd.DataFrame:
    """What a table prints, its judges in words."""
    judges = [tables.name(judge, "judge") for judge in table.printed["Judge"]]
    return table.printed.assign(Judge=judges)


def heads(found: pd.DataFrame) -> pd.DataFrame:
    """A table with a column a judge, these in words."""
    return found.rename(columns=lambda judge: tables.name(judge, "judge").capitalize())


def by_kind(found: pd.DataFrame, title: str, groups: str) -> tuple[Figure, str]:
    """What does the judge in use not see? Its errors by kind of case, most first.

    found: of `judging.agreement_by_kind`; title: the task; groups: on which intervals cluster.
    """
    positions = plotting.row_positions({"": list(found["kind"].unique())})
    shares, counts = {}, {}
    for truth, panel in SIDES.items():
        own = found[found["truth"] == truth]
        y = own["kind"].map(positions[""]).to_numpy()
        parts = {"right": own["agreement"].to_numpy(), "wrong": 1 - own["agreement"].to_numpy()}
        shares[panel] = pd.DataFrame(parts, index=y)
        texts = map(printed.n_of, own["n"], own["n_groups"])
        counts[panel] = pd.Series(list(texts), index=y, dtype=str)
    judge = found["judge"].iloc[0]
    size = {"row_height": 0.2, "extra": 1.0, "least": 0.08, "title": _title(found, judge)}
    figure = charts.bars(
        shares, positions, LOOKS, "Share of cases", counts, groups, empty="no case", **size
    )
    return figure, f"{WORDS['by_kind'].format(title=title, judge=judge)} {_unseen(found, judge)}"


def _title(found: pd.DataFrame, judge: str) -> str:
    """The kinds of case of which a judge gets fewer than half right, or the worst."""
    blind = found[found["agreement"] < BLIND]
    name = "blind" if len(blind) else "seen"
    kinds = listed(list((blind if len(blind) else found.head(1))["kind"].unique()))
    return TITLES[name].format(judge=judge, kinds=kinds)


def _unseen(found: pd.DataFrame, judge: str) -> str:
    """Of which kinds of case a judge gets fewer than half right, or which is worst."""
    blind = found[found["agreement"] < BLIND]
    told = [
        f"{row.kind}, where {'yes' if row.truth else 'no'} is right "
        f"({printed.cell(row.agreement, row.ci_low, row.ci_high)} right, n = {row.n})"
        for row in (blind if len(blind) else found.head(1)).itertuples()
    ]
    name = "unseen" if len(blind) else "worst"
    return WORDS[name].format(judge=judge, kinds="; ".join(told))


def save(folder: Path, winner: Mapping, **tables: pd.DataFrame) -> str:
    """Write what a calibration found: `winner.json`, and each table as `<name>.csv`.

    winner: the judge in use and what it was chosen by. Returns the text of `winner.json`.
    """
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    text = json.dumps(winner, indent=1) + "\n"
    (folder / "winner.json").write_text(text, encoding="utf-8")
    return text
