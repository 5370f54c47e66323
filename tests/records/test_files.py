"""Forms that people fill in, JSON by the line, and what is said of a fault."""

import os
from pathlib import Path

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
    ("line", "said"),
    [
        ("u9,ann,human,taste,good", "field unit: found 'u9', expected the id of a unit that"),
        ("u1,,human,taste,good", "field who: found nothing, expected some text"),
        (
            "u1,ann,humans,taste,good",
            "field who_kind: found 'humans', expected human or llm:<model>",
        ),
        ("u1,ann,llm:,taste,good", "field who_kind: found 'llm:', expected human or llm:<model>"),
        ("u1,ann,human,colour,good", "field aspect: found 'colour', expected taste, size"),
        ("u1,ann,human,taste,3", "field mark: found '3', expected good, bad"),
        ("u1,ann,human,size,4", "field mark: found '4', expected 1 to 3"),
    ],
)
def test_fault_is_named_with_row_field_found_and_expected(form, line, said):
    found = complaint(form("u2,bob,human,taste,bad", line))
    assert f"form.csv: 1 problem\n  row 3, {said}" in found


def test_column_that_stands_twice_is_not_chosen_from(form):
    path = form("u1,ann,human,taste,good,bad", header=f"{HEADER},mark")
    assert "row 1: found mark twice, expected columns once" in complaint(path)


def test_misspelt_column_is_told_with_those_there_are(form):
    found = complaint(form(header=HEADER.replace("aspect", "aspekt")))
    assert "row 1: missing columns aspect; found 'unit, who, who_kind, aspekt, mark'" in found


@pytest.mark.parametrize("cell", ['"open', '"shut"x'])
def test_row_that_is_no_csv_is_named_where_it_begins(form, cell):
    found = complaint(form("u1,ann,human,taste,good", f"u2,{cell},human,taste,good", "u2,b"))
    assert "form.csv: row 3: cannot be read as CSV" in found


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+31",
        "-1",
        "− a",
        "@ann",
        "'=1",
        "''=1",
        "'tis",
        "#NAME?",
        "#1",
        "a=b",
        "=a\nb",
        '="x"',
    ],
)
def test_text_that_a_spreadsheet_takes_for_a_formula_is_escaped_and_read_as_it_was(text, tmp_path):
    path = tmp_path / "form.csv"
    files.write_form(pd.DataFrame({"who": [text, "ann"], "n": [-1, 2]}), path)
    cell = path.read_text(encoding="utf-8").splitlines()[1].removeprefix('"')
    assert cell[0] not in "=+-−@#"
    assert files.read_form(path, pa.DataFrameSchema())["who"].tolist() == [text, "ann"]


@pytest.mark.parametrize("cell", ["#NAME?", "#REF!", "#VALUE!", "#N/A", "#BEZUG!", "Err:509"])
def test_what_a_spreadsheet_made_of_a_formula_is_named_with_row_and_field(form, cell):
    found = complaint(form("u1,ann,human,taste,good", f"u2,{cell},human,{cell},bad", "u2,b"))
    assert f"form.csv: 2 problems\n  row 3, field who: found '{cell}'" in found
    assert f"row 3, field aspect: found '{cell}'" in found


def test_all_faults_come_at_once_by_row(form):
    found = complaint(
        form("u1,ann,human,size,9", "u1", "u1,ann,llm:m,size,1", "u9,,human,taste,good")
    )
    assert found.splitlines()[1:] == [
        "  row 3: found 1 fields, expected 5",
        "  row 2, field mark: found '9', expected 1 to 3",
        "  row 4, field who_kind: found 'llm:m', expected human",
        "  row 4: who 'ann', unit 'u1', aspect 'size' stands in row 2 too, expected once",
        "  row 5, field unit: found 'u9', expected the id of a unit that there is",
        "  row 5, field who: found nothing, expected some text",
    ]


def test_json_lines_are_told_apart_from_what_is_none():
    found, problems = files.json_lines('{"a": "x\u2028y"}\n\n[1\n{"a": 1, "a": 2}\nNaN')
    assert found == [(1, {"a": "x\u2028y"})]
    assert [what.split(" (")[0] for what in problems[:2]] == [f"line {n}: not JSON" for n in (3, 4)]
    assert "a twice in one object" in problems[1]
    assert problems[2].startswith("line 5: not JSON (Out of range")
    assert [str(value) for _, value in files.json_lines("NaN", nan=True)[0]] == ["nan"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a": [1, {"b": NaN}]}', "line 1: not JSON (Out of range"),
        ('{"a": 1e999}', "line 1: not JSON (Out of range"),
        ('{"a": "x\\udc00"}', r"line 1: not JSON ('utf-8' codec can't encode character '\udc00'"),
        ('{"a\\ud800": 1}', r"line 1: not JSON ('utf-8' codec can't encode character '\ud800'"),
        ("[" * 100_000, "line 1: not JSON (maximum recursion depth"),
        ('{"a": ' + "9" * 5000 + "}", "line 1: not JSON (Exceeds the limit"),
    ],
    ids=["NaN", "too large", "half a character", "in a name", "deep", "long"],
)
def test_what_no_json_file_can_hold_is_named_with_its_line(line, said):
    found, [problem] = files.json_lines(line)
    assert found == []
    assert problem.startswith(said)


def test_whole_characters_that_are_escaped_in_halves_are_text():
    assert files.json_lines(r'"\ud83d\ude00"') == ([(1, "\N{GRINNING FACE}")], [])


# Files as texts


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a\nb\xe9c", "cannot be read: line 2: found the byte 0xe9, expected UTF-8"),
        (b"\xef\xbb\xbfa\n\n\xff", "cannot be read: line 3: found the byte 0xff, expected UTF-8"),
        (
            "a\nb".encode("utf-16"),
            "cannot be read: found a text in UTF-16, expected a text in UTF-8",
        ),
        (b"PK\x03\x04\x14\0", "cannot be read: found a zip archive, such as an Excel workbook"),
        (b"a\n\0", "cannot be read: line 2: found a NUL, expected text"),
    ],
    ids=["Latin-1", "after a BOM", "UTF-16", "Excel", "NUL"],
)
def test_what_is_no_text_is_named_with_its_line(content, said, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"mine\.txt: {said}"):
        files.read_text(path)


def test_mark_of_byte_order_and_line_ends_are_no_part_of_a_text(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert files.read_text(path) == "a\nb\nc\n"


@pytest.mark.parametrize("read", [files.read_text, lambda path: [*files.csv_rows(path)]])
def test_a_pipe_and_a_device_are_refused_at_once(read, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match=f"{path}: cannot be read: found a pipe or a device"):
            read(path)


@pytest.mark.parametrize(
    ("between", "name"), [(";", "a semicolon"), ("\t", "a tab"), ("|", "a vertical bar")]
)
def test_a_table_with_another_delimiter_is_told_by_its_name(form, between, name):
    path = form("u1;ann;human;taste;good, very".replace(";", between))
    path.write_text(path.read_text("utf-8").replace(HEADER, HEADER.replace(",", between)), "utf-8")
    said = complaint(path)
    assert f"row 1: found {name} between the columns, expected a comma" in said


def test_a_cell_may_be_longer_than_131072_characters(form):
    path = form(f"u1,{'ann ' * 50_000},human,taste,good")
    assert len(files.read_form(path, FORM).loc[2, "who"]) == 199_999


def test_folder_and_a_link_to_itself_are_no_text(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path, tmp_path / "loop", tmp_path / "nowhere"):
        with pytest.raises(InputError, match=f"{path}: cannot be read"):
            files.read_text(path)
