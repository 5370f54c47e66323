"""A reply is an answer only if all speaks for it; else it is a failed request, told and asked again."""

import json

import pytest

from faulty_server import COMPLETION_TOKENS, GOOD, PROMPT_TOKENS, Act, good_answer
from tomlab.errors import InputError
from tomlab.models import remote
from tomlab.models.specs import Reply
from tomlab.models.store import Store
from toy_models import CLIENTS, answers, question, questions, texts, toy

USAGE = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS}
USAGE |= {"input_tokens": PROMPT_TOKENS, "output_tokens": COMPLETION_TOKENS}


def chat(content="b", finish="stop", usage=USAGE, choice=None, message=None, **top) -> Act:
    said = {"role": "assistant", "content": content, **(message or {})}
    told = {"index": 0, "message": said, "finish_reason": finish, **(choice or {})}
    return Act(body=json.dumps({"choices": [told], "usage": usage, **top}))


def message(content=None, reason="end_turn", usage=USAGE, **top) -> Act:
    return Act(body=json.dumps({"content": content, "stop_reason": reason, "usage": usage, **top}))


def response(output=(), status="completed", usage=USAGE, **top) -> Act:
    return Act(body=json.dumps({"output": output, "status": status, "usage": usage, **top}))


RATE = {"code": 429, "message": "Rate limit reached"}
OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
RESPONSES = {"endpoint": "responses"}
FAILED = {
    "error at the top": ("openai", {}, chat(None, error=RATE), "Rate limit reached"),
    "error beside a text": ("openai", {}, chat("b", error=RATE), "Rate limit reached"),
    "error in the choice": ("openai", {}, chat("", choice={"error": RATE}), "Rate limit"),
    "error in the message": ("openai", {}, chat("", message={"error": "lost"}), "lost"),
    "error as a text": ("openai", {}, chat(None, error="upstream timed out"), "upstream timed"),
    "error as the reason": ("openai", {}, chat("The b", "error"), "'error'"),
    "no reason": ("openai", {}, chat("b", None), "None"),
    "unknown reason": ("openai", {}, chat("b", "network_error"), "network_error"),
    "nothing counted": ("openai", {}, chat(None, usage=None), "no text"),
    "empty and nothing counted": ("openai", {}, chat("", usage=None), "no text"),
    "a call of a tool": ("openai", {}, chat(None, "tool_calls"), "tool_calls"),
    "response with an error": ("openai", RESPONSES, response(error=RATE), "Rate limit reached"),
    "response in a queue": ("openai", RESPONSES, response(status="queued"), "queued"),
    "message that is an error": (
        "anthropic",
        {},
        message([], type="error", error=OVERLOADED),
        "Overloaded",
    ),
    "message that pauses": ("anthropic", {}, message([], "pause_turn"), "pause_turn"),
    "message without a reason": ("anthropic", {}, message([], None), "None"),
}


@pytest.mark.parametrize(("client", "options", "act", "told"), FAILED.values(), ids=FAILED)
def test_reply_without_an_answer_is_told_never_kept_and_asked_again(
    client, options, act, told, faulty_server, store
):
    spec = toy(client, faulty_server.url, max_retries=0, **options)
    faulty_server.script = [act] * 3
    failed = answers(questions(3), spec, store)
    assert [one.reply for one in failed] == [None] * 3
    assert all(told in one.error for one in failed)
    with Store(store) as kept:
        assert kept.replies(one.request_key for one in failed) == {}
    again = answers(questions(3), spec, store)
    assert texts(again) == [good_answer(f"Question {n}?") for n in range(3)]
    assert len(faulty_server.asked) == 6


ANSWERS = {
    "parts": (
        "openai",
        {},
        chat([{"type": "thinking", "thinking": "(A)?"}, {"type": "text", "text": "(B)"}]),
        ("(B)", "stop"),
    ),
    "a refusal as a part": (
        "openai",
        {},
        chat([{"type": "refusal", "refusal": "I won't."}]),
        ("I won't.", "refusal"),
    ),
    "thinking to the limit": (
        "openai",
        {},
        chat(None, "length", message={"reasoning_content": "Let me see"}),
        ("", "length"),
    ),
    "thinking and no word": (
        "openai",
        {},
        chat(None, message={"reasoning_content": "Let me see"}),
        ("", "stop"),
    ),
    "ended at once": ("openai", {}, chat(""), ("", "stop")),
    "another word for the end": ("openai", {}, chat("b", "eos"), ("b", "stop")),
    "another word for the limit": ("openai", {}, chat("b", "model_length"), ("b", "length")),
    "error that is none": ("openai", {}, chat("b", error=None), ("b", "stop")),
    "full context": (
        "anthropic",
        {},
        message([{"type": "text", "text": "b"}], "model_context_window_exceeded"),
        ("b", "length"),
    ),
    "refusal without a word": ("anthropic", {}, message([], "refusal"), ("", "refusal")),
}


