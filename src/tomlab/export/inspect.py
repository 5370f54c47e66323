"""Inspect: a log for each benchmark, model and method, with all questions, answers and verdicts."""

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from inspect_ai import log as logs
from inspect_ai import model as chat
from inspect_ai.analysis import samples_df
from inspect_ai.scorer import Score

from tomlab.errors import InputError
from tomlab.export.results import CORRECT, Part, dataset, identity, parts, tokens

_STOPS = {"stop": "stop", "length": "max_tokens", "refusal": "content_filter"}
# Why an answer earned nothing without being wrong, in Inspect's words where it has one.
_REASONS = {"unparsed": "invalid_response_format", "truncated": "truncated"}
_REASONS |= {"refused": "refusal", "error": "no_response"}
_SAYS = {
    "system": chat.ChatMessageSystem,
    "user": chat.ChatMessageUser,
    "assistant": chat.ChatMessageAssistant,
}
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
    name = dataset(part.name, part.items)
    spec = logs.EvalSpec(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        task=f"tomlab/{part.name}",
        task_args={"method": method},
        dataset=logs.EvalDataset(name=name, samples=len(ids), sample_ids=ids),
        model=model,
        model_generate_config=chat.GenerateConfig(temperature=part.temperature),
        config=logs.EvalConfig(epochs=max(sample.epoch for sample in samples)),
        packages={"tomlab": version("tomlab")},
        metadata=part.provenance | {"entry": part.spec.answering(part.name)},
    )
    score = logs.EvalScore(name="tomlab", scorer="tomlab", metrics=_metrics(part, method))
    results = logs.EvalResults(total_samples=n, completed_samples=n, scores=[score])
    return logs.EvalLog(status="success", eval=spec, results=results, samples=samples)


def _metrics(part: Part, method: str) -> dict[str, logs.EvalMetric]:
    """Our metrics by `<metric>/<condition>`; the first is what Inspect shows of a log."""
    found = {"/".join(CORRECT): None}  # keeps the first place
    for row in part.metrics[part.metrics["method"] == method].to_dict("records"):
        name = f"{row['metric']}/{row['condition']}"
        told = {key: row[key] for key in _INTERVAL}
        found[name] = logs.EvalMetric(name=name, value=row["value"], metadata=told)
    return found


def _sample(item: Mapping[str, Any], answer: Mapping[str, Any], model: str) -> logs.EvalSample:
    usage, failed = chat.ModelUsage(**tokens(answer)), answer["failed"]
    asked = [_SAYS[each["role"]](content=each["content"]) for each in answer["messages"]]
    stop = _STOPS.get(answer["finish_reason"], "unknown")
    reply = chat.ChatMessageAssistant(content=answer["response"] or "", model=model)
    choices = [] if failed else [chat.ChatCompletionChoice(message=reply, stop_reason=stop)]
    score = Score(
        value=answer["score"],
        answer=answer.get("chosen"),
        explanation=answer["details"]["rule"],
        reason=_REASONS.get(answer["outcome"]),
        metadata=answer["details"],
    )
    return logs.EvalSample(
        id=answer["item_id"],
        epoch=answer["sample"] + 1,
        input=asked,
        choices=item["choices"] or None,
        target=item["answer"],
        messages=[*asked, *(choice.message for choice in choices)],
        output=chat.ModelOutput(model=model, choices=choices, usage=usage, error=failed),
        scores={"tomlab": score},
        model_usage={model: usage},
        metadata={"group_id": item["group_id"], "outcome": answer["outcome"]},
    )
