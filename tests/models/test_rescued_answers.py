"""Answers that a store could not take, or lost, come back with the next run, each once."""

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
        kept.reserve({f"k{n}": 1.0 for n in range(count)}, "toy", None)
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
    put_aside(store, 10)
    assert len([*aside.glob("*.json")]) == 10
    openers = [run_in_a_process(OPENER, store) for _ in range(4)]
    for opener in openers:
        opener.stdin.write("\n")
        opener.stdin.flush()
    said = [opener.communicate(timeout=60) for opener in openers]
    assert [opener.returncode for opener in openers] == [0] * 4, said
    with Store(store) as kept:
        assert kept.spending() == (10, 0, 0)
        assert len(kept.replies(f"k{n}" for n in range(10))) == 10
    assert [*aside.glob("*.json")] == []


def test_run_that_died_after_it_took_an_answer_in_does_not_book_it_twice(store, aside):
    put_aside(store)
    [file] = aside.glob("*.json")
    content = file.read_bytes()
    for _ in range(2):
        file.write_bytes(content)
        with Store(store) as kept:
            assert kept.spending() == (1, 0, 0)


def test_file_without_an_answer_is_named_and_left_alone(store, aside):
    put_aside(store)
    [file] = aside.glob("*.json")
    file.write_bytes(b"")
    with pytest.raises(StoreError, match=rf"{file.name}: .*remove it"):
        Store(store)
    assert file.exists()


def test_store_that_is_removed_stops_the_run_and_costs_no_later_answer(faulty_server, store, aside):
    def remove(asked: int) -> None:
        if asked == 20:
            for path in store.parent.glob(f"{store.name}*"):
                path.unlink()

    faulty_server.default = Act(wait=0.05)
    faulty_server.on_asked = remove
    spec = toy("openai", faulty_server.url, max_concurrency=4)
    with pytest.raises(InputError, match=rf"{store.name}: it was removed.*for the next run"):
        answers(questions(60), spec, store)
    asked = len(faulty_server.asked)
    put_aside = len([*aside.iterdir()])
    assert asked < 30
    assert put_aside
    assert len(texts(answers(questions(60), spec, store))) == 60
    assert len(faulty_server.asked) == 60 + asked - put_aside
