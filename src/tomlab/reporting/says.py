"""What the numbers of a table mean, in a sentence: templates of `says.yaml`, filled from the table.

Nothing is concluded from fewer groups than `printed.GROUPS_FOR_A_FINDING`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from tomlab.models.specs import Reply
from tomlab.records.files import yaml_beside
from tomlab.records.published import Wording
from tomlab.records.tidy import OUTCOMES, SCORED
from tomlab.reporting.cards import shortened
from tomlab.reporting.printed import GROUPS_FOR_A_FINDING
from tomlab.reporting.tables import count, counted, name, number

_SAYS = yaml_beside(__file__, "says.yaml")
BLIND = 0.5  # a kind of case of which a judge gets less than this right it can't see


def attempts(tried: int, usable: int, things: str) -> str:
    """How many of a writer's attempts gave `things` that can be used."""
    says = _SAYS["attempts"]["some" if tried else "none"]
    return says.format(tried=count(tried, "attempts"), usable=count(usable, things))


def spent(model: str, replies: Sequence[Reply]) -> str:
    """What some answers of a model cost."""
    if not replies:
        return _SAYS["spent"]["none"].format(model=model)
    prompts, answers = (
        f"{sum(getattr(reply, name) for reply in replies):,}"
        for name in ("prompt_tokens", "completion_tokens")
    )
    told = {"n": count(len(replies), "answers"), "prompts": prompts, "answers": answers}
    return _SAYS["spent"]["some"].format(model=model, **told)


def faults(found: int, of: int, things: str) -> str:
    """How many faults the rules found among `things`."""
    says = _SAYS["faults"]["some" if found else "none"]
    return says.format(found=count(found, "faults"), of=count(of, things))


def survive(kept: int, of: int, things: str) -> str:
    """How many of `things` are kept."""
    share = number(kept / of) if of else number(None)
    return _SAYS["survive"].format(kept=f"{kept:,}", of=count(of, things), share=share)


def asked(questions: pd.DataFrame, groups_of: pd.Series, model: str, wording: Wording) -> str:
    """About how much of a benchmark a model is asked. questions: `method, group_id`; groups_of: the
    group of every item.
    """
    by_method = questions.groupby("method", sort=False)["group_id"].nunique()
    told = {"n": count(len(questions), "questions"), "all": f"{groups_of.nunique():,}"}
    ends = [(method, by_method[method]) for method in (by_method.idxmin(), by_method.idxmax())]
    (low, few), (high, many) = [(name(m, "method", wording), f"{n:,}") for m, n in ends]
    says = _SAYS["asked"]["alike" if few == many else "unlike"]
    told |= {"low": low, "few": few, "high": high, "many": many}
    return says.format(model=model, wording=wording, **told)


def outcomes(scores: pd.DataFrame, wording: Wording) -> str:
    """How many answers are right and wrong, how many earned nothing for want of a verdict."""
    own = scores[scores["outcome"] != SCORED]
    if own.empty:
        return _SAYS["outcomes"]["none"]
    counts = own["outcome"].value_counts()
    kinds = {kind: int(counts.get(kind, 0)) for kind in OUTCOMES}
    lost = {kind: n for kind, n in kinds.items() if kind in OUTCOMES[2:] and n}
    told = {"n": count(len(own), f"{wording.unit}s"), "right": f"{kinds['correct']:,}"}
    told |= {"share": number(kinds["correct"] / len(own)), "lost": f"{sum(lost.values()):,}"}
    told["correct"] = wording.outcomes.get("correct", "right")
    told["lost_share"] = number(sum(lost.values()) / len(own))
    told["kinds"] = ", ".join(f"{n:,} {name(kind, 'outcome')}" for kind, n in lost.items())
    return _SAYS["outcomes"]["lost" if lost else "all"].format(**told)


def extremes(metrics: pd.DataFrame, what: str, wording: Wording) -> str:
    """Where a number is lowest and highest, by the method that was asked about the most groups.

    metrics: rows of one metric, of several conditions or (of one condition) methods; what: that
    metric, as the subject of a sentence.
    """
    enough = metrics[metrics["n_groups"] >= GROUPS_FOR_A_FINDING].reset_index(drop=True)
    if enough.empty:
        return few(wording)
    method = enough.loc[enough["n_groups"].idxmax(), "method"]
    own = enough[enough["method"] == method]
    by, column = "", "condition"
    if len(own) < 2:
        own, column = enough, "method"
    else:
        by = _SAYS["by"].format(method=name(method, "method", wording))
    rows = own.sort_values("value", kind="stable")
    low, high = rows.iloc[0], rows.iloc[-1]
    told = {"what": what, "by": by, "low": name(low[column], column, wording)}
    told |= {"high": name(high[column], column, wording), "least": _value(low, wording)}
    told |= {"most": _value(high, wording)}
    if len(rows) == 1:
        return _SAYS["extremes"]["one"].format(**told)
    return _SAYS["extremes"]["apart" if low.ci_high < high.ci_low else "open"].format(**told)


