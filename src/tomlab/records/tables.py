"""The four tidy tables that carry everything between stages: items, responses, scores, metrics.

Each has one schema here, checked wherever it is read or written. A benchmark adds its own
condition columns; the columns named here are always there.
"""

import json
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.errors import InputError, refuse

OUTCOMES = ("correct", "wrong", "unparsed", "truncated", "refused", "error")
CI_METHODS = ("cluster bootstrap", "Clopper-Pearson")

_share = pa.Check.in_range(0, 1)
_count = pa.Check.ge(0)


def _text(**kwargs) -> pa.Column:
    return pa.Column(str, **kwargs)


ITEMS = pa.DataFrameSchema(
    {
        "benchmark": _text(),
        "item_id": _text(unique=True),
        "group_id": _text(),
        "question_type": _text(),
        "story": _text(),
        "question": _text(),
        # Lists and texts, by question type: no one dtype.
        "choices": pa.Column(None),
        "answer": pa.Column(None),
        "source": _text(checks=pa.Check.str_matches(r"^(authored|grammar|llm:.+|released:.+)$")),
    },
    name="items",
)
RESPONSES = pa.DataFrameSchema(
    {
        "item_id": _text(),
        "model": _text(),
        "method": _text(),
        "sample": pa.Column(int, checks=_count),
        "messages": _text(),
        "prompt_hash": _text(),
        "response": _text(nullable=True),
        "finish_reason": _text(nullable=True),
        "prompt_tokens": pa.Column(int, checks=_count),
        "completion_tokens": pa.Column(int, checks=_count),
        "error": _text(nullable=True),
        "request_key": _text(),
    },
    unique=["item_id", "model", "method", "sample"],
    report_duplicates="exclude_first",
    name="responses",
)
SCORES = pa.DataFrameSchema(
    {
        "item_id": _text(),
        "group_id": _text(),
        "model": _text(),
        "method": _text(),
        "sample": pa.Column(int, checks=_count),
        "outcome": _text(checks=pa.Check.isin(OUTCOMES)),
        "score": pa.Column(float, checks=_share),
    },
    unique=["item_id", "model", "method", "sample"],
    report_duplicates="exclude_first",
    name="scores",
)
METRICS = pa.DataFrameSchema(
    {
        "benchmark": _text(),
        "model": _text(),
        "method": _text(),
        "metric": _text(),
        "condition": _text(),
        "value": pa.Column(float),
        "ci_low": pa.Column(float),
        "ci_high": pa.Column(float),
        "ci_method": _text(checks=pa.Check.isin(CI_METHODS)),
        "n": pa.Column(int, checks=pa.Check.ge(1)),
        "n_groups": pa.Column(int, checks=pa.Check.ge(1)),
    },
    unique=["benchmark", "model", "method", "metric", "condition"],
    report_duplicates="exclude_first",
    name="metrics",
)
SCHEMAS = {"items": ITEMS, "responses": RESPONSES, "scores": SCORES, "metrics": METRICS}


def check(table: pd.DataFrame, kind: str, where: str = "table") -> pd.DataFrame:
    """Return `table` unchanged if it fits the schema of `kind` (a key of `SCHEMAS`).

    Errors: `InputError` that lists each column or row at fault, all at once.
    """
    try:
        SCHEMAS[kind].validate(table, lazy=True)
    except pa.errors.SchemaErrors as errors:
        refuse(_sentences(errors.failure_cases.to_dict("records")), where)
    return table


def _sentences(cases: list[dict]) -> list[str]:
    """Failure cases of pandera's, a sentence each; the columns of a repeated key in one sentence."""
    keys: dict[int, list[str]] = {}
    for case in cases:
        if case["check"] == "multiple_fields_uniqueness":
            keys.setdefault(case["index"], []).append(f"{case['column']} {case['failure_case']!r}")
    repeated = [f"row {row}: {', '.join(key)} stand in an earlier row" for row, key in keys.items()]
    return repeated + [
        _sentence(case) for case in cases if case["check"] != "multiple_fields_uniqueness"
    ]


def _sentence(case: dict) -> str:
    """One failure case of pandera's in words: the row and column, what was found and expected."""
    if case["check"] == "column_in_dataframe":
        return f"column {case['failure_case']!r} is missing"
    row = "" if pd.isna(case["index"]) else f"row {case['index']}, "
    found = f"found {case['failure_case']!r}, expected {case['check']}"
    return f"{row}column {case['column']!r}: {found}"


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
    frames = []
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{path}: no such file. `make figures` writes it, stage by stage")
        frames.append(check(pd.read_parquet(path), kind, where=str(path)))
    return pd.concat(frames, ignore_index=True)


def write_json(metrics: pd.DataFrame, path: Path | str) -> None:
    """A metrics table as nested JSON, for `dvc metrics`: model, method, metric, condition."""
    nested: dict = {}
    columns = ["value", "ci_low", "ci_high", "n", "n_groups"]
    for row in metrics.to_dict("records"):
        cell = nested.setdefault(row["model"], {}).setdefault(row["method"], {})
        cell.setdefault(row["metric"], {})[row["condition"]] = {c: row[c] for c in columns}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(nested, indent=1) + "\n", encoding="utf-8")
