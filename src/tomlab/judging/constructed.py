"""Calibration sets made by operations that are the labels (as for judges in OmniToM, App. B.4)."""

from collections.abc import Sequence

import pandas as pd

from tomlab.errors import InputError


def balanced(made: pd.DataFrame, n: int, strata: Sequence[str]) -> pd.DataFrame:
    """`n` rows of `made`, as many of each stratum, and of each operation in it as far as they go.

    made: one text a row, in a random order, with `operation` and the columns of `strata`. Rows keep
    their order. Errors: `InputError` where a stratum has too few.
    """
    turn = made.groupby([*strata, "operation"]).cumcount()
    in_turn = made.loc[turn.sort_values(kind="stable").index]
    parts = in_turn.groupby([*strata])
    chosen = []
    for place, (stratum, part) in enumerate(parts):
        share = n // len(parts)
        if place < n % len(parts):  # what does not divide evenly
            share += 1
        if len(part) < share:
            name = ", ".join(f"{key} {value}" for key, value in zip(strata, stratum, strict=True))
            raise InputError(f"calibration: found {len(part)} texts of {name}, expected {share}")
        chosen.append(part.head(share))
    return pd.concat(chosen).sort_index().reset_index(drop=True)


def capital(text: str) -> str:
    """`text` with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]
