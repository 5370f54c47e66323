"""What a run has to export: for each benchmark and model the answers to questions as the protocol
asks them, their verdicts with the rule that decided, and the metrics with their intervals.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from tomlab import params, paths
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.models.embedded import SMOLLM2
from tomlab.records import tidy
from tomlab.scoring.answers import failed
from tomlab.scoring.series import rows
from tomlab.scoring.stats import SHARE
from tomlab.scoring.variants import protocol

# The metric that every benchmark has and to which an answer contributes its own verdict.
CORRECT = ("outcome_rate", "correct")
_KEY = ["item_id", "model", "method", "sample"]


@dataclass(frozen=True)
class Part:
    """The results of one benchmark and model.

    dataset: what the items are called; model: as hubs name it; temperature: that it was asked at,
    None where none was sent; metrics: rows of the metrics table, each with the `bounds` of its
    value and what its `groups` are; counted: by method the answers (`item_id/sample`) that the
    metric `CORRECT` counts; answers: each item with an answer to it, a row of responses and scores
    with `messages` as a list, `failed` (why there is no response) and `details` (of the verdict,
    with its `rule` in words).
    """

    name: str
    dataset: str
    model: str
    spec: specs.ModelSpec
    temperature: float | None
    provenance: dict[str, str]
    metrics: list[dict]
    counted: dict[str, frozenset]
    answers: list[tuple[dict, dict]]


def parts() -> Iterator[Part]:
    """What the run has of each benchmark and model. Errors: `InputError` where it has nothing."""
    found = False
    for name, table in items():
        for model in params.load()["run"]["models"]:
            scores, responses = _scores(name, model), paths.result("responses", name, model)
            if scores is not None and len(scores) and responses.exists():
                found = True
                yield _part(name, specs.model(model), table, protocol(scores), responses)
    if not found:
        raise InputError(f"{paths.RESULTS}: no answers of this run yet; run `make figures` first")


def _scores(benchmark: str, model: str) -> pd.DataFrame | None:
    """A model's scores, by the benchmark's calibrated judge where there is one; None without."""
    judged = paths.RESULTS / "judges" / benchmark / "scores.parquet"
    path = judged if judged.exists() else paths.result("scores", benchmark, model)
    if not path.exists():
        return None
    scores = tidy.read("scores", path)
    return scores[scores["model"].eq(model)]


def _part(
    name: str, spec: specs.ModelSpec, table: pd.DataFrame, scores: pd.DataFrame, responses: Path
) -> Part:
    groups = import_module(f"tomlab.benchmarks.{name}.paper").WORDING.groups
    metrics, counted = [], {}
    for _, method, one in import_module(f"tomlab.benchmarks.{name}.metrics").series(scores):
        more = {"method": method, "groups": groups, "bounds": getattr(one, "bounds", SHARE)}
        metrics += rows([one], more)
        if (one.metric, one.condition) == CORRECT:
            counted[method] = frozenset(one.values.index)
    given = getattr(spec, "temperature", None)
    return Part(
        name=name,
        dataset=dataset(name, table),
        model=identity(spec),
        spec=spec,
        temperature=0.0 if given == specs.PROTOCOL else given,  # of all benchmarks' protocols
        provenance={"items written by": writers(table), "protocol of": cited(name)},
        metrics=metrics,
        counted=counted,
        answers=list(_answers(name, table, scores, responses)),
    )


def _answers(
    name: str, table: pd.DataFrame, scores: pd.DataFrame, responses: Path
) -> Iterator[tuple[dict, dict]]:
    rule = import_module(f"tomlab.benchmarks.{name}").rule
    items = {item["item_id"]: _plain(item) for item in table.to_dict("records")}
    verdicts = {tuple(row[key] for key in _KEY): row for row in scores.to_dict("records")}
    said = protocol(tidy.read("responses", responses))
    for row in said[said["method"].isin(scores["method"])].to_dict("records"):
        if (verdict := verdicts.get(tuple(row[key] for key in _KEY))) is None:
            raise InputError(f"{responses}: no score of {row['item_id']!r}; run `make figures`")
        item, answer = items[row["item_id"]], _plain(row | verdict)
        told = ("finish_reason", "request_key", *(name for name in verdict if name not in _KEY))
        answer["details"] = {n: answer[n] for n in told} | {"rule": rule(item, answer)}
        answer["failed"] = str(answer["error"]) if failed(answer) else None
        yield item, answer | {"messages": json.loads(answer["messages"])}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON takes it: lists for arrays, None for what is missing."""
    lists = {name: v.tolist() if hasattr(v, "tolist") else v for name, v in row.items()}
    return {n: None if pd.api.types.is_scalar(v) and pd.isna(v) else v for n, v in lists.items()}


def tokens(answer: dict[str, Any]) -> dict[str, int]:
    """The tokens of an answer, in the words that both formats of answers use."""
    used = {"input_tokens": answer["prompt_tokens"], "output_tokens": answer["completion_tokens"]}
    return used | {"total_tokens": sum(used.values())}


def items() -> Iterator[tuple[str, pd.DataFrame]]:
    """The items of each benchmark of the run. Errors: `InputError` where there are none."""
    files = {name: paths.result("items", name) for name in params.load()["run"]["benchmarks"]}
    if not any(path.exists() for path in files.values()):
        raise InputError(f"{paths.RESULTS}: no items of this run yet; run `make figures` first")
    yield from ((n, tidy.read("items", path)) for n, path in files.items() if path.exists())


def writers(table: pd.DataFrame) -> str:
    """Who wrote the items of a table, such as "authored: 40, llm:smollm2-135m: 2"."""
    counts = table["source"].value_counts().sort_index()
    return ", ".join(f"{who}: {n}" for who, n in counts.items())


def dataset(name: str, table: pd.DataFrame) -> str:
    """The name of a set of items: the benchmark's own is for its released items alone."""
    return name if table["source"].str.startswith("released:").all() else f"tomlab-{name}"


def cited(name: str) -> str:
    """A benchmark's paper in words, such as "BigToM (Gandhi et al., 2023)"."""
    paper = import_module(f"tomlab.benchmarks.{name}.paper").PUBLICATION
    return f"{paper.name} ({paper.authors_year})"


def identity(spec: specs.ModelSpec) -> str:
    """A model as hubs name it, `<developer>/<model>`; a server stands for an unknown developer."""
    if spec.provider == "embedded":
        own = spec.model == SMOLLM2
        return "HuggingFaceTB/SmolLM2-135M-Instruct" if own else f"local/{Path(spec.model).stem}"
    host = urlsplit(getattr(spec, "base_url", None) or "").hostname
    by = "tomlab" if spec.provider == "baseline" else host or spec.provider
    # Names such as "llama3:8b" are no names of folders.
    return re.sub(r"[^\w./-]", "-", spec.model if "/" in spec.model else f"{by}/{spec.model}")
