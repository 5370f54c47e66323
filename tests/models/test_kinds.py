"""All kinds of models by declared options: what is sent, what is read, what was filtered."""

import asyncio
import json
import re

import pytest
import yaml

from faulty_server import COMPLETION_TOKENS, PROMPT_TOKENS, Act, FaultyServer, good_answer
from tomlab.asking.evaluation import evaluate, plan
from tomlab.benchmarks import bigtom
from tomlab.errors import InputError
from tomlab.models.embedded import SMOLLM2, gguf_path
from tomlab.models.providers import provider
from tomlab.models.specs import Limits, ModelSpec, Reply, model_spec
from tomlab.models.store import Store, request_key
from tomlab.paths import DATA, ROOT
from toy_models import CLIENTS, answers, question, questions, toy

RESPONSES = {"endpoint": "responses"}
KINDS = pytest.mark.parametrize(
    ("client", "options"),
    [("openai", {}), ("openai", RESPONSES), ("anthropic", {})],
    ids=["chat", "responses", "anthropic"],
)
SYSTEM = "Answer with one letter."
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}}
AZURE = {
    "error": {
        "message": "The response was filtered due to the prompt triggering Azure OpenAI's content "
        "management policy.",
        "type": None,
        "param": "prompt",
        "code": "content_filter",
        "status": 400,
        "innererror": {"code": "ResponsibleAIPolicyViolation"},
    }
}
ANTHROPIC = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "Output blocked by content filtering policy",
    },
}
# What a vendor's filter looks like, by provider and endpoint.
FILTERS = pytest.mark.parametrize(
    ("client", "options", "act"),
    [
        ("openai", {}, Act(text="The b", finish="content_filter")),
        ("openai", RESPONSES, Act(text="The b", finish="content_filter")),
        ("openai", {}, Act(status=400, body=json.dumps(AZURE))),
        ("openai", RESPONSES, Act(status=400, body=json.dumps(AZURE))),
        ("anthropic", {}, Act(status=400, body=json.dumps(ANTHROPIC))),
    ],
    ids=["chat", "responses", "Azure chat", "Azure responses", "Anthropic"],
)


def one(server: FaultyServer, spec: ModelSpec, **fields) -> Reply:
    """What the adapter reads of one answer."""

    async def ask() -> Reply:
        adapter = provider(spec)
        await adapter.check()
        try:
            return await adapter.send(question("Who?", **fields))
        finally:
            await adapter.close()

    return asyncio.run(ask())


# A real model


@KINDS
def test_one_real_model_says_the_same_by_each_protocol(client, options, embedded_server, store):
    spec = toy(client, embedded_server, model=gguf_path(SMOLLM2).stem, **options)
    chat = toy("openai", embedded_server, model=gguf_path(SMOLLM2).stem)
    item = question("What is the capital of France?", system="You are brief.", max_tokens=12)
    [said], [other] = answers([item], spec, store), answers([item], chat, store)
    assert said.reply.text.strip() and said.reply.text == other.reply.text
    assert said.reply.prompt_tokens == other.reply.prompt_tokens > 20
    assert 0 < said.reply.completion_tokens <= 12


@CLIENTS  # at its endpoint `responses` this server says `completed` of it
def test_real_answer_that_was_cut_off_says_so(client, embedded_server, store):
    spec = toy(client, embedded_server, model=gguf_path(SMOLLM2).stem)
    [said] = answers([question("Tell me a long story.", max_tokens=3)], spec, store)
    assert said.reply.finish_reason == "length"


# What is sent


def test_entries_of_the_page_are_good_ones():
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/models.md").read_text(), re.DOTALL)
    entries = {name: entry for block in blocks for name, entry in yaml.safe_load(block).items()}
    kinds = {model_spec(name, entries).provider for name in entries}
    assert kinds == {"openai", "anthropic", "embedded", "baseline"}


