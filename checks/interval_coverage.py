"""How often the 95 % intervals hold the truth, and how often p finds a difference where none is:
simulated answers of which the truth is known.

    python checks/interval_coverage.py [--repeats 300] [--only intervals|pairs]

Prints coverage by kind and number of groups, the settings covered least, and widths beside Wilson's
on the effective number of answers. Then, of three models compared in pairs: coverage, how often p
is below .05, how often p and interval contradict each other, and how often Holm's correction leaves
any pair of equal models. Exits with 1 where a promise is missed. Takes about four minutes on one
core, and ten for the pairs; with what is measured near 0 and 1, about ten more.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import beta, norm
from statsmodels.stats.proportion import proportion_confint

from tomlab.benchmarks.fantom.metrics import weighted_f1
from tomlab.benchmarks.simpletom.metrics import fewest_groups, weighed
from tomlab.judging.agreement import kappa, kappa_interval
from tomlab.scoring.paired import LEVEL, differences
from tomlab.scoring.series import LEAST_RIGHT, LEAST_WITH_LABEL, Series, Statistic
from tomlab.scoring.stats import (
    DIFFERENCE,
    Interval,
    balanced_interval,
    cluster_interval,
    cluster_statistic,
    fewest_trials,
    group_sums,
    linear_interval,
)

# What is promised: from so many groups on, no setting below; and of the mean over settings.
# Of macro-F1, groups are those that have the rarest label.
PROMISED = {"share": (3, 0.93), "difference": (3, 0.93), "F1": (5, 0.93)}
PROMISED["macro-F1"] = (LEAST_WITH_LABEL, 0.85)
# Near 0 and 1, where few groups decide.
PROMISED |= {"balanced": (3, 0.93), "balanced difference": (3, 0.93), "gap": (3, 0.93)}
PROMISED |= {"ratings": (3, 0.93), "weighted F1": (10, 0.93), "F1 near 1": (10, 0.93)}
PROMISED |= {"kappa": (10, 0.93), "d'": (10, 0.93)}
MEAN = 0.95
MANY = 200_000  # groups to take the truth from
# The share of draws with an interval from which on their coverage is counted.
LEAST_TOLD = 0.5
PAIRED_GROUPS = (5, 8, 10, 14, 20, 50, 100)
# Of three models the share right, and how alike the answers of a group are.
MODELS = {
    "equal, equal spread": [(0.4, 0.2)] * 3,
    "equal, unlike spread": [(0.4, 0.0), (0.4, 0.9), (0.4, 0.3)],
    "equal and rare, unlike spread": [(0.1, 0.0), (0.1, 0.9), (0.1, 0.3)],
    "unequal": [(0.3, 0.2), (0.6, 0.2), (0.8, 0.2)],
}


def shares_of_groups(rng: np.random.Generator, share: float, likeness: float, size: int):
    """The share right in each of `size` groups; likeness: the intraclass correlation."""
    if likeness == 0:
        return np.full(size, share)
    if likeness == 1:
        return (rng.random(size) < share).astype(float)
    worth = (1 - likeness) / likeness
    return rng.beta(share * worth, (1 - share) * worth, size)


def sizes_of_groups(rng: np.random.Generator, groups: int, size: int, sizes: str) -> np.ndarray:
    if sizes == "up to":
        return rng.integers(1, size + 1, groups)
    if sizes == "a fifth of":
        return np.where(rng.random(groups) < 0.2, size, 1)
    return np.full(groups, size)


def share(rng: np.random.Generator, groups: int, size: int, sizes: str, p: float, likeness: float):
    """The interval of a share of right answers; sizes: "all of", "up to" or "a fifth of" `size`."""
    sizes = sizes_of_groups(rng, groups, size, sizes)
    names = np.repeat(np.arange(groups), sizes)
    right = rng.random(len(names)) < shares_of_groups(rng, p, likeness, groups)[names]
    return cluster_interval(pd.Series(right), pd.Series(names))


def difference(
    rng: np.random.Generator, groups: int, size: int, pair: tuple, likeness: float, agreement: float
):
    """The interval of how much more often one model is right; agreement: how often both answer from
    the same chance.
    """
    names = np.repeat(np.arange(groups), size)
    chance = rng.random(groups)
    answers = []
    for share in pair:
        chance = np.where(rng.random(groups) < agreement, chance, rng.random(groups))
        worth = (1 - likeness) / max(likeness, 1e-9)
        level = beta.ppf(chance, share * worth, (1 - share) * worth) if likeness else share
        answers.append(rng.random(len(names)) < np.broadcast_to(level, groups)[names])
    gained = answers[0].astype(float) - answers[1]
    return cluster_interval(pd.Series(gained), pd.Series(names), bounds=DIFFERENCE)


def stories(rng, number: int, beliefs: int, precision: float, recall: float, likeness: float):
    """Counts by story of beliefs found, said and there."""
    gold = np.maximum(rng.poisson(beliefs, number), 1)
    hits = rng.binomial(gold, shares_of_groups(rng, recall, likeness, number))
    wrong = rng.poisson(gold * recall * (1 - precision) / precision * rng.gamma(2, 0.5, number))
    return pd.DataFrame({"found": hits, "said": hits + wrong, "there": gold})


def f1(counts: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return 2 * counts[..., 0] / (counts[..., 1] + counts[..., 2])


def labelled(rng, number: int, groups: int, rare: int, right: tuple, likeness: float):
    """Counts by story of three labels as gold, right and given; the third is in `groups` stories."""
    gold = np.column_stack([rng.poisson(5, number) + 1, rng.poisson(3, number) + 1])
    gold = np.column_stack([gold, np.where(np.arange(number) < groups, rare, 0)])
    shares = [shares_of_groups(rng, share, likeness, number) for share in right]
    hits = rng.binomial(gold, np.column_stack(shares))
    # What is missed is said to be one of the frequent labels.
    missed = (gold - hits).sum(axis=1)
    first = rng.binomial(missed, 0.6)
    given_labels = hits + np.column_stack([first, missed - first, np.zeros(number, dtype=int)])
    return pd.DataFrame(np.concatenate([gold, hits, given_labels], axis=1))


def macro_f1(counts: np.ndarray) -> np.ndarray:
    gold, hits, given_labels = np.split(counts, 3, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(gold > 0, 2 * hits / (gold + given_labels), np.nan).mean(axis=-1)


def found_beliefs(counts: np.ndarray) -> np.ndarray:
    return counts[..., 0]


def two_kinds(rng, groups: int, size: int, design: str, likeness: float):
    """Kinds and groups of answers. design: "shared" groups with both kinds, "apart" groups with one,
    "rare" where one group in ten, and one at least, has the first kind.
    """
    names = np.repeat(np.arange(groups), size)
    if design == "shared":
        return np.arange(len(names)) % 2, names
    first = max(groups // 10, 1) if design == "rare" else groups // 2
    return (names >= first).astype(int), names


def answers_of_kinds(rng, kinds, names, shares: tuple, likeness: float) -> np.ndarray:
    """Whether each answer is right; a group is as good on one kind as on the other."""
    chance = rng.random(names.max() + 1)
    level = np.zeros(len(names))
    for kind, share in enumerate(shares):
        if likeness == 0 or share == 1:
            of_group = np.full(len(chance), share)
        else:
            worth = (1 - likeness) / likeness
            of_group = beta.ppf(chance, share * worth, (1 - share) * worth)
        level = np.where(kinds == kind, of_group[names], level)
    return (rng.random(len(names)) < level).astype(float)


def balanced(rng, groups: int, size: int, design: str, shares: tuple, likeness: float):
    kinds, names = two_kinds(rng, groups, size, design, likeness)
    right = answers_of_kinds(rng, kinds, names, shares, likeness)
    return balanced_interval(*map(pd.Series, (right, kinds, names)))


def balanced_difference(rng, groups: int, size: int, design: str, shares: tuple, likeness: float):
    """How much more often one of two models is right that are equally good."""
    kinds, names = two_kinds(rng, groups, size, design, likeness)
    a = answers_of_kinds(rng, kinds, names, shares, likeness)
    b = answers_of_kinds(rng, kinds, names, shares, likeness)
    return balanced_interval(*map(pd.Series, (a - b, kinds, names)), bounds=DIFFERENCE)


def gap(rng, groups: int, size: int, design: str, shares: tuple, likeness: float):
    """The second kind's share less the first's."""
    kinds, names = two_kinds(rng, groups, size, design, likeness)
    right = answers_of_kinds(rng, kinds, names, shares, likeness)
    sums = []
    for kind in (1, 0):
        is_kind = kinds == kind
        sums.append(group_sums(pd.Series(right[is_kind]), pd.Series(names[is_kind])))
    return linear_interval(sums, (1, -1), n=len(right))


def ratings(rng, groups: int, size: int, shares: tuple, likeness: float):
    """The interval of the mean of ratings from 1 to 5, most of which are 5."""
    p = shares_of_groups(rng, shares[0], likeness, groups)
    scores = 5 - rng.binomial(4, 1 - np.repeat(p, size)).astype(float)
    return cluster_interval(
        pd.Series(scores), pd.Series(np.repeat(np.arange(groups), size)), bounds=(1.0, 5.0)
    )


def yes_and_no(rng, groups: int, size: int, right: float, yes: float, likeness: float):
    """Counts by group of gold yes answered yes, no, neither, and of gold no answered the same."""
    p = shares_of_groups(rng, right, likeness, groups)
    is_yes = rng.random((groups, size)) < yes
    is_right = rng.random((groups, size)) < p[:, None]
    is_neither = ~is_right & (rng.random((groups, size)) < 0.3)
    columns = []
    for gold in (is_yes, ~is_yes):
        right_answers = gold & is_right
        wrong_answers = gold & ~is_right & ~is_neither
        if gold is is_yes:
            columns += [right_answers, wrong_answers]
        else:
            columns += [wrong_answers, right_answers]
        columns.append(gold & is_neither)
    return pd.DataFrame({n: column.sum(axis=1) for n, column in enumerate(columns)})


def judged(rng, groups: int, size: int, right: float, yes: float, likeness: float):
    """Counts by group of a judge's decisions: true and false positives, false and true negatives."""
    p = shares_of_groups(rng, right, likeness, groups)
    is_yes = rng.random((groups, size)) < yes
    is_right = rng.random((groups, size)) < p[:, None]
    cells = [is_yes & is_right, ~is_yes & ~is_right, is_yes & ~is_right, ~is_yes & is_right]
    return pd.DataFrame({n: cell.sum(axis=1) for n, cell in enumerate(cells)})


