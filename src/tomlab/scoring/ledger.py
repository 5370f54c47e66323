"""The ledger of keys: whether the keyed answers of released items are right, as readers judged.

`data/published/<benchmark>/ledger.csv` has a row an item; docs/data.md explains its columns. It
changes no item and no verdict: numbers are shown twice, as released and as corrected.
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
METRIC = ["benchmark", "model", "method", "metric", "condition"]  # what names a metric
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
    """The ledger of a benchmark, without rows where it has none. Errors: `InputError` with all rows
    and fields at fault.
    """
    path = Path(folder) / benchmark / "ledger.csv"
    if not path.is_file():
        return pd.DataFrame(columns=[*FORM.columns], dtype=str)
    return files.read_form(path, FORM).reset_index(drop=True)


def fingerprint(item: Mapping) -> str:
    """Tells an item by all that it says: story, question, right answer, and options in any order.

    If somebody changed any of these, such as the key, the released item's entry is not about it.
    """
    texts = [item["story"], item["question"], item["answer"], *sorted(item["choices"])]
    return sha256("\n".join(texts).encode()).hexdigest()[:12]


def about(items: pd.DataFrame, entries: pd.DataFrame) -> pd.DataFrame:
    """The entries that are about some of the items, with `item_id` and `n_options`."""
    fingerprints = [fingerprint(item) for item in items.to_dict("records")]
    n_options = items["choices"].map(len)
    texts = items[["item_id"]].assign(text=fingerprints, n_options=n_options)
    return texts.merge(entries, on="text")


def corrected(scores: pd.DataFrame, entries: pd.DataFrame, *verdicts: str) -> pd.DataFrame:
    """Scores as they are if the keys with some verdicts, by default the wrong ones, are exchanged.

    entries: of `about`. Right and wrong change places on items with two options; an unreadable
    answer stays one. `by_released_rule`, which says what the released code would count, stays, too.
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
    """The rows of two tables of metrics whose values differ; `keys` says "released" or "corrected".

    names: the columns that name a metric.
    """
    rows = pd.concat({"released": released, "corrected": corrected}, names=["keys", None])
    rows = rows.reset_index("keys").reset_index(drop=True)
    return rows[rows.groupby(names)["value"].transform("nunique") > 1]
