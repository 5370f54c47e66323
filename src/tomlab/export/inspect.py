"""Inspect: a log as JSON for each benchmark, model and method, with every question and verdict."""

import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tomlab.export.results import CORRECT, Part, parts, tokens

_STOPS = {"stop": "stop", "length": "max_tokens", "refusal": "content_filter"}
# Why an answer earned nothing without being wrong, in Inspect's words where it has one.
_REASONS = {"unparsed": "invalid_response_format", "truncated": "truncated"}
_REASONS |= {"refused": "refusal", "error": "no_response"}
_INTERVAL = ["ci_low", "ci_high", "ci_method", "n", "n_groups", "groups"]


def write(folder: Path) -> str:
    """Write `folder/<benchmark>/<time>_<model>_<method>.json` and say what was written: Inspect
    finds a log as JSON by the time that its name begins with.

    Errors: `InputError` where the run has no answers.
    """
    now = datetime.now(UTC)
    for part in parts():
        (folder / part.name).mkdir(parents=True, exist_ok=True)
        for method in dict.fromkeys(answer["method"] for _, answer in part.answers):
            path = folder / part.name / f"{now:%Y-%m-%dT%H-%M-%S}_{part.spec.name}_{method}.json"
            log = json.dumps(_log(part, method, now), ensure_ascii=False)
            path.write_text(log, encoding="utf-8")
    return f"{len([*folder.rglob('*.json')])} logs"


def _log(part: Part, method: str, now: datetime) -> dict:
    answers = [both for both in part.answers if both[1]["method"] == method]
    ids = list(dict.fromkeys(item["item_id"] for item, _ in answers))
    # Inspect shows the first metric of a log.
    metrics = [row for row in part.metrics if row["method"] == method]
    metrics.sort(key=lambda row: (row["metric"], row["condition"]) != CORRECT)
    found = {}
    for row in metrics:
        name = f"{row['metric']}/{row['condition']}"
        told = {key: row[key] for key in _INTERVAL}
        found[name] = {"name": name, "value": row["value"], "metadata": told}
    n, score = len(answers), {"name": "tomlab", "scorer": "tomlab", "metrics": found}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": now.isoformat(timespec="seconds"),
            "task": f"tomlab/{part.name}",
            "task_args": {"method": method},
            "dataset": {"name": part.dataset, "samples": len(ids), "sample_ids": ids},
            "model": part.model,
            "model_generate_config": {"temperature": part.temperature},
            "config": {"epochs": 1 + max(answer["sample"] for _, answer in answers)},
            "packages": {"tomlab": version("tomlab")},
            "metadata": part.provenance | {"entry": part.spec.answering(part.name)},
        },
        "plan": {},
        "results": {"total_samples": n, "completed_samples": n, "scores": [score]},
        "stats": {},
        "samples": [_sample(item, answer, part.model) for item, answer in answers],
    }


def _sample(item: dict, answer: dict, model: str) -> dict:
    stop = _STOPS.get(answer["finish_reason"], "unknown")
    said = {"role": "assistant", "content": answer["response"], "model": model}
    choices = [] if answer["failed"] else [{"message": said, "stop_reason": stop}]
    output = {"model": model, "choices": choices, "usage": tokens(answer)}
    score = {"value": answer["score"], "answer": answer.get("chosen")}
    score |= {"explanation": answer["details"]["rule"], "metadata": answer["details"]}
    return {
        "id": answer["item_id"],
        "epoch": answer["sample"] + 1,
        "input": answer["messages"],
        "choices": item["choices"] or None,
        "target": item["answer"],
        "messages": [*answer["messages"], *(choice["message"] for choice in choices)],
        "output": output | {"error": answer["failed"]},
        "scores": {"tomlab": score | {"reason": _REASONS.get(answer["outcome"])}},
        "model_usage": {model: tokens(answer)},
        "metadata": {"group_id": item["group_id"], "outcome": answer["outcome"]},
    }
