"""Forms that people fill in, JSON by the line, and what is said of a fault."""

import os

import pandas as pd
import pandera.pandas as pa
import pytest

from tomlab.errors import InputError
from tomlab.records import files

FORM = pa.DataFrameSchema(
    {
        "unit": files.known({"u1", "u2"}, "unit"),
        "who": files.person("who_kind"),
        "who_kind": files.person_kind(),
        "aspect": files.one_of(("taste", "size")),
        "mark": files.one_of_each("aspect", {"taste": ("good", "bad"), "size": range(1, 4)}),
        "note": files.text(".*", required=False),
    },
    unique=["who", "unit", "aspect"],
    strict="filter",
)
HEADER = "unit,who,who_kind,aspect,mark"


@pytest.fixture
def form(tmp_path):
    def write(*lines, header=HEADER):
        path = tmp_path / "form.csv"
        path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
        return path

    return write


def complaint(path):
    with pytest.raises(InputError) as caught:
        files.read_form(path, FORM)
    return str(caught.value)


def test_rows_are_texts_by_their_line(form):
    table = files.read_form(form("u1, ann ,human,taste,good", "", "u1,ann,human,size,3"), FORM)
    assert table.index.tolist() == [2, 4]
    assert table.loc[2].tolist() == ["u1", "ann", "human", "taste", "good"]
    assert table.loc[4, "mark"] == "3"


def test_header_alone_is_an_empty_form(form):
    assert files.read_form(form(), FORM).columns.tolist() == HEADER.split(",")


def test_columns_come_in_the_order_of_the_form_and_others_are_left_out(form):
    path = form("good,taste,human,ann,u1,7,x", header="mark,aspect,who_kind,who,unit,age,note")
    assert files.read_form(path, FORM).columns.tolist() == [*HEADER.split(","), "note"]
    kept = pa.DataFrameSchema(FORM.columns)
    assert files.read_form(path, kept).loc[2, "age"] == "7"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("u9,ann,human,taste,good", "field unit: found 'u9', expected the id of a unit that"),
        ("u1,,human,taste,good", "field who: found nothing, expected some text"),
        ("u1,ann,llm:,taste,good", "field who_kind: found 'llm:', expected human or llm:<model>"),
        ("u1,ann,human,colour,good", "field aspect: found 'colour', expected taste, size"),
        ("u1,ann,human,taste,3", "field mark: found '3', expected good, bad"),
        ("u1,ann,human,size,4", "field mark: found '4', expected 1 to 3"),
    ],
)
def test_fault_is_named_with_row_and_field(form, line, fault):
    message = complaint(form("u2,bob,human,taste,bad", line))
    assert f"form.csv: 1 problem\n  row 3, {fault}" in message


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (f"{HEADER},mark", "row 1: found mark twice, expected columns once"),
        (HEADER.replace("aspect", "aspekt"), "row 1: missing columns aspect; found 'unit, who"),
        (HEADER.replace(",", ";"), "row 1: found a semicolon between the columns"),
        (HEADER.replace(",", "\t"), "row 1: found a tab between the columns"),
    ],
)
def test_header_that_is_not_the_forms_is_named(form, header, message):
    assert message in complaint(form(header=header))


@pytest.mark.parametrize("cell", ['"open', '"shut"x'])
def test_row_that_is_no_csv_is_named_where_it_begins(form, cell):
    path = form("u1,ann,human,taste,good", f"u2,{cell},human,taste,good", "u2,b")
    assert "form.csv: row 3: cannot be read as CSV" in complaint(path)


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+31", "-1", "− a", "@ann", "''=1", "'tis", "#NAME?", "a=b", "=a\nb", '="x"'],
)
def test_text_that_a_spreadsheet_takes_for_a_formula_is_escaped_and_read_as_it_was(text, tmp_path):
    path = tmp_path / "form.csv"
    files.write_form(pd.DataFrame({"who": [text, "ann"], "n": [-1, 2]}), path)
    cell = path.read_text(encoding="utf-8").splitlines()[1].removeprefix('"')
    assert cell[0] not in "=+-−@#"
    assert files.read_form(path, pa.DataFrameSchema())["who"].tolist() == [text, "ann"]


@pytest.mark.parametrize("cell", ["#NAME?", "#BEZUG!", "Err:509"])
def test_what_a_spreadsheet_made_of_a_formula_is_named_with_row_and_field(form, cell):
    message = complaint(form("u1,ann,human,taste,good", f"u2,{cell},human,{cell},bad"))
    assert f"form.csv: 2 problems\n  row 3, field who: found '{cell}'" in message
    assert f"row 3, field aspect: found '{cell}'" in message


def test_all_faults_come_at_once_by_row(form):
    message = complaint(
        form("u1,ann,human,size,9", "u1", "u1,ann,llm:m,size,1", "u9,,human,taste,good")
    )
    assert message.splitlines()[1:] == [
        "  row 3: found 1 fields, expected 5",
        "  row 2, field mark: found '9', expected 1 to 3",
        "  row 4, field who_kind: found 'llm:m', expected human",
        "  row 4: who 'ann', unit 'u1', aspect 'size' stands in row 2 too, expected once",
        "  row 5, field unit: found 'u9', expected the id of a unit that there is",
        "  row 5, field who: found nothing, expected some text",
    ]


def test_json_lines_are_values_with_their_numbers():
    assert files.json_lines('{"a": "x\u2028y"}\n\n[1]') == ([(1, {"a": "x\u2028y"}), (3, [1])], [])
    assert files.json_lines(r'"\ud83d\ude00"') == ([(1, "\N{GRINNING FACE}")], [])


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("[1", ""),
        ('{"a": 1, "a": 2}', "a twice in one object"),
        ('{"a": [1, {"b": NaN}]}', "Out of range"),
        ('{"a": 1e999}', "Out of range"),
        ('{"a": "x\\udc00"}', "'utf-8' codec can't encode"),
        ("[" * 100_000, "maximum recursion depth"),
    ],
    ids=["cut", "twice", "NaN", "too large", "half a character", "deep"],
)
def test_what_no_json_file_can_hold_is_named_with_its_line(line, fault):
    values, [problem] = files.json_lines(f"{{}}\n{line}")
    assert values == [(1, {})]
    assert problem.startswith(f"line 2: not JSON ({fault}")


# Files as texts


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"a\nb\xe9c", "line 2: found the byte 0xe9, expected UTF-8"),
        ("a\nb".encode("utf-16"), "found a text in UTF-16, expected a text in UTF-8"),
        (b"PK\x03\x04\x14\0", "found a zip archive, such as an Excel workbook"),
        (b"a\n\0", "line 2: found a NUL, expected text"),
    ],
    ids=["Latin-1", "UTF-16", "Excel", "NUL"],
)
def test_what_is_no_text_is_named_with_its_line(content, fault, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"mine\.txt: cannot be read: {fault}"):
        files.read_text(path)


def test_mark_of_byte_order_and_line_ends_are_no_part_of_a_text(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert files.read_text(path) == "a\nb\nc\n"


def test_a_cell_may_be_longer_than_131072_characters(form):
    path = form(f"u1,{'ann ' * 50_000},human,taste,good")
    assert len(files.read_form(path, FORM).loc[2, "who"]) == 199_999


@pytest.mark.parametrize("read", [files.read_text, lambda path: [*files.csv_rows(path)]])
def test_what_is_no_file_is_refused_at_once(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "loop", tmp_path / "nowhere"):
        with pytest.raises(InputError, match=f"{path}: cannot be read"):
            read(path)
