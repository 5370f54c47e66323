"""Asking models over real HTTP: what is retried, refused, kept, limited and asked again."""

import asyncio
import json
import logging
import signal
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty_server import (
    BROKEN,
    BUSY,
    COMPLETION_TOKENS,
    DROPPED,
    GOOD,
    PROMPT_TOKENS,
    Act,
    FaultyServer,
    good_answer,
)
from tomlab.errors import InputError
from tomlab.models import remote
from tomlab.models.ask import ask
from tomlab.models.embedded import SMOLLM2
from tomlab.models.specs import Reply, Request, model_spec
from toy_models import CLIENTS, answers, question, questions, run_in_a_process, texts, toy

KEY = "sk-not-to-be-seen-anywhere"


# Faults that pass, and faults that stay


@CLIENTS
def test_busy_server_is_asked_again_when_it_said(client, faulty_server, store):
    faulty_server.script = [BUSY]
    [response] = answers([question("Who?")], toy(client, faulty_server.url), store)
    first, second = faulty_server.asked
    assert second.at - first.at >= float(BUSY.headers["Retry-After"])
    assert response.reply == Reply(good_answer("Who?"), "stop", PROMPT_TOKENS, COMPLETION_TOKENS)


@CLIENTS
@pytest.mark.parametrize(
    ("fault", "told"), [(BROKEN, "500"), (DROPPED, "onnect")], ids=["500", "dropped connection"]
)
def test_lasting_fault_is_an_error_that_is_asked_again_next_time(
    client, fault, told, faulty_server, store
):
    spec = toy(client, faulty_server.url)
    faulty_server.default = fault
    [failed] = answers([question("Who?")], spec, store)
    assert failed.reply is None
    assert told in failed.error
    assert len(faulty_server.asked) == 2  # once, and one retry

    faulty_server.default = GOOD
    [response] = answers([question("Who?")], spec, store)
    assert response.reply.text == good_answer("Who?")
    assert response.error is None
    assert not response.cached


@CLIENTS
def test_slow_reply_is_given_up_after_the_timeout(client, faulty_server, store):
    faulty_server.default = Act(wait=2)
    spec = toy(client, faulty_server.url, timeout=0.3, max_retries=0)
    [response] = answers([question("Who?")], spec, store)
    assert "timed out" in response.error


@CLIENTS
def test_reply_that_drips_is_given_up(client, faulty_server, store, monkeypatch):
    monkeypatch.setattr(remote, "LONGEST_PAUSE", 0.1)
    faulty_server.drips_after = b"\r\n\r\n"
    spec = toy(client, faulty_server.url, timeout=0.4, max_retries=0, listed=False)
    [response] = answers([question("Who?")], spec, store)
    assert "no whole reply in 0.5 seconds" in response.error


@CLIENTS
def test_run_gives_up_after_so_many_failures_in_a_row(client, faulty_server, store):
    faulty_server.script = [BROKEN, GOOD, BROKEN, BROKEN, BROKEN]
    spec = toy(client, faulty_server.url, max_retries=0, max_concurrency=1)
    with pytest.raises(InputError, match=r"3 requests failed in a row.*500.*1 of 9 answers"):
        answers(questions(9), spec, store, give_up_after=3)
    assert len(faulty_server.asked) == 5
    answers(questions(9), spec, store)
    assert len(faulty_server.asked) == 5 + 8


# Before anything is spent


@CLIENTS
def test_rejected_key_stops_the_run_before_anything_is_asked(
    client, faulty_server, store, monkeypatch
):
    faulty_server.key = "another"
    monkeypatch.setenv("TOY_KEY", KEY)
    with pytest.raises(InputError, match=f"{faulty_server.url}.* does not accept the key"):
        answers(questions(2), toy(client, faulty_server.url, api_key_env="TOY_KEY"), store)
    assert faulty_server.asked == []


@CLIENTS
def test_unknown_model_is_told_with_those_there_are(client, faulty_server, store):
    faulty_server.models = ["toy-large", "toy-small"]
    with pytest.raises(InputError, match=r"no model 'toy'.*it has: toy-large, toy-small"):
        answers(questions(2), toy(client, faulty_server.url), store)
    assert faulty_server.asked == []


@CLIENTS
@pytest.mark.parametrize("options", [{"aliases": ["toy"]}, {"listing": Act(body="<html>")}])
def test_alias_and_server_without_a_list_are_taken_on_trust(client, options, faulty_server, store):
    faulty_server.models = ["toy-20260101"]
    vars(faulty_server).update(options)
    [response] = answers([question("Who?")], toy(client, faulty_server.url), store)
    assert response.reply.text == good_answer("Who?")


def test_deployment_that_no_list_names(faulty_server, store):
    faulty_server.models = ["gpt-4o"]
    answers([question("Who?")], toy("openai", faulty_server.url, listed=False), store)
    assert len(faulty_server.headers) == len(faulty_server.asked) == 1


@CLIENTS
def test_nothing_listening_is_told_with_the_url(client, store):
    with FaultyServer() as server:
        url = server.url
    with pytest.raises(InputError, match=f"models.toy: cannot reach base_url {url}"):
        answers(questions(2), toy(client, url), store)


