"""Answers of people: what is asked by a schema, what stands in the file, and what may go wrong."""

from pathlib import Path

import pandas as pd
import pytest

from tomlab.benchmarks.bigtom.items.filtering import ratings_form
from tomlab.benchmarks.fantom.items.filtering import flags_form
from tomlab.benchmarks.omnitom.calibration import ALIGNMENTS_FORM, read_human
from tomlab.benchmarks.omnitom.items.filtering import annotations_form, read_annotations
from tomlab.benchmarks.simpletom.items import filtering as simpletom
from tomlab.errors import InputError
from tomlab.forms import asked_of, tasks
from tomlab.forms.sheet import Sheet
from tomlab.judging import people
from tomlab.records.files import read_form

RATINGS = "template_id,rater,rater_kind,follows_structure,tests_behavior"
FLAGS = "set_id,annotator,kind,verdict,annotator_type"
ANNOTATIONS = "story_id,annotator,annotator_kind,question,answer"
LABELS = "story_id,belief,annotator,annotator_type,dimension,label"
ALIGNMENTS = "story_id,table,actor,belief,match_count,annotator"
TWO = pd.DataFrame({"template_id": ["t1", "t2"], "shown": [[]] * 2})
RATE, FLAG, MATCH = (
    tasks.FORMS[name] for name in ("bigtom/ratings", "fantom/flags", "omnitom/alignments")
)


@pytest.fixture
def file(tmp_path):
    def write(header, *lines, name="form.csv"):
        path = tmp_path / name
        path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
        return path

    return write


@pytest.fixture
def ratings(file):
    path = file(RATINGS)
    return lambda who="Ana": Sheet(path, ratings_form(), TWO, who, RATE)


def lines(sheet):
    return sheet.path.read_text(encoding="utf-8").splitlines()[1:]


def complaint(call, *arguments):
    with pytest.raises(InputError) as caught:
        call(*arguments)
    return str(caught.value)


# What is asked


def test_each_column_is_asked_of_each_template(ratings):
    sheet = ratings()
    asked = [(sheet.rows.at[row, "template_id"], column) for row, column in sheet.questions]
    columns = ("follows_structure", "tests_behavior")
    assert asked == [(name, column) for name in ("t1", "t2") for column in columns]
    assert sheet.choices() == ["0", "1"]
    sheet.answer("1")
    assert sheet.choices() == ["1", "2", "3", "4", "5"]


def test_each_kind_of_fault_is_asked_of_each_set(file):
    sheet = Sheet(file(FLAGS), flags_form(), pd.DataFrame({"set_id": ["0-0-0"]}), "Ana", FLAG)
    assert sheet.rows["kind"].tolist() == ["coherence", "safety", "answer"]
    assert sheet.choices() == ["yes", "no"]


def test_what_may_be_answered_goes_by_the_question(file):
    stories = pd.DataFrame({"story_id": ["s1"]})
    form = tasks.FORMS["simpletom/annotations"]
    sheet = Sheet(file(ANNOTATIONS), simpletom.annotations_form(), stories, "Ana", form)
    allowed = {}
    while sheet.at is not None:
        allowed[sheet.rows.at[sheet.questions[sheet.at][0], "question"]] = tuple(sheet.choices())
        sheet.answer("yes")
    assert allowed == simpletom.QUESTIONS


@pytest.mark.parametrize("name", tasks.FORMS)
def test_every_form_has_a_file_a_schema_and_words_for_all_it_asks(name):
    form = tasks.FORMS[name]
    path, schema = tasks.place(form)
    assert path.is_file()
    if "by" in form:
        assert list(form["ask"]) == schema.columns[form["by"]].metadata["allowed"]
    assert {form.get("answer"), *(() if "by" in form else form["ask"])} - {None} <= {
        *schema.columns
    }


def test_a_table_of_a_run_is_shown_under_its_headings(tmp_path):
    path = tmp_path / "stories.parquet"
    rows = [dict.fromkeys(tasks.FORMS["simpletom/annotations"]["shows"], text) for text in "xy"]
    table = pd.DataFrame(rows).assign(story_id=["s1", "s2"], status=["story", "unparsed"])
    table.to_parquet(path)
    [one] = tasks.table(path, tasks.FORMS["simpletom/annotations"]).to_dict("records")
    assert one["story_id"] == "s1"
    assert one["shown"][:2] == [("Person X", "x"), ("Key information", "x")]
    table.drop(columns="status").to_parquet(path)
    assert "found released items" in complaint(
        tasks.table, path, tasks.FORMS["simpletom/annotations"]
    )


# What stands in the file


