"""All kinds of models by declared options: what is sent, and what one real model says by each."""

import asyncio
import re

import pytest
import yaml

from faulty_server import Act, FaultyServer
from tomlab.asking.evaluation import evaluate, plan
from tomlab.benchmarks import bigtom
from tomlab.errors import InputError
from tomlab.models.embedded import SMOLLM2, gguf_path
from tomlab.models.providers import provider
from tomlab.models.specs import Limits, model_spec
from tomlab.models.store import request_key
from tomlab.paths import DATA, ROOT
from toy_models import CLIENTS, answers, question, toy

RESPONSES = {"endpoint": "responses"}
KINDS = pytest.mark.parametrize(
    ("client", "options"),
    [("openai", {}), ("openai", RESPONSES), ("anthropic", {})],
    ids=["chat", "responses", "anthropic"],
)
SYSTEM = "Answer with one letter."
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}}
FORM = {"name": "answer", "schema": SCHEMA, "strict": True}
JSON_SCHEMA = {"type": "json_schema", "schema": SCHEMA}
THINKING = {"type": "enabled", "budget_tokens": 100}
USER = {"role": "user", "content": "Who?"}


@KINDS
def test_one_real_model_says_the_same_by_each_protocol(client, options, embedded_server, store):
    spec = toy(client, embedded_server, model=gguf_path(SMOLLM2).stem, **options)
    chat = toy("openai", embedded_server, model=gguf_path(SMOLLM2).stem)
    item = question("What is the capital of France?", system="You are brief.", max_tokens=12)
    [response] = answers([item], spec, store)
    [by_chat] = answers([item], chat, store)
    assert response.reply.text.strip()
    assert response.reply.text == by_chat.reply.text
    assert response.reply.prompt_tokens == by_chat.reply.prompt_tokens > 20
    assert 0 < response.reply.completion_tokens <= 12


@CLIENTS  # at its endpoint `responses` this server says `completed` of it
def test_real_answer_that_was_cut_off_says_so(client, embedded_server, store):
    spec = toy(client, embedded_server, model=gguf_path(SMOLLM2).stem)
    [response] = answers([question("Tell me a long story.", max_tokens=3)], spec, store)
    assert response.reply.finish_reason == "length"


# What is sent


def system(role: str) -> list[dict]:
    return [{"role": role, "content": SYSTEM}, USER]


JOINED = {"role": "user", "content": f"{SYSTEM}\n\nWho?"}
THINKS = {"temperature": None, "thinking_tokens": 100, "extra_body": {"top_k": 5}}
BODIES = {
    "chat": (
        "openai",
        {},
        {
            "messages": system("system"),
            "max_tokens": 10,
            "temperature": 0.0,
            "response_format": {"type": "json_schema", "json_schema": FORM},
        },
    ),
    "chat that thinks": (
        "openai",
        {
            **THINKS,
            "max_tokens_field": "max_completion_tokens",
            "system_role": "developer",
            "reasoning_effort": "low",
        },
        {
            "messages": system("developer"),
            "max_completion_tokens": 110,
            "reasoning_effort": "low",
            "response_format": {"type": "json_schema", "json_schema": FORM},
            "top_k": 5,
        },
    ),
    "chat without a system role": (
        "openai",
        {"system_role": "joined", "temperature": 0.7},
        {
            "messages": [JOINED],
            "max_tokens": 10,
            "temperature": 0.7,
            "response_format": {"type": "json_schema", "json_schema": FORM},
        },
    ),
    "responses": (
        "openai",
        {**RESPONSES, **THINKS, "reasoning_effort": "low"},
        {
            "instructions": SYSTEM,
            "input": [USER],
            "max_output_tokens": 110,
            "reasoning": {"effort": "low"},
            "text": {"format": {"type": "json_schema", **FORM}},
            "store": False,
            "top_k": 5,
        },
    ),
    "responses without a system role": (
        "openai",
        {**RESPONSES, "system_role": "user"},
        {
            "input": system("user"),
            "max_output_tokens": 10,
            "temperature": 0.0,
            "text": {"format": {"type": "json_schema", **FORM}},
            "store": False,
        },
    ),
    "anthropic": (
        "anthropic",
        {},
        {
            "system": SYSTEM,
            "messages": [USER],
            "max_tokens": 10,
            "temperature": 0.0,
            "output_config": {"format": JSON_SCHEMA},
        },
    ),
    "anthropic that thinks": (
        "anthropic",
        {**THINKS, "thinking": THINKING, "reasoning_effort": "low"},
        {
            "system": SYSTEM,
            "messages": [USER],
            "max_tokens": 110,
            "thinking": THINKING,
            "output_config": {"effort": "low", "format": JSON_SCHEMA},
            "top_k": 5,
        },
    ),
}


@pytest.mark.parametrize(("client", "options", "body"), BODIES.values(), ids=BODIES)
def test_body_is_what_the_entry_declares(client, options, body, faulty_server, store):
    spec = toy(client, faulty_server.url, **options)
    [response] = answers([question("Who?", system=SYSTEM, schema=SCHEMA)], spec, store)
    [asked] = faulty_server.asked
    assert asked.body == {"model": "toy", **body}
    assert asked.path.endswith(provider(spec).path)
    assert response.reply.text.startswith("You asked:")


def test_request_without_a_limit_is_sent_without_the_field():
    adapter = provider(toy("openai", "http://localhost:1", thinking_tokens=100))
    assert "max_tokens" not in adapter.wire(question("Who?", max_tokens=None))


@pytest.mark.parametrize("kind", ["anthropic", "embedded"])
def test_protocol_that_demands_a_limit_says_so(kind):
    adapter = provider(model_spec("toy", {"toy": {"provider": kind, "model": SMOLLM2}}))
    with pytest.raises(InputError, match=f"models.toy: found no limit .* {kind} demands"):
        adapter.payload(question("Who?", max_tokens=None))


def test_long_prefix_is_a_block_that_the_vendor_may_keep():
    prefix = "A long conversation. " * 250
    adapter = provider(toy("anthropic", "http://localhost:1"))
    [message] = adapter.wire(question(f"{prefix}Who?", shared_prefix=prefix))["messages"]
    assert message["content"] == [
        {"type": "text", "text": prefix, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Who?"},
    ]
    short = adapter.wire(question("Short. Who?", shared_prefix="Short. "))
    assert short["messages"] == [{"role": "user", "content": "Short. Who?"}]


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


# In an evaluation


def test_filtered_answers_are_refused_in_the_scores_and_let_a_run_end(
    faulty_server: FaultyServer, store
):
    items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv").head(8)
    spec = toy("openai", faulty_server.url, max_concurrency=1)
    faulty_server.script = [Act(finish="content_filter"), Act(text="Answer: a)")]
    asked = plan(bigtom, items, spec, ["0-shot"])[:4]
    limits = Limits(max_error_share=0)
    responses = asyncio.run(evaluate(bigtom, asked, spec, store=store, limits=limits))
    [row] = responses[responses["error"].notna()].to_dict("records")
    assert row["finish_reason"] == "filtered"
    assert "content filter" in row["error"]
    scores = bigtom.score(items, responses)
    [scored] = scores[scores["item_id"] == row["item_id"]].to_dict("records")
    assert (scored["outcome"], scored["score"]) == ("refused", 0)
