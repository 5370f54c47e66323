"""Answers in forms that the released evaluation reads: headings, surplus cells, orders."""

import pytest

from tomlab.benchmarks.omnitom.items.labels import column, normal_label
from tomlab.benchmarks.omnitom.items.parsing import parse
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, Row

# An answer to the labelling of a story, as one model writes it: U+2011 in three of its headings.
LABELLED = """\
Here is the labelled table:

| Actor | Belief | Order | Truth{0}Status | Knowledge{0}Access | Representation | Content Type \
| Mental{0}Source | Context |
|-------|--------|-------|--------------|------------------|----------------|--------------\
|---------------|---------|
| world | Rebecca’s birthday is coming soon | 0 | True | Public | Explicit | Action/Event \
| Narration | Neutral |
| Rebecca | A dog would be a good birthday gift | 1 | Unknown | Private | Implicit \
| Desire/Intention | Inference | Neutral |

All labels follow the narrative.
"""
GIFT = ["1", "Unknown", "Private", "Implicit", "Desire/Intention", "Inference", "Neutral"]
GIFT = dict(zip(DIMENSIONS, GIFT, strict=True))
# Of a story extracted, each row with a remark behind its last column.
REMARKED = """\
| Actor | Belief | Order |
|---|---|---|
| world | Alice moves the object to the safe | 0 | stated |
| Alice | The object is in the safe | 1 | inferred from her action |
| Bob | The object is in the box | 1 | stated |
| Alice | Bob thinks the object is in the box | 2 | inferred |
"""
SAFE = [
    Row("world", "Alice moves the object to the safe", "0"),
    Row("Alice", "The object is in the safe", "1"),
    Row("Bob", "The object is in the box", "1"),
    Row("Alice", "Bob thinks the object is in the box", "2"),
]
DASHES = ["\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2015", "\u2212"]


@pytest.mark.parametrize("mark", ["-", *DASHES, "\u00a0", "\u202f", " \u2011 ", "\u200b", ""])
def test_headings_have_any_dash_or_space(mark):
    parsed = parse(LABELLED.format(mark))
    assert (len(parsed.rows), parsed.lost) == (2, [])
    assert parsed.rows[1].labels == GIFT


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("Truth-Status", "Truth Value"),
        ("Truth-Status", "Veracity"),
        ("Knowledge-Access", "Accessibility"),
        ("Representation", "Representation Type"),
        ("Content Type", "Category"),
        ("Mental-Source", "Mental State"),
        ("Actor", "Name"),
        ("Representation | Content Type", "Form | Kind"),
    ],
)
def test_heading_that_names_no_column_is_taken_by_its_place(asked, written):
    parsed = parse(LABELLED.format("-").replace(asked, written))
    assert (len(parsed.rows), parsed.lost) == (2, [])
    assert parsed.rows[1].labels == GIFT


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("Truth-Status", "Context"),
        ("Context", "Order"),
        ("Truth-Status | Knowledge-Access", "Veracity | Truth-Status"),
    ],
)
def test_heading_that_names_another_column_is_never_taken_by_its_place(asked, written):
    rows = parse(LABELLED.format("-").replace(asked, written)).rows
    assert all(not DIMENSIONS.keys() <= row.labels.keys() for row in rows)


def test_prose_about_the_columns_is_no_header():
    prose = "Labels: Actor, Belief, Order, Truth-Status, Access, Form, Content, Source, Context"
    assert parse(f"{LABELLED.format('-')}\n{prose}\nInes, gone, 1, True, no").lost == []


@pytest.mark.parametrize("mark", DASHES)
def test_labels_and_rules_have_any_dash(mark):
    assert normal_label("order", f"first{mark}order") == "1"
    assert normal_label("content_type", f"Contents{mark}Physical State") == (
        "Contents/Physical State"
    )
    rule = f"|{mark * 3}|{mark * 3}|{mark * 3}|"
    parsed = parse(f"| Actor | Belief | Order |\n{rule}\n| Ines | The key is gone | 1 |")
    assert (len(parsed.rows), parsed.lost) == (1, [])