def test_answers_are_in_the_file_at_once_as_filtering_reads_them(ratings):
    sheet = ratings()
    sheet.answer("1")
    assert lines(sheet) == ["t1,Ana,human,1,"]
    sheet.answer("4")
    assert read_form(sheet.path, ratings_form({"t1", "t2"})).to_dict("records") == [
        {"template_id": "t1", "rater": "Ana", "rater_kind": "human"}
        | {"follows_structure": "1", "tests_behavior": "4"}
    ]


def test_who_comes_back_goes_on_where_they_stopped(ratings):
    sheet = ratings()
    sheet.answer("1"), sheet.answer("4"), sheet.answer("0")
    again = ratings("  Ana ")
    assert (again.at, asked_of(again)["done"]) == (3, 3)


def test_what_is_skipped_comes_again_after_the_last(ratings):
    sheet = ratings()
    sheet.move(1)
    for answer in ("5", "1", "5"):
        sheet.answer(answer)
    assert sheet.at == 0
    sheet.answer("0")
    assert sheet.at is None
    assert lines(sheet) == ["t1,Ana,human,0,5", "t2,Ana,human,1,5"]
    sheet.move(-1)
    sheet.answer("1")
    assert lines(sheet)[1] == "t2,Ana,human,1,1"


def test_two_people_at_once_lose_nothing_of_each_other(ratings):
    ana, ben = ratings("Ana"), ratings("Ben")
    for one, two in zip(("1", "5", "0", "2"), ("0", "4", "0", "3"), strict=True):
        ana.answer(one), ben.answer(two)
    found = {tuple(line.split(",")) for line in lines(ana)}
    assert found == {
        ("t1", "Ana", "human", "1", "5"),
        ("t2", "Ana", "human", "0", "2"),
        ("t1", "Ben", "human", "0", "4"),
        ("t2", "Ben", "human", "0", "3"),
    }


def test_rows_of_models_and_of_former_templates_stay(file):
    kept = ["gone,Ana,human,1,3", "t1,gpt,llm:gpt-4,1,5"]
    sheet = Sheet(file(RATINGS, *kept), ratings_form(), TWO, "Ana", RATE)
    sheet.answer("0")
    assert lines(sheet) == [*kept, "t1,Ana,human,0,"]


def test_flags_and_labels_are_read_by_filtering(file):
    flags = Sheet(file(FLAGS), flags_form(), pd.DataFrame({"set_id": ["0-0-0"]}), "Ana", FLAG)
    flags.answer("no"), flags.answer("yes")
    table = read_form(flags.path, flags_form({"0-0-0"}))
    assert dict(zip(table["kind"], table["verdict"], strict=True)) == {
        "coherence": "no",
        "safety": "yes",
    }
    beliefs = pd.DataFrame({"story_id": ["7"], "belief": ["1"]})
    form = tasks.FORMS["omnitom/annotations"]
    labels = Sheet(file(LABELS, name="labels.csv"), annotations_form(), beliefs, "Ana", form)
    labels.answer("0"), labels.answer("True")
    told = (
        read_annotations(labels.path, [{"story_id": 7, "beliefs": [{}]}])[["dimension", "label"]]
        .to_numpy()
        .tolist()
    )
    assert told == [["order", "0"], ["truth_status", "True"]]


def test_tables_stand_whole_in_the_file_with_beliefs_that_repeat(file):
    rows = [("prediction", "Ana", "It rains"), ("prediction", "Ana", "It rains")]
    rows += [("gold", "Ana", "It is raining")]
    given = pd.DataFrame(rows, columns=["table", "actor", "belief"])
    given = pd.concat([given.assign(story_id="1", system=name) for name in ("x", "y")])
    given["choices"] = [["0", "1", "2"]] * len(given)
    path = file(ALIGNMENTS)
    sheet = Sheet(path, ALIGNMENTS_FORM, given, "Ben", MATCH)
    sheet.answer("0"), sheet.answer("1")
    [table] = read_human(path)
    assert (table.table_id, table.truth) == ("1/x/Ben", "human:Ben")
    assert (table.known.mc_predicted, table.known.mc_gold) == ([0, 1], [None])
    assert Sheet(path, ALIGNMENTS_FORM, given, "Ben", MATCH).at == 2


def test_an_answer_to_what_now_reads_otherwise_is_asked_again(file, tmp_path):
    given = dict.fromkeys(people.FORM[:-2], "x") | {"sample": "0", "answer": "it is a"}
    path, form = file(",".join(people.FORM)), tasks.FORMS["bigtom/labels"]
    sheet = Sheet(path, people.labels_form(), pd.DataFrame([given]), "Ana", form)
    sheet.answer("a")
    other = pd.DataFrame([given | {"answer": "it is b"}])
    again = Sheet(path, people.labels_form(), other, "Ana", form)
    assert again.at == 0
    again.answer("b")
    assert lines(again) == ["x,x,x,x,0,x,x,x,it is b,b,Ana"]


