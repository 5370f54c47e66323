"""BigToM templates by language model: asking for them, reading labels (Sec. 3.2, App. A, G)."""

import random
import re
from collections.abc import Mapping, Sequence

import pandas as pd

from tomlab.asking import prompts
from tomlab.asking.attempts import OUTCOME, attempt
from tomlab.benchmarks.bigtom.items import templates as causal
from tomlab.models.specs import Request, Response
from tomlab.scoring.visible import visible

TEMPERATURE, EXAMPLES = 0.5, 3  # Sec. 3.2
MAX_TOKENS = 600
_ASK = {"role": "user", "content": "Write one new story."}


def generation_requests(
    examples: pd.DataFrame,
    count: int,
    *,
    examples_seed: int = 0,
    seed: int = 0,
    replaced: Mapping[str, str] | None = None,
) -> list[Request]:
    """`count` requests for one new template each, with three examples drawn by `examples_seed`.

    All show the same examples and differ in the sampling seed alone, as the paper asks for several
    completions of one prompt. examples: a template table.
    """
    labels = "\n".join(causal.label(name) for name in causal.FIELDS)
    rules = prompts.filled("bigtom/generation", replaced, labels=labels)
    turns = [{"role": "system", "content": rules}]
    for example in random.Random(examples_seed).sample(examples.to_dict("records"), EXAMPLES):
        turns += [_ASK, {"role": "assistant", "content": causal.written_out(example)}]
    # The prompt is the same in every attempt, so an engine with a prefix cache reads it once.
    options = {"seed": seed, "shared_prefix": _ASK["content"]}
    asked = (*turns, _ASK)
    return [Request(asked, MAX_TOKENS, TEMPERATURE, sample=i, **options) for i in range(count)]


def attempts(responses: Sequence[Response], model: str) -> pd.DataFrame:
    """What became of each request: a template table with `OUTCOME` (good status: "template").
    What is no template keeps its text and the reason, with empty variables.
    """
    rows = []
    for number, response in enumerate(responses, start=1):
        parsed, outcome = attempt(response, lambda a: causal.parse_generation(a.text), "template")
        row = {"template_id": f"llm-{model}-{number:03d}", "source": f"llm:{model}", **outcome}
        rows.append({**row, **parsed, "agent": causal.agent_name(parsed)} if parsed else row)
    return pd.DataFrame(rows, columns=[*causal.COLUMNS, *OUTCOME], dtype=str).fillna("")


def parse_labels(text: str) -> dict[str, str]:
    """`state` and `mechanism` from an answer of two lines; {} if either is not there."""
    answer, _ = visible(text)
    # A label stands on the line of its name and has at least one letter or digit.
    gap = r"[^\w\n]*"
    labels = {}
    for name in ("state", "mechanism"):
        line = re.search(rf"(?im)^{gap}{name}{gap}?:{gap}(\w.*?)\W*$", answer)
        if not line:
            return {}
        labels[name] = line[1].lower()
    return labels