def of_weighted_f1(rng, *options) -> Interval:
    counts = yes_and_no(rng, *options)
    trials = fewest_trials([counts.sum(axis=1)], [1.0])
    return cluster_statistic(counts, weighted_f1, n=len(counts), trials=trials)


def of_kappa(rng, *options) -> Interval:
    return kappa_interval(judged(rng, *options))


def of_d_prime(rng, groups: int, size: int, hits: float, alarms: float, likeness: float):
    rates = [shares_of_groups(rng, share, likeness, groups) for share in (hits, alarms)]
    counts = {"hits": rng.binomial(size, rates[0]), "alarms": rng.binomial(size, rates[1])}
    sums = pd.DataFrame(counts | {"n": size})
    interval = cluster_statistic(
        sums, partial(weighed, weights=(1, -1)), n=groups * size, bounds=(-np.inf, np.inf)
    )
    if fewest_groups(sums) < LEAST_RIGHT:
        return replace(interval, ci_low=np.nan, ci_high=np.nan)
    return interval


STORY_F1 = Statistic("F1", "", None, None, f1, right=found_beliefs)


def settings(rng: np.random.Generator) -> Iterator[tuple]:
    """Kind, groups, a description, the truth, and what draws an interval."""
    yield from of_shares()
    yield from of_differences()
    yield from of_two_kinds()
    yield from of_ratings()
    yield from of_readings(rng)
    yield from of_hits_and_alarms()
    for setting in product([10, 30, 100], [6], [0.99, 0.96], [0, 0.3]):
        groups, beliefs, quality, likeness = setting
        yield of_f1("F1 near 1", rng, groups, beliefs, quality, quality, likeness)
    for setting in product([2, 5, 8, 20], [6, 25], [0.05, 0.5, 0.9], [0.1, 0.5, 0.9], [0, 0.3]):
        yield of_f1("F1", rng, *setting)
    yield from of_labels(rng)


