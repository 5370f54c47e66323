"""Nothing that was paid for is lost, whatever the disk, the store or another process does."""

import os
import signal
import sqlite3
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier

import pytest

from faulty_server import Act
from full_disk import files_up_to
from tomlab.errors import InputError
from tomlab.models.specs import Reply
from tomlab.models.store import Store, StoreError, row
from toy_models import answers, questions, run_in_a_process, toy

ASKER = """
import sys
from toy_models import answers, questions, texts, toy
url, store, count = sys.argv[1:]
print(texts(answers(questions(int(count)), toy("openai", url, max_retries=0), store)))
"""


def answer(key: str, text: str = "In the attic.") -> dict:
    return row(key, "toy", {"asked": key}, Reply(text, "stop"), None, 0.1)


@contextmanager
def as_nobody():
    """Without the rights of root, whom no file's mode stops."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(mine)


# Disks


def test_disk_that_fills_up_in_mid_run_costs_no_answer(faulty_server, store, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    spec = toy("openai", faulty_server.url, max_concurrency=4)
    faulty_server.default = Act(text="In the attic. " * 500)
    with Store(store):
        pass
    with pytest.raises(InputError) as failed, files_up_to(200_000):
        answers(questions(100), spec, store)
    paid, told = len(faulty_server.asked), str(failed.value)
    assert 4 < paid < 60
    rescued = [*(tmp_path / "elsewhere").iterdir()]
    assert f"what came back is in {tmp_path / 'elsewhere'}, for the next run" in told
    assert f"{paid - len(rescued)} of 100 answers are kept" in told

    responses = answers(questions(100), spec, store)
    assert len(faulty_server.asked) == 100
    assert sum(response.cached for response in responses) == paid
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_full_disk_is_found_before_anything_is_asked(faulty_server, store):
    with Store(store) as kept:
        kept.put(answer("k"))
    with pytest.raises(StoreError, match=r"store\.sqlite: .*space"), files_up_to(0):
        answers(questions(3), toy("openai", faulty_server.url), store)
    assert not faulty_server.asked


def test_read_only_store_is_found_before_anything_is_asked(faulty_server):
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite"
        with Store(store) as kept:
            kept.put(answer("k"))
        store.chmod(0o444)
        Path(folder).chmod(0o555)
        with as_nobody(), pytest.raises(StoreError, match=r"store\.sqlite: .*writable"):
            answers(questions(3), toy("openai", faulty_server.url), store)
        Path(folder).chmod(0o755)
    assert not faulty_server.asked


# Two processes


def test_two_processes_ask_each_question_once_and_get_the_same(faulty_server, store):
    faulty_server.default = Act(wait=0.05)
    both = [run_in_a_process(ASKER, faulty_server.url, store, 40) for _ in range(2)]
    said = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert said[0][0] == said[1][0]
    assert len(faulty_server.asked) == len({asked.text for asked in faulty_server.asked}) == 40


def test_process_that_waits_says_for_whom_and_asks_what_is_left_when_that_is_killed(
    faulty_server, store, monkeypatch
):
    monkeypatch.delenv("TOMLAB_STAGE", raising=False)
    faulty_server.script = [Act()] * 5
    faulty_server.default = Act(wait=60)
    first = run_in_a_process(ASKER, faulty_server.url, store, 9)
    while len(faulty_server.asked) < 9:
        assert first.poll() is None
        time.sleep(0.02)
    faulty_server.default = Act()
    second = run_in_a_process(ASKER, faulty_server.url, store, 12)
    assert f"models.toy is asked by a run, process {first.pid}" in second.stderr.readline()
    first.kill()
    assert second.wait(timeout=30) == 0
    assert len(faulty_server.asked) == 9 + 12 - 5
    first.communicate()
    second.communicate()


def test_a_new_store_may_be_opened_by_several_at_once(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        for number in range(5):
            start, path = Barrier(8), tmp_path / str(number) / "store.sqlite"
            path.parent.mkdir()

            def open_it(start=start, path=path):
                start.wait()
                Store(path)

            for job in [pool.submit(open_it) for _ in range(8)]:
                job.result()


# Other stores


def test_store_of_a_later_schema_is_refused_and_left_alone(store):
    with Store(store) as kept:
        kept.put(answer("k"))
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA user_version = 7")
    before = store.read_bytes()
    with pytest.raises(StoreError, match=r"found schema 7 .*expected 4"):
        Store(store)
    assert store.read_bytes() == before


# Ctrl-C


def test_ctrl_c_says_in_one_line_what_is_kept(faulty_server, store):
    faulty_server.script = [Act()] * 20
    faulty_server.default = Act(wait=60)
    process = run_in_a_process(ASKER, faulty_server.url, store, 100)
    while len(faulty_server.asked) < 28:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    [line] = [line for line in said.splitlines() if line.startswith("models.toy: stopped")]
    assert f"stopped; answers go to {store}. 20 of 100 answers are kept" in line
    assert line.endswith("running again asks only for the rest")
    with Store(store) as kept:
        assert kept.all("SELECT count(*) FROM responses") == [(20,)]
