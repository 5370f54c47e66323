"""Tasks for Inspect: our items, prompts and scorers behind `inspect eval`, see docs/inspect.md.

    inspect eval tomlab/bigtom --model openai/gpt-4o -T method=0-shot-cot

Inspect asks. What it is sent and how its answers are read are the functions of the benchmarks, so
that an answer gets the verdict that it gets in a run of ours.
"""

import json
import math
import re
import warnings
from importlib import import_module
from typing import Any

import pandas as pd
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ResponseSchema,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.asking.likelihood import is_weighed
from tomlab.asking.protocol import Benchmark
from tomlab.errors import InputError
from tomlab.models.content import logged_finish_of, text_of
from tomlab.records import tidy
from tomlab.records.asked import first_methods
from tomlab.scoring.series import interval_of

_ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


@task
def bigtom(method: str = "0-shot", source: str = "", groups: int | None = None) -> Task:
    """BigToM. `groups` draws templates."""
    return _task("bigtom", method, source, groups, "(accuracy|tb_and_fb) .*")


@task
def fantom(method: str = "short", source: str = "", groups: int | None = None) -> Task:
    """FANToM. `groups` draws question sets."""
    pattern = "(all|belief|answerability|infoaccess|fact).* (in)?accessible"
    return _task("fantom", method, source, groups, pattern)


@task
def simpletom(method: str = "none", source: str = "", groups: int | None = None) -> Task:
    """SimpleToM. `groups` draws stories."""
    pattern = "(accuracy|average|first_failure|gap|both_right) [^/]*"
    return _task("simpletom", method, source, groups, pattern)


@task
def omnitom(method: str = "stage1-L3", source: str = "", groups: int | None = None) -> Task:
    """OmniToM. `groups` draws stories; extraction has the methods stage1-…, labelling stage2-…"""
    pattern = "(f1|precision|recall|accuracy|linked_accuracy|unusable) [^/]*"
    return _task("omnitom", method, source, groups, pattern)


def _task(name: str, method: str, source: str, groups: int | None, pattern: str) -> Task:
    """The task of a benchmark. source: a file or folder in the released format; "" stands for the
    items of the last run, `results/items`. groups: how many whole groups are asked about, drawn as
    in a run; None: all. pattern: see `set_metrics`. Errors: `InputError` for a method that Inspect
    cannot ask by or that asks about no item, and those of reading items.
    """
    benchmark = _benchmark(name)
    if method not in askable(benchmark):
        methods = ", ".join(askable(benchmark))
        raise InputError(f"{name}: Inspect cannot ask by method {method!r}; it can by {methods}")
    if source:
        items = benchmark.read_released(paths.user_path(source))
    else:
        items = tidy.read("items", paths.result("items", name))
    drawn = evaluation.drawn(items, benchmark.UNIT, benchmark.STRATA, 0)[:groups]
    items = benchmark.asked(items[items[benchmark.UNIT].isin(drawn)], method)
    if items.empty:
        raise InputError(f"{name}: there is no item that {method!r} asks about")
    return Task(
        dataset=[_sample(benchmark, item, method) for item in records(items)],
        solver=ask(name, method),
        scorer=verdict(name, method),
        metrics=[set_metrics(name, pattern)],
        config=_config(benchmark, method),
    )


def _benchmark(name: str) -> Any:
    return import_module(f"tomlab.benchmarks.{name}")


def askable(benchmark: Benchmark) -> list[str]:
    """The methods that Inspect can ask by: those with one call, or with two about the same item.

    Not by likelihood, which weighs options, not with a reminder of an answer to another item, and
    not by the first of two calls alone.
    """
    first_calls = first_methods(benchmark.METHODS)
    names = []
    for name, method in benchmark.METHODS.items():
        has_reminder = getattr(method, "reminder", False)
        if name not in first_calls and not is_weighed(name) and not has_reminder:
            names.append(name)
    return names


def records(items: pd.DataFrame) -> list[dict]:
    """The rows of an items table as a log can hold them: lists instead of arrays."""
    return json.loads(items.to_json(orient="records"))


def _sample(benchmark: Benchmark, item: dict, method: str) -> Sample:
    first_method = getattr(benchmark.METHODS[method], "first", None)
    return Sample(
        id=item["item_id"],
        input=_chat(benchmark.messages(item, first_method or method)),
        choices=item["choices"] or None,
        target=item["answer"],
        metadata=item,
    )


def _chat(messages: list[dict[str, str]]) -> list[ChatMessage]:
    return [_ROLES[message["role"]](content=message["content"]) for message in messages]


def _config(benchmark: Benchmark, method: str) -> GenerateConfig:
    """The protocol's settings; options of `inspect eval`, such as --max-tokens, replace them."""
    schema = benchmark.schema(method)
    response_schema = None
    if schema:
        json_schema = JSONSchema.model_validate(schema)
        response_schema = ResponseSchema(name="answer", json_schema=json_schema, strict=True)
    return GenerateConfig(
        temperature=0,
        max_tokens=benchmark.METHODS[method].max_tokens,
        response_schema=response_schema,
    )


@solver
def ask(benchmark: str, method: str) -> Solver:
    """Calls the model once, or twice: a second call has the reasoning of the first in its prompt.

    A first call has its method's limit of tokens, whatever --max-tokens says.
    """
    face = _benchmark(benchmark)
    first_method = getattr(face.METHODS[method], "first", None)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if first_method:
            state = await generate(state, max_tokens=face.METHODS[first_method].max_tokens)
            thoughts = text_of(state.output.message.content) or ""
            item = {**state.metadata, "reasoning": face.reasoning_of(thoughts, method)}
            state.messages = _chat(face.messages(item, method))
        return await generate(state)

    return solve


@scorer(metrics=[mean()])
def verdict(benchmark: str, method: str) -> Scorer:
    """The verdict of the benchmark's scorer. value: the score; answer: what was read from the
    model's text; explanation: the outcome and the rule; metadata: the row of the scores table.
    """
    face = _benchmark(benchmark)

    async def score(state: TaskState, target: Target) -> Score:
        usage = state.output.usage
        response = {
            "item_id": state.sample_id,
            "model": str(state.model),
            "method": method,
            "sample": state.epoch - 1,
            "response": text_of(state.output.message.content) or "",
            "finish_reason": logged_finish_of(state.output.stop_reason),
            "error": None,
            "completion_tokens": usage.output_tokens if usage else 0,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the share of unreadable answers, here of one
            scores = face.score(pd.DataFrame([state.metadata]), pd.DataFrame([response]))
        [row] = scores.to_dict("records")
        rule = face.rule(state.metadata, {**response, **row})
        return Score(
            value=row["score"],
            answer=row.get("chosen"),
            explanation=f"{row['outcome']}: {rule}",
            metadata=row,
        )

    return score


@metric(scores="unreduced")
def set_metrics(benchmark: str, pattern: str) -> Metric:
    """The values of the metrics table whose name, "<metric> <condition>", fits `pattern`.

    Inspect also asks for them while answers are still coming in. What those do not define is left
    out, such as All* as long as no question on beliefs was answered.
    """
    series = import_module(f"tomlab.benchmarks.{benchmark}.metrics").series

    def values(scores: list[SampleScore]) -> dict[str, float]:
        numbers: dict[str, float] = {}
        if not scores:
            return numbers
        rows = [sample.score.metadata for sample in scores]
        for _, _, measure in series(pd.DataFrame(rows)):
            name = f"{measure.metric} {measure.condition}"
            if re.fullmatch(pattern, name):
                value = interval_of(measure).value
                if not math.isnan(value):
                    numbers[name] = value
        return numbers

    return values
