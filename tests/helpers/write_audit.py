"""Write `marks.csv` and `checks.csv` of each paper anew: python tests/helpers/write_audit.py"""

from audit import results
from tomlab.paths import PUBLISHED

if __name__ == "__main__":
    for name, table in zip(("marks", "checks"), results(), strict=True):
        for paper, rows in table.groupby("paper", sort=False):
            rows.drop(columns="paper").to_csv(PUBLISHED / paper / f"{name}.csv", index=False)
