"""What was spent at a store: booked with each answer, held to by all who ask there, kill or no kill."""

import asyncio
import signal
import time
from contextlib import suppress

import pytest

from faulty_server import GOOD, Act
from full_disk import files_up_to
from tomlab.errors import InputError
from tomlab.models import ask as asking
from tomlab.models.providers import provider
from tomlab.models.specs import Limits, Price, Reply
from tomlab.models.store import Store, StoreError, request_key, row
from toy_models import answers, question, questions, run_in_a_process, toy

# Ten tokens at most for a question, seven in fact, a dollar each.
DOLLAR_A_TOKEN = {"price": {"input": 0, "output": 1_000_000}}
ASKER = """
import sys
from toy_models import answers, question, toy
url, path, name, limit = sys.argv[1:]
spec = toy("openai", url, max_concurrency=2, price={"input": 0, "output": 1_000_000})
answers([question(f"{name} {n}?") for n in range(40)], spec, path, max_cost_usd=float(limit))
"""


def paid(key: str, cost: float | None = 0.5) -> dict:
    return row(key, "toy", {"asked": key}, Reply("b", "stop", 1, 1), cost, 0.1)


# Prices


def test_what_comes_from_the_cache_and_goes_there_has_prices_of_its_own():
    price = Price(input=4, output=10, cached_input=1, cache_write=5)
    usd = price.usd(1000, 100, cached=600, written=300)
    assert usd == pytest.approx((100 * 4 + 600 * 1 + 300 * 5 + 100 * 10) / 1e6)
    plain = Price(input=4, output=10)
    assert plain.usd(1000, 100, cached=600, written=300) == plain.usd(1000, 100)
    assert Price(input=4, output=10, batch=0.5).usd(1000, 100, batched=True) == 0.0025


def test_answer_costs_what_its_tokens_do_and_at_worst_all_of_its_prompt_is_written():
    price = {"input": 3_000_000, "output": 0, "cached_input": 300_000, "cache_write": 3_750_000}
    spec = toy("anthropic", "http://localhost:1", price=price)
    asked, counted = question("x" * 30), Reply("b", "stop", 10, 1, {}, 8, 2)
    assert spec.cost_of(counted, spec.worst_case(asked)) == pytest.approx(8 * 0.3 + 2 * 3.75)
    assert spec.worst_case(asked) == pytest.approx(10 * 3.75)
    assert spec.cost_of(Reply("b", "stop"), 7.0) == 7.0


# The ledger


