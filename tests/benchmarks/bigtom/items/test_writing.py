"""Asking models for templates and labels, and what becomes of every answer."""

import pandas as pd
import pytest

from bigtom_templates import MEI
from one_cell import ran
from tomlab.asking.attempts import stacked
from tomlab.benchmarks.bigtom.items.templates import (
    FIELDS,
    LABELS,
    label,
    template_table,
    written_out,
)
from tomlab.benchmarks.bigtom.items.writing import (
    attempts,
    generation_requests,
    parse_labels,
)
from tomlab.models.specs import Reply, Response


@pytest.fixture
def divers():
    """Five templates; all but the names is Mei's."""
    names = ["Mei", "Asel", "Bosko", "Chidi", "Dorji"]
    rows = [{key: text.replace("Mei", name) for key, text in MEI.items()} for name in names]
    return template_table(
        [{**row, "template_id": name} for row, name in zip(rows, names, strict=True)]
    )


def answer(text, finish="stop"):
    return Response("key", Reply(text, finish))


def attempt(response):
    [row] = attempts([response], "smol").to_dict("records")
    return row


# Requests


def test_request_shows_rules_and_three_examples_and_asks_for_one_more(divers):
    [request] = generation_requests(divers, 1)
    rules, *turns = request.messages
    assert rules["role"] == "system"
    assert "\n".join(label(name) for name in FIELDS) in rules["content"]
    assert "{labels}" not in rules["content"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 3 + ["user"]
    asked = {turn["content"] for turn in turns if turn["role"] == "user"}
    assert asked == {"Write one new story."}
    shown = {turn["content"] for turn in turns if turn["role"] == "assistant"}
    assert len(shown) == 3
    assert shown <= {written_out(t) for t in divers.to_dict("records")}


def test_requests_are_the_papers_temperature_and_differ_in_the_sample_alone(divers):
    requests = generation_requests(divers, 4, seed=7)
    assert {r.temperature for r in requests} == {0.5}
    assert {r.max_tokens for r in requests} == {600}
    assert {r.seed for r in requests} == {7}
    assert [r.sample for r in requests] == [0, 1, 2, 3]
    assert all(r.messages == requests[0].messages for r in requests)


def test_examples_are_drawn_by_the_seed(divers):
    first, again = (generation_requests(divers, 1) for _ in range(2))
    assert first == again
    assert generation_requests(divers, 1, seed=1)[0].messages == first[0].messages
    shown = {str(generation_requests(divers, 1, examples_seed=s)[0].messages) for s in range(5)}
    assert len(shown) > 1


def test_users_rules_take_the_place_of_ours(divers, tmp_path):
    (tmp_path / "mine.txt").write_text("Write:\n{labels}")
    replaced = {"bigtom/generation": str(tmp_path / "mine.txt")}
    [request] = generation_requests(divers, 1, replaced=replaced)
    assert request.messages[0]["content"].startswith("Write:\nContext\nDesire\n")


# Attempts


def test_answer_that_is_a_template_becomes_one():
    row = attempt(answer("Sure!\n\n" + written_out(MEI)))
    assert row["status"] == "template"
    assert row["template_id"] == "llm-smol-001"
    assert row["source"] == "llm:smol"
    assert row["agent"] == "Mei"
    assert {name: row[name] for name in FIELDS} == {name: MEI[name] for name in FIELDS}
    assert [row[name] for name in LABELS] == ["", "", ""]
    assert row["reason"] == ""


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (answer("Once upon a time."), "unparsed", "Context: missing (21 of 21 variables missing)"),
        (answer(""), "unparsed", "Context: missing (21 of 21 variables missing)"),
        (answer("Context: Mei dives.", "length"), "truncated", "Desire: missing (20 of 21"),
        (answer("<think>Context: Mei"), "truncated", "Context: missing"),
        (answer("I can't help with that."), "refused", "Context: missing"),
        (answer("", "refusal"), "refused", "Context: missing"),
        (Response("key", None, "429: slow down"), "error", "429: slow down"),
    ],
)
def test_answer_that_is_no_template_keeps_its_text_and_the_reason(response, status, reason):
    row = attempt(response)
    assert row["status"] == status
    assert row["reason"].startswith(reason)
    assert row["text"] == (response.reply.text if response.reply else "")
    assert [row[name] for name in FIELDS] == [""] * len(FIELDS)
    assert row["agent"] == ""


def test_thinking_before_a_template_is_let_pass():
    assert attempt(answer(f"<think>Context: a</think>{written_out(MEI)}"))["status"] == "template"


def test_nothing_is_dropped_and_ids_count_attempts():
    responses = [answer("no"), answer(written_out(MEI)), Response("key", None, "down")]
    table = attempts(responses, "smol")
    assert table["template_id"].tolist() == ["llm-smol-001", "llm-smol-002", "llm-smol-003"]
    assert table["status"].tolist() == ["unparsed", "template", "error"]


# The raw table


@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "through parquet"])
def test_raw_table_gives_back_templates_of_file_and_models(divers, tmp_path, stored):
    zora = answer(written_out(MEI).replace("Mei", "Zora"))
    attempted = attempts([answer("no"), zora], "smol"), attempts([], "other")
    raw = stacked("template", divers, *attempted)
    if stored:
        raw.to_parquet(tmp_path / "raw.parquet", index=False)
        raw = pd.read_parquet(tmp_path / "raw.parquet")
    assert len(raw) == 7
    templates = raw.loc[raw["status"] == "template", divers.columns]
    assert templates["template_id"].tolist() == [*divers["template_id"], "llm-smol-002"]
    assert templates[:5].equals(divers)
    assert templates["agent"].iloc[-1] == "Zora"
    assert not templates.isna().any(axis=None)


# Labels


def test_labels_are_asked_for_by_story(divers):
    given = {"kept": divers, "prompts": {}, "sampling_seed": 0}
    requests = ran("2_filtering", "bigtom", "cell-to-label", **given)["requests"]
    assert len(requests) == 5
    [message] = requests[0].messages
    assert message["role"] == "user"
    assert "\n\nMei is a pearl diver" in message["content"]
    assert "and then swims away.\n" in message["content"]
    assert "{story}" not in message["content"]
    assert {r.temperature for r in requests} == {0}


@pytest.mark.parametrize(
    "text",
    [
        "State: contents of an oyster\nMechanism: octopus",
        "State: Contents of an oyster.\nMechanism: Octopus.",
        "**State:** contents of an oyster\n**Mechanism**: octopus",
        "- State: contents of an oyster\n\n- Mechanism: octopus\n\nI hope this helps!",
        "Mechanism: octopus\nState: contents of an oyster",
        "<think>State: no\nMechanism: no</think>State: contents of an oyster\nMechanism: octopus",
    ],
)
def test_two_lines_are_two_labels(text):
    assert parse_labels(text) == {"state": "contents of an oyster", "mechanism": "octopus"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "State: contents",
        "Mechanism: octopus",
        "State:\nMechanism: octopus",
        "State: contents\nMechanism:",
        "State: ...\nMechanism: ...",
        "The state is contents and the mechanism an octopus.",
        "<think>State: contents\nMechanism: octopus",
    ],
)
def test_answer_without_both_labels_has_none(text):
    assert parse_labels(text) == {}
