"""Asking models for templates and labels, and what becomes of every answer."""

import re

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bigtom_templates import MEI, divers
from one_cell import ran
from scripted_writers import ERROR, asked, said, wrote
from tomlab.asking.attempts import stacked
from tomlab.benchmarks.bigtom.items.templates import FIELDS, label, read_templates, written_out
from tomlab.benchmarks.bigtom.items.writing import LABELS as TO_LABEL
from tomlab.benchmarks.bigtom.items.writing import TEMPLATE, drafts, parse_template, templates
from tomlab.benchmarks.writing import Unparsed
from tomlab.paths import DATA

TEMPLATES = divers(5)
MEIS_TEXTS = {name: MEI[name] for name in FIELDS}


def attempts(*responses, model="smol"):
    """What became of the templates that a model was asked for."""
    rows = wrote(TEMPLATE, drafts(TEMPLATES, len(responses), model), responses, f"llm:{model}").rows
    return templates(rows)


# Requests


def test_requests_show_rules_and_three_examples_and_differ_in_the_sample_alone():
    requests = asked(TEMPLATE, drafts(TEMPLATES, 4, "smol"), seed=7)
    assert [request.sample for request in requests] == [0, 1, 2, 3]
    first = requests[0]
    for request in requests:
        assert request.messages == first.messages
        assert (request.temperature, request.max_tokens, request.seed) == (0.5, 600, 7)
    rules, *turns = first.messages
    assert rules["role"] == "system"
    assert "\n".join(label(name) for name in FIELDS) in rules["content"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 3 + ["user"]
    assert {turn["content"] for turn in turns[::2]} == {"Write one new story."}
    examples = {turn["content"] for turn in turns[1::2]}
    assert len(examples) == 3
    assert examples <= {written_out(template) for template in TEMPLATES.to_dict("records")}


def test_examples_are_drawn_by_the_seed():
    examples = [str(drafts(TEMPLATES, 1, "smol", seed=seed)) for seed in (0, 0, 1, 2)]
    assert examples[0] == examples[1]
    assert len(set(examples)) > 1


def test_users_rules_take_the_place_of_ours(tmp_path):
    (tmp_path / "mine.txt").write_text("Write:\n{labels}")
    replaced = {"bigtom/generation": str(tmp_path / "mine.txt")}
    [request] = asked(TEMPLATE, drafts(TEMPLATES, 1, "smol"), replaced=replaced)
    assert request.messages[0]["content"].startswith("Write:\nContext\nDesire\n")


# Attempts


def test_answer_that_is_a_template_becomes_one():
    row = attempts(said("Sure!\n\n" + written_out(MEI))).iloc[0].to_dict()
    expected = {"template_id": "llm-smol-001", "source": "llm:smol", "agent": "Mei"}
    expected |= MEIS_TEXTS | {"state": "", "status": "template", "reason": ""}
    assert {name: row[name] for name in expected} == expected


CUT = written_out(MEI).removesuffix(".")


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (said("Once upon a time."), "unparsed", "Context: stands 0 times"),
        (said(""), "unparsed", "no answer"),
        (said(CUT, "length"), "truncated", "Not aware of random event: stands 0 times"),
        (said(f"{CUT}.", "length"), "template", ""),
        (said(f"<think>Context: a</think>{CUT}."), "template", ""),
        (said("<think>Context: Mei"), "truncated", "no answer"),
        (said("I can't help with that."), "refused", "Context: stands 0 times"),
        (ERROR, "error", "429: slow down"),
    ],
)
def test_answer_that_is_no_template_keeps_its_text_and_the_reason(response, status, reason):
    row = attempts(response).iloc[0]
    assert row["status"] == status
    assert row["reason"].startswith(reason)
    assert row["text"] == (response.reply.text if response.reply else "")
    assert row["agent"] == ("Mei" if status == "template" else "")


