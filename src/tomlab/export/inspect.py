"""Inspect: a log for each benchmark, model and method, with all questions, answers and verdicts."""

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from inspect_ai import log as logs
from inspect_ai.analysis import samples_df

from tomlab.errors import InputError
from tomlab.export.results import CORRECT, Part, dataset, identity, parts, tokens

_STOPS = {"stop": "stop", "length": "max_tokens", "refusal": "content_filter"}
# Why an answer earned nothing without being wrong, in Inspect's words where it has one.
_REASONS = {"unparsed": "invalid_response_format", "truncated": "truncated"}
_REASONS |= {"refused": "refusal", "error": "no_response"}
_INTERVAL = ["ci_low", "ci_high", "ci_method", "n", "n_groups", "groups"]


def write(folder: Path) -> str:
    """Write `folder/<benchmark>/<model>_<method>.eval` for all that the run has; says what. The
    answers by one method are in memory at a time.

    Errors: `InputError` where there is nothing, or Inspect's data frame of a log lacks a sample.
    """
    count = 0
    for part in parts():
        for method in part.scores["method"].unique():
            path = folder / part.name / f"{part.spec.name}_{method}.eval"
            path.parent.mkdir(parents=True, exist_ok=True)
            log = _log(part, method)
            logs.write_eval_log(log, str(path))
            if (read := len(samples_df(str(path), quiet=True))) != len(log.samples):
                raise InputError(f"{path}: {read} samples read of {len(log.samples)} written")
            count += 1
    return f"{count} logs"


def _log(part: Part, method: str) -> logs.EvalLog:
    model = identity(part.spec)
    samples = [_sample(item, answer, model) for item, answer in part.answers(method)]
    n, ids = len(samples), list(dict.fromkeys(sample.id for sample in samples))
    of = {"name": dataset(part.name, part.items), "samples": len(ids), "sample_ids": ids}
    spec = logs.EvalSpec(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        task=f"tomlab/{part.name}",
        task_args={"method": method},
        dataset=of,
        model=model,
        model_generate_config={"temperature": part.temperature},
        config={"epochs": max(sample.epoch for sample in samples)},
        packages={"tomlab": version("tomlab")},
        metadata=part.provenance | {"entry": part.spec.answering(part.name)},
    )
    found = {"/".join(CORRECT): None}  # first, as what Inspect shows of a log
    for row in part.metrics[part.metrics["method"] == method].to_dict("records"):
        metric = f"{row['metric']}/{row['condition']}"
        told = {key: row[key] for key in _INTERVAL}
        found[metric] = {"name": metric, "value": row["value"], "metadata": told}
    score = {"name": "tomlab", "scorer": "tomlab", "metrics": found}
    results = logs.EvalResults(total_samples=n, completed_samples=n, scores=[score])
    return logs.EvalLog(status="success", eval=spec, results=results, samples=samples)


def _sample(item: Mapping[str, Any], answer: Mapping[str, Any], model: str) -> logs.EvalSample:
    stop = _STOPS.get(answer["finish_reason"], "unknown")
    said = {"role": "assistant", "content": answer["response"], "model": model}
    choices = [] if answer["failed"] else [{"message": said, "stop_reason": stop}]
    output = {"model": model, "choices": choices, "usage": tokens(answer)}
    score = {
        "value": answer["score"],
        "answer": answer.get("chosen"),
        "metadata": answer["details"],
    }
    score |= {"explanation": answer["details"]["rule"], "reason": _REASONS.get(answer["outcome"])}
    return logs.EvalSample(
        id=answer["item_id"],
        epoch=answer["sample"] + 1,
        input=answer["messages"],
        choices=item["choices"] or None,
        target=item["answer"],
        messages=[*answer["messages"], *(choice["message"] for choice in choices)],
        output=output | {"error": answer["failed"]},
        scores={"tomlab": score},
        model_usage={model: tokens(answer)},
        metadata={"group_id": item["group_id"], "outcome": answer["outcome"]},
    )
