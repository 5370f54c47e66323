"""What a run has to export: by benchmark and model each answer to a question as the protocol puts
it, its verdict with the rule that decided, and the metrics with their intervals.
"""

import json
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
from tomlab.scoring.series import rows
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
    def paper(self) -> ModuleType:
        """What is known of the benchmark's paper: `PUBLICATION`, `WORDING`."""
        return import_module(f"tomlab.benchmarks.{self.name}.paper")

    @cached_property
    def provenance(self) -> dict[str, str]:
        """Whose the items and the protocol are; no number that a paper printed is exported."""
        return {"items written by": writers(self.items), "protocol of": cited(self.paper)}

    @cached_property
    def temperature(self) -> float | None:
        """At which answers were asked for; None where none was sent."""
        given = getattr(self.spec, "temperature", None)
        return 0.0 if given == specs.PROTOCOL else given  # of all benchmarks' protocols

    @cached_property
    def _series(self) -> list[tuple]:
        return list(import_module(f"tomlab.benchmarks.{self.name}.metrics").series(self.scores))

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """The metrics table of these scores; `bounds` are those of each value."""
        found = []
        for model, method, one in self._series:
            whose = {"benchmark": self.name, "model": model, "method": method}
            found += rows([one], whose | {"bounds": getattr(one, "bounds", SHARE)})
        return pd.DataFrame(found)

    @cached_property
    def counted(self) -> dict[str, frozenset[str]]:
        """By method the answers, as `<item_id>/<sample>`, that the metric `CORRECT` counts."""
        kept = [each for each in self._series if (each[2].metric, each[2].condition) == CORRECT]
        return {method: frozenset(one.values.index) for _, method, one in kept}

    def answers(self, method: str = "") -> Iterator[tuple[dict, dict]]:
        """Each item with its answer by one method or all: a row of responses and scores, `rule` in
        words, `messages` as a list, and `failed`, why there is no response. A part is read at a
        time. Errors: `InputError` for an answer without a score.
        """
        rule = import_module(f"tomlab.benchmarks.{self.name}").rule
        items = {item["item_id"]: plain(item) for item in self.items.to_dict("records")}
        whose = pd.MultiIndex.from_frame(self.scores[KEY])
        for batch in pq.ParquetFile(self.responses).iter_batches(_AT_ONCE):
            own = protocol(batch.to_pandas())
            own = own[own["method"] == method] if method else own
            places = whose.get_indexer(pd.MultiIndex.from_frame(own[KEY]))
            if lost := own["item_id"][places < 0].tolist():
                raise InputError(f"{self.responses}: no score of {lost[0]!r}; run `make figures`")
            verdicts = self.scores.iloc[places].to_dict("records")
            for response, verdict in zip(own.to_dict("records"), verdicts, strict=True):
                item, answer = items[response["item_id"]], plain(response | verdict)
                answer["rule"], answer["messages"] = (
                    rule(item, answer),
                    json.loads(answer["messages"]),
                )
                yield item, answer | {"failed": str(answer["error"]) if failed(answer) else None}


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON takes it: lists for arrays, None for what is missing."""
    told = {
        name: value.tolist() if hasattr(value, "tolist") else value for name, value in row.items()
    }
    return {n: None if pd.api.types.is_scalar(v) and pd.isna(v) else v for n, v in told.items()}


def items() -> Iterator[tuple[str, pd.DataFrame]]:
    """The items of each benchmark of the run. Errors: `InputError` where there are none at all."""
    there = [
        name for name in params.load()["run"]["benchmarks"] if paths.result("items", name).exists()
    ]
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
    return ", ".join(
        f"{who}: {n}" for who, n in table["source"].value_counts().sort_index().items()
    )


def dataset(name: str, table: pd.DataFrame) -> str:
    """What items are called elsewhere: a benchmark's own name is for its released items alone."""
    return name if table["source"].str.startswith("released:").all() else f"tomlab-{name}"


def cited(paper: ModuleType) -> str:
    """A paper in words, such as "BigToM (Gandhi et al., 2023)"."""
    return f"{paper.PUBLICATION.name} ({paper.PUBLICATION.authors_year})"


def host(spec: specs.ModelSpec) -> str:
    """The host of a server of the user's choice; "" for a vendor's own, or without one."""
    return urlsplit(getattr(spec, "base_url", None) or "").hostname or ""


def identity(spec: specs.ModelSpec) -> str:
    """A model as hubs name it, `<developer>/<model>`; who only serves it stands for who made it."""
    if spec.provider == "embedded":
        is_ours = spec.model == SMOLLM2
        return (
            "HuggingFaceTB/SmolLM2-135M-Instruct" if is_ours else f"local/{Path(spec.model).stem}"
        )
    by = "tomlab" if spec.provider == "baseline" else host(spec) or spec.provider
    return spec.model if "/" in spec.model else f"{by}/{spec.model}"