def of_shares() -> Iterator[tuple]:
    grid = product(
        [2, 3, 5, 10, 30, 200],
        [1, 12],
        ["all of", "up to", "a fifth of"],
        [0.02, 0.2, 0.5, 0.9],
        [0, 0.1, 0.6],
    )
    for groups, size, sizes, p, likeness in grid:
        if size > 1 or (sizes == "all of" and not likeness):
            text = f"{sizes} {size} answers, p {p}, likeness {likeness}"
            yield "share", groups, text, p, (share, groups, size, sizes, p, likeness)


def of_differences() -> Iterator[tuple]:
    pairs = [(0.5, 0.5), (0.3, 0.5), (0.02, 0.1), (0.98, 0.98), (0.2, 0.9)]
    grid = product([3, 5, 10, 30, 100], [1, 12], pairs, [(0, 0), (0.2, 0.7), (0.6, 0.7)])
    for groups, size, pair, (likeness, agreement) in grid:
        if size > 1 or not likeness:
            text = f"{size} answers, p {pair}, likeness {likeness}, pairs alike {agreement}"
            options = groups, size, pair, likeness, agreement
            yield "difference", groups, text, pair[0] - pair[1], (difference, *options)


def of_two_kinds() -> Iterator[tuple]:
    """Means of two kinds, near 0 and 1 and in the middle."""
    shares_of_kinds = [(0.99, 0.99), (0.9, 1.0), (0.02, 0.02), (0.5, 0.95), (0.5, 0.5)]
    designs = [("shared", 4), ("apart", 1), ("apart", 4), ("rare", 1), ("rare", 4)]
    grid = product([10, 30, 100], designs, shares_of_kinds, [0, 0.4])
    for groups, (design, size), shares, likeness in grid:
        if size > 1 or not likeness:
            text = f"{design}, {size} a group, p {shares}, likeness {likeness}"
            options = groups, size, design, shares, likeness
            yield "balanced", groups, text, sum(shares) / 2, (balanced, *options)
            yield "balanced difference", groups, text, 0.0, (balanced_difference, *options)
            yield "gap", groups, text, shares[1] - shares[0], (gap, *options)


