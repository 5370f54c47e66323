"""Answers that participants sent back: what is read, and what is said about a fault."""

import pandera.pandas as pa
import pytest

from tomlab.errors import InputError
from tomlab.questionnaire.__main__ import main
from tomlab.questionnaire.items import Item
from tomlab.questionnaire.pages import RECORD, default_ratings, write_pages
from tomlab.questionnaire.returned import read_record, read_returned
from tomlab.records.files import read_form

HEADER = "participant,item_id,answer,seconds"
ITEMS = [
    Item("i1", "Which?", options=("the box", "the basket")),
    Item("i2", "Why?", group="i2"),
]
CHECKS = [Item("check-1", "Pick b.", options=("a", "b"), answer="b")]
CHECKS += [Item("check-2", "Write: done", answer="Done")]
RATED_CHECK = [Item("check-1", "Choose 2.", answer="2")]


@pytest.fixture
def folder(tmp_path):
    write_pages(ITEMS, ["ana", "ben"], tmp_path, seed=1, checks=CHECKS)
    return tmp_path


@pytest.fixture
def sent(tmp_path):
    """Writes a CSV as it came back."""

    def write(*lines, name="ana.csv", header=HEADER):
        path = tmp_path / name
        path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
        return path

    return write


def complaint(folder, *paths):
    with pytest.raises(InputError) as caught:
        read_returned(folder / RECORD, paths)
    return str(caught.value)


def test_files_are_joined_and_everybody_is_reported(folder, sent):
    ana = sent("ana,i1,the box,3.5", "ana,check-1,b,2.0", "ana,check-2,done,1", "ana,i2,so,9")
    answers, participants = read_returned(folder / RECORD, [ana])
    assert answers.values.tolist() == [
        ["ana", "i1", "the box", "3.5", "2 of 2", "yes"],
        ["ana", "i2", "so", "9", "2 of 2", "yes"],
    ]
    assert participants.values.tolist() == [
        ["ana", 2, 2, "2 of 2", "yes"],
        ["ben", 0, 2, "0 of 2", "no"],
    ]


def test_who_misses_a_check_stays_in_the_form(folder, sent):
    ana = sent("ana,i1,the box,3.5", "ana,check-1,a,2.0")
    ben = sent("ben,i1,the basket,1", "ben,check-1,b,2", name="ben.csv")
    answers, participants = read_returned(folder / RECORD, [ana, ben])
    assert answers[["participant", "passed"]].values.tolist() == [["ana", "no"], ["ben", "no"]]
    assert participants["checks_passed"].tolist() == ["0 of 2", "1 of 2"]


def test_an_option_is_recognised_whatever_white_space_a_spreadsheet_made_of_it(tmp_path, sent):
    write_pages([Item("i1", "?", options=("the\nbox", "it"))], ["ana"], tmp_path)
    answers, participants = read_returned(tmp_path / RECORD, [sent("ana,i1,the box,1")])
    assert answers["answer"].tolist() == ["the\nbox"]
    assert participants[["checks_passed", "passed"]].values.tolist() == [["0 of 0", ""]]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("ana,i9,x,1", "row 2, field item_id: found 'i9', expected the id of a question"),
        ("ana,i1,A,1", "row 2, field answer: found 'A', expected the"),
        ("ana,i2,,1", "row 2, field answer: found nothing, expected some text"),
        ("eve,i1,the box,1", "row 2, field participant: found 'eve', expected one of the part"),
        ("ana,i1,the box,soon", "row 2, field seconds: found 'soon', expected a number"),
        ("ana,i2,x,1\nana,i2,y,1", "row 3: participant 'ana', item_id 'i2' stands in row 2 too"),
        ("ana,i2,#NAME?,1", "row 2, field answer: found '#NAME?' by a spreadsheet"),
    ],
)
def test_a_fault_is_named_by_file_row_and_field(folder, sent, line, fault):
    message = complaint(folder, sent(line))
    assert str(folder / "ana.csv") in message
    assert fault in message


def test_an_item_of_somebody_else_is_a_fault(tmp_path, sent):
    write_pages([ITEMS[1], Item("i3", "?", group="i3")], ["ana", "ben"], tmp_path, deal=True)
    of_ben = next(iter(read_record(tmp_path / RECORD).pages["ben"]))
    message = complaint(tmp_path, sent(f"ana,{of_ben},x,1"))
    assert "expected the id of a question that ana was asked" in message


def test_faults_in_several_files_are_reported_at_once(folder, sent):
    message = complaint(folder, sent("ana,i9,x,1"), sent("ben,i8,x,1", name="ben.csv"))
    assert "'i9'" in message and "'i8'" in message
    second = sent("ana,i1,the box,2", "ana,i2,x,1", name="ana (1).csv")
    message = complaint(folder, sent("ana,i2,x,1"), second)
    assert f"{second}, row 3: participant 'ana', item_id 'i2'" in message


@pytest.mark.parametrize("content", ["[1", '{"kind": "x"}'])
def test_another_file_is_no_record(tmp_path, sent, content):
    path = tmp_path / RECORD
    path.write_text(content)
    message = complaint(tmp_path, sent("ana,i1,the box,1"))
    assert "expected the questionnaire.json that was written with the pages" in message


def test_ratings_are_read_by_item_and_question(tmp_path, sent):
    write_pages(ITEMS, ["ana"], tmp_path, seed=1, checks=RATED_CHECK, ratings=default_ratings())
    header = "participant,item_id,question,rating"
    lines = ["ana,i1,unambiguous,4", "ana,i1,coherent_q_a,1", "ana,check-1,check,3"]
    ratings, participants = read_returned(tmp_path / RECORD, [sent(*lines, header=header)])
    assert ratings.values.tolist() == [
        ["ana", "i1", "unambiguous", "4", "0 of 1", "no"],
        ["ana", "i1", "coherent_q_a", "1", "0 of 1", "no"],
    ]
    assert participants["answered"].tolist() == [1]
    for line, fault in {
        "ana,i1,unambiguous,6": "field rating: found '6', expected 1, 2, 3, 4, 5",
        "ana,i1,check,4": "field question: found 'check', expected",
        "ana,check-1,unambiguous,2": "field question: found 'unambiguous', expected check",
        "ana,i1,other,2": "field question: found 'other', expected understandability",
        "ana,i1,unambiguous,2\nana,i1,unambiguous,3": "stands in row 2 too",
    }.items():
        assert fault in complaint(tmp_path, sent(line, header=header))


def test_the_command_writes_the_form_and_overwrites_none(folder, sent, capsys):
    ana = sent("ana,i2,'=1+1,9.5", "ana,check-1,b,1")
    target = folder / "form.csv"
    call = ["read", str(folder / RECORD), str(ana), "--to", str(target)]
    assert main(call) == 0
    assert "Nobody was left out" in capsys.readouterr().out
    form = read_form(target, pa.DataFrameSchema())
    assert form["answer"].tolist() == ["=1+1"]
    assert form["passed"].tolist() == ["no"]
    assert main(call) == 1
    assert "there already" in capsys.readouterr().err
    assert main([*call, "--overwrite"]) == 0
