"""Tables of results in words: names, two digits, intervals beside their numbers, n of groups."""

import re

import numpy as np
import pandas as pd
import pytest

from tomlab.records.published import Wording
from tomlab.reporting import tables
from tomlab.reporting.numbers import NUMBER
from tomlab.reporting.tables import counted, in_words, show

WORDING = Wording("Toy", {"cot": "chain of thought"}, groups="entity sets")


def metrics(*rows: tuple[str, str, float, int]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["method", "condition", "value", "n_groups"])
    ends = {"ci_low": frame["value"] - 0.1, "ci_high": frame["value"] + 0.1}
    return frame.assign(**ends, n=frame["n_groups"] * 3, ci_method="x")[
        ["method", "condition", *NUMBER, "ci_method"]
    ]


def test_number_stands_with_its_interval_and_n_with_its_groups():
    table = in_words(metrics(("cot", "a_b/c", 0.5, 100)), WORDING)
    assert table.to_dict("records") == [
        {
            "Method": "chain of thought",
            "Condition": "a b, c",
            "Value": ".50 [.40, .60]",
            "n": "300 of 100 entity sets",
        }
    ]


def test_every_named_number_takes_its_own_interval():
    frame = pd.DataFrame({"judge": ["exact"], "agreement": [0.5], "ci_low": [0.4]})
    frame = frame.assign(ci_high=0.6, recall=0.25, recall_low=0.2, recall_high=0.3)
    [row] = in_words(frame).to_dict("records")
    assert row["Agreement"] == ".50 [.40, .60]"
    assert row["Recall"] == ".25 [.20, .30]"
    assert len(row) == 3


def test_missing_numbers_are_dashes_and_counts_stay_whole():
    missing = pd.array([pd.NA], "Int64")
    frame = pd.DataFrame({"value": [np.nan], "ci_low": [np.nan], "ci_high": [np.nan]})
    frame = frame.assign(n=missing, n_groups=missing)
    assert in_words(frame).to_dict("records") == [{"Value": "–", "n": "–"}]
    assert list(in_words(pd.DataFrame({"paper": [154.0, np.nan]}))["Paper"]) == ["154", "–"]
    assert list(in_words(pd.DataFrame({"text": [["a_b", "c"]]}))["As written"]) == ["a_b, c"]
    assert list(in_words(pd.DataFrame({"n_groups": [3]}), WORDING)) == ["Entity sets"]


def test_named_index_is_shown_and_a_bare_one_is_not():
    frame = pd.DataFrame({"rows": [3]})
    assert list(in_words(frame)) == ["Rows"]
    assert list(in_words(frame.rename_axis("source"))) == ["Written by", "Rows"]


def test_wide_table_says_n_once_a_column_once_a_row_or_in_each_cell():
    by_column = metrics(("a", "x", 0.5, 9), ("a", "y", 0.5, 9), ("b", "x", 0.5, 3))
    table = tables.wide(by_column, WORDING, "condition", "method")
    assert list(table) == ["Condition", "A\nn = 27 of 9 entity sets", "B\nn = 9 of 3 entity sets"]
    assert table.iloc[1, 2] == "–"
    by_row = metrics(("a", "x", 0.5, 9), ("b", "x", 0.5, 9), ("a", "y", 0.5, 3))
    table = tables.wide(by_row, WORDING, "condition", "method")
    assert table["n"].tolist() == ["27 of 9 entity sets", "9 of 3 entity sets"]
    mixed = metrics(("a", "x", 0.5, 9), ("b", "x", 0.5, 3), ("a", "y", 0.5, 3))
    table = tables.wide(mixed, WORDING, "condition", "method")
    assert table["A"].tolist() == [".50 [.40, .60]\nn = 27 of 9", ".50 [.40, .60]\nn = 9 of 3"]


@pytest.mark.parametrize(
    ("n", "groups", "text"),
    [
        (300, 100, "300 of 100 entity sets"),
        (3, 3, "3 entity sets"),
        (1, 1, "1 entity set"),
        (120, 0, "120"),
        (np.nan, np.nan, "–"),
    ],
)
def test_n_is_of_groups(n, groups, text):
    assert counted(n, groups, "entity sets") == text


HOSTILE = "<script>alert(1)</script> $x$ *b* </td></table> | a_b `c`"


def test_texts_are_shown_as_they_are_and_never_as_markup():
    table = show(pd.DataFrame({"text": [HOSTILE], "<b>": ["&"]}), says=HOSTILE)
    assert "<script>" not in table.data and "<b>" not in table.data
    assert table.data.count("&lt;script&gt;") == 2
    assert "tex2jax_ignore mathjax_ignore" in table.data
    assert HOSTILE in repr(table)


def test_empty_table_is_a_sentence():
    assert "<table" not in show(pd.DataFrame()).data
    assert repr(show(pd.DataFrame(columns=["value"]))) == "Nothing to show."
    assert repr(show(pd.DataFrame(), says="Nobody has rated.")) == "Nobody has rated."
    assert tables.count(0, "stories") == "no story"
    assert tables.count(1200, "stories") == "1,200 stories"
    assert "<table" not in show(metrics(), WORDING, across="method").data


def test_rows_of_this_run_bear_a_class():
    page = show(pd.DataFrame({"source": ["paper", "this run"], "value": [0.1, 0.2]})).data
    classes = re.findall(r'<td class="([^"]*)"', page)
    assert ["run" in names.split() for names in classes] == [False, False, True, True]


def test_two_tables_of_one_page_have_ids_of_their_own():
    pages = [show(pd.DataFrame({"rows": [n]})).data for n in (1, 2, 1)]
    ids = [re.search('id="([^"]*)"', page)[1] for page in pages]
    assert ids[0] != ids[1]
    assert pages[0] == pages[2]


def test_a_table_is_saved_in_three_forms(tmp_path, monkeypatch):
    monkeypatch.setattr(tables.paths, "RESULTS", tmp_path)
    frame = pd.DataFrame({"model": ["random"], "text": [HOSTILE]})
    numbers = pd.DataFrame({"value": [0.12345]})
    table = tables.table(frame, "toy/one", HOSTILE, ["A note."], data=numbers)
    stem = tmp_path / "tables" / "toy" / "one"
    assert pd.read_csv(stem.with_suffix(".csv"))["value"].tolist() == [0.12345]
    page = stem.with_suffix(".html").read_text(encoding="utf-8")
    assert page in table.data
    assert "<script>" not in page and page.count("&lt;script&gt;") == 2
    assert "A note." in page
    tables.table(frame, "toy/two", "A table of its own numbers.")
    pd.testing.assert_frame_equal(pd.read_csv(stem.with_name("two.csv")), frame)
    assert "\\toprule" in stem.with_suffix(".tex").read_text(encoding="utf-8")