@pytest.mark.parametrize(("client", "options", "act", "said"), ANSWERS.values(), ids=ANSWERS)
def test_answer_with_a_known_cause_is_kept(client, options, act, said, faulty_server, store):
    faulty_server.script = [act]
    spec = toy(client, faulty_server.url, max_retries=0, **options)
    [one] = answers([question("Who?")], spec, store)
    assert (one.reply.text, one.reply.finish_reason) == said
    assert answers([question("Who?")], spec, store)[0].cached


@CLIENTS
def test_status_in_a_reply_is_asked_again_as_one_of_http_is(client, faulty_server, store):
    body = json.dumps({"error": {"code": 503, "message": "overloaded"}})
    faulty_server.script = [Act(body=body)]
    [one] = answers([question("Who?")], toy(client, faulty_server.url, max_retries=1), store)
    assert one.reply.text == good_answer("Who?")
    assert len(faulty_server.asked) == 2


def test_run_of_replies_with_errors_gives_up_and_keeps_nothing(faulty_server, store):
    faulty_server.default = chat(None, error=RATE)
    spec = toy("openai", faulty_server.url, max_retries=0, max_concurrency=1)
    with pytest.raises(
        InputError, match=r"3 requests failed in a row.*Rate limit reached.*0 of 30"
    ):
        answers(questions(30), spec, store, give_up_after=3)


PRICE = {"input": 0, "output": 1_000_000}


def test_text_that_ended_for_no_known_reason_is_booked(faulty_server, store):
    faulty_server.script = [chat("The b", "error")]
    answers([question("Who?")], toy("openai", faulty_server.url, price=PRICE), store)
    with Store(store) as kept:
        assert kept.spending().answers == COMPLETION_TOKENS


# Filters

POLICY = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
FILTERED = {
    "LiteLLM": (
        400,
        {
            "error": {
                "message": f"litellm.ContentPolicyViolationError: AzureException - {POLICY}",
                "type": None,
                "param": None,
                "code": "400",
            }
        },
    ),
    "Azure, without words": (
        400,
        {
            "error": {
                "code": "BadRequest",
                "message": "",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    "Bedrock": (400, {"error": {"message": "Violated guardrail policy", "code": "400"}}),
    "Bedrock's action": (400, {"message": "no", "action": "GUARDRAIL_INTERVENED"}),
    "Gemini": (400, [{"error": {"status": "INVALID_ARGUMENT", "reason": "PROHIBITED_CONTENT"}}]),
    "DashScope": (
        400,
        {"error": {"code": "data_inspection_failed", "message": "Input data may be …"}},
    ),
    "DeepSeek": (400, {"detail": "Content Exists Risk"}),
    "OpenAI": (
        400,
        {
            "error": {
                "code": "invalid_prompt",
                "message": "Your prompt was flagged as potentially violating our usage policy.",
            }
        },
    ),
    "xAI": (403, {"error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_X"}),
    "a text": (400, "The request was blocked by a guardrail"),
    "in place of choices": (200, {"choices": None, "promptFeedback": {"blockReason": "SAFETY"}}),
    "an error within": (200, {"error": {"code": "content_filter", "message": "no"}}),
}


@CLIENTS
@pytest.mark.parametrize(("status", "body"), FILTERED.values(), ids=FILTERED)
def test_filter_by_any_name_is_a_filter(client, status, body, faulty_server, store):
    text = body if isinstance(body, str) else json.dumps(body)
    faulty_server.default = Act(status=status, body=text)
    spec = toy(client, faulty_server.url, max_retries=0, max_concurrency=1)
    responses = answers(questions(4), spec, store, give_up_after=2)
    assert all(one.filtered and "content filter" in one.error for one in responses)


@pytest.mark.parametrize(
    ("finish", "content"),
    [("SAFETY", None), ("PROHIBITED_CONTENT", ""), ("content_filter", "The b")],
)
def test_filter_as_the_reason_is_a_filter(finish, content, faulty_server, store):
    faulty_server.script = [chat(content, finish)]
    [one] = answers([question("Who?")], toy("openai", faulty_server.url), store)
    assert one.filtered


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"message": "This violates our usage limits of content policy"}}),
        (400, {"error": {"message": "Unknown field: content"}}),
        (403, {"error": {"message": "Bedrock guardrail request failed: no permission"}}),
        (422, {"detail": [{"loc": ["body"], "msg": "wrong", "input": "unsafe content"}]}),
    ],
    ids=str,
)
def test_other_error_is_no_filter(status, body, faulty_server, store):
    faulty_server.default = Act(status=status, body=json.dumps(body))
    [one] = answers(questions(1), toy("openai", faulty_server.url, max_retries=0), store)
    assert not one.filtered


