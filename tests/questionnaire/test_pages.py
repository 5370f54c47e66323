"""Questionnaires as files: which items, in which order, and what stands in a page."""

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtom_templates import divers
from fantom_sets import question_set
from simpletom_stories import stories
from tomlab.benchmarks import bigtom, fantom, simpletom
from tomlab.errors import InputError
from tomlab.questionnaire import items as items_of
from tomlab.questionnaire.__main__ import main
from tomlab.questionnaire.items import Item, default_checks, named_items, read_items
from tomlab.questionnaire.pages import RECORD, default_ratings, read_ratings, write_pages
from tomlab.questionnaire.returned import read_record

SIX = [
    Item(f"i{n}", f"Question {n}?", options=("a", "b", "c"), group=f"g{n % 3}") for n in range(6)
]


def content_of(path):
    """What a page asks; no character of it can end the script or begin a comment."""
    text = path.read_text(encoding="utf-8")
    script = text.partition('id="questionnaire">')[2].partition("</script>")[0]
    assert "<" not in script
    return json.loads(script)


@pytest.fixture
def table(tmp_path):
    """Writes items as a table and returns its path as a text."""

    def write(items):
        path = tmp_path / "items.parquet"
        items.to_parquet(path)
        return str(path)

    return write


def complaint(call, *arguments, **options):
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    return str(caught.value)


# ---- What is asked


def test_fantom_asks_what_its_models_are_asked(table):
    source = table(fantom.compose([question_set()]))
    by_id = {item.item_id.partition("/")[2]: item for item in read_items(source)}
    assert by_id["belief_dist:0"].options == ()
    assert len(by_id["belief_choice:0"].options) == 2
    assert by_id["answerability_yn:0"].options == ("yes", "no")
    assert by_id["answerability_list"].question.startswith("Target: ")
    assert by_id["infoaccess_list"].question.startswith("Information: ")
    assert "commas" in by_id["infoaccess_list"].hint
    full = {item.item_id: item for item in read_items(source, method="full")}
    assert len(full) > len(by_id)  # those about people who are not in the short context
    assert full["0-0-0/fact"].story != by_id["fact"].story


def test_rows_are_chosen_by_column(table):
    source = table(fantom.compose([question_set()]))
    where = {"question_type": ["belief_choice", "infoaccess_list"]}
    kinds = {item.item_id.split("/")[1].partition(":")[0] for item in read_items(source, "", where)}
    assert kinds == {"belief_choice", "infoaccess_list"}
    assert "found no column 'kind'" in complaint(read_items, source, "", {"kind": ["x"]})
    assert "found no 'x'" in complaint(read_items, source, "", {"question_type": ["x"]})


def test_simpletom_asks_its_judgment_once_unless_its_wordings_are_asked(table):
    source = table(simpletom.compose(stories({})))
    assert len(read_items(source)) == 3
    assert len(read_items(source, method="wordings")) > 3
    assert "method: found 'cot', expected none or wordings" in complaint(read_items, source, "cot")


def test_items_of_ones_own_come_from_a_csv(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("item_id,question,option_1,option_2\ni1,Which?,a,b\ni2,Why?,,\n")
    assert [item.options for item in read_items(str(path))] == [("a", "b"), ()]


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        (Item("i", " "), "item 'i', question: found nothing"),
        (Item("i", "?", options=("a",)), "options: found 1, expected at least 2"),
        (Item("i", "?", options=("a b", "a\nb")), "options: found two that read alike"),
        (Item("check-i", "?"), "are those of attention checks"),
        (Item("i\n", "?"), "item_id: expected one line"),
    ],
)
def test_an_item_whose_answer_could_not_be_read_again_is_refused(tmp_path, item, fault):
    assert fault in complaint(write_pages, [item], ["p1"], tmp_path)
    assert list(tmp_path.iterdir()) == []


# ---- Who is asked what, in which order


def test_the_seed_and_the_name_alone_decide_the_order(tmp_path):
    pages = []
    for number, (seed, names) in enumerate([(1, "xy"), (1, "yz"), (2, "xy")]):
        write_pages(SIX, names, tmp_path / str(number), seed=seed)
        pages.append(read_record(tmp_path / str(number) / RECORD).pages)
    first, other_names, other_seed = pages
    assert first["y"] == other_names["y"]
    assert list(first["x"]) != list(first["y"])
    assert first["x"] != other_seed["x"]
    assert len({tuple(options) for options in first["x"].values()}) > 2


