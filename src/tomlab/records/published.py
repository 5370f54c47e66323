"""The papers' published result tables: what each file holds, where it is from, how to read it."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tomlab.errors import InputError
from tomlab.paths import PUBLISHED

FRACTION = "fraction"
PERCENT = "percent"
COUNT = "count"


@dataclass(frozen=True)
class Origin:
    """Of one file: the `place` in its paper that prints the numbers, and their `unit`."""

    place: str
    unit: str


@dataclass(frozen=True)
class Paper:
    """One benchmark's paper and its files in `folder`, by file name without `.csv`."""

    folder: str
    name: str
    authors_year: str
    citation: str
    tables: dict[str, Origin]

    def source(self, table: str) -> str:
        """Where a file's numbers are printed, such as "BigToM (Gandhi et al., 2023), Table 7"."""
        return f"{self.name} ({self.authors_year}), {self._origin(table).place}"

    def read(self, table: str, folder: Path = PUBLISHED) -> pd.DataFrame:
        """A published table as printed, tidy, in the unit that `tables` states.

        Errors: `InputError` for an unknown table, or where the data are missing.
        """
        self._origin(table)
        return read(self.folder, table, folder)

    def _origin(self, table: str) -> Origin:
        if table not in self.tables:
            raise InputError(
                f"no published table {table!r} of {self.folder}; there are: "
                f"{', '.join(self.tables)}"
            )
        return self.tables[table]


def read(paper: str, table: str, folder: Path = PUBLISHED) -> pd.DataFrame:
    """The file of a published table. Errors: `InputError` where it is missing."""
    path = Path(folder) / paper / f"{table}.csv"
    if not path.is_file():
        raise InputError(f"{path} is missing: `make data` pulls the published tables")
    # "N/A" is a printed value (OmniToM's closed models); only an empty field is missing.
    return pd.read_csv(path, keep_default_na=False, na_values=[""])