def few(wording: Wording) -> str:
    """That nothing is concluded."""
    return _SAYS["few"].format(least=GROUPS_FOR_A_FINDING, wording=wording)


def two_rules(ours: pd.Series, released: pd.Series, wording: Wording) -> str:
    """How far two readings of the same answers are apart; the accuracy by each, by method."""
    gap = (ours - released).abs()
    if gap.empty:
        return few(wording)
    if gap.max() < 0.005:
        return _SAYS["rules"]["alike"]
    told = {"method": name(gap.idxmax(), "method", wording)}
    told |= {"ours": number(ours[gap.idxmax()]), "released": number(released[gap.idxmax()])}
    return _SAYS["rules"]["unlike"].format(**told)


def threshold(value: float) -> str:
    """Why extraction has another F1 here than among the figures."""
    return _SAYS["default_threshold"].format(value=number(value))


def variants(found: pd.DataFrame, wording: Wording) -> str:
    """How often the option shown first is chosen and an answer stays the same."""
    own = found[found["n_groups"] >= GROUPS_FOR_A_FINDING]
    told = [
        _SAYS["variants"][row.metric].format(
            method=name(row.method, "method", wording),
            put=name(row.asked_as, "asked_as"),
            value=_value(row, wording),
        )
        for row in own.itertuples()
        if row.metric in _SAYS["variants"]
    ]
    return " ".join(told) or (few(wording) if len(found) else _SAYS["no_variants"])


def cost(usage: pd.DataFrame, model: str) -> str:
    """What it took to ask all this once. usage: of `evaluation.usage`."""
    total = usage.sum(numeric_only=True)
    told = {"model": model, "n": count(int(total["answers"]), "answers")}
    told |= {k: f"{int(total[k]):,}" for k in ("prompt_tokens", "completion_tokens", "failed")}
    says = _SAYS["cost"].format(**told)
    if "list_price_usd" in usage:
        says += " " + _SAYS["price"].format(usd=f"{total['list_price_usd']:,.2f}")
    return says


# ---- judges --------------------------------------------------------------------------------------


def unseen(by_kind: pd.DataFrame, wording: Wording) -> str:
    """Of which kinds of case a judge gets fewer than half right, or which is worst; by_kind: of
    `judging.agreement_by_kind`.
    """
    known = by_kind[by_kind["n_groups"] >= GROUPS_FOR_A_FINDING]
    if known.empty:
        return few(wording)
    judge, blind = _judge(known["judge"].iloc[0]), known[known["agreement"] < BLIND]
    kinds = "; ".join(
        _SAYS["kind"].format(
            kind=row.kind, truth="yes" if row.truth else "no", value=_right(row, wording)
        )
        for row in (blind if len(blind) else known.head(1)).itertuples()
    )
    return _SAYS["unseen" if len(blind) else "worst"].format(judge=judge, kinds=kinds)


def agreement(found: pd.DataFrame, winner: str, wording: Wording) -> str:
    """How well the best judge agrees; found: of `judging.agreement_by_judge`."""
    best = found[found["judge"] == winner].iloc[0]
    return _SAYS["agreement"].format(
        judge=f"“{name(winner, 'judge')}”", value=_right(best, wording)
    )


def gained(found: pd.DataFrame) -> str:
    """Which judges the best one agrees more than; found: of `judging.differences`."""
    known = found.dropna(subset=["ci_low", "ci_high"])
    parts = {"sure": known[known["ci_low"] > 0], "open": known[known["ci_low"] <= 0]}
    parts["lost"] = found[~found["judge"].isin(known["judge"])]
    told = [
        _SAYS["gained"][kind].format(
            judges=", ".join(f"“{name(j, 'judge')}”" for j in own["judge"])
        )
        for kind, own in parts.items()
        if len(own)
    ]
    return " ".join(told)


