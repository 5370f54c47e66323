"""The book's own pages: questions and answers, coverage, the front page."""

import re
from importlib import import_module
from string import Formatter

import pandas as pd
import pytest

from tomlab import paths
from tomlab.errors import InputError
from tomlab.papers import book, coverage, front, questions

PAPERS = {"bigtom": (15, 12), "fantom": (5, 9), "omnitom": (8, 19), "simpletom": (13, 8)}
TEXTS = paths.ROOT / "../shared/seeds"
each_paper = pytest.mark.parametrize("name", PAPERS)
QUESTIONS = [(name, each) for name in PAPERS for each in book.texts(name)["questions"]]
each_question = pytest.mark.parametrize(
    ("name", "question"), QUESTIONS, ids=lambda v: v if isinstance(v, str) else v["question"][:40]
)


def chapter(name="bigtom", rows=(), **told):
    """A chapter with rows of metrics: metric, condition, method, value, ci_low, ci_high, n_groups."""
    columns = ["metric", "condition", "method", "value", "ci_low", "ci_high", "n_groups"]
    metrics = pd.DataFrame(rows, columns=columns).assign(benchmark=name, model="m")
    metrics = metrics.assign(n=metrics["n_groups"])
    paper = import_module(f"tomlab.benchmarks.{name}.paper")
    return book.Chapter(name, paper, book.texts(name) | told, metrics, pd.DataFrame())


# ---- coverage: nothing of a paper is missing silently --------------------------------------------


@each_paper
def test_every_figure_and_table_is_listed(name):
    listed = book.texts(name)["coverage"]
    for kind, last in zip(("Figure", "Table"), PAPERS[name], strict=True):
        found = {int(n) for key in listed for n in re.findall(rf"^{kind} (\d+)[a-z]?$", key)}
        assert found == set(range(1, last + 1)), kind


@each_paper
@pytest.mark.skipif(not TEXTS.is_dir(), reason="the papers are not here")
def test_no_caption_of_the_paper_is_without_an_entry(name):
    text = (TEXTS / f"{name}.txt").read_text(encoding="utf-8")
    captions = set(re.findall(r"^((?:Figure|Table) \d+):", text, re.MULTILINE))
    entries = {re.sub(r"(?<=\d)[a-z]$", "", key) for key in book.texts(name)["coverage"]}
    assert len(captions) >= sum(PAPERS[name])
    assert captions - entries == set()


@each_paper
def test_every_published_table_has_a_place_that_is_listed(name):
    tables = import_module(f"tomlab.benchmarks.{name}.paper").PUBLICATION.tables
    listed = book.texts(name)["coverage"]
    # Sec. 3 is not Sec. 3.5, nor Table 1 Table 12.
    lost = {
        table: origin.place
        for table, origin in tables.items()
        if not any(re.search(rf"{re.escape(key)}(?![\d.]*\d)", origin.place) for key in listed)
    }
    assert lost == {}


@each_paper
def test_what_has_numbers_is_drawn_or_says_why_not(name):
    for key, entry in book.texts(name)["coverage"].items():
        assert set(entry) <= {"about", "has", "drawn", "whose", "why"}, key
        assert entry["has"] in ("numbers", "drawn", "texts"), key
        assert entry.get("drawn") or entry.get("why"), key
        is_table = any(drawn.startswith("tables/") for drawn in entry.get("drawn", []))
        assert ("whose" in entry) == (bool(entry.get("drawn")) and not is_table), key


@each_paper
def test_what_is_said_to_be_drawn_the_chapter_draws(name):
    sources = [paths.ROOT / f"notebooks/5_figures/{name}.ipynb"]
    sources += (paths.PACKAGE / "papers" / name).glob("*.py")
    sources += (paths.PACKAGE / "benchmarks" / name).glob("*.py")
    code = "".join(path.read_text(encoding="utf-8").replace('\\"', '"') for path in sources)
    named = {d for entry in book.texts(name)["coverage"].values() for d in entry.get("drawn", [])}
    assert {drawn for drawn in named if not re.search(rf"\b{drawn.split('/')[1]}\b", code)} == set()


