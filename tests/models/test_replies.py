"""Replies: which are answers, which failed, and which a content filter took away."""

import json

import pytest

from faulty_server import COMPLETION_TOKENS, PROMPT_TOKENS, Act, good_answer
from tomlab.models.providers import provider
from tomlab.models.replies import FilteredError, NoAnswerError, from_json
from tomlab.models.server_errors import is_filtered
from tomlab.models.specs import Reply, model_spec
from tomlab.models.store import Store

USAGE = {
    "prompt_tokens": PROMPT_TOKENS,
    "completion_tokens": COMPLETION_TOKENS,
    "input_tokens": PROMPT_TOKENS,
    "output_tokens": COMPLETION_TOKENS,
}
ENTRIES = {
    "chat": {"provider": "openai", "model": "toy"},
    "response": {"provider": "openai", "model": "toy", "endpoint": "responses"},
    "message": {"provider": "anthropic", "model": "toy"},
}
ADAPTERS = {form: provider(model_spec("toy", {"toy": entry})) for form, entry in ENTRIES.items()}


def chat(content="b", finish="stop", choice=None, message=None, **top) -> tuple[str, dict]:
    whole_message = {"role": "assistant", "content": content, **(message or {})}
    whole_choice = {"message": whole_message, "finish_reason": finish, **(choice or {})}
    return "chat", {"choices": [whole_choice], "usage": USAGE, **top}


def message(content=None, reason="end_turn", **top) -> tuple[str, dict]:
    return "message", {"content": content, "stop_reason": reason, "usage": USAGE, **top}


def response(content=None, status="completed", reason=None, **top) -> tuple[str, dict]:
    output = [{"type": "reasoning", "summary": []}]
    if content:
        output.append({"type": "message", "content": content})
    details = {"reason": reason} if reason else None
    body = {"output": output, "status": status, "incomplete_details": details, "usage": USAGE}
    return "response", {**body, **top}


def text(words) -> list[dict]:
    return [{"type": "text", "text": words}]


def read(form: str, body: object) -> Reply:
    """How the adapter of a protocol reads a reply."""
    return ADAPTERS[form].reply(from_json(json.dumps(body)))


THOUGHT = {"type": "thinking", "thinking": "(A)?"}
REFUSAL = [{"type": "refusal", "refusal": "I won't."}]
ANSWERS = {
    "parts": (chat([THOUGHT, *text("(B)")]), "(B)", "stop"),
    "refusal as a field": (chat(None, message={"refusal": "No."}), "No.", "refusal"),
    "thinking to the limit": (chat(None, "length"), "", "length"),
    "thinking alone": (chat(None, message={"reasoning_content": "Let me"}), "", "stop"),
    "ended at once": (chat(""), "", "stop"),
    "another word for the end, and no error": (chat("b", "eos", error=None), "b", "stop"),
    "full context": (message(text("b"), "model_context_window_exceeded"), "b", "length"),
    "refusal without a word": (message([], "refusal"), "", "refusal"),
    "response": (response("b"), "b", "stop"),
    "refusing response": (response(REFUSAL), "I won't.", "refusal"),
    "cut response": (response("The", "incomplete", "max_output_tokens"), "The", "length"),
}


@pytest.mark.parametrize(("reply", "text", "finish"), ANSWERS.values(), ids=ANSWERS)
def test_answer_with_a_known_cause_is_read(reply, text, finish):
    assert read(*reply) == Reply(text, finish, PROMPT_TOKENS, COMPLETION_TOKENS)


def test_vendors_name_of_the_model_is_kept():
    reply = read(*chat(model="toy-1", system_fingerprint="fp"))
    assert reply.origin == {"model": "toy-1", "fingerprint": "fp"}


RATE = {"code": 429, "message": "Rate limit reached"}
FAILED = {
    "error beside a text": (chat("b", error=RATE), "Rate limit reached"),
    "error in the choice": (chat("", choice={"error": RATE}), "Rate limit"),
    "error in the message": (chat("", message={"error": "lost"}), "lost"),
    "unknown reason": (chat("b", "network_error"), "network_error"),
    "nothing counted": (chat("", usage=None), "no text"),
    "lone surrogate": (chat("The \ud800 attic."), "no Unicode"),
    "number as text": (chat(7), "another form"),
    "no choices": (("chat", {"choices": None}), "another form"),
    "failed response": (response(None, "failed", error=RATE), "Rate limit reached"),
    "response in a queue": (response(status="queued"), "queued"),
    "message that is an error": (message([], error=RATE), "Rate limit reached"),
    "message that pauses": (message([], "pause_turn"), "pause_turn"),
}


