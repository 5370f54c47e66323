"""What a run says of a model, as sentences: templates of `words.yaml`, filled from its numbers.

Nothing is told of fewer groups than `printed.GROUPS_FOR_A_FINDING`. What the sentences of a
benchmark are about stands in its paper's `words.yaml`: `findings`, and what `chance` gives.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple, get_args

import pandas as pd
from IPython.display import Markdown

from tomlab.models.specs import BaselineModel
from tomlab.records.tidy import OUTCOMES, REVERSED
from tomlab.reporting.printed import GROUPS_FOR_A_FINDING, WORDS, cell, n_of, share, signed
from tomlab.scoring.paired import LEVEL
from tomlab.scoring.stats import DIFFERENCE, SHARE, cluster_interval

NEAR = 0.1  # "at chance" takes an interval that holds chance and nothing farther from it
UNREAD = 0.05  # a greater share of answers without a verdict is told
BASELINES = get_args(BaselineModel.model_fields["model"].annotation)  # by their usual names
_SAYS = WORDS["findings"]


class Run(NamedTuple):
    """The tables of a benchmark's run: metrics, scores as the protocol asks, those of
    `scoring.variants.variants` and of `scoring.paired.differences`.
    """

    metrics: pd.DataFrame
    scores: pd.DataFrame
    varied: pd.DataFrame
    found: pd.DataFrame


class Finding(NamedTuple):
    """A template ("": nothing to say), the number in it (a row of metrics or an interval), what n
    counts, the level that it is held against, if any, and what else the template names.
    """

    says: str
    number: Any
    unit: str
    even: float | None = None
    told: Mapping[str, str] = {}


def show(run: Run, models: Sequence[str], paper: ModuleType, words: Mapping) -> Markdown:
    """The sentences of each model that is no baseline, as a list.

    paper: the benchmark's module `paper`; words: with `findings` and `chance`, as its `words.yaml`.
    """
    wording, parts = paper.WORDING, []
    for model in (name for name in models if name not in BASELINES):
        asked = set(run.metrics.loc[run.metrics["model"] == model, "method"])
        methods = [wording.methods.get(m, m) for m in paper.REFERENCES if m in asked]
        head = _SAYS["head" if methods else "head_alone"]
        head = head.format(model=_plain(model), methods=_plain(" and ".join(methods)))
        parts.append("\n- ".join([f"{head}\n", *map(_plain, told(run, model, paper, words))]))
    return Markdown("\n\n".join(parts) or _SAYS["nobody"])


def told(run: Run, model: str, paper: ModuleType, words: Mapping) -> list[str]:
    """The sentences of one model, and how many were left out as of too few groups."""
    every, groups = list(_findings(run, model, paper, words)), paper.WORDING.groups
    enough = [one for one in every if one.number.n_groups >= GROUPS_FOR_A_FINDING]
    sentences = [_sentence(one, model, groups) for one in enough if one.says]
    if left := len(every) - len(enough):
        counts = {"left": left, "all": len(every), "least": GROUPS_FOR_A_FINDING}
        says = _SAYS["left" if enough else "nothing"]
        sentences.append(says.format(model=model, groups=groups, **counts))
    return sentences


def standing(number: Any, even: float) -> str:
    """Whether an interval lies "above" or "below" a level, holds it and nothing farther than `NEAR`
    ("at"), or can't tell ("open").
    """
    if number.ci_low > even or number.ci_high < even:
        return "above" if number.ci_low > even else "below"
    return "at" if max(number.ci_high - even, even - number.ci_low) <= NEAR else "open"


def _findings(run: Run, model: str, paper: ModuleType, words: Mapping) -> Iterator[Finding]:
    about, whose = words["findings"], run.metrics["model"].eq(model)
    scores, varied = (table[table["model"] == model] for table in (run.scores, run.varied))
    for method in paper.REFERENCES:
        metrics = run.metrics[whose & run.metrics["method"].eq(method)]
        answers = scores[scores["method"] == method]
        yield from _levels(metrics, about["levels"], words.get("chance", {}))
        yield from _leans(answers, about)
        yield from _variants(varied[varied["method"] == method])
        if "first" in about:
            yield from _first(answers, about["first"], about["cluster"])
        for spread in about.get("spreads", ()):
            yield from _spread(metrics, spread)
    yield from _differences(run.found, model, paper)
    yield from _unread(run.metrics[whose], paper)


def _levels(metrics: pd.DataFrame, levels: Mapping, chance: Mapping) -> Iterator[Finding]:
    """Each number beside chance; where nobody knows what chance gives, the number alone."""
    for metric, (unit, cells) in levels.items():
        even = chance.get(metric)
        for row in _cells(metrics, metric, cells).itertuples():
            says = _SAYS["level"] if even is None else _SAYS["chance"][standing(row, even)]
            yield Finding(says, row, unit, even, {"what": cells[row.condition]})


def _leans(answers: pd.DataFrame, about: Mapping) -> Iterator[Finding]:
    """Which way it errs: the mean, over answers that could be read, of what `toward` computes."""
    for lean in about.get("leans", ()):
        own = answers.query(lean["of"])
        own = own.dropna(subset="chosen") if "chosen" in own else own
        if "pair" in lean:  # both versions of a question, or neither
            own = own[own.groupby(lean["pair"])["score"].transform("size").eq(2)]
        if len(own):
            values, even = own.eval(lean["toward"]).astype(float), lean["even"]
            bounds = SHARE if even else DIFFERENCE
            found = cluster_interval(values, own[about["cluster"]], bounds=bounds)
            yield Finding(lean[standing(found, even)], found, lean["unit"], even)


def _variants(varied: pd.DataFrame) -> Iterator[Finding]:
    """Preference for a place, and what another order or wording changes."""
    for row in varied[varied["metric"].isin(_SAYS["variants"])].itertuples():
        is_reversed, is_difference = row.asked_as == REVERSED, row.metric == "difference"
        even, unit = (0.0, "questions") if is_difference else (0.5, "answers")
        says = _SAYS["variants"][row.metric][standing(row, even)]
        # A wording is put to questions of all kinds, with more than two answers to guess from.
        says = says if is_reversed or is_difference else _SAYS["reworded"]
        yield Finding(says, row, unit, even, {"how": _SAYS["put"][is_reversed].format(row=row)})


def _first(answers: pd.DataFrame, first: Mapping, cluster: str) -> Iterator[Finding]:
    """The first step at which units, such as templates, are not right, in most of them."""
    steps = {level: step for step, levels in first["steps"].items() for level in levels}
    own = answers.query(first["of"])
    own = own.assign(step=own[first["column"]].map(steps), right=own["outcome"].eq("correct"))
    keys = list(dict.fromkeys([cluster, *first["unit"]]))
    right = own.groupby([*keys, "step"])["right"].all().unstack("step")
    right = right.reindex(columns=list(first["steps"])).dropna().astype(bool)
    if len(right):
        failed = right.idxmin(axis=1).where(~right.all(axis=1))
        groups = right.index.get_level_values(cluster).to_series()
        found = {step: cluster_interval(failed.eq(step), groups) for step in right}
        most, second, *_ = sorted(found, key=lambda step: -found[step].value)
        says = _SAYS["first" if found[most].ci_low > found[second].ci_high else "first_open"]
        shares = ", ".join(f"{step} {_printed(one)}" for step, one in found.items())
        yield Finding(says, found[most], first["name"], None, {"most": most, "shares": shares})


def _spread(metrics: pd.DataFrame, spread: Mapping) -> Iterator[Finding]:
    """Where a score is lowest and where highest, of the cells with enough groups."""
    cells, unit = spread["cells"], spread["unit"]
    rows = _cells(metrics, spread["metric"], cells).sort_values("value", kind="stable")
    few = rows["n_groups"] < GROUPS_FOR_A_FINDING
    yield from (Finding("", row, unit) for row in rows[few].itertuples())
    if (~few).sum() > 1:
        low, *_, high = rows[~few].itertuples()
        says = _SAYS["spread" if low.ci_high < high.ci_low else "spread_open"]
        told = {"low": cells[low.condition], "high": cells[high.condition], "what": spread["name"]}
        told["highest"] = f"{_printed(high)}, n = {n_of(high.n, high.n_groups)}"
        yield Finding(says, low, unit, None, told)


def _differences(found: pd.DataFrame, model: str, paper: ModuleType) -> Iterator[Finding]:
    """Which methods differ from the plain one on a headline, as far as that holds among all."""
    names = {cell: name for name, cell in paper.HEADLINES.items()}
    own = found[found["varies"].eq("method") & found["same"].eq(model)]
    for row in own.rename(columns={"difference": "value"}).itertuples():
        if what := names.get((row.metric, row.condition)):
            a, b = (paper.WORDING.methods.get(name, name) for name in (row.a, row.b))
            says = _SAYS["differs"]["more" if row.value > 0 else "less"]
            told = {"a": a, "b": b, "what": what}
            yield Finding(says if row.p_holm < LEVEL else "", row, "pairs", 0.0, told)


def _unread(metrics: pd.DataFrame, paper: ModuleType) -> Iterator[Finding]:
    """By method the answers that were not scored, if they are more than a few."""
    lost = _cells(metrics, "outcome_rate", OUTCOMES[2:])
    for method, own in lost.groupby("method", sort=False):
        kinds = [f"{r.condition} {_printed(r)}" for r in own.itertuples() if r.value > 0]
        told = {"method": paper.WORDING.methods.get(method, method), "kinds": ", ".join(kinds)}
        told["share"] = share(lost := own["value"].sum())
        says = _SAYS["unread"] if lost > UNREAD else ""
        yield Finding(says, next(own.itertuples()), f"{paper.WORDING.unit}s", None, told)


def _cells(metrics: pd.DataFrame, metric: str, conditions: Sequence[str]) -> pd.DataFrame:
    return metrics[metrics["metric"].eq(metric) & metrics["condition"].isin(conditions)]


# ---- words ---------------------------------------------------------------------------------------


def _sentence(one: Finding, model: str, groups: str) -> str:
    counted = f"n = {one.number.n:,} {one.unit}"
    counted += f" of {one.number.n_groups:,} {groups}" if one.unit != groups else ""
    number = f"{_printed(one.number, one.even == 0)}, {counted}"
    told = {"model": model, "even": share(one.even or 0), "counted": counted, "number": number}
    return one.says.format(**told, **one.told)


def _printed(number: Any, is_difference: bool = False) -> str:
    form = signed if is_difference else share
    return cell(number.value, number.ci_low, number.ci_high, form=form)


def _plain(text: str) -> str:
    """A text as Markdown that shows it as it is, dollar signs and stars too."""
    return re.sub(r"([$*_<`\\])", r"\\\1", text)