def changes(effect: pd.DataFrame, wording: Wording) -> str:
    """What a grader would change; effect: of `grading.changes`."""
    total = effect[["answers", "unparsed", "becomes_correct"]].sum()
    if not total["unparsed"]:
        return _SAYS["changes"]["none"].format(n=count(int(total["answers"]), "answers"))
    gap = effect["accuracy_graded"] - effect["accuracy"]
    most = effect.loc[gap.idxmax()]
    told = {key: f"{int(value):,}" for key, value in total.items()}
    told |= {"model": most["model"], "method": name(most["method"], "method", wording)}
    told |= {k: number(most[k]) for k in ("accuracy", "accuracy_graded")}
    return _SAYS["changes"]["some"].format(**told)


def made(table: pd.DataFrame, wording: Wording) -> str:
    """How many answers of known meaning were made. table: `group, operation`."""
    told = {"n": count(len(table), "answers"), "kinds": table["operation"].nunique()}
    return _SAYS["made"].format(**told, groups=count(table["group"].nunique(), wording.groups))


def first_answer(judge: str, answers: pd.Series) -> str:
    """What a language model said first when it was asked to judge."""
    known = answers.dropna()
    if known.empty:
        return _SAYS["first_answer"]["none"]
    return _SAYS["first_answer"]["some"].format(judge=judge, answer=shortened(known.iloc[0], 300))


def margins(effect: pd.DataFrame, wording: Wording) -> str:
    """How far a margin moves an accuracy; effect: `model, method, scenario, margin, accuracy`."""
    known = effect[effect["n_groups"] >= GROUPS_FOR_A_FINDING]
    if known.empty:
        return few(wording)
    ends = known.groupby(["model", "method", "scenario"], sort=False)["accuracy"].agg(
        ["min", "max"]
    )
    model, method, scenario = (ends["max"] - ends["min"]).idxmax()
    low, high = map(number, ends.loc[(model, method, scenario)])
    told = {"method": name(method, "method", wording), "low": low, "high": high}
    where = name(scenario, "scenario", wording)
    return _SAYS["margins"].format(model=model, scenario=where, **told)


def unmatched(counts: pd.Series) -> str:
    """How many rows have no partner; counts: by row its partners."""
    return _SAYS["unmatched"].format(share=number(float(counts.eq(0).mean())))


def carried(qualities: pd.DataFrame) -> str:
    """Whether a judge errs in a run as in its calibration; qualities: of `error.transport`."""
    if qualities.empty:
        return _SAYS["carried"]["none"]
    outside = int(qualities["outside"].sum())
    kind = "all" if not outside else "some"
    return _SAYS["carried"][kind].format(outside=outside, all=len(qualities))


def plan(
    groups: Sequence[str], form: pd.DataFrame, things: str, together: float, wording: Wording
) -> str:
    """How much people should label. groups: those drawn; form: the rows to fill in, `things`;
    together: how judged and true go together, as `planner.plan` takes it.
    """
    if not len(form):
        return _SAYS["plan"]["none"]
    told = {"n": count(len(form), things), "groups": count(len(groups), wording.groups)}
    told["together"] = number(together)
    return _SAYS["plan"]["some"].format(**told)


def by_people(labels: int, others: int) -> str:
    """How many labels of people there are, of this run's answers and of others."""
    return _SAYS["by_people"]["some" if labels else "none"].format(labels=labels, others=others)


def stand_in(test: pd.DataFrame) -> str:
    """Whether a judge may stand in for an annotator; test: of `planner.alt_test`, empty without."""
    if test.empty:
        return _SAYS["stand_in"]["none"]
    rate = test["rejected"].mean()
    return _SAYS["stand_in"]["may" if rate >= 0.5 else "may_not"].format(rate=number(rate))


def in_use(chosen: Mapping[str, Any]) -> str:
    """Which judge decides from here on; chosen: what `judges.save` wrote as `winner.json`."""
    told = [_SAYS["in_use"]["judge"].format(judge=name(chosen["judge"], "judge"))]
    told += [
        _SAYS["in_use"][key].format(value=number(chosen[key]))
        for key in ("margin", "threshold")
        if chosen.get(key) is not None
    ]
    return " ".join([*told, _SAYS["in_use"]["truth"].format(truth=chosen["truth"])])


def _judge(judge: str) -> str:
    return f"“{name(judge, 'judge')}”"


def _value(row: Any, wording: Wording) -> str:
    interval = f"{number(row.value)} [{number(row.ci_low)}, {number(row.ci_high)}]"
    return f"{interval}, n = {counted(row.n, row.n_groups, wording.groups)}"


def _right(row: Any, wording: Wording) -> str:
    interval = f"{number(row.agreement)} [{number(row.ci_low)}, {number(row.ci_high)}]"
    return f"{interval}, n = {counted(row.n, row.n_groups, wording.groups)}"
