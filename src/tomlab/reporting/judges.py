"""The files that a calibration of judges leaves, and its tables in words."""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tomlab.reporting import tables


def heads(found: pd.DataFrame) -> pd.DataFrame:
    """A table with a column a judge, these in words."""
    return found.rename(columns=lambda judge: tables.name(judge, "judge").capitalize())


def save(folder: Path, winner: Mapping, **tables: pd.DataFrame) -> str:
    """Write what a calibration found: `winner.json`, and each table as `<name>.csv`.

    winner: the judge in use and what it was chosen by. Returns the text of `winner.json`.
    """
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    text = json.dumps(winner, indent=1) + "\n"
    (folder / "winner.json").write_text(text, encoding="utf-8")
    return text
