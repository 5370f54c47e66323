"""Asking models over real HTTP: what is retried, refused, kept, limited and asked again."""

import asyncio
import json
import logging

import pytest

from faulty_server import (
    BROKEN,
    DROPPED,
    GOOD,
    Act,
    FaultyServer,
    good_answer,
)
from tomlab.errors import InputError
from tomlab.models import ask as asking
from tomlab.models import remote
from tomlab.models.embedded import SMOLLM2
from tomlab.models.specs import model_spec
from toy_models import answers, question, questions, run_in_a_process, texts, toy, until_asked

KEY = "sk-not-to-be-seen-anywhere"


@pytest.fixture
def keyed(ask, monkeypatch):
    """Ask with a key from the environment."""
    monkeypatch.setenv("TOY_KEY", KEY)
    return lambda *arguments, **options: ask(*arguments, api_key_env="TOY_KEY", **options)


# Faults that pass, and faults that stay


@pytest.mark.parametrize(("fault", "message"), [(BROKEN, "500"), (DROPPED, "onnect")])
def test_lasting_fault_is_an_error_that_is_asked_again_next_time(
    client, fault, message, faulty_server, ask
):
    faulty_server.default = fault
    [failed] = ask(1, client)
    assert failed.reply is None
    assert message in failed.error
    assert faulty_server.n_asked == 2  # once, and one retry

    faulty_server.default = GOOD
    [response] = ask(1, client)
    assert response.reply
    assert response.error is None
    assert not response.cached


def test_reply_that_drips_is_given_up(client, faulty_server, ask, monkeypatch):
    monkeypatch.setattr(remote, "LONGEST_PAUSE", 0.1)
    faulty_server.drips_after = b"\r\n\r\n"
    [response] = ask(1, client, timeout=0.4, max_retries=0, listed=False)
    assert "no whole reply in 0.5 seconds" in response.error


def test_run_gives_up_after_so_many_failures_in_a_row(client, faulty_server, ask):
    faulty_server.script = [BROKEN, GOOD, BROKEN, BROKEN, BROKEN]
    with pytest.raises(InputError, match=r"3 requests failed in a row.*500.*1 of 9 answers"):
        ask(9, client, max_retries=0, max_concurrency=1, give_up_after=3)
    assert faulty_server.n_asked == 5
    ask(9, client)
    assert faulty_server.n_asked == 5 + 8


# Before anything is spent


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ({"key": "another"}, r"http://\S+ does not accept the key"),
        ({"models": ["toy-large"]}, "no model 'toy' at .* it has: toy-large"),
    ],
)
def test_wrong_key_or_model_stops_the_run_before_anything_is_asked(
    client, server, message, faulty_server, keyed
):
    vars(faulty_server).update(server)
    with pytest.raises(InputError, match=message):
        keyed(2, client)
    assert not faulty_server.asked


@pytest.mark.parametrize(
    ("server", "entry"),
    [
        ({"aliases": ["toy"]}, {}),
        ({"listing": Act(body="<html>")}, {}),
        ({}, {"listed": False}),  # as Azure's deployments
    ],
)
def test_model_that_no_list_names_is_taken_on_trust(client, server, entry, faulty_server, ask):
    faulty_server.models = ["toy-20260101"]
    vars(faulty_server).update(server)
    [response] = ask(1, client, **entry)
    assert response.reply


def test_nothing_listening_is_reported_with_the_url(client, store):
    with FaultyServer() as server:
        url = server.url
    with pytest.raises(InputError, match=f"models.toy: cannot reach base_url {url}"):
        answers(questions(2), toy(client, url), store)


def test_what_is_asked_and_costs_is_said_before_anything_is_asked(faulty_server, ask, store, capfd):
    ask(1, thinking_tokens=1000)
    faulty_server.key = "another"  # so that the check fails, which comes before the first request
    price = {"input": 1000, "output": 3000}
    spec = toy("openai", faulty_server.url, thinking_tokens=1000, price=price)
    with pytest.raises(InputError, match="does not accept the key"):
        asyncio.run(asking.ask(questions(2), spec, store=store))
    announcement = capfd.readouterr().err
    assert "toy: 2 requests, 1 kept; 1 are asked now: " in announcement
    assert "at most $3.03; less than a minute" in announcement


def test_cost_limit_needs_a_price_for_a_vendors_model(store):
    spec = model_spec("x", {"x": {"provider": "openai", "model": "x"}})
    with pytest.raises(InputError, match=r"models\.x: limits\.max_cost_usd is set.*no price"):
        answers(questions(1), spec, store, max_cost_usd=1)


# Keys


def test_what_is_in_the_store_needs_neither_key_nor_server(
    client, faulty_server, keyed, monkeypatch
):
    first = keyed(2, client)
    count = len(faulty_server.headers)
    monkeypatch.delenv("TOY_KEY")
    assert texts(keyed(2, client)) == texts(first)
    assert len(faulty_server.headers) == count