def of_ratings() -> Iterator[tuple]:
    for groups, size, p, likeness in product([5, 20, 100], [1, 4], [0.995, 0.97], [0, 0.4]):
        text = f"{size} a group, p {p}, likeness {likeness}"
        yield "ratings", groups, text, 1 + 4 * p, (ratings, groups, size, (p,), likeness)


def of_readings(rng: np.random.Generator) -> Iterator[tuple]:
    """Weighted F1 and kappa, which are no means."""
    grid = product([10, 30, 100], [1, 4, 12], [0.99, 0.9, 0.6], [0.5, 0.15], [0, 0.4])
    for groups, size, right, yes, likeness in grid:
        if size > 1 or not likeness:
            text = f"{size} a group, right {right}, yes {yes}, likeness {likeness}"
            options = size, right, yes, likeness
            counts = yes_and_no(rng, MANY, *options).sum().to_numpy(float)
            truth = float(weighted_f1(counts))
            yield "weighted F1", groups, text, truth, (of_weighted_f1, groups, *options)
            counts = judged(rng, MANY, *options).sum().to_numpy(float)
            yield "kappa", groups, text, float(kappa(counts)), (of_kappa, groups, *options)


def of_hits_and_alarms() -> Iterator[tuple]:
    rates = [(0.99, 0.01), (0.95, 0.05), (0.9, 0.02), (0.7, 0.3), (0.99, 0.5)]
    for groups, (hits, alarms), likeness in product([10, 30, 100], rates, [0, 0.3]):
        text = f"4 a group, hits {hits}, false alarms {alarms}, likeness {likeness}"
        truth = float(norm.ppf(hits) - norm.ppf(alarms))
        yield "d'", groups, text, truth, (of_d_prime, groups, 4, hits, alarms, likeness)