# What a server says

SAID = {
    "detail": ({"detail": "Stream must be set to true"}, "Stream must be set to true"),
    "error as a text": ({"error": "model is loading"}, "model is loading"),
    "message": ({"object": "error", "message": "too long", "code": 40303}, "too long"),
    "fields at fault": (
        {"detail": [{"loc": ["body", "top_k"], "msg": "extra fields not permitted"}]},
        "body.top_k: extra fields not permitted",
    ),
    "errors": ({"errors": [{"message": "no such account"}]}, "no such account"),
    "a list": ([{"error": {"message": "API key expired"}}], "API key expired"),
    "a code": ({"error": {"code": "insufficient_quota"}}, "insufficient_quota"),
    "other fields": ({"ok": False, "why": "maintenance"}, "maintenance"),
    "a text": ("no healthy upstream", "no healthy upstream"),
    "a page": ("<html><head><title>502 Bad Gateway</title></head>…</html>", "502 Bad Gateway"),
}


@CLIENTS
@pytest.mark.parametrize("status", [400, 503])
@pytest.mark.parametrize(("body", "told"), SAID.values(), ids=SAID)
def test_what_the_server_says_is_shown(client, status, body, told, faulty_server, store):
    text = body if isinstance(body, str) else json.dumps(body)
    faulty_server.default = Act(status=status, body=text)
    [one] = answers(questions(1), toy(client, faulty_server.url, max_retries=0), store)
    assert f"Error code: {status} - " in one.error
    assert told in one.error


@CLIENTS
def test_what_comes_in_place_of_json_is_shown(client, faulty_server, store):
    faulty_server.default = Act(body="<html><title>Log in</title></html>")
    [one] = answers(questions(1), toy(client, faulty_server.url, max_retries=0), store)
    assert "Log in" in one.error


# How long a reply may be


@CLIENTS
@pytest.mark.parametrize("status", [200, 400])
def test_reply_without_an_end_is_not_read_on(client, status, faulty_server, store, monkeypatch):
    monkeypatch.setattr(remote, "MOST_REPLY", 1_000_000)
    spec = toy(client, faulty_server.url, max_retries=3, listed=False)
    faulty_server.endless = b'{"a": "' + b"x" * 65_000
    faulty_server.default = Act(status=status)
    [one] = answers([question("Who?")], spec, store)
    assert "longer than 1,000,000 bytes" in one.error
    assert len(faulty_server.asked) == 1  # it may have been paid for
    assert faulty_server.sent < 30_000_000


@CLIENTS
def test_packed_reply_counts_by_what_is_in_it(client, faulty_server, store, monkeypatch):
    monkeypatch.setattr(remote, "MOST_REPLY", 1_000_000)
    spec = toy(client, faulty_server.url, max_retries=0, max_concurrency=1)
    packed = {"Content-Encoding": "gzip"}
    faulty_server.script = [
        Act(text="b", headers=packed),
        Act(text="b" * 5_000_000, headers=packed),
    ]
    good, bomb = answers(questions(2), spec, store)
    assert good.reply == Reply("b", "stop", PROMPT_TOKENS, COMPLETION_TOKENS)
    assert "longer than 1,000,000 bytes" in bomb.error


@CLIENTS
def test_list_of_models_without_an_end_is_taken_for_none(client, faulty_server, store, monkeypatch):
    monkeypatch.setattr(remote, "MOST_REPLY", 1_000_000)
    faulty_server.listing = GOOD
    faulty_server.endless = b"x" * 65_000
    spec = toy(client, faulty_server.url, max_retries=0)
    [one] = answers([question("Who?")], spec, store)
    assert "longer than" in one.error
