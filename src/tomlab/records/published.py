"""What each paper publishes: its tables, where they are printed, and the terms that it uses."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.errors import InputError
from tomlab.paths import PUBLISHED
from tomlab.records import files

PERCENT = "percent"  # the other units of tables are fraction and count


@dataclass(frozen=True)
class Paper:
    """One benchmark's paper. `tables` lists the CSV files in `folder` by name, without `.csv`."""

    folder: str
    name: str
    authors_year: str
    tables: Mapping[str, Sequence[str]]  # name: (where it is printed, the unit of its numbers)

    def source(self, table: str) -> str:
        """Where a file's numbers are printed, such as "BigToM (Gandhi et al., 2023), Table 7"."""
        place, _ = self.tables[table]
        return f"{self.name} ({self.authors_year}), {place}"

    def read(self, table: str, folder: Path = PUBLISHED) -> pd.DataFrame:
        """A published table as printed. Errors: `InputError` where it is missing or no CSV."""
        path = Path(folder) / self.folder / f"{table}.csv"
        if not path.is_file():
            raise InputError(f"{path} is missing: `make data` pulls the published tables")
        found = files.read_form(path, pa.DataFrameSchema()).reset_index(drop=True)
        # "N/A" is a printed value (OmniToM's closed models); only an empty field is missing.
        found = found.mask(found == "")
        for name in found:
            with suppress(ValueError):  # a column with anything but numbers stays text
                found[name] = pd.to_numeric(found[name])
        return found

    def reasons(self, table: str, folder: Path = PUBLISHED) -> pd.Series:
        """Why each row of a table fails the audit (from `marks.csv`); "" for rows that pass."""
        rows = self.read(table, folder).index
        marks = self.read("marks", folder).query("table == @table")
        return marks.groupby("row")["reason"].agg("; ".join).reindex(rows, fill_value="")

    def checked(self, table: str, name: str, folder: Path = PUBLISHED) -> str:
        """A sentence on one check in `checks.csv`: what it demands of a table and what it found."""
        checks = self.read("checks", folder).set_index(["table", "name"])
        return "{check} {finding}.".format(**checks.loc[(table, name)])


@dataclass(frozen=True)
class Wording:
    """What a benchmark calls its methods, its units and its outcomes."""

    name: str  # of the benchmark; in lower case, the name in its rows
    methods: Mapping[str, str]  # printed names, in the order of bars; unlisted methods follow
    unit: str = "answer"  # what is counted
    groups: str = "groups"  # what the units belong to; intervals cluster on it
    # Other names for outcomes, used where a table may be partly right.
    outcomes: Mapping[str, str] = field(default_factory=dict)
