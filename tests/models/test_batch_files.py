"""Batch files: what is written, taken in again, and answered by a real engine's server."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tomlab.errors import InputError
from tomlab.models.embedded import SMOLLM2, gguf_path
from tomlab.models.specs import ModelSpec
from tomlab.paths import PACKAGE
from toy_models import answers, question, questions, texts, toy

DOCS = PACKAGE.parents[1] / "docs"


def filed(url: str = "http://127.0.0.1:1", **options) -> ModelSpec:
    return toy("openai", url, batch={"to": "files", **options})


def folder(store: Path) -> Path:
    return store.parent / "batches" / "toy"


def files(store: Path) -> dict[str, list[dict]]:
    found = sorted(folder(store).glob("*.in.jsonl"))
    return {p.name: [json.loads(line) for line in p.read_text().splitlines()] for p in found}


def asked(store: Path) -> list[str]:
    """The questions in all files."""
    lines = [line for lines in files(store).values() for line in lines]
    return sorted(line["body"]["messages"][-1]["content"] for line in lines)


def out_line(key: str, text: str = "Yes.", status: int = 200) -> str:
    message = {"role": "assistant", "content": text}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    response = {"status_code": status, "request_id": "x", "body": body if status == 200 else None}
    return json.dumps({"id": "x", "custom_id": key, "response": response, "error": None}) + "\n"


def answer(store: Path, only: int | None = None) -> None:
    """Answer the first files there are, as a `run-batch` does."""
    for name, lines in [*files(store).items()][:only]:
        target = folder(store) / name.replace(".in.", ".out.")
        told = [out_line(l["custom_id"], l["body"]["messages"][-1]["content"]) for l in lines]
        target.write_text("".join(told))


def written(requests, spec, store) -> str:
    """What a run says that has written files."""
    with pytest.raises(InputError) as error:
        answers(requests, spec, store)
    return str(error.value)


def test_what_is_missing_is_written_in_openais_format(store):
    said = written(questions(3), filed(), store)
    assert "3 of 3 answers are to come" in said
    [(name, lines)] = files(store).items()
    assert f"{name}: 3 requests" in said
    line = lines[0]
    assert set(line) == {"custom_id", "method", "url", "body"}
    assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
    assert len(line["custom_id"]) == 64
    assert line["body"]["model"] == "toy"
    assert asked(store) == ["Question 0?", "Question 1?", "Question 2?"]


def test_answers_are_taken_in_and_the_run_goes_on(store):
    written(questions(3), filed(), store)
    answer(store)
    responses = answers(questions(3), filed(), store)
    assert texts(responses) == ["Question 0?", "Question 1?", "Question 2?"]
    assert all(r.cached for r in answers(questions(3), toy("openai", "http://127.0.0.1:1"), store))


def test_what_is_still_missing_is_written_again(store):
    written(questions(4), filed(requests=2), store)
    assert len(files(store)) == 2
    answer(store, only=1)
    said = written(questions(4), filed(requests=2), store)
    assert "2 of 4 answers are to come" in said
    assert len(files(store)) == 1
    answer(store)
    assert len(texts(answers(questions(4), filed(requests=2), store))) == 4


def test_files_that_wait_stay_as_they_are(store):
    written(questions(4), filed(requests=2), store)
    before = files(store)
    written(questions(6), filed(), store)
    assert before.items() <= files(store).items()
    assert len(asked(store)) == len({*asked(store)}) == 6


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("fault", ["status", "cut", "no id", "deep", "deep within"])
def test_a_line_that_failed_is_told_and_written_again(store, fault):
    written(questions(2), filed(), store)
    [(name, [first, second])] = files(store).items()
    bad = {
        "status": out_line(second["custom_id"], status=500),
        "cut": "{\n",
        "no id": out_line(""),
        "deep": DEEP,
        "deep within": f'{{"custom_id": "{second["custom_id"]}", "response": {DEEP}}}',
    }[fault]
    out = folder(store) / name.replace(".in.", ".out.")
    out.write_text(out_line(first["custom_id"]) + bad)
    said = written(questions(2), filed(), store)
    assert f"1 came back without one, such as: {out.name}, line 2" in said
    assert asked(store) == [second["body"]["messages"][-1]["content"]]


def test_of_two_answers_to_one_request_neither_is_taken_until_one_is_out(store):
    written(questions(2), filed(), store)
    [(name, [first, second])] = files(store).items()
    out = folder(store) / name.replace(".in.", ".out.")
    keys = [first["custom_id"], second["custom_id"]]
    lines = [out_line(keys[0]), out_line(keys[0]), out_line(keys[1], "Yes."), "\n"]
    out.write_text("".join([*lines, out_line(keys[1], "No.")]))
    told = written(questions(2), filed(), store)
    assert f"{out.name}, line 5: another answer to {keys[1]}" in told
    assert f"{out.name}, line 3" in told
    out.write_text("".join(lines))
    assert texts(answers(questions(2), filed(), store)) == ["Yes.", "Yes."]


@pytest.mark.parametrize("content", [DEEP, "{", "{}", "7", '{"custom_id": []}'])
def test_a_waiting_file_that_is_damaged_is_named(store, content):
    written(questions(2), filed(), store)
    [(name, lines)] = files(store).items()
    (folder(store) / name).write_text(f"{json.dumps(lines[0])}\n{content}\n")
    assert f"{name}: line 2" in written(questions(2), filed(), store)
    (folder(store) / name).unlink()
    written(questions(2), filed(), store)
    assert files(store) == {name: lines}


def test_a_broken_line_is_told_to_the_stage_of_its_file_alone(store, monkeypatch):
    monkeypatch.setenv("TOMLAB_STAGE", "notebooks/3_evaluation/bigtom.ipynb")
    written(questions(1), filed(), store)
    [name] = files(store)
    (folder(store) / name.replace(".in.", ".out.")).write_text("{\n")
    assert "1 came back without one" in written(questions(1), filed(), store)
    monkeypatch.setenv("TOMLAB_STAGE", "notebooks/3_evaluation/fantom.ipynb")
    assert "came back without" not in written(questions(2)[1:], filed(), store)


def test_questions_that_share_a_prefix_stand_side_by_side(store):
    stories = [f"Story {n}. " for n in range(4)]
    requests = [question(f"{s}Question {n}?", shared_prefix=s) for n in range(5) for s in stories]
    written(requests, filed(requests=10), store)
    of = [[l["body"]["messages"][-1]["content"][:8] for l in ls] for ls in files(store).values()]
    assert [len(set(stories)) for stories in of] == [2, 2]
    assert all(stories == sorted(stories) for stories in of)


def test_a_real_engine_answers_a_file_by_the_script_of_the_docs(embedded_server, store, tmp_path):
    page = (DOCS / "batches.md").read_text(encoding="utf-8")
    [script] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    program = tmp_path / "answer.py"
    program.write_text(script)
    options = {"model": gguf_path(SMOLLM2).stem, "batch": {"to": "files"}}
    spec = toy("openai", embedded_server, **options)
    requests = [question("What is the capital of France?"), question("Say hello.")]
    written(requests, spec, store)
    [name] = files(store)
    paths = [folder(store) / name, folder(store) / name.replace(".in.", ".out.")]
    subprocess.run([sys.executable, program, embedded_server, *paths], check=True)
    by_file = answers(requests, spec, store)

    alone = toy("openai", embedded_server, **{**options, "batch": False})
    by_call = answers(requests, alone, tmp_path / "other.sqlite")
    assert [r.request_key for r in by_file] == [r.request_key for r in by_call]
    assert [r.reply for r in by_file] == [r.reply for r in by_call]


def test_files_are_of_openais_protocol_alone(store):
    spec = toy("anthropic", "http://127.0.0.1:1", batch={"to": "files"})
    with pytest.raises(InputError, match="OpenAI's protocol"):
        answers(questions(1), spec, store)
