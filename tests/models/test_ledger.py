"""What was spent at a store: booked with each answer, and a limit for all who ask there."""

import pytest

from faulty_server import GOOD, Act
from tomlab.errors import InputError
from tomlab.models.specs import Reply
from tomlab.models.store import Store, row
from toy_models import question, run_in_a_process, toy, until_asked

# Ten tokens at most for a question, seven in fact, a dollar each.
DOLLAR_A_TOKEN = {"input": 0, "output": 1_000_000}
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


@pytest.fixture
def opened(store):
    with Store(store) as ledger:
        yield ledger


# Prices


@pytest.mark.parametrize("batch", [False, True])
def test_answer_costs_what_its_tokens_do_and_at_worst_all_of_its_prompt_is_written(batch):
    price = {"input": 4e6, "output": 10e6, "cached_input": 1e6, "cache_write": 5e6, "batch": 0.5}
    spec = toy("anthropic", "http://localhost:1", price=price, batch=batch)
    worst = spec.worst_case(question("x" * 30, max_tokens=1))
    without_limit = spec.worst_case(question("x" * 30, max_tokens=None))
    cost = spec.cost_of(Reply("b", "stop", 10, 1, {}, 6, 3), worst)
    factor = 0.5 if batch else 1
    assert worst == pytest.approx((10 * 5 + 1 * 10) * factor)
    assert without_limit == pytest.approx((10 * 5 + 4096 * 10) * factor)
    assert cost == pytest.approx((1 * 4 + 6 * 1 + 3 * 5 + 1 * 10) * factor)


# The ledger


def test_answers_are_booked_and_their_reservations_end(opened):
    with opened.lock("toy"):
        assert opened.reserve({"k": 2.0, "l": 1.0, "m": 0.1}, "toy", limit=3) == ["k", "l"]
        assert sum(opened.spending()) == 3
        opened.put(paid("k"))
        opened.end("l", "toy")  # it failed
        assert opened.spending() == (0.5, 0, 0)
        assert opened.reserve({"m": 2.6}, "toy", limit=3) == []
        assert opened.reserve({"m": 2.5}, "toy", limit=3) == ["m"]


def test_answers_without_a_price_and_from_elsewhere_cost_nothing_here(opened):
    opened.put(paid("k", cost=None))
    opened.take([paid("l") | {"uses": "3_evaluation/bigtom 0-shot"}])
    assert opened.spending() == (0, 0, 0)


def test_lost_requests_count_until_the_account_is_corrected(opened):
    with opened.lock("toy"):
        opened.reserve({"k": 2.0}, "toy", limit=None)
        opened.reserve({"l": 4.0}, "other", limit=None, batch="a batch")
        assert opened.spending() == (0, 0, 6)
    assert opened.spending() == (0, 2, 4)
    assert opened.reserve({"m": 1.5}, "toy", limit=7) == []
    opened.correct(1.0)
    assert opened.spending() == (1, 0, 4)


def test_batches_at_the_vendor_go_on_when_a_killed_run_of_their_model_is_counted_as_lost(opened):
    opened.reserve({"k": 2.0}, "toy", limit=None)
    opened.reserve({"l": 4.0}, "toy", limit=None, batch="a batch")
    assert opened.spending() == (0, 2, 4)


# The limit


def test_processes_that_ask_two_models_keep_to_one_limit(faulty_server, store, spending):
    faulty_server.default = Act(wait=0.05)
    names = ["toy", "other"]
    processes = [run_in_a_process(ASKER, faulty_server.url, store, name, 100) for name in names]
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert all("max_cost_usd = 100" in error for error in errors)
    assert spending() == (7 * faulty_server.n_asked, 0, 0)
    assert 80 < spending().answers <= 100


def test_limit_counts_earlier_runs_and_a_larger_one_goes_on(faulty_server, ask, store, spending):
    faulty_server.default = Act(wait=0.1)  # so that others wait for room
    ask(2, price=DOLLAR_A_TOKEN, max_cost_usd=30)
    message = rf"\$21.0000 of limits.max_cost_usd = 30.0 are spent or under way at {store}"
    for _ in range(2):
        with pytest.raises(InputError, match=rf"{message}\. 3 of 6 answers"):
            ask(6, price=DOLLAR_A_TOKEN, max_cost_usd=30)
    assert faulty_server.n_asked == 3
    ask(6, price=DOLLAR_A_TOKEN, max_cost_usd=60)
    assert faulty_server.n_asked == 6
    assert spending() == (42, 0, 0)


def test_limit_holds_over_a_kill_and_requests_under_way_count_as_spent(faulty_server, ask, store):
    faulty_server.script = [GOOD] * 4
    faulty_server.default = Act(wait=60)
    process = run_in_a_process(ASKER, faulty_server.url, store, "toy", 100)
    until_asked(6, faulty_server, process)
    process.kill()
    process.communicate()
    faulty_server.default = GOOD
    requests = [question(f"toy {n}?") for n in range(9)]
    # $28 for four answers, $20 at most for two that were under way: one more for $7.
    message = r"\$55.0000 \(\$20.0000 of it under way when a run was killed\)"
    with pytest.raises(InputError, match=message):
        ask(requests, price=DOLLAR_A_TOKEN, max_cost_usd=60)
    assert faulty_server.n_asked == 7
    ask(requests, price=DOLLAR_A_TOKEN, max_cost_usd=100)
    assert faulty_server.n_asked == 11
