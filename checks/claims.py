"""Which claims of the papers hold: runs the page on claims and prints its verdicts.

    python checks/claims.py          also as `make claims`

Ends with 0, whatever the verdicts; with 1 and a message where something is missing or a file of
claims is at fault.
"""

import sys

import pandas as pd

from tomlab import params, paths
from tomlab.errors import InputError
from tomlab.pipeline import run_notebook

PAGE = "06_claims.ipynb"
UNTESTED, PRINTED_ORDER, NUMBERS_ONLY = "not testable here", "printed order only", "numbers only"
STOPPED = "stopped by the gate"


def main() -> int:
    try:
        claims = verdicts()
    except InputError as error:
        print(f"\nclaims: {error}\n", file=sys.stderr)
        return 1
    claims["verdict"] = claims["verdict"].mask(claims["why"].eq("the gate stops it"), STOPPED)
    for (benchmark, evidence), part in claims.groupby(["benchmark", "evidence"], sort=False):
        if evidence != "Paper":
            part = part[~part["verdict"].isin([UNTESTED, STOPPED])]
        if len(part):
            print(f"\n{benchmark}, {evidence}\n{table(part).to_string(index=False)}")
    print()
    for evidence, part in claims.groupby("evidence", sort=False):
        counts = part["verdict"].value_counts()
        print(f"{evidence}: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.items()))
    print("† stands after Holm's correction. The page says how: results/book/06_claims.html")
    return 0


def verdicts() -> pd.DataFrame:
    """The page's table, one row for each claim and kind of evidence."""
    run = params.load()["run"]
    values = {"benchmarks": list(run["benchmarks"]), "models": run["models"]}
    run_notebook.run(paths.ROOT / "notebooks" / PAGE, paths.RESULTS / "index" / PAGE, values)
    return pd.read_csv(paths.RESULTS / "tables" / "claims" / "claims.csv")


def table(claims: pd.DataFrame) -> pd.DataFrame:
    """Verdicts with scope, counts of comparisons and the interval that decides."""
    marks = claims["p_holm"].lt(0.05).map({True: " †", False: ""})
    return pd.DataFrame(
        {
            "claim": claims["id"],
            "over": claims["over"].fillna(""),
            "verdict": claims["verdict"] + marks,
            "comparisons": [comparisons(row) for row in claims.itertuples()],
            "difference": [difference(row) for row in claims.itertuples()],
            "scope": claims["scope"],
        }
    )


def comparisons(row: tuple) -> str:
    """Such as "9 of 12 in order, 7 support, 1 contradicts"; "" without comparisons."""
    if pd.isna(row.comparisons):
        return ""
    if row.verdict == NUMBERS_ONLY:
        return f"{row.comparisons:.0f} shown"
    order = f"{row.in_order:.0f} of {row.comparisons:.0f} in order"
    if row.verdict == PRINTED_ORDER:
        return order
    return f"{order}, {row.supporting:.0f} support, {row.contradicting:.0f} contradict"


def difference(row: tuple) -> str:
    """The difference that decides with its interval, or the range of all differences."""
    if pd.isna(row.comparisons):
        return ""
    if row.verdict in (PRINTED_ORDER, NUMBERS_ONLY):
        return f"{row.lowest:.3g} to {row.highest:.3g}, no interval"
    return f"{row.difference:.3f} [{row.ci_low:.3f}, {row.ci_high:.3f}]"


if __name__ == "__main__":
    sys.exit(main())
