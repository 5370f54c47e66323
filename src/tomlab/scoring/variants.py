"""Does the order of two options, or the wording of a prompt, change the answers?

A variant asks a question with swapped options (`tidy.REVERSED`) or in another wording. Its answers
are compared with those to the same question as the protocol asks it.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from tomlab.records.tidy import AS_ASKED, REVERSED, SCORED
from tomlab.scoring.stats import DIFFERENCE, SHARE, cluster_interval

_KEYS = ["model", "method", "asked_as"]
_COLUMNS = [*_KEYS, "metric", "value", "ci_low", "ci_high", "ci_method", "n", "n_groups"]


def protocol(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of responses or scores whose question was asked as in the protocol; metrics use only
    these. All rows if the table has no column `asked_as`.
    """
    if "asked_as" not in table:
        return table
    return table[table["asked_as"] == AS_ASKED].reset_index(drop=True)


def variants(scores: pd.DataFrame, items: pd.DataFrame, groups: str) -> pd.DataFrame:
    """What each variant changes: a row by model, method, variant (`asked_as`) and metric, with
    intervals over `groups`, a column of scores. Only questions that were asked both ways count. The
    table is empty if there is no variant.

    as_asked, varied, both: the mean score as in the protocol, in the variant, and over both;
    difference: varied - as_asked. If answers choose an option (scores have `chosen`, the option's
    text): same_answer, the share of questions with the same choice both times, and unreadable, the
    share with at least one unreadable answer. With swapped options also both_right, the mean of the
    two scores' products, and first_option, the share of answers that choose the option shown first,
    where both answers are readable (n: answers).
    """
    if "asked_as" not in scores:
        return pd.DataFrame(columns=_COLUMNS)
    scores = scores.sort_values("sample", kind="stable")
    # A variant numbers its samples after those of the protocol, so repeats are counted anew.
    scores = scores.assign(repeat=scores.groupby([*_KEYS, "item_id"]).cumcount())
    options = dict(zip(items["item_id"], items["choices"], strict=True))
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        is_plain = part["asked_as"] == AS_ASKED
        for asked_as, varied in part[~is_plain].groupby("asked_as", sort=False):
            pairs = part[is_plain].merge(varied, on=["item_id", "repeat"], suffixes=("", "_varied"))
            keys = {"model": model, "method": method, "asked_as": asked_as}
            for metric, values in _metrics(pairs, asked_as, options).items():
                bounds = DIFFERENCE if metric == "difference" else SHARE
                interval = cluster_interval(values, pairs.loc[values.index, groups], bounds=bounds)
                rows.append({**keys, "metric": metric, **vars(interval)})
    return pd.DataFrame(rows, columns=_COLUMNS)


def _metrics(
    pairs: pd.DataFrame, asked_as: str, options: Mapping[str, Sequence[str]]
) -> dict[str, pd.Series]:
    """The values of each metric of one variant, indexed by pair of answers."""
    as_asked = pairs["score"]
    varied = pairs["score_varied"]
    metrics = {
        "as_asked": as_asked,
        "varied": varied,
        "both": (as_asked + varied) / 2,
        "difference": varied - as_asked,
    }
    if asked_as == REVERSED:
        metrics["both_right"] = as_asked * varied
    if "chosen" not in pairs:
        return metrics
    choosing = pairs[pairs["outcome"].ne(SCORED) & pairs["outcome_varied"].ne(SCORED)]
    is_readable = choosing[["chosen", "chosen_varied"]].notna().all(axis=1)
    if len(choosing):
        metrics["same_answer"] = is_readable & choosing["chosen"].eq(choosing["chosen_varied"])
        metrics["unreadable"] = ~is_readable
    readable = choosing[is_readable]
    if asked_as == REVERSED and len(readable):
        options_shown = readable["item_id"].map(options)
        is_first = readable["chosen"].eq(options_shown.str[0])
        is_first_varied = readable["chosen_varied"].eq(options_shown.str[-1])
        metrics["first_option"] = pd.concat([is_first, is_first_varied])
    return metrics
