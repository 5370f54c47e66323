"""Asking by the vendors' batches over real HTTP: what is sent, paid, stored and taken up again."""

import asyncio
import time
from functools import partial

import pytest

from batch_server import FAULTS, BatchServer
from faulty_server import COMPLETION_TOKENS, PROMPT_TOKENS, Act, good_answer
from tomlab.errors import InputError
from tomlab.models import ask as asking
from tomlab.models.specs import Limits
from toy_models import answers, question, questions, texts, toy

GOOD = [good_answer(f"Question {n}?") for n in range(6)]
PRICE = {"input": 2.0, "output": 10.0, "batch": 0.5}
COST = (PROMPT_TOKENS * PRICE["input"] + COMPLETION_TOKENS * PRICE["output"]) / 1e6 / 2
OPENAI = pytest.mark.parametrize("client", ["openai"])
BATCH = {"poll": 0.02}


@pytest.fixture
def faulty_server(tmp_path):
    with BatchServer(tmp_path / "sold.sqlite") as server:
        yield server


@pytest.fixture
def ask(ask, client):
    return partial(ask, client=client, price=PRICE, batch=BATCH)


@pytest.fixture
def run(faulty_server, store, client):
    """The same, to be awaited."""
    spec = toy(client, faulty_server.url, price=PRICE, batch=BATCH)
    options = {"store": store, "limits": Limits(), "progress": False}
    return lambda count: asking.ask(questions(count), spec, **options)


@pytest.fixture
def sizes(faulty_server):
    return lambda: [len(batch.entries) for batch in faulty_server.batches.values()]


def address(client: str) -> str:
    return "/v1/batches" if client == "openai" else "/v1/messages/batches"


# What is sent, and what it costs


def test_all_that_is_missing_goes_in_one_batch_by_its_keys(faulty_server, ask, spending):
    responses = ask(6)
    assert texts(responses) == GOOD
    [batch] = faulty_server.batches.values()
    keys = {response.request_key for response in responses}
    assert len(batch.entries) == 6
    assert {entry["custom_id"] for entry in batch.entries} == keys
    assert not faulty_server.asked
    assert spending() == pytest.approx((6 * COST, 0, 0))


def test_a_request_in_a_batch_is_the_one_that_is_asked_by_itself(
    client, faulty_server, ask, tmp_path
):
    options = {"extra_body": {"top_k": 5}}
    requests = [question("Who?", system="Be brief.", schema={"type": "object"})]
    [by_batch] = ask(requests, **options)
    spec = toy(client, faulty_server.url, **options)
    [alone] = answers(requests, spec, tmp_path / "other.sqlite")
    assert by_batch.request_key == alone.request_key
    [batch] = faulty_server.batches.values()
    [entry] = batch.entries
    [asked] = faulty_server.asked
    assert entry.get("body", entry.get("params")) == asked.body
    assert asked.body["top_k"] == 5


def test_what_the_cost_limit_does_not_admit_is_not_sent(faulty_server, ask):
    with pytest.raises(InputError, match=r"6 requests were not sent.*0 of 6"):
        ask(6, max_cost_usd=0.00001)
    assert not faulty_server.batches


def test_the_cost_limit_admits_more_once_answers_came_in_cheaper(ask, sizes):
    worst = (len("Question 0?") / 3 * 2 + 10 * 10) / 1e6 / 2
    assert texts(ask(6, max_cost_usd=7 * max(worst, COST))) == GOOD
    assert sum(sizes()) == 6


# Lines that fail


@pytest.mark.parametrize("fault", FAULTS)
def test_a_line_that_fails_is_asked_again_in_a_second_round(fault, faulty_server, ask, sizes):
    faulty_server.faults = ["", fault]
    assert texts(ask(6)) == GOOD
    assert sizes() == [6, 1]
    assert set(faulty_server.sold().values()) == {1}


def test_a_wrong_request_is_an_error_at_once(faulty_server, ask, sizes):
    faulty_server.faults = ["wrong"]
    responses = ask(6)
    assert sum(response.error is not None for response in responses) == 1
    assert sizes() == [6]


@OPENAI
def test_a_line_that_the_vendor_filters_is_no_fault_and_paid(faulty_server, ask, sizes, spending):
    faulty_server.faults = ["filtered"]
    [filtered] = [response for response in ask(2) if response.filtered]
    assert "content filter" in filtered.error
    assert sizes() == [2]
    assert sum(spending()[:2]) > COST
    assert not spending().under_way


