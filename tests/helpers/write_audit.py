"""Write `data/published/marks.csv` and `checks.csv` anew: python tests/helpers/write_audit.py"""

from audit import results
from tomlab.paths import PUBLISHED

if __name__ == "__main__":
    for name, table in zip(("marks", "checks"), results(), strict=True):
        table.to_csv(PUBLISHED / f"{name}.csv", index=False)
