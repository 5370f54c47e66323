"""The files that a calibration of judges leaves."""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd


def save(folder: Path, winner: Mapping, **tables: pd.DataFrame) -> None:
    """Write `winner.json` (the judge in use and what it was chosen by) and `<name>.csv` a table."""
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    (folder / "winner.json").write_text(json.dumps(winner, indent=1) + "\n", encoding="utf-8")
