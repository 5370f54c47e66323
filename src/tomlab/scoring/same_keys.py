"""Items with faulty answer keys: two answers that should differ say the same.

Their texts are identical, or nearly: they differ only in case, spaces, punctuation or the way in
which Unicode encodes a character (NFKC). Such items are reported, and none is dropped.
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
# The columns of a file that lists faulty items which others reported, a row for each item and kind
# of question. row: the item's row in the released file, counted from 0.
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
    """A row (`COLUMNS`) for each two answers of one item that say the same.

    The function compares every two options of an item; without options, the right and the wrong
    answer; in a gold table of OmniToM, every two beliefs of one actor and order. text: the first
    answer of the two.
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
    """`IDENTICAL`, `NEARLY`, or "" if the two texts say different things or one is empty."""
    if not text.strip() or not second.strip():
        return ""
    if text == second:
        return IDENTICAL
    return NEARLY if _plain(text) == _plain(second) else ""


def _plain(text: str) -> str:
    """A text in lower case without spaces and punctuation; punctuation stays if it is all."""
    text = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    # The first letter of a character's Unicode category is P for punctuation.
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
    """The faulty items of a benchmark's released file that others reported in public, in the
    columns of `REPORTED`; no rows if there is no report. Errors: `InputError` with all rows and
    fields at fault in the file of reports.
    """
    path = Path(folder) / benchmark / "same_keys.csv"
    if not path.is_file():
        return pd.DataFrame(columns=[*REPORTED.columns])
    return files.read_form(path, REPORTED).astype({"row": int}).reset_index(drop=True)


def in_words(pairs: pd.DataFrame, items: pd.DataFrame) -> str:
    """A sentence that says how many items, in how many groups, have `pairs` (of `same_keys`)."""
    if pairs.empty:
        return f"In none of {len(items):,} items do two answers that should differ say the same."
    n_groups = pairs["group_id"].nunique()
    return (
        f"In {pairs['item_id'].nunique():,} of {len(items):,} items, two answers that should differ"
        f" say the same; they stand in {n_groups:,} of {items['group_id'].nunique():,} groups."
    )


def beside_reported(pairs: pd.DataFrame, items: pd.DataFrame, benchmark: str) -> str:
    """A sentence that says how many of the `reported` items are among `pairs`; "" for our items, or
    if nothing was reported. The n-th group of `items` is taken to be the file's n-th row.
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
