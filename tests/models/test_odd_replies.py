"""Whatever a server sends for one question, it is that question's answer or error; the others go on."""

import json

import pytest

from faulty_server import GOOD, Act, FaultyServer, good_answer
from odd_replies import BODIES, COUNTS, TEXTS, body
from tomlab.models.replies import redacted, without_key
from tomlab.models.specs import Reply
from tomlab.models.store import Store
from toy_models import CLIENTS, answers, questions, toy


def asked(client, act, faulty_server, store):
    """The responses to six questions, one of which meets the odd reply; the others are answered."""
    spec = toy(client, faulty_server.url, max_retries=0, max_concurrency=6)
    faulty_server.script = [GOOD, GOOD, act]
    responses = answers(questions(6), spec, store)
    good = [
        (question, response)
        for question, response in zip(questions(6), responses, strict=True)
        if response.reply and response.reply.text == good_answer(question.messages[0]["content"])
    ]
    assert len(good) >= 5
    with Store(store) as kept:
        found = kept.replies(response.request_key for response in responses)
    assert found == {r.request_key: r.reply for r in responses if r.reply}
    [odd] = [r for r in responses if all(r is not one for _, one in good)] or [None]
    return odd


@CLIENTS
@pytest.mark.parametrize("usage", COUNTS.values(), ids=COUNTS)
def test_answer_with_odd_counts_is_an_answer_without_counts(client, usage, faulty_server, store):
    odd = asked(client, body(client, usage=usage), faulty_server, store)
    assert odd.reply.text == "in the attic"
    assert (odd.reply.prompt_tokens, odd.reply.completion_tokens) == (0, 0)


@CLIENTS
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_no_text_is_an_error_and_never_stored(client, text, faulty_server, store):
    odd = asked(client, body(client, text=text), faulty_server, store)
    assert odd.reply is None
    assert odd.error.startswith("MalformedReplyError")
    odd.error.encode()


@CLIENTS
@pytest.mark.parametrize("whole", BODIES.values(), ids=BODIES)
def test_reply_of_another_form_is_an_error(client, whole, faulty_server, store):
    odd = asked(client, Act(body=json.dumps(whole)), faulty_server, store)
    assert odd.reply is None
    assert odd.error.startswith("MalformedReplyError")


@CLIENTS
@pytest.mark.parametrize("finish", [None, ["stop"], "whim"], ids=str)
def test_reply_that_ended_for_no_known_reason_is_an_error(client, finish, faulty_server, store):
    odd = asked(client, body(client, finish=finish), faulty_server, store)
    assert odd.reply is None
    assert repr(str(finish)) in odd.error


KEY = "sk-proj-Zq8vT4mW1nXc7bLs"


@pytest.mark.parametrize(
    "text",
    [
        f"Wrong key: {KEY}",
        f"{KEY}{KEY} twice",
        f"cut: {KEY[:11]}",
        f"masked: {KEY[:8]}******{KEY[-6:]}",
        f"https://example.org/?key={KEY[3:]}&x=1",
    ],
)
def test_error_shows_no_more_of_a_key_than_four_characters(text):
    shown = redacted(text, KEY)
    assert not any(KEY[start : start + 5] in shown for start in range(len(KEY) - 4))
    assert "…" in shown


@CLIENTS
@pytest.mark.parametrize("client_key", [KEY])
def test_key_in_an_answer_or_a_broken_reply_is_not_kept(
    client, client_key, faulty_server, store, monkeypatch
):
    monkeypatch.setenv("MY_KEY", client_key)
    spec = toy(client, faulty_server.url, api_key_env="MY_KEY", max_retries=0, max_concurrency=1)
    long = "x" * 180
    faulty_server.script = [
        Act(text=f"Your key is {KEY}."),
        Act(body=json.dumps({"id": long + KEY, "choices": [], "content": 3})),
        Act(status=500, body=json.dumps({"error": {"message": f"{long * 2}{KEY}"}})),
    ]
    responses = answers(questions(3), spec, store)
    assert "Your key is …." in [r.reply.text for r in responses if r.reply]
    said = json.dumps([[r.error, r.reply and r.reply.text] for r in responses])
    said += "".join(path.read_bytes().decode("latin-1") for path in store.parent.iterdir())
    assert not any(KEY[start : start + 5] in said for start in range(len(KEY) - 4))


def test_part_of_a_key_in_an_answer_is_not_kept_and_words_are():
    said = Reply(f"It begins with {KEY[:12]}, as in a risk-project.", "stop")
    assert without_key(said, KEY).text == "It begins with …, as in a risk-project."


@CLIENTS
@pytest.mark.parametrize("status", [302, 307])
def test_server_that_sends_on_gets_neither_questions_nor_key_to_another(
    client, status, faulty_server, store, monkeypatch
):
    monkeypatch.setenv("MY_KEY", KEY)
    with FaultyServer() as other:
        spec = toy(client, faulty_server.url, api_key_env="MY_KEY", max_retries=0)
        headers = {"Location": f"{other.url}/v1/models?key={KEY}"}
        faulty_server.default = Act(status=status, headers=headers)
        [response] = answers(questions(1), spec, store)
        assert response.error.startswith(f"APIStatusError: Error code: {status}")
        assert KEY[3:] not in response.error
    assert other.headers == []


@CLIENTS
def test_long_broken_reply_full_of_a_keys_parts_is_soon_told(
    client, faulty_server, store, monkeypatch
):
    monkeypatch.setenv("MY_KEY", KEY)
    spec = toy(client, faulty_server.url, api_key_env="MY_KEY", max_retries=0)
    faulty_server.default = Act(body=json.dumps({"id": f"{KEY[:9]} " * 200_000, "choices": []}))
    [response] = answers(questions(1), spec, store)
    assert response.error.startswith("MalformedReplyError")
    assert len(response.error) <= 300


@CLIENTS
def test_short_key_is_not_shown_either(client, faulty_server, store, monkeypatch):
    monkeypatch.setenv("MY_KEY", "tiny-k")
    spec = toy(client, faulty_server.url, api_key_env="MY_KEY", max_retries=0)
    faulty_server.default = Act(status=500, body=json.dumps({"error": {"message": "not tiny-k"}}))
    [response] = answers(questions(1), spec, store)
    assert "tiny-k" not in response.error