def of_f1(kind: str, rng, groups: int, beliefs: int, precision: float, recall: float, likeness):
    text = f"{beliefs} beliefs, precision {precision}, recall {recall}, likeness {likeness}"
    options = beliefs, precision, recall, likeness
    counts = stories(rng, MANY, *options).sum().to_numpy()
    return kind, groups, text, float(f1(counts)), (None, groups, *options)


def of_labels(rng: np.random.Generator) -> Iterator[tuple]:
    grid = product(
        [20, 60], [1, 2, 5, 10, 20], [1, 3], [(0.8, 0.7, 0.5), (0.9, 0.9, 0.8)], [0, 0.3]
    )
    for number, groups, rare, right, likeness in grid:
        text = f"{number} stories, {rare} rare labels in each of those, right {right}, {likeness}"
        options = number, groups, rare, right, likeness
        counts = sum(labelled(rng, *options).sum().to_numpy() for _ in range(1000))
        truth = float(macro_f1(counts.astype(float)))
        yield "macro-F1", groups, text, truth, (labelled, *options)


def drawn(rng: np.random.Generator, make, *options) -> Interval:
    if make is labelled:
        return cluster_statistic(labelled(rng, *options), macro_f1, n=options[0])
    if make:
        return make(rng, *options)
    sums = stories(rng, *options)
    return STORY_F1.without_rare_ends(cluster_statistic(sums, f1, n=options[0]), sums)


def measured(repeats: int, seed: int, kinds: Sequence[str] | None = None) -> pd.DataFrame:
    """A row a setting: how often the interval held the truth, how wide it is beside Wilson's."""
    rng = np.random.default_rng(seed)
    rows = []
    for kind, groups, text, truth, options in settings(rng):
        if kinds and kind not in kinds:
            continue
        intervals = [drawn(rng, *options) for _ in range(repeats)]
        ends = np.array([(i.value, i.ci_low, i.ci_high) for i in intervals], dtype=float)
        with_ends = ends[~np.isnan(ends[:, 1])]
        held = (with_ends[:, 1] <= truth + 1e-12) & (truth - 1e-12 <= with_ends[:, 2])
        row = {"kind": kind, "groups": groups, "setting": text, "told": len(with_ends) / repeats}
        row["coverage"] = held.mean() if len(with_ends) >= LEAST_TOLD * repeats else np.nan
        row["width"] = (with_ends[:, 2] - with_ends[:, 1]).mean() if len(with_ends) else np.nan
        row["wilson"] = wilson(ends[:, 0], truth) if kind == "share" else np.nan
        rows.append(row)
    return pd.DataFrame(rows)


def wilson(values: np.ndarray, truth: float) -> float:
    """The width of Wilson's interval on as many answers as the spread of `values` is worth."""
    worth = truth * (1 - truth) / max(values.var(), 1e-9)
    low, high = proportion_confint(truth * worth, worth, method="wilson")
    return high - low


def compared(rng: np.random.Generator, groups: int, models: list, kind: str, size: int):
    """Differences between three models in pairs, with the true one of each; kind: "share" is of
    right answers, "F1" of right ones among those given and wanted.
    """
    names = np.repeat(np.arange(groups), size)
    units = pd.Index(np.arange(len(names)).astype(str))
    measures = []
    for number, (p, likeness) in enumerate(models):
        right = rng.random(len(names)) < shares_of_groups(rng, p, likeness, groups)[names]
        if kind == "share":
            series = Series(kind, "", pd.Series(right, units, dtype=float), pd.Series(names))
        else:
            columns = {"found": right, "said": 1.0, "there": 1.0, "group": names}
            rows = pd.DataFrame(columns, units)
            series = STORY_F1._replace(rows=rows, sums=lambda table: table.groupby("group").sum())
        measures.append((str(number), "", series))
    pairs = differences("", iter(measures))
    share = [p for p, _ in models]
    truth = [share[int(a)] - share[int(b)] for a, b in zip(pairs["a"], pairs["b"], strict=True)]
    return pairs.assign(truth=truth)


