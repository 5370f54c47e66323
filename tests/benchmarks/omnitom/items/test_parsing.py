"""Reading belief tables as models write them, and their labels."""

import json
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tomlab.benchmarks.omnitom.items.labels import labels_for
from tomlab.benchmarks.omnitom.items.parsing import (
    EXTRACTION,
    LABELLING,
    normal_label,
    parse,
)
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, Row
from tomlab.scoring.similarity import plain

FACT, BELIEF = Row("world", "The key is in the vase", "0"), Row("Ines", "The key is gone", "1")


def read(text):
    """The usable rows, where nothing was lost."""
    parsed = parse(text)
    assert parsed.lost == []
    assert parsed.reason == ""
    return parsed.rows


# ---- Tables, one rule each -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "| Actor | Belief | Order |\n|---|:---:|--:|\n"
            "| world | The key is in the vase | 0 |\n| Ines | The key is gone | 1 |",
            id="pipes outside and a separator row",
        ),
        pytest.param(
            "Actor | Belief | Order\nworld | The key is in the vase | 0\nInes | The key is gone | 1",
            id="no pipes outside",
        ),
        pytest.param(
            "Actor|Belief|Order\r\n--|--|--\r\nworld|The key is in the vase|0\r\n"
            "Ines|The key is gone|1|\r\n",
            id="a pipe too many at the end",
        ),
        pytest.param(
            "```\n| Actor | Belief | Order |\n| world | The key is in the vase | 0 |\n```\n"
            "```text\nActor|Belief|Order\nInes|The key is gone|1\n```",
            id="code fences, two tables",
        ),
        pytest.param(
            "Here is the table.\n\n| Actor | Belief | Order |\n|---|---|---|\n"
            "| world | The key is in the vase | 0 |\n\nNow Ines, who left.\n\n"
            "| Ines | The key is gone | 1 |\n\nI hope that this helps.",
            id="prose before, between and after",
        ),
        pytest.param(
            "| Actor | Belief | Order |\n| world | The key is in the vase | 0 |\n"
            "| Actor | Belief | Order |\n| Ines | The key is gone | 1 |",
            id="a repeated header",
        ),
        pytest.param(
            "| **Actor** | `Belief` | *Order* |\n| **World** | `The key is in the vase` | __0__ |\n"
            "| *Ines* | ***The key is gone*** | `1` |",
            id="bold, italics and backticks",
        ),
        pytest.param(
            "| Order | # | Belief Proposition | Actors |\n| 0 | 1 | The key is in the vase | WORLD |"
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
    ],
)
def test_table_is_read(text):
    assert read(text) == [FACT, BELIEF]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("| Actor | Belief | Order |\n| Ines | A | 1 |", "pipe table"),
        ("Ines | A | 1\nMax | B | 0", "pipe table"),
        ('[{"actor": "Ines", "belief": "A"}]', "JSON"),
        ("Ines thinks that it is gone.", ""),
    ],
)
def test_form_says_how_the_rows_stood(text, form):
    assert parse(text).form == form


def test_pipe_with_a_backslash_is_part_of_the_belief_and_an_illegal_order_is_none():
    header = "| Actor | Belief | Order |\n"
    [row] = read(header + "| Ines | The sign says A \\| B | 2 |")
    assert row == Row("Ines", "The sign says A | B", "2")
    assert read(header + "| Ines | A | 4 |") == [Row("Ines", "A", "")]


@pytest.mark.parametrize(
    "text",
    [
        'Actor,Belief,Order\nworld,"The key is in the vase",0\nInes,"The key is gone",1',
        "Actor\tBelief\tOrder\nworld\tThe key is in the vase\t0\nInes\tThe key is gone\t1",
    ],
    ids=["CSV", "TSV"],
)
def test_only_pipes_make_a_table_as_in_the_release(text):
    assert parse(text).reason == "no table"


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("| Actor | Belief | Order | Why |", ["| Ines | A | B | 1 | She left |"]),
        ("Actor | Belief | Order", ["The key is gone | 1", "Ines | The key is go"]),
        ("Order | Actor | Belief", ["1 | Ines"]),
        ("Order | Belief | Actor", ["1 | The key is gone"]),
        ("Actor | Belief | Order", ["Ines | The sign says A | B | 2"]),
    ],
    ids=[
        *("surplus cell that two columns can hold", "too few cells", "no belief", "no actor"),
        "a pipe in the belief",
    ],
)
def test_row_whose_cells_cannot_be_told_is_lost(header, rows):
    assert parse("\n".join([header, *rows])).lost == rows


