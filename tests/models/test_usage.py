"""What an answer costs by its vendor's counts: wherever they stand, and whether they can be true."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batch_server import BatchServer
from faulty_server import Act, FaultyServer
from tomlab.errors import InputError
from tomlab.models.store import Store
from tomlab.models.usage import MOST_THOUGHT, Usage, usage_of
from tomlab.pipeline import answers as pipeline
from toy_models import answers, question, questions, toy

HUGE = 2**31 - 1
THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 403}}
# By vendor: what it says, and the tokens of prompt, answer, cache and thinking.
VENDORS = {
    "OpenAI": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 413,
            "total_tokens": 513,
            **THOUGHT,
            "prompt_tokens_details": {"cached_tokens": 64},
        },
        (100, 413, 64),
    ),
    "xAI": (
        {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 513, **THOUGHT},
        (100, 413, 0),
    ),
    "xAI without a total": (
        {"prompt_tokens": 100, "completion_tokens": 10, **THOUGHT},
        (100, 413, 0),
    ),
    "Gemini": ({"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623}, (20, 603, 0)),
    "Gemini, thinking alone": (
        {
            "prompt_tokens": 21,
            "completion_tokens": 0,
            "total_tokens": 81,
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
        (21, 60, 0),
    ),
    "DeepSeek": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_cache_hit_tokens": 64,
            "prompt_cache_miss_tokens": 36,
        },
        (100, 10, 64),
    ),
    "Moonshot": (
        {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 64},
        (100, 10, 64),
    ),
    "proxy to Anthropic": (
        {"prompt_tokens": 5, "completion_tokens": 10, "cache_read_input_tokens": 64},
        (69, 10, 64),
    ),
    "no answer's count": ({"prompt_tokens": 100, "total_tokens": 110}, (100, 10, 0)),
    "no prompt's count": ({"completion_tokens": 10, "total_tokens": 110}, (100, 10, 0)),
    "as fractions": ({"prompt_tokens": 100.0, "completion_tokens": 10.0}, (100, 10, 0)),
    "half": ({"completion_tokens": 10}, (None, 10, 0)),
    "other half": ({"prompt_tokens": 100}, (100, None, 0)),
    "nothing": (None, (None, None, 0)),
}


@pytest.mark.parametrize(("counts", "tokens"), VENDORS.values(), ids=VENDORS)
def test_tokens_are_found_wherever_the_vendor_counts_them(counts, tokens):
    usage = usage_of(counts)
    assert (usage.prompt, usage.completion, usage.cached) == tokens


def test_anthropics_cache_stands_beside_the_prompt():
    counts = {"input_tokens": 11, "output_tokens": 7}
    counts |= {"cache_read_input_tokens": 3, "cache_creation_input_tokens": 5}
    assert usage_of(counts, cache_beside=True) == Usage(19, 7, 3, 5)


COUNTS = st.dictionaries(
    st.sampled_from(
        ["prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "cached_tokens"]
    ),
    st.integers(-5, 2**33) | st.none() | st.text(max_size=3) | st.floats(),
)


@given(COUNTS)
def test_no_count_is_less_than_what_the_vendor_says_or_more_than_can_be_thought(counts):
    usage = usage_of(counts)
    completion = counts.get("completion_tokens")
    if usage.completion is not None and type(completion) is int and 0 <= completion < 2**31:
        assert completion <= usage.completion
    assert 0 <= usage.thought <= MOST_THOUGHT


# What is booked: two dollars for a token of a prompt, three for one of an answer


PRICE = {"input": 2_000_000, "output": 3_000_000}


def reply(usage, text="b", finish="stop") -> Act:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return Act(body=json.dumps({"choices": [choice], "usage": usage}))


def booked(usage, faulty_server: FaultyServer, store, **options) -> float:
    """What one answer with these counts costs; ten tokens were asked for at most."""
    faulty_server.script = [reply(usage)]
    spec = toy("openai", faulty_server.url, price=PRICE, **options)
    [one] = answers([question("x" * 30)], spec, store)
    assert one.reply.text == "b"
    with Store(store) as kept:
        return kept.spending().answers


WORST = 10 * 2 + 10 * 3  # ten tokens of prompt, by an estimate, and ten of an answer
BOOKED = {
    "reasoning beside": (
        {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 513, **THOUGHT},
        100 * 2 + 413 * 3,
    ),
    "no prompt": ({"completion_tokens": 7}, WORST),
    "no answer": ({"prompt_tokens": 12}, WORST),
    "zero for the prompt": ({"prompt_tokens": 0, "completion_tokens": 7}, WORST),
    "zero for the answer": ({"prompt_tokens": 12, "completion_tokens": 0}, WORST),
    "no answer, long prompt": ({"prompt_tokens": 500}, 1000),
    "huge answer": ({"prompt_tokens": 12, "completion_tokens": HUGE}, WORST),
    "huge prompt": ({"prompt_tokens": HUGE, "completion_tokens": 7}, WORST),
    "huge thinking": (
        {
            "prompt_tokens": 12,
            "completion_tokens": 7,
            "completion_tokens_details": {"reasoning_tokens": HUGE},
        },
        WORST,
    ),
    "huge total": ({"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": HUGE}, WORST),
    "huge cache": ({"prompt_tokens": 12, "completion_tokens": 7, "cached_tokens": HUGE}, WORST),
    "more than asked for": ({"prompt_tokens": 12, "completion_tokens": 100_000}, WORST),
    "no count": (None, WORST),
}


@pytest.mark.parametrize(("usage", "cost"), BOOKED.values(), ids=BOOKED)
def test_what_is_booked_is_what_was_counted_if_that_can_be(usage, cost, faulty_server, store):
    assert booked(usage, faulty_server, store) == pytest.approx(cost)


def test_long_answer_of_a_server_that_knows_no_limit_is_believed(faulty_server, store):
    faulty_server.script = [reply({"prompt_tokens": 12, "completion_tokens": 300}, "word " * 300)]
    answers([question("Who?")], toy("openai", faulty_server.url, price=PRICE), store)
    with Store(store) as kept:
        assert kept.spending().answers == 12 * 2 + 300 * 3


def test_limit_holds_where_thinking_stands_beside_the_answer(faulty_server, store):
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 513, **THOUGHT}
    faulty_server.default = reply(usage)
    spec = toy("openai", faulty_server.url, price=PRICE, max_concurrency=1)
    with pytest.raises(InputError, match=r"max_cost_usd"):
        answers(questions(9), spec, store, max_cost_usd=3000)
    assert len(faulty_server.asked) == 3  # $1,439 each; a third was admitted below the limit


def test_counts_of_a_batch_are_judged_too(tmp_path, store, monkeypatch):
    monkeypatch.setattr("faulty_server.COMPLETION_TOKENS", HUGE)
    with BatchServer(tmp_path / "sold.sqlite") as server:
        spec = toy("openai", server.url, batch={"poll": 0.02}, price=PRICE)
        answers(questions(3), spec, store)
    with Store(store) as kept:
        assert kept.spending().answers < 3 * 100


# The account


def test_account_is_shown_and_corrected(faulty_server, store, monkeypatch, capsys):
    booked({"prompt_tokens": 12, "completion_tokens": 7}, faulty_server, store)
    with Store(store) as kept:
        kept.reserve({"k": 5.0}, "toy", limit=None)  # and lost, as nobody waits for it
    monkeypatch.setattr(pipeline, "RESPONSE_STORE", store)
    assert pipeline.main(["account"]) == 0
    said = capsys.readouterr().out
    assert "$45.0000 count as spent, $5.0000 may have been paid" in said
    assert "toy" in said
    assert pipeline.main(["account", "--spent", "3.5"]) == 0
    with Store(store) as kept:
        assert kept.spending() == (3.5, 0, 0)


@pytest.mark.parametrize("wrong", ["-1", "nan", "inf"])
def test_account_of_no_dollars_is_refused(wrong, store, monkeypatch, capsys):
    with Store(store):
        pass
    monkeypatch.setattr(pipeline, "RESPONSE_STORE", store)
    assert pipeline.main(["account", "--spent", wrong]) == 1
    assert "--spent: found" in capsys.readouterr().err


def test_account_without_a_store_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pipeline, "RESPONSE_STORE", tmp_path / "none.sqlite")
    assert pipeline.main(["account"]) == 1
    assert "found no response store" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []
