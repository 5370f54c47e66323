"""The ledger of keys: its file, which items it is about, and scores with wrong keys corrected."""

import pandas as pd
import pytest

from bigtom_templates import MEI
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items.templates import template_table
from tomlab.errors import InputError
from tomlab.paths import ROOT
from tomlab.scoring import ledger

RELEASED = ROOT.parent / "shared" / "datasets" / "bigtom" / "bigtom.csv"
ROW = {
    "item": "0/forward_belief/false_belief/0",
    "text": "0123456789ab",
    "released_key": "belief_answer_not_aware",
    "verdict": "wrong",
    "why": "The answers stand in each other's column.",
    "found_by": "reader",
    "read_by": "llm:toy",
    "confirmed_by": "nobody yet",
}


def mei(**changes):
    """The items of one released template; the first has its wrong key in the ledger."""
    items = bigtom.compose(template_table([MEI | changes]))
    first = "mei/forward_belief/false_belief/0"
    return items.sort_values("item_id", key=lambda ids: ids != first, ignore_index=True)


ITEMS = mei()


def entries(items=ITEMS, verdict="wrong"):
    text = ledger.fingerprint(ITEMS.loc[0])
    return ledger.about(items, pd.DataFrame([ROW | {"text": text, "verdict": verdict}]))


def scores(*outcomes):
    rows = ITEMS[["item_id"]].head(len(outcomes)).assign(outcome=outcomes)
    return rows.assign(score=rows["outcome"].eq("correct").astype(float), by_released_rule=True)


def test_ledger_is_read_row_by_row_and_there_may_be_none(tmp_path):
    rows = [ROW, ROW | {"text": "ba9876543210", "verdict": "fine"}]
    (tmp_path / "bigtom").mkdir()
    pd.DataFrame(rows).to_csv(tmp_path / "bigtom" / "ledger.csv", index=False)
    assert ledger.read("bigtom", tmp_path).to_dict("records") == rows
    assert ledger.about(ITEMS, ledger.read("fantom", tmp_path)).empty


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"verdict": "bad"}, "row 3, field verdict: found 'bad', expected wrong, doubtful, fine"),
        ({"item": "forward_belief/0"}, "row 3, field item: found 'forward_belief/0'"),
        ({"text": "Mei is a pearl diver"}, "row 3, field text"),
        ({"found_by": "me"}, "row 3, field found_by: found 'me'"),
        ({"read_by": "somebody"}, "row 3, field read_by: found 'somebody'"),
        ({"confirmed_by": ""}, "row 3, field confirmed_by: found nothing"),
        ({"text": ROW["text"]}, "row 3: text '0123456789ab' stands in row 2 too"),
    ],
)
def test_bad_row_is_named(tmp_path, change, fault):
    (tmp_path / "bigtom").mkdir()
    table = pd.DataFrame([ROW, ROW | {"text": "ba9876543210"} | change])
    table.to_csv(tmp_path / "bigtom" / "ledger.csv", index=False)
    with pytest.raises(InputError, match=rf"(?s)ledger\.csv.*{fault}"):
        ledger.read("bigtom", tmp_path)


def test_entry_is_about_the_released_item_whatever_its_file_and_option_order():
    renamed = ITEMS.assign(item_id="copy/" + ITEMS["item_id"])
    renamed["choices"] = [[*choices][::-1] for choices in renamed["choices"]]
    assert entries(renamed)["item_id"].tolist() == ["copy/mei/forward_belief/false_belief/0"]


@pytest.mark.parametrize("field", ["belief_answer_not_aware", "not_aware_of_event", "percept"])
def test_entry_is_not_about_an_item_that_says_anything_else(field):
    """Such as one whose key or story somebody has mended already."""
    assert entries(mei(**{field: "Mei holds a pearl."})).empty


@pytest.mark.parametrize(
    ("outcome", "corrected"),
    [("correct", "wrong"), ("wrong", "correct"), ("unparsed", "unparsed")],
)
def test_right_and_wrong_change_places_and_unreadable_stays(outcome, corrected):
    released = scores(outcome, "correct", "wrong")
    result = ledger.corrected(released, entries())
    pd.testing.assert_frame_equal(result, scores(corrected, "correct", "wrong"))


def test_doubtful_keys_are_only_exchanged_on_demand():
    doubtful = entries(verdict="doubtful")
    released = scores("correct")
    pd.testing.assert_frame_equal(ledger.corrected(released, doubtful), released)
    assert ledger.corrected(released, doubtful, "wrong", "doubtful")["outcome"].item() == "wrong"


def test_with_three_options_nobody_knows_which_is_right():
    three = entries().assign(n_options=3)
    assert ledger.corrected(scores("wrong"), three)["outcome"].item() == "wrong"


def test_only_numbers_that_differ_have_moved():
    released = pd.DataFrame({"model": ["a", "b"], "value": [0.5, 0.6]})
    moved = ledger.moved(released, released.assign(value=[0.5, 0.7]), ["model"])
    assert moved["keys"].tolist() == ["released", "corrected"]
    assert moved["value"].tolist() == [0.6, 0.7]


@pytest.mark.skipif(not RELEASED.is_file(), reason="the released bigtom.csv is not beside us")
def test_every_entry_is_about_the_row_of_the_released_file_that_it_names():
    lines = [line.split(";") for line in RELEASED.read_text(encoding="utf-8").splitlines()]
    keys = {"belief_answer_aware": 8, "belief_answer_not_aware": 11}  # fields of a line
    items = bigtom.read_released(RELEASED).set_index("item_id", drop=False)
    ledger_rows = ledger.read("bigtom")
    for entry in ledger_rows.itertuples():
        row, _, question = entry.item.partition("/")
        item = items.loc[f"{RELEASED.stem}-{int(row) + 1:03d}/{question}"]
        assert ledger.fingerprint(item) == entry.text
        assert item["answer"] == lines[int(row)][keys[entry.released_key]].strip()
    # Both backward controls of a template are one item.
    assert len(ledger.about(items, ledger_rows)) == len(ledger_rows) + 2
