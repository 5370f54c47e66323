"""BigToM's numbers: accuracy by condition, TB ∧ FB (Sec. 4.1), App. F's regression."""

import pandas as pd

from tomlab.benchmarks.bigtom.items import NAME, VARIABLES
from tomlab.records.tables import OUTCOMES, check
from tomlab.scoring.stats import cluster_interval


def metrics(scores: pd.DataFrame, *, resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """The metrics table of one or more models; intervals resample templates.

    accuracy: by `<variable>/<condition>/<initial belief>`; tb_and_fb: both right on the same
    template, by `<variable>/tb_and_fb/<initial belief>` and `…/control_tb_and_fb/…`; outcome_rate:
    the share of each outcome among all answers; released_rule: accuracy over all answers by the
    released code's reading, with what it would send to a grader as wrong. `n` counts answers, for
    tb_and_fb pairs.
    """
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        for metric, condition, values, groups in _series(part):
            interval = cluster_interval(values, groups, resamples=resamples, seed=seed)
            row = {"benchmark": NAME, "model": model, "method": method}
            rows.append(row | {"metric": metric, "condition": condition} | vars(interval))
    return check(pd.DataFrame(rows), "metrics", "bigtom metrics")


def _series(part: pd.DataFrame):
    """The series behind each metric of one model and method: values with their templates."""
    cells = part.groupby(["variable", "condition", "initial_belief"], sort=False)
    for (variable, condition, initial), cell in cells:
        yield "accuracy", f"{variable}/{condition}/{initial}", cell["score"], cell["group_id"]
    for (variable, initial), cell in part.groupby(["variable", "initial_belief"], sort=False):
        for name, pair in (("", "belief"), ("control_", "control")):
            if both := _both(cell, pair):
                yield "tb_and_fb", f"{variable}/{name}tb_and_fb/{initial}", *both
    for outcome in OUTCOMES:
        yield "outcome_rate", outcome, part["outcome"] == outcome, part["group_id"]
    lenient = part["by_released_rule"].eq(True)
    yield "released_rule", "all", lenient, part["group_id"]


def _both(cell: pd.DataFrame, pair: str) -> tuple[pd.Series, pd.Series] | None:
    """1 where the true and the false version of a template are both right, else 0.

    Only templates of which both versions were asked.
    """
    wanted = cell[cell["condition"].isin([f"true_{pair}", f"false_{pair}"])]
    wide = wanted.pivot(index=["group_id", "sample"], columns="condition", values="score").dropna()
    if wide.shape[1] < 2 or wide.empty:
        return None
    return wide.min(axis=1), pd.Series(wide.index.get_level_values("group_id"))


def circularity(scores: pd.DataFrame) -> pd.DataFrame | str:
    """App. F's logistic regression: correct ~ model x data source, on the 0-shot 12 cells.

    Standard errors are clustered by template. All templates count (the paper drew as many of the
    larger source as the smaller one has). Returns one row a coefficient (`term, b, se, p, n,
    n_groups`), or the reason why there are none: fewer than two models or data sources, or a model
    that was always right, always wrong or never asked on one source.
    """
    main = scores["condition"].isin(["true_belief", "false_belief"]) & scores["variable"].isin(
        VARIABLES
    )
    data = scores[main & (scores["method"] == "0-shot")]
    if data["model"].nunique() < 2 or data["source"].nunique() < 2:
        return "it needs items from two data sources and two models"
    share = data.pivot_table("score", "model", "source").stack(future_stack=True)
    if stuck := share.index[share.isna() | share.isin([0.0, 1.0])].tolist():
        model, source = stuck[0]
        return (
            f"{model} is always right, always wrong or never asked on {source}, so that the "
            "regression has no finite solution"
        )
    # Imported here: it takes two seconds, and one table needs it.
    import statsmodels.formula.api as smf

    clusters = data["group_id"].astype("category").cat.codes
    fit = smf.logit("score ~ model * source", data).fit(
        disp=False, cov_type="cluster", cov_kwds={"groups": clusters}
    )
    return (
        pd.DataFrame({"term": fit.params.index, "b": fit.params, "se": fit.bse, "p": fit.pvalues})
        .assign(n=len(data), n_groups=data["group_id"].nunique())
        .reset_index(drop=True)
    )


def split_condition(conditions: pd.Series) -> pd.DataFrame:
    """Conditions as variable, contingency and initial_belief; missing where a metric has none."""
    levels = r"^(?P<variable>\w+)/(?P<contingency>\w+)/(?P<initial_belief>[01])$"
    return conditions.str.extract(levels)
