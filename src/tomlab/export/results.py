"""What a run has to export: for each benchmark and model the answers to questions as the protocol
asks them, their verdicts with the rule that decided, and the metrics with their intervals.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pandas as pd

from tomlab import params, paths
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.models.embedded import SMOLLM2
from tomlab.records import tidy
from tomlab.scoring.answers import failed
from tomlab.scoring.series import metric_row
from tomlab.scoring.stats import SHARE
from tomlab.scoring.variants import protocol

# The metric that every benchmark has and to which an answer contributes its own verdict.
CORRECT = ("outcome_rate", "correct")
_KEY = ["item_id", "model", "method", "sample"]


class Part(NamedTuple):
    """The results of one benchmark and model."""

    name: str
    dataset: str  # what the items are called
    model: str  # as hubs name it
    spec: specs.ModelSpec
    temperature: float | None  # None where none was sent
    provenance: dict[str, str]
    metrics: list[dict]  # of the metrics table, with `bounds` and what the `groups` are
    answers: list[tuple[dict, dict]]  # each item with a row of responses and scores


def parts() -> Iterator[Part]:
    """What the run has of each benchmark and model, by the benchmark's calibrated judge where there
    is one. Errors: `InputError` where it has nothing.
    """
    run, found = params.load()["run"], False
    for name, model in product(run["benchmarks"], run["models"]):
        judged = paths.RESULTS / "judges" / name / "scores.parquet"
        path = judged if judged.exists() else paths.result("scores", name, model)
        responses = paths.result("responses", name, model)
        if path.exists() and responses.exists():
            scores = tidy.read("scores", path).query("model == @model")
            if len(scores):
                found = True
                yield _part(name, specs.model(model), protocol(scores), responses)
    if not found:
        raise InputError(f"{paths.RESULTS}: no answers of this run yet; run `make figures` first")


def _part(name: str, spec: specs.ModelSpec, scores: pd.DataFrame, responses: Path) -> Part:
    face, metrics, paper = (
        import_module(f"tomlab.benchmarks.{name}{module}") for module in ("", ".metrics", ".paper")
    )
    items = tidy.read("items", paths.result("items", name))
    table, counted = [], set()
    for _, method, one in metrics.series(scores):
        about = {"method": method, "groups": paper.WORDING.groups}
        if found := metric_row(one, about | {"bounds": getattr(one, "bounds", SHARE)}):
            # JSON has no nan.
            rare = found["ci_method"] == tidy.RARE
            table.append(found | dict.fromkeys(("ci_low", "ci_high") if rare else ()))
        if (one.metric, one.condition) == CORRECT:
            counted |= {(method, answer) for answer in one.values.index}
    writers, printed = items["source"].value_counts().sort_index().items(), paper.PUBLICATION
    # Only released items may go by the benchmark's own name.
    is_released = items["source"].str.startswith("released:").all()
    temperature = getattr(spec, "temperature", None)
    return Part(
        name=name,
        dataset=name if is_released else f"tomlab-{name}",
        model=_identity(spec),
        spec=spec,
        # Every benchmark's protocol asks at 0.
        temperature=0.0 if temperature == specs.PROTOCOL else temperature,
        provenance={
            "items written by": ", ".join(f"{who}: {n}" for who, n in writers),
            "protocol of": f"{printed.name} ({printed.authors_year})",
        },
        metrics=table,
        answers=list(_answers(face.rule, items, scores, responses, counted)),
    )


def _answers(
    rule: Callable, items: pd.DataFrame, scores: pd.DataFrame, responses: Path, counted: Collection
) -> Iterator[tuple[dict, dict]]:
    """Each item and answer. To the row of an answer are added: `messages` as a list, `failed` (why
    there is no response), `details` (of the verdict, with its `rule` in words), `tokens` (in the
    words of Inspect) and `counts` (whether the metric `CORRECT` counts it).
    """
    by_id = {item["item_id"]: _plain(item) for item in items.to_dict("records")}
    told = ["finish_reason", "request_key", *scores.columns.difference(_KEY, sort=False)]
    said = protocol(tidy.read("responses", responses))
    said = said[said["method"].isin(scores["method"])]
    own = scores[[*_KEY, *scores.columns.difference(said.columns, sort=False)]]
    for row in said.merge(own, on=_KEY, how="left").to_dict("records"):
        if pd.isna(row["outcome"]):
            raise InputError(f"{responses}: no score of {row['item_id']!r}; run `make figures`")
        item, answer = by_id[row["item_id"]], _plain(row)
        sent, got = answer["prompt_tokens"], answer["completion_tokens"]
        added = {
            "messages": json.loads(answer["messages"]),
            "failed": str(answer["error"]) if failed(answer) else None,
            "details": {name: answer[name] for name in told} | {"rule": rule(item, answer)},
            "tokens": {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got},
            "counts": (answer["method"], f"{answer['item_id']}/{answer['sample']}") in counted,
        }
        yield item, answer | added


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON takes it: lists for arrays, None for what is missing."""
    lists = {name: v.tolist() if hasattr(v, "tolist") else v for name, v in row.items()}
    return {n: None if pd.api.types.is_scalar(v) and pd.isna(v) else v for n, v in lists.items()}


def _identity(spec: specs.ModelSpec) -> str:
    """A model as hubs name it, `<developer>/<model>`; a server stands for an unknown developer."""
    if spec.provider == "embedded":
        own = spec.model == SMOLLM2
        return "HuggingFaceTB/SmolLM2-135M-Instruct" if own else f"local/{Path(spec.model).stem}"
    host = urlsplit(getattr(spec, "base_url", None) or "").hostname
    by = "tomlab" if spec.provider == "baseline" else host or spec.provider
    # Names such as "llama3:8b" are no names of folders.
    return re.sub(r"[^\w./-]", "-", spec.model if "/" in spec.model else f"{by}/{spec.model}")
