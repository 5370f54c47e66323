"""A reply is an answer only if all speaks for it; else it failed, or a content filter took it away."""

import json

import pytest

from faulty_server import COMPLETION_TOKENS, PROMPT_TOKENS, Act, good_answer
from tomlab.errors import InputError
from tomlab.models.providers import provider
from tomlab.models.replies import FilteredError, NoAnswerError, from_json
from tomlab.models.server_errors import is_filtered
from tomlab.models.specs import Reply, model_spec
from tomlab.models.store import Store
from toy_models import CLIENTS, answers, question, questions, toy

USAGE = {
    "prompt_tokens": PROMPT_TOKENS,
    "completion_tokens": COMPLETION_TOKENS,
    "input_tokens": PROMPT_TOKENS,
    "output_tokens": COMPLETION_TOKENS,
}


def chat(content="b", finish="stop", usage=USAGE, choice=None, message=None, **top) -> dict:
    whole_message = {"role": "assistant", "content": content, **(message or {})}
    whole_choice = {"message": whole_message, "finish_reason": finish, **(choice or {})}
    return {"choices": [whole_choice], "usage": usage, **top}


def message(content=None, reason="end_turn", usage=USAGE, **top) -> dict:
    return {"content": content, "stop_reason": reason, "usage": usage, **top}


def response(output=(), status="completed", usage=USAGE, **top) -> dict:
    return {"output": output, "status": status, "usage": usage, **top}


def text(words) -> list[dict]:
    return [{"type": "text", "text": words}]


ENTRIES = {
    chat: {"provider": "openai", "model": "toy"},
    response: {"provider": "openai", "model": "toy", "endpoint": "responses"},
    message: {"provider": "anthropic", "model": "toy"},
}
ADAPTERS = {form: provider(model_spec("toy", {"toy": entry})) for form, entry in ENTRIES.items()}


def read(form, body: object) -> Reply:
    """What the adapter of a protocol makes of a reply."""
    return ADAPTERS[form].reply(from_json(json.dumps(body)))


