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
RATE, MATCH = tasks.FORMS["bigtom/ratings"], tasks.FORMS["omnitom/alignments"]


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


def test_what_may_be_answered_goes_by_the_question(file):
    stories = pd.DataFrame({"story_id": ["s1"]})
    form = tasks.FORMS["simpletom/annotations"]
    sheet = Sheet(file(ANNOTATIONS), simpletom.annotations_form(), stories, "Ana", form)
    assert sheet.rows["question"].tolist() == [*simpletom.QUESTIONS]
    for allowed in simpletom.QUESTIONS.values():
        assert sheet.choices() == [*allowed]
        sheet.answer("yes")


@pytest.mark.parametrize("name", tasks.FORMS)
def test_every_form_has_a_file_a_schema_and_words_for_all_it_asks(name):
    form = tasks.FORMS[name]
    path, schema = tasks.place(form)
    assert path.is_file()
    asked = list(form["ask"])
    if "by" in form:
        assert asked == schema.columns[form["by"]].metadata["allowed"]
        asked = [form["answer"]]
    assert set(asked) <= {*schema.columns}


def test_a_table_of_a_run_is_shown_under_its_headings(tmp_path):
    path = tmp_path / "stories.parquet"
    form = tasks.FORMS["simpletom/annotations"]
    stories = pd.DataFrame([dict.fromkeys(form["shows"], text) for text in "xy"])
    stories.assign(status=["story", "unparsed"]).to_parquet(path)
    assert tasks.table(path, form)["shown"].str[0].tolist() == [("Person X", "x")]
    stories.to_parquet(path)
    assert "found released items" in complaint(tasks.table, path, form)


# What stands in the file


def test_answers_are_in_the_file_at_once_and_who_comes_back_goes_on(ratings):
    sheet = ratings()
    sheet.answer("1")
    assert lines(sheet) == ["t1,Ana,human,1,"]
    sheet.answer("4"), sheet.answer("0")
    again = ratings("  Ana ")
    assert (again.at, asked_of(again)["done"]) == (3, 3)


def test_what_is_skipped_comes_again_after_the_last(ratings):
    sheet = ratings()
    sheet.move(1)
    for answer in ("5", "1", "5"):
        sheet.answer(answer)
    assert sheet.at == 0
    sheet.answer("0")
    assert sheet.at is None and sheet.choices() == []
    assert lines(sheet) == ["t1,Ana,human,0,5", "t2,Ana,human,1,5"]
    sheet.move(-1)
    sheet.answer("1")
    assert lines(sheet)[1] == "t2,Ana,human,1,1"


def test_two_people_at_once_lose_nothing_of_each_other_or_of_other_rows(file):
    others = ["gone,Ana,human,1,3", "t1,gpt,llm:gpt-4,1,5"]
    path = file(RATINGS, *others)
    ana, ben = (Sheet(path, ratings_form(), TWO, name, RATE) for name in ("Ana", "Ben"))
    for of_ana, of_ben in zip("1502", "0403", strict=True):
        ana.answer(of_ana), ben.answer(of_ben)
    answers = ["t1,Ana,human,1,5", "t2,Ana,human,0,2", "t1,Ben,human,0,4", "t2,Ben,human,0,3"]
    assert sorted(lines(ana)) == sorted([*others, *answers])


def test_flags_and_labels_are_read_by_filtering(file):
    question_sets = pd.DataFrame({"set_id": ["0-0-0"]})
    form = tasks.FORMS["fantom/flags"]
    flags = Sheet(file(FLAGS), flags_form(), question_sets, "Ana", form)
    flags.answer("no"), flags.answer("yes")
    table = read_form(flags.path, flags_form({"0-0-0"}))
    assert table[["kind", "verdict"]].values.tolist() == [["coherence", "no"], ["safety", "yes"]]
    beliefs = pd.DataFrame({"story_id": ["7"], "belief": ["1"]})
    form = tasks.FORMS["omnitom/annotations"]
    labels = Sheet(file(LABELS, name="labels.csv"), annotations_form(), beliefs, "Ana", form)
    labels.answer("0"), labels.answer("True")
    table = read_annotations(labels.path, [{"story_id": 7, "beliefs": [{}]}])
    columns = ["dimension", "label"]
    assert table[columns].values.tolist() == [["order", "0"], ["truth_status", "True"]]


