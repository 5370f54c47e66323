"""OmniToM's candidate gold by models: what is asked, what is read of the answers."""

import pytest

from omnitom_stories import RECORDS
from scripted_writers import ERROR, asked, said, wrote
from tomlab.asking.attempts import OUTCOME
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, read_records, write_records
from tomlab.benchmarks.omnitom.items.writing import EXTRACTION, FIELDS, LABELLING
from tomlab.errors import InputError

STORY = "Ada puts the key in the bowl and goes out. Ben moves the key to the drawer."
STORIES = [{"story_id": 3001, "story_category": "False Belief Task", "story": STORY}]
BELIEFS = [
    "world | Ben moves the key to the drawer",
    "Ada | The key is in the bowl",
    "Ben | Ada thinks the key is in the bowl",
]
LABELS = [
    "0 | True | Private | Explicit | Action/Event | Narration | Neutral",
    "1 | False | Private | Implicit | Location | Memory | Temporal",
    "2 | True | Private | Implicit | Epistemic | Inference | Neutral",
]
EXTRACTED = "\n".join(
    ["Actor | Belief | Order", *(f"{belief} | {order}" for order, belief in enumerate(BELIEFS))]
)
HEADER = (
    "Actor | Belief | Order | Truth-Status | Knowledge-Access | Representation | Content Type"
    " | Mental-Source | Context"
)


def label_table(*labels):
    lines = [f"{belief} | {cells}" for belief, cells in zip(BELIEFS, labels, strict=False)]
    return "\n".join([HEADER, *lines])


def rows_after(step, drafts, *responses):
    """The rows of a writer after a step."""
    return wrote(step, drafts, responses, "llm:scripted", examples=RECORDS, max_tokens=50).rows


def parsed(rows):
    return [row for row in rows if row["status"] == "parsed"]


def extracted(text=EXTRACTED):
    """The story with what a model extracted."""
    return parsed(rows_after(EXTRACTION, STORIES, said(text)))


def gold(rows):
    return [{name: row[name] for name in FIELDS} for row in parsed(rows)]


def test_extraction_is_asked_at_level_4_with_examples_of_the_category():
    [request] = asked(
        EXTRACTION, STORIES, examples=RECORDS, examples_shown=3, seed=3, max_tokens=50
    )
    system, user = (message["content"] for message in request.messages)
    assert "This is a False Belief Task." in system
    assert STORY in user
    shown = [record["story_category"] for record in RECORDS if record["story"] in system]
    assert shown == ["False Belief Task"] * 3
    assert (request.max_tokens, request.seed, request.temperature) == (50, 3, 0)


def test_a_story_is_never_its_own_example():
    alike = [record for record in RECORDS if record["story_category"] == "False Belief Task"]
    for record in alike:
        [request] = asked(EXTRACTION, [record], examples=alike, max_tokens=50)
        assert record["story"] not in request.messages[0]["content"]


def test_a_category_with_too_few_examples_is_named():
    with pytest.raises(InputError, match=r"3001: found .*'False Belief Task'.*, expected 99"):
        asked(EXTRACTION, STORIES, examples=RECORDS, examples_shown=99)


def test_labelling_shows_the_beliefs_and_no_label_of_theirs():
    [request] = asked(LABELLING, extracted(), examples=RECORDS, max_tokens=50)
    shown = "\n".join(["\nActor | Belief", *BELIEFS, "\n"])
    assert shown in request.messages[1]["content"]


def test_a_scripted_model_makes_a_record_that_can_be_read_back(tmp_path):
    [record] = gold(rows_after(LABELLING, extracted(), said(label_table(*LABELS))))
    write_records([record], tmp_path / "gold.jsonl")
    assert read_records(tmp_path / "gold.jsonl") == [record]
    assert (record["story_id"], record["source"]) == (3001, "llm:scripted")
    assert [list(belief["labels"]) for belief in record["beliefs"]] == [list(DIMENSIONS)] * 3
    assert record["beliefs"][1]["labels"]["context"] == "Temporal"


@pytest.mark.parametrize(
    ("response", "status", "reason"),
    [
        (said("I would rather not."), "unparsed", "no table"),
        (ERROR, "error", "429: slow down"),
        (said(EXTRACTED, "length"), "truncated", "part of the table is lost"),
        (said(EXTRACTED + "\nBen | The key"), "unparsed", "part of the table is lost"),
    ],
)
def test_what_is_no_whole_table_is_no_record_and_keeps_its_text(response, status, reason):
    [row] = rows_after(EXTRACTION, STORIES, response)
    text = response.reply.text if response.reply else ""
    assert [row[name] for name in OUTCOME] == [status, reason, text]


@pytest.mark.parametrize("last", [[], [LABELS[2].replace("True", "Maybe")], ["2 | True"]])
def test_a_table_without_a_legal_label_is_no_gold(last):
    [row] = rows_after(LABELLING, extracted(), said(label_table(*LABELS[:2], *last)))
    assert row["status"] == "unparsed"
    assert row["reason"].startswith("a belief without seven legal labels")