@pytest.mark.parametrize(("reply", "cause"), FAILED.values(), ids=FAILED)
def test_reply_without_an_answer_is_an_error_with_its_cause(reply, cause):
    with pytest.raises(NoAnswerError, match=cause):
        read(*reply)


POLICY = "The response was filtered due to Azure OpenAI's content management policy."
AZURE = {"error": {"code": "content_filter", "message": POLICY}}
FILTERED = {
    "Azure": AZURE,
    "Azure, without words": {"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}},
    "Azure's categories": {"error": {"hate": {"filtered": True}}},
    "Anthropic": {"error": {"message": "Output blocked by content filtering policy"}},
    "Gemini": [{"error": {"status": "INVALID_ARGUMENT", "reason": "PROHIBITED_CONTENT"}}],
    "DeepSeek": {"detail": "Content Exists Risk"},
    "OpenAI": {"error": {"code": "invalid_prompt", "message": "Your prompt was flagged."}},
    "xAI": {"error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_X"},
    "Zhipu": {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全"}},
}


@pytest.mark.parametrize("body", FILTERED.values(), ids=FILTERED)
def test_filter_by_any_name_is_a_filter(body):
    assert is_filtered(json.dumps(body), 400)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"message": "This violates our usage limits of content policy"}}),
        (403, {"error": {"message": "Bedrock guardrail request failed: no permission"}}),
        (422, {"detail": [{"loc": ["body"], "msg": "wrong", "input": "unsafe content"}]}),
        (400, {"error": {"hate": {"filtered": False}}}),
    ],
)
def test_other_error_is_no_filter(status, body):
    assert not is_filtered(json.dumps(body), status)


@pytest.mark.parametrize(
    "reply",
    [
        chat(None, "SAFETY"),
        chat("The b", "content_filter"),
        ("chat", {"choices": None, "promptFeedback": {"blockReason": "SAFETY"}}),
        ("chat", AZURE),
        response(None, "incomplete", "content_filter"),
    ],
)
def test_filter_in_place_of_an_answer_is_a_filter(reply):
    with pytest.raises(FilteredError):
        read(*reply)


# In a run


@pytest.mark.parametrize(
    ("act", "cause"),
    [
        (Act(body='{"choices": [{"message": {"cont'), "JSON"),
        (Act(body="<html><title>Log in</title></html>"), "Log in"),
        (Act(body=json.dumps({"error": RATE})), "Rate limit reached"),
        (Act(status=400, body="Stream must be true"), "Error code: 400 - Stream must be true"),
    ],
)
def test_failed_request_is_not_kept_and_asked_again(client, act, cause, faulty_server, ask, store):
    faulty_server.script = [act]
    failed, answered = ask(2, client, max_concurrency=1)
    assert failed.reply is None
    assert cause in failed.error
    with Store(store) as opened:
        replies = opened.replies([failed.request_key, answered.request_key])
    assert replies == {answered.request_key: answered.reply}
    [again, _] = ask(2, client)
    assert again.reply.text == good_answer("Question 0?")
    assert faulty_server.n_asked == 3


@pytest.mark.parametrize(
    ("client", "act"),
    [
        ("openai", Act(text="The b", finish="content_filter")),
        ("openai", Act(status=400, body=json.dumps(AZURE))),
        ("anthropic", Act(status=400, body=json.dumps(FILTERED["Anthropic"]))),
    ],
)
def test_filtered_answers_are_paid_asked_again_and_do_not_end_a_run(
    client, act, faulty_server, ask, spending
):
    faulty_server.default = act
    price = {"input": 1000, "output": 1000}
    for response in ask(4, client, give_up_after=2, price=price):
        assert response.filtered
        assert response.reply is None
        assert response.error.startswith("FilteredError: by the vendor's content filter")
    assert faulty_server.n_asked == 4  # nor is any tried again at once
    assert spending().answers > 0