def test_a_page_shows_the_options_in_the_order_that_the_record_keeps(tmp_path):
    write_pages(SIX, ["p1"], tmp_path, seed=3)
    shown = content_of(tmp_path / "p1.html")["items"]
    options = {item["item_id"]: item["fields"][0]["options"] for item in shown}
    assert [*options.items()] == [*read_record(tmp_path / RECORD).pages["p1"].items()]


def test_questions_about_one_story_stay_together_in_their_order(tmp_path):
    items = [Item(f"{story}{n}", "?", story=story * 9) for story in "abcd" for n in range(3)]
    write_pages(items, ["p1"], tmp_path, seed=1, checks=default_checks("answers"))
    asked = "".join(read_record(tmp_path / RECORD).pages["p1"]).replace("check-", "")
    assert all(f"{story}0{story}1{story}2" in asked for story in "abcd")


def test_groups_are_dealt_out_so_that_each_item_is_asked_once(tmp_path):
    write_pages(SIX, ["x", "y"], tmp_path, seed=1, deal=True)
    pages = read_record(tmp_path / RECORD).pages
    assert sorted([*pages["x"], *pages["y"]]) == [item.item_id for item in SIX]
    groups = [{int(item_id[1:]) % 3 for item_id in page} for page in pages.values()]
    assert groups[0].isdisjoint(groups[1])
    assert "at least one for each of 4 people" in complaint(
        write_pages, SIX, list("wxyz"), tmp_path / "b", deal=True
    )


def test_each_group_gives_an_item_before_any_gives_a_second():
    drawn = items_of.draw_items(SIX, 3, seed=1)
    assert {item.group for item in drawn} == {"g0", "g1", "g2"}
    assert len(items_of.draw_groups(SIX, 2, seed=1)) == 4
    assert complaint(items_of.draw_items, SIX, 7, 1) == "found 6 items, expected at least 7"


# ---- What stands in a file


# Any text, among it what ends a script or begins a comment.
PARTS = st.sampled_from(["</script>", "<script>", "<!--", "-->", "]]>", "\\u003c", '"', "&lt;"])
CHARACTERS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
TEXTS = st.lists(PARTS | CHARACTERS, max_size=4).map("".join)


@given(st.tuples(TEXTS, TEXTS, TEXTS))
def test_any_text_stands_in_the_page_as_it_is(tmp_path_factory, texts):
    story, question, intro = texts
    folder = tmp_path_factory.mktemp("page")
    write_pages([Item("i", f"?{question}", story=story)], ["p1"], folder, intro=intro)
    content = content_of(folder / "p1.html")
    [item] = content["items"]
    assert (item["story"], item["fields"][0]["ask"]) == (story, f"?{question}")
    assert "".join("".join(content["intro"]).split()) == "".join(intro.split())


@pytest.mark.parametrize(("kind", "ratings"), [("answers", []), ("ratings", default_ratings())])
def test_a_page_has_neither_right_answers_nor_addresses(tmp_path, table, kind, ratings):
    items = read_items(table(bigtom.compose(divers(1))))
    write_pages(items, ["p1"], tmp_path, checks=default_checks(kind), ratings=ratings)
    page = (tmp_path / "p1.html").read_text(encoding="utf-8")
    assert "http:" not in page and "https:" not in page and "src=" not in page
    assert '"answer": ' not in page


def test_nothing_is_overwritten_unless_that_is_said(tmp_path):
    write_pages(SIX, ["p1"], tmp_path, seed=1)
    before = (tmp_path / "p1.html").read_bytes()
    message = complaint(write_pages, SIX, ["p1", "p2"], tmp_path, seed=2)
    assert "p1.html: 2 of 3 files are there already" in message
    assert (tmp_path / "p1.html").read_bytes() == before
    assert not (tmp_path / "p2.html").exists()
    write_pages(SIX, ["p1", "p2"], tmp_path, seed=2, overwrite=True)
    assert (tmp_path / "p1.html").read_bytes() != before


