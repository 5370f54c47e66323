"""Nothing that was paid for is lost, whatever the disk, the store or another process does."""

import signal
import sqlite3
import tempfile

import pytest

from faulty_server import Act
from full_disk import files_up_to
from tomlab.errors import InputError
from tomlab.models.specs import Reply
from tomlab.models.store import Store, StoreError, row
from toy_models import run_in_a_process, texts, until_asked

ASKER = """
import sys
from toy_models import answers, questions, texts, toy
url, store, count = sys.argv[1:]
print(texts(answers(questions(int(count)), toy("openai", url, max_retries=0), store)))
"""


@pytest.fixture(autouse=True)
def aside(tmp_path, monkeypatch):
    """The temporary folder, where answers are put aside."""
    folder = tmp_path / "aside"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


# Disks


def test_disk_that_fills_up_in_mid_run_costs_no_answer(faulty_server, ask, store, aside):
    faulty_server.default = Act(text="In the attic. " * 500)
    Store(store)
    with pytest.raises(InputError) as failed, files_up_to(200_000):
        ask(100, max_concurrency=4)
    n_paid = faulty_server.n_asked
    n_kept = n_paid - len([*aside.iterdir()])
    assert 4 < n_paid < 60
    assert f"what came back is in {aside}, for the next run" in str(failed.value)
    assert f"{n_kept} of 100 answers are kept" in str(failed.value)

    responses = ask(100)
    assert faulty_server.n_asked == 100
    assert sum(response.cached for response in responses) == n_paid
    assert not [*aside.iterdir()]


def test_full_disk_is_noticed_before_anything_is_asked(faulty_server, ask):
    ask(1)
    with pytest.raises(StoreError, match=r"store\.sqlite: .*writable.*space"), files_up_to(0):
        ask(3)
    assert faulty_server.n_asked == 1


def test_rescued_answers_are_booked_once_even_if_a_run_died_while_it_took_them_in(
    store, aside, spending
):
    keys = ["k", "l"]
    with Store(store) as opened:
        opened.reserve(dict.fromkeys(keys, 1.0), "toy", None)
        for key in keys:
            answer = row(key, "toy", {"asked": key}, Reply("b", "stop", 1, 1), 1.0, 0.1)
            with pytest.raises(StoreError), files_up_to(4000):
                opened.put(answer)
    contents = {file: file.read_bytes() for file in aside.iterdir()}
    for _ in range(2):
        for file, content in contents.items():
            file.write_bytes(content)
        assert spending() == (2, 0, 0)
    with Store(store) as opened:
        assert len(opened.replies(keys)) == 2
    assert not [*aside.iterdir()]

    file.write_text("")
    with pytest.raises(StoreError, match=rf"{file.name}: .*remove it"):
        Store(store)


def test_store_that_is_removed_stops_the_run_and_costs_no_later_answer(
    faulty_server, ask, store, aside
):
    def remove(count: int) -> None:
        if count == 20:
            for path in store.parent.glob(f"{store.name}*"):
                path.unlink()

    faulty_server.default = Act(wait=0.05)
    faulty_server.on_asked = remove
    with pytest.raises(InputError, match=rf"{store.name}: it was removed.*for the next run"):
        ask(60, max_concurrency=4)
    n_asked = faulty_server.n_asked
    n_aside = len([*aside.iterdir()])
    assert n_asked < 30
    assert n_aside
    assert len(texts(ask(60))) == 60
    assert faulty_server.n_asked == 60 + n_asked - n_aside


@pytest.mark.parametrize(
    ("is_store", "message"),
    [(False, "file is not a database"), (True, r"found schema 7 .*expected 4")],
)
def test_file_that_is_no_store_or_a_later_one_is_left_alone(is_store, message, store):
    if is_store:
        with sqlite3.connect(store) as db:
            db.execute("PRAGMA user_version = 7")
    else:
        store.write_text("Buy milk.\n" * 200)
    content = store.read_bytes()
    with pytest.raises(StoreError, match=rf"store\.sqlite: {message}"):
        Store(store)
    assert store.read_bytes() == content


# Two processes


def test_two_processes_ask_each_question_once_and_get_the_same(faulty_server, store):
    faulty_server.default = Act(wait=0.05)
    processes = [run_in_a_process(ASKER, faulty_server.url, store, 40) for _ in range(2)]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    assert faulty_server.n_asked == len({asked.text for asked in faulty_server.asked}) == 40


def test_process_that_waits_says_for_whom_and_asks_the_rest_when_that_is_killed(
    faulty_server, store, monkeypatch
):
    monkeypatch.delenv("TOMLAB_STAGE", raising=False)
    faulty_server.script = [Act()] * 5
    faulty_server.default = Act(wait=60)
    first = run_in_a_process(ASKER, faulty_server.url, store, 9)
    until_asked(9, faulty_server, first)
    faulty_server.default = Act()
    second = run_in_a_process(ASKER, faulty_server.url, store, 12)
    assert f"models.toy is asked by a run, process {first.pid}" in second.stderr.readline()
    first.kill()
    second.communicate(timeout=30)
    assert second.returncode == 0
    assert faulty_server.n_asked == 9 + 12 - 5
    first.communicate()


def test_ctrl_c_says_in_one_line_how_much_is_kept(faulty_server, store):
    faulty_server.script = [Act()] * 20
    faulty_server.default = Act(wait=60)
    process = run_in_a_process(ASKER, faulty_server.url, store, 100)
    until_asked(28, faulty_server, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    [line] = [line for line in errors.splitlines() if line.startswith("models.toy: stopped")]
    assert f"stopped; answers go to {store}. 20 of 100 answers are kept" in line
    assert line.endswith("running again asks only for the rest")
    with Store(store) as opened:
        assert opened.all("SELECT count(*) FROM responses") == [(20,)]