def test_row_without_its_last_labels_is_read_if_the_others_are_legal():
    header = "Actor | Belief | Order | Truth-Status | Context\n"
    [row] = read(header + "Ines | The key is gone | 1 | True")
    assert row.labels == {"order": "1", "truth_status": "True"}
    assert parse(header + "Ines | The key is gone | 1 | Tr").lost


def test_row_without_an_actor_is_lost():
    parsed = parse("| Actor | Belief | Order |\n| Ines | A | 1 |\n| | B | 1 |")
    assert (parsed.rows, parsed.lost) == ([Row("Ines", "A", "1")], ["| | B | 1 |"])


@pytest.mark.parametrize(
    ("written", "actor"),
    [
        *(("World", "world"), ("WORLD", "world"), (" **world** ", "world")),
        *(("Narrator", "Narrator"), ("the world", "the world"), ("world facts", "world facts")),
    ],
)
def test_world_in_any_case_and_no_other_name_is_the_world(written, actor):
    [row] = read(f"Actor | Belief | Order\n{written} | It rains | 0")
    assert row.actor == actor


def test_all_labels_are_read_by_whatever_name_their_column_has():
    text = (
        "Actor | Belief Proposition | Ord | truth status | Knowledge Access | Repr. | Type "
        "| Mental-Source | CONTEXT\nInes | The key is gone | 1 | TRUE | **Private** | implicit "
        "| Location | Perception. | Neutral"
    )
    labels = ["1", "True", "Private", "Implicit", "Location", "Perception", "Neutral"]
    assert read(text) == [
        Row("Ines", "The key is gone", "1", dict(zip(DIMENSIONS, labels, strict=True)))
    ]


def test_table_given_and_repeated_is_not_the_answer():
    text = "Actor | Belief\nInes | A\n\nActor | Belief | Order | Context\nInes | A | 1 | Neutral"
    parsed = parse(text)
    assert [row.labels["context"] for row in parsed.rows] == ["Neutral"]
    assert parsed.lost == ["Ines | A"]


def test_one_row_without_header_is_lost():
    parsed = parse("| Ines | A | 1 |\n| this | that |")
    assert (parsed.rows, len(parsed.lost), parsed.reason) == ([], 2, "no usable row")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty answer"),
        (" \n\t", "empty answer"),
        ("Ines thinks, perhaps, that it is gone.", "no table"),
        ("| Belief | Order |\n| A | 1 |", "no usable row"),
        ("| Actor | Belief | Order |\n|---|---|---|", "no table"),
        ("| Actor | Belief | Order |\n| Ines | | 1 |", "no usable row"),
        ('{"beliefs": []}', "no table"),
        ('{"beliefs": [', "no table"),
    ],
)
def test_reason_why_nothing_is_usable(text, reason):
    parsed = parse(text)
    assert (parsed.rows, parsed.reason) == ([], reason)


# ---- JSON ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            '{"beliefs": [{"actor": "World", "belief": "The key is in the vase", "order": 0}, '
            '{"actor": "Ines", "belief": "The key is gone", "order": "1"}]}',
            id="an object",
        ),
        pytest.param(
            'Here it is: ```json\n[{"Actor": "world", "Belief": "The key is in the vase", '
            '"Order": "0"}, {"Actor": "Ines", "Belief": "The key is gone", "Order": 1}]\n``` {sic}',
            id="a list in prose",
        ),
        pytest.param(
            '{"actor": "world", "belief": "The key is in the vase", "order": 0}\n'
            '{"actor": "Ines", "belief": "The key is gone", "order": "first-order"}',
            id="one after the other",
        ),
        pytest.param(
            '{"plan": {"n": 2}, "result": {"rows": [{"actor": "world", "belief": "The key is in '
            'the vase", "order": 0}, {"actor": "Ines", "belief": "The key is gone", "order": 1}]}}',
            id="deeper",
        ),
        pytest.param(
            '{"beliefs": [{"actor": "world", "belief": "The key is in the vase", "order": 0,},'
            ' {"actor": "Ines", "belief": "The key is gone", "labels": {"order": 1,},},]}',
            id="a comma behind the last value",
        ),
        pytest.param(
            "[{'actor': 'world', 'belief': 'The key is in the vase', 'order': 0},"
            " {'actor': 'Ines', 'belief': 'The key is gone', 'order': 1}]",
            id="single quotes",
        ),
        pytest.param(
            '{actor: "world", belief: "The key is in the vase", order: 0}\n'
            '{actor: "Ines", belief: "The key is gone", order: 1}',
            id="bare keys",
        ),
    ],
)
def test_json_is_read(text):
    assert read(text) == [FACT, BELIEF]


