"""Template files, ours and released, good and hostile; the structure of templates."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtom_templates import MEI
from tomlab.benchmarks.bigtom.items.templates import (
    AFTER_STORY,
    COLUMNS,
    FIELDS,
    LABELS,
    STORY,
    agent_name,
    medium,
    read_templates,
    structure_problems,
)
from tomlab.errors import InputError
from tomlab.paths import DATA

OURS = DATA / "bigtom" / "bigtom.csv"
STORY_TEXT = " ".join(MEI[name] for name in STORY)
TEXTS = [STORY_TEXT, *(MEI[name] for name in AFTER_STORY)]
OTHER_TEXTS = [STORY_TEXT.replace("Mei", "Asel"), *TEXTS[1:]]
RELEASED = [*TEXTS, "auto", "0"]
AUTHORED = [*TEXTS, "authored", "mei-1"]


def layout(*rows):
    """Rows in the layout of the release."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()


def changed(row, field, text):
    """A row with another text in a field, "story" or one of `AFTER_STORY`."""
    number = ["story", *AFTER_STORY].index(field)
    return [*row[:number], text, *row[number + 1 :]]


@pytest.fixture
def read(tmp_path):
    def write_and_read(content, name="mine.csv"):
        (tmp_path / name).write_text(content)
        return read_templates(tmp_path / name)

    return write_and_read


# Our templates


# Files that are read


@pytest.mark.parametrize(
    ("row", "template_id", "source"),
    [
        (AUTHORED, "mei-1", "authored"),
        ([*TEXTS, "edited:smol", "mei-1"], "mei-1", "edited:smol"),
        ([*TEXTS, "llm:smol", "mei-1"], "mei-1", "llm:smol"),
        (RELEASED, "mine-001", "released:mine"),
    ],
)
def test_row_becomes_a_template_that_says_whose_words_it_holds(read, row, template_id, source):
    text = layout(row)
    table = read(text)
    assert list(table.columns) == list(COLUMNS)
    assert table.to_dict("records") == [MEI | {"template_id": template_id, "source": source}]
    for other in (f"\ufeff{text}", text.replace("\n", "\r\n"), text.rstrip("\n"), f"{text}\n\n"):
        assert read(other).equals(table)


def test_labels_that_stand_beside_are_those_of_their_template(read, tmp_path):
    labels = "template_id,state,author\nmei-2,full,us\ngone,empty,us\n"
    (tmp_path / "mine.labels.csv").write_text(labels)
    table = read(layout(AUTHORED, [*OTHER_TEXTS, "authored", "mei-2"]))
    assert table[list(LABELS)].to_numpy().tolist() == [["", "", ""], ["full", "", ""]]


def test_quotation_marks_in_a_field_are_kept(read):
    sign = 'The sign says "closed; but knock".'
    table = read(layout(changed(AUTHORED, "random_event", sign)))
    assert table["random_event"].item() == sign


# Files that are refused

TWICE = "row 2: its texts or its template_id stand above"
FIVE = "row 1, field story: found .*expected five sentences, each ended by the only full stop in it"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "no template in it"),
        (
            "name,story\nMei,once\n",
            "row 1: found a comma between the columns, expected a semicolon",
        ),
        (layout([*TEXTS, "me", "mei-1"]), "row 1, field writer: found 'me', expected authored"),
        (f"\n\n{layout(changed(AUTHORED, 'random_event', ''))}", "row 3, field random_event"),
        (f"{layout(RELEASED)}\na;b\n", "row 3: found 2 fields"),
        (layout(RELEASED, RELEASED), TWICE),
        (layout(AUTHORED, [*OTHER_TEXTS, "authored", "mei-1"]), TWICE),
        (layout(changed(RELEASED, "story", f"{STORY_TEXT} It costs 3.5 pounds.")), FIVE),
    ],
)
def test_faulty_file_is_told_by_row_and_field(read, content, fault):
    with pytest.raises(InputError, match=rf"mine\.csv(.|\n)*{fault}"):
        read(content)


@given(st.binary(max_size=300))
@settings(max_examples=30, deadline=None)
def test_any_bytes_are_an_input_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"any\.csv"):
        read_templates(path)


CHARACTERS = st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters=".")
CELL = st.text(CHARACTERS, min_size=1, max_size=20)
CELL = CELL.filter(lambda text: text.strip() and not text.startswith(("#", "'", "Err")))


@given(st.lists(CELL, min_size=5, max_size=5), st.lists(CELL, min_size=17, max_size=17))
@settings(max_examples=15, deadline=None)
def test_any_texts_written_in_the_layout_are_read_back(tmp_path_factory, story, cells):
    path = tmp_path_factory.getbasetemp() / "written.csv"
    *texts, name = cells
    row = ["".join(f"{sentence}." for sentence in story), *texts, "authored", name]
    path.write_text(layout(row), encoding="utf-8", newline="")
    [template] = read_templates(path).to_dict("records")
    expected = [f"{sentence.strip()}." for sentence in story] + [text.strip() for text in texts]
    assert [template[field] for field in FIELDS] == expected
    assert template["template_id"] == name.strip()


# Sentences, media, names, structure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mei catches a whiff of smoke.", "smells"),
        ("Mei sees on the label that she should taste it.", "sees"),
        ("Mei oversees the seesaw and unheard things.", ""),
    ],
)
def test_medium_is_the_first_verb_of_perception(text, expected):
    assert medium({"aware_of_event": text}) == expected


@pytest.mark.parametrize(
    ("answer", "name"), [("Mei’s oyster is empty.", "Mei"), ("Mei, so.", "Mei"), ("The oyster", "")]
)
def test_agent_is_the_first_word_of_the_initial_belief_answer(answer, name):
    assert agent_name(answer) == name


SAME = "belief_answer: both options are the same"


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({}, []),
        ({"belief": ""}, ["belief: 0 sentences instead of one"]),
        ({"belief_question": "What does Mei believe."}, ["belief_question: not a question"]),
        ({"causal_event": "Mei's oyster is opened."}, ["causal_event: mentions the agent"]),
        ({"causal_event": "A meister of octopuses opens the oyster."}, []),
        ({"belief_answer_aware": f" {MEI['belief_answer_not_aware'].lower()[:-1]} !"}, [SAME]),
        ({"desire_answer_aware": MEI["desire_answer_not_aware"]}, []),
    ],
)
def test_fault_of_structure_is_named(changes, problems):
    assert structure_problems(MEI | changes) == problems