@pytest.mark.parametrize(
    ("price", "cost"),
    [(None, "no price declared"), ({"input": 1000, "output": 3000}, "at most $3.03")],
)
def test_what_is_asked_and_costs_is_said_before_anything_is_asked(
    price, cost, faulty_server, store, capfd
):
    spec = toy("openai", faulty_server.url, thinking_tokens=1000, price=price)
    asked = [question("Who?"), question("Why?")]
    answers(asked[:1], spec, store)
    faulty_server.key = "another"  # so that the check fails, which comes before the first request
    with pytest.raises(InputError, match="does not accept the key"):
        asyncio.run(ask(asked, spec, store=store))
    assert len(faulty_server.asked) == 1
    said = capfd.readouterr().err
    assert "toy: 2 requests, 1 kept; 1 are asked now: " in said
    assert cost in said


def test_cost_limit_needs_a_price_for_a_vendors_model(store):
    spec = model_spec("x", {"x": {"provider": "openai", "model": "x"}})
    with pytest.raises(InputError, match=r"models\.x: limits\.max_cost_usd is set.*no price"):
        answers(questions(1), spec, store, max_cost_usd=1)


# Keys


@CLIENTS
def test_what_is_in_the_store_needs_neither_key_nor_server(client, store, monkeypatch):
    monkeypatch.setenv("TOY_KEY", KEY)
    with FaultyServer() as server:
        spec = toy(client, server.url, api_key_env="TOY_KEY")
        asked = answers(questions(2), spec, store)
    monkeypatch.delenv("TOY_KEY")
    assert texts(answers(questions(2), spec, store)) == texts(asked)


@CLIENTS
def test_key_appears_nowhere_even_if_the_server_repeats_it(
    client, faulty_server, store, monkeypatch, capfd, caplog
):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("TOY_KEY", KEY)
    repeats = json.dumps({"error": {"message": f"Wrong key: {KEY}"}})
    faulty_server.script = [
        Act(text=f"Your key is {KEY}."),
        Act(status=400, body=repeats),
        Act(body=repeats),
    ]
    spec = toy(client, faulty_server.url, api_key_env="TOY_KEY", max_concurrency=1)
    good, failed, odd = answers(questions(3), spec, store)
    assert good.reply.text == "Your key is …."
    assert "Wrong key: …" in failed.error
    assert "Wrong key: …" in odd.error
    kept = b"".join(path.read_bytes() for path in store.parent.iterdir())
    printed = "".join(capfd.readouterr()) + caplog.text
    assert KEY not in kept.decode(errors="replace") + printed
    assert f"Bearer {KEY}" in [headers["authorization"] for headers in faulty_server.headers]


@pytest.mark.parametrize(
    "options",
    [{"base_url": f"http://h/{KEY}"}, {"extra_body": {"headers": {"Authorization": KEY}}}],
    ids=str,
)
def test_key_in_an_entry_is_refused(options, store, monkeypatch):
    monkeypatch.setenv("TOY_KEY", KEY)
    entry = {"provider": "openai", "model": "x", "api_key_env": "TOY_KEY", **options}
    with pytest.raises(InputError, match=r"models\.x: found the key in it") as refused:
        answers(questions(1), model_spec("x", {"x": entry}), store)
    assert KEY not in str(refused.value)


@CLIENTS
def test_vendors_key_is_not_sent_to_the_users_own_server(client, faulty_server, store, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, KEY)
    answers([question("Who?")], toy(client, faulty_server.url), store)
    assert len(faulty_server.headers) == 2  # the list of models and the question
    assert KEY not in str(faulty_server.headers)


@CLIENTS
def test_server_that_sends_on_gets_neither_questions_nor_key_to_another(
    client, faulty_server, store, monkeypatch
):
    monkeypatch.setenv("MY_KEY", KEY)
    with FaultyServer() as other:
        spec = toy(client, faulty_server.url, api_key_env="MY_KEY", max_retries=0)
        faulty_server.default = Act(status=307, headers={"Location": f"{other.url}/v1/models"})
        [response] = answers(questions(1), spec, store)
        assert "Error code: 307" in response.error
    assert other.headers == []


# Order, repeats, pace and cost


@CLIENTS
def test_identical_requests_are_asked_once(client, faulty_server, store):
    asked = [question("a"), question("b"), question("a")]
    responses = answers(asked, toy(client, faulty_server.url), store)
    assert texts(responses) == [good_answer(text) for text in "aba"]
    assert len(faulty_server.asked) == 2


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_responses_come_in_the_order_of_requests(earlier, later):
    gold = model_spec("gold", {"gold": {"provider": "baseline", "model": "gold"}})
    with tempfile.TemporaryDirectory() as folder:
        for numbers in (earlier, later):  # the second time some come from the store
            requests = [question(f"{n}?", reference={"gold": f"It is {n}"}) for n in numbers]
            responses = answers(requests, gold, f"{folder}/store.sqlite")
            assert texts(responses) == [f"It is {n}" for n in numbers]


