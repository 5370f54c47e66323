"""BigToM's numbers: accuracy by condition, TB ∧ FB (Sec. 4.1), App. F's by data source."""

from collections.abc import Iterator

import pandas as pd
from scipy.special import stdtr

from tomlab.benchmarks.bigtom.items.compose import NAME, main_cells
from tomlab.records.tidy import check
from tomlab.scoring.series import Series, Told, by_unit, over_all, table
from tomlab.scoring.variants import protocol

# What stands in the place of a condition where both versions of a template are counted as one.
PAIRS = {"belief": "tb_and_fb", "control": "control_tb_and_fb"}


def metrics(scores: pd.DataFrame) -> pd.DataFrame:
    """The metrics table of one or more models; intervals cluster on templates.

    accuracy: by `<variable>/<condition>/<initial belief>`; tb_and_fb: both right on the same
    template, by `<variable>/tb_and_fb/<initial belief>` and `…/control_tb_and_fb/…`, with n pairs;
    outcome_rate and released_rule: over all answers, with what the released code would send to a
    grader as wrong.
    """
    return check(table(NAME, series(scores)), "metrics", "bigtom metrics")


def series(scores: pd.DataFrame) -> Told:
    """What each number of `metrics` is made of; units are answers, for tb_and_fb templates."""
    for (model, method), part in protocol(scores).groupby(["model", "method"], sort=False):
        for one in _series(by_unit(part)):
            yield model, method, one


def _series(part: pd.DataFrame) -> Iterator[Series]:
    for cell, own in part.groupby(["variable", "condition", "initial_belief"], sort=False):
        yield Series("accuracy", "/".join(map(str, cell)), own["score"], own["group_id"])
    for (variable, initial), own in part.groupby(["variable", "initial_belief"], sort=False):
        wide = own.pivot(index=["group_id", "sample"], columns="condition", values="score")
        for pair, name in PAIRS.items():
            # Only templates of which both versions were asked: 1 where both are right, else 0.
            both = wide.reindex(columns=[f"true_{pair}", f"false_{pair}"]).dropna().min(axis=1)
            if len(both):
                groups = both.index.get_level_values("group_id").to_series()
                yield Series("tb_and_fb", f"{variable}/{name}/{initial}", both, groups)
    yield from over_all(part)


def circularity(scores: pd.DataFrame) -> pd.DataFrame | str:
    """App. F's logistic regression: correct ~ model x data source, on the 0-shot 12 cells.

    Standard errors are clustered by template, with Mancl and DeRouen's correction for few of them
    (2001), and p is of Student's t with n_groups - 1 degrees of freedom. All templates count (the
    paper drew as many of each source). Returns one row a coefficient (`term, b, se, p, n,
    n_groups`), or the reason why there are none.
    """
    data = main_cells(scores[scores["method"] == "0-shot"])
    if data["model"].nunique() < 2 or data["source"].nunique() < 2:
        return "it needs items from two data sources and two models"
    share = data.pivot_table("score", "model", "source").stack(future_stack=True)
    if stuck := share.index[share.isna() | share.isin([0.0, 1.0])].tolist():
        model, source = stuck[0]
        return f"{model} is always right, always wrong or never asked on {source}"
    # Imported here: it takes two seconds, and one table needs it.
    import statsmodels.api as sm

    # With independence within a cluster, which the errors do without, this is plain regression.
    equation, family = "score ~ model * source", sm.families.Binomial()
    fit = sm.GEE.from_formula(equation, data["group_id"], data, family=family)
    fit, n_groups = fit.fit(cov_type="bias_reduced"), data["group_id"].nunique()
    p = 2 * stdtr(n_groups - 1, -fit.tvalues.abs())
    found = pd.DataFrame({"b": fit.params, "se": fit.bse, "p": p, "n": len(data)})
    return found.assign(n_groups=n_groups).rename_axis("term").reset_index()
