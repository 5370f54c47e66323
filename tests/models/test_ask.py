"""Asking models over real HTTP: what is sent, retried, refused, kept and asked again."""

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
    MALFORMED,
    NO_CHOICES,
    PROMPT_TOKENS,
    Act,
    FaultyServer,
    good_answer,
)
from tomlab.errors import InputError
from tomlab.models.ask import ask
from tomlab.models.embedded import SMOLLM2
from tomlab.models.specs import Reply, Request, model_spec
from tomlab.models.store import Store
from toy_models import CLIENTS, answers, question, questions, run_in_a_process, texts, toy

STORY = (
    "Story: Mara keeps her violin in the closet. She wants to practise tonight. While she is at "
    "work, her brother carries the violin to the attic. Mara does not see him do it.\n"
)
VIOLIN = STORY + (
    "Question: Where will Mara look for her violin?\nChoose one of the following:\n"
    "a) In the closet.\nb) In the attic.\nAnswer:"
)
KEY = "sk-not-to-be-seen-anywhere"


# Faults that pass


@CLIENTS
def test_busy_server_is_asked_again_when_it_said(client, faulty_server, store):
    faulty_server.script = [BUSY]
    [response] = answers([question("Who?")], toy(client, faulty_server.url), store)
    first, second = faulty_server.asked
    assert second.at - first.at >= float(BUSY.headers["Retry-After"])
    assert response.reply == Reply(good_answer("Who?"), "stop", PROMPT_TOKENS, COMPLETION_TOKENS)


# Faults that stay