def test_labels_stand_beside_the_belief_or_in_an_object():
    beside = '{"actor": "Ines", "belief": "A", "Truth-Status": true, "order": 2, "context": null}'
    inside = '{"actor": "Ines", "belief": "A", "labels": {"order": "2", "truth_status": "True"}}'
    for text in (beside, inside):
        [row] = read(text)
        assert row.labels == {"order": "2", "truth_status": "True"}


def test_whole_objects_of_cut_off_json_are_kept_and_the_rest_is_lost():
    parsed = parse('{"beliefs": [{"actor": "Ines", "belief": "A", "order": 1}, {"actor": "Max", "b')
    assert parsed.rows == [Row("Ines", "A", "1")]
    assert parsed.lost == ['{"actor": "Max", "b']


@pytest.mark.parametrize(
    "bad",
    [
        '{"actor": "Ines", "belief": "A", "order": 1, "why": [{"sentence": 2}]}',
        '{"actor": "Ines", "beliefs": [{"belief": "A"}, {"belief": "B"}]}',
    ],
)
def test_row_with_other_objects_in_it_is_lost(bad):
    parsed = parse(f'[{bad}, {{"actor": "Max", "belief": "B", "order": 1}}]')
    assert parsed.rows == [Row("Max", "B", "1")]
    assert parsed.lost == [bad[: bad.index("[") + 1]]


def test_bracket_at_the_end_of_a_cut_off_belief_opens_no_list():
    assert parse('[{"actor": "Ines", "belief": "[').lost == ['{"actor": "Ines", "belief": "[']


def test_object_cut_off_in_its_labels_is_lost_once():
    text = '[{"actor": "Ines", "belief": "A", "labels": {"order": "1", "truth_sta'
    parsed = parse(text)
    assert (parsed.rows, len(parsed.lost)) == ([], 1)
    assert parsed.lost[0].startswith('{"actor": "Ines"')


def test_broken_object_between_others_is_lost_alone():
    text = (
        '[{"actor": "Ines", "belief": "A", "order": 1}, {"actor": "Max", "belief": "He said "no"", '
        '"order": 1}, {"actor": "Max", "belief": "B", "order": 1}]'
    )
    parsed = parse(text)
    assert [row.belief for row in parsed.rows] == ["A", "B"]
    assert len(parsed.lost) == 1


@pytest.mark.parametrize("bad", ['{"actor": "Ines"}', '{"actor": 3, "belief": "A"}'])
def test_object_that_is_no_row_is_lost(bad):
    parsed = parse(f'[{bad}, {{"actor": "Max", "belief": "B", "order": 1}}]')
    assert (len(parsed.rows), parsed.lost) == (1, [bad])


def test_row_with_half_a_character_is_lost():
    text = '{"actor": "Max", "belief": "A \\ud83d", "order": 1}'
    assert parse(text).lost == [text]


# ---- Labels --------------------------------------------------------------------------------------


VARIANTS = {
    "order": {
        "1": ["1", "Order 1", "1 (first-order)"],
        "2": [" **2** ", "Second order"],
        "3": ["3."],
    },
    "truth_status": {
        "True": ["TRUE"],
        "False": ["`false`"],
        "Unknown": ["(Unknown)", "U"],
    },
    "knowledge_access": {"Private": ["private."], "Shared": ["__Shared__"]},
    "representation": {"Implicit": ['"Implicit"']},
    "content_type": {
        "Location": ["location"],
        "Contents/Physical State": [
            *("contents / physical-state", "Contents_Physical_State"),
            *("Physical State", "Physical", "Contents"),
        ],
        "Identity/Relation": ["Identity", "Relation"],
        "Desire/Intention": ["Desire & Intention", "Desire", "intention"],
        "Trait/Value": ["Trait", "Value"],
        "Action/Event": ["Action", "Event"],
    },
    "mental_source": {"Testimony": ["Testimony;"]},
    "context": {"Neutral": ["neutral"]},
}
NO_LABELS = {
    "order": ["", "4", "-1", "1.0", "1-2", "1 (second-order)", "Order"],
    "truth_status": [
        *("True/False", "Not true", "!True", "True?", "True, since she saw it", "Yes"),
    ],
    "knowledge_access": ["P", "Common knowledge"],
    "representation": ["Explicit or implicit"],
    "content_type": ["Desire/Emotion", "Action, Event", "Content", "Relationship"],
    "mental_source": ["N/A"],
    "context": ["Neutral (but Temporal)", "True"],
}


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_variant_in_writing_is_the_label_and_anything_else_is_none(dimension):
    for label, texts in VARIANTS[dimension].items():
        assert {text: normal_label(dimension, text) for text in texts} == dict.fromkeys(
            texts, label
        )
    for text in NO_LABELS[dimension]:
        assert normal_label(dimension, text) is None, text


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_legal_labels_are_their_own_variants(dimension):
    for label in DIMENSIONS[dimension]:
        assert normal_label(dimension, label) == label
        assert normal_label(dimension, f"**{label.upper()}**") == label


