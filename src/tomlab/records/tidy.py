"""The tidy tables that carry everything between stages: items, responses, scores, metrics; and the
differences between models or methods.

Each has one schema, checked wherever it is read or written; benchmarks add columns of conditions.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pyarrow

from tomlab.errors import InputError, refuse

OUTCOMES = ("correct", "wrong", "unparsed", "truncated", "refused", "error")
CI_METHODS = ("cluster jackknife", "Clopper-Pearson", "all groups alike", "square and add")
# How a question was put, in the column `asked_as`: as the protocol puts it, with its two options
# exchanged, or in another wording by its name. Answers from elsewhere may leave it out.
AS_ASKED, REVERSED = "", "reversed"
# Of an answer that earns a share of credit in the place of a verdict; counted in no outcome rate.
SCORED = "scored"
# Whose word a judge is held against where an operation made the truth and nobody judged it.
KNOWN = "known by construction"


def _texts(*names: str, **options: Any) -> dict[str, pa.Column]:
    return {name: pa.Column(str, **options) for name in names}


def _counts(*names: str, least: int = 0) -> dict[str, pa.Column]:
    return {name: pa.Column(int, checks=pa.Check.ge(least)) for name in names}


_SOURCES = pa.Check.str_matches(r"^(authored|grammar|(llm|edited|released):.+)$")
_FINITE = pa.Check(np.isfinite, error="a finite number")
_ANSWER = ["item_id", "model", "method", "sample"]
_METRIC = ["benchmark", "model", "method", "metric", "condition"]
_PAIR = ["benchmark", "metric", "condition", "varies", "same", "a", "b"]
_KEYS = {"responses": _ANSWER, "scores": _ANSWER, "metrics": _METRIC, "differences": _PAIR}
_ASKED_AS = {"asked_as": pa.Column(str, required=False)}
_SHARE = {"checks": pa.Check.in_range(0, 1)}
_COLUMNS = {
    "items": {
        **_texts("benchmark"),
        **_texts("item_id", unique=True),
        **_texts("group_id", "question_type", "story", "question"),
        # Lists and texts, by question type: no one dtype.
        "choices": pa.Column(None),
        "answer": pa.Column(None),
        **_texts("source", checks=_SOURCES),
    },
    "responses": {
        **_texts("item_id", "model", "method"),
        **_counts("sample"),
        **_texts("messages", "prompt_hash"),
        **_texts("response", "finish_reason", nullable=True),
        **_counts("prompt_tokens", "completion_tokens"),
        **_texts("error", nullable=True),
        **_texts("request_key"),
        **_ASKED_AS,
    },
    "scores": {
        **_texts("item_id", "group_id", "model", "method"),
        **_counts("sample"),
        **_texts("outcome", checks=pa.Check.isin([*OUTCOMES, SCORED])),
        "score": pa.Column(float, checks=pa.Check.in_range(0, 1)),
        **_ASKED_AS,
    },
    "metrics": {
        **_texts(*_METRIC),
        **{name: pa.Column(float, checks=_FINITE) for name in ("value", "ci_low", "ci_high")},
        **_texts("ci_method", checks=pa.Check.isin(CI_METHODS)),
        **_counts("n", "n_groups", least=1),
    },
    "differences": {
        **_texts(*_PAIR),
        **{name: pa.Column(float, _FINITE) for name in ("difference", "ci_low", "ci_high")},
        **_texts("ci_method", checks=pa.Check.isin(CI_METHODS)),
        **{name: pa.Column(float, **_SHARE) for name in ("p", "p_holm")},
        **_texts("p_method"),
        **_counts("n", "n_groups", least=1),
        **_counts("n_discordant", "n_left_out"),
    },
}
SCHEMAS = {
    kind: pa.DataFrameSchema(columns, unique=_KEYS.get(kind), report_duplicates="exclude_first")
    for kind, columns in _COLUMNS.items()
}
METRICS = SCHEMAS["metrics"]


def check(table: pd.DataFrame, kind: str, where: str = "table") -> pd.DataFrame:
    """`table` as it is if it fits the schema of `kind` (a key of `SCHEMAS`).

    Errors: `InputError` that lists each column or row at fault, all at once.
    """
    try:
        SCHEMAS[kind].validate(table, lazy=True)
    except pa.errors.SchemaErrors as errors:
        cases = errors.failure_cases.to_dict("records")
        refuse([*dict.fromkeys(_said(case, kind) for case in cases)], where)
    return table


def _said(case: dict, kind: str) -> str:
    """A failure case of pandera's in words; the columns of a repeated key have the same ones."""
    row, column, found = case["index"], case["column"], case["failure_case"]
    if case["check"] == "multiple_fields_uniqueness":
        return f"row {row}: found the {', '.join(_KEYS[kind])} of an earlier row, expected once"
    if case["check"] == "column_in_dataframe":
        return f"column {found!r} is missing"
    at = "" if pd.isna(row) else f"row {row}, "
    return f"{at}column {column!r}: found {found!r}, expected {case['check']}"


def write(table: pd.DataFrame, kind: str, path: Path | str) -> None:
    """Check `table` and write it as Parquet, making the folder."""
    path = Path(path)
    check(table, kind, where=f"{kind} table for {path.name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_parquet(path, index=False)


def read(kind: str, *paths: Path | str) -> pd.DataFrame:
    """Read and check one table, or several of one kind stacked in the order given."""
    if not paths:
        raise InputError(f"no {kind} to read: the list of models or benchmarks is empty")
    if lost := [path for path in paths if not Path(path).exists()]:
        raise InputError(f"{lost[0]}: no such file. `make figures` writes it, stage by stage")
    tables = [check(_parquet(path), kind, where=str(path)) for path in paths]
    return pd.concat(tables, ignore_index=True)


def _parquet(path: Path | str) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{path}: found no Parquet table ({error}); expected one") from None


def write_headlines(
    metrics: pd.DataFrame, named: Mapping[str, tuple[str, str]], folder: Path | str
) -> pd.DataFrame:
    """A run's headline numbers for `dvc metrics`, which shows a JSON file as a line: one file each,
    `<model>/<method>_<name>.json`, with value, low, high (of the interval), n and groups.

    named: (metric, condition) by name. The numbers as a table: model, method, name and these five.
    """
    columns = {"value": "value", "ci_low": "low", "ci_high": "high", "n": "n", "n_groups": "groups"}
    names = pd.DataFrame(
        [(name, *what) for name, what in named.items()], columns=["name", "metric", "condition"]
    )
    found = metrics.merge(names, on=["metric", "condition"]).rename(columns=columns)
    for row in found.to_dict("records"):
        path = Path(folder) / row["model"] / f"{row['method']}_{row['name']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        shown = {name: row[name] for name in columns.values()}
        path.write_text(json.dumps(shown) + "\n", encoding="utf-8")
    return found[["model", "method", "name", *columns.values()]]


def write_plot(headlines: pd.DataFrame, path: Path | str) -> None:
    """The table of `write_headlines` as CSV for `dvc plots`, in which each has one label."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    label = headlines["model"] + ", " + headlines["method"] + ", " + headlines["name"]
    headlines.assign(headline=label).to_csv(path, index=False)
