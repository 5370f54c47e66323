"""What is known of each paper: its published tables and their sources, how it words things."""

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
    """One benchmark's paper and its files in `folder`, by name without `.csv`."""

    folder: str
    name: str
    authors_year: str
    tables: Mapping[str, Sequence[str]]  # the place that prints it, and the unit of its numbers

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
            with suppress(ValueError):  # a column in which anything else stands is one of texts
                found[name] = pd.to_numeric(found[name])
        return found

    def reasons(self, table: str, folder: Path = PUBLISHED) -> pd.Series:
        """Why each row of a table fails the audit (`marks.csv`), "" where it does not."""
        rows = self.read(table, folder).index
        marks = self.read("marks", folder).query("table == @table")
        return marks.groupby("row")["reason"].agg("; ".join).reindex(rows, fill_value="")

    def checked(self, table: str, name: str, folder: Path = PUBLISHED) -> str:
        """What one check of `checks.csv` demands of a table, and what was found."""
        checks = self.read("checks", folder).set_index(["table", "name"])
        return "{check} {finding}.".format(**checks.loc[(table, name)])


@dataclass(frozen=True)
class Wording:
    """What a benchmark calls its methods, its units and its outcomes."""

    name: str  # of the benchmark, in lower case that of its rows
    methods: Mapping[str, str]  # their names in print, in the order of the bars; others follow
    unit: str = "answer"  # what is counted
    groups: str = "groups"  # what the units are of, on which intervals cluster
    # Outcomes under other names, where a table may be right in part.
    outcomes: Mapping[str, str] = field(default_factory=dict)
