"""BigToM: social reasoning from causal templates (Gandhi et al., 2023)."""

from tomlab.benchmarks.bigtom.items import (
    KEYS,
    METHODS,
    NAME,
    asked,
    compose,
    messages,
    read_released,
    reference,
    shared_prefix,
)
from tomlab.benchmarks.bigtom.metrics import metrics
from tomlab.benchmarks.bigtom.scoring import score

__all__ = [
    "KEYS",
    "METHODS",
    "NAME",
    "asked",
    "compose",
    "messages",
    "metrics",
    "read_released",
    "reference",
    "score",
    "shared_prefix",
]
