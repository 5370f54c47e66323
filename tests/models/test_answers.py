"""Kept answers: from the store to files and back, looked up before a model is asked."""

import re
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kept_answers import change, rows
from tomlab.errors import InputError
from tomlab.models import answers
from tomlab.models.specs import Reply
from tomlab.models.store import Store, canonical, request_key, row
from tomlab.pipeline import answers as pipeline
from tomlab.pipeline.answers import keep, take
from tomlab.reporting.markup import markdown
from toy_models import questions


def answer(n: int, text: str = "In the attic.") -> dict:
    request = {"messages": [{"role": "user", "content": f"Where, {n}?"}]}
    reply = Reply(text, "likelihood" if n == 4 else "stop", 7, 3, {"engine": "toy 1.0"})
    stored = row(request_key(request), "toy", request, reply, 0.001, 0.5)
    return stored | {"uses": "3_evaluation/bigtom 0-shot"}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kept"


@pytest.fixture
def path(folder):
    (folder / "bigtom").mkdir(parents=True)
    return folder / "bigtom/toy.parquet"


@pytest.fixture
def filled(store):
    """A store with answers for two benchmarks by two models; one answer serves both."""
    with Store(store) as opened:
        opened.take([answer(n) for n in range(4)])
        opened.take([answer(9) | {"model": "other", "uses": "1_generation/bigtom "}])
        simpletom = {"uses": "3_evaluation/simpletom none"}
        opened.take([answer(n) | simpletom for n in (3, 4)])
    return store


@pytest.fixture
def staged(monkeypatch):
    monkeypatch.setenv("TOMLAB_STAGE", "notebooks/3_evaluation/bigtom.ipynb")


def test_store_and_files_hold_the_same(filled, folder, tmp_path):
    counts = keep(filled, folder, ["bigtom", "fantom", "simpletom"])
    assert counts[["new", "kept", "other"]].to_numpy().tolist() == [[1, 0, 0], [4, 0, 0], [2, 0, 0]]
    names = ["bigtom/other", "bigtom/toy", "simpletom/toy"]
    assert counts["file"].tolist() == [folder / f"{name}.parquet" for name in names]
    taken = take(counts["file"], tmp_path / "back.sqlite")
    assert taken[["answers", "other"]].to_numpy().tolist() == [[1, 0], [4, 0], [2, 0]]
    with Store(filled) as first, Store(tmp_path / "back.sqlite") as second:
        for table in ("responses", "uses"):
            query = f"SELECT * FROM {table} ORDER BY 1, 2"
            assert first.all(query) == second.all(query)


def test_file_that_is_written_again_has_the_same_bytes(filled, folder):
    _, path = keep(filled, folder, ["bigtom"])["file"]
    content = path.read_bytes()
    assert keep(filled, folder, ["bigtom"])["new"].tolist() == [0, 0]
    answers.write(reversed(rows(path)), path)
    assert path.read_bytes() == content


def test_another_answer_is_reported_and_neither_is_changed(path, folder, store):
    answers.write([answer(2)], path)
    content = path.read_bytes()
    changed = answer(2, "In the cellar.")
    with Store(store) as opened:
        opened.take([changed])
    assert take([path], store)["other"].tolist() == [1]
    assert keep(store, folder, ["bigtom"])["other"].tolist() == [1]
    assert path.read_bytes() == content
    with Store(store) as opened:
        [reply] = opened.replies([changed["key"]]).values()
    assert reply.text == "In the cellar."


def test_files_that_contradict_each_other_are_refused(tmp_path):
    folders = [tmp_path / "first", tmp_path / "second"]
    answers.write([answer(1)], folders[0] / "bigtom/toy.parquet")
    answers.write([answer(1, "In the cellar.")], folders[1] / "bigtom/toy.parquet")
    with pytest.raises(InputError, match=r"second/bigtom/toy.parquet: request .*/first/bigtom"):
        answers.look_up(folders, [answer(1)["key"]])
    assert answers.look_up(folders, [answer(3)["key"]]) == {}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("text", None),
        ("cost", -1.0),
        ("origin", "[]"),
        ("uses", "3_evaluation/bigtom none\nagain"),
        ("finish_reason", "done"),
        ("model", "../toy"),
        ("key", answer(1)["key"]),
    ],
)
def test_value_that_no_answer_has_is_named_with_file_and_row(column, value, path, folder, store):
    rows = [answer(n) for n in range(4)]
    rows[2][column] = value
    pq.write_table(pa.Table.from_pylist(rows), path)
    message = rf"(?s)(?=.*{column}).*toy.parquet: .*field 3"
    with pytest.raises(InputError, match=message):
        take([path], store)
    with Store(store) as opened:
        assert opened.all("SELECT * FROM responses") == []
    with pytest.raises(InputError, match=message):
        answers.look_up([folder], [rows[2]["key"]])
    assert len(answers.look_up([folder], [rows[0]["key"]])) == 1


