"""Forms in Jupyter: `write` new items together with a model, `annotate` items and answers."""

from tomlab.forms.annotate import annotate
from tomlab.forms.write import write

__all__ = ["annotate", "write"]