def test_keys_of_entries_without_the_newer_options_are_what_they_were():
    asked = question("Who?", system="S", schema={"type": "object"})
    thinks = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "thinking_tokens": 1024}
    o3 = {"temperature": None, "max_tokens_field": "max_completion_tokens"}
    o3 |= {"thinking_tokens": 8000, "reasoning_effort": "medium", "system_role": "developer"}
    entries = {
        "c60572d7": {"provider": "openai", "model": "toy"},
        "66346d42": {"provider": "openai", "model": "o3", **o3, "extra_body": {"top_k": 1}},
        "3101df96": {"provider": "anthropic", "model": "toy", **thinks},
        "d4bdd883": {"provider": "anthropic", "model": "toy"},
    }
    for key, entry in entries.items():
        spec = model_spec("toy", {"toy": entry})
        whole = {"provider": spec.provider, **provider(spec).payload(asked)}
        assert request_key(whole).startswith(key)


def test_responses_are_asked_in_their_own_words(faulty_server, store):
    options = {**RESPONSES, "reasoning_effort": "low", "thinking_tokens": 500}
    options["extra_body"] = {"service_tier": "flex"}
    spec = toy("openai", faulty_server.url, **options)
    [response] = answers([question("Who?", system=SYSTEM, schema=SCHEMA)], spec, store)
    [asked] = faulty_server.asked
    assert asked.path == "/v1/responses"
    form = {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}
    assert asked.body == {
        "model": "toy",
        "instructions": SYSTEM,
        "input": [{"role": "user", "content": "Who?"}],
        "max_output_tokens": 510,
        "temperature": 0.0,
        "reasoning": {"effort": "low"},
        "text": {"format": form},
        "store": False,
        "service_tier": "flex",
    }
    assert response.reply == Reply(good_answer("Who?"), "stop", PROMPT_TOKENS, COMPLETION_TOKENS)


@pytest.mark.parametrize("options", [{}, RESPONSES], ids=["chat", "responses"])
@pytest.mark.parametrize(
    ("role", "sent"),
    [
        ("developer", [("developer", SYSTEM), ("user", "Who?")]),
        ("user", [("user", SYSTEM), ("user", "Who?")]),
        ("joined", [("user", f"{SYSTEM}\n\nWho?")]),
    ],
)
def test_model_without_a_system_role(role, sent, options, faulty_server, store):
    spec = toy("openai", faulty_server.url, system_role=role, **options)
    answers([question("Who?", system=SYSTEM)], spec, store)
    [asked] = faulty_server.asked
    messages = asked.body.get("messages", asked.body.get("input"))
    assert [(m["role"], m["content"]) for m in messages] == sent


def test_effort_of_anthropic_stands_beside_the_schema(faulty_server, store):
    spec = toy("anthropic", faulty_server.url, reasoning_effort="low")
    answers([question("Who?"), question("Who else?", schema=SCHEMA)], spec, store)
    sent = [asked.body["output_config"] for asked in faulty_server.asked]
    assert {"effort": "low"} in sent
    assert {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}} in sent


def test_deployment_that_no_list_names(faulty_server, store):
    faulty_server.models = ["gpt-4o"]
    with pytest.raises(InputError, match="no model 'toy'"):
        answers([question("Who?")], toy("openai", faulty_server.url), store)
    faulty_server.headers.clear()
    answers([question("Who?")], toy("openai", faulty_server.url, listed=False), store)
    assert len(faulty_server.headers) == len(faulty_server.asked) == 1


# What is read


@KINDS
def test_thinking_is_no_part_of_the_answer(client, options, faulty_server, store):
    faulty_server.script = [Act(thinking="Mara did not see it …", text="a)")]
    [response] = answers([question("Who?")], toy(client, faulty_server.url, **options), store)
    assert response.reply.text == "a)"


