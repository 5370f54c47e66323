"""`python -m tomlab.export` writes a run as logs of Inspect, see `write` and docs/exports.md."""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZipFile

import pandas as pd

from tomlab import params, paths
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.models.embedded import SMOLLM2
from tomlab.records import tidy
from tomlab.scoring.answers import as_shown, failed
from tomlab.scoring.series import metric_row
from tomlab.scoring.variants import protocol

_STOPS = {"stop": "stop", "length": "max_tokens", "refusal": "content_filter"}
# Why an answer earned nothing without being wrong, in Inspect's words where it has one.
_REASONS = {"unparsed": "invalid_response_format", "truncated": "truncated"}
_REASONS |= {"refused": "refusal", "error": "no_response"}
_SUMMARY = ["id", "epoch", "input", "choices", "target", "scores", "model_usage", "metadata"]
_INTERVAL = ["ci_low", "ci_high", "ci_method", "n", "n_groups", "groups"]


def main() -> int:
    """Replace `results/exports/inspect`: 0, or 1 with one clear message."""
    folder = paths.RESULTS / "exports" / "inspect"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        print(f"{folder}: {write(folder)}")
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    return 0


def write(folder: Path) -> str:
    """Write `folder/<benchmark>/<model>_<method>.eval`, archives of JSON, by a calibrated judge if
    there is one; say what was written. Errors: `InputError` where the run has no answers.
    """
    run = params.load()["run"]
    for name, model in product(run["benchmarks"], run["models"]):
        judged = paths.RESULTS / "judges" / name / "scores.parquet"
        path = judged if judged.exists() else paths.result("scores", name, model)
        responses = paths.result("responses", name, model)
        if not path.exists() or not responses.exists():
            continue
        scores = protocol(tidy.read("scores", path).query("model == @model"))
        if len(scores):
            (folder / name).mkdir(parents=True, exist_ok=True)
            _write_logs(folder / name, specs.model(model), scores, responses)
    if not (logs := [*folder.rglob("*.eval")]):
        raise InputError(f"{paths.RESULTS}: no answers of this run yet; run `make figures` first")
    return f"{len(logs)} logs"


def _write_logs(folder: Path, spec: specs.ModelSpec, scores: pd.DataFrame, responses: Path) -> None:
    """The logs of one model on the benchmark that names the folder."""
    name, model = folder.name, _identity(spec)
    face, metrics, paper = (
        import_module(f"tomlab.benchmarks.{name}{module}") for module in ("", ".metrics", ".paper")
    )
    items = tidy.read("items", paths.result("items", name))
    by_id = {item["item_id"]: _plain(item) for item in items.to_dict("records")}
    samples, measured = {}, {}
    for answer in _answers(scores, responses):
        item = as_shown(by_id[answer["item_id"]], answer)
        answer["details"]["rule"] = face.rule(item, answer)
        samples.setdefault(answer["method"], []).append(_sample(item, answer, model))
    for _, method, one in metrics.series(scores):
        if row := metric_row(one, {"groups": paper.WORDING.groups}):
            measured.setdefault(method, []).append(row)
    writers, printed = items["source"].value_counts().sort_index().items(), paper.PUBLICATION
    # Only released items may go by the benchmark's own name.
    is_released = items["source"].str.startswith("released:").all()
    temperature = getattr(spec, "temperature", None)
    if temperature == specs.PROTOCOL:
        temperature = 0.0  # at which every benchmark's protocol asks
    about = {
        "task": f"tomlab/{name}",
        "model": model,
        "model_generate_config": {"temperature": temperature},
        "packages": {"tomlab": version("tomlab")},
        "metadata": {
            "items written by": ", ".join(f"{who}: {n}" for who, n in writers),
            "protocol of": f"{printed.name} ({printed.authors_year})",
            "entry": spec.answering(name),
        },
    }
    for method, own in samples.items():
        content = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in own}
        content["summaries.json"] = [{field: s[field] for field in _SUMMARY} for s in own]
        ids = list(dict.fromkeys(sample["id"] for sample in own))
        data = {"name": name if is_released else f"tomlab-{name}", "samples": len(ids)}
        more = {
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "task_args": {"method": method},
            "dataset": data | {"sample_ids": ids},
            "config": {"epochs": max(sample["epoch"] for sample in own)},
        }
        content["header.json"] = {
            "version": 2,
            "status": "success",
            "eval": about | more,
            "plan": {},
            "results": _results(measured.get(method, []), len(own)),
            "stats": {},
        }
        with ZipFile(folder / f"{spec.name}_{method}.eval", "w", ZIP_DEFLATED) as archive:
            for file, told in content.items():
                archive.writestr(file, json.dumps(told, ensure_ascii=False))


def _answers(scores: pd.DataFrame, responses: Path) -> Iterator[dict]:
    """Each answer as a row of responses and scores; `details` are those of its verdict."""
    told = ["finish_reason", "request_key", *scores.columns.difference(tidy.KEY, sort=False)]
    said = protocol(tidy.read("responses", responses))
    said = said[said["method"].isin(scores["method"])]
    own = scores[[*tidy.KEY, *scores.columns.difference(said.columns, sort=False)]]
    for row in said.merge(own, on=tidy.KEY, how="left").to_dict("records"):
        if pd.isna(row["outcome"]):
            raise InputError(f"{responses}: no score of {row['item_id']!r}; run `make figures`")
        answer = _plain(row)
        yield answer | {"details": {name: answer[name] for name in told}}


def _sample(item: dict, answer: dict, model: str) -> dict:
    error = str(answer["error"]) if failed(answer) else None
    stop = _STOPS.get(answer["finish_reason"], "unknown")
    said = {"role": "assistant", "content": answer["response"], "model": model}
    choices = [] if error else [{"message": said, "stop_reason": stop}]
    asked, details = json.loads(answer["messages"]), answer["details"]
    sent, got = answer["prompt_tokens"], answer["completion_tokens"]
    used = {"input_tokens": sent, "output_tokens": got, "total_tokens": sent + got}
    score = {"value": answer["score"], "answer": answer.get("chosen"), "metadata": details}
    score |= {"explanation": details["rule"], "reason": _REASONS.get(answer["outcome"])}
    return {
        "id": answer["item_id"],
        "epoch": answer["sample"] + 1,
        "input": asked,
        "choices": item["choices"] or None,
        "target": item["answer"],
        "messages": [*asked, *(choice["message"] for choice in choices)],
        "output": {"model": model, "choices": choices, "usage": used, "error": error},
        "scores": {"tomlab": score},
        "model_usage": {model: used},
        "metadata": {"group_id": item["group_id"], "outcome": answer["outcome"]},
    }


def _results(metrics: list[dict], n: int) -> dict:
    # Inspect shows the first metric of a log: the one that every benchmark has.
    metrics.sort(key=lambda row: (row["metric"], row["condition"]) != ("outcome_rate", "correct"))
    found = {}
    for row in map(_plain, metrics):  # JSON has no nan
        name, told = f"{row['metric']}/{row['condition']}", {key: row[key] for key in _INTERVAL}
        found[name] = {"name": name, "value": row["value"], "metadata": told}
    score = {"name": "tomlab", "scorer": "tomlab", "metrics": found}
    return {"total_samples": n, "completed_samples": n, "scores": [score]}


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


if __name__ == "__main__":
    sys.exit(main())
