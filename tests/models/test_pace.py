"""Before a model is asked, a run says how long that takes."""

import asyncio

import pandas as pd
import pytest

from tomlab.models import pace
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, Reply, Request, model_spec
from tomlab.models.store import Store, row

EMBEDDED = {"provider": "embedded", "model": "none.gguf", "engines": 2}
SPEC = model_spec("mine", {"mine": EMBEDDED})


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store.sqlite") as kept:
        yield kept


def test_the_pace_is_that_of_earlier_answers_in_the_store(store):
    for number, seconds in enumerate([2.0, 4.0]):
        answer = row(f"{number:064x}", "mine", {"n": number}, Reply("a", "stop"), None, seconds)
        store.put(answer)
    said = pace.announcement(store, [], SPEC, 400)
    assert said == "about 10 minutes at the pace of its earlier answers"  # 3 s each, two at a time
    assert "days" in pace.announcement(store, [], SPEC, 1_000_000)
    assert "less than a minute" in pace.announcement(store, [], SPEC, 1)


def test_without_a_store_the_pace_is_that_of_kept_answers(store, tmp_path):
    (tmp_path / "kept" / "bigtom").mkdir(parents=True)
    table = pd.DataFrame({"seconds": [1.0, 1.0, None]})
    table.to_parquet(tmp_path / "kept" / "bigtom" / "mine.parquet")
    assert pace.announcement(store, [tmp_path / "kept"], SPEC, 240).startswith("about 2 minutes")


def test_where_no_answer_was_timed_that_is_said(store, tmp_path):
    assert pace.announcement(store, [tmp_path], SPEC, 10).startswith("no earlier answer")


def test_a_run_announces_it_before_it_asks(faulty_server, tmp_path, capfd):
    entry = {"provider": "openai", "base_url": f"{faulty_server.url}/v1", "model": "toy"}
    spec = model_spec("toy", {"toy": entry})
    for text in ("first", "second"):
        request = Request(({"role": "user", "content": text},), 8)
        asyncio.run(ask([request], spec, store=tmp_path / "store.sqlite", limits=Limits()))
    lines = [line for line in capfd.readouterr().err.splitlines() if "are asked now" in line]
    assert "no earlier answer" in lines[0]
    assert "less than a minute" in lines[1]
