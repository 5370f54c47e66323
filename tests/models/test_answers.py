"""Kept answers: from the store to files and back, looked up before a model is asked."""

import asyncio
import math
import random
import re
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from faulty_server import FaultyServer
from kept_answers import change, rows
from tomlab.errors import InputError
from tomlab.models import answers
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, Reply, Request, model_spec
from tomlab.models.store import Store, request_key, row
from tomlab.pipeline import answers as pipeline
from tomlab.pipeline.answers import keep, take
from tomlab.reporting.markup import markdown


def answer(n: int, text: str = "In the attic.", model: str = "toy") -> dict:
    request = {"model": model, "messages": [{"role": "user", "content": f"Where, {n}?"}]}
    reply = Reply(text, "likelihood" if n == 4 else "stop", 7, 3, {"engine": "toy 1.0"})
    return row(request_key(request), model, request, reply, 0.001, 0.5) | {"uses": ""}


@pytest.fixture
def store(tmp_path):
    """A store with answers for two benchmarks by two models; one answer serves both."""
    path = tmp_path / "store.sqlite"
    with Store(path) as kept:
        rows_of_store = [answer(n, f"Answer {n}.") for n in range(5)]
        kept.take([*rows_of_store, answer(9, model="other")])
        keys = [row["key"] for row in rows_of_store]
        kept.used((key, "3_evaluation/bigtom", "0-shot") for key in keys[:4])
        kept.used([(answer(9, model="other")["key"], "1_generation/bigtom", "")])
        kept.used((key, "3_evaluation/simpletom", "none") for key in keys[3:])
    return path


def test_store_and_files_hold_the_same(store, tmp_path):
    counts = keep(store, tmp_path / "kept", ["bigtom", "fantom", "simpletom"])
    assert counts[["new", "kept", "other"]].to_numpy().tolist() == [[1, 0, 0], [4, 0, 0], [2, 0, 0]]
    names = ["bigtom/other", "bigtom/toy", "simpletom/toy"]
    files = [tmp_path / "kept" / f"{name}.parquet" for name in names]
    assert counts["file"].tolist() == files
    back = tmp_path / "back.sqlite"
    assert take(files, back)[["answers", "other"]].to_numpy().tolist() == [[1, 0], [4, 0], [2, 0]]
    query = "SELECT * FROM responses ORDER BY key"
    uses = "SELECT * FROM uses ORDER BY key, stage"
    with Store(store) as first, Store(back) as second:
        assert first.all(query) == second.all(query)
        assert first.all(uses) == second.all(uses)


def test_what_is_kept_again_is_the_same_bytes(store, tmp_path):
    path = tmp_path / "kept/bigtom/toy.parquet"
    keep(store, tmp_path / "kept", ["bigtom"])
    before = path.read_bytes()
    assert keep(store, tmp_path / "kept", ["bigtom"])["new"].tolist() == [0, 0]
    answers.write(reversed(rows(path)), path)
    assert path.read_bytes() == before


def test_another_answer_is_reported_and_neither_is_changed(store, tmp_path):
    keep(store, tmp_path / "kept", ["bigtom"])
    path = tmp_path / "kept/bigtom/toy.parquet"
    content = path.read_bytes()
    changed = answer(2, "In the cellar.")
    key = changed["key"]
    with Store(tmp_path / "changed.sqlite") as responses:
        responses.take([changed])
        responses.used([(key, "3_evaluation/bigtom", "0-shot")])
    assert take([path], tmp_path / "changed.sqlite")["other"].tolist() == [1]
    counts = keep(tmp_path / "changed.sqlite", tmp_path / "kept", ["bigtom"])
    assert counts["other"].tolist() == [1]
    assert path.read_bytes() == content
    with Store(tmp_path / "changed.sqlite") as responses:
        assert responses.replies([key])[key].text == "In the cellar."