# ---- One cell too many ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(REMARKED, id="pipes"),
        pytest.param("\n".join(t.strip("| ") for t in REMARKED.splitlines()), id="no outer pipes"),
    ],
)
def test_surplus_cell_is_dropped_and_counted(text):
    parsed = parse(text.replace("|---|---|---|", ""))
    assert parsed.rows == SAFE
    assert (len(parsed.lost), parsed.dropped) == (0, 4)


def test_surplus_cell_behind_nine_is_dropped_and_counted():
    parsed = parse(
        LABELLED.format("-").replace("| Inference | Neutral |", "| Inference | Neutral | 5 |")
    )
    assert (parsed.rows[1].labels, parsed.dropped) == (GIFT, 1)


def test_surplus_label_is_no_part_of_the_belief():
    parsed = parse("Actor | Belief | Order\nInes | The key is gone | 1 | 2")
    assert parsed.rows == [Row("Ines", "The key is gone", "1")]
    assert parsed.dropped == 1


@pytest.mark.parametrize(
    "row",
    [
        "1 | Ines | The key is gone | 1",  # a number before the actor
        "Ines | gone | The key | 1 | stated",  # no label under its heading
        "Ines | The key is gone | | 1 | stated",  # an empty cell in between
    ],
)
def test_row_that_fits_its_headings_in_no_way_is_lost(row):
    parsed = parse(f"Actor | Belief | Order\n{row}")
    assert (parsed.rows, parsed.lost, parsed.dropped) == ([], [row], 0)


# ---- A cell too few ------------------------------------------------------------------------------


def test_label_whose_cell_is_not_there_is_told_from_an_empty_one():
    header = "| Actor | Belief | Order | Truth-Status | Context |\n"
    short, empty = parse(f"{header}| Ines | A | 1 | True |\n| Max | B | 1 | True | |").rows
    assert short.labels == {"order": "1", "truth_status": "True"}
    assert empty.labels == {"order": "1", "truth_status": "True", "context": ""}


# ---- Orders --------------------------------------------------------------------------------------

ORDERS = {
    "0": ["0th", "zero", "Zeroth", "zero-order", "order-0", "Level 0"],
    "1": ["1st", "first", "First-order", "1st order", "order 1", "one", "1 (first)", "depth: 1"],
    "2": ["2nd", "second", "2+", "order-2+", "Order 2+", "second-order belief", "2 or higher"],
    "3": ["3rd", "third", "3+", "third-order", "order: 3", "three", "third order (3)"],
}


@pytest.mark.parametrize(("label", "text"), [(k, t) for k, own in ORDERS.items() for t in own])
def test_orders_in_words_and_figures(label, text):
    assert normal_label("order", text) == label


@pytest.mark.parametrize(
    "text", ["4th", "higher", "1/2", "2 or 3", "first or second", "-1", "1.5", "order", "+", "none"]
)
def test_what_settles_no_order_is_none(text):
    assert normal_label("order", text) is None


@pytest.mark.parametrize(
    "header",
    [
        "Actor | Statement | Depth",
        "Person | Statement | Level",
        "Believer | Claim | Belief level",
        "Agent | Belief content | Recursion depth",
        "**Actor Name** | **Belief Statement** | **Belief Order**",
    ],
)
def test_headings_by_near_synonyms(header):
    rows = "world | The key is in the vase | 0\nInes | The key is gone | 1"
    parsed = parse(f"{header}\n{rows}")
    assert [row.order for row in parsed.rows] == ["0", "1"]


def test_headings_of_dimensions_brackets_and_other_columns():
    for name in ("Order (0-3)", "**Order** [0/1/2/3]", "[Order]", "Order {0, 1}"):
        assert column(name) == "order"
    for name in ("Content", "Type", "Status", "Source", "Truth", "Access"):
        assert column(name) in DIMENSIONS
    for name in ("Why", "Evidence", "#", "No.", "Mood", "", "Perspective", "Text"):
        assert column(name) is None
