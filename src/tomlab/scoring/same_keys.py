"""Keys that cannot tell right from wrong: two answers that should differ say the same.

Two texts are identical, or nearly: apart by nothing but case, spaces, punctuation and the way in
which a sign is encoded (NFKC). This is said of every benchmark's items, and drops none.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.paths import PUBLISHED
from tomlab.records import files

IDENTICAL = "identical"
NEARLY = "nearly identical"
# A file of what others reported, a row a released item: its row in the file, counted from 0.
REPORTED = pa.DataFrameSchema(
    {
        "row": files.text(r"\d+", "its row, counted from 0"),
        "kind": files.text(),
        "likeness": files.one_of((IDENTICAL, NEARLY)),
        "reported_at": files.text(),
        "read_by": files.text(),
        "confirmed_by": files.text(),
    },
    unique=["row", "kind"],
)
_ITEM = ["item_id", "group_id", "source", "question_type"]
COLUMNS = (*_ITEM, "likeness", "text")


def same_keys(items: pd.DataFrame) -> pd.DataFrame:
    """Every pair of answers of an item that say the same, a row each (`COLUMNS`).

    Compared are: two options; without options, the right and the wrong answer; in a gold table of
    OmniToM, two rows of one actor and order. text: the first of the two.
    """
    rows = []
    for item in items.to_dict("records"):
        for text, second in _pairs(item):
            likeness = likeness_of(text, second)
            if likeness:
                row = {name: item[name] for name in _ITEM}
                rows.append(row | {"likeness": likeness, "text": text})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def likeness_of(text: str, second: str) -> str:
    """`IDENTICAL`, `NEARLY`, or "" for two texts that say something else; of no text, ""."""
    if not text.strip() or not second.strip():
        return ""
    if text == second:
        return IDENTICAL
    return NEARLY if _plain(text) == _plain(second) else ""


def _plain(text: str) -> str:
    """A text in lower case without punctuation and spaces; with it where nothing else is left."""
    text = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    # The first letter of a sign's category in Unicode: P is punctuation.
    bare = "".join(sign for sign in text if unicodedata.category(sign)[0] != "P")
    return bare or text


def _pairs(item: Mapping) -> Iterator[tuple[str, str]]:
    """The pairs of an item's answers that should differ."""
    if len(item["choices"]):
        yield from combinations(item["choices"], 2)
    elif item.get("wrong_answer"):
        yield item["answer"], item["wrong_answer"]
    elif item["question_type"] == "labelling":  # the other stage has the same gold table
        yield from _pairs_of_beliefs(json.loads(item["answer"]))


def _pairs_of_beliefs(beliefs: list[Mapping]) -> Iterator[tuple[str, str]]:
    for belief, second in combinations(beliefs, 2):
        is_same_actor = _plain(belief["actor"]) == _plain(second["actor"])
        if is_same_actor and belief["labels"]["order"] == second["labels"]["order"]:
            yield belief["belief"], second["belief"]


def reported(benchmark: str, folder: Path = PUBLISHED) -> pd.DataFrame:
    """What was reported in public of a released file, in the columns of `REPORTED`; no rows where
    nothing was. Errors: `InputError` with all rows and fields at fault.
    """
    path = Path(folder) / benchmark / "same_keys.csv"
    if not path.is_file():
        return pd.DataFrame(columns=[*REPORTED.columns])
    return files.read_form(path, REPORTED).astype({"row": int}).reset_index(drop=True)


def in_words(pairs: pd.DataFrame, items: pd.DataFrame) -> str:
    """A sentence on how many items have `pairs` of `same_keys`, in how many groups of how many."""
    if pairs.empty:
        return f"In none of {len(items):,} items do two answers that should differ say the same."
    n_groups = pairs["group_id"].nunique()
    return (
        f"In {pairs['item_id'].nunique():,} of {len(items):,} items, two answers that should differ"
        f" say the same; they stand in {n_groups:,} of {items['group_id'].nunique():,} groups."
    )


def beside_reported(pairs: pd.DataFrame, items: pd.DataFrame, benchmark: str) -> str:
    """A sentence that holds what was reported in public against a released file; "" for our items,
    and where nothing was reported. Groups of the items are counted in the order of the file.
    """
    reports = reported(benchmark)
    is_released = items["source"].str.startswith("released:").all()
    if reports.empty or not is_released:
        return ""
    group_ids = list(dict.fromkeys(items["group_id"]))
    of_kinds = pairs[pairs["question_type"].isin(reports["kind"])]
    rows = {group_ids.index(group_id) for group_id in of_kinds["group_id"]}
    n_confirmed = len(rows.intersection(reports["row"]))
    sites = ", ".join(sorted(set(reports["reported_at"])))
    return (
        f"Of {len(reports)} that were reported in public, {n_confirmed} are found in this file, "
        f"and {len(rows) - n_confirmed} more of this kind ({sites})."
    )
