"""Answers that a store could not take, or lost, come back with the next run, each once."""

import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

from faulty_server import Act
from full_disk import files_up_to
from tomlab.errors import InputError
from tomlab.models.specs import Reply
from tomlab.models.store import Store, StoreError, row
from toy_models import answers, questions, run_in_a_process, texts, toy


@pytest.fixture
def aside(tmp_path: Path, monkeypatch) -> Path:
    """The temporary folder."""
    folder = tmp_path / "aside"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def put_aside(store: Path, count: int = 1) -> None:
    """Let a store fail to take answers, at a dollar each."""
    with Store(store) as kept:
        for n in range(count):
            answer = row(f"k{n}", "toy", {"asked": n}, Reply("b", "stop", 1, 1), 1.0, 0.1)
            with pytest.raises(StoreError), files_up_to(4000):
                kept.put(answer)


OPENER = """
import sys
from tomlab.models.store import Store
sys.stdin.readline()
with Store(sys.argv[1]) as kept:
    print(kept.spending())
"""


def test_processes_that_open_a_store_at_once_book_a_rescued_answer_once(store, aside):
    put_aside(store, 40)
    assert len([*aside.glob("*.json")]) == 40
    openers = [run_in_a_process(OPENER, store) for _ in range(4)]
    for opener in openers:
        opener.stdin.write("\n")
        opener.stdin.flush()
    said = [opener.communicate(timeout=60) for opener in openers]
    assert [opener.returncode for opener in openers] == [0] * 4, said
    with Store(store) as kept:
        assert kept.spending() == (40, 0, 0)
        assert len(kept.replies(f"k{n}" for n in range(40))) == 40
    assert [*aside.glob("*.json")] == []


def test_run_that_died_after_it_took_an_answer_in_does_not_book_it_twice(store, aside):
    put_aside(store)
    [file] = aside.glob("*.json")
    content = file.read_bytes()
    for _ in range(2):
        file.write_bytes(content)
        with Store(store) as kept:
            assert kept.spending() == (1, 0, 0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"key": "k0", "mod',
        b"{}",
        b"[]",
        b"7",
        b"\xff\xfe",
        b'{"key": ["k0"]}',
        b"[" * 99_999,
    ],
    ids=["empty", "cut", "no fields", "no answers", "a number", "no text", "other", "deep"],
)
def test_file_without_an_answer_is_named_and_put_aside(content, store, aside, capfd):
    put_aside(store, 2)
    damaged, whole = sorted(aside.glob("*.json"))
    damaged.write_bytes(content)
    with Store(store) as kept:
        assert kept.spending() == (1, 0, 0)
    assert str(damaged) in capfd.readouterr().err
    assert damaged.with_suffix(".unreadable").read_bytes() == content
    assert not whole.exists()
    with Store(store):
        assert capfd.readouterr().err == ""


def test_what_is_no_file_of_ours_is_left_alone(store, aside):
    put_aside(store)
    [file] = aside.glob("*.json")
    os.mkfifo(file.with_stem(f"{file.stem[:-1]}x"))
    with Store(store) as kept:
        assert kept.spending() == (1, 0, 0)


# Stores that go away in mid-run


def _remove(store: Path) -> None:
    for path in store.parent.glob(f"{store.name}*"):
        path.unlink()


def _replace(store: Path) -> None:
    _remove(store)
    with sqlite3.connect(store) as db:
        db.execute("CREATE TABLE other (x)")
    store.unlink()
    with Store(store):
        pass


def _empty(store: Path) -> None:
    os.truncate(store, 0)


def _clear(store: Path) -> None:
    with sqlite3.connect(store, timeout=30) as db:
        db.execute("DELETE FROM responses")


@pytest.mark.parametrize("go", [_remove, _replace, _empty, _clear])
def test_store_that_goes_away_stops_the_run_and_costs_no_answer(go, faulty_server, store, aside):
    faulty_server.default = Act(wait=0.05)
    spec = toy("openai", faulty_server.url, max_concurrency=4)
    answers(questions(10), spec, store)
    faulty_server.on_asked = lambda asked: asked == 40 and go(store)
    with pytest.raises(InputError, match=rf"{store.name}: .*for the next run"):
        answers(questions(120), spec, store)
    asked = len(faulty_server.asked)
    if go is not _clear:
        assert asked < 80  # it stopped soon
    faulty_server.on_asked = None
    again = answers(questions(120), spec, store)
    assert len(texts(again)) == 120
    assert len(faulty_server.asked) == 120
