"""The audit of the published tables: from them alone, what `marks.csv` and `checks.csv` hold."""

from importlib import import_module
from pkgutil import iter_modules

from audit.checks import results

for module in iter_modules(__path__):
    import_module(f"audit.{module.name}")  # a paper's module registers its checks

__all__ = ["results"]
