"""Every Eval Ever: a benchmark's and model's metrics with intervals as JSON, beside it a record for
each answer as JSON Lines, in the folders of its datastore.
"""

import hashlib
import json
import time
import uuid
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from every_eval_ever.eval_types import EvaluationLog
from every_eval_ever.helpers.io import datastore_output_dir
from every_eval_ever.instance_level_types import InstanceLevelEvaluationLog
from every_eval_ever.schema import get_schema_version
from every_eval_ever.validator.validation_core import validate_file

from tomlab.errors import refuse
from tomlab.export.results import CORRECT, Part, dataset, identity, parts, tokens
from tomlab.scoring.stats import CONFIDENCE

# Less of these is better; of these shares of all answers or stories, less of all but one level.
_LOWER = {"completion_tokens", "doubtful", "gap", "list_error", "unusable", "yn_error"}
_GOOD = dict([CORRECT]) | {"first_failure": "none"}
# Neither more nor less of these is better, and the format wants one of the two.
_NEITHER = {"beliefs_per_story", "majority_baseline", "matchcount"}
# Who ran it is not known here; who sends the files elsewhere says so in them.
_SOURCE = {"source_name": "tomlab", "source_type": "evaluation_run"}
_SOURCE |= {"source_organization_name": "not stated", "evaluator_relationship": "other"}


def write(folder: Path) -> str:
    """Write `folder/data/<dataset>/<developer>/<model>/<id>.json` and `<id>_samples.jsonl` for all
    that the run has, answer by answer; says what.

    Errors: `InputError` where there is nothing, or the validator has a word against a file.
    """
    files = [path for part in parts() for path in _write(part, folder)]
    for path in files:
        near = {each.relative_to(folder).as_posix() for each in path.parent.iterdir()}
        report = validate_file(
            path,
            repo_path=path.relative_to(folder).as_posix(),
            available_files=near,
            read_repo_file=lambda name: (folder / name).read_text(encoding="utf-8"),
            run_semantic_checks=True,
        )
        refuse([f"{at['loc']}: {at['msg']}" for at in report.errors + report.warnings], str(path))
    return f"{len(files)} files, half of them metrics and half records"


def _write(part: Part, folder: Path) -> tuple[Path, Path]:
    model, now, name = identity(part.spec), str(int(time.time())), dataset(part.name, part.items)
    own = datastore_output_dir(folder / "data", name, model)
    own.mkdir(parents=True, exist_ok=True)
    path = own / f"{uuid.uuid4()}.json"
    samples = path.with_name(f"{path.stem}_samples.jsonl")
    whose = {"schema_version": get_schema_version(), "evaluation_id": f"{name}/{model}/{now}"}
    rows, digest = 0, hashlib.sha256()
    with samples.open("wb") as file:
        for rows, record in enumerate(_records(part), start=1):  # noqa: B007
            checked = InstanceLevelEvaluationLog(**whose, model_id=model, **record)
            line = (checked.model_dump_json(exclude_none=True) + "\n").encode()
            digest.update(line)
            file.write(line)
    detailed = {"format": "jsonl", "file_path": samples.relative_to(folder).as_posix()}
    detailed |= {"hash_algorithm": "sha256", "checksum": digest.hexdigest(), "total_rows": rows}
    log = EvaluationLog(
        **whose,
        retrieved_timestamp=now,
        source_metadata=_SOURCE,
        eval_library={"name": "tomlab", "version": version("tomlab")},
        model_info=_model(part),
        evaluation_results=list(_results(part, name)),
        detailed_evaluation_results=detailed,
    )
    path.write_text(log.model_dump_json(exclude_none=True, indent=1) + "\n", encoding="utf-8")
    return path, samples


def _model(part: Part) -> dict[str, Any]:
    """Who answered, and the whole entry; what it does not tell stays "unknown" there."""
    details = {"entry": json.dumps(part.spec.answering(part.name))}
    found = {"name": part.spec.name, "id": identity(part.spec), "additional_details": details}
    if part.spec.provider == "embedded":
        details |= {"deployment_type": "self_deployed", "model_availability": "open_weights"}
        found["inference_engine"] = {"name": "llama.cpp"}
    return found


def _results(part: Part, name: str) -> Iterator[dict[str, Any]]:
    """A result for each row of the metrics of which more or less is better."""
    source = {"dataset_name": name, "source_type": "other", "additional_details": part.provenance}
    asked = {"generation_args": {"temperature": part.temperature}}
    for row in part.metrics[~part.metrics["metric"].isin(_NEITHER)].to_dict("records"):
        method, metric, condition = row["method"], row["metric"], row["condition"]
        level, (least, most) = condition.split("/")[0], row["bounds"]
        interval = {"lower": row["ci_low"], "upper": row["ci_high"], "method": row["ci_method"]}
        interval["confidence_level"] = CONFIDENCE
        yield {
            "evaluation_result_id": f"{method}/{metric}/{condition}",
            "evaluation_name": f"{part.name}/{method}",
            "source_data": source,
            "metric_config": {
                "metric_id": f"tomlab.{part.name}.{metric}",
                "metric_name": f"{metric} ({condition})",
                "metric_parameters": {"condition": condition},
                "lower_is_better": metric in _LOWER or level != _GOOD.get(metric, level),
                "score_type": "continuous",
                "min_score": least,
                "max_score": most,
            },
            "score_details": {
                "score": row["value"],
                "details": {"n_groups": str(row["n_groups"]), "groups": row["groups"]},
                "uncertainty": {"confidence_interval": interval, "num_samples": row["n"]},
            },
            "generation_config": asked | {"additional_details": {"method": method}},
        }


def _records(part: Part) -> Iterator[dict[str, Any]]:
    """A record for each answer, with the metric `CORRECT` that counts it, if it does."""
    found = [each for each in part.series if (each[2].metric, each[2].condition) == CORRECT]
    counted = {method: frozenset(one.values.index) for _, method, one in found}
    for item, answer in part.answers():
        method, chosen, failed = answer["method"], answer.get("chosen"), answer["failed"]
        counts = f"{answer['item_id']}/{answer['sample']}" in counted.get(method, ())
        read = {"turn_idx": 0, "source": "output.raw", "extracted_value": chosen}
        read |= {"extraction_method": answer["details"]["rule"], "is_terminal": True}
        yield {
            "evaluation_name": f"{part.name}/{method}",
            "evaluation_result_id": "/".join((method, *CORRECT)) if counts else None,
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
            "token_usage": tokens(answer),
            "error": failed or ("refused" if answer["outcome"] == "refused" else None),
            "metadata": answer["details"] | {"sample": answer["sample"]},
        }
