"""How many of a run's groups people should label, which, and whether a judge may then stand in for
one of them (the alternative annotator test: Calderon, Reichart and Dror 2025, arXiv 2501.10970).
"""

import random
from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from tomlab.errors import InputError
from tomlab.judging.error import LEAST_LABELLED
from tomlab.scoring.stats import CONFIDENCE

EPSILON = 0.2  # what a judge may agree less than people who are experts; 0.1 for crowds
LEVEL, PASSES = 0.05, 0.5  # of the false discovery rate; the winning rate from which a judge may


def plan(scores: pd.DataFrame, correlation: float, half_width: float) -> pd.DataFrame:
    """How many groups (stories, templates) to label, so that the interval of `error.by_labels` is
    so narrow.

    scores: `model, method, group`, `judged`, and where some are known without the judge `read`;
    correlation: of judged with true scores, as a calibration has it. A row a model and method that
    the judge has a part in: `groups, spread` (standard deviation of their judged scores),
    `to_label` and the half-width that this `reaches`, more than wished where even all groups are
    too few, nan where what the judge says is all alike.

    The variance of PPI++ at its best power is s^2 / n (1 - r^2 (1 - n / N)), with the true scores
    taken to spread as the judged ones do. Scores that are known go with the true ones fully, so
    that 1 - r^2 is as much smaller as the spread of what the judge says is.
    """
    if not half_width > 0:
        raise InputError(f"half_width: found {half_width}, expected more than 0")
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        known = part["read"] if "read" in part else pd.Series(False, part.index)
        if known.all():
            continue
        by_group = part["judged"].groupby(part["group"]).mean()
        own = part["judged"].mask(known, 0.0).groupby(part["group"]).mean()
        spread, share = by_group.std(), 1.0
        if known.any():
            # That the judge says the same of all it decides is no knowledge of what they are.
            share = (own.std() / spread) ** 2 if spread > 0 and own.std() > 0 else np.nan
        together = np.sqrt(np.maximum(1 - share * (1 - correlation**2), 0))
        reached = half_widths(len(by_group), spread, together)
        enough = reached.index[reached <= half_width]
        n = enough[0] if len(enough) else len(by_group)
        rows.append((model, method, len(by_group), spread, n, reached.get(n, np.nan)))
    columns = ["model", "method", "groups", "spread", "to_label", "reaches"]
    return pd.DataFrame(rows, columns=columns)


def half_widths(groups: int, spread: float, correlation: float) -> pd.Series:
    """The half-width of the interval by how many of the groups are labelled."""
    n = np.arange(LEAST_LABELLED, groups + 1)
    # That a few groups are alike is no knowledge of how others spread.
    spread = spread if spread > 0 else np.nan
    error = spread * np.sqrt((1 - correlation**2 * (1 - n / groups)) / n)
    return pd.Series(stdtrit(n - 1, (1 + CONFIDENCE) / 2) * error, index=n)


def drawn(groups: Iterable[str], n: int, seed: int) -> list[str]:
    """`n` of the groups, by lot; with the same seed a smaller draw begins a larger one."""
    known = sorted(set(groups))
    random.Random(f"label/{seed}").shuffle(known)
    return known[:n]


def alt_test(labels: pd.DataFrame, judge: pd.Series, epsilon: float = EPSILON) -> pd.DataFrame:
    """May the judge stand in for an annotator? Each is left out in turn: who agrees with the others
    at least as often, the judge or the one left out?

    labels: `group, unit, annotator, label`; judge: its labels by unit. A row an annotator: `units,
    groups, judge_wins, annotator_wins` (shares of units; both win where they agree alike), `p` (one
    sided t-test over groups that the judge wins less by `epsilon` or more) and `rejected` (at a
    false discovery rate of 5 %, Benjamini and Yekutieli). The winning rate is the mean of
    `rejected`: from 0.5 on the judge may. Errors: `InputError` for fewer than two annotators.
    """
    # Takes a second to import, which most notebooks that import this never use.
    from scipy.stats import false_discovery_control

    wide = labels.pivot(index=["group", "unit"], columns="annotator", values="label")
    if wide.shape[1] < 2:
        raise InputError(f"labels: found {wide.shape[1]} annotators, expected two or more")
    said = wide.index.get_level_values("unit").map(judge).to_numpy()
    rows = []
    for annotator in wide:
        others = wide.drop(columns=annotator)
        both = (wide[annotator].notna() & others.notna().any(axis=1)).to_numpy() & pd.notna(said)
        own, rest = wide.loc[both, annotator], others[both]
        by_judge, by_own = (
            rest.eq(one, axis=0).where(rest.notna()).mean(axis=1)
            for one in (pd.Series(said[both], own.index), own)
        )
        wins = pd.DataFrame({"judge": by_judge >= by_own, "own": by_own >= by_judge}).astype(float)
        lost = (wins["own"] - wins["judge"]).groupby("group").mean()
        p = _less(lost.to_numpy(), epsilon)
        rows.append((annotator, len(wins), len(lost), *wins.mean(), p))
    columns = ["annotator", "units", "groups", "judge_wins", "annotator_wins", "p"]
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(rejected=false_discovery_control(found["p"], method="by") <= LEVEL)


def _less(values: np.ndarray, bound: float) -> float:
    """p of a one-sided t-test that the mean is `bound` or more; 1 where that can't be tested."""
    if len(values) < 2:
        return 1.0
    error = values.std(ddof=1) / np.sqrt(len(values))
    if error == 0:
        return float(values.mean() >= bound)
    return float(stdtr(len(values) - 1, (values.mean() - bound) / error))
