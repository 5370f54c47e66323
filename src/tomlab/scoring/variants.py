"""Does the order of two options, or the wording of a prompt, change the answers? And the story?

A variant asks a question with swapped options (`tidy.REVERSED`) or in another wording. Its answers
are compared with those to the same question as the protocol asks it. Questions are also asked
without the story (`tidy.NO_STORY`): `gain_from_story` says what the story adds.
"""

from collections.abc import Mapping, Sequence

import pandas as pd

from tomlab.records.tidy import AS_ASKED, NO_STORY, REVERSED, SCORED
from tomlab.scoring import paired
from tomlab.scoring.series import Series, by_unit
from tomlab.scoring.stats import DIFFERENCE, SHARE, cluster_interval
from tomlab.scoring.verdicts import BOTH

_KEYS = ["model", "method", "asked_as"]
_COLUMNS = [*_KEYS, "metric", "value", "ci_low", "ci_high", "ci_method", "n", "n_groups"]
_GAIN = ["with_story", "without_story", "gain", "ci_low", "ci_high", "ci_method"]
_GAIN += ["p", "p_holm", "n", "n_groups", "readable_with_story", "readable_without_story"]


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
        is_varied = ~part["asked_as"].isin([AS_ASKED, NO_STORY])
        for asked_as, varied in part[is_varied].groupby("asked_as", sort=False):
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


def gain_from_story(
    scores: pd.DataFrame,
    groups: str,
    kind: str,
    *,
    by: Sequence[str] = ("model", "method"),
    versions: Sequence[str] = (),
) -> pd.DataFrame:
    """What the story adds: the score with it minus the score without it, on the same questions. The
    table has a row for each question kind, and is empty if nothing was asked without the story.

    scores: of any models; groups: the column that intervals cluster on; kind: the column of
    question kinds, such as `condition`; by: the columns that divide rows further, "model" among
    them; versions: columns that both versions of a question share. If given, pairs of versions
    count, too, as the kind `BOTH`; a pair is right if both versions are.

    with_story, without_story: mean scores, in which unreadable answers count as wrong; gain, its
    interval and p: as in `paired.difference`; p_holm: p with Holm's correction over a model's rows;
    n: questions, or pairs of versions; readable_with_story, readable_without_story: the shares of
    answers that could be read (of pairs of versions, in both). Where these differ, so may the
    scores, whatever the model took from the story.
    """
    keys = [*by, kind]
    if "asked_as" not in scores:
        return pd.DataFrame(columns=[*keys, *_GAIN])
    questions = _asked_both_ways(scores.assign(group=scores[groups]), kind, by, versions)
    rows = []
    for values, part in questions.groupby(keys, sort=False):
        answers = by_unit(part, "item_id", "repeat")
        with_story = Series("score", "", answers["score_with"], answers["group"])
        without_story = Series("score", "", answers["score_without"], answers["group"])
        difference = paired.difference(with_story, without_story) or {"difference": None}
        means = {
            "with_story": answers["score_with"].mean(),
            "without_story": answers["score_without"].mean(),
            "gain": difference["difference"],
            "readable_with_story": answers["readable_with"].mean(),
            "readable_without_story": answers["readable_without"].mean(),
        }
        rows.append(dict(zip(keys, values, strict=True)) | difference | means)
    table = pd.DataFrame(rows, columns=[*keys, *_GAIN])
    table = table.sort_values([*by], kind="stable", ignore_index=True)
    return table.assign(p_holm=table.groupby("model")["p"].transform(paired.holm))


def _asked_both_ways(
    scores: pd.DataFrame, kind: str, by: Sequence[str], versions: Sequence[str]
) -> pd.DataFrame:
    """A row for each question that was asked with and without the story, and for each pair of its
    versions. The columns of either answer end in `_with` or `_without`. Arguments: as for
    `gain_from_story`; scores have a column `group`.
    """
    answers = scores[scores["asked_as"].isin([AS_ASKED, NO_STORY])]
    answers = answers.sort_values("sample", kind="stable")
    answers = answers.assign(
        repeat=answers.groupby([*_KEYS, "item_id"]).cumcount(),
        readable=answers["outcome"].isin(["correct", "wrong", SCORED]),
    )
    if versions:
        # A question that has one version only counts alone.
        shared = dict.fromkeys([*by, *_KEYS, *versions, "repeat", "group"])
        by_question = answers.groupby([*shared])
        has_both_versions = by_question[kind].nunique() == 2
        pair_scores = by_question[["item_id", "score", "readable"]].min()[has_both_versions]
        answers = pd.concat([answers, pair_scores.reset_index().assign(**{kind: BOTH})])
    keys = [*by, kind, "item_id", "repeat"]
    is_plain = answers["asked_as"] == AS_ASKED
    with_story = answers[is_plain]
    without_story = answers.loc[~is_plain, [*keys, "score", "readable"]]
    return with_story.merge(without_story, on=keys, suffixes=("_with", "_without"))
