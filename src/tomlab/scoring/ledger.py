"""The ledger of keys: whether the answers that released items call right (their keys) are right, as
judged by people or models who read them.

`data/published/<benchmark>/ledger.csv` has one row per item; docs/data_verdicts.md explains its
columns. The ledger changes no item and no verdict: numbers are shown twice, as released and as
corrected.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.paths import PUBLISHED
from tomlab.records import files

WRONG = "wrong"
DOUBTFUL = "doubtful"
FOUND_BY = ("consensus of models", "tracker", "reader", "events")
METRIC = ["benchmark", "model", "method", "metric", "condition"]  # identifies a metric
FORM = pa.DataFrameSchema(
    {
        "item": files.text(r"\d+/\S+", "its row, counted from 0, a slash and its question"),
        "text": files.text(r"[0-9a-f]{12}", "12 hexadecimal digits, see `ledger.fingerprint`"),
        "released_key": files.text(),
        "verdict": files.one_of((WRONG, DOUBTFUL, "fine")),
        "why": files.text(),
        "found_by": files.one_of(FOUND_BY),
        "read_by": files.person_kind(),
        "confirmed_by": files.text(expected='names, or "nobody yet"'),
    },
    unique=["text"],
)


def read(benchmark: str, folder: Path = PUBLISHED) -> pd.DataFrame:
    """The ledger of a benchmark, with the columns of `FORM`; no rows if there is no file. Errors:
    `InputError` that names all rows and fields at fault.
    """
    path = Path(folder) / benchmark / "ledger.csv"
    if not path.is_file():
        return pd.DataFrame(columns=[*FORM.columns], dtype=str)
    return files.read_form(path, FORM).reset_index(drop=True)


def fingerprint(item: Mapping) -> str:
    """12 hexadecimal digits that identify an item by its story, question, right answer, and options
    in any order.

    If any of these is changed, such as the key, the ledger's entry no longer matches the item.
    """
    texts = [item["story"], item["question"], item["answer"], *sorted(item["choices"])]
    return sha256("\n".join(texts).encode()).hexdigest()[:12]


def about(items: pd.DataFrame, entries: pd.DataFrame) -> pd.DataFrame:
    """The ledger entries that match one of the items, with the item's `item_id` and `n_options`."""
    fingerprints = [fingerprint(item) for item in items.to_dict("records")]
    n_options = items["choices"].map(len)
    texts = items[["item_id"]].assign(text=fingerprints, n_options=n_options)
    return texts.merge(entries, on="text")


def corrected(scores: pd.DataFrame, entries: pd.DataFrame, *verdicts: str) -> pd.DataFrame:
    """The scores table as it would be if keys that the ledger calls wrong were corrected.

    entries: of `about`; verdicts: the ledger's verdicts whose keys are corrected, by default only
    `WRONG`. On such items with two options, "correct" and "wrong" change places. Unreadable answers
    stay unreadable, and `by_released_rule`, which the released code would count, stays as it is.
    """
    is_wrong_key = entries["verdict"].isin(verdicts or [WRONG]) & entries["n_options"].eq(2)
    flips = scores["item_id"].isin(entries.loc[is_wrong_key, "item_id"])
    flipped = scores["outcome"].replace({"correct": "wrong", "wrong": "correct"})
    is_right = flipped.eq("correct").astype(float)
    return scores.assign(
        outcome=scores["outcome"].mask(flips, flipped), score=scores["score"].mask(flips, is_right)
    )


def moved(
    released: pd.DataFrame, corrected: pd.DataFrame, names: list[str] = METRIC
) -> pd.DataFrame:
    """The rows of two metrics tables whose values differ between them. The column `keys` says which
    table a row comes from, "released" or "corrected".

    names: the columns that identify a metric in both tables.
    """
    rows = pd.concat({"released": released, "corrected": corrected}, names=["keys", None])
    rows = rows.reset_index("keys").reset_index(drop=True)
    return rows[rows.groupby(names)["value"].transform("nunique") > 1]
