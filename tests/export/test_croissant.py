"""Items described by Croissant: read back by its own library, and a number recomputed from them."""

import hashlib
import json

import pandas as pd
import pytest

import exported


@pytest.fixture(scope="module")
def folder(results):
    return results / "exports" / "croissant"


@pytest.fixture(scope="module")
def read(folder, read_by_library):
    return read_by_library("croissant", folder)


def records(read, name):
    """All records as a table."""
    rows = read[name]["records"]
    return pd.DataFrame([{key.removeprefix("items/"): row[key] for key in row} for row in rows])


def content(folder, name):
    return json.loads((folder / name / "croissant.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("benchmark", exported.ITEMS, ids=lambda benchmark: benchmark.NAME)
def test_records_are_the_items(read, benchmark):
    assert read[benchmark.NAME]["errors"] == []
    items, found = exported.ITEMS[benchmark], records(read, benchmark.NAME)
    assert found.columns.tolist() == items.columns.tolist()
    for name in items:
        assert found[name].tolist() == items[name].map(_plain).tolist(), name


def _plain(value):
    return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def test_accuracy_from_records_is_ours(results, read):
    """One that answers as if everybody knew everything is right where that is the answer."""
    found = records(read, "bigtom")
    ours = exported.value(results, "bigtom", "omniscient", "0-shot", "outcome_rate", "correct")
    assert (found["reality"] == found["answer"]).mean() == pytest.approx(ours["value"])
    assert len(found) == ours["n"]


def test_description_names_version_and_file(folder):
    told = content(folder, "bigtom")
    assert told["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    [file] = told["distribution"]
    data = (folder / "bigtom" / file["contentUrl"]).read_bytes()
    assert file["sha256"] == hashlib.sha256(data).hexdigest()


def test_it_says_who_wrote_items_and_on_which_terms(folder):
    told = content(folder, "simpletom")
    assert told["name"] == "tomlab-simpletom"
    assert "Written by: authored: 18, llm:mine: 9." in told["description"]
    assert told["license"] == ["https://spdx.org/licenses/MIT", "not stated for mine"]
    assert {who["name"] for who in told["creator"]} == {"the tomlab authors", "mine"}


def test_released_items_keep_their_name_and_terms(folder):
    told = content(folder, "fantom")
    assert told["name"] == "fantom"
    assert told["license"] == "that of fantom_v1"
