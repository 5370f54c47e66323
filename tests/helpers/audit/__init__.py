"""The audit of the published tables: from them alone, what `marks.csv` and `checks.csv` hold."""

from audit import bigtom, fantom, omnitom, simpletom  # noqa: F401  (they register their checks)
from audit.checks import results

__all__ = ["results"]