# ---- Stage 2: whose labels they are --------------------------------------------------------------


def rows_of(*texts):
    return [Row(*text.split(": ", 1)) for text in texts]


def test_rows_in_another_order_are_matched_by_their_text():
    given_rows, answered = rows_of("Ines: It rains", "Max: It rains"), ["max: It rains."]
    predicted = rows_of(*answered, "INES: it  rains")
    assert labels_for(given_rows, predicted) == predicted[::-1]


def test_rows_reworded_are_matched_by_position():
    given_rows = rows_of("Ines: It rains", "Max: It snows")
    predicted = rows_of("Ines: It is raining", "Max: It snows")
    assert labels_for(given_rows, predicted) == predicted


def test_rows_reworded_are_not_matched_if_one_is_missing():
    given_rows = rows_of("Ines: It rains", "Max: It snows", "Max: It is cold")
    predicted = rows_of("Ines: It is raining", "Max: It snows")
    assert labels_for(given_rows, predicted) == [None, predicted[1], None]


def test_row_dropped_and_one_added_elsewhere_are_not_paired():
    given_rows = rows_of("Ines: A", "Ines: B", "Ines: C")
    predicted = rows_of("Ines: A", "Ines: C", "Max: D")
    assert labels_for(given_rows, predicted) == [predicted[0], None, predicted[1]]


def test_equal_beliefs_take_equal_rows_one_to_one():
    given_rows = rows_of("Ines: A", "Ines: A", "Ines: A")
    first, second = Row("Ines", "A", "1"), Row("Ines", "A", "2")
    assert labels_for(given_rows, [first, second]) == [first, second, None]
    assert labels_for(given_rows, []) == [None] * 3


# ---- Any table in any dialect --------------------------------------------------------------------

NAMES = {
    "actor": ["Actor", "actor", "**Actor**"],
    "belief": ["Belief", "Belief Proposition", "belief"],
    "order": ["Order", "Ord", "order"],
    "truth_status": ["Truth-Status", "truth status", "Truth"],
    "knowledge_access": ["Knowledge-Access", "Knowledge Access", "knowledge_access"],
    "representation": ["Representation", "Repr."],
    "content_type": ["Content Type", "Content-Type", "Type"],
    "mental_source": ["Mental-Source", "Mental Source", "Source"],
    "context": ["Context", "context"],
}
ACTORS = st.sampled_from(["world", "Ines", "Max's aunt", "Dr. Ó Néill", "李明", "the two"])
BELIEFS = (
    st.text(alphabet="abK9é明 ,.;:'\"!?|()/-_{}[]#=", min_size=1, max_size=30)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: re.search(r"[^\W_]", text))
    .filter(lambda text: not re.fullmatch(r"(_+).+\1", text))
)


@st.composite
def tables(draw, min_size=1):
    keys = draw(st.sampled_from([EXTRACTION, LABELLING]))
    rows = []
    for actor, belief in draw(st.lists(st.tuples(ACTORS, BELIEFS), min_size=min_size, max_size=5)):
        labels = {key: draw(st.sampled_from(DIMENSIONS[key])) for key in keys[2:]}
        own = labels if len(keys) > 3 else {}
        rows.append(Row(actor, belief, labels["order"], own))
    return keys, rows


def cells(row):
    return {"order": row.order, **row.labels, "actor": row.actor, "belief": row.belief}


def as_pipes(keys, header, rows, outer, ruled):
    def line(texts):
        joined = " | ".join(text.replace("|", r"\|") for text in texts)
        return f"| {joined} |" if outer else joined

    rule = [line(["---"] * len(keys))] if ruled else []
    return "\n".join([line(header), *rule, *(line(cells(r)[k] for k in keys) for r in rows)])


