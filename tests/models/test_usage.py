"""What an answer costs by its vendor's counts, wherever they stand."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty_server import Act
from tomlab.models.replies import from_json
from tomlab.models.store import Store
from tomlab.models.usage import Usage, usage_of
from tomlab.pipeline import answers as pipeline
from toy_models import question

THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 403}}
PLAIN = {"prompt_tokens": 100, "completion_tokens": 10}
# By vendor: what it says, and the tokens of prompt, answer and cache.
VENDORS = {
    "OpenAI": (
        {**PLAIN, **THOUGHT, "prompt_tokens_details": {"cached_tokens": 64}},
        Usage(100, 413, 64),
    ),
    "Gemini": (
        {"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623},
        Usage(20, 603),
    ),
    "DeepSeek": ({**PLAIN, "prompt_cache_hit_tokens": 64}, Usage(100, 10, 64)),
    "OpenRouter": (
        {**PLAIN, "prompt_tokens_details": {"cache_write_tokens": 64}},
        Usage(100, 10, 0, 64),
    ),
    "proxy to Anthropic": (
        {"prompt_tokens": 5, "completion_tokens": 10, "cache_read_input_tokens": 64},
        Usage(69, 10, 64),
    ),
    "no prompt's": ({"completion_tokens": 10, "total_tokens": 110}, Usage(100, 10)),
    "half": ({"completion_tokens": 10, "cached_tokens": 5}, Usage(0, 10)),
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


@pytest.fixture
def book(faulty_server, ask):
    """Ask a question whose answer counts so many tokens."""

    def booked(usage) -> None:
        choice = {"message": {"content": "b"}, "finish_reason": "stop"}
        faulty_server.script = [Act(body=json.dumps({"choices": [choice], "usage": usage}))]
        [response] = ask([question("x" * 30)], price=PRICE)
        assert response.reply.text == "b"

    return booked


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({**PLAIN, **THOUGHT}, 100 * 2 + 413 * 3),
        ({"completion_tokens": 7}, WORST),
        ({"prompt_tokens": 12, "completion_tokens": 0}, WORST),
        ({"prompt_tokens": 500}, 1000),
        (None, WORST),
    ],
)
def test_what_is_booked_is_what_was_counted_or_reserved(usage, cost, book, spending):
    book(usage)
    assert spending().answers == pytest.approx(cost)


def test_account_is_shown_and_corrected(book, store, spending, monkeypatch, capsys):
    book({"prompt_tokens": 12, "completion_tokens": 7})
    with Store(store) as opened:
        opened.reserve({"k": 5.0}, "toy", limit=None)  # and lost, as nobody waits for it
    monkeypatch.setattr(pipeline, "RESPONSE_STORE", store)
    assert pipeline.main(["account"]) == 0
    assert "$45.0000 count as spent, $5.0000 may have been paid" in capsys.readouterr().out
    assert pipeline.main(["account", "--spent", "3.5"]) == 0
    assert spending() == (3.5, 0, 0)
    assert pipeline.main(["account", "--spent", "nan"]) == 1
    assert "--spent: found" in capsys.readouterr().err
