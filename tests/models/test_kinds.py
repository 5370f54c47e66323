"""All kinds of models by declared options: what is sent, and what one real model says by each."""

import asyncio
import re

import pytest
import yaml

from faulty_server import Act
from tomlab.asking.evaluation import evaluate, plan
from tomlab.benchmarks import bigtom
from tomlab.errors import InputError
from tomlab.models.embedded import SMOLLM2, gguf_path
from tomlab.models.providers import provider
from tomlab.models.specs import Limits, model_spec
from tomlab.models.store import request_key
from tomlab.paths import DATA, ROOT
from toy_models import answers, question, texts, toy

RESPONSES = {"endpoint": "responses"}
SYSTEM = "Answer with one letter."
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}}
FORM = {"name": "answer", "schema": SCHEMA, "strict": True}
JSON_SCHEMA = {"type": "json_schema", "schema": SCHEMA}
THINKING = {"type": "enabled", "budget_tokens": 100}
USER = {"role": "user", "content": "Who?"}


def test_one_real_model_says_the_same_by_each_protocol(embedded_server, store):
    requests = [question("What is the capital of France?", system="Be brief.", max_tokens=12)]
    model = gguf_path(SMOLLM2).stem
    replies = []
    for client, options in [("openai", {}), ("openai", RESPONSES), ("anthropic", {})]:
        spec = toy(client, embedded_server, model=model, **options)
        [response] = answers(requests, spec, store)
        replies.append(response.reply)
    chat, responses, anthropic = replies
    assert chat == responses == anthropic
    assert chat.text.strip()
    assert chat.prompt_tokens > 20
    assert 0 < chat.completion_tokens <= 12


# What is sent


def system(role: str) -> list[dict]:
    return [{"role": role, "content": SYSTEM}, USER]


CHAT_FORM = {"response_format": {"type": "json_schema", "json_schema": FORM}}
THINKS = {"temperature": None, "thinking_tokens": 100, "reasoning_effort": "low"}
THINKS["extra_body"] = {"top_k": 5}
COMPLETION = {"max_tokens_field": "max_completion_tokens", "system_role": "developer"}
BODIES = {
    "chat that thinks": (
        "openai",
        THINKS | COMPLETION,
        {
            "messages": system("developer"),
            "max_completion_tokens": 110,
            "reasoning_effort": "low",
            "top_k": 5,
            **CHAT_FORM,
        },
    ),
    "chat without a system role": (
        "openai",
        {"system_role": "joined", "temperature": 0.7},
        {
            "messages": [{"role": "user", "content": f"{SYSTEM}\n\nWho?"}],
            "max_tokens": 10,
            "temperature": 0.7,
            **CHAT_FORM,
        },
    ),
    "responses": (
        "openai",
        RESPONSES | THINKS,
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
    "anthropic": (
        "anthropic",
        {**THINKS, "thinking": THINKING},
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
def test_body_is_what_the_entry_declares(client, options, body, faulty_server, ask):
    [response] = ask([question("Who?", system=SYSTEM, schema=SCHEMA)], client, **options)
    [asked] = faulty_server.asked
    assert asked.body == {"model": "toy", **body}
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
    adapter = provider(toy("anthropic", "http://localhost:1"))

    def content(prefix: str) -> list | str:
        [message] = adapter.wire(question(f"{prefix}Who?", shared_prefix=prefix))["messages"]
        return message["content"]

    prefix = "A long conversation. " * 250
    assert content(prefix) == [
        {"type": "text", "text": prefix, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "Who?"},
    ]
    assert content("Short. ") == "Short. Who?"


def test_baseline_says_what_its_benchmark_prepared(store):
    spec = model_spec("gold", {"gold": {"provider": "baseline", "model": "gold"}})
    requests = [question("Who?", reference={"gold": name}) for name in ("Mara", "Noor")]
    assert texts(answers(requests, spec, store)) == ["Mara", "Noor"]
    with pytest.raises(InputError, match="prepares no 'gold' answers"):
        answers([question("Who?")], spec, store)


def test_entries_of_the_page_are_good_ones():
    blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs/models.md").read_text(), re.DOTALL)
    entries = {name: entry for block in blocks for name, entry in yaml.safe_load(block).items()}
    kinds = {model_spec(name, entries).provider for name in entries}
    assert kinds == {"openai", "anthropic", "embedded", "baseline"}


def test_key_of_an_entry_is_what_it_was():
    thinks = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "thinking_tokens": 1024}
    entry = {"provider": "anthropic", "model": "toy", **thinks}
    adapter = provider(model_spec("toy", {"toy": entry}))
    payload = adapter.payload(question("Who?", system="S", schema={"type": "object"}))
    assert request_key(payload).startswith("3101df96")


# In an evaluation


def test_filtered_answer_is_refused_in_the_scores_and_lets_a_run_end(faulty_server, store):
    items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv").head(2)
    spec = toy("openai", faulty_server.url, max_concurrency=1)
    faulty_server.script = [Act(finish="content_filter"), Act(text="Answer: a)")]
    asked = plan(bigtom, items, spec, ["0-shot"])[:2]
    limits = Limits(max_error_share=0)
    responses = asyncio.run(evaluate(bigtom, asked, spec, store=store, limits=limits))
    filtered = responses["finish_reason"] == "filtered"
    assert filtered.sum() == 1
    assert responses.loc[filtered, "error"].str.contains("content filter").all()
    item_id = responses.loc[filtered, "item_id"].item()
    scores = bigtom.score(items, responses).set_index("item_id")
    assert scores.loc[item_id, ["outcome", "score"]].tolist() == ["refused", 0]