REFUSAL = [{"type": "refusal", "refusal": "I won't."}]
ANSWERS = {
    "parts": (chat, chat([{"type": "thinking", "thinking": "(A)?"}, *text("(B)")]), "(B)", "stop"),
    "refusal as a part": (chat, chat(REFUSAL), "I won't.", "refusal"),
    "refusal as a field": (chat, chat(None, message={"refusal": "No."}), "No.", "refusal"),
    "thinking to the limit": (chat, chat(None, "length"), "", "length"),
    "thinking alone": (chat, chat(None, message={"reasoning_content": "Let me"}), "", "stop"),
    "ended at once": (chat, chat(""), "", "stop"),
    "another word for the end": (chat, chat("b", "eos"), "b", "stop"),
    "another word for the limit": (chat, chat("b", "model_length"), "b", "length"),
    "error that is none": (chat, chat("b", error=None), "b", "stop"),
    "full context": (message, message(text("b"), "model_context_window_exceeded"), "b", "length"),
    "refusal without a word": (message, message([], "refusal"), "", "refusal"),
    "thinking before": (
        message,
        message([{"type": "thinking", "thinking": "(A)?"}, *text("b")]),
        "b",
        "stop",
    ),
    "response": (
        response,
        response([{"type": "reasoning", "summary": []}, {"type": "message", "content": "b"}]),
        "b",
        "stop",
    ),
    "refusing response": (
        response,
        response([{"type": "message", "content": REFUSAL}]),
        "I won't.",
        "refusal",
    ),
    "response that was cut off": (
        response,
        response(
            [{"type": "message", "content": "The"}],
            "incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        ),
        "The",
        "length",
    ),
}


@pytest.mark.parametrize(("form", "body", "said", "finish"), ANSWERS.values(), ids=ANSWERS)
def test_answer_with_a_known_cause_is_read(form, body, said, finish):
    assert read(form, body) == Reply(said, finish, PROMPT_TOKENS, COMPLETION_TOKENS)


def test_vendors_name_of_the_model_is_kept():
    reply = read(chat, chat(model="toy-1", system_fingerprint="fp"))
    assert reply.origin == {"model": "toy-1", "fingerprint": "fp"}


RATE = {"code": 429, "message": "Rate limit reached"}
OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
FAILED = {
    "error at the top": (chat, chat(None, error=RATE), "Rate limit reached"),
    "error beside a text": (chat, chat("b", error=RATE), "Rate limit reached"),
    "error in the choice": (chat, chat("", choice={"error": RATE}), "Rate limit"),
    "error in the message": (chat, chat("", message={"error": "lost"}), "lost"),
    "error as the reason": (chat, chat("The b", "error"), "'error'"),
    "no reason": (chat, chat("b", None), "None"),
    "reason that is no word": (chat, chat("b", ["stop"]), "stop"),
    "unknown reason": (chat, chat("b", "network_error"), "network_error"),
    "nothing counted": (chat, chat(None, usage=None), "no text"),
    "empty and nothing counted": (chat, chat("", usage=None), "no text"),
    "a call of a tool": (chat, chat(None, "tool_calls"), "tool_calls"),
    "lone surrogate": (chat, chat("The \ud800 attic."), "no Unicode"),
    "text in a list": (chat, chat([7]), "another form"),
    "number as text": (chat, chat(7), "another form"),
    "no choices": (chat, {"choices": None}, "another form"),
    "choice of null": (chat, {"choices": [None]}, "another form"),
    "no object": (chat, [], "another form"),
    "error in a response": (response, response(error=RATE), "Rate limit reached"),
    "failed response": (response, response(None, "failed", error=RATE), "Rate limit reached"),
    "response in a queue": (response, response(status="queued"), "queued"),
    "incomplete for no reason": (response, response(status="incomplete"), "another form"),
    "message that is an error": (message, message([], error=OVERLOADED), "Overloaded"),
    "message that pauses": (message, message([], "pause_turn"), "pause_turn"),
    "message without a reason": (message, message([], None), "None"),
    "part without a text": (message, message(text({"a": 1})), "another form"),
}


@pytest.mark.parametrize(("form", "body", "told"), FAILED.values(), ids=FAILED)
def test_reply_without_an_answer_is_told(form, body, told):
    with pytest.raises(NoAnswerError, match=told):
        read(form, body)


POLICY = "The response was filtered due to Azure OpenAI's content management policy."
FILTERED = {
    "Azure": (400, {"error": {"code": "content_filter", "message": POLICY}}),
    "Azure, without words": (
        400,
        {"error": {"message": "", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
    ),
    "Azure's categories": (400, {"error": {"hate": {"filtered": True}}}),
    "LiteLLM": (400, {"error": {"message": f"litellm.ContentPolicyViolationError: {POLICY}"}}),
    "Anthropic": (400, {"error": {"message": "Output blocked by content filtering policy"}}),
    "Bedrock": (400, {"error": {"message": "Violated guardrail policy", "code": "400"}}),
    "Bedrock's action": (400, {"message": "no", "action": "GUARDRAIL_INTERVENED"}),
    "Gemini": (400, [{"error": {"status": "INVALID_ARGUMENT", "reason": "PROHIBITED_CONTENT"}}]),
    "DashScope": (400, {"error": {"code": "data_inspection_failed"}}),
    "DeepSeek": (400, {"detail": "Content Exists Risk"}),
    "OpenAI": (400, {"error": {"code": "invalid_prompt", "message": "Your prompt was flagged."}}),
    "xAI": (403, {"error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_X"}),
    "Zhipu": (
        400,
        {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全"}},
    ),
    "a text": (400, "The request was blocked by a guardrail"),
}


@pytest.mark.parametrize(("status", "body"), FILTERED.values(), ids=FILTERED)
def test_filter_by_any_name_is_a_filter(status, body):
    assert is_filtered(body if isinstance(body, str) else json.dumps(body), status)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (429, {"error": {"message": "This violates our usage limits of content policy"}}),
        (400, {"error": {"message": "Unknown field: content"}}),
        (400, {"error": {"message": "Invalid prompt: expected a text"}}),
        (403, {"error": {"message": "Bedrock guardrail request failed: no permission"}}),
        (422, {"detail": [{"loc": ["body"], "msg": "wrong", "input": "unsafe content"}]}),
        (400, {"error": {"hate": {"filtered": False}}}),
    ],
    ids=str,
)
def test_other_error_is_no_filter(status, body):
    assert not is_filtered(json.dumps(body), status)


@pytest.mark.parametrize(
    ("form", "body"),
    [
        (chat, chat(None, "SAFETY")),
        (chat, chat("The b", "content_filter")),
        (chat, {"choices": None, "promptFeedback": {"blockReason": "SAFETY"}}),
        (chat, {"error": {"code": "content_filter", "message": "no"}}),
        (
            response,
            response([], "incomplete", incomplete_details={"reason": "content_filter"}),
        ),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_filter_in_place_of_an_answer_is_a_filter(form, body):
    with pytest.raises(FilteredError):
        read(form, body)


# In a run


@CLIENTS
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"choices": [{"message": {"cont', "JSON"),
        ("<html><title>Log in</title></html>", "Log in"),
        ('{"error": {"code": 429, "message": "Rate limit reached"}}', "Rate limit reached"),
        ("[]", "another form"),
    ],
)
def test_failed_request_is_not_kept_and_asked_again(client, body, told, faulty_server, store):
    spec = toy(client, faulty_server.url, max_concurrency=1)
    faulty_server.script = [Act(body=body)]
    failed, other = answers(questions(2), spec, store)
    assert failed.reply is None
    assert told in failed.error
    with Store(store) as kept:
        assert kept.replies([failed.request_key, other.request_key]) == {
            other.request_key: other.reply
        }
    [again, _] = answers(questions(2), spec, store)
    assert again.reply.text == good_answer("Question 0?")
    assert len(faulty_server.asked) == 3


@CLIENTS
def test_what_the_server_says_of_an_error_is_shown(client, faulty_server, store):
    faulty_server.default = Act(status=400, body='{"detail": "Stream must be set to true"}')
    [failed] = answers(questions(1), toy(client, faulty_server.url), store)
    assert "Error code: 400" in failed.error
    assert "Stream must be set to true" in failed.error


@pytest.mark.parametrize(
    ("client", "act"),
    [
        ("openai", Act(text="The b", finish="content_filter")),
        ("openai", Act(status=400, body=json.dumps(FILTERED["Azure"][1]))),
        ("anthropic", Act(status=400, body=json.dumps(FILTERED["Anthropic"][1]))),
    ],
    ids=["reason", "Azure", "Anthropic"],
)
def test_filtered_answers_are_paid_asked_again_and_do_not_end_a_run(
    client, act, faulty_server, store
):
    price = {"input": 1000, "output": 1000}  # 0.018 US$ an answer
    spec = toy(client, faulty_server.url, price=price, max_concurrency=1)
    faulty_server.default = act
    responses = answers(questions(4), spec, store, give_up_after=2)
    for filtered in responses:
        assert filtered.filtered
        assert filtered.reply is None
        assert filtered.error.startswith("FilteredError: by the vendor's content filter")
    assert len(faulty_server.asked) == 4  # nor is one tried again at once
    with Store(store) as kept:
        spent = sum(kept.spending()[:2])
    assert spent > 0
    with pytest.raises(InputError, match="max_cost_usd"):
        answers(questions(9), spec, store, max_cost_usd=spent + 0.06)
    assert 0 < len(faulty_server.asked) - 4 <= 4


def test_text_that_ended_for_no_known_reason_is_booked(faulty_server, store):
    faulty_server.script = [Act(body=json.dumps(chat("The b", "error")))]
    price = {"input": 0, "output": 1_000_000}
    answers([question("Who?")], toy("openai", faulty_server.url, price=price), store)
    with Store(store) as kept:
        assert kept.spending().answers == COMPLETION_TOKENS