def test_answers_are_booked_and_their_reservations_end(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        assert store.reserve([2.0], limit=3)
        assert not store.reserve([2.0], limit=3)
        assert store.reserve([1.0], limit=3)
        assert store.spending() == (0, 0, 3)
        store.put(paid("k"), reserved=2.0)
        assert store.spending() == (0.5, 0, 1)
        store.settle(1.0)  # its request failed
        assert (store.spending(), sum(store.spending()[:2])) == ((0.5, 0, 0), 0.5)
        assert not store.reserve([2.6], limit=3)
    with Store(tmp_path / "store.sqlite") as store:
        assert sum(store.spending()[:2]) == 0.5


def test_answers_without_a_price_and_from_elsewhere_cost_nothing_here(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.put(paid("k", cost=None))
        store.take([paid("l") | {"uses": "3_evaluation/bigtom 0-shot"}])
        assert sum(store.spending()[:2]) == 0


def test_what_nobody_waits_for_any_more_is_lost_and_counts(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.reserve([2.0], limit=None)
    with Store(tmp_path / "store.sqlite") as store:
        assert store.spending() == (0, 2, 0)
        assert not store.reserve([1.5], limit=3)


def test_reservation_of_a_dead_process_is_lost_and_a_batch_outlives_its_own(tmp_path):
    path = tmp_path / "store.sqlite"
    one = Store(path)
    one.reserve([2.0], limit=None)
    one.reserve([4.0], limit=None, by="batch-1")
    with Store(path) as other:
        assert other.spending() == (0, 0, 6)
        del one  # as a killed process, it says nothing of it
        assert other.spending() == (0, 2, 4)
    assert [name.name for name in tmp_path.glob("*.alive")] == []


def test_rescued_answer_is_booked_when_it_is_taken_in_and_its_reservation_ends(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.reserve([2.0], limit=None)
        with pytest.raises(StoreError), files_up_to(4000):
            store.put(paid("k"), reserved=2.0)
    with Store(tmp_path / "store.sqlite") as store:
        assert store.spending() == (0.5, 0, 0)


# Who is waited for


CLOCK = """
import sys, time
seconds = float(sys.argv[3])
right = time.time
time.time = lambda: right() + seconds
from toy_models import answers, questions, toy
price = {"input": 0, "output": 1_000_000}
spec = toy("openai", sys.argv[1], max_concurrency=4, requests_per_minute=6000, price=price)
answers(questions(40), spec, sys.argv[2], max_cost_usd=1000)
"""


@pytest.mark.parametrize("ahead", [2, 1e6, -1e6])
def test_processes_whose_clocks_differ_pay_each_question_once(ahead, faulty_server, store):
    faulty_server.default = Act(wait=0.05)
    both = [run_in_a_process(CLOCK, faulty_server.url, store, s) for s in (0, ahead)]
    said = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert len(faulty_server.asked) == 40
    with Store(store) as kept:
        assert kept.spending() == (280, 0, 0)


def test_process_that_says_nothing_for_long_keeps_what_is_its_own(faulty_server, store):
    faulty_server.script = [Act(wait=1.0)]
    process = run_in_a_process(ASKER, faulty_server.url, store, "a", 1000)
    while not faulty_server.asked:
        time.sleep(0.02)
    process.send_signal(signal.SIGSTOP)  # as a machine that was put to sleep
    with Store(store) as other:
        assert other.claim(["key"]) == {"key"}
        [[key]] = other.all("SELECT key FROM claims WHERE key <> 'key' LIMIT 1")
        assert other.claim([key]) == {"key"}
        process.kill()
        process.communicate()
        assert other.claim([key]) == {"key", key}


HOLDER = """
import sys, time
from tomlab.models.store import Store
path, held, key = sys.argv[1:]
with Store(path) as store:
    if held == "claims":
        store.claim([key])
    elif held == "reserved":
        store.reserve([25.0], limit=None)
    else:
        store.share("toy", 8, 8, 8)
    print("holds", flush=True)
    time.sleep(1.5)
"""


@pytest.mark.parametrize("held", ["claims", "reserved", "places"])
def test_long_wait_says_for_whom(held, faulty_server, store, monkeypatch, capfd):
    monkeypatch.setattr(asking, "QUIET", 0.2)
    spec = toy("openai", faulty_server.url, **DOLLAR_A_TOKEN)
    key = request_key(provider(spec).payload(question("Question 0?")))
    other = run_in_a_process(HOLDER, store, held, key)
    assert other.stdout.readline() == "holds\n"
    with suppress(InputError):  # what is reserved counts as spent in the end
        asyncio.run(asking.ask(questions(1), spec, store=store, limits=Limits(max_cost_usd=30)))
    assert f"process {other.pid} on" in capfd.readouterr().err
    other.communicate()


# The limit


def test_limit_counts_what_earlier_runs_spent_and_a_larger_one_goes_on(faulty_server, store):
    spec = toy("openai", faulty_server.url, max_concurrency=1, **DOLLAR_A_TOKEN)
    answers(questions(2), spec, store, max_cost_usd=30)
    with pytest.raises(InputError, match=r"3 of 6 answers.*\$7"):
        answers(questions(6), spec, store, max_cost_usd=30)
    told = rf"\$21.0000 of limits.max_cost_usd = 30.0 are spent at {store}"
    with pytest.raises(InputError, match=told):
        answers(questions(6), spec, store, max_cost_usd=30)
    assert len(faulty_server.asked) == 3
    answers(questions(6), spec, store, max_cost_usd=60)
    assert len(faulty_server.asked) == 6
    with Store(store) as kept:
        assert kept.spending() == (42, 0, 0)


def test_two_processes_keep_to_one_limit_and_use_it_up(faulty_server, store):
    faulty_server.default = Act(wait=0.05)
    both = [run_in_a_process(ASKER, faulty_server.url, store, name, 100) for name in ("a", "b")]
    told = [process.communicate(timeout=60)[1] for process in both]
    assert all("max_cost_usd = 100" in one for one in told)
    assert len(faulty_server.asked) == 13  # $91; a fourteenth might have made it $101
    with Store(store) as kept:
        assert kept.spending() == (91, 0, 0)


def test_limit_holds_over_a_kill_and_what_was_under_way_counts_as_spent(faulty_server, store):
    faulty_server.script, faulty_server.default = [GOOD] * 4, Act(wait=60)
    process = run_in_a_process(ASKER, faulty_server.url, store, "a", 100)
    while len(faulty_server.asked) < 6:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.communicate()
    faulty_server.default = GOOD
    spec = toy("openai", faulty_server.url, **DOLLAR_A_TOKEN)
    # $28 for four answers, $20 at most for two that were under way: one more for $7.
    told = r"\$55.0000 \(\$20.0000 of it under way when a run was killed\)"
    with pytest.raises(InputError, match=told):
        answers(questions(5), spec, store, max_cost_usd=60)
    assert len(faulty_server.asked) == 7
    answers(questions(5), spec, store, max_cost_usd=100)
    assert len(faulty_server.asked) == 11
