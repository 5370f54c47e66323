"""Which claims of the papers hold: runs the page on claims and prints what it found.

    python checks/claims.py          also as `make claims`

Ends with 0, whatever the verdicts; with 1 and a message where something is missing or a file of
claims is at fault.
"""

import sys
from collections import Counter

import pandas as pd

from tomlab import params, paths
from tomlab.errors import InputError
from tomlab.pipeline import run_notebook

PAGE = "06_claims.ipynb"


def found() -> pd.DataFrame:
    """The page's table, a row a claim and kind of evidence."""
    run = params.load()["run"]
    values = {"benchmarks": list(run["benchmarks"]), "models": run["models"]}
    run_notebook.run(paths.ROOT / "notebooks" / PAGE, paths.RESULTS / "index" / PAGE, values)
    return pd.read_csv(paths.RESULTS / "tables" / "claims" / "claims.csv")


def main() -> int:
    try:
        every = found()
    except InputError as error:
        print(f"\nclaims: {error}\n", file=sys.stderr)
        return 1
    is_stopped = every["why"].eq("the gate stops it")
    every["verdict"] = every["verdict"].mask(is_stopped, "stopped by the gate")
    every["verdict"] += every["p_holm"].lt(0.05).map({True: " †", False: ""})
    order = list(dict.fromkeys(every["evidence"]))
    for benchmark, part in every.groupby("benchmark", sort=False):
        wide = part.pivot(index="id", columns="evidence", values="verdict")
        print(f"\n{benchmark}\n{wide.loc[part['id'].unique(), order].to_string()}")
    print()
    for evidence, part in every.groupby("evidence", sort=False):
        counts = Counter(part["verdict"].str.removesuffix(" †"))
        print(f"{evidence}: " + ", ".join(f"{n} {word}" for word, n in counts.most_common()))
    print("† stands after Holm's correction. The page says how: results/book/06_claims.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