@CLIENTS
def test_no_more_questions_are_open_than_declared(client, faulty_server, store):
    faulty_server.default = Act(wait=0.1)
    answers(questions(12), toy(client, faulty_server.url, max_concurrency=3), store)
    assert faulty_server.most_at_once == 3


def test_questions_on_one_prefix_wait_for_each_other_where_the_vendor_keeps_it(
    faulty_server, store
):
    prefix = "A long conversation. " * 250
    asked = [question(f"{prefix}{n}?", shared_prefix=prefix) for n in range(4)]
    answers(asked, toy("anthropic", faulty_server.url), store)
    assert faulty_server.most_at_once == 1


# 600 a minute are one in 0.1 s; a question weighs 11 characters / 3 and 10 tokens.
@pytest.mark.parametrize(
    "rate", [{"requests_per_minute": 600}, {"tokens_per_minute": 600 * (11 / 3 + 10)}], ids=str
)
def test_declared_rate_is_kept_from_the_first_request_on(rate, faulty_server, store):
    answers(questions(8), toy("openai", faulty_server.url, max_concurrency=8, **rate), store)
    times = [asked.at for asked in faulty_server.asked]
    assert times[-1] - times[0] >= 0.5  # seven gaps, and some slack for a slow machine


# Ten tokens at most for a question, seven in fact, a dollar each.
DOLLAR_A_TOKEN = {"price": {"input": 0, "output": 1_000_000}}


def test_answers_under_way_when_the_cost_limit_is_reached_are_kept(faulty_server, store):
    faulty_server.default = Act(wait=0.2)
    spec = toy("openai", faulty_server.url, max_concurrency=5, **DOLLAR_A_TOKEN)
    with pytest.raises(InputError, match="3 of 5 answers are kept"):
        answers(questions(5), spec, store, max_cost_usd=30)
    assert len(faulty_server.asked) == 3


def test_answer_without_a_limit_is_reckoned_at_4096_tokens(faulty_server, store):
    spec = toy("openai", faulty_server.url, max_concurrency=1, **DOLLAR_A_TOKEN)
    asked = [replace(request, max_tokens=None) for request in questions(3)]
    with pytest.raises(InputError, match=r"may cost \$4096.*1 of 3 answers are kept"):
        answers(asked, spec, store, max_cost_usd=4100)
    assert len(faulty_server.asked) == 1  # $7; a second might have made it $4103


# Being killed

ASKER = """
import sys
from toy_models import answers, questions, toy
answers(questions(40), toy("openai", sys.argv[1], max_concurrency=2), sys.argv[2])
"""


def test_killed_run_asks_only_for_what_is_missing(faulty_server, store):
    faulty_server.default = Act(wait=0.1)
    process = run_in_a_process(ASKER, faulty_server.url, store)
    while len(faulty_server.asked) < 10:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    asked_before = {asked.text for asked in faulty_server.asked}

    faulty_server.asked.clear()
    faulty_server.default = GOOD
    responses = answers(questions(40), toy("openai", faulty_server.url), store)
    asked_now = {asked.text for asked in faulty_server.asked}
    assert texts(responses) == [good_answer(f"Question {n}?") for n in range(40)]
    assert len(faulty_server.asked) == 40 - sum(response.cached for response in responses)
    assert len(asked_before & asked_now) <= 2  # those that were open at the moment


# The embedded engine

EMBEDDED = model_spec("smol", {"smol": {"provider": "embedded", "model": SMOLLM2, "engines": 2}})
STORY = "Story: Mara keeps her violin in the closet. Her brother carries it to the attic.\n"


def embedded_answers(asked: list[Request], store: Path) -> dict[str, str]:
    """Answers by question, of engines started for this call."""
    replies = texts(answers(asked, EMBEDDED, store))
    prompts = [request.messages[-1]["content"] for request in asked]
    return dict(zip(prompts, replies, strict=True))


def test_answers_of_the_engine_depend_on_no_order_and_no_restart(tmp_path):
    schema = {"type": "object", "properties": {"fruit": {"enum": ["apple", "pear"]}}}
    in_json = question("Which fruit? Answer in JSON.", max_tokens=20, schema=schema)
    asked = [
        question(f"{STORY}Question: {text}", max_tokens=8, shared_prefix=STORY)
        for text in ("Where is the violin?", "Who moved it?", "What does Mara want?")
    ]
    asked += [question("Name a fruit.", max_tokens=8), in_json]
    first = embedded_answers(asked, tmp_path / "first.sqlite")
    assert len(set(first.values())) > 2
    assert embedded_answers(asked[::-1], tmp_path / "backwards.sqlite") == first
    assert json.loads(first[in_json.messages[-1]["content"]])["fruit"] in ("apple", "pear")


@pytest.mark.parametrize(
    ("content", "told"), [(b"GGUF and no more", "could not load"), (None, "no file")]
)
def test_embedded_file_that_is_none_is_told(content, told, tmp_path, store):
    path = tmp_path / "weights.gguf"
    if content is not None:
        path.write_bytes(content)
    spec = model_spec("mine", {"mine": {"provider": "embedded", "model": str(path)}})
    with pytest.raises(InputError, match=told):
        answers([question("Who?")], spec, store)