def as_json(rows, nested, flat):
    def one(row):
        labels = {"order": row.order, **row.labels}
        beside = labels if flat else {"labels": labels}
        return {"actor": row.actor, "belief": row.belief, **beside}

    told = [one(row) for row in rows]
    return json.dumps({"beliefs": told} if nested else told, ensure_ascii=False)


@given(tables(), st.data())
def test_any_table_is_read_back_from_any_dialect(table, data):
    keys, rows = table
    keys = data.draw(st.permutations(keys))
    header = [data.draw(st.sampled_from(NAMES[key])) for key in keys]
    flags = [data.draw(st.booleans()) for _ in range(2)]
    text = data.draw(
        st.sampled_from(
            [
                as_pipes(keys, header, rows, *flags),
                as_json(rows, *flags),
            ]
        )
    )
    fenced = data.draw(st.sampled_from(["{}", "```\n{}\n```", "As asked:\n\n{}\n\nAll told."]))
    assert read(fenced.replace("{}", text)) == rows


@given(tables(min_size=2), st.data())
def test_table_without_header_is_read_back(table, data):
    keys, rows = table
    text = as_pipes(keys, [], rows, data.draw(st.booleans()), False).split("\n", 1)[1]
    assert read(text) == rows


@given(tables(), st.data())
def test_cut_off_json_gives_the_rows_that_are_whole(table, data):
    _, rows = table
    text = as_json(rows, data.draw(st.booleans()), data.draw(st.booleans()))
    cut = text[: data.draw(st.integers(0, len(text)))]
    parsed = parse(cut)
    assert parsed.rows == rows[: len(parsed.rows)]
    whole = len(re.findall(r'"actor": "', cut))
    assert whole <= len(parsed.rows) + len(parsed.lost) <= whole + 1


WORDS = st.sampled_from(["Ines", "Max", "It rains", "1", "0", "True", "7", "x"])
LINES = st.lists(WORDS, min_size=2, max_size=5)


@given(st.lists(LINES, max_size=8), st.booleans())
def test_every_line_is_read_or_lost(lines, headed):
    texts = ["|".join(line) for line in lines]
    header = ["Actor|Belief|Order"] if headed else []
    parsed = parse("\n".join(header + texts))
    assert len(parsed.rows) + len(parsed.lost) == len(texts)
    assert all(text in texts for text in parsed.lost)


HOSTILE = st.text(alphabet="| ,\t\n\r\\\"'{}[]:-*_`#1aé\ud800\u2028\x00.")
WORDS_OF_TABLES = 'Actor Belief Order Context world Ines 1 Neutral | , |---| ``` { } [ ] \\ " **'
PIECES = st.lists(
    st.sampled_from(
        [
            *WORDS_OF_TABLES.split(),
            *('{"actor": ', '"belief": ', '"labels": ', '"x"', ", ", "1e999", "NaN"),
            *("\t", "\n", "\x00", "\u2028"),
        ]
    )
).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(), HOSTILE, PIECES))
def test_no_text_is_too_hostile(text):
    parsed = parse(text)
    assert bool(parsed.reason) == (not parsed.rows)
    assert all(lost in text for lost in parsed.lost)
    assert all(row.actor.strip() and row.belief.strip() for row in parsed.rows)
    assert all(row.order in ("", *DIMENSIONS["order"]) for row in parsed.rows)
    for row in parsed.rows:
        assert all(label in ("", *DIMENSIONS[key]) for key, label in row.labels.items())


@pytest.mark.parametrize("text", ['{"a":' * 5000, "[" * 50_000, "|" * 100_000, "a," * 50_000])
def test_long_nonsense_is_read_in_time(text):
    assert parse(text).rows == []


@given(st.sampled_from(list(DIMENSIONS)), st.one_of(st.text(), HOSTILE))
def test_any_text_is_a_legal_label_or_none(dimension, text):
    assert normal_label(dimension, text) in (None, *DIMENSIONS[dimension])


@given(tables(), st.randoms())
def test_every_row_of_a_shuffled_answer_finds_its_belief(table, random):
    _, rows = table
    assume(len({(row.actor, plain(row.belief)) for row in rows}) == len(rows))
    shuffled = random.sample(rows, len(rows))
    assert labels_for(rows, shuffled) == rows
