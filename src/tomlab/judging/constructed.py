"""Calibration sets whose texts are labelled by how they were made (as in OmniToM, App. B.4)."""

from collections.abc import Sequence

import pandas as pd

from tomlab.errors import InputError


def balanced(made: pd.DataFrame, n: int, strata: Sequence[str]) -> pd.DataFrame:
    """`n` rows of `made`: equally many of each stratum and, within a stratum, of each operation as
    far as it has enough rows.

    made: one text a row, in random order, with the column `operation` and the columns `strata`. The
    chosen rows keep their order. Errors: `InputError` if a stratum has too few rows.
    """
    turn = made.groupby([*strata, "operation"]).cumcount()
    in_turn = made.loc[turn.sort_values(kind="stable").index]
    parts = in_turn.groupby([*strata])
    chosen = []
    for place, (stratum, part) in enumerate(parts):
        share = n // len(parts)
        if place < n % len(parts):  # the first strata get one row more if n does not divide evenly
            share += 1
        if len(part) < share:
            name = ", ".join(f"{key} {value}" for key, value in zip(strata, stratum, strict=True))
            raise InputError(f"calibration: found {len(part)} texts of {name}, expected {share}")
        chosen.append(part.head(share))
    return pd.concat(chosen).sort_index().reset_index(drop=True)


def capital(text: str) -> str:
    """`text` with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]
