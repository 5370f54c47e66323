"""What a run has to export: by benchmark and model each answer to a question as the protocol puts
it, its verdict with the rule that decided, and the metrics with their intervals.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import pyarrow.parquet as pq

from tomlab import params, paths
from tomlab.compare import scores_of
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.models.embedded import SMOLLM2
from tomlab.records import tidy
from tomlab.reporting.readings import KEY
from tomlab.scoring.answers import failed
from tomlab.scoring.series import Found, rows
from tomlab.scoring.stats import SHARE
from tomlab.scoring.variants import protocol

# The metric that every benchmark has, of which each answer says by itself what it adds.
CORRECT = ("outcome_rate", "correct")
_AT_ONCE = 1000  # answers in memory


@dataclass(frozen=True)
class Part:
    """One benchmark's and model's results. items, scores: tables; responses: a file of answers."""

    name: str
    spec: specs.ModelSpec
    items: pd.DataFrame
    scores: pd.DataFrame
    responses: Path

    @cached_property
    def provenance(self) -> dict[str, str]:
        """Whose the items and the protocol are; no number that a paper printed is exported."""
        return {"items written by": writers(self.items), "protocol of": cited(self.name)}

    @cached_property
    def temperature(self) -> float | None:
        """At which answers were asked for; None where none was sent."""
        given = getattr(self.spec, "temperature", None)
        return 0.0 if given == specs.PROTOCOL else given  # of all benchmarks' protocols

    @cached_property
    def series(self) -> list[tuple[str, str, Found]]:
        """Model, method and what one of their metrics is made of."""
        return list(import_module(f"tomlab.benchmarks.{self.name}.metrics").series(self.scores))

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """The metrics table of these scores, with the `bounds` of each value and, in words, what
        the `groups` are that intervals cluster on.
        """
        of = {"groups": _paper(self.name).WORDING.groups, "benchmark": self.name}
        whose = [of | {"model": model, "method": method} for model, method, _ in self.series]
        bounds = [{"bounds": getattr(one, "bounds", SHARE)} for *_, one in self.series]
        found = zip(self.series, whose, bounds, strict=True)
        return pd.DataFrame([row for (*_, one), w, b in found for row in rows([one], w | b)])

    def answers(self, method: str = "") -> Iterator[tuple[dict, dict]]:
        """Each item with the answer to it, by one method or all that are scored (what a call before
        it said stands in its messages): a row of responses and scores,
        with `messages` as a list, `failed` (why there is no response, or None) and `details`: the
        verdict's columns and its `rule`, in words. Some are in memory at a time.

        Errors: `InputError` for an answer without a score.
        """
        rule = import_module(f"tomlab.benchmarks.{self.name}").rule
        items = {item["item_id"]: plain(item) for item in self.items.to_dict("records")}
        whose = pd.MultiIndex.from_frame(self.scores[KEY])
        methods = [method] if method else self.scores["method"].unique()
        for batch in pq.ParquetFile(self.responses).iter_batches(_AT_ONCE):
            own = protocol(batch.to_pandas())
            own = own[own["method"].isin(methods)]
            places = whose.get_indexer(pd.MultiIndex.from_frame(own[KEY]))
            if lost := own["item_id"][places < 0].tolist():
                raise InputError(f"{self.responses}: no score of {lost[0]!r}; run `make figures`")
            verdicts = self.scores.iloc[places].to_dict("records")
            for response, verdict in zip(own.to_dict("records"), verdicts, strict=True):
                item, answer = items[response["item_id"]], plain(response | verdict)
                told = {name: answer[name] for name in ("finish_reason", "request_key", *verdict)}
                told = {name: value for name, value in told.items() if name not in KEY}
                answer["details"] = told | {"rule": rule(item, answer)}
                answer["failed"] = str(answer["error"]) if failed(answer) else None
                yield item, answer | {"messages": json.loads(answer["messages"])}


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON takes it: lists for arrays, None for what is missing."""
    lists = {name: v.tolist() if hasattr(v, "tolist") else v for name, v in row.items()}
    return {n: None if pd.api.types.is_scalar(v) and pd.isna(v) else v for n, v in lists.items()}


def tokens(answer: dict[str, Any]) -> dict[str, int]:
    """What an answer took, in the words of both formats of answers."""
    used = {"input_tokens": answer["prompt_tokens"], "output_tokens": answer["completion_tokens"]}
    return used | {"total_tokens": sum(used.values())}


def items() -> Iterator[tuple[str, pd.DataFrame]]:
    """The items of each benchmark of the run. Errors: `InputError` where there are none at all."""
    named = params.load()["run"]["benchmarks"]
    there = [name for name in named if paths.result("items", name).exists()]
    if not there:
        raise InputError(f"{paths.RESULTS}: no items of this run yet; run `make figures` first")
    for name in there:
        yield name, tidy.read("items", paths.result("items", name))


def parts() -> Iterator[Part]:
    """What the run has of each benchmark and model. Errors: `InputError` where it has nothing."""
    found = False
    for name, table in items():
        for model in params.load()["run"]["models"]:
            scores, responses = scores_of(name, [model]), paths.result("responses", name, model)
            if scores is not None and len(scores) and responses.exists():
                found = True
                yield Part(name, specs.model(model), table, protocol(scores), responses)
    if not found:
        raise InputError(f"{paths.RESULTS}: no answers of this run yet; run `make figures` first")


def writers(table: pd.DataFrame) -> str:
    """Who wrote the items of a table, such as "authored: 40, llm:smollm2-135m: 2"."""
    counts = table["source"].value_counts().sort_index()
    return ", ".join(f"{who}: {n}" for who, n in counts.items())


def dataset(name: str, table: pd.DataFrame) -> str:
    """What items are called elsewhere: a benchmark's own name is for its released items alone."""
    return name if table["source"].str.startswith("released:").all() else f"tomlab-{name}"


def _paper(name: str) -> ModuleType:
    return import_module(f"tomlab.benchmarks.{name}.paper")


def cited(name: str) -> str:
    """A benchmark's paper in words, such as "BigToM (Gandhi et al., 2023)"."""
    return f"{_paper(name).PUBLICATION.name} ({_paper(name).PUBLICATION.authors_year})"


def identity(spec: specs.ModelSpec) -> str:
    """A model as hubs name it, `<developer>/<model>`; who only serves it stands for who made it."""
    if spec.model == SMOLLM2:
        return "HuggingFaceTB/SmolLM2-135M-Instruct"
    if spec.provider == "embedded":
        return f"local/{Path(spec.model).stem}"
    host = urlsplit(getattr(spec, "base_url", None) or "").hostname
    by = "tomlab" if spec.provider == "baseline" else host or spec.provider
    # Names such as "llama3:8b" are no names of folders.
    return re.sub(r"[^\w./-]", "-", spec.model if "/" in spec.model else f"{by}/{spec.model}")
