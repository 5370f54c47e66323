"""Asking models for templates and labels, and what becomes of every answer."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bigtom_templates import MEI, divers
from scripted_writers import ERROR, asked, said, wrote
from tomlab.benchmarks.bigtom.items.templates import FIELDS, label, written_out
from tomlab.benchmarks.bigtom.items.writing import LABELS as TO_LABEL
from tomlab.benchmarks.bigtom.items.writing import TEMPLATE, drafts, parse_template, templates
from tomlab.benchmarks.writing import Unparsed

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
    assert [request.messages for request in requests] == [first.messages] * 4
    assert (first.temperature, first.max_tokens, first.seed) == (0.5, 600, 7)
    rules, *turns = first.messages
    assert "\n".join(label(name) for name in FIELDS) in rules["content"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 3 + ["user"]
    examples = {turn["content"] for turn in turns[1::2]}
    assert len(examples) == 3
    assert examples <= {written_out(template) for template in TEMPLATES.to_dict("records")}


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
        (said(CUT, "length"), "truncated", "Not aware of random event: stands 0 times"),
        (said(f"{CUT}.", "length"), "template", ""),
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


LINES = written_out(MEI)


# Labels


@pytest.mark.parametrize(
    "text",
    ["State: Contents.\nMechanism: Octopus.", "- **Mechanism**: octopus\n\n- **State:** contents"],
)
def test_two_lines_are_two_labels(text):
    [row] = wrote(TO_LABEL, [{"story": "A story."}], [said(text)]).rows
    assert (row["state"], row["mechanism"]) == ("contents", "octopus")
