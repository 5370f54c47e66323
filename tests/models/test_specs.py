"""A registry entry that can't be meant says which option is at fault and what was found."""

import traceback

import pytest

from tomlab.errors import InputError
from tomlab.models.specs import model_spec

GPT = {"provider": "openai", "model": "gpt-x"}


def complaint(entry: object) -> str:
    with pytest.raises(InputError) as caught:
        model_spec("mine", {"mine": entry})
    return str(caught.value)


def test_unknown_model_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"no model 'gtp-x'.*there are: gpt-x, smol"):
        model_spec("gtp-x", {"smol": GPT, "gpt-x": GPT})


@pytest.mark.parametrize(
    ("option", "value", "found"),
    [
        ("tempreture", 0.5, "did you mean 'temperature'"),
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


def test_unknown_provider_is_named_with_those_there_are():
    said = complaint({"provider": "mistral", "model": "x"})
    for word in ("provider", "'mistral'", "'embedded'", "'openai'", "'anthropic'", "'baseline'"):
        assert word in said


def test_entry_that_is_no_mapping_says_what_it_is():
    assert "models.mine is 'gpt-x', expected options" in complaint("gpt-x")


KEY = "sk-proj-Zq8vT4mW1nXc7bLs"


@pytest.mark.parametrize(
    "wrong",
    [
        {**GPT, "api_key_env": KEY},
        {**GPT, "api_key_env": "AKIAZQ8VT4MW1NXC7BLS"},
        {**GPT, "secret": KEY},
        {**GPT, "base_url": KEY},
        {**GPT, "base_url": f"https://me:{KEY}@host/v1"},
        {**GPT, "base_url": f"https://host/v1/{KEY}"},
        {**GPT, "extra_body": {"headers": {"Authorization": f"Bearer {KEY}"}}},
        {**GPT, "extra_body": KEY},
        {**GPT, "temperature": KEY},
        {**GPT, "provider": KEY},
        KEY,
    ],
    ids=str,
)
def test_key_in_a_wrong_place_is_refused_and_not_shown(wrong):
    with pytest.raises(InputError) as caught:
        model_spec("mine", {"mine": wrong})
    shown = "".join(traceback.format_exception(caught.value))
    told = shown.rsplit("InputError: ", 1)[1]
    assert "Zq8v" not in told
    assert "ZQ8V" not in told
    assert caught.value.__context__ is None


def test_key_in_the_body_under_an_innocent_name_is_the_users_own_matter():
    body = {"prompt_cache_key": "tomlab", "max_tokens": 3}
    assert model_spec("mine", {"mine": {**GPT, "extra_body": body}}).extra_body == body
