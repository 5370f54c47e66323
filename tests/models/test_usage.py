"""What an answer costs by its vendor's counts, wherever they stand."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty_server import Act
from tomlab.errors import InputError
from tomlab.models.replies import from_json
from tomlab.models.store import Store
from tomlab.models.usage import Usage, usage_of
from tomlab.pipeline import answers as pipeline
from toy_models import answers, question, questions, toy

THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 403}}
PLAIN = {"prompt_tokens": 100, "completion_tokens": 10}
# By vendor: what it says, and the tokens of prompt, answer and cache.
VENDORS = {
    "OpenAI": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 413,
            "total_tokens": 513,
            **THOUGHT,
            "prompt_tokens_details": {"cached_tokens": 64},
        },
        Usage(100, 413, 64),
    ),
    "xAI": ({**PLAIN, "total_tokens": 513, **THOUGHT}, Usage(100, 413)),
    "xAI without a total": ({**PLAIN, **THOUGHT}, Usage(100, 413)),
    "Gemini": (
        {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623},
        Usage(20, 603),
    ),
    "DeepSeek": ({**PLAIN, "prompt_cache_hit_tokens": 64}, Usage(100, 10, 64)),
    "Moonshot": ({**PLAIN, "cached_tokens": 64}, Usage(100, 10, 64)),
    "OpenRouter": (
        {**PLAIN, "prompt_tokens_details": {"cache_write_tokens": 64}},
        Usage(100, 10, 0, 64),
    ),
    "proxy to Anthropic": (
        {"prompt_tokens": 5, "completion_tokens": 10, "cache_read_input_tokens": 64},
        Usage(69, 10, 64),
    ),
    "no answer's count": ({"prompt_tokens": 100, "total_tokens": 110}, Usage(100, 10)),
    "no prompt's count": ({"completion_tokens": 10, "total_tokens": 110}, Usage(100, 10)),
    "as fractions": ({"prompt_tokens": 100.0, "completion_tokens": 10.0}, Usage(100, 10)),
    "half": ({"completion_tokens": 10, "cached_tokens": 5}, Usage(0, 10)),
    "other half": ({"prompt_tokens": 100}, Usage(100, 0)),
    "text": ({"prompt_tokens": "many", "completion_tokens": [2]}, Usage()),
    "nothing": (None, Usage()),
}


@pytest.mark.parametrize(("counts", "usage"), VENDORS.values(), ids=VENDORS)
def test_tokens_are_found_wherever_the_vendor_counts_them(counts, usage):
    assert usage_of(from_json(json.dumps(counts))) == usage


def test_anthropics_cache_stands_beside_the_prompt():
    counts = {"input_tokens": 11, "output_tokens": 7}
    counts |= {"cache_read_input_tokens": 3, "cache_creation_input_tokens": 5}
    counted = from_json(json.dumps(counts))
    assert usage_of(counted, cache_beside=True) == Usage(19, 7, 3, 5)


NAMES = ["prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "cached_tokens"]
ODD = st.integers(-5, 2**70) | st.none() | st.text(max_size=3) | st.floats()


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(NAMES), ODD))
def test_no_count_is_less_than_what_the_vendor_says(counts):
    usage = usage_of(from_json(json.dumps(counts)))
    completion = counts.get("completion_tokens")
    if type(completion) is int and 0 <= completion < 2**31:
        assert completion <= usage.completion
    assert 0 <= usage.cached <= usage.prompt


# What is booked: two dollars for a token of a prompt, three for one of an answer


PRICE = {"input": 2_000_000, "output": 3_000_000}
WORST = 10 * 2 + 10 * 3  # ten tokens of prompt, by an estimate, and ten of an answer
BOOKED = {
    "thinking beside": ({**PLAIN, **THOUGHT}, 100 * 2 + 413 * 3),
    "no prompt": ({"completion_tokens": 7}, WORST),
    "no answer": ({"prompt_tokens": 12}, WORST),
    "zero for the answer": ({"prompt_tokens": 12, "completion_tokens": 0}, WORST),
    "no answer, long prompt": ({"prompt_tokens": 500}, 1000),
    "no count": (None, WORST),
}


def reply(usage) -> Act:
    choice = {"message": {"role": "assistant", "content": "b"}, "finish_reason": "stop"}
    return Act(body=json.dumps({"choices": [choice], "usage": usage}))


@pytest.mark.parametrize(("usage", "cost"), BOOKED.values(), ids=BOOKED)
def test_what_is_booked_is_what_was_counted_or_reserved(usage, cost, faulty_server, store):
    faulty_server.script = [reply(usage)]
    spec = toy("openai", faulty_server.url, price=PRICE)
    [response] = answers([question("x" * 30)], spec, store)
    assert response.reply.text == "b"
    with Store(store) as kept:
        assert kept.spending().answers == pytest.approx(cost)


def test_limit_holds_where_thinking_stands_beside_the_answer(faulty_server, store):
    faulty_server.default = reply({**PLAIN, **THOUGHT})
    spec = toy("openai", faulty_server.url, price=PRICE, max_concurrency=1)
    with pytest.raises(InputError, match=r"max_cost_usd"):
        answers(questions(9), spec, store, max_cost_usd=3000)
    assert len(faulty_server.asked) == 3  # $1,439 each; a third was admitted below the limit


# The account


def test_account_is_shown_and_corrected(faulty_server, store, monkeypatch, capsys):
    faulty_server.script = [reply({"prompt_tokens": 12, "completion_tokens": 7})]
    answers([question("x" * 30)], toy("openai", faulty_server.url, price=PRICE), store)
    with Store(store) as kept:
        kept.reserve({"k": 5.0}, "toy", limit=None)  # and lost, as nobody waits for it
    monkeypatch.setattr(pipeline, "RESPONSE_STORE", store)
    assert pipeline.main(["account"]) == 0
    said = capsys.readouterr().out
    assert "$45.0000 count as spent, $5.0000 may have been paid" in said
    assert pipeline.main(["account", "--spent", "3.5"]) == 0
    with Store(store) as kept:
        assert kept.spending() == (3.5, 0, 0)


def test_account_of_no_dollars_or_without_a_store_is_refused(store, monkeypatch, capsys):
    monkeypatch.setattr(pipeline, "RESPONSE_STORE", store)
    assert pipeline.main(["account"]) == 1
    assert "found no response store" in capsys.readouterr().err
    assert not store.exists()
    with Store(store):
        pass
    assert pipeline.main(["account", "--spent", "nan"]) == 1
    assert "--spent: found" in capsys.readouterr().err
