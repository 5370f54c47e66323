"""Asking models for templates and labels, and what becomes of every answer."""

import re

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bigtom_templates import MEI
from one_cell import ran
from scripted_writers import asked, said, wrote
from tomlab.asking.attempts import stacked
from tomlab.benchmarks.bigtom.items.templates import (
    FIELDS,
    LABELS,
    label,
    read_templates,
    template_table,
    written_out,
)
from tomlab.benchmarks.bigtom.items.writing import LABELS as TO_LABEL
from tomlab.benchmarks.bigtom.items.writing import TEMPLATE, drafts, parse_template, templates
from tomlab.benchmarks.writing import Unparsed
from tomlab.models.specs import Response
from tomlab.paths import DATA


@pytest.fixture
def divers():
    """Five templates; all but the names is Mei's."""
    names = ["Mei", "Asel", "Bosko", "Chidi", "Dorji"]
    rows = [{key: text.replace("Mei", name) for key, text in MEI.items()} for name in names]
    return template_table(
        [{**row, "template_id": name} for row, name in zip(rows, names, strict=True)]
    )


def generation_requests(examples, count, examples_seed=0, **options):
    return asked(TEMPLATE, drafts(examples, count, "smol", seed=examples_seed), **options)


def attempts(responses, divers, model="smol"):
    asked_for = drafts(divers, len(responses), model)
    return templates(wrote(TEMPLATE, asked_for, responses, f"llm:{model}").rows)


def attempt(response, divers):
    [row] = attempts([response], divers).to_dict("records")
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


def test_answer_that_is_a_template_becomes_one(divers):
    row = attempt(said("Sure!\n\n" + written_out(MEI)), divers)
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
        (said("Once upon a time."), "unparsed", "Context: stands 0 times"),
        (said(""), "unparsed", "no answer"),
        (said("Context: Mei dives.", "length"), "truncated", "Desire: stands 0 times"),
        (said("<think>Context: Mei"), "truncated", "no answer"),
        (said("I can't help with that."), "refused", "Context: stands 0 times"),
        (said("", "refusal"), "refused", "no answer"),
        (Response("key", None, "429: slow down"), "error", "429: slow down"),
    ],
)
def test_answer_that_is_no_template_keeps_its_text_and_the_reason(response, status, reason, divers):
    row = attempt(response, divers)
    assert row["status"] == status
    assert row["reason"].startswith(reason)
    assert row["text"] == (response.reply.text if response.reply else "")
    assert [row[name] for name in FIELDS] == [""] * len(FIELDS)
    assert row["agent"] == ""


def test_thinking_before_a_template_is_let_pass(divers):
    row = attempt(said(f"<think>Context: a</think>{written_out(MEI)}"), divers)
    assert row["status"] == "template"


def test_last_sentence_that_was_cut_off_is_no_sentence(divers):
    cut = written_out(MEI).removesuffix(".")
    assert attempt(said(cut, "length"), divers)["status"] == "truncated"
    assert attempt(said(written_out(MEI), "length"), divers)["status"] == "template"


def test_nothing_is_dropped_and_ids_count_attempts(divers):
    responses = [said("no"), said(written_out(MEI)), Response("key", None, "down")]
    table = attempts(responses, divers)
    assert table["template_id"].tolist() == ["llm-smol-001", "llm-smol-002", "llm-smol-003"]
    assert table["status"].tolist() == ["unparsed", "template", "error"]


# Templates written out by a model

TEXT = (
    st.text(st.characters(exclude_characters="\n"), min_size=1)
    .map(lambda text: text.strip(" \t\r*"))
    .filter(lambda text: re.search(r"\w", text))
)


def parsed(text):
    """The variables in a text, or why it is no template."""
    template = parse_template(text, {})
    if isinstance(template, Unparsed):
        return template
    return {name: template[name] for name in FIELDS}


def generated(**changes):
    """Mei's template written out, with lines changed or (None) left out."""
    lines = {name: f"{label(name)}: {MEI[name]}" for name in FIELDS} | changes
    return "\n".join(line for line in lines.values() if line is not None)


@given(st.fixed_dictionaries(dict.fromkeys(FIELDS, TEXT)))
@example(dict.fromkeys(FIELDS, "Note: Belief: she said: yes"))
@example(dict.fromkeys(FIELDS, '"Stop!": that is what Mei heard.'))
@settings(max_examples=60, deadline=None)
def test_what_is_written_out_parses_to_the_same(texts):
    assert parsed(written_out(texts)) == texts


def test_our_templates_written_out_and_parsed_again_are_the_same():
    for template in read_templates(DATA / "bigtom" / "bigtom.csv").to_dict("records"):
        assert parsed(written_out(template)) == {name: template[name] for name in FIELDS}


@given(st.text() | st.lists(st.sampled_from([*map(label, FIELDS), ":", "*", "\n", "x", " "])))
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_template_or_a_reason(text):
    template = parse_template(text if isinstance(text, str) else "".join(text), {})
    assert isinstance(template, Unparsed) or all(template[name] for name in FIELDS)


MEIS_TEXTS = {name: MEI[name] for name in FIELDS}


def test_text_around_the_template_is_let_pass():
    text = f"Here is a new story:\n\n{generated()}\n\nLet me know if you want another one!"
    assert parsed(text) == MEIS_TEXTS


def test_bold_labels_are_labels():
    text = "\n".join(f"**{label(name)}:** {MEI[name]}" for name in FIELDS)
    assert parsed(text) == MEIS_TEXTS
    assert parsed(text.replace(":**", "**:")) == MEIS_TEXTS


def test_list_marks_and_empty_lines_and_crlf_are_let_pass():
    assert parsed("- " + generated().replace("\n", "\r\n\r\n- ")) == MEIS_TEXTS


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Once upon a time.", "Context"),
        (generated(belief=None, desire=None), "Desire"),
        (generated(belief="Believe: so."), "Belief"),
        (generated(belief="Belief: so.\nBelief: no."), "Belief"),
        (generated(belief="**Belief:**"), "Belief"),
        (generated() + "\n" + generated(), "Context"),
    ],
    ids=lambda value: value[-40:],
)
def test_answer_that_is_no_template_has_its_reason(text, label):
    assert parsed(text).startswith(f"{label}: stands ")


# The raw table


@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "through parquet"])
def test_raw_table_gives_back_templates_of_file_and_models(divers, tmp_path, stored):
    zora = said(written_out(MEI).replace("Mei", "Zora"))
    attempted = attempts([said("no"), zora], divers), attempts([], divers, "other")
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
    given = {"survivors": divers}
    requests = asked(TO_LABEL, ran("2_filtering", "bigtom", "cell-to-label", **given)["drafts"])
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
    [row] = wrote(TO_LABEL, [{"story": "A story."}], [said(text)]).rows
    assert (row["state"], row["mechanism"]) == ("contents of an oyster", "octopus")


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
    writer = wrote(TO_LABEL, [{"story": "A story."}], [said(text)])
    assert writer.rows[0]["reason"]
    assert "state" not in writer.rows[0]
