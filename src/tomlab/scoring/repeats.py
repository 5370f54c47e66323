"""What repeats of a question bring: how far its answers vary, and how many repeats pay.

The variance of an answer's score is split by a nested analysis of variance, unbiased whatever the
number of questions in a group (Searle, Casella and McCulloch 1992, ch. 3) if chance is a new one in
each answer. Repeats take away their part alone; more questions, if some are left over, all parts.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from tomlab.errors import InputError
from tomlab.scoring.stats import CONFIDENCE, Interval, cluster_statistic

PARTS = ("groups", "questions", "repeats")
PAYS = 0.01  # one more repeat pays while it narrows the half-width by this share of it


@dataclass(frozen=True)
class Split:
    """The variance of a score between groups, between questions of a group and between repeats of
    a question; lasting: what no repeats take away of that of the mean, nan for a single group.
    below_0: whose estimate was negative and is set to 0. share: of the variance, in repeats.
    """

    groups: float
    questions: float
    repeats: float
    lasting: float
    below_0: tuple[str, ...]
    share: Interval
    n_questions: int

    def half_width(self, k: int) -> float:
        """Of the mean's 95 % interval, had each of these questions been asked `k` times."""
        variance = self.lasting + self.repeats / (self.n_questions * k)
        quantile = stdtrit(max(self.share.n_groups - 1, 1), (1 + CONFIDENCE) / 2)
        return float(quantile * np.sqrt(variance))

    def pays(self) -> float:
        """The least k after which one more narrows it by less than `PAYS`; nan if not known."""
        widths = np.array([self.half_width(k) for k in range(1, 52)])  # it is 50 at most
        few = widths[1:] >= (1 - PAYS) * widths[:-1]
        return 1.0 + np.argmax(few) if np.isfinite(self.lasting) else np.nan


def split(scores: pd.DataFrame, group: str) -> Split | None:
    """The `Split` of the scores of one model and method; None if each question was asked once.

    scores: a row an answer with `item_id`, `score` (the metric's for what can't be used, too) and
    the column `group`, over which intervals cluster. The mean's variance is taken over groups, so
    that conditions that all have add nothing to it. Errors: `InputError` for unequal repeats.
    """
    answers = scores.sort_values([group, "item_id", "score"]).groupby([group, "item_id"])["score"]
    asked = answers.agg(n="count", mean="mean").assign(within=answers.var(ddof=0))
    if (least := asked["n"].min()) != (k := int(asked["n"].max())):
        raise InputError(f"repeats: found {least} to {k} answers to a question, expected as many")
    if k == 1:
        return None
    sums = asked.assign(questions=1, squares=asked["mean"] ** 2).groupby(level=0).sum()
    more = {"of_groups": sums["mean"] ** 2 / sums["questions"], "sizes": sums["questions"] ** 2}
    sums = sums.drop(columns="n").assign(groups=1, within=sums["within"] * k / (k - 1), **more)
    parts, size, count = _parts(sums.sum().to_numpy(float), k), len(sums), len(asked)
    moved = sums["mean"] / count - sums["questions"] / count * asked["mean"].mean()
    of_mean = (moved**2).sum() * size / (size - 1) if size > 1 else np.nan
    found = np.maximum([*parts, of_mean - parts[2] / (count * k)], 0.0).tolist()
    below = tuple(name for name, part in zip(PARTS, parts, strict=True) if part < -1e-12)
    share = cluster_statistic(sums, partial(_share, k=k), n=k * count)
    return Split(*found, below, share, count)


def _parts(sums: np.ndarray, k: int) -> np.ndarray:
    """By `PARTS`, (..., 3), of sums over groups, (..., 7); 0 where there is but one to compare."""
    mean, within, questions, squares, groups, of_groups, sizes = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        repeats = within / questions
        of_means = (squares - of_groups) / (questions - groups)
        of_means = np.where(questions > groups, of_means, repeats / k)
        rest = of_groups - mean**2 / questions - (groups - 1) * of_means
        between = np.where(groups > 1, rest / (questions - sizes / questions), 0.0)
    return np.stack([between, of_means - repeats / k, repeats], axis=-1)


def _share(sums: np.ndarray, k: int) -> np.ndarray:
    parts = np.maximum(_parts(sums, k), 0.0)
    with np.errstate(invalid="ignore"):
        return np.where(parts[..., 2] == 0, 0.0, parts[..., 2] / parts.sum(axis=-1))
