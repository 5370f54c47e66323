"""The four tables: a good one passes, every bad cell is named, and what is written is read back."""

import json

import pandas as pd
import pytest

from tomlab.errors import InputError
from tomlab.records import tidy

ITEM = {
    "benchmark": "bigtom",
    "item_id": "t1/forward_belief/false_belief/1",
    "group_id": "t1",
    "question_type": "belief",
    "story": "Mara keeps her violin in the closet.",
    "question": "Where will Mara look?",
    "choices": ["In the closet.", "In the attic."],
    "answer": "In the closet.",
    "source": "authored",
}
RESPONSE = {
    "item_id": "t1",
    "model": "smol",
    "method": "0-shot",
    "sample": 0,
    "messages": '[{"role": "user", "content": "Where?"}]',
    "prompt_hash": "0123456789ab",
    "response": "a)In the closet.",
    "finish_reason": "stop",
    "prompt_tokens": 70,
    "completion_tokens": 9,
    "error": None,
    "request_key": "f" * 64,
}
SCORE = {
    "item_id": "t1",
    "group_id": "t1",
    "model": "smol",
    "method": "0-shot",
    "sample": 0,
    "outcome": "correct",
    "score": 1.0,
}
METRIC = {
    "benchmark": "bigtom",
    "model": "smol",
    "method": "0-shot",
    "metric": "accuracy",
    "condition": "forward_belief/false_belief/1",
    "value": 0.5,
    "ci_low": 0.25,
    "ci_high": 0.75,
    "ci_method": "cluster jackknife",
    "n": 12,
    "n_groups": 12,
}
GOOD = {"items": ITEM, "responses": RESPONSE, "scores": SCORE, "metrics": METRIC}


def complaint(kind: str, *rows: dict) -> str:
    with pytest.raises(InputError) as caught:
        tidy.check(pd.DataFrame(rows), kind, "mine.parquet")
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "column", "bad"),
    [
        ("items", "source", "me"),
        ("items", "source", "llm:"),
        ("items", "story", None),
        ("items", "choices", None),
        ("responses", "sample", -1),
        ("responses", "completion_tokens", -7),
        ("scores", "outcome", "half right"),
        ("scores", "score", 1.5),
        ("scores", "score", float("nan")),
        ("metrics", "ci_high", float("inf")),
        ("metrics", "ci_method", "guess"),
        ("metrics", "n", 0),
    ],
)
def test_bad_cell_is_named_with_its_row_and_column(kind, column, bad):
    key = "condition" if kind == "metrics" else "item_id"
    message = complaint(kind, GOOD[kind], GOOD[kind] | {key: "another", column: bad})
    assert "mine.parquet: 1 problem" in message
    assert f"row 1, column {column!r}: found " in message
    assert bad is None or repr(bad) in message


@pytest.mark.parametrize(
    ("kind", "column", "bad", "found"),
    [
        ("responses", "prompt_tokens", 0.5, "float64"),
        ("scores", "score", "1", "'str'"),
        ("scores", "group_id", 5, "5"),
    ],
)
def test_column_of_another_kind_is_named_with_what_it_holds(kind, column, bad, found):
    message = complaint(kind, GOOD[kind] | {column: bad})
    assert f"column {column!r}" in message
    assert found in message


def test_missing_columns_are_named_all_at_once():
    message = complaint("items", {"question": "Where?", "source": "authored"})
    assert "7 problems" in message
    assert "column 'benchmark' is missing" in message


@pytest.mark.parametrize("kind", GOOD)
def test_row_that_repeats_an_earlier_ones_key_is_named(kind):
    message = complaint(kind, GOOD[kind], GOOD[kind])
    assert "row 1" in message
    assert "item_id" in message or "of an earlier row" in message


@pytest.mark.parametrize("kind", GOOD)
def test_written_table_is_read_back(kind, tmp_path):
    path = tmp_path / "deep" / "table.parquet"
    tidy.write(pd.DataFrame([GOOD[kind]]), kind, path)
    pd.testing.assert_frame_equal(tidy.read(kind, path), pd.DataFrame([GOOD[kind]]))


def test_bad_table_is_not_written(tmp_path):
    path = tmp_path / "scores.parquet"
    with pytest.raises(InputError, match=r"scores table for scores\.parquet"):
        tidy.write(pd.DataFrame([SCORE | {"score": 2.0}]), "scores", path)
    assert not path.exists()


def test_several_tables_are_stacked_in_the_order_given(tmp_path):
    for name in "ab":
        tidy.write(pd.DataFrame([SCORE | {"model": name}]), "scores", tmp_path / name)
    both = tidy.read("scores", tmp_path / "b", tmp_path / "a")
    assert both["model"].tolist() == ["b", "a"]
    assert both.index.tolist() == [0, 1]


def test_table_that_is_not_there_is_named_with_what_writes_it(tmp_path):
    with pytest.raises(InputError, match=r"smol\.parquet: no such file.*make figures"):
        tidy.read("scores", tmp_path / "smol.parquet")


def test_file_that_is_no_table_is_named(tmp_path):
    path = tmp_path / "items.parquet"
    path.write_text("item_id,answer\nx,y\n")
    with pytest.raises(InputError, match=r"items\.parquet: found no Parquet table"):
        tidy.read("items", path)


def test_bad_table_on_disk_is_named_with_its_path(tmp_path):
    path = tmp_path / "edited.parquet"
    pd.DataFrame([SCORE | {"outcome": "maybe"}]).to_parquet(path)
    with pytest.raises(InputError, match=r"edited\.parquet: 1 problem\n  row 0, column 'outcome'"):
        tidy.read("scores", path)


def test_headlines_are_a_file_each_and_a_table(tmp_path, monkeypatch):
    for name in ("DOCS", "RESULTS"):
        monkeypatch.setattr(f"tomlab.paths.{name}", tmp_path)
    other = METRIC | {"method": "1-shot", "value": 1.0, "ci_high": 1.0}
    more = METRIC | {"metric": "outcome_rate", "condition": "wrong"}
    named = {"forward-belief": ("accuracy", "forward_belief/false_belief/1"), "not": ("run", "")}
    tidy.write_headlines(pd.DataFrame([METRIC, other, more]), named, "bigtom")
    files = sorted((tmp_path / "metrics" / "bigtom" / "smol").glob("*.json"))
    names = ["0-shot_forward-belief.json", "1-shot_forward-belief.json"]
    assert [path.name for path in files] == names
    numbers = {"value": 0.5, "low": 0.25, "high": 0.75, "n": 12, "groups": 12}
    assert json.loads(files[0].read_text(encoding="utf-8")) == numbers
    plotted = pd.read_csv(tmp_path / "plots" / "bigtom.csv")
    assert plotted["value"].tolist() == [0.5, 1.0]
    assert plotted["headline"].iloc[1] == "smol, 1-shot, forward-belief"