@KINDS
def test_tokens_of_a_vendors_cache_are_told(client, options, faulty_server):
    faulty_server.script = [Act(cached=8)]
    reply = one(faulty_server, toy(client, faulty_server.url, **options))
    assert (reply.prompt_tokens, reply.cached_tokens, reply.written_tokens) == (PROMPT_TOKENS, 8, 0)


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"cache_creation_input_tokens": 5, "cache_read_input_tokens": 3}, (19, 3, 5)),
        ({"cache_creation_input_tokens": None, "cache_read_input_tokens": "?"}, (11, 0, 0)),
    ],
)
def test_tokens_written_to_anthropics_cache(usage, told, faulty_server):
    content = [{"type": "text", "text": "a)"}]
    usage = {"input_tokens": 11, "output_tokens": 7, **usage}
    body = {"content": content, "stop_reason": "end_turn", "usage": usage}
    faulty_server.script = [Act(body=json.dumps(body))]
    reply = one(faulty_server, toy("anthropic", faulty_server.url))
    assert (reply.prompt_tokens, reply.cached_tokens, reply.written_tokens) == told


def test_refusal_of_the_model_is_its_answer(faulty_server, store):
    content = [{"type": "refusal", "refusal": "I won't."}]
    output = [{"type": "message", "role": "assistant", "content": content}]
    faulty_server.script = [Act(body=json.dumps({"status": "completed", "output": output}))]
    [response] = answers([question("Who?")], toy("openai", faulty_server.url, **RESPONSES), store)
    assert response.reply == Reply("I won't.", "refusal")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"status": "failed", "output": [], "error": {"code": "server_error"}}, "server_error"),
        ({"status": "incomplete", "output": []}, "is not in the reply"),
        ([], "is not in the reply"),
    ],
)
def test_response_that_is_none(body, said, faulty_server, store):
    faulty_server.script = [Act(body=json.dumps(body))]
    [response] = answers([question("Who?")], toy("openai", faulty_server.url, **RESPONSES), store)
    assert response.reply is None
    assert said in response.error


# Filtered answers


@FILTERS
def test_filtered_answer_is_told_apart_and_asked_again(client, options, act, faulty_server, store):
    spec = toy(client, faulty_server.url, **options)
    faulty_server.script = [act]
    [filtered] = answers([question("Who?")], spec, store)
    assert filtered.reply is None
    assert filtered.filtered
    assert filtered.error.startswith("FilteredError: by the vendor's content filter")
    with Store(store) as kept:
        assert kept.replies([filtered.request_key]) == {}
    [response] = answers([question("Who?")], spec, store)
    assert response.reply.text == good_answer("Who?")
    assert not response.filtered
    assert len(faulty_server.asked) == 2  # nor is it tried again at once


@FILTERS
def test_filtered_answers_are_paid_and_do_not_end_a_run(client, options, act, faulty_server, store):
    price = {"input": 1000, "output": 1000}  # 0.018 US$ an answer
    faulty_server.default = act
    spec = toy(client, faulty_server.url, price=price, max_concurrency=1, **options)
    responses = answers(questions(4), spec, store, give_up_after=2)
    assert all(response.filtered for response in responses)
    faulty_server.asked.clear()
    with Store(store) as kept:
        spent = sum(kept.spending()[:2])
    assert spent > 0
    with pytest.raises(InputError, match="max_cost_usd"):
        answers(questions(9), spec, store, max_cost_usd=spent + 0.06)
    assert 0 < len(faulty_server.asked) <= 4


def test_filtered_answers_are_refused_in_the_scores_and_let_a_run_end(faulty_server, tmp_path):
    items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv").head(8)
    spec = toy("openai", faulty_server.url, max_concurrency=1)
    faulty_server.script = [Act(finish="content_filter"), Act(text="Answer: a)")]
    put = plan(bigtom, items, spec, ["0-shot"])[:4]
    limits = Limits(max_error_share=0)
    asked = evaluate(bigtom, put, spec, store=tmp_path / "s.sqlite", limits=limits)
    responses = asyncio.run(asked)
    [row] = responses[responses["error"].notna()].to_dict("records")
    assert row["finish_reason"] == "filtered"
    assert "content filter" in row["error"]
    scores = bigtom.score(items, responses)
    [scored] = scores[scores["item_id"] == row["item_id"]].to_dict("records")
    assert (scored["outcome"], scored["score"]) == ("refused", 0)