def of_pairs(repeats: int, seed: int) -> pd.DataFrame:
    """A row a setting: the shares that `main` prints."""
    rng = np.random.default_rng(seed)
    rows = []
    grid = product(MODELS.items(), [("share", 1), ("share", 12), ("F1", 12)], PAIRED_GROUPS)
    for (name, models), (kind, size), groups in grid:
        if size == 1 and "unlike" in name:
            continue
        draws = [compared(rng, groups, models, kind, size) for _ in range(repeats)]
        pairs = pd.concat(draws, keys=range(repeats), names=["draw"])
        with_ends = pairs.dropna(subset="ci_low")
        truth = with_ends["truth"]
        holds = with_ends["ci_low"].le(truth) & truth.le(with_ends["ci_high"])
        leaves_out = pairs["ci_low"].gt(0) | pairs["ci_high"].lt(0)
        row = {"models": name, "kind": f"{kind}, {size} a group", "groups": groups}
        row |= {"told": len(with_ends) / len(pairs), "coverage": holds.mean()}
        row |= {"p < .05": pairs["p"].lt(LEVEL).mean()}
        row["contradict"] = (pairs["p"].lt(LEVEL) != leaves_out).mean()
        row["any after Holm"] = pairs["p_holm"].lt(LEVEL).groupby("draw").any().mean()
        rows.append(row)
    return pd.DataFrame(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=300, help="intervals of each setting")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("intervals", "pairs"))
    parser.add_argument("--kinds", nargs="*", help="of the intervals; all if not given")
    options = parser.parse_args()
    amiss = 0
    if options.only != "pairs":
        amiss += of_intervals_amiss(options)
    if options.only != "intervals":
        pairs = of_pairs(options.repeats, options.seed)
        print(pairs.round(3).to_string(index=False))
        chance = 2 * np.sqrt(LEVEL * (1 - LEVEL) / options.repeats)
        errors = pairs.loc[pairs["models"].ne("unequal"), ["p < .05", "any after Holm"]]
        amiss += pairs["contradict"].gt(0).sum() + errors.gt(LEVEL + chance).any(axis=1).sum()
    return int(amiss > 0)


def of_intervals_amiss(options: argparse.Namespace) -> int:
    """Print what `measured` found; how many promises were missed."""
    table = measured(options.repeats, options.seed, options.kinds)
    by_groups = table.groupby(["kind", "groups"], sort=False).agg(
        settings=("coverage", "size"),
        told=("told", "mean"),
        mean=("coverage", "mean"),
        least=("coverage", "min"),
        width=("width", "mean"),
        wilson=("wilson", "mean"),
    )
    print(by_groups.round(3).to_string())
    print("\nCovered least:")
    lowest = table.sort_values("coverage").groupby("kind").head(4).sort_values("kind")
    print(lowest.round(3).to_string(index=False))
    # A coverage of what is promised comes out lower by chance: two standard errors are borne.
    amiss = 0
    for kind, (least_groups, least) in PROMISED.items():
        of_kind = table[table["kind"] == kind]
        if of_kind.empty:
            continue
        counted = of_kind[of_kind["groups"] >= least_groups]
        chance = 2 * np.sqrt(least * (1 - least) / options.repeats / counted["told"])
        under = counted[counted["coverage"] < least - chance]
        mean = of_kind["coverage"].mean()
        amiss += len(under) + (mean < MEAN)
        print(
            f"{kind}: mean {mean:.3f} over {len(of_kind)} settings; least from {least_groups} groups on "
            f"{counted['coverage'].min():.3f}, {len(under)} below {least} by more than chance"
        )
    return amiss


if __name__ == "__main__":
    sys.exit(main())