def test_tables_stand_whole_in_the_file_with_beliefs_that_repeat(file):
    beliefs = [["prediction", "It rains"], ["prediction", "It rains"], ["gold", "It is raining"]]
    given = pd.DataFrame(beliefs, columns=["table", "belief"]).assign(actor="Ana", story_id="1")
    given = pd.concat([given.assign(system=name) for name in ("x", "y")])
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


HOSTILE = ['O"Neil, <b>Ana</b> $x$', 'a,b "no"', "=1+1", "'=1", "-2", "#REF!", "é\u2028x"]


def test_names_and_texts_of_any_kind_come_back_as_they_were(file):
    path = file(RATINGS)
    templates = pd.DataFrame({"template_id": HOSTILE})
    sheet = Sheet(path, ratings_form(), templates, HOSTILE[0], RATE)
    while sheet.at is not None:
        sheet.answer(sheet.choices()[-1])
    assert not [line for line in lines(sheet) if line.startswith(("=", "-", "#"))]
    table = read_form(path, ratings_form(set(HOSTILE)))
    assert table["template_id"].tolist() == HOSTILE
    assert set(table["rater"]) == {HOSTILE[0]}
    assert Sheet(path, ratings_form(), templates, HOSTILE[0], RATE).at is None


@pytest.mark.parametrize("name", ["  ", "gpt"])
def test_a_name_that_is_nobodys_or_a_models_is_refused(file, name):
    path = file(RATINGS, "t1,gpt,llm:gpt-4,1,5")
    message = complaint(Sheet, path, ratings_form(), TWO, name, RATE)
    assert message.startswith(f"name: found {name.strip()!r}")


def test_an_answer_that_is_none_of_the_choices_is_refused(ratings):
    sheet = ratings()
    assert complaint(sheet.answer, "2") == "found '2', expected 0, 1"
    assert lines(sheet) == []


def test_nothing_to_judge_differs_from_a_run_that_is_still_to_come(tmp_path):
    path = tmp_path / "judges" / "bigtom" / "to_label.csv"
    message = complaint(tasks.open_sheet, "bigtom/labels", "Ana", tmp_path)
    assert message.startswith(f"{path}: not there yet")
    path.parent.mkdir(parents=True)
    path.write_text("item_id,question,option_a,option_b,answer\n", encoding="utf-8")
    message = complaint(tasks.open_sheet, "bigtom/labels", "Ana", tmp_path)
    assert message.startswith(f"{path}: found nothing in this run")


def test_answers_given_elsewhere_meanwhile_stay_and_the_last_one_counts(ratings):
    sheet, elsewhere = ratings(), ratings()
    elsewhere.answer("0"), elsewhere.answer("3")
    sheet.answer("1")
    assert lines(sheet) == ["t1,Ana,human,1,3"]
    assert sheet.at == 2


@pytest.mark.parametrize(
    "content",
    [f"{RATINGS}\nt1,Ben,human,9,2\n", "rater\nBen\n", f'{RATINGS}\nt1,"Ben,human'],
    ids=["value", "header", "quote"],
)
def test_a_file_spoilt_meanwhile_is_named_and_left_as_it_is(ratings, content):
    sheet = ratings()
    sheet.answer("1")
    good = sheet.path.read_bytes()
    sheet.path.write_text(content, encoding="utf-8")
    assert str(sheet.path) in complaint(sheet.answer, "5")
    assert sheet.path.read_text(encoding="utf-8") == content
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