# What may go wrong


HOSTILE = 'O"Neil, <b>Ana</b> $x$; =1+1'


def test_names_and_texts_of_any_kind_come_back_as_they_were(file):
    texts = [
        "a,b",
        'say "no"',
        "=1+1",
        "'=1",
        "-2",
        "#REF!",
        "<script>alert(1)</script>",
        "é\u2028x",
        "t'); --",
    ]
    path = file(RATINGS)
    sheet = Sheet(path, ratings_form(), pd.DataFrame({"template_id": texts}), HOSTILE, RATE)
    while sheet.at is not None:
        sheet.answer(sheet.choices()[-1])
    assert not [line for line in lines(sheet) if line.startswith(("=", "-", "#"))]
    table = read_form(path, ratings_form(set(texts)))
    assert table["template_id"].tolist() == texts
    assert set(table["rater"]) == {HOSTILE}
    again = Sheet(path, ratings_form(), pd.DataFrame({"template_id": texts}), HOSTILE, RATE)
    assert again.at is None


@pytest.mark.parametrize("name", ["", "  ", "gpt"])
def test_a_name_that_is_nobodys_or_a_models_is_refused(file, name):
    path = file(RATINGS, "t1,gpt,llm:gpt-4,1,5")
    said = complaint(Sheet, path, ratings_form(), TWO, name, RATE)
    assert said == f"name: found {name.strip()!r}, expected the name of a person"


def test_an_answer_that_is_none_of_the_choices_is_refused(ratings):
    sheet = ratings()
    assert complaint(sheet.answer, "2") == "found '2', expected 0, 1"
    assert lines(sheet) == []


def test_nothing_to_judge_is_told_from_a_run_that_is_still_to_come(tmp_path):
    path = tmp_path / "judges" / "bigtom" / "to_label.csv"
    said = complaint(tasks.open_sheet, "bigtom/labels", "Ana", tmp_path)
    assert said == f"{path}: not there yet; `make figures` writes it"
    path.parent.mkdir(parents=True)
    path.write_text("item_id,question,option_a,option_b,answer\n", encoding="utf-8")
    said = complaint(tasks.open_sheet, "bigtom/labels", "Ana", tmp_path)
    assert said.startswith(f"{path}: found nothing in this run")


def test_what_others_wrote_meanwhile_stays(ratings):
    sheet = ratings()
    sheet.answer("1")
    with sheet.path.open("a", encoding="utf-8") as file:
        file.write("t2,Ben,human,0,2\n")
    sheet.answer("5")
    assert lines(sheet) == ["t2,Ben,human,0,2", "t1,Ana,human,1,5"]


def test_own_answers_given_elsewhere_meanwhile_stay_and_the_last_one_counts(ratings):
    sheet, elsewhere = ratings(), ratings()
    elsewhere.answer("0"), elsewhere.answer("3")
    sheet.answer("1")
    assert lines(sheet) == ["t1,Ana,human,1,3"]
    assert sheet.at == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"{RATINGS}\nt1,Ben,human,9,2\n", "row 2, field follows_structure: found '9', expected"),
        ("rater\nBen\n", "row 1: missing columns template_id, rater_kind"),
        (f'{RATINGS}\nt1,"Ben,human', "row 2: cannot be read as CSV"),
        (None, "cannot be read (No such file or directory)"),
    ],
    ids=["value", "header", "quote", "gone"],
)
def test_a_file_spoilt_meanwhile_is_named_and_left_as_it_is(ratings, content, told):
    sheet = ratings()
    sheet.answer("1")
    good = sheet.path.read_bytes()
    sheet.path.unlink() if content is None else sheet.path.write_text(content, encoding="utf-8")
    said = complaint(sheet.answer, "5")
    assert str(sheet.path) in said
    assert told in said
    assert (sheet.path.read_text(encoding="utf-8") if content else None) == content
    assert sheet.at == 1
    sheet.path.write_bytes(good)
    sheet.answer("5")
    assert lines(sheet) == ["t1,Ana,human,1,5"]


def test_a_full_disk_loses_no_answer_before(ratings, monkeypatch):
    sheet = ratings()
    sheet.answer("1")

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        assert "cannot be written (No space left on device)" in complaint(sheet.answer, "5")
    assert lines(sheet) == ["t1,Ana,human,1,"]
    assert (sheet.at, asked_of(sheet)["done"]) == (1, 1)
    sheet.answer("5")
    assert lines(sheet) == ["t1,Ana,human,1,5"]