def test_files_that_contradict_each_other_are_refused(tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    answers.write([answer(1)], folders[0] / "bigtom/toy.parquet")
    answers.write([answer(1, "In the cellar.")], folders[1] / "bigtom/toy.parquet")
    with pytest.raises(InputError, match=r"second/bigtom/toy.parquet: request .*/first/bigtom"):
        answers.look_up(folders, [answer(1)["key"]])
    assert answers.look_up(folders, [answer(3)["key"]]) == {}


OTHERS = [
    *((name, None) for name in answers.SCHEMA.names if name != "cost"),
    *((name, 7) for name in ("key", "request", "text", "finish_reason", "origin")),
    *((name, -1.0) for name in ("cost", "seconds", "created")),
    *(("origin", text) for text in ("", "[]", '{"engine": 1}')),
    ("created", math.inf),
    ("prompt_tokens", -1),
    ("uses", "3_evaluation/bigtom none\nagain"),
    ("finish_reason", "done"),
    ("model", "../toy"),
    ("request", "{}"),
    ("key", answer(1)["key"]),
    ("text", ["7"]),
]


@pytest.mark.parametrize(("column", "value"), OTHERS)
def test_a_value_that_no_answer_has_is_told_with_file_and_row(column, value, tmp_path):
    path = tmp_path / "kept/bigtom/toy.parquet"
    path.parent.mkdir(parents=True)
    table = pa.Table.from_pylist([answer(n) for n in range(4)])
    values = table[column].to_pylist()
    is_of_type = value is None or type(value) is type(values[2])
    values = [*values[:2], value, *values[3:]] if is_of_type else [value] * 4
    table = table.set_column(table.column_names.index(column), column, pa.array(values))
    pq.write_table(table, path)
    with pytest.raises(InputError, match=rf"(?s)(?=.*{column}).*toy.parquet: .*field 3"):
        take([path], tmp_path / "store.sqlite")
    with Store(tmp_path / "store.sqlite") as store:
        assert store.all("SELECT * FROM responses") == []


def test_a_wrong_answer_is_found_where_it_would_be_used(tmp_path):
    path = tmp_path / "kept/bigtom/toy.parquet"
    path.parent.mkdir(parents=True)
    wrong = answer(2) | {"text": None}
    pq.write_table(pa.Table.from_pylist([answer(0), wrong]), path)
    assert len(answers.look_up([tmp_path / "kept"], [answer(0)["key"]])) == 1
    with pytest.raises(InputError, match=r"toy.parquet: (?s:.*)field 2"):
        answers.look_up([tmp_path / "kept"], [wrong["key"]])


@pytest.mark.parametrize("seed", range(2))
def test_overwritten_pages_are_told(seed, tmp_path):
    path = tmp_path / "kept/bigtom/toy.parquet"
    lots = random.Random(seed)
    answers.write([answer(n) for n in range(40)], path)
    content = bytearray(path.read_bytes())
    place = lots.randrange(4, len(content) // 2)
    content[place : place + 60] = lots.randbytes(60)
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"toy.parquet: (cannot be read|.*\n  field)"):
        take([path], tmp_path / "store.sqlite")


def test_a_file_that_pandas_wrote_is_read(tmp_path):
    path = tmp_path / "kept/bigtom/toy.parquet"
    answers.write([answer(n) | {"cost": None} for n in range(4)], path)
    before = rows(path)
    pd.read_parquet(path).to_parquet(path)
    assert rows(path) == before


@pytest.mark.parametrize("content", [b"no parquet", None])
def test_what_is_no_file_of_answers_is_refused(content, tmp_path):
    path = tmp_path / "kept/bigtom/toy.parquet"
    path.parent.mkdir(parents=True)
    if content is None:
        pd.DataFrame({"score": [1.0]}).to_parquet(path)
    else:
        path.write_bytes(content)
    told = r"toy.parquet: (cannot be read as a whole Parquet|columns .* are missing)"
    with pytest.raises(InputError, match=told):
        answers.look_up([tmp_path / "kept"], ["k"])


# Lists


def test_list_tells_of_each_file(store, tmp_path):
    folder = tmp_path / "kept"
    keep(store, folder, ["bigtom", "simpletom"])
    path = folder / "bigtom/toy.parquet"
    change(path, origin="{}")
    pipeline.describe(folder, {"toy": "MIT"})
    listed = (folder / "answers.md").read_text()
    assert "| bigtom | toy | 4 | toy 1.0 (3); an unknown engine (1) | 20" in listed
    assert f"| MIT | 0.00 | `{pipeline.hash_of(path)}` |" in listed
    assert "| simpletom | toy | 2 | toy 1.0 | 20" in listed
    assert pipeline.changed(answers.files([folder])) == []


EVIL = "<script>alert(1)</script>|[x](javascript:a) ![i](http://e) `c` **b**\n# h\n| 1 | 2 |"


def test_what_servers_and_licences_say_is_no_markup_in_a_list(tmp_path):
    folder = tmp_path / "kept"
    request = {"model": "toy", "messages": []}
    reply = Reply("b", "stop", 7, 3, {"model": EVIL, "fingerprint": EVIL * 100})
    given_answer = row(request_key(request), "toy", request, reply, 0.001, 0.5) | {"uses": ""}
    answers.write([given_answer], folder / "bigtom/toy.parquet")
    pipeline.describe(folder, {"toy": EVIL})
    text = (folder / "answers.md").read_text()
    assert len(text.splitlines()) == len(pipeline.LIST.splitlines()) + 1
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    assert not re.search(r"<(script|a|img|strong|em|h1)\b", page.partition("</thead>")[2])
    assert page.count("<code>") == 3  # two commands above, and the SHA-256
    cells = page.rpartition("<tr>")[2].count("<td")
    assert cells == 10
    assert pipeline.changed(answers.files([folder])) == []


@settings(max_examples=50)
@given(st.text(max_size=40))
def test_no_text_is_markup_in_markdown(text):
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(f"x{markdown(text)}")
    assert re.fullmatch(r"<p>[^<>]*</p>\n", page)


def test_answers_of_a_run_that_the_cost_limit_stopped_are_those_of_its_stage(
    server, tmp_path, monkeypatch
):
    monkeypatch.setenv("TOMLAB_STAGE", "notebooks/3_evaluation/bigtom.ipynb")
    entry = {"provider": "openai", "model": "toy", "base_url": server.url + "/v1"}
    price = {"input": 0, "output": 1_000_000}
    spec = model_spec("toy", {"toy": {**entry, "price": price, "max_concurrency": 1}})
    store = tmp_path / "store.sqlite"
    stopped = ask(REQUESTS, spec, store=store, limits=Limits(max_cost_usd=23), progress=False)
    with pytest.raises(InputError, match="3 of 6 answers are kept"):
        asyncio.run(stopped)
    kept = keep(store, tmp_path / "kept", ["bigtom"])
    assert kept["new"].tolist() == [3]


def test_a_changed_file_is_not_listed_anew(store, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pipeline, "RESPONSE_STORE", store)
    folder = tmp_path / "kept"
    assert pipeline.main(["keep", str(folder)]) == 0
    path = folder / "bigtom/toy.parquet"
    change(path, text="In the cellar.")
    assert pipeline.main(["keep", str(folder)]) == 1
    assert "toy.parquet: its SHA-256 is" in capsys.readouterr().err
    (folder / "answers.md").unlink()
    assert pipeline.main(["keep", str(folder)]) == 3


# Asking


REQUESTS = [Request(({"role": "user", "content": f"Question {n}?"},), 8) for n in range(6)]


@pytest.fixture
def server():
    with FaultyServer() as running:
        yield running


def asked(server, tmp_path, name: str, limits: Limits) -> list:
    entry = {"provider": "openai", "model": "toy", "base_url": server.url + "/v1"}
    spec = model_spec("toy", {"toy": entry})
    return asyncio.run(ask(REQUESTS, spec, store=tmp_path / name, limits=limits, progress=False))


def test_what_is_kept_is_not_asked_and_the_rest_is(server, tmp_path, monkeypatch):
    monkeypatch.setenv("TOMLAB_STAGE", "notebooks/3_evaluation/bigtom.ipynb")
    first = asked(server, tmp_path, "first.sqlite", Limits())
    keep(tmp_path / "first.sqlite", tmp_path / "kept", ["bigtom"])
    [path] = answers.files([tmp_path / "kept"])
    answers.write([row for row in rows(path) if "Question 5?" not in row["request"]], path)
    count = len(server.asked)
    second = asked(server, tmp_path, "second.sqlite", Limits(answers=(tmp_path / "kept",)))
    assert len(server.asked) - count == 1
    assert [response.reply for response in second] == [response.reply for response in first]
    assert [response.cached for response in second] == [True] * 5 + [False]


def test_never_asks_nothing_and_says_what_is_missing(server, tmp_path, monkeypatch):
    purposes = ["0-shot", "0-shot", "0-shot", "0-shot reversed", "0-shot-cot", "0-shot-cot"]
    pairs = zip(REQUESTS, purposes, strict=True)
    monkeypatch.setattr(f"{__name__}.REQUESTS", [replace(r, purpose=p) for r, p in pairs])
    monkeypatch.setenv("TOMLAB_STAGE", "notebooks/3_evaluation/bigtom.ipynb")
    asked(server, tmp_path, "store.sqlite", Limits())
    with Store(tmp_path / "store.sqlite") as kept:
        first = [row for row in kept.kept("bigtom") if '"Question 0?"' in row["request"]]
    answers.write(first, tmp_path / "kept/bigtom/toy.parquet")
    count = len(server.headers)
    message = r"^3_evaluation/bigtom models.toy: 5 of 6 answers are not kept \(2 for 0-shot, 1 for .*never"
    never = Limits(ask="never", answers=(tmp_path / "kept",))
    with pytest.raises(InputError, match=message):
        asked(server, tmp_path, "empty.sqlite", never)
    assert len(server.headers) == count  # neither questions nor a list of models
