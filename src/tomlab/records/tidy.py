"""The tables that pass between stages: items, responses, scores, metrics. Each kind has one schema,
checked at every read and write; benchmarks add columns for their conditions.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pyarrow

from tomlab import paths
from tomlab.errors import InputError, refuse
from tomlab.params import BASELINES

KEY = ["item_id", "model", "method", "sample"]  # identifies an answer
OUTCOMES = ("correct", "wrong", "unparsed", "truncated", "refused", "error")
CI_METHODS = ("cluster jackknife", "Clopper-Pearson", "all groups alike", "square and add")
# What `ci_method` says where there is no interval.
RARE = "too few stories with this label to tell"
FEW_RIGHT = "too few groups with a right answer to tell"
# Values of the column `asked_as`: as in the protocol, with the two options swapped, or without the
# story; any other value is the name of another wording. Answers from other harnesses may lack the
# column.
AS_ASKED, REVERSED, NO_STORY = "", "reversed", "no-story"
# The outcome of an answer that earns partial credit, not a verdict; no outcome rate counts it.
SCORED = "scored"
# Which option's words follow the letter that an answer names, see `choices.words_of`.
WORDS = ("same", "other", "elsewhere", "")
# What a judge is compared with where construction fixes the truth, so that no person judged it.
KNOWN = "known by construction"


def _of(kind: Callable[..., pa.Column], names: str, **options: Any) -> dict[str, pa.Column]:
    """Columns of one kind, by name. names: separated by spaces."""
    return {name: kind(**options) for name in names.split()}


_text = partial(pa.Column, str)
_FINITE = pa.Check(np.isfinite, error="a finite number")
_count = partial(pa.Column, int, pa.Check.ge(0))
_SOURCES = pa.Check.str_matches(r"^(authored|grammar|(llm|edited|released):.+)$")
_ASKED_AS = {"asked_as": _text(required=False)}
_METRIC = "benchmark model method metric condition"
_KEYS = {"responses": KEY, "scores": KEY, "metrics": _METRIC.split()}
_COLUMNS = {
    "items": {
        **_of(_text, "benchmark group_id question_type story question"),
        "item_id": _text(unique=True),
        # Lists or texts, depending on the question type, so no dtype is checked.
        **_of(pa.Column, "choices answer"),
        "source": _text(_SOURCES),
    },
    "responses": {
        **_of(_text, "item_id model method messages prompt_hash request_key"),
        **_of(_text, "response finish_reason error", nullable=True),
        **_of(_count, "sample prompt_tokens completion_tokens"),
        # Whose wording the prompts have, see `asking.prompts`. Other harnesses' answers lack it.
        "prompt_wording": _text(nullable=True, required=False),
        **_ASKED_AS,
    },
    "scores": {
        **_of(_text, "item_id group_id model method"),
        "sample": _count(),
        "outcome": _text(pa.Check.isin([*OUTCOMES, SCORED])),
        "score": pa.Column(float, pa.Check.in_range(0, 1)),
        "words": _text(pa.Check.isin(WORDS), required=False),
        **_ASKED_AS,
    },
    "metrics": {
        **_of(_text, _METRIC),
        "value": pa.Column(float, _FINITE),
        **_of(partial(pa.Column, float, _FINITE, nullable=True), "ci_low ci_high"),
        "ci_method": _text(pa.Check.isin([*CI_METHODS, RARE, FEW_RIGHT])),
        **_of(partial(pa.Column, int, pa.Check.ge(1)), "n n_groups"),
    },
}
SCHEMAS = {
    kind: pa.DataFrameSchema(columns, unique=_KEYS.get(kind), report_duplicates="exclude_first")
    for kind, columns in _COLUMNS.items()
}


def check(table: pd.DataFrame, kind: str, where: str = "table") -> pd.DataFrame:
    """Returns `table` if it fits the schema of `kind`; else `InputError` lists every fault."""
    try:
        SCHEMAS[kind].validate(table, lazy=True)
    except pa.errors.SchemaErrors as errors:
        cases = errors.failure_cases.to_dict("records")
        faults = [_fault(case, kind) for case in cases]
        refuse([*dict.fromkeys(faults)], where)
    return table


def _fault(case: dict, kind: str) -> str:
    """One failure case of pandera in words. A repeated key gives the same words for each column."""
    row = case["index"]
    if case["check"] == "multiple_fields_uniqueness":
        return f"row {row}: found the {', '.join(_KEYS[kind])} of an earlier row, expected once"
    if case["check"] == "column_in_dataframe":
        return f"column {case['failure_case']!r} is missing"
    place = f"column {case['column']!r}"
    if pd.notna(row):
        place = f"row {row}, {place}"
    return f"{place}: found {case['failure_case']!r}, expected {case['check']}"


def write(table: pd.DataFrame, kind: str, path: Path | str) -> None:
    """Check `table` and write it as Parquet; the folder is created if it is missing."""
    check(table, kind, where=f"{kind} table for {Path(path).name}")
    table.to_parquet(paths.writable(path), index=False)


def read(kind: str, *files: Path | str, **options: Any) -> pd.DataFrame:
    """Read and check tables of one kind, stacked in the order given. options: for pandas."""
    if not files:
        raise InputError(f"no {kind} to read: the list of models or benchmarks is empty")
    for path in files:
        if not Path(path).exists():
            raise InputError(f"{path}: no such file. `make figures` writes it, stage by stage")
    tables = [check(parquet(path, **options), kind, where=str(path)) for path in files]
    return pd.concat(tables, ignore_index=True)


def of_models(kind: str, benchmark: str, models: Sequence[str]) -> pd.DataFrame:
    """The responses, scores or metrics of a benchmark's models, stacked in the order given.

    Skips a baseline that has no file because it can answer by no method.
    """
    files = []
    for model in models:
        if model not in BASELINES:
            files.append(paths.result(kind, benchmark, model))
            continue
        path = paths.baseline(kind, benchmark, model)
        if path.is_file():
            files.append(path)
    return read(kind, *files)


def parquet(path: Path | str, **options: Any) -> pd.DataFrame:
    """Read a Parquet file without checking a schema. Errors: `InputError` if it is not Parquet."""
    try:
        return pd.read_parquet(path, **options)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path}: found no Parquet table ({error}); expected one") from None


def write_headlines(
    metrics: pd.DataFrame, named: Mapping[str, tuple[str, str]], benchmark: str
) -> None:
    """Write a run's headline numbers: one table for `dvc plots`, and for `dvc metrics` a file for
    each number, `<model>/<method>_<name>.json`. named: the (metric, condition) of each headline.
    """
    names = pd.DataFrame.from_dict(named, orient="index", columns=["metric", "condition"])
    headlines = metrics.merge(names.rename_axis("name").reset_index(), on=["metric", "condition"])
    columns = {"ci_low": "low", "ci_high": "high", "n_groups": "groups"}
    numbers = ["value", "low", "high", "n", "groups"]
    headlines = headlines.rename(columns=columns)[["model", "method", "name", *numbers]]
    for row in headlines.to_dict("records"):
        name = f"{benchmark}/{row['model']}/{row['method']}_{row['name']}.json"
        path = paths.writable(paths.DOCS / "metrics" / name)
        path.write_text(json.dumps({name: row[name] for name in numbers}) + "\n", encoding="utf-8")
    label = headlines["model"] + ", " + headlines["method"] + ", " + headlines["name"]
    path = paths.writable(paths.RESULTS / "plots" / f"{benchmark}.csv")
    headlines.assign(headline=label).to_csv(path, index=False)