def test_coverage_is_looked_up_among_the_files_of_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    for path in ("figures/bigtom/figure3.png", "figures/bigtom/outcomes.png"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "tables/bigtom").mkdir(parents=True)
    sources = {"table7": "paper\nthis run", "table4": "paper", "table8": "this run"}
    for table, source in sources.items():
        (tmp_path / f"tables/bigtom/{table}.csv").write_text(f"source\n{source}\n")
    rows = coverage.table("bigtom")
    of = ["Figure 3", "Table 7", "Table 4", "Table 8", "Table 9"]
    assert rows.loc[of, "whose"].tolist() == ["both", "both", "the paper's", "this run's", ""]
    assert rows["drawn"]["Table 9"] == "table9 (not in this run)"
    assert coverage.link("bigtom", "Table 7") == "[Table 7](5_figures/bigtom.ipynb)"
    assert coverage.link("bigtom", "Table 9") == "Table 9"
    assert coverage.own("bigtom") == ["figures/outcomes"]
    page = coverage.page("bigtom")
    assert "[outcomes](5_figures/bigtom.ipynb)" in page
    printed = rows["has"].eq("numbers").sum()
    assert page.startswith(f"Places that print numbers: {printed}, of which drawn here: 4.")


# ---- questions and answers -----------------------------------------------------------------------


@each_question
def test_every_number_of_a_claim_is_printed_in_the_paper(name, question):
    needed = {"question", "claim", "place", "see", "not_shown"}
    assert needed <= set(question) <= needed | {"paper", "run", "compare"}
    in_braces = {field for _, field, *_ in Formatter().parse(question["claim"]) if field}
    assert in_braces == set(question.get("paper", {}))
    assert set(question["see"]) <= set(book.texts(name)["coverage"])
    assert set(question.get("compare", ())) <= set(question.get("run", {}))
    said = questions.answer(chapter(name), question, ["m"])
    assert "**The paper.**" in said
    assert "{" not in said
    # A number of the paper is read, never typed.
    assert re.findall(r"(?<![\w.])\.\d", question["claim"]) == []


@each_question
def test_every_number_asked_of_the_run_is_one_of_its_metrics(name, question):
    folder = paths.PACKAGE / "benchmarks" / name
    code = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    for metric, _, method, *_ in ([*which, ""] for which in question.get("run", {}).values()):
        assert f'"{metric}"' in code, metric
        assert not method or f'"{method}"' in code or method in book_methods(name), method


def book_methods(name):
    return import_module(f"tomlab.benchmarks.{name}").METHODS


ASKS = {
    "question": "Q?",
    "claim": "The best is {best}, people {people}.",
    "place": "§9",
    "paper": {
        "best": ["table9_percept_to_belief", "model != ''", "accuracy", "highest"],
        "people": ["human_baseline", "contingency == 'true_belief'", "accuracy_percent", "one"],
    },
    "run": {"a": ["accuracy", "a"], "b": ["accuracy", "b"], "c": ["gap", "c", "0-shot", 0]},
    "see": ["Table 9"],
    "not_shown": "More.",
}


def row(condition, value, width, n=20, metric="accuracy"):
    return (metric, condition, "0-shot", value, value - width, value + width, n)


def test_an_answer_sets_the_run_beside_the_claim():
    rows = [row("a", 0.9, 0.05), row("b", 0.5, 0.05), row("c", -0.3, 0.1, metric="gap")]
    said = questions.answer(chapter(rows=rows), ASKS, ["m", "other"])
    assert "The best is .99 (gpt-4), people .82." in said
    assert "(Table 9; §4.1 and App. B.2; §9)" in said
    assert "m is above chance (.50) on *a*; is at chance (.50) on *b*; is below 0 on *c*." in said
    assert "other was not asked." in said
    assert "| .90 [.85, .95]<br>n = 20/20 " in said
    assert "| −0.30 [−0.40, −0.20]<br>n = 20/20 " in said
    assert "not asked" in said


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row("a", 0.9, 0.05), row("b", 0.5, 0.05)], "*a* is higher than *b*"),
        ([row("a", 0.2, 0.05), row("b", 0.5, 0.05)], "*a* is lower than *b*"),
        ([row("a", 0.6, 0.1), row("b", 0.5, 0.1)], "*a* and *b* can't be told apart"),
        ([row("a", 0.9, 0.05), row("b", 0.5, 0.05, n=9)], "m is above chance (.50) on *a*."),
        ([row("a", 0.9, 0.05, n=9)], "Too few templates to say anything of m."),
    ],
    ids=["more", "less", "open", "one of too few", "too few"],
)
def test_two_numbers_are_compared_where_both_are_of_enough_groups(rows, expected):
    said = questions.answer(chapter(rows=rows), ASKS | {"compare": ["a", "b"]}, ["m"])
    assert expected in said


