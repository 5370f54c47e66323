"""Template files, ours and released, good and hostile; templates that a model wrote out."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bigtom_templates import MEI
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items.templates import (
    AFTER_STORY,
    COLUMNS,
    FIELDS,
    LABELS,
    STORY,
    agent_name,
    medium,
    read_templates,
    sentences,
    stories,
    structure_problems,
    template_table,
)
from tomlab.errors import InputError
from tomlab.paths import DATA

OURS = DATA / "bigtom" / "bigtom.csv"
STORY_TEXT = " ".join(MEI[name] for name in STORY)
TEXTS = [STORY_TEXT, *(MEI[name] for name in AFTER_STORY)]
RELEASED = [*TEXTS, "auto", "0"]
AUTHORED = [*TEXTS, "authored", "mei-1"]
OTHER = [STORY_TEXT.replace("Mei", "Asel"), *TEXTS[1:]]


def layout(*rows):
    """Rows in the layout of the release."""
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()


def changed(row, field, text):
    """A row with another text in a field, "story" or one of `AFTER_STORY`."""
    at = ["story", *AFTER_STORY].index(field)
    return [*row[:at], text, *row[at + 1 :]]


@pytest.fixture
def file(tmp_path):
    def write(content, name="mine.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture(scope="module")
def ours():
    return read_templates(OURS)


@pytest.fixture
def complaint(file):
    def read(content):
        with pytest.raises(InputError) as caught:
            read_templates(file(content))
        assert "mine.csv" in str(caught.value)
        return str(caught.value)

    return read


# Reading


@pytest.mark.skipif(not OURS.is_file(), reason="data/bigtom is missing: `make data` pulls it")
class TestOurs:
    def test_no_agent_and_no_story_comes_twice(self, ours):
        assert ours["agent"].is_unique
        assert len(set(stories(ours))) == len(ours)

    def test_states_mechanisms_and_media_are_as_diverse_as_those_of_table_12(self, ours):
        """No label of ours comes twice; those of mechanisms name particulars ("a goat"), not kinds.

        In the release 154 and 76 kinds are found in 200 templates.
        """
        assert ours["state"].is_unique
        assert ours["mechanism"].is_unique
        often = ours["medium"].value_counts()
        assert len(often) == 7
        assert often.max() <= 2 * often.min()

    def test_every_template_keeps_to_the_structure(self, ours):
        found = {t["template_id"]: structure_problems(t) for t in ours.to_dict("records")}
        assert {name: problems for name, problems in found.items() if problems} == {}

    def test_every_template_is_authored_and_labelled(self, ours):
        assert set(ours["source"]) == {"authored"}
        assert (ours[list(LABELS)] != "").all(axis=None)

    def test_code_that_divides_the_released_file_at_semicolons_and_full_stops_reads_ours(self):
        for line in OURS.read_text(encoding="utf-8").splitlines():
            fields = line.split(";")
            assert len(fields) == 19
            assert len(fields[0].split(".")) == 6
            assert '"' not in line


def test_authored_row_has_the_name_that_its_last_field_says(file):
    [template] = read_templates(file(layout(AUTHORED))).to_dict("records")
    assert template == MEI | {"template_id": "mei-1", "source": "authored"}


def test_a_row_says_whose_words_it_holds(file, complaint):
    rows = [[*TEXTS, "edited:smol", "mei-1"], [*OTHER, "llm:smol", "mei-2"]]
    assert [*read_templates(file(layout(*rows)))["source"]] == ["edited:smol", "llm:smol"]
    said = complaint(layout([*TEXTS, "me", "mei-1"]))
    assert "row 1, field writer: found 'me', expected authored, llm:<model>" in said


def test_released_file_becomes_a_template_table_without_labels(file):
    table = read_templates(file(layout(RELEASED), name="bigtom.csv"))
    assert list(table.columns) == list(COLUMNS)
    expected = MEI | {"template_id": "bigtom-001", "source": "released:bigtom"}
    assert table.to_dict("records") == [expected]


def test_a_copy_of_our_file_with_a_row_edited_composes_items(file):
    rows = [*csv.reader(OURS.read_text(encoding="utf-8").splitlines(), delimiter=";")]
    own = [cell.replace("Zsombor", "Bela") for cell in rows[0]]
    items = bigtom.read_released(file(layout([*own[:-1], "mine-1"], *rows[1:])))
    assert len(items) == 2500
    expected = bigtom.read_released(OURS).query("group_id == 'authored-001'")
    found = items[items["group_id"] == "mine-1"]
    assert [*found["story"]] == [s.replace("Zsombor", "Bela") for s in expected["story"]]


def test_labels_that_stand_beside_are_those_of_their_template(file):
    labels = pd.DataFrame({"template_id": ["mei-2", "gone"], "state": ["full", "empty"]})
    labels.assign(author="us").to_csv(file("", "mine.labels.csv"), index=False)
    table = read_templates(file(layout(AUTHORED, [*OTHER, "authored", "mei-2"])))
    assert table[list(LABELS)].to_numpy().tolist() == [["", "", ""], ["full", "", ""]]


def test_empty_file_holds_no_template(file, complaint):
    assert "no template in it" in complaint("")
    assert read_templates(file(""), may_be_empty=True).empty


def test_quotation_marks_in_a_field_are_kept(file):
    sign = 'The sign says "closed; but knock".'
    row = changed(AUTHORED, "random_event", sign)
    [template] = read_templates(file(layout(row))).to_dict("records")
    assert template["random_event"] == sign


@pytest.mark.parametrize("row", [AUTHORED, RELEASED], ids=["authored", "released"])
def test_byte_order_mark_line_ends_and_empty_lines_are_harmless(file, row):
    text = layout(row)
    plain = read_templates(file(text))
    for other in ("\ufeff" + text, text.replace("\n", "\r\n"), text.rstrip("\n"), text + "\n\n"):
        assert read_templates(file(other)).equals(plain)


@pytest.mark.parametrize("text", ["name,story\nMei,once\n", "template_id,agent\n1,Mei\n"])
def test_file_divided_by_commas_is_told(complaint, text):
    assert "row 1: found a comma between the columns, expected a semicolon" in complaint(text)


def test_row_below_an_empty_line_keeps_its_own_number(complaint):
    row = changed(AUTHORED, "random_event", "")
    assert "row 3, field random_event" in complaint(f"\n\n{layout(row)}")
    assert "row 3: found 2 fields" in complaint(layout(RELEASED) + "\na;b\n")


def test_row_or_name_that_stands_twice_is_told(complaint):
    twice = "row 2: its texts or its template_id stand above"
    assert twice in complaint(layout(RELEASED, RELEASED))
    assert twice in complaint(layout(AUTHORED, [*TEXTS, "authored", "mei-2"]))
    assert twice in complaint(layout(AUTHORED, [*OTHER, "authored", "mei-1"]))


def test_all_problems_come_at_once(complaint):
    short = changed(changed(AUTHORED, "random_event", ""), "action_question", "")
    said = complaint(layout(short, ["a"]))
    assert "3 problems" in said
    assert "row 1, field random_event" in said
    assert "row 1, field action_question" in said
    assert "row 2: found 1 fields" in said


def test_released_row_with_a_field_too_many_is_named(complaint):
    said = complaint(layout(RELEASED, [*OTHER, "auto", "0", "0"]))
    assert "row 2: found 20 fields, expected 19" in said


@pytest.mark.parametrize("more", [" And then.", " It costs 3.5 pounds.", ""])
def test_story_that_is_not_of_five_sentences_is_named(complaint, more):
    story = STORY_TEXT + more if more else STORY_TEXT.replace(". ", " ", 1)
    said = complaint(layout([story, *RELEASED[1:]]))
    assert "row 1, field story: found " in said
    assert "expected five sentences, each ended by the only full stop in it" in said


@given(st.binary(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_a_table_or_an_input_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"any\.csv"):
        read_templates(path)


SHOWN = st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters=".")
CELL = st.text(SHOWN, min_size=1).filter(
    lambda text: text.strip() and not text.startswith(("#", "'", "Err"))
)


@given(st.lists(CELL, min_size=5, max_size=5), st.lists(CELL, min_size=17, max_size=17))
@settings(max_examples=60, deadline=None)
def test_any_texts_written_in_the_layout_are_read_back(tmp_path_factory, story, cells):
    path = tmp_path_factory.getbasetemp() / "written.csv"
    *texts, name = cells
    row = ["".join(f"{sentence}." for sentence in story), *texts, "authored", name]
    path.write_text(layout(row), encoding="utf-8", newline="")
    [template] = read_templates(path).to_dict("records")
    expected = [f"{sentence.strip()}." for sentence in story] + [text.strip() for text in texts]
    assert [template[field] for field in FIELDS] == expected
    assert template["template_id"] == name.strip()


# The rules about single sentences


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("Mei dives", 0),
        ("Mei dives.", 1),
        ("Mei dives. She collects the oyster.", 2),
        ("Will Mei dive?", 1),
        ("Mei waits ...", 1),
        ("The water is 3.5 degrees warm.", 1),
        ('The sign says "closed."', 1),
        ("Dr. Mei dives at 5 a.m. with her knife.", 1),
    ],
)
def test_sentences_are_counted_by_their_end_marks(text, count):
    assert sentences(text) == count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mei catches a whiff of smoke.", "smells"),
        ("Mei tastes the soup.", "tastes"),
        ("Mei touches the plate.", "feels"),
        ("Mei reads the label.", "reads"),
        ("Mei receives a message.", "told"),
        ("Mei is informed by a diver.", "told"),
        ("Mei sees on the label that she should taste it.", "sees"),
        ("Mei hears a noise and sees the octopus.", "hears"),
        ("Mei knows the octopus.", ""),
        ("Mei oversees the seesaw and unheard things.", ""),
    ],
)
def test_medium_is_the_first_verb_of_perception(text, expected):
    assert medium({"aware_of_event": text}) == expected


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("Mei believes the oyster is empty.", "Mei"),
        ("Mei's oyster is empty.", "Mei"),
        ("Mei’s oyster is empty.", "Mei"),
        ("Mei, the diver, believes so.", "Mei"),
        ("Mei.", "Mei"),
        ("", ""),
    ],
)
def test_agent_is_the_first_word_of_the_initial_belief_answer(answer, name):
    assert agent_name(answer) == name


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("Mei dives.", "mei  dives", True),
        ("Mei dives!", " Mei dives?", True),
        ("Mei dives.", "Mei does not dive.", False),
    ],
)
def test_case_spacing_and_end_marks_make_no_difference(one, other, equal):
    options = {"belief_answer_aware": one, "belief_answer_not_aware": other}
    fault = "belief_answer: both options are the same"
    assert (fault in structure_problems({**MEI, **options})) is equal


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        ({"belief": ""}, ["belief: 0 sentences instead of one"]),
        ({"belief": "Mei dives. She looks."}, ["belief: 2 sentences instead of one"]),
        ({"belief": "Mei dives"}, ["belief: 0 sentences instead of one"]),
        ({"belief_question": "What does Mei believe."}, ["belief_question: not a question"]),
        ({"causal_event": "An octopus swims past Mei."}, ["causal_event: mentions the agent"]),
        ({"causal_event": "Mei's oyster is opened."}, ["causal_event: mentions the agent"]),
        (
            {"belief_answer_aware": "Mei believes the oyster she spotted contains a pearl !"},
            ["belief_answer: both options are the same"],
        ),
        (
            {"action_answer_aware": MEI["action_answer_not_aware"]},
            ["action_answer: both options are the same"],
        ),
        (
            {"belief": "", "action_question": "Mei dives."},
            ["belief: 0 sentences instead of one", "action_question: not a question"],
        ),
    ],
)
def test_fault_of_structure_is_named(change, problems):
    assert structure_problems({**MEI, **change}) == problems


@pytest.mark.parametrize(
    "change",
    [
        {"causal_event": "A meister of octopuses opens the oyster."},
        {"agent": "", "causal_event": "Mei's oyster is opened."},
        {"desire_answer_aware": MEI["desire_answer_not_aware"]},
    ],
    ids=["name within a word", "no name known", "desires may be equal"],
)
def test_what_looks_like_a_fault_and_is_none(change):
    assert structure_problems({**MEI, **change}) == []


def test_story_is_its_five_sentences_in_order():
    assert stories(template_table([MEI])) == [STORY_TEXT]