def test_key_appears_nowhere_even_if_the_server_repeats_it(
    client, faulty_server, keyed, store, capfd, caplog
):
    caplog.set_level(logging.DEBUG)
    repeats = json.dumps({"error": {"message": f"Wrong key: {KEY}"}})
    faulty_server.script = [
        Act(text=f"Your key is {KEY}."),
        Act(status=400, body=repeats),
        Act(body=repeats),
    ]
    good, failed, odd = keyed(3, client, max_concurrency=1)
    assert good.reply.text == "Your key is …."
    assert "Wrong key: …" in failed.error
    assert "Wrong key: …" in odd.error
    content = b"".join(path.read_bytes() for path in store.parent.iterdir())
    assert KEY.encode() not in content
    assert KEY not in "".join(capfd.readouterr()) + caplog.text
    assert f"Bearer {KEY}" in [headers["authorization"] for headers in faulty_server.headers]


@pytest.mark.parametrize(
    "options",
    [{"base_url": f"http://h/{KEY}"}, {"extra_body": {"headers": {"Authorization": KEY}}}],
)
def test_key_in_an_entry_is_refused(options, keyed):
    with pytest.raises(InputError, match=r"models\.toy: found the key in it") as refused:
        keyed(1, **options)
    assert KEY not in str(refused.value)


def test_vendors_key_is_not_sent_to_the_users_server(client, faulty_server, ask, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, KEY)
    ask(1, client)
    assert len(faulty_server.headers) == 2  # the list of models and the question
    assert KEY not in str(faulty_server.headers)


def test_server_that_sends_on_gets_neither_questions_nor_key_to_another(
    client, faulty_server, keyed
):
    with FaultyServer() as other:
        location = {"Location": f"{other.url}/v1/models"}
        faulty_server.default = Act(status=307, headers=location)
        [response] = keyed(1, client, max_retries=0)
        assert "Error code: 307" in response.error
    assert other.headers == []


# Order, repeats, pace and cost


def test_identical_requests_are_asked_once_and_answered_in_their_order(client, faulty_server, ask):
    ask([question("b")], client)
    responses = ask([question(text) for text in "abac"], client)
    assert texts(responses) == [good_answer(text) for text in "abac"]
    assert faulty_server.n_asked == 3


def test_no_more_questions_are_open_than_declared(client, faulty_server, ask):
    faulty_server.default = Act(wait=0.1)
    ask(12, client, max_concurrency=3)
    assert faulty_server.most_at_once == 3


def test_questions_on_one_prefix_wait_for_each_other_where_the_vendor_keeps_it(faulty_server, ask):
    prefix = "A long conversation. " * 250
    ask([question(f"{prefix}{n}?", shared_prefix=prefix) for n in range(4)], "anthropic")
    assert faulty_server.most_at_once == 1


# 600 a minute are one in 0.1 s; a question weighs 11 characters / 3 and 10 tokens.
@pytest.mark.parametrize(
    "rate", [{"requests_per_minute": 600}, {"tokens_per_minute": 600 * (11 / 3 + 10)}]
)
def test_declared_rate_is_kept_from_the_first_request_on(rate, faulty_server, ask):
    ask(8, **rate)
    times = [question.at for question in faulty_server.asked]
    assert times[-1] - times[0] >= 0.5  # seven gaps, and some slack for a slow machine


# Being killed

ASKER = """
import sys
from toy_models import answers, questions, toy
answers(questions(40), toy("openai", sys.argv[1], max_concurrency=2), sys.argv[2])
"""


def test_killed_run_asks_only_for_what_is_missing(faulty_server, ask, store):
    faulty_server.default = Act(wait=0.1)
    process = run_in_a_process(ASKER, faulty_server.url, store)
    until_asked(10, faulty_server, process)
    process.kill()
    process.communicate()
    count = faulty_server.n_asked

    faulty_server.default = GOOD
    responses = ask(40)
    n_cached = sum(response.cached for response in responses)
    assert texts(responses) == [good_answer(f"Question {n}?") for n in range(40)]
    assert n_cached >= count - 2  # those that were open at the moment
    assert faulty_server.n_asked == count + 40 - n_cached


# The embedded engine

STORY = "Story: Mara keeps her violin in the closet. Her brother carries it to the attic.\n"


def test_answers_of_the_engine_depend_on_no_order_and_no_restart(tmp_path):
    entry = {"provider": "embedded", "model": SMOLLM2, "engines": 2}
    spec = model_spec("smol", {"smol": entry})
    schema = {"type": "object", "properties": {"fruit": {"enum": ["apple", "pear"]}}}
    requests = [
        question(f"{STORY}Question: {text}", max_tokens=8, shared_prefix=STORY)
        for text in ("Where is the violin?", "Who moved it?", "What does Mara want?")
    ]
    requests.append(question("Name a fruit.", max_tokens=8))
    requests.append(question("Which fruit? Answer in JSON.", max_tokens=20, schema=schema))
    first = texts(answers(requests, spec, tmp_path / "first.sqlite"))
    backwards = texts(answers(requests[::-1], spec, tmp_path / "backwards.sqlite"))
    assert len(set(first)) > 2
    assert backwards[::-1] == first
    assert json.loads(first[-1])["fruit"] in ("apple", "pear")


def test_embedded_file_that_is_none_is_named(tmp_path, store):
    path = tmp_path / "weights.gguf"
    spec = model_spec("mine", {"mine": {"provider": "embedded", "model": str(path)}})
    with pytest.raises(InputError, match=f"no file '{path}'"):
        answers(questions(1), spec, store)
    path.write_text("GGUF and no more")
    with pytest.raises(InputError, match=f"{path}: .*could not load"):
        answers(questions(1), spec, store)
