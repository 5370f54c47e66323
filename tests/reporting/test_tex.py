"""LaTeX of tables: nothing in a cell is read as code, and what is wide or long fits the page."""

import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.reporting import tex
from typeset import faults

# What `tex.text` may write beside plain characters.
COMMANDS = re.compile(
    r"\\[&%$#_{}]|\\text\w+\{(\\d?dag)?\}|\\(dots|S)\{\}|\$(\\\w+|[<>-])\$|~(?=[^~]|$)"
)
SPECIAL = set('\\&%$#_{}^"|<>')
HOSTILE = [
    *("[0.0, 97.5]", "* printed", "\n[.31, .72]†", " [a]", "a\\\\[2pt]", "\\", "\\input{x}"),
    *("100 % & more_#1 {", "}{", "$x^2$", "~^", '"a" ‘b’ “c”', "p < .05 | > 1", "≥ ∧ – − × ± ≠"),
    *("ü é Å", "心理", "🙂", "\x07\t\xa0", "", "–", "%", "\n", "a\n\nb", "--", "\\end{tabular}"),
]
words = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=12), st.text("\\[]{}*&%$#_^~\n|- a1", max_size=12)
)


def wide(columns: int, rows: int, cell: str = "12.3 [10.1, 100.0]\nn = 88/30") -> pd.DataFrame:
    """A column of labels, and `columns` of numbers."""
    numbers = {f"Question {k} [All]": [cell] * rows for k in range(columns)}
    return pd.DataFrame({"Model": ["InstructGPT davinci-003"] * rows, **numbers})


@given(words)
def test_text_has_no_bare_character_that_latex_reads_as_code(text):
    written = tex.text(text)
    plain = COMMANDS.sub("", written)
    assert not set(plain) & SPECIAL
    assert all(
        (char.isascii() and char.isprintable()) or char in "éüÅ" or char.isalpha() for char in plain
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50 % of A&B_1", r"50 \% of A\&B\_1"),
        (".68*† – §4", r".68*\textsuperscript{\dag} -- \S{}4"),
        ("n = 3", "n~=~3"),
        ("TB ∧ FB ≥ −1", r"TB $\wedge$ FB $\geq$ $-$1"),
        ("“a” é 心", "``a'' é U+5FC3"),
        ("e\u0301", "é"),
        (r"\[a]", r"\textbackslash{}[a]"),
    ],
)
def test_text_reads_the_same_in_print(text, written):
    assert tex.text(text) == written


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_stands_in_cells_the_table_is_balanced_and_no_row_has_an_option(data):
    columns = data.draw(st.lists(words, min_size=1, max_size=4, unique=True))
    row = st.lists(words, min_size=len(columns), max_size=len(columns))
    rows = data.draw(st.lists(row, max_size=5))
    written = tex.table(
        pd.DataFrame(
            rows, columns=[f"{place} {name}" for place, name in enumerate(columns)], dtype=str
        ),
        data.draw(words),
        data.draw(st.lists(words, max_size=2)),
        "tab:demo",
    )
    code = re.sub(r"\\[{}]", "", written)
    assert code.count("{") == code.count("}")
    opened, closed = (re.findall(rf"\\{end}\{{(\w+)\}}", written) for end in ("begin", "end"))
    assert sorted(opened) == sorted(closed)
    assert not re.search(r"\\\\\s*[\[*]|rule\s*\[", written)


def test_a_row_that_begins_with_an_interval_is_no_option_of_the_row_before():
    written = tex.table(pd.DataFrame({"a": ["[1, 2]", "*", "b\n[3, 4]"]}), "", [], "tab:demo")
    assert "\n{}[1, 2] \\\\\n{}* \\\\\n" in written
    assert r"b \\ {}[3, 4]\end{tabular}" in written


@pytest.mark.parametrize(
    ("printed", "shape"),
    [
        (wide(1, 3), "table"),
        (wide(1, 40), "longtable"),
        (wide(4, 3), "table"),
        (wide(6, 3), "landscape"),
    ],
)
def test_a_wide_table_is_turned_and_a_long_one_breaks(printed, shape):
    written = tex.table(printed, "A caption.", ["A note."], "tab:demo")
    assert re.search(r"\\begin\{(\w+)\}", written)[1] == shape
    assert "(part" not in written


def test_what_fits_no_page_is_set_in_parts_with_the_labels_in_each():
    printed = wide(15, 3).assign(Source="this run")
    written = tex.table(printed, "A caption.", ["A note."], "tab:demo")
    labels = re.findall(r"\\label\{(.*?)\}", written)
    assert labels == ["tab:demo", "tab:demo-2", "tab:demo-3"]
    assert written.count("InstructGPT davinci-003") == 3 * len(labels)
    assert "A caption. (part 2 of 3)" in written
    assert written.count("A note.") == 1
    for column in printed.columns[1:-1]:
        number = column.split()[1]
        assert len(re.findall(rf"Question (?:\\\\ )?{number} ", written)) in (1, 2)


def test_hostile_wide_and_long_tables_are_set_within_the_page(tmp_path):
    odd = pd.DataFrame({f"{place} {text}": HOSTILE[::-1] for place, text in enumerate(HOSTILE[:5])})
    sizes = [(1, 3), (3, 60), (6, 4), (9, 40), (15, 30)]
    printed = [odd, pd.DataFrame({"a": HOSTILE}), pd.DataFrame({"empty": []}, dtype=str)]
    printed += [wide(*size) for size in sizes]
    printed += [pd.DataFrame({"Long": ["many words in one cell " * 20], "n": ["12"]})]
    notes = [HOSTILE[0], *HOSTILE, "A long note. " * 30]
    tables = [
        tex.table(each, " ".join(HOSTILE), notes[place:], f"tab:demo-{place}")
        for place, each in enumerate(printed)
    ]
    assert faults(tables, tmp_path) == []
