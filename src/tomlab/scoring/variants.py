"""Does the order of two options, or the wording of a prompt, decide? (Variants: `tidy.REVERSED`.)

A question put in another way is held against the same question as the protocol puts it.
"""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from tomlab.records.tidy import AS_ASKED, REVERSED, SCORED
from tomlab.scoring.stats import DIFFERENCE, SHARE, Bounds, cluster_interval

_WHOSE = ["model", "method"]
_PAIR = ["item_id", "repeat"]
_COLUMNS = [*_WHOSE, "asked_as", "metric"]
_COLUMNS += ["value", "ci_low", "ci_high", "ci_method", "n", "n_groups"]


def protocol(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of responses or scores that were asked as the protocol asks, as metrics take."""
    if "asked_as" not in table:
        return table
    return table[table["asked_as"] == AS_ASKED].reset_index(drop=True)


def variants(scores: pd.DataFrame, items: pd.DataFrame, groups: str) -> pd.DataFrame:
    """What each variant changes, by model, method and `asked_as`, with intervals over `groups`, a
    column of scores. Only questions that were asked both ways count. No rows without a variant.

    as_asked, varied, both: the mean score as the protocol asks, in the variant, and over both;
    difference: varied - as_asked. Where answers choose an option (scores with `chosen`, its text):
    same_answer, the share of questions with the same choice both times, and unreadable, the share
    with one that can't be read. With options exchanged also both_right, and first_option: how often
    the option shown first is chosen where both answers are readable (n: answers).
    """
    if "asked_as" not in scores:
        return pd.DataFrame(columns=_COLUMNS)
    told = scores.sort_values("sample", kind="stable")
    # A variant's samples have numbers of their own, behind those of the protocol.
    told = told.assign(repeat=told.groupby([*_WHOSE, "item_id", "asked_as"]).cumcount())
    choices = dict(zip(items["item_id"], items["choices"], strict=True))
    rows = []
    for whose, part in told.groupby(_WHOSE, sort=False):
        plain = part[part["asked_as"] == AS_ASKED]
        for name, own in part[part["asked_as"] != AS_ASKED].groupby("asked_as", sort=False):
            both = plain.merge(own, on=_PAIR, suffixes=("", "_varied"))
            for metric, values, bounds in _found(both, name, choices):
                found = cluster_interval(values, both.loc[values.index, groups], bounds=bounds)
                keys = dict(zip(_COLUMNS, (*whose, name, metric), strict=False))
                rows.append(keys | vars(found))
    return pd.DataFrame(rows, columns=_COLUMNS)


def _found(
    both: pd.DataFrame, name: str, choices: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, pd.Series, Bounds]]:
    """Each metric of one variant, its values by pair of answers and their bounds."""
    as_asked, varied = both["score"], both["score_varied"]
    yield "as_asked", as_asked, SHARE
    yield "varied", varied, SHARE
    yield "both", (as_asked + varied) / 2, SHARE
    yield "difference", varied - as_asked, DIFFERENCE
    if name == REVERSED:
        yield "both_right", as_asked * varied, SHARE
    if "chosen" not in both:
        return
    choosing = both[both["outcome"].ne(SCORED) & both["outcome_varied"].ne(SCORED)]
    read = choosing.dropna(subset=["chosen", "chosen_varied"])
    if len(choosing):
        same = choosing["chosen"].eq(choosing["chosen_varied"])
        yield "same_answer", same & choosing.index.isin(read.index), SHARE
        yield "unreadable", pd.Series(~choosing.index.isin(read.index), choosing.index), SHARE
    if name == REVERSED and len(read):
        shown = read["item_id"].map(choices)
        first = read["chosen"].eq(shown.str[0]), read["chosen_varied"].eq(shown.str[-1])
        yield "first_option", pd.concat(first), SHARE
