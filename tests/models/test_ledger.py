"""What was spent at a store: booked with each answer, held to by all who ask there, kill or no kill."""

import time

import pytest

from faulty_server import GOOD, Act
from full_disk import files_up_to
from tomlab.errors import InputError
from tomlab.models.specs import Price, Reply
from tomlab.models.store import Store, StoreError, row
from toy_models import answers, question, questions, run_in_a_process, toy

# Ten tokens at most for a question, seven in fact, a dollar each.
DOLLAR_A_TOKEN = {"price": {"input": 0, "output": 1_000_000}}
ASKER = """
import sys
from toy_models import answers, question, toy
url, path, name, limit = sys.argv[1:]
price = {"input": 0, "output": 1_000_000}
spec = toy("openai", url, max_concurrency=2, price=price).model_copy(update={"name": name})
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
    with Store(tmp_path / "store.sqlite") as store, store.lock("toy"):
        assert store.reserve({"k": 2.0, "l": 1.0, "m": 0.1}, "toy", limit=3) == ["k", "l"]
        assert sum(store.spending()) == 3
        store.put(paid("k"))
        store.end("l", "toy")  # it failed
        assert store.spending() == (0.5, 0, 0)
        assert store.reserve({"m": 2.6}, "toy", limit=3) == []
        assert store.reserve({"m": 2.5}, "toy", limit=3) == ["m"]


def test_answers_without_a_price_and_from_elsewhere_cost_nothing_here(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.put(paid("k", cost=None))
        store.take([paid("l") | {"uses": "3_evaluation/bigtom 0-shot"}])
        assert store.spending() == (0, 0, 0)


def test_what_nobody_waits_for_any_more_is_lost_and_counts(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        with store.lock("toy"):
            store.reserve({"k": 2.0}, "toy", limit=None)
            store.reserve({"l": 4.0}, "other", limit=None, batch="a batch")
            assert store.spending() == (0, 0, 6)
        assert store.spending() == (0, 2, 4)
        assert store.reserve({"m": 1.5}, "toy", limit=7) == []
        store.correct(1.0)
        assert store.spending() == (1, 0, 4)


def test_answer_that_is_put_aside_is_booked_when_it_is_taken_in(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.reserve({"k": 2.0}, "toy", limit=None)
        with pytest.raises(StoreError), files_up_to(4000):
            store.put(paid("k"))
    with Store(tmp_path / "store.sqlite") as store:
        assert store.spending() == (0.5, 0, 0)


# The limit


def test_processes_that_ask_two_models_keep_to_one_limit(faulty_server, store):
    faulty_server.default = Act(wait=0.05)
    names = ["toy", "other"]
    both = [run_in_a_process(ASKER, faulty_server.url, store, name, 100) for name in names]
    errors = [process.communicate(timeout=60)[1] for process in both]
    assert all("max_cost_usd = 100" in error for error in errors)
    with Store(store) as kept:
        assert kept.spending() == (7 * len(faulty_server.asked), 0, 0)
        assert 80 < kept.spending().answers <= 100


def test_limit_counts_what_earlier_runs_spent_and_a_larger_one_goes_on(faulty_server, store):
    spec = toy("openai", faulty_server.url, max_concurrency=1, **DOLLAR_A_TOKEN)
    answers(questions(2), spec, store, max_cost_usd=30)
    with pytest.raises(InputError, match=r"3 of 6 answers.*\$7"):
        answers(questions(6), spec, store, max_cost_usd=30)
    told = rf"\$21.0000 of limits.max_cost_usd = 30.0 are spent or under way at {store}"
    with pytest.raises(InputError, match=told):
        answers(questions(6), spec, store, max_cost_usd=30)
    assert len(faulty_server.asked) == 3
    answers(questions(6), spec, store, max_cost_usd=60)
    assert len(faulty_server.asked) == 6
    with Store(store) as kept:
        assert kept.spending() == (42, 0, 0)


def test_limit_holds_over_a_kill_and_what_was_under_way_counts_as_spent(faulty_server, store):
    faulty_server.script, faulty_server.default = [GOOD] * 4, Act(wait=60)
    process = run_in_a_process(ASKER, faulty_server.url, store, "toy", 100)
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
