"""Every Eval Ever 0.3: for each benchmark and model the metrics with intervals as JSON, and beside
them a record for each answer as JSON Lines, in the folders of its datastore.
"""

import hashlib
import json
import time
import uuid
from importlib.metadata import version
from math import isfinite
from pathlib import Path

from tomlab.export.results import CORRECT, Part, parts
from tomlab.scoring.stats import CONFIDENCE

_SCHEMA = "0.3.0"
# Less of these is better; of these shares, less of every level but the one named is better.
_LOWER = {"completion_tokens", "doubtful", "gap", "list_error", "unusable", "yn_error"}
_GOOD = dict([CORRECT]) | {"first_failure": "none"}
# Neither more nor less of these is better, and the format wants one of the two.
_NEITHER = {"beliefs_per_story", "majority_baseline", "matchcount"}
# Who ran it is not known here; who publishes the files fills that in.
_SOURCE = {"source_name": "tomlab", "source_type": "evaluation_run"}
_SOURCE |= {"source_organization_name": "not stated", "evaluator_relationship": "other"}
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


def write(folder: Path) -> str:
    """Write `data/<dataset>/<developer>/<model>/<id>.json` and `<id>_samples.jsonl`; say what."""
    for part in parts():
        _write(part, folder)
    return f"{len([*folder.rglob('*.json')])} files of metrics, each with a file of records"


def _write(part: Part, folder: Path) -> None:
    now, (developer, _, own) = str(int(time.time())), part.model.partition("/")
    path = folder / "data" / part.dataset / developer / own.replace("/", "_")
    path.mkdir(parents=True)
    path /= f"{uuid.uuid4()}.json"
    samples = path.with_name(f"{path.stem}_samples.jsonl")
    whose = {"schema_version": _SCHEMA, "evaluation_id": f"{part.dataset}/{part.model}/{now}"}
    records = [whose | _record(part, item, answer) for item, answer in part.answers]
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    samples.write_text("".join(lines), encoding="utf-8")
    entry = {"entry": json.dumps(part.spec.answering(part.name))}
    about = {"name": part.spec.name, "id": part.model, "additional_details": _UNKNOWN | entry}
    log = whose | {
        "retrieved_timestamp": now,
        "source_metadata": _SOURCE,
        "eval_library": {"name": "tomlab", "version": version("tomlab")},
        "model_info": about,
        "evaluation_results": [
            _result(part, row) for row in part.metrics if row["metric"] not in _NEITHER
        ],
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": samples.relative_to(folder).as_posix(),
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.read_bytes()).hexdigest(),
            "total_rows": len(records),
        },
    }
    text = json.dumps(log, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _result(part: Part, row: dict) -> dict:
    """A row of the metrics table of which more or less is better."""
    method, metric, condition = row["method"], row["metric"], row["condition"]
    level, (least, most) = condition.split("/")[0], row["bounds"]
    interval = {"lower": row["ci_low"], "upper": row["ci_high"]}
    interval |= {"method": row["ci_method"], "confidence_level": CONFIDENCE}
    uncertainty = {} if row["ci_low"] is None else {"confidence_interval": interval}
    about = {"dataset_name": part.dataset, "source_type": "other"}
    return {
        "evaluation_result_id": f"{method}/{metric}/{condition}",
        "evaluation_name": f"{part.name}/{method}",
        "source_data": about | {"additional_details": part.provenance},
        "metric_config": {
            "metric_id": f"tomlab.{part.name}.{metric}",
            "metric_name": f"{metric} ({condition})",
            "metric_parameters": {"condition": condition},
            "lower_is_better": metric in _LOWER or level != _GOOD.get(metric, level),
            "score_type": "continuous",
            "min_score": least,
            "max_score": most if isfinite(most) else "Infinity",
        },
        "score_details": {
            "score": row["value"],
            "details": {"n_groups": str(row["n_groups"]), "groups": row["groups"]},
            "uncertainty": uncertainty | {"num_samples": row["n"]},
        },
        "generation_config": {
            "generation_args": {"temperature": part.temperature},
            "additional_details": {"method": method},
        },
    }


def _record(part: Part, item: dict, answer: dict) -> dict:
    """A record of one answer, which points to the metric `CORRECT` if that counts it."""
    method, chosen, failed = answer["method"], answer.get("chosen"), answer["failed"]
    read = {"turn_idx": 0, "source": "output.raw", "extracted_value": chosen}
    read |= {"extraction_method": answer["details"]["rule"], "is_terminal": True}
    return {
        "model_id": part.model,
        "evaluation_name": f"{part.name}/{method}",
        "evaluation_result_id": "/".join((method, *CORRECT)) if answer["counts"] else None,
        "sample_id": answer["item_id"],
        "interaction_type": "single_turn",
        "input": {
            "raw": answer["messages"][-1]["content"],
            "formatted": json.dumps(answer["messages"], ensure_ascii=False),
            "reference": [item["answer"]],
            "choices": item["choices"] or None,
        },
        "output": {"raw": [] if failed else [answer["response"]]},
        "answer_attribution": [read] if chosen else [],
        "evaluation": {"score": answer["score"], "is_correct": answer["outcome"] == "correct"},
        "token_usage": answer["tokens"],
        "error": failed or ("refused" if answer["outcome"] == "refused" else None),
        "metadata": answer["details"] | {"sample": answer["sample"]},
    }
