"""The ledger of keys: its file, which items it is about, and scores with wrong keys corrected."""

import pandas as pd
import pytest

from bigtom_templates import MEI
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items.templates import template_table
from tomlab.errors import InputError
from tomlab.paths import PUBLISHED, ROOT
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


@pytest.fixture
def written(tmp_path):
    """Writes a ledger of rows, each with some columns changed, and reads it."""

    def read(*changes):
        (tmp_path / "bigtom").mkdir(exist_ok=True)
        table = pd.DataFrame([ROW | change for change in changes])
        table.to_csv(tmp_path / "bigtom" / "ledger.csv", index=False)
        return ledger.read("bigtom", tmp_path)

    return read


@pytest.fixture
def items():
    """One released template's items; the first is the false-belief item with a wrong key."""
    items = bigtom.compose(template_table([MEI]))
    wanted = "mei/forward_belief/false_belief/0"
    return items.sort_values("item_id", key=lambda ids: ids != wanted, ignore_index=True)


def entries(item, **changes):
    return pd.DataFrame([ROW | {"text": ledger.fingerprint(item)} | changes])


def scores(items, *outcomes):
    rows = items[["item_id"]].head(len(outcomes)).assign(outcome=outcomes)
    return rows.assign(score=rows["outcome"].eq("correct").astype(float), by_released_rule=True)


# The file


def test_good_ledger_is_read_row_by_row(written):
    result = written({}, {"item": "1/belief", "text": "ba9876543210", "verdict": "fine"})
    assert result["verdict"].tolist() == ["wrong", "fine"]
    assert result.loc[0].to_dict() == ROW


def test_benchmark_without_a_ledger_has_no_entries(tmp_path, items):
    result = ledger.read("bigtom", tmp_path)
    assert result.empty
    assert ledger.about(items, result).empty


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"verdict": "bad"}, "row 2, field verdict: found 'bad', expected wrong, doubtful, fine"),
        ({"item": "forward_belief/0"}, "row 2, field item: found 'forward_belief/0'"),
        ({"text": "Mei is a pearl diver"}, "row 2, field text"),
        ({"found_by": "me"}, "row 2, field found_by: found 'me'"),
        ({"read_by": "somebody"}, "row 2, field read_by: found 'somebody'"),
        ({"confirmed_by": ""}, "row 2, field confirmed_by: found nothing"),
        ({"benchmark": "fantom"}, "row 2, field benchmark: found 'fantom', expected no such"),
    ],
)
def test_bad_row_is_named(written, change, said):
    with pytest.raises(InputError, match=r"ledger\.csv") as caught:
        written(change)
    assert said in str(caught.value)


def test_second_entry_about_the_same_item_is_refused(written):
    with pytest.raises(InputError, match=r"row 3: text '0123456789ab' stands in row 2 too"):
        written({}, {"verdict": "fine"})


# Which items it is about


def test_entry_is_about_the_released_item_whatever_its_file_and_option_order(items):
    renamed = items.assign(item_id="copy/" + items["item_id"])
    renamed["choices"] = [[*choices][::-1] for choices in renamed["choices"]]
    result = ledger.about(renamed, entries(items.loc[0]))
    assert result["item_id"].tolist() == ["copy/mei/forward_belief/false_belief/0"]


@pytest.mark.parametrize("field", ["belief_answer_not_aware", "not_aware_of_event", "percept"])
def test_entry_is_not_about_an_item_that_says_anything_else(items, field):
    """Such as one whose key or story somebody has mended already."""
    mended = bigtom.compose(template_table([MEI | {field: "Mei holds a pearl."}]))
    assert ledger.about(mended, entries(items.loc[0])).empty


# Corrected scores


def test_right_and_wrong_change_places_and_unreadable_stays(items):
    for before, after in {"correct": "wrong", "wrong": "correct", "unparsed": "unparsed"}.items():
        result = ledger.about(items, entries(items.loc[0]))
        given = scores(items, before, "correct", "wrong")
        mended = ledger.corrected(given, result)
        assert mended["outcome"].tolist() == [after, "correct", "wrong"]
        assert mended["score"].tolist() == [float(after == "correct"), 1, 0]
        pd.testing.assert_series_equal(mended["by_released_rule"], given["by_released_rule"])


def test_doubtful_keys_are_only_exchanged_on_demand(items):
    result = ledger.about(items, entries(items.loc[0], verdict="doubtful"))
    given = scores(items, "correct")
    pd.testing.assert_frame_equal(ledger.corrected(given, result), given)
    assert ledger.corrected(given, result, "wrong", "doubtful")["outcome"].item() == "wrong"


def test_with_three_options_nobody_knows_which_is_right(items):
    three = items.head(1).assign(choices=[["a", "b", "c"]])
    result = ledger.about(three, entries(three.loc[0]))
    assert len(result) == 1
    assert ledger.corrected(scores(items, "wrong"), result)["outcome"].item() == "wrong"


def test_only_numbers_that_differ_have_moved():
    before = pd.DataFrame({"model": ["a", "b"], "value": [0.5, 0.6]})
    moved = ledger.moved(before, before.assign(value=[0.5, 0.7]), ["model"])
    assert moved[["keys", "model", "value"]].values.tolist() == [
        ["released", "b", 0.6],
        ["corrected", "b", 0.7],
    ]


# The ledger itself


@pytest.mark.skipif(
    not (PUBLISHED / "bigtom").is_dir(), reason="data/published is missing: `make data` pulls it"
)
def test_ten_rows_of_bigtom_are_judged_and_no_person_has_confirmed_one():
    result = ledger.read("bigtom")
    rows = result["item"].str.split("/").str[0].astype(int)
    assert {*rows} == {150, 137, 163, 95, 116, 113, 20, 93, 117, 60}
    assert {*rows[result["verdict"].eq("wrong")]} == {150}
    assert {*result["read_by"]} == {"llm:claude"}
    assert {*result["confirmed_by"]} == {"nobody yet"}


@pytest.mark.skipif(not RELEASED.is_file(), reason="the released bigtom.csv is not beside us")
def test_every_entry_is_about_the_row_of_the_released_file_that_it_names():
    lines = [line.split(";") for line in RELEASED.read_text(encoding="utf-8").splitlines()]
    keys = {"belief_answer_aware": 8, "belief_answer_not_aware": 11}  # fields of a line
    items = bigtom.read_released(RELEASED).set_index("item_id", drop=False)
    result = ledger.read("bigtom")
    for entry in result.itertuples():
        row, _, question = entry.item.partition("/")
        item = items.loc[f"{RELEASED.stem}-{int(row) + 1:03d}/{question}"]
        assert ledger.fingerprint(item) == entry.text
        assert item["answer"] == lines[int(row)][keys[entry.released_key]].strip()
    # Both backward controls of a template are one item.
    assert len(ledger.about(items.reset_index(drop=True), result)) == len(result) + 2
    assert items["group_id"].nunique() == len(lines) == 200
