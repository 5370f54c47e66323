"""FANToM: theory of mind in conversations that people leave and join (Kim et al., 2023)."""

from tomlab.asking.protocol import no_schema as schema
from tomlab.benchmarks.fantom.items.compose import (
    KEYS,
    METHODS,
    NAME,
    STRATA,
    UNIT,
    WITHOUT_STORY,
    asked,
    compose,
    in_words,
    messages,
    read_released,
    reference,
    shared_prefix,
)
from tomlab.benchmarks.fantom.metrics import metrics
from tomlab.benchmarks.fantom.paper import WORDING
from tomlab.benchmarks.fantom.scoring import reasoning_of, rule, score
