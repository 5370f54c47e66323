"""BigToM: social reasoning from causal templates (Gandhi et al., 2023)."""

from tomlab.asking.protocol import no_schema as schema
from tomlab.benchmarks.bigtom.items.compose import (
    KEYS,
    METHODS,
    NAME,
    STRATA,
    UNIT,
    WITHOUT_STORY,
    asked,
    compose,
    messages,
    read_released,
    reference,
    shared_prefix,
)
from tomlab.benchmarks.bigtom.metrics import metrics
from tomlab.benchmarks.bigtom.paper import WORDING
from tomlab.benchmarks.bigtom.scoring import rule, score
from tomlab.scoring.visible import reasoning_of
