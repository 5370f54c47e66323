"""Inspect: a log for each benchmark, model and method, with every question and verdict."""

import json
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from tomlab.export.results import CORRECT, Part, parts

_STOPS = {"stop": "stop", "length": "max_tokens", "refusal": "content_filter"}
# Why an answer earned nothing without being wrong, in Inspect's words where it has one.
_REASONS = {"unparsed": "invalid_response_format", "truncated": "truncated"}
_REASONS |= {"refused": "refusal", "error": "no_response"}
_SUMMARY = ["id", "epoch", "input", "choices", "target", "scores", "model_usage", "metadata"]
_INTERVAL = ["ci_low", "ci_high", "ci_method", "n", "n_groups", "groups"]


def write(folder: Path) -> str:
    """Write `folder/<benchmark>/<model>_<method>.eval`, archives of JSON; say what was written."""
    for part in parts():
        (folder / part.name).mkdir(parents=True, exist_ok=True)
        by_method = {}
        for item, answer in part.answers:
            by_method.setdefault(answer["method"], []).append(_sample(item, answer, part.model))
        for method, samples in by_method.items():
            content = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
            content["summaries.json"] = [{name: s[name] for name in _SUMMARY} for s in samples]
            content["header.json"] = _log(part, method, samples)
            path = folder / part.name / f"{part.spec.name}_{method}.eval"
            with ZipFile(path, "w", ZIP_DEFLATED) as archive:
                for name, told in content.items():
                    archive.writestr(name, json.dumps(told, ensure_ascii=False))
    return f"{len([*folder.rglob('*.eval')])} logs"


def _log(part: Part, method: str, samples: list[dict]) -> dict:
    n, ids = len(samples), list(dict.fromkeys(sample["id"] for sample in samples))
    # Inspect shows the first metric of a log.
    metrics = [row for row in part.metrics if row["method"] == method]
    metrics.sort(key=lambda row: (row["metric"], row["condition"]) != CORRECT)
    found = {}
    for row in metrics:
        name, told = f"{row['metric']}/{row['condition']}", {key: row[key] for key in _INTERVAL}
        found[name] = {"name": name, "value": row["value"], "metadata": told}
    score = {"name": "tomlab", "scorer": "tomlab", "metrics": found}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "task": f"tomlab/{part.name}",
            "task_args": {"method": method},
            "dataset": {"name": part.dataset, "samples": len(ids), "sample_ids": ids},
            "model": part.model,
            "model_generate_config": {"temperature": part.temperature},
            "config": {"epochs": max(sample["epoch"] for sample in samples)},
            "packages": {"tomlab": version("tomlab")},
            "metadata": part.provenance | {"entry": part.spec.answering(part.name)},
        },
        "plan": {},
        "results": {"total_samples": n, "completed_samples": n, "scores": [score]},
        "stats": {},
    }


def _sample(item: dict, answer: dict, model: str) -> dict:
    stop = _STOPS.get(answer["finish_reason"], "unknown")
    said = {"role": "assistant", "content": answer["response"], "model": model}
    choices = [] if answer["failed"] else [{"message": said, "stop_reason": stop}]
    used, details = answer["tokens"], answer["details"]
    score = {"value": answer["score"], "answer": answer.get("chosen"), "metadata": details}
    score |= {"explanation": details["rule"], "reason": _REASONS.get(answer["outcome"])}
    return {
        "id": answer["item_id"],
        "epoch": answer["sample"] + 1,
        "input": answer["messages"],
        "choices": item["choices"] or None,
        "target": item["answer"],
        "messages": [*answer["messages"], *(choice["message"] for choice in choices)],
        "output": {"model": model, "choices": choices, "usage": used, "error": answer["failed"]},
        "scores": {"tomlab": score},
        "model_usage": {model: used},
        "metadata": {"group_id": item["group_id"], "outcome": answer["outcome"]},
    }
