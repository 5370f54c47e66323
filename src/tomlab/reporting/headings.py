"""What a figure finds: its title, what the paper said and what this run says, from its points.

Points are rows of a figure: source, model, what (in words), value, ci_low, ci_high, n, n_groups.
"""

from collections.abc import Mapping
from itertools import takewhile
from string import Formatter

import pandas as pd

from tomlab.reporting import printed
from tomlab.reporting.beside import Form
from tomlab.reporting.findings import BASELINES, standing
from tomlab.reporting.printed import PAPER, RUN, WORDS


def title(
    points: pd.DataFrame, even: float, says: Mapping[str, str], many: str = "", **told: str
) -> str:
    """Which models of this run lie above, and which below, the level `even`, and on what.

    says: templates by "above", "below" or both, which name {who} and {what}; "none", where no
    number lies apart from the level; "few", where none is from enough groups. Baselines have no
    say. many: how more than three kinds are called, else each is named.
    """
    run = _models(points)
    enough = run[~printed.is_few(run)]
    if enough.empty:
        return says["few"].format(**told)
    sides = enough.assign(side=[standing(row, even) for row in enough.itertuples()])
    models, parts = list(run["model"].unique()), []
    for side in [side for side in ("above", "below") if side in says]:
        own = sides[sides["side"] == side]
        count = own.groupby("what", sort=False)["model"].nunique()
        for k, what in count.groupby(count, sort=False).groups.items():
            who = models[0] if len(models) == 1 else f"{k} of {len(models)} models"
            said = says[side].format(who=who, what=_kinds(what, many), **told)
            parts.append(said.removeprefix(f"{who} ") if parts and len(models) == 1 else said)
    who = models[0] if len(models) == 1 else f"{len(models)} models"
    return "; ".join(parts) or says["none"].format(who=who, **told)


def headline(rows: pd.DataFrame, column: str, says: Mapping[str, str]) -> str:
    """The title of a figure: what it finds of the models of this run.

    rows: source, model, value, n_groups; column: what names a number, in braces in `says["run"]`
    beside {models}; several numbers of one name are told as their range. Of baselines, and of too
    few groups, nothing is found, nor of a run that lacks one of these numbers: then `says["else"]`.
    """
    own = _models(rows)
    own = own[~printed.is_few(own)]
    spans = own.groupby(column)["value"].agg(["min", "max"]).map(printed.share)
    told = {level: "–".join(dict.fromkeys(ends)) for level, ends in spans.T.items()}
    models = own["model"].unique()
    who = models[0] if len(models) == 1 else f"{len(models)} models"
    lacking = [part for part in _named_in(says["run"]) if part not in told | {"models": who}]
    return says["else"] if lacking or own.empty else says["run"].format(models=who, **told)


def said(
    points: pd.DataFrame, place: str, limits: str, form: Form = printed.share
) -> dict[str, str]:
    """What stands below a figure, by `WORDS["said"]`: the paper's lowest and highest number of each
    kind with the place it is printed in; this run's numbers with interval and n; limits.
    """
    paper, run = points[points["source"] == PAPER], _models(points)
    told = [_ends(what, own, form) for what, own in paper.groupby("what", sort=False)]
    own = [
        f"{model}: " + ", ".join(f"{row.what} {_number(row, form)}" for row in rows.itertuples())
        for model, rows in run.groupby("model", sort=False)
    ]
    return {
        "paper": f"{'; '.join(told)} ({place})." if told else place,
        "run": f"{'; '.join(own)}." if own else f"{WORDS['not_run']}.",
        "not shown": limits,
    }


def told(points: pd.DataFrame, words: Mapping[str, str], place: str = "") -> dict[str, str]:
    """`said` of points, below what the paper claims in words: those of a figure (`paper`,
    "" for none, and `not shown`); place: where the paper's numbers are printed.
    """
    found = said(points, place, words["not shown"])
    numbers = [found["paper"]] if points["source"].eq(PAPER).any() else []
    found["paper"] = " ".join([words["paper"], *numbers]).strip()
    return {key: text for key, text in found.items() if text}


def counted(caption: str, points: pd.DataFrame, groups: str) -> str:
    """A caption with n and groups of this run's points, where it has any."""
    run = points[points["source"] == RUN]
    n, of = (printed.span(run[name]) for name in ("n", "n_groups"))
    told = WORDS["figure_n"].format(n=n, of=of, groups=groups)
    return caption if run.empty else f"{caption} {told}"


def listed(names: list[str]) -> str:
    """Names in a row: "a, b and c"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _kinds(names: list[str], many: str) -> str:
    """Names in a row, the words that all begin with once; or how many there are."""
    if many and len(names) > 3:
        return f"{len(names)} {many}"
    heads = zip(*(name.split()[:-1] for name in names), strict=False)
    once = [words[0] for words in takewhile(lambda words: len(set(words)) == 1, heads)]
    return " ".join([*once, listed([" ".join(name.split()[len(once) :]) for name in names])])


def _models(points: pd.DataFrame) -> pd.DataFrame:
    is_own = points["source"].eq(RUN) & ~points["model"].isin(BASELINES)
    return points[is_own & points["value"].notna()]


def _number(row, form: Form) -> str:
    n = printed.n_of(row.n, row.n_groups)
    return f"{printed.cell(row.value, row.ci_low, row.ci_high, form=form)} (n = {n})"


def _ends(what: str, own: pd.DataFrame, form: Form) -> str:
    low, high = (own.loc[place] for place in (own["value"].idxmin(), own["value"].idxmax()))
    if low["value"] == high["value"]:
        return f"{what} {form(low['value'])}"
    ends = [f"{form(end['value'])} ({end['model']})" for end in (low, high)]
    return f"{what} {' to '.join(ends)}"


def _named_in(template: str) -> list[str]:
    return [name for _, name, *_ in Formatter().parse(template) if name]