def test_file_without_answers_is_refused(path, folder):
    path.write_bytes(b"no parquet")
    with pytest.raises(InputError, match=r"toy.parquet: cannot be read as a whole Parquet"):
        answers.look_up([folder], ["k"])
    pd.DataFrame({"score": [1.0]}).to_parquet(path)
    with pytest.raises(InputError, match=r"toy.parquet: columns .* are missing"):
        answers.look_up([folder], ["k"])


# Lists

EVIL = "<script>alert(1)</script>|[x](javascript:a) ![i](http://e) `c` **b**\n# h\n| 1 | 2 |"


def test_list_describes_each_file_and_holds_no_markup_of_servers_and_licences(filled, folder):
    path = keep(filled, folder, ["bigtom", "simpletom"])["file"][1]
    change(path, origin="{}")
    change(path, to=folder / "fantom/toy.parquet", origin=canonical({"model": EVIL * 100}))
    pipeline.describe(folder, {"toy": "MIT", "other": EVIL})
    text = (folder / "answers.md").read_text()
    assert "| bigtom | toy | 4 | toy 1.0 (3); an unknown engine (1) | 20" in text
    assert f"| MIT | 0.00 | `{pipeline.hash_of(path)}` |" in text
    assert len(text.splitlines()) == len(pipeline.LIST.splitlines()) + 4
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    assert not re.search(r"<(script|a|img|strong|em|h1)\b", page.partition("</thead>")[2])
    assert pipeline.changed(answers.files([folder])) == []


@settings(max_examples=50)
@given(st.text(max_size=40))
def test_no_text_is_markup_in_markdown(text):
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(f"x{markdown(text)}")
    assert re.fullmatch(r"<p>[^<>]*</p>\n", page)


def test_a_changed_file_is_not_listed_anew(filled, folder, monkeypatch, capsys):
    monkeypatch.setattr(pipeline, "RESPONSE_STORE", filled)
    assert pipeline.main(["keep", str(folder)]) == 0
    change(folder / "bigtom/toy.parquet", text="In the cellar.")
    assert pipeline.main(["keep", str(folder)]) == 1
    assert "toy.parquet: its SHA-256 is" in capsys.readouterr().err
    (folder / "answers.md").unlink()
    assert pipeline.main(["keep", str(folder)]) == 3


# Asking


@pytest.mark.usefixtures("staged")
def test_answers_of_a_run_that_the_cost_limit_stopped_are_those_of_its_stage(ask, store, folder):
    price = {"input": 0, "output": 1_000_000}
    with pytest.raises(InputError, match="3 of 6 answers are kept"):
        ask(6, price=price, max_concurrency=1, max_cost_usd=25)
    assert keep(store, folder, ["bigtom"])["new"].tolist() == [3]


@pytest.mark.usefixtures("staged")
def test_kept_answers_are_not_asked_and_the_rest_is(faulty_server, ask, store, folder):
    first = ask(6)
    [path] = keep(store, folder, ["bigtom"])["file"]
    answers.write([row for row in rows(path) if "Question 5?" not in row["request"]], path)
    store.unlink()
    second = ask(6, answers=(folder,))
    assert faulty_server.n_asked == 6 + 1
    assert [response.reply for response in second] == [response.reply for response in first]
    assert [response.cached for response in second] == [True] * 5 + [False]


@pytest.mark.usefixtures("staged")
def test_never_asks_nothing_and_says_what_is_missing(faulty_server, ask):
    purposes = ["0-shot"] * 4 + ["0-shot-cot"] * 2
    pairs = zip(questions(6), purposes, strict=True)
    requests = [replace(request, purpose=purpose) for request, purpose in pairs]
    ask(requests[:1])
    count = len(faulty_server.headers)
    counts = r"5 of 6 answers are not kept \(3 for 0-shot, 2 for 0-shot-cot\).*never"
    with pytest.raises(InputError, match=rf"^3_evaluation/bigtom models.toy: {counts}"):
        ask(requests, ask="never")
    assert len(faulty_server.headers) == count  # neither questions nor a list of models