@OPENAI
def test_reply_in_a_batch_that_is_no_answer_is_paid_and_asked_again(
    ask, sizes, spending, monkeypatch
):
    monkeypatch.setattr("batch_server.GOOD", Act(text="", finish="error"))
    assert all("'error'" in response.error for response in ask(2))
    assert sizes() == [2, 2, 2]
    assert spending().answers == pytest.approx(6 * COST)
    monkeypatch.setattr("batch_server.GOOD", Act())
    assert texts(ask(2)) == GOOD[:2]


# Batches that end otherwise


def test_of_an_expired_batch_the_answers_are_stored_and_the_rest_asked_again(
    faulty_server, ask, sizes
):
    faulty_server.ends = [("expired", 0.5)]
    assert texts(ask(6)) == GOOD
    assert sizes() == [6, 3]
    assert set(faulty_server.sold().values()) == {1}


def test_of_a_cancelled_batch_the_answers_are_stored_and_the_run_stops(faulty_server, ask, sizes):
    faulty_server.ends = [("cancelled", 0.5)]
    with pytest.raises(InputError, match=r"batch_0 was cancelled at the vendor\. 3 of 6 answers"):
        ask(6)
    assert texts(ask(6)) == GOOD
    assert sizes() == [6, 3]


@OPENAI
def test_no_more_batches_are_under_way_than_declared(faulty_server, ask):
    faulty_server.seconds = 0.1
    assert texts(ask(6, batch={**BATCH, "requests": 2, "at_once": 1})) == GOOD
    first, second, third = faulty_server.batches.values()
    assert second.made >= first.made + first.seconds
    assert third.made >= second.made + second.seconds


# Calls that fail


def test_passing_faults_of_the_vendor_are_borne(client, faulty_server, ask, sizes):
    path = address(client)
    faulty_server.statuses = {path: [429], f"{path}/batch_0": [500] * 3, "/v1/files": [500] * 3}
    assert texts(ask(6)) == GOOD
    assert sizes() == [6]


def test_a_vendor_that_refuses_ends_the_run(faulty_server, ask):
    faulty_server.most = 5
    with pytest.raises(InputError, match=r"refused with BadRequestError.*more than 5"):
        ask(6)
    assert texts(ask(6, batch={**BATCH, "requests": 5})) == GOOD


def test_a_batch_that_was_made_though_nobody_heard_is_found(faulty_server, ask, sizes):
    faulty_server.on_create = lambda _: not faulty_server.batches.keys() - {"batch_0"}
    faulty_server.seconds = 0.1
    assert texts(ask(6)) == GOOD
    assert sizes() == [6]
    assert set(faulty_server.sold().values()) == {1}


def test_a_batch_of_somebody_else_is_not_taken_for_ours(
    client, faulty_server, ask, sizes, tmp_path
):
    """It was made in the same moment, with as many requests."""
    spec = toy(client, faulty_server.url, batch=BATCH)
    answers([question(f"Another {n}?") for n in range(6)], spec, tmp_path / "other.sqlite")
    faulty_server.statuses = {address(client): [500]}
    assert texts(ask(6)) == GOOD
    assert sizes() == [6, 6]


# Runs that end early


def test_a_stopped_run_says_so_and_later_ones_take_up_what_they_ask_for(
    faulty_server, ask, run, sizes, spending, capfd
):
    async def stopped() -> None:
        task = asyncio.create_task(run(6))
        while not faulty_server.batches:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    faulty_server.seconds = 1.0
    asyncio.run(stopped())
    assert "1 batches go on at the vendor, 0 of 6 requests answered" in capfd.readouterr().err
    assert texts(ask(2)) == GOOD[:2]
    assert texts(ask(6)) == GOOD
    assert sizes() == [6]
    assert spending() == pytest.approx((6 * COST, 0, 0))


def test_a_run_that_ends_while_its_batch_is_made_finds_it_the_next_time(
    faulty_server, ask, run, sizes, spending
):
    async def ended() -> None:
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(run(6))

        def end(_) -> bool:
            loop.call_soon_threadsafe(task.cancel)
            time.sleep(0.2)  # until then it has not heard of the batch
            return False

        faulty_server.on_create = end
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(ended())
    assert sizes() == [6]
    assert spending().answers == 0
    assert texts(ask(6)) == GOOD
    assert sizes() == [6]


def test_two_runs_at_one_store_buy_each_answer_once(faulty_server, run):
    async def both() -> list:
        return await asyncio.gather(run(4), run(6))

    faulty_server.seconds = 0.2
    four, six = asyncio.run(both())
    assert texts(four) == GOOD[:4]
    assert texts(six) == GOOD
    assert set(faulty_server.sold().values()) == {1}
    assert len(faulty_server.sold()) == 6
