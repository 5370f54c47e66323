"""Forms in Jupyter, in which people `annotate` items and answers."""

from tomlab.forms.questions import annotate

__all__ = ["annotate"]
