"""Asking a language model for BigToM templates, and for labels (Sec. 3.2, App. A, G)."""

import random
from collections.abc import Mapping
from typing import Any

import pandas as pd

from tomlab.asking import prompts
from tomlab.asking.attempts import OUTCOME
from tomlab.benchmarks.bigtom.items.templates import COLUMNS, FIELDS, agent_name, label, written_out
from tomlab.benchmarks.writing import Draft, Step, Unparsed, labelled_values
from tomlab.models.specs import Request

TEMPERATURE, EXAMPLES = 0.5, 3  # Sec. 3.2
MAX_TOKENS = 600
_ASK = {"role": "user", "content": "Write one new story."}


def drafts(examples: pd.DataFrame, count: int, model: str, *, seed: int = 0) -> list[Draft]:
    """The drafts of `count` new templates. As in the paper, all are samples of one prompt, which
    shows the same three examples, drawn by `seed`. examples: a template table.
    """
    chosen = random.Random(seed).sample(examples.to_dict("records"), EXAMPLES)
    return [
        {"template_id": f"llm-{model}-{sample + 1:03d}", "examples": chosen, "sample": sample}
        for sample in range(count)
    ]


class _Template(Step):
    def request(
        self, draft: Draft, replaced: Mapping[str, str] | None = None, **options: Any
    ) -> Request:
        labels = "\n".join(map(label, FIELDS))
        rules = prompts.filled("bigtom/generation", replaced, labels=labels)
        turns = [{"role": "system", "content": rules}]
        for example in draft["examples"]:
            turns += [_ASK, {"role": "assistant", "content": written_out(example)}]
        # The prompt is the same in every attempt, so an engine with a prefix cache reads it once.
        options |= {"sample": draft["sample"], "shared_prefix": _ASK["content"]}
        return Request((*turns, _ASK), MAX_TOKENS, TEMPERATURE, **options)


def parse_template(text: str, _: Draft) -> dict[str, str] | Unparsed:
    """The variables of a written-out template and the agent's name, or why it cannot be read."""
    template = labelled_values(text, {label(name): name for name in FIELDS})
    if isinstance(template, Unparsed):
        return template
    return template | {"agent": agent_name(template["belief_answer_not_aware"])}


def parse_labels(text: str, _: Draft) -> dict[str, str] | Unparsed:
    """`state` and `mechanism` from an answer of two lines, or why it cannot be read."""
    labels = labelled_values(text, {"State": "state", "Mechanism": "mechanism"})
    if isinstance(labels, Unparsed):
        return labels
    return {name: value.lower().strip(" .") for name, value in labels.items()}


def templates(rows: list[Draft]) -> pd.DataFrame:
    """The result of each request: a template table with the columns `OUTCOME`. Variables are empty
    if the model's answer was no template.
    """
    return pd.DataFrame(rows, columns=[*COLUMNS, *OUTCOME], dtype=str).fillna("")


TEMPLATE = _Template("template", parse_template, good="template")
LABELS = Step("labels", parse_labels, "bigtom/labels", options={"max_tokens": 40})