def test_raw_table_gives_back_templates_of_file_and_models(tmp_path):
    zora = said(written_out(MEI).replace("Mei", "Zora"))
    path = tmp_path / "raw.parquet"
    by_model = attempts(said("no"), zora, ERROR)
    assert by_model["status"].tolist() == ["unparsed", "template", "error"]
    stacked("template", TEMPLATES, by_model, attempts()).to_parquet(path, index=False)
    raw = pd.read_parquet(path)
    assert len(raw) == 8
    read = raw.loc[raw["status"] == "template", TEMPLATES.columns]
    assert read["template_id"].tolist() == [*TEMPLATES["template_id"], "llm-smol-002"]
    assert read[:5].equals(TEMPLATES)
    assert read["agent"].iloc[-1] == "Zora"
    assert not read.isna().any(axis=None)


# Templates written out by a model


def parsed(text):
    """The variables in a text, or why it is no template."""
    template = parse_template(text, {})
    if isinstance(template, Unparsed):
        return template
    return {name: template[name] for name in FIELDS}


TEXT = st.text(st.characters(exclude_characters="\n"), min_size=1)
TEXT = TEXT.map(lambda text: text.strip(" \t\r*")).filter(lambda text: re.search(r"\w", text))


@given(st.fixed_dictionaries(dict.fromkeys(FIELDS, TEXT)))
@example(dict.fromkeys(FIELDS, "Note: Belief: she said: yes"))
@example(dict.fromkeys(FIELDS, '"Stop!": that is what Mei heard.'))
@settings(max_examples=20, deadline=None)
def test_what_is_written_out_parses_to_the_same(texts):
    assert parsed(written_out(texts)) == texts


def test_our_templates_written_out_and_parsed_again_are_the_same():
    for template in read_templates(DATA / "bigtom" / "bigtom.csv").to_dict("records"):
        assert parsed(written_out(template)) == {name: template[name] for name in FIELDS}


PIECES = [*map(label, FIELDS), ":", "*", "\n", "x", " "]


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
@settings(max_examples=50, deadline=None)
def test_any_text_is_a_template_or_a_reason(text):
    template = parsed(text)
    assert isinstance(template, Unparsed) or all(template.values())


LINES = written_out(MEI)
BELIEF = f"Belief: {MEI['belief']}"


@pytest.mark.parametrize(
    "text",
    [
        f"Here is a new story:\n\n{LINES}\n\nLet me know if you want another one!",
        re.sub(r"(?m)^([\w ]+):", r"**\1:**", LINES),
        re.sub(r"(?m)^([\w ]+):", r"**\1**:", LINES),
        "- " + LINES.replace("\n", "\r\n\r\n- "),
    ],
    ids=["text around", "bold", "bold without the colon", "list"],
)
def test_spelling_of_the_lines_does_not_matter(text):
    assert parsed(text) == MEIS_TEXTS


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (LINES.replace(BELIEF, "Believe: so."), "Belief"),
        (LINES.replace(BELIEF, "Belief: so.\nBelief: no."), "Belief"),
        (LINES.replace(BELIEF, "**Belief:**"), "Belief"),
        (f"{LINES}\n{LINES}", "Context"),
    ],
)
def test_answer_that_is_no_template_has_its_reason(text, name):
    assert parsed(text).startswith(f"{name}: stands ")


# Labels


def test_labels_are_asked_for_by_story():
    story_drafts = ran("2_filtering", "bigtom", "cell-to-label", survivors=TEMPLATES)["drafts"]
    requests = asked(TO_LABEL, story_drafts)
    assert len(requests) == 5
    [message] = requests[0].messages
    assert "\n\nMeia is a pearl diver" in message["content"]
    assert "and then swims away.\n" in message["content"]
    assert requests[0].temperature == 0


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("State: Contents.\nMechanism: Octopus.", ("contents", "octopus")),
        (
            "- **Mechanism**: octopus\n\n- **State:** contents\n\nThat's it!",
            ("contents", "octopus"),
        ),
        ("State: contents", None),
        ("State:\nMechanism: octopus", None),
        ("State: ...\nMechanism: ...", None),
        ("The state is contents and the mechanism an octopus.", None),
    ],
)
def test_two_lines_are_two_labels(text, labels):
    [row] = wrote(TO_LABEL, [{"story": "A story."}], [said(text)]).rows
    if labels:
        assert (row["state"], row["mechanism"]) == labels
    else:
        assert row["reason"]
        assert "state" not in row
