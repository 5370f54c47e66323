"""OmniToM's candidate gold by models, and annotators' files: what is read, what is counted."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from one_cell import ran
from scripted_writers import ERROR, asked, said, wrote
from tomlab.asking.attempts import OUTCOME
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom.items import filtering
from tomlab.benchmarks.omnitom.items.filtering import (
    read_annotations,
)
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, read_records, write_records
from tomlab.benchmarks.omnitom.items.writing import EXTRACTION, FIELDS, LABELLING
from tomlab.errors import InputError
from tomlab.paths import DATA

OWN = read_records(DATA / "omnitom" / "stories.jsonl")
STORY = "Ada puts the key in the bowl and goes out. Ben moves the key to the drawer."
STORIES = [{"story_id": 3001, "story_category": "False Belief Task", "story": STORY}]
EXTRACTED = """Actor | Belief | Order
world | Ben moves the key to the drawer | 0
Ada | The key is in the bowl | 1
Ben | Ada thinks the key is in the bowl | 2
"""
LABELS = [
    "0 | True | Private | Explicit | Action/Event | Narration | Neutral",
    "1 | False | Private | Implicit | Location | Memory | Temporal",
    "2 | True | Private | Implicit | Epistemic | Inference | Neutral",
]
HEADER = "Actor | Belief | Order | Truth-Status | Knowledge-Access | Representation"
HEADER += " | Content Type | Mental-Source | Context"


def label_table(labels=LABELS):
    given = [line.rpartition(" | ")[0] for line in EXTRACTED.splitlines()[1:]]
    return "\n".join([HEADER, *(f"{g} | {own}" for g, own in zip(given, labels, strict=False))])


def unlabelled(text=EXTRACTED):
    """The story with what a model extracted."""
    options = {"examples": OWN, "max_tokens": 50}
    writer = wrote(EXTRACTION, STORIES, [said(text)], "llm:scripted", **options)
    return [row for row in writer.rows if row["status"] == "parsed"]


def labelled(*responses, drafts=None):
    """The rows of a writer that labelled what was extracted."""
    drafts = unlabelled() if drafts is None else drafts
    return wrote(LABELLING, drafts, responses, "llm:scripted", examples=OWN, max_tokens=50).rows


def gold(rows):
    return [{name: row[name] for name in FIELDS} for row in rows if row["status"] == "parsed"]


# Requests


def test_extraction_is_asked_at_level_4_with_emphasis_and_an_example_of_the_category():
    [request] = asked(EXTRACTION, STORIES, examples=OWN, seed=3, max_tokens=50)
    system, user = (message["content"] for message in request.messages)
    assert "This is a False Belief Task." in system
    assert STORY in user and STORY not in system
    shown = [r for r in OWN if r["story"] in system]
    assert [r["story_category"] for r in shown] == ["False Belief Task"]
    assert (request.max_tokens, request.seed, request.temperature) == (50, 3, 0)


def test_a_story_is_never_its_own_example():
    own = [r for r in OWN if r["story_category"] == "False Belief Task"]
    for request in asked(EXTRACTION, own, examples=own, max_tokens=50):
        system, user = (message["content"] for message in request.messages)
        [story] = [r["story"] for r in own if r["story"] in user]
        assert story not in system


def test_as_many_examples_are_shown_as_asked_for_or_it_is_said_what_is_missing():
    [request] = asked(EXTRACTION, STORIES, examples=OWN, examples_shown=3, max_tokens=50)
    system = request.messages[0]["content"]
    assert sum(r["story"] in system for r in OWN) == 3
    with pytest.raises(InputError, match=r"3001: found .* among the examples, expected 99"):
        asked(EXTRACTION, STORIES, examples=OWN, examples_shown=99)


def test_a_category_without_an_example_is_named():
    hints = [r for r in OWN if r["story_category"] == "Hinting Task Test"]
    message = r"omnitom\.generation\.writers: .*3001.*'False Belief Task'"
    with pytest.raises(InputError, match=message):
        asked(EXTRACTION, STORIES, examples=hints)


def test_labelling_shows_the_beliefs_and_no_label_of_theirs():
    [request] = asked(LABELLING, unlabelled(), examples=OWN, max_tokens=50)
    shown = (
        "\nActor | Belief\n"
        "world | Ben moves the key to the drawer\n"
        "Ada | The key is in the bowl\n"
        "Ben | Ada thinks the key is in the bowl\n\n"
    )
    assert shown in request.messages[1]["content"]


# What came back


def test_a_scripted_model_makes_a_record_that_can_be_read_back(tmp_path):
    records = gold(labelled(said(label_table())))
    write_records(records, tmp_path / "gold.jsonl")
    assert read_records(tmp_path / "gold.jsonl") == records
    [record] = records
    assert (record["story_id"], record["source"]) == (3001, "llm:scripted")
    assert [list(b["labels"]) for b in record["beliefs"]] == [list(DIMENSIONS)] * 3
    assert record["beliefs"][1]["labels"]["context"] == "Temporal"
    assert filtering.faults(records, np.eye(len(records)), 0.95).empty
    assert len(omnitom.compose(records)) == 2


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (said("I would rather not."), "unparsed", "no table"),
        (ERROR, "error", "429: slow down"),
        (said("<think>Well", "length"), "truncated", "no answer"),
        (said(EXTRACTED, "length"), "truncated", "part of the table is lost"),
        (said(EXTRACTED + "Ben | The key\n"), "unparsed", "part of the table is lost"),
    ],
)
def test_what_is_no_whole_table_is_no_record_and_keeps_its_text_and_reason(
    response, status, reason
):
    [row] = wrote(EXTRACTION, STORIES, [response], examples=OWN, max_tokens=50).rows
    text = response.reply.text if response.reply else ""
    assert [row[name] for name in OUTCOME] == [status, reason, text]


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (ERROR, "error", "429: slow down"),
        (said("No."), "unparsed", "no table"),
        (said(label_table(LABELS[:2])), "unparsed", "a belief without seven legal labels"),
        (said(label_table(LABELS[:2]), "length"), "truncated", "a belief without seven"),
        *[
            (said(label_table([*LABELS[:2], labels])), "unparsed", "a belief without seven")
            for labels in (
                "2 | Maybe | Private | Implicit | Epistemic | Inference | Odd",
                "5 | True | Private | Implicit | Epistemic | Inference | Neutral",
                "2 | True",
            )
        ],
    ],
)
def test_a_table_without_a_legal_label_is_no_gold(response, status, reason):
    [row] = labelled(response)
    assert row["status"] == status
    assert row["reason"].startswith(reason)


_CELLS = st.sampled_from(
    ["world", "Ada", "Ben thinks so", "0", "1", "True", "Private", "Action", "|", "\n", "{", "\0"]
)
_ANSWERS = st.text() | st.lists(_CELLS, max_size=30).map(" | ".join)


@settings(max_examples=60, deadline=None)
@given(
    _ANSWERS | st.just(EXTRACTED) | _ANSWERS.map(lambda t: EXTRACTED + t),
    _ANSWERS.map(lambda t: label_table() + t) | _ANSWERS,
    st.sampled_from(["stop", "length", "refusal"]),
)
def test_gold_has_all_that_was_extracted_whatever_a_model_says(
    tmp_path_factory, first, second, finish
):
    drafts = unlabelled(first)
    rows = labelled(*[said(second, finish)] * len(drafts), drafts=drafts)
    records = gold(rows)
    path = tmp_path_factory.mktemp("gold") / "gold.jsonl"
    if records:
        write_records(records, path)
        assert read_records(path) == records
        assert len(records[0]["beliefs"]) == len(drafts[0]["beliefs"])


# Files


LABEL = {"story_id": "1001", "belief": "1", "annotator": "a1", "annotator_type": "human"}
LABEL |= {"dimension": "order", "label": "0"}
ANNOTATION_COLUMNS = tuple(LABEL)


@pytest.fixture
def file(tmp_path):
    def write(*changes):
        table = pd.DataFrame([LABEL | change for change in changes], columns=ANNOTATION_COLUMNS)
        table.to_csv(tmp_path / "annotations.csv", index=False)
        return tmp_path / "annotations.csv"

    return write


@pytest.fixture
def complaint(file):
    def read(*changes, records=OWN):
        with pytest.raises(InputError, match=r"annotations\.csv") as caught:
            read_annotations(file(*changes), records)
        return str(caught.value)

    return read


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"story_id": "7"}, "row 2, field story_id: found '7', expected the id of a"),
        ({"story_id": "9" * 5000}, "field story_id: found '999"),
        ({"belief": "17"}, "field belief: found '17', expected 1 to 16"),
        ({"belief": "１"}, "field belief: found '１'"),
        ({"annotator_type": "Human"}, "found 'Human', expected human or llm:<model>"),
        ({"dimension": "Order"}, "field dimension: found 'Order', expected order"),
        ({"label": "4"}, "field label: found '4', expected 0, 1, 2, 3"),
    ],
)
def test_a_bad_value_is_named(complaint, changed, expected):
    first = [{**OWN[0], "beliefs": OWN[0]["beliefs"][:16]}]
    assert expected in complaint(changed, records=first)


def test_nobody_labels_a_cell_twice_or_is_of_two_types(complaint):
    said = complaint({}, {"label": "1"}, {"belief": "2", "annotator_type": "llm:m"})
    what = "annotator 'a1', story_id '1001', belief '1', dimension 'order'"
    assert f"row 3: {what} stands in row 2 too, expected once" in said
    assert "row 4, field annotator_type: found 'llm:m', expected human" in said


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"story_id,belief\n1,2\n", b'"story_id\n', b"\0"]
)
def test_a_file_that_is_no_such_table_is_refused(tmp_path, content):
    path = tmp_path / "hostile.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"hostile\.csv"):
        read_annotations(path, OWN)
    with pytest.raises(InputError, match=r"missing\.csv"):
        read_annotations(tmp_path / "missing.csv", OWN)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.text(max_size=8), min_size=5, max_size=7), max_size=4))
def test_any_text_in_the_fields_is_read_or_refused(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("csv") / "any.csv"
    rows = [",".join(f'"{cell}"' for cell in line) for line in lines]
    header = ",".join(ANNOTATION_COLUMNS)
    path.write_bytes("\n".join([header, *rows]).encode("utf-8", "surrogatepass"))
    try:
        table = read_annotations(path, OWN)
    except InputError as error:
        assert "any.csv" in str(error)
    else:
        assert list(table.columns) == list(ANNOTATION_COLUMNS)


# Agreement


def annotated(cells, kind="human", dimension="truth_status"):
    """{(story, belief): one label an annotator, "-" for none}"""
    rows = [
        (story, belief, f"{kind}-{number}", kind, dimension, label)
        for (story, belief), labels in cells.items()
        for number, label in enumerate(labels.split())
        if label != "-"
    ]
    return pd.DataFrame(rows, columns=list(ANNOTATION_COLUMNS))


def reliability(annotations):
    """What the notebook makes of annotations."""
    return ran("2_filtering", "omnitom", "cell-agreement", annotations=annotations)["reliability"]


def test_strict_agreement_counts_cells_on_which_all_are_equal():
    cells = {(1, 1): "True True True", (1, 2): "True True False", (2, 1): "False False -"}
    table = reliability(annotated(cells | {(2, 2): "True - -"})).set_index("dimension")
    assert list(table.index) == [*DIMENSIONS, "overall"]
    for name in ("truth_status", "overall"):
        row = table.loc[name]
        assert (row["annotators"], row["n"], row["agree"], row["stories"]) == (3, 3, 2, 2)
        assert row["agreement"] == pytest.approx(2 / 3)
        assert row["ci_low"] <= row["agreement"] <= row["ci_high"]
    assert (table.loc["order", "n"], table.loc["order", "annotators"]) == (0, 0)
    assert np.isnan(table.loc["order", "agreement"])


def test_models_labels_never_count_as_peoples():
    people = annotated({(1, 1): "True True", (1, 2): "True"})
    both = pd.concat([people, annotated({(1, 1): "False False", (1, 2): "True"}, "llm:m")])
    assert reliability(both).equals(reliability(people))


def alpha(cells):
    """The row of the dimension that these cells are labelled in."""
    return reliability(annotated(cells)).set_index("dimension").loc["truth_status"]


def test_alpha_is_krippendorffs_and_its_interval_clusters_on_stories():
    labels = ["True True True", "True False True", "False False -", "Unknown True True"]
    cells = {(story, i): labels[(story + i) % 4] for story in range(6) for i in (1, 2)}
    row = alpha(cells | {(9, 1): "True - -"})
    rated = [[np.nan if x == "-" else len(x) for x in text.split()] for text in cells.values()]
    expected = krippendorff.alpha(np.array(rated).T, level_of_measurement="nominal")
    assert row["alpha"] == pytest.approx(expected)
    assert (row["annotators"], row["n"]) == (3, 12)
    assert row["alpha_low"] < row["alpha"] < row["alpha_high"]


def test_alpha_is_undefined_where_all_labels_are_equal_or_one_annotator_is_alone():
    row = alpha({(1, 1): "True True", (2, 1): "True True"})
    assert row["agreement"] == 1
    assert np.isnan(row[["alpha", "alpha_low", "alpha_high"]].astype(float)).all()
    row = alpha({(1, 1): "True"})
    assert (row["n"], row["annotators"]) == (0, 1)
    assert np.isnan(row["alpha"])


def test_nobody_means_an_empty_table():
    assert reliability(annotated({})).empty
