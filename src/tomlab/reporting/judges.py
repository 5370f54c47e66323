"""How well judges agree with decisions known by construction, as a table (after OmniToM, App. B.4),
and the files that a calibration leaves.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tomlab.reporting import beside, printed
from tomlab.reporting.printed import WORDS

QUALITIES = WORDS["qualities"]


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


def save(folder: Path, winner: Mapping, **tables: pd.DataFrame) -> str:
    """Write what a calibration found: `winner.json`, and each table as `<name>.csv`.

    winner: the judge in use and what it was chosen by. Returns the text of `winner.json`.
    """
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    text = json.dumps(winner, indent=1) + "\n"
    (folder / "winner.json").write_text(text, encoding="utf-8")
    return text
