"""Asking by the vendors' batches over real HTTP: what is sent, paid, stored and taken up again."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from batch_server import FAULTS, BatchServer
from faulty_server import COMPLETION_TOKENS, PROMPT_TOKENS, Act, good_answer
from tomlab.errors import InputError
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, ModelSpec
from tomlab.models.store import Store
from toy_models import CLIENTS, answers, question, questions, texts, toy

GOOD = [good_answer(f"Question {n}?") for n in range(6)]
PRICE = {"input": 2.0, "output": 10.0, "batch": 0.5}
COST = (PROMPT_TOKENS * PRICE["input"] + COMPLETION_TOKENS * PRICE["output"]) / 1e6 / 2


@pytest.fixture
def server(tmp_path: Path) -> Iterator[BatchServer]:
    with BatchServer(tmp_path / "sold.sqlite") as running:
        yield running


def batched(client: str, server: BatchServer, **options) -> ModelSpec:
    return toy(client, server.url, batch={"poll": 0.02, **options}, price=PRICE)


def sizes(server: BatchServer) -> list[int]:
    return [len(batch.entries) for batch in server.batches.values()]


def kept(store: Path) -> list[tuple]:
    with sqlite3.connect(store) as db:
        return db.execute("SELECT key, text, cost FROM responses ORDER BY text").fetchall()


# What is sent


@CLIENTS
def test_all_that_is_missing_goes_in_one_batch_by_its_keys(client, server, store):
    responses = answers(questions(6), batched(client, server), store)
    assert texts(responses) == GOOD
    assert sizes(server) == [6]
    [batch] = server.batches.values()
    assert {e["custom_id"] for e in batch.entries} == {r.request_key for r in responses}
    assert not server.asked
    assert [cost for *_, cost in kept(store)] == pytest.approx([COST] * 6)
    with Store(store) as opened:
        assert opened.spending() == pytest.approx((6 * COST, 0, 0))


@CLIENTS
def test_a_request_in_a_batch_is_the_one_that_is_asked_by_itself(client, server, store, tmp_path):
    options = {"extra_body": {"top_k": 5}}
    item = question("Who?", system="Be brief.", schema={"type": "object"})
    spec = toy(client, server.url, batch={"poll": 0.02}, **options)
    [by_batch] = answers([item], spec, store)
    [alone] = answers([item], toy(client, server.url, **options), tmp_path / "other.sqlite")
    assert by_batch.request_key == alone.request_key
    [batch] = server.batches.values()
    [entry] = batch.entries
    assert entry.get("body", entry.get("params")) == server.asked[0].body
    assert server.asked[0].body["top_k"] == 5


@CLIENTS
def test_batches_show_that_they_are_under_way_before_the_first_answer(client, server, store, capfd):
    server.seconds = 0.3
    asyncio.run(ask(questions(6), batched(client, server), store=store))
    before_the_first, *_ = capfd.readouterr().err.partition("6/6")
    assert "0 of 6 requests answered" in before_the_first


# What it costs


@CLIENTS
def test_what_the_cost_limit_does_not_admit_is_not_sent(client, server, store):
    spec = batched(client, server)
    with pytest.raises(InputError, match=r"6 requests were not sent.*0 of 6"):
        answers(questions(6), spec, store, max_cost_usd=0.00001)
    assert not server.batches


@CLIENTS
def test_the_cost_limit_admits_more_once_answers_came_in_cheaper(client, server, store):
    spec = batched(client, server)
    worst = (len("Question 0?") / 3 * 2 + 10 * 10) / 1e6 / 2
    responses = answers(questions(6), spec, store, max_cost_usd=7 * max(worst, COST))
    assert texts(responses) == GOOD
    assert sum(sizes(server)) == 6


# Lines that fail


@CLIENTS
@pytest.mark.parametrize("fault", FAULTS)
def test_a_line_that_fails_is_asked_again_in_a_second_round(client, fault, server, store):
    server.faults = ["", fault]
    responses = answers(questions(6), batched(client, server), store)
    assert texts(responses) == GOOD
    assert sizes(server) == [6, 1]
    assert set(server.sold().values()) == {1}


@CLIENTS
def test_a_wrong_request_is_an_error_at_once(client, server, store):
    server.faults = ["wrong"]
    responses = answers(questions(6), batched(client, server), store)
    assert [r.error is None for r in responses].count(False) == 1
    assert sizes(server) == [6]


def test_a_line_that_the_vendor_filters_is_no_fault_and_paid(server, store):
    server.faults = ["filtered"]
    responses = answers(questions(2), batched("openai", server), store)
    assert sorted(response.filtered for response in responses) == [False, True]
    [said] = [response.error for response in responses if response.filtered]
    assert "content filter" in said
    assert sizes(server) == [2]
    with Store(store) as opened:
        assert sum(opened.spending()[:2]) > COST
        assert not opened.spending().under_way


# Batches that end otherwise


@CLIENTS
def test_of_an_expired_batch_what_came_is_stored_and_the_rest_asked_again(client, server, store):
    server.ends = [("expired", 0.5)]
    responses = answers(questions(6), batched(client, server), store)
    assert texts(responses) == GOOD
    assert sizes(server) == [6, 3]
    assert set(server.sold().values()) == {1}


@CLIENTS
def test_of_a_cancelled_batch_what_came_is_stored_and_the_run_stops(client, server, store):
    server.ends = [("cancelled", 0.5)]
    with pytest.raises(InputError, match=r"batch_0 was cancelled at the vendor\. 3 of 6 answers"):
        answers(questions(6), batched(client, server), store)
    assert texts(answers(questions(6), batched(client, server), store)) == GOOD
    assert sizes(server) == [6, 3]


def test_no_more_batches_are_under_way_than_declared(server, store):
    server.seconds = 0.1
    spec = batched("openai", server, requests=2, at_once=1)
    assert texts(answers(questions(6), spec, store)) == GOOD
    ends = [batch.made + batch.seconds for batch in server.batches.values()]
    assert all(b.made >= end for b, end in zip([*server.batches.values()][1:], ends, strict=False))


def test_reply_in_a_batch_that_is_no_answer_is_asked_again(server, store, monkeypatch):
    monkeypatch.setattr("batch_server.GOOD", Act(text="", finish="error"))
    spec = batched("openai", server)
    responses = answers(questions(2), spec, store)
    assert all("'error'" in response.error for response in responses)
    assert sizes(server) == [2, 2, 2]
    with Store(store) as opened:  # each was paid for
        assert opened.spending().answers == pytest.approx(6 * COST)
    monkeypatch.setattr("batch_server.GOOD", Act())
    assert texts(answers(questions(2), spec, store)) == GOOD[:2]


# Calls that fail


@CLIENTS
def test_passing_faults_of_the_vendor_are_borne(client, server, store):
    one = "/v1/batches" if client == "openai" else "/v1/messages/batches"
    server.statuses = {one: [429], f"{one}/batch_0": [500] * 3, "/v1/files": [500] * 3}
    assert texts(answers(questions(6), batched(client, server), store)) == GOOD
    assert sizes(server) == [6]


@CLIENTS
def test_a_vendor_that_refuses_ends_the_run(client, server, store):
    server.most = 5
    with pytest.raises(InputError, match=r"refused with BadRequestError.*more than 5"):
        answers(questions(6), batched(client, server), store)
    assert texts(answers(questions(6), batched(client, server, requests=5), store)) == GOOD


@CLIENTS
def test_a_batch_that_was_made_though_nobody_heard_is_found(client, server, store):
    heard = []
    server.on_create = lambda batch: not heard and not heard.append(batch)
    server.seconds = 0.1
    assert texts(answers(questions(6), batched(client, server), store)) == GOOD
    assert sizes(server) == [6]
    assert set(server.sold().values()) == {1}


@CLIENTS
def test_a_batch_of_somebody_else_is_not_taken_for_ours(client, server, store, tmp_path):
    """It was made in the same moment, with as many requests."""
    other = [question(f"Another {n}?") for n in range(6)]
    answers(other, batched(client, server), tmp_path / "other.sqlite")
    one = "/v1/batches" if client == "openai" else "/v1/messages/batches"
    server.statuses = {one: [500]}
    assert texts(answers(questions(6), batched(client, server), store)) == GOOD
    assert sizes(server) == [6, 6]


# Runs that end early


async def _stopped(requests, spec, store, server) -> None:
    """Stop a run once its batch is made and under way."""
    running = asyncio.create_task(ask(requests, spec, store=store, progress=False))
    while not server.batches:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@CLIENTS
def test_a_stopped_run_says_so_and_the_next_takes_its_batch_up(client, server, store, capfd):
    server.seconds = 1.0
    spec = batched(client, server)
    asyncio.run(_stopped(questions(6), spec, store, server))
    assert "1 batches go on at the vendor, 0 of 6 requests answered" in capfd.readouterr().err
    assert texts(answers(questions(6), spec, store)) == GOOD
    assert sizes(server) == [6]


@CLIENTS
def test_a_run_that_ends_while_its_batch_is_made_finds_it_the_next_time(client, server, store):
    spec = batched(client, server)

    async def ended() -> None:
        loop = asyncio.get_running_loop()
        running = asyncio.create_task(ask(questions(6), spec, store=store, progress=False))

        def end(_) -> bool:
            loop.call_soon_threadsafe(running.cancel)
            time.sleep(0.2)  # until then it has not heard of the batch
            return False

        server.on_create = end
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(ended())
    assert sizes(server) == [6]
    assert not server.sold().keys() & {key for key, *_ in kept(store)}
    assert texts(answers(questions(6), spec, store)) == GOOD
    assert sizes(server) == [6]


@CLIENTS
def test_what_an_earlier_run_asked_besides_stays_at_the_vendor_until_it_is_asked(
    client, server, store
):
    server.seconds = 1.0
    spec = batched(client, server)
    asyncio.run(_stopped(questions(6), spec, store, server))
    assert texts(answers(questions(2), spec, store)) == GOOD[:2]
    assert texts(answers(questions(6), spec, store)) == GOOD
    assert sizes(server) == [6]
    assert [cost for *_, cost in kept(store)] == pytest.approx([COST] * 6)


@CLIENTS
def test_two_runs_at_one_store_buy_each_answer_once(client, server, store):
    server.seconds = 0.2
    spec = batched(client, server)

    async def both() -> list:
        options = {"store": store, "limits": Limits(), "progress": False}
        return await asyncio.gather(
            ask(questions(4), spec, **options), ask(questions(6), spec, **options)
        )

    four, six = asyncio.run(both())
    assert texts(four) == GOOD[:4]
    assert texts(six) == GOOD
    assert set(server.sold().values()) == {1}
    assert len(server.sold()) == 6
