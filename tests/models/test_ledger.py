"""What was spent at a store: booked with each answer, held to by all who ask there, kill or no kill."""

import asyncio
import os
import time
from contextlib import suppress

import pytest

from faulty_server import GOOD, Act
from full_disk import files_up_to
from tomlab.errors import InputError
from tomlab.models import ask as asking
from tomlab.models import store as stores
from tomlab.models.providers import provider
from tomlab.models.specs import Limits, Price, Reply
from tomlab.models.store import Store, StoreError, request_key, row
from toy_models import answers, question, questions, run_in_a_process, toy

# Ten tokens at most for a question, seven in fact, a dollar each.
DOLLAR_A_TOKEN = {"price": {"input": 0, "output": 1_000_000}}
ASKER = """
import sys
from tomlab.models import ask, store as stores
from toy_models import answers, question, toy
ask.HELD = stores.HELD = 1.0
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


def test_reservation_is_held_or_lost_and_a_batch_outlives_its_process(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "HELD", 0.05)
    with Store(tmp_path / "store.sqlite") as one:
        one.reserve([2.0], limit=None)
        one.reserve([4.0], limit=None, by="batch-1")
        time.sleep(0.1)
        assert one.spending() == (0, 2, 4)
        monkeypatch.setattr(stores, "HELD", 30)
        one.hold()
        assert one.spending() == (0, 0, 6)
    with Store(tmp_path / "store.sqlite") as other:
        assert other.spending() == (0, 2, 4)


def test_rescued_answer_is_booked_when_it_is_taken_in_and_its_reservation_ends(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.reserve([2.0], limit=None)
        with pytest.raises(StoreError), files_up_to(4000):
            store.put(paid("k"), reserved=2.0)
    with Store(tmp_path / "store.sqlite") as store:
        assert store.spending() == (0.5, 0, 0)


# Who is waited for


def test_what_a_wrong_clock_dated_far_ahead_blocks_nobody(faulty_server, store):
    spec = toy("openai", faulty_server.url, requests_per_minute=600, **DOLLAR_A_TOKEN)
    keys = [request_key(provider(spec).payload(asked)) for asked in questions(2)]
    with Store(store) as other:
        assert other.claim(keys) == {*keys}
        other.reserve([25.0], limit=None)
        other.share("toy", 8, 8, 8)
        other.turn("toy requests", 0.1)
        for table in ("claims", "reserved", "places"):
            other.all(f"UPDATE {table} SET until = until + 1e6")
        other.all("UPDATE turns SET at = at + 1e6")
        start = time.monotonic()
        answers(questions(2), spec, store, max_cost_usd=100)
        assert time.monotonic() - start < 10  # not so long as an honest claim holds
        assert other.spending() == (14, 25, 0)  # what it reserved may have been paid


@pytest.mark.parametrize("held", ["claims", "reserved", "places"])
def test_long_wait_says_for_whom(held, faulty_server, store, monkeypatch, capfd):
    monkeypatch.setattr(asking, "QUIET", 0.2)
    monkeypatch.setattr(stores, "HELD", 2.0)
    spec = toy("openai", faulty_server.url, **DOLLAR_A_TOKEN)
    with Store(store) as other:
        if held == "claims":
            other.claim([request_key(provider(spec).payload(asked)) for asked in questions(1)])
        elif held == "reserved":
            other.reserve([25.0], limit=None)
        else:
            other.share("toy", 8, 8, 8)
        with suppress(InputError):  # what is reserved counts as spent in the end
            asyncio.run(asking.ask(questions(1), spec, store=store, limits=Limits(max_cost_usd=30)))
    assert f"process {os.getpid()} on" in capfd.readouterr().err


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
