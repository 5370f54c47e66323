"""Forms in Jupyter: `write` new items together with a model, `annotate` items and answers."""

from tomlab.forms.desk import write
from tomlab.forms.questions import annotate

__all__ = ["annotate", "write"]