def test_baselines_get_no_sentence_and_few_groups_a_mark():
    found = chapter(rows=[row("a", 0.5, 0.1, n=9)])
    found = found._replace(metrics=found.metrics.assign(model="random"))
    said = questions.answer(found, ASKS, ["random"])
    assert "chance" not in said
    assert ".50 [.40, .60]†<br>n = 9/9" in said


@pytest.mark.parametrize(
    ("rows", "which"), [("model == 'nobody'", "span"), ("model != ''", "one")], ids=["none", "many"]
)
def test_a_number_that_is_not_printed_once_is_refused(rows, which):
    paper = chapter().paper.PUBLICATION
    with pytest.raises(InputError, match="bigtom/table9_percept_to_belief: found"):
        book.published(paper, "table9_percept_to_belief", rows, "accuracy", which)


# ---- the front page ------------------------------------------------------------------------------


def standard(value, n=20):
    return ("tb_and_fb", "backward_belief/tb_and_fb/1", "0-shot", value, 0.0, 1.0, n)


@pytest.mark.parametrize(
    ("value", "n", "title"),
    [
        (0.2, 20, "m scores within the papers' models on BigToM"),
        (0.0, 20, "m scores below them on BigToM"),
        (0.9, 20, "m scores above them on BigToM"),
        (0.2, 9, "Too little was asked of m to place it"),
    ],
    ids=["inside", "below", "above", "too few"],
)
def test_large_figure_says_where_the_model_stands(value, n, title):
    figure, caption = front.against([chapter(rows=[standard(value, n)])], ["m"])
    assert figure.get_suptitle().replace("\n", " ") == title
    assert "BigToM: both versions of a backward belief" in caption


def test_large_figure_holds_the_papers_models_people_chance_and_the_run():
    drawn = chapter(rows=[standard(0.2)])
    figure, _ = front.against([drawn], ["m"])
    (axes,) = figure.axes
    by_gid = {line.get_gid(): line for line in axes.lines}
    theirs = drawn.paper.PUBLICATION.read("table7_models").query(
        "variable == 'backward_belief' and contingency == 'tb_and_fb' and initial_belief == 1"
        " and method == '0-shot'"
    )
    assert list(by_gid["papers"].get_xdata()) == theirs["accuracy"].tolist()
    assert list(by_gid["people"].get_xdata()) == [0.82, 0.72]
    assert set(by_gid["chance"].get_xdata()) == {0.25}
    assert by_gid["m filled"].get_xdata().tolist() == [0.2]
    named = {text.get_text() for text in axes.texts if text.get_gid() == "named"}
    assert named == {".40 gpt-4", ".07 gpt-3.5"}


def story_of(**item):
    told = {"story": "A.", "question": "Why?", "choices": ["x*", "y"], "answer": "y"}
    told |= {"question_type": "belief", "outcome": "wrong", "score": 0.0, "fact": "F"}
    answer = {"model": "m", "response": "a)\nx", "error": None}
    return front._told(pd.Series(told | item), pd.Series(answer), "Said: {fact}")


def test_a_story_shows_question_options_right_answer_and_verdict():
    said = story_of()
    assert said.splitlines()[0] == "> A."
    assert "**Why?**\n\n- x\\*\n- **y** ← right\n" in said
    assert "**m** said: “a) x” That is **wrong**." in said
    assert "<details>" not in said
    assert "declined" in story_of(outcome="refused")


def test_a_long_story_is_folded_with_what_it_is_about():
    said = story_of(story="\n".join(["A: b."] * 300))
    assert "<summary>Read the conversation (300 turns)</summary>" in said
    assert said.startswith("Said: F\n")


@pytest.mark.parametrize(
    ("caption", "title"),
    [
        ("X, Figure 1: who knows. Hollow: the paper.", "X, Figure 1: who knows"),
        ("X: a (n = 3) b.", "X: a b"),
        ("X: " + "word " * 40, "X: " + " ".join(["word"] * 11) + " …"),
    ],
    ids=["first sentence", "brackets", "long"],
)
def test_title_of_a_thumbnail(caption, title):
    assert front._title(caption) == title
