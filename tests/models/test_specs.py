"""A registry entry that can't be meant says which option is at fault and what was found."""

import pytest

from tomlab.errors import InputError
from tomlab.models.specs import model_spec

GPT = {"provider": "openai", "model": "gpt-x"}
WEIGHED = {**GPT, "ask_by": "likelihood"}


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({**GPT, "tempreture": 0.5}, "did you mean 'temperature'"),
        ({**GPT, "temperature": "warm"}, "temperature.*found 'warm'"),
        ({**GPT, "max_concurrency": 0}, "max_concurrency.*found 0"),
        ({**GPT, "system_role": "boss"}, "system_role.*found 'boss'"),
        ({**GPT, "base_url": "localhost:8000/v1"}, "base_url.*found 'localhost:8000/v1'"),
        ({**GPT, "base_url": "https://me:secret@host/v1"}, "no key or password"),
        ({**GPT, "api_key_env": "sk-proj-x"}, "the name of an environment variable"),
        ({**GPT, "extra_body": "top_k"}, "extra_body.*found 'top_k'"),
        ({**GPT, "groups": {"bigtom": {"0-shot": -1}}}, "groups.*found -1"),
        ({**GPT, "groups": {"bigtim": {"0-shot": 1}}}, "groups.bigtim"),
        ({**GPT, "batch": "yes"}, "batch"),
        ({**GPT, "batch": {"poll": 0}}, "batch.poll"),
        ({**GPT, "batch": {"wait": 3}}, "wait: no such option"),
        ({**WEIGHED, "batch": True}, "batch"),
        ({**WEIGHED, "endpoint": "responses"}, "endpoint"),
        ({"provider": "anthropic", "model": "m", "ask_by": "likelihood"}, "ask_by"),
        ({"provider": "embedded", "model": "m", "ask_by": []}, "ask_by"),
        ({"provider": "mistral", "model": "x"}, "'mistral' as 'provider'.*'embedded', 'sentence-"),
        ("gpt-x", "models.mine is 'gpt-x', expected options"),
    ],
)
def test_bad_entry_is_told_with_what_was_found(entry, told):
    with pytest.raises(InputError, match=rf"(?s)params.yaml: .*models.mine.*{told}|{told}"):
        model_spec("mine", {"mine": entry})


def test_unknown_model_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"no model 'gtp-x'.*there are: gpt-x, smol"):
        model_spec("gtp-x", {"smol": GPT, "gpt-x": GPT})


KEY = "sk-proj-Zq8vT4mW1nXc7bLs"


@pytest.mark.parametrize(
    "wrong",
    [
        {**GPT, "api_key_env": KEY},
        {**GPT, "secret": KEY},
        {**GPT, "base_url": f"https://me:{KEY}@host/v1"},
        {**GPT, "temperature": KEY},
        {**GPT, "provider": KEY},
        KEY,
    ],
    ids=str,
)
def test_key_in_a_wrong_place_is_refused_and_not_shown(wrong):
    with pytest.raises(InputError) as caught:
        model_spec("mine", {"mine": wrong})
    assert "Zq8v" not in str(caught.value)
    assert caught.value.__context__ is None
