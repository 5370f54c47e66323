"""OmniToM: who believes what in a story, extracted and labelled (Bawatneh et al., 2026)."""

from tomlab.benchmarks.omnitom.items.compose import (
    KEYS,
    METHODS,
    NAME,
    STRATA,
    UNIT,
    asked,
    compose,
    in_words,
    labelled,
    messages,
    read_released,
    reference,
    schema,
    shared_prefix,
    weighed,
)
from tomlab.benchmarks.omnitom.metrics import metrics
from tomlab.benchmarks.omnitom.paper import WORDING
from tomlab.benchmarks.omnitom.scoring import rule, score
from tomlab.scoring.visible import reasoning_of