@CLIENTS
@pytest.mark.parametrize(
    ("fault", "told"),
    [(BUSY, "429"), (BROKEN, "500"), (DROPPED, "Connection")],
    ids=["429", "500", "dropped connection"],
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
@pytest.mark.parametrize(
    ("fault", "told"),
    [(MALFORMED, "JSON"), (NO_CHOICES, "in the reply")],
    ids=["malformed JSON", "no choices"],
)
def test_reply_that_is_none_is_an_error_and_not_stored(client, fault, told, faulty_server, store):
    faulty_server.script = [fault]
    failed, other = answers(questions(2), toy(client, faulty_server.url, max_concurrency=1), store)
    assert failed.reply is None
    assert told in failed.error
    assert other.reply.text == good_answer("Question 1?")
    with Store(store) as kept:
        assert kept.replies([failed.request_key, other.request_key]).keys() == {other.request_key}


@CLIENTS
def test_slow_reply_is_given_up_after_the_timeout(client, faulty_server, store):
    faulty_server.default = Act(wait=2)
    spec = toy(client, faulty_server.url, timeout=0.3, max_retries=0)
    [response] = answers([question("Who?")], spec, store)
    assert "Timeout" in response.error


@CLIENTS
@pytest.mark.parametrize("mark", [b"\r\n\r\n", b"\r\n"], ids=["body", "headers"])
def test_reply_that_drips_is_given_up_after_the_timeout(client, mark, faulty_server, store):
    faulty_server.drips_after = mark
    spec = toy(client, faulty_server.url, timeout=0.5, max_retries=1, listed=False)
    [response] = answers([question("Who?")], spec, store)
    assert "Timeout" in response.error
    first, second = faulty_server.asked
    assert 0.5 <= second.at - first.at < 3  # with the client's pause before it asks again


@CLIENTS
def test_list_of_models_that_drips_stops_the_run(client, faulty_server, store):
    faulty_server.drips_after = b"\r\n\r\n"
    spec = toy(client, faulty_server.url, timeout=0.5, max_retries=0)
    with pytest.raises(InputError, match=r"cannot reach base_url .*Timeout"):
        answers([question("Who?")], spec, store)


@CLIENTS
def test_run_gives_up_after_so_many_failures_in_a_row(client, faulty_server, store):
    faulty_server.script = [BROKEN, GOOD, BROKEN, BROKEN, BROKEN]
    spec = toy(client, faulty_server.url, max_retries=0, max_concurrency=1)
    with pytest.raises(InputError, match=r"3 requests failed in a row.*500.*1 of 9 answers"):
        answers(questions(9), spec, store, give_up_after=3)
    assert len(faulty_server.asked) == 5
    answers(questions(9), spec, store)
    assert len(faulty_server.asked) == 5 + 8


# What a reply says


@CLIENTS
@pytest.mark.parametrize(("text", "finish"), [("", "stop"), ("a) In the", "length")])
def test_empty_answer_and_one_cut_off_are_replies(client, text, finish, faulty_server, store):
    faulty_server.script = [Act(text=text, finish=finish)]
    [response] = answers([question("Who?")], toy(client, faulty_server.url), store)
    assert response.reply == Reply(text, finish, PROMPT_TOKENS, COMPLETION_TOKENS)


def test_refusal_of_anthropics_models_is_an_answer(faulty_server, store):
    faulty_server.script = [Act(text="I won't.", finish="content_filter")]
    [response] = answers([question("Who?")], toy("anthropic", faulty_server.url), store)
    assert (response.reply.text, response.reply.finish_reason) == ("I won't.", "refusal")


def test_refusal_in_a_field_of_its_own_is_the_text(faulty_server, store):
    message = {"role": "assistant", "content": None, "refusal": "I won't."}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    faulty_server.script = [Act(body=json.dumps(body))]
    [response] = answers([question("Who?")], toy("openai", faulty_server.url), store)
    assert response.reply == Reply("I won't.", "refusal")


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


@pytest.mark.parametrize(
    ("price", "cost"),
    [(None, "no price declared"), ({"input": 1000, "output": 3000}, "at most $3.03")],
)
def test_what_is_asked_and_costs_is_said_before_anything_is_asked(price, cost, store, capfd):
    with FaultyServer() as server:
        spec = toy("openai", server.url, thinking_tokens=1000, price=price)
        asked = [question("Who?"), question("Why?")]
        answers(asked[:1], spec, store)
        n = len(server.asked)
        server.key = "another"  # so that the check fails, which comes before the first request
        with pytest.raises(InputError, match="does not accept the key"):
            asyncio.run(ask(asked, spec, store=store))
        assert len(server.asked) == n
    said = capfd.readouterr().err
    assert "toy: 2 requests, 1 kept; 1 are asked now: " in said
    assert cost in said


@CLIENTS
def test_alias_that_is_not_listed_is_known_all_the_same(client, faulty_server, store):
    faulty_server.models, faulty_server.aliases = ["toy-20260101"], ["toy"]
    [response] = answers([question("Who?")], toy(client, faulty_server.url), store)
    assert response.reply.text == good_answer("Who?")


@CLIENTS
def test_nothing_listening_is_told_with_the_url(client, store):
    with FaultyServer() as server:
        url = server.url
    with pytest.raises(InputError, match=f"models.toy: cannot reach base_url {url}"):
        answers(questions(2), toy(client, url), store)


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
    faulty_server.script = [GOOD, Act(status=400, body=repeats), Act(status=401, body=repeats)]
    spec = toy(client, faulty_server.url, api_key_env="TOY_KEY", max_concurrency=1)

    good, failed = answers(questions(2), spec, store)
    [_, turned_away] = answers(questions(2), spec, store)
    faulty_server.key = "another"
    with pytest.raises(InputError) as rejected:
        answers(questions(2), spec, store)

    assert good.reply
    assert "Wrong key: …" in failed.error
    assert "Wrong key: …" in turned_away.error
    kept = b"".join(path.read_bytes() for path in store.parent.iterdir())
    printed = "".join(capfd.readouterr()) + caplog.text
    for text in (kept.decode(errors="replace"), printed, failed.error, str(rejected.value)):
        assert KEY not in text
    assert f"Bearer {KEY}" in [headers["authorization"] for headers in faulty_server.headers]


@CLIENTS
def test_vendors_key_is_not_sent_to_the_users_own_server(client, faulty_server, store, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, KEY)
    answers([question("Who?")], toy(client, faulty_server.url), store)
    assert len(faulty_server.headers) == 2  # the list of models and the question
    assert KEY not in str(faulty_server.headers)


# What is sent


THINKING = {"type": "enabled", "budget_tokens": 100}


@pytest.mark.parametrize(
    ("client", "options", "body"),
    [
        (
            "openai",
            {
                "max_tokens_field": "max_completion_tokens",
                "system_role": "developer",
                "reasoning_effort": "low",
            },
            {
                "messages": [
                    {"role": "developer", "content": "Be brief."},
                    {"role": "user", "content": "Who?"},
                ],
                "max_completion_tokens": 110,
                "reasoning_effort": "low",
            },
        ),
        (
            "anthropic",
            {"thinking": THINKING},
            {
                "system": "Be brief.",
                "messages": [{"role": "user", "content": "Who?"}],
                "max_tokens": 110,
                "thinking": THINKING,
            },
        ),
    ],
)
def test_body_is_what_the_entry_declares(client, options, body, faulty_server, store):
    options |= {"temperature": None, "thinking_tokens": 100, "extra_body": {"top_k": 5}}
    spec = toy(client, faulty_server.url, **options)
    answers([question("Who?", system="Be brief.")], spec, store)
    assert faulty_server.asked[0].body == {"model": "toy", "top_k": 5, **body}


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_request_without_a_limit_is_sent_without_the_field(field, faulty_server, store):
    spec = toy("openai", faulty_server.url, max_tokens_field=field, thinking_tokens=100)
    unlimited, limited = questions(1)[0], question("Who?")
    answers([replace(unlimited, max_tokens=None), limited], spec, store)
    bodies = {asked.body["messages"][0]["content"]: asked.body for asked in faulty_server.asked}
    assert not {"max_tokens", "max_completion_tokens"} & set(bodies["Question 0?"])
    assert bodies["Who?"][field] == 110


@pytest.mark.parametrize("provider", ["anthropic", "embedded"])
def test_protocol_that_demands_a_limit_says_so(provider, store):
    spec = model_spec("toy", {"toy": {"provider": provider, "model": SMOLLM2}})
    with pytest.raises(InputError, match=f"models.toy: found no limit .* {provider} demands"):
        answers([question("Who?", max_tokens=None)], spec, store)


SCHEMA = {
    "type": "object",
    "properties": {"fruit": {"type": "string", "enum": ["apple", "pear"]}},
    "required": ["fruit"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("client", "path"),
    [("openai", ("response_format", "json_schema")), ("anthropic", ("output_config", "format"))],
)
def test_schema_of_a_request_is_sent(client, path, faulty_server, store):
    spec = toy(client, faulty_server.url)
    answers([question("Which?", schema=SCHEMA), question("Who?")], spec, store)
    held, free = sorted(faulty_server.asked, key=lambda asked: path[0] not in asked.body)
    assert held.body[path[0]][path[1]]["schema"] == SCHEMA
    assert path[0] not in free.body


LONG = "A long conversation. " * 250


def test_long_prefix_is_a_block_that_the_vendor_may_keep(faulty_server, store):
    asked = [question(f"{prefix}Who?", shared_prefix=prefix) for prefix in (LONG, "Short. ")]
    answers(asked, toy("anthropic", faulty_server.url), store)
    content = [asked.body["messages"][0]["content"] for asked in faulty_server.asked]
    [kept] = [blocks for blocks in content if isinstance(blocks, list)]
    assert kept == [
        {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Who?"},
    ]
    assert "Short. Who?" in content


def test_questions_on_one_prefix_wait_for_each_other_where_the_vendor_keeps_it(
    faulty_server, store
):
    asked = [question(f"{LONG}{n}?", shared_prefix=LONG) for n in range(4)]
    answers(asked, toy("anthropic", faulty_server.url), store)
    assert faulty_server.most_at_once == 1


@CLIENTS
@pytest.mark.parametrize(("declared", "sent"), [("protocol", 0.2), (0.7, 0.7)])
def test_temperature_is_the_protocols_unless_declared(client, declared, sent, faulty_server, store):
    spec = toy(client, faulty_server.url, temperature=declared)
    answers([question("Who?", temperature=0.2)], spec, store)
    assert faulty_server.asked[0].body["temperature"] == sent


@CLIENTS
def test_refused_option_stops_the_run_and_names_what_to_declare(client, faulty_server, store):
    said = "Unsupported value: 'temperature' does not support 0.0 with this model."
    refusal = json.dumps({"error": {"message": said, "param": "temperature"}})
    faulty_server.default = Act(status=400, body=refusal)
    with pytest.raises(InputError, match=r"models\.toy: .*`temperature: null`.*0 of 40"):
        answers(questions(40), toy(client, faulty_server.url, max_concurrency=2), store)
    assert len(faulty_server.asked) == 2
    spec = toy(client, faulty_server.url, temperature=None)
    faulty_server.script = [GOOD]
    good, refused = answers(questions(2), spec.model_copy(update={"max_concurrency": 1}), store)
    assert good.reply
    assert "400" in refused.error  # after an answer it is the request's own fault


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
    asked = [replace(each, max_tokens=None) for each in questions(3)]
    with pytest.raises(InputError, match=r"may cost \$4096.*1 of 3 answers are kept"):
        answers(asked, spec, store, max_cost_usd=4100)
    assert len(faulty_server.asked) == 1  # $7; a second might have made it $4103


def test_cost_limit_needs_a_price_for_a_vendors_model(store):
    spec = model_spec("x", {"x": {"provider": "openai", "model": "x"}})
    with pytest.raises(InputError, match=r"models\.x: limits\.max_cost_usd is set.*no price"):
        answers(questions(1), spec, store, max_cost_usd=1)


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

EMBEDDED = model_spec("smol", {"smol": {"provider": "embedded", "model": SMOLLM2, "threads": 1}})


def embedded_answers(asked: list[Request], store: Path) -> dict[str, str]:
    """Answers by question, of an engine started for this call."""
    replies = texts(answers(asked, EMBEDDED, store))
    return {
        request.messages[-1]["content"]: text for request, text in zip(asked, replies, strict=True)
    }


def test_answers_after_a_shared_prefix_depend_on_no_order_and_no_restart(tmp_path):
    asked = [
        question(f"{STORY}Question: {text}", max_tokens=8, shared_prefix=STORY)
        for text in ("Where is the violin?", "Who moved it?", "What does Mara want?")
    ]
    first = embedded_answers(asked, tmp_path / "first.sqlite")
    assert len(set(first.values())) > 1
    assert embedded_answers(asked[::-1], tmp_path / "backwards.sqlite") == first
    assert embedded_answers(asked[1:2], tmp_path / "alone.sqlite") == {
        asked[1].messages[-1]["content"]: first[asked[1].messages[-1]["content"]]
    }


def test_embedded_model_keeps_to_a_schema(tmp_path):
    asked = question("Which fruit do you like? Answer in JSON.", max_tokens=20, schema=SCHEMA)
    [answer] = embedded_answers([asked], tmp_path / "schema.sqlite").values()
    assert json.loads(answer)["fruit"] in ("apple", "pear")


def test_request_without_a_prefix_repeats_exactly_after_another_and_alone(tmp_path):
    other, item = question("Name a fruit.", max_tokens=8), question(VIOLIN, max_tokens=8)
    after_another = embedded_answers([other, item], tmp_path / "both.sqlite")
    alone = embedded_answers([item], tmp_path / "alone.sqlite")
    assert alone[VIOLIN] == after_another[VIOLIN]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("weights.gguf", b"PK not a model", "could not load"),
        ("weights.gguf", b"GGUF and no more", "could not load"),
        ("weights.gguf", None, "no file"),
        ("w" * 300, None, "no file .*www"),
    ],
)
def test_embedded_file_that_is_none_is_told(name, content, told, tmp_path, store):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    spec = model_spec("mine", {"mine": {"provider": "embedded", "model": str(path)}})
    with pytest.raises(InputError, match=told):
        answers([question("Who?")], spec, store)
