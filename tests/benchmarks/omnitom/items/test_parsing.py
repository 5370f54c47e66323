"""Reading belief tables as models write them, their headings and their labels."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.benchmarks.omnitom.items.parsing import EXTRACTION, LABELLING, normal_label, parse
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, Row

limited = settings(max_examples=30, deadline=None)
FACT = Row("world", "The key is in the vase", "0")
GONE = Row("Ines", "The key is gone", "1")
HEADER = "Actor | Belief | Order\n"


def rows_of(text):
    """The usable rows, where nothing was lost."""
    parsed = parse(text)
    assert (parsed.lost, parsed.reason) == ([], "")
    return parsed.rows


# Tables


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "| Actor | Belief | Order |\n|---|:---:|--:|\n"
            "| world | The key is in the vase | 0 |\n| Ines | The key is gone | 1 |",
            id="pipes outside and a separator row",
        ),
        pytest.param(
            "Actor|Belief|Order\r\n--|‑‑|——\r\nworld|The key is in the vase|0\r\n"
            "Ines|The key is gone|1|\r\n",
            id="other dashes, a pipe too many at the end",
        ),
        pytest.param(
            "Here it is.\n```\n| Actor | Belief | Order |\n| world | The key is in the vase | 0 |\n```\n"
            "Now Ines:\n```text\nActor|Belief|Order\nInes|The key is gone|1\n```",
            id="code fences, prose, two tables",
        ),
        pytest.param(
            "| **Actor** | `Belief` | *Order* |\n| **World** | `The key is in the vase` | __0__ |\n"
            "| *Ines* | ***The key is gone*** | `1` |",
            id="bold, italics and backticks",
        ),
        pytest.param(
            "| Belief level | # | Statement | Person |\n| zero | 1 | The key is in the vase | WORLD |"
            "\n| Order 1 | 2 | The key is gone | Ines |",
            id="columns in another order, among others, by other names",
        ),
        pytest.param(
            "- Actor | Belief | Order\n- world | The key is in the vase | 0\n"
            "2. Ines | The key is gone | 1",
            id="list marks",
        ),
        pytest.param(
            "| world | The key is in the vase | 0 |\n| Ines | The key is gone | 1 |",
            id="no header, two rows alike",
        ),
        pytest.param(
            '{"plan": {"n": 2}, "result": {"rows": [{"actor": "World", "belief": "The key is in '
            'the vase", "order": 0}, {"actor": "Ines", "belief": "The key is gone", "order": 1}]}}',
            id="JSON, deep down",
        ),
    ],
)
def test_rows_are_read(text):
    assert rows_of(text) == [FACT, GONE]


def test_pipe_with_a_backslash_is_part_of_the_belief_and_an_illegal_order_is_none():
    [row] = rows_of(f"{HEADER}Ines | The sign says A \\| B | 4")
    assert row == Row("Ines", "The sign says A | B", "")


@pytest.mark.parametrize(
    "row",
    [
        "Ines | A | B | 1 | She left",  # the belief may end in either cell
        "The key is gone | 1",
        "Ines | The key is go",
        "1 | Ines | The key is gone | 1",
        "| | The key is gone | 1 |",
        "Ines | | 1",
    ],
)
def test_row_that_does_not_fit_its_headings_is_lost(row):
    parsed = parse(f"{HEADER}{row}\nMax | B | 0")
    assert (parsed.rows, parsed.lost, parsed.dropped) == ([Row("Max", "B", "0")], [row], 0)


def test_cells_behind_the_last_heading_are_dropped_and_counted():
    parsed = parse(
        f"{HEADER}world | The key is in the vase | 0 | stated\nInes | The key is gone | 1 | 2"
    )
    assert (parsed.rows, parsed.lost, parsed.dropped) == ([FACT, GONE], [], 2)


def test_row_without_its_last_labels_is_read_if_the_others_are_legal():
    header = "Actor | Belief | Order | Truth-Status | Context\n"
    short, empty = rows_of(f"{header}Ines | A | 1 | True\nMax | B | 1 | True | |")
    assert short.labels == {"order": "1", "truth_status": "True"}
    assert empty.labels == {"order": "1", "truth_status": "True", "context": ""}
    assert parse(f"{header}Ines | The key is gone | 1 | Tr").lost


@pytest.mark.parametrize(("written", "actor"), [(" **WORLD** ", "world"), ("A world", "A world")])
def test_world_in_any_case_and_no_other_name_is_the_world(written, actor):
    [row] = rows_of(f"{HEADER}{written} | It rains | 0")
    assert row.actor == actor


def test_table_given_and_repeated_is_not_the_answer():
    parsed = parse(
        "Actor | Belief\nInes | A\n\nActor | Belief | Order | Context\nInes | A | 1 | Neutral"
    )
    assert [row.labels["context"] for row in parsed.rows] == ["Neutral"]
    assert parsed.lost == ["Ines | A"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" \n\t", "empty answer"),
        ("Ines thinks, perhaps, that it is gone.", "no table"),
        ("Actor,Belief,Order\nInes,The key is gone,1", "no table"),
        ("| Actor | Belief | Order |\n|---|---|---|", "no table"),
        ("| Belief | Order |\n| A | 1 |", "no usable row"),
        ("| Ines | A | 1 |\n| this | that |", "no usable row"),
    ],
)
def test_reason_why_nothing_is_usable(text, reason):
    parsed = parse(text)
    assert (parsed.rows, parsed.reason, parsed.form) == ([], reason, "")


# JSON


def test_labels_stand_beside_the_belief_or_in_an_object():
    beside = '{"actor": "Ines", "belief": "A", "Truth-Status": true, "order": 2, "context": null}'
    inside = '{"actor": "Ines", "belief": "A", "labels": {"order": "2", "truth_status": "True"}}'
    for text in (beside, inside):
        [row] = rows_of(text)
        assert row.labels == {"order": "2", "truth_status": "True"}


@pytest.mark.parametrize(
    ("bad", "lost"),
    [
        ('{"actor": "Ines"}', '{"actor": "Ines"}'),
        ('{"actor": "Ines", "why": [{"n": 2}]}', '{"actor": "Ines", "why": ['),
        ('{"actor": "Ines", "belief": "A \\ud83d"}', '{"actor": "Ines", "belief": "A \\ud83d"}'),
        ('{"actor": "Ines", "belief": "[', None),
        ('{"actor": "Ines", "belief": "A", "labels": {"order": "1", "truth_sta', None),
        ('{"actor": "Ines", "belief": "She said "no"", "order": 1}', None),
    ],
)
def test_object_that_is_no_row_or_cut_off_is_lost_alone(bad, lost):
    whole = '{"actor": "Max", "belief": "B", "order": 1}'
    parsed = parse(f"[{whole}, {bad}")
    assert parsed.rows == [Row("Max", "B", "1")]
    assert parsed.lost == [lost or bad]


# Headings

LABELS = ["1", "Unknown", "Private", "Implicit", "Desire/Intention", "Inference", "Neutral"]
GIFT = Row("Ines", "A dog is a good gift", "1", dict(zip(DIMENSIONS, LABELS, strict=True)))
HEADINGS = (
    "Actor | Belief | Order | Truth-Status | Knowledge-Access | Representation | Content Type"
    " | Mental-Source | Context"
)


def labelled(headings):
    return f"{headings}\n{' | '.join([GIFT.actor, GIFT.belief, *LABELS])}"


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("-", "\u2011"),
        ("-", "\u2212"),
        ("-", ""),
        ("Truth-Status", "Veracity"),
        ("Actor", "Name"),
        ("Representation | Content Type", "Form | Kind"),
        ("Belief | Order", "Belief Proposition | Ord"),
        ("Context", "**CONTEXT** [Neutral, …]"),
    ],
)
def test_heading_has_any_dash_and_goes_by_another_name_or_by_its_place(asked, written):
    assert rows_of(labelled(HEADINGS.replace(asked, written))) == [GIFT]


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("Context", "Order"),
        ("Truth-Status | Knowledge-Access", "Veracity | Truth-Status"),
    ],
)
def test_heading_that_names_another_column_is_never_taken_by_its_place(asked, written):
    for row in parse(labelled(HEADINGS.replace(asked, written))).rows:
        assert not DIMENSIONS.keys() <= row.labels.keys()


# Labels


@pytest.mark.parametrize(
    ("dimension", "label", "texts"),
    [
        ("order", "0", "0th, zero-order, Level 0"),
        ("order", "1", "First-order, 1st order, 1 (first-order), depth: 1, first‑order"),
        ("order", "2", " **2** , 2+, order-2+, second-order belief, 2 or higher"),
        ("order", "3", "3., third order (3)"),
        ("order", None, "4, -1, 1.0, 1-2, 1 (second-order), 2 or 3, 1/2, Order, +"),
        ("truth_status", "True", "TRUE, t"),
        ("truth_status", "Unknown", "(Unknown), `unknown`"),
        ("truth_status", None, "True/False, Not true, !True, True?, Yes"),
        ("knowledge_access", "Private", "private., __Private__"),
        ("knowledge_access", None, "P, Common knowledge"),
        ("content_type", "Contents/Physical State", "Contents_Physical‑State, Physical"),
        ("content_type", "Desire/Intention", "Desire & Intention, intention"),
        ("content_type", None, "Desire/Emotion, Content"),
        ("context", None, "Neutral (but Temporal), True"),
    ],
)
def test_variant_in_writing_is_the_label_and_anything_else_is_none(dimension, label, texts):
    for text in texts.split(", "):
        assert normal_label(dimension, text) == label, text


@limited
@given(st.sampled_from(list(DIMENSIONS)), st.text())
def test_any_text_is_a_legal_label_or_none(dimension, text):
    assert normal_label(dimension, text) in (None, *DIMENSIONS[dimension])
    for label in DIMENSIONS[dimension]:
        assert normal_label(dimension, f"**{label.upper()}**") == label


# Any table in any dialect

actors = st.sampled_from(["world", "Ines", "Max's aunt", "Dr. Ó Néill", "李明", "the two"])
beliefs = (
    st.text(alphabet="abK9é明 ,.;:'\"!?|()/-_{}[]#=", min_size=1, max_size=30)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: re.search(r"[^\W_]", text) and not re.fullmatch(r"(_+).+\1", text))
)


@st.composite
def tables(draw):
    keys = draw(st.sampled_from([EXTRACTION, LABELLING]))
    rows = []
    for actor, belief in draw(st.lists(st.tuples(actors, beliefs), min_size=1, max_size=5)):
        labels = {key: draw(st.sampled_from(DIMENSIONS[key])) for key in keys[2:]}
        rows.append(Row(actor, belief, labels["order"], labels if len(labels) > 1 else {}))
    return keys, rows


def as_pipes(keys, rows, edge):
    lines = [keys, ["---"] * len(keys)]
    for row in rows:
        cells = vars(row) | row.labels
        lines.append([cells[key].replace("|", r"\|") for key in keys])
    return "\n".join(edge + " | ".join(line) + edge for line in lines)


def as_json(rows, is_nested, has_labels):
    beliefs = []
    for row in rows:
        labels = {"order": row.order} | row.labels
        fields = {"labels": labels} if has_labels else labels
        beliefs.append({"actor": row.actor, "belief": row.belief} | fields)
    return json.dumps({"beliefs": beliefs} if is_nested else beliefs, ensure_ascii=False)


@limited
@given(tables(), st.data(), st.sampled_from(["", "|"]), st.booleans(), st.booleans())
def test_any_table_is_read_back_from_any_dialect(table, data, edge, is_nested, has_labels):
    keys, rows = table
    keys = data.draw(st.permutations(keys))
    frame = data.draw(st.sampled_from(["{}", "```\n{}\n```", "As asked:\n\n{}\n\nAll told."]))
    for text in (as_pipes(keys, rows, edge), as_json(rows, is_nested, has_labels)):
        assert rows_of(frame.replace("{}", text)) == rows


@limited
@given(tables(), st.data(), st.booleans(), st.booleans())
def test_cut_off_json_gives_the_rows_that_are_whole(table, data, is_nested, has_labels):
    _, rows = table
    text = as_json(rows, is_nested, has_labels)
    cut = text[: data.draw(st.integers(0, len(text)))]
    parsed = parse(cut)
    assert parsed.rows == rows[: len(parsed.rows)]
    n_begun = cut.count('"actor": "')
    assert n_begun <= len(parsed.rows) + len(parsed.lost) <= n_begun + 1


cells = st.sampled_from(["Ines", "Max", "It rains", "1", "0", "True", "7", "x"])


@limited
@given(st.lists(st.lists(cells, min_size=2, max_size=5).map("|".join), max_size=8))
def test_every_line_is_read_or_lost(lines):
    for text in ("\n".join(lines), "\n".join([HEADER, *lines])):
        parsed = parse(text)
        assert len(parsed.rows) + len(parsed.lost) == len(lines)
        assert all(lost in lines for lost in parsed.lost)


HOSTILE = (
    'Actor Belief Order Context world Ines 1 Neutral | , |---| ``` { } [ ] \\ " ** "x" 1e999 NaN'
    ' {"actor": "belief": "labels": \ud800'
)
pieces = st.sampled_from([*HOSTILE.split(), " ", "\t", "\n", "\r", "\x00", "\u2028"])


@settings(max_examples=150, deadline=None)
@given(st.text() | st.lists(pieces).map("".join))
def test_no_text_is_too_hostile(text):
    parsed = parse(text)
    assert bool(parsed.reason) == (not parsed.rows)
    assert all(lost in text for lost in parsed.lost)
    for row in parsed.rows:
        assert row.actor.strip() and row.belief.strip()
        for name, label in row.labels.items():
            assert label in ("", *DIMENSIONS[name])


@pytest.mark.parametrize("text", ['{"a":' * 5000, "[" * 50_000, "|" * 100_000, "a," * 50_000])
def test_long_nonsense_is_read_in_time(text):
    assert parse(text).rows == []