@pytest.mark.parametrize("names", [[], ["../p1"], ["Ana", "ana"]])
def test_a_name_that_is_no_name_of_a_file_is_refused(tmp_path, names):
    assert complaint(write_pages, SIX, names, tmp_path).startswith("participants: ")


@pytest.mark.parametrize(
    ("options", "answer", "ratings", "fault"),
    [
        (("a", "b"), "", (), "found no answer"),
        (("a", "b"), "c", (), "answer: found 'c'"),
        (("a", "2"), "2", default_ratings(), "expected no options and an answer from 1 to 5"),
    ],
)
def test_checks_need_a_stated_answer_that_can_be_given(tmp_path, options, answer, ratings, fault):
    checks = [Item("check-1", "?", options=options, answer=answer)]
    assert fault in complaint(write_pages, SIX, ["p"], tmp_path, checks=checks, ratings=ratings)


def test_ids_and_ratings_that_could_not_be_read_again_are_refused(tmp_path):
    (tmp_path / "ids.txt").write_text("nobody\n", encoding="utf-8")
    assert "line 1: found 'nobody'" in complaint(named_items, SIX, tmp_path / "ids.txt")
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("question,ask,low,high\ncheck,How?,1,5\n", encoding="utf-8")
    assert "found the question 'check'" in complaint(read_ratings, ratings)


# ---- The command line


def test_the_command_writes_pages_and_says_what_to_do_with_them(table, tmp_path, capsys):
    source = table(bigtom.compose(divers(1)))
    intro = tmp_path / "consent.txt"
    intro.write_text("One.\nStill one.\n\nTwo.", encoding="utf-8")
    names = tmp_path / "names.txt"
    names.write_text("Zoë\nÁron\n", encoding="utf-8")
    folder = tmp_path / "pages"
    call = ["make", source, "--items", "4", "--participants", str(names), "--seed", "1"]
    call += ["--where", "variable=forward_belief", "--intro", str(intro), "--to", str(folder)]
    assert main(call) == 0
    assert "Áron.html: 4 items, 2 attention checks" in capsys.readouterr().out
    content = content_of(folder / "Zoë.html")
    assert content["intro"] == ["One.\nStill one.", "Two."]
    asked = {item["item_id"] for item in content["items"]} - {"check-1", "check-2"}
    assert {item_id.split("/")[1] for item_id in asked} == {"forward_belief"}
    assert main(call) == 1
    assert "nothing was written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--items", "99"], "found 25 items, expected at least 99"),
        (["--items", "2", "--where", "condition"], "expected COLUMN=VALUE"),
        (["--items", "2", "--where", "condition=true_beleif"], "found no 'true_beleif'"),
        (["--items", "2", "--where", "condition=a", "--where", "condition=b"], "twice"),
        (["--ids", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["--items", "2", "--ratings", "nowhere.csv"], "nowhere.csv: cannot be read"),
        (["--items", "2", "--checks", "x.csv", "--no-checks"], "found both"),
    ],
)
def test_a_mistake_of_the_command_is_one_message(table, tmp_path, capsys, options, fault):
    source = table(bigtom.compose(divers(1)))
    call = ["make", source, "--participants", "2", "--seed", "1", "--to", str(tmp_path / "pages")]
    assert main([*call, *options]) == 1
    assert fault in capsys.readouterr().err
    assert not (tmp_path / "pages").exists()


def test_named_items_are_asked(table, tmp_path):
    items = bigtom.compose(divers(1))
    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join(items["item_id"].head(2)) + "\n")
    call = ["make", table(items), "--ids", str(ids), "--participants", "1", "--seed", "1"]
    assert main([*call, "--no-checks", "--to", str(tmp_path / "pages")]) == 0
    asked = read_record(tmp_path / "pages" / RECORD).pages["p1"]
    assert set(asked) == set(items["item_id"].head(2))


def test_tables_of_beliefs_are_no_questions_for_this_page(table):
    row = {"benchmark": "omnitom", "item_id": "1/labelling", "group_id": "1", "story": "s"}
    row |= {"question_type": "labelling", "question": "", "choices": [], "answer": "[]"}
    row |= {"source": "authored", "category": "AST", "example": "", "paraphrases": "[]"}
    rows = pd.DataFrame([row, row | {"item_id": "1/extraction", "question_type": "extraction"}])
    assert "whose answer is a table" in complaint(read_items, table(rows))
