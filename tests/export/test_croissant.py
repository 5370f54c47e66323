"""Items described by Croissant: read back by its own library, and a number recomputed from them."""

import hashlib
import json

import pandas as pd
import pytest

import exported
from tomlab.export import __main__ as command

mlc = pytest.importorskip("mlcroissant", reason=exported.ABSENT)


@pytest.fixture(scope="module")
def folder(results):
    assert command.main(["croissant"]) == 0
    return results / "exports" / "croissant"


def records(folder, name):
    """All records as a table, texts as texts."""
    found = mlc.Dataset(jsonld=folder / name / "croissant.json").records(record_set="items")
    rows = [
        {key.removeprefix("items/"): _text(value) for key, value in record.items()}
        for record in found
    ]
    return pd.DataFrame(rows)


def _text(value):
    if isinstance(value, list):
        return [_text(each) for each in value]
    return value.decode() if isinstance(value, bytes) else value


def content(folder, name):
    return json.loads((folder / name / "croissant.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("benchmark", exported.ITEMS, ids=lambda benchmark: benchmark.NAME)
def test_records_are_the_items(folder, benchmark):
    items, found = exported.ITEMS[benchmark], records(folder, benchmark.NAME)
    assert found.columns.tolist() == items.columns.tolist()
    for name in items:
        assert found[name].tolist() == items[name].tolist(), name


def test_accuracy_from_records_is_ours(results, folder):
    """One that answers as if everybody knew everything is right where that is the answer."""
    found = records(folder, "bigtom")
    ours = exported.value(results, "bigtom", "omniscient", "0-shot", "outcome_rate", "correct")
    assert (found["reality"] == found["answer"]).mean() == pytest.approx(ours["value"])
    assert len(found) == ours["n"]


@pytest.mark.parametrize("benchmark", exported.ITEMS, ids=lambda benchmark: benchmark.NAME)
def test_description_is_valid(folder, benchmark):
    metadata = mlc.Dataset(jsonld=folder / benchmark.NAME / "croissant.json").metadata
    assert not metadata.ctx.issues.errors
    told = content(folder, benchmark.NAME)
    assert told["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    [file] = told["distribution"]
    data = (folder / benchmark.NAME / file["contentUrl"]).read_bytes()
    assert file["sha256"] == hashlib.sha256(data).hexdigest()


def test_it_says_who_wrote_items_and_on_which_terms(folder):
    told = content(folder, "simpletom")
    assert told["name"] == "tomlab-simpletom"
    assert "Written by: authored: 18, llm:mine: 9." in told["description"]
    assert told["license"] == ["https://spdx.org/licenses/MIT", "not stated for mine"]
    assert "SimpleToM (Gu et al., 2024)" in told["citeAs"]
    assert {who["name"] for who in told["creator"]} == {"the tomlab authors", "mine"}


def test_released_items_keep_their_name_and_terms(folder):
    told = content(folder, "fantom")
    assert told["name"] == "fantom"
    assert told["license"] == "that of fantom_v1"


def test_changed_file_is_not_read(folder):
    path = folder / "omnitom" / "items.parquet"
    kept = path.read_bytes()
    path.write_bytes(kept[:-1])
    with pytest.raises(mlc.GenerationError):
        records(folder, "omnitom")
    path.write_bytes(kept)
