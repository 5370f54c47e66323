"""SimpleToM: explicit and applied theory of mind in two-sentence stories (Gu et al., 2024)."""

from tomlab.asking.protocol import no_schema as schema
from tomlab.benchmarks.simpletom.items.compose import (
    KEYS,
    METHODS,
    NAME,
    STRATA,
    UNIT,
    WITHOUT_ITEMS,
    WITHOUT_STORY,
    asked,
    compose,
    messages,
    reference,
    remind,
    shared_prefix,
)
from tomlab.benchmarks.simpletom.items.released import read_released
from tomlab.benchmarks.simpletom.metrics import metrics
from tomlab.benchmarks.simpletom.paper import WORDING
from tomlab.benchmarks.simpletom.scoring import rule, score
from tomlab.scoring.visible import reasoning_of
