"""The questionnaire page in headless Chromium: by keyboard, at two widths, and back into a form."""

from contextlib import contextmanager

import pytest

from bigtom_templates import divers
from lab import browser
from tomlab.benchmarks import bigtom
from tomlab.questionnaire.items import CHECK, Item, default_checks, read_items
from tomlab.questionnaire.pages import RECORD, default_ratings, write_pages
from tomlab.questionnaire.returned import read_record, read_returned

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<!-- <b>bold</b> & &lt; &amp;",
    "say \"no\", 'yes' and `${window.hacked = 1}`",
    "two\nlines\n\nand a comma,",
    "=1+1",
    "'=1+1",
    "#N/A",
    "שלום, \u202ehello\u202c مرحبا",
    "日本語 é 🦋 \u2028",
    "x" * 300,
]


@pytest.fixture(scope="module")
def chromium():
    with browser() as page:
        yield page.context.browser


@contextmanager
def opened(chromium, path, width=1280, script=""):
    """The page of a file, alone in a browser; fails on errors and on any request but for the file."""
    with chromium.new_context(viewport={"width": width, "height": 844}) as context:
        page = context.new_page()
        page.set_default_timeout(20_000)
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda entry: problems.append(entry.text))
        page.on("request", lambda request: problems.append(request.url))
        page.add_init_script(script)
        page.goto(path.as_uri())
        yield page
        allowed = (path.as_uri(), "blob:")
        assert [problem for problem in problems if not problem.startswith(allowed)] == []


def bigtom_items(folder):
    """Twenty items of BigToM, from a table of items."""
    path = folder / "items.parquet"
    bigtom.compose(divers(1)).head(20).to_parquet(path)
    return read_items(str(path))


def heading(page):
    return page.locator("h1").inner_text()


def press(page, label):
    """Press Tab until the button with this label has the focus, then Enter."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == label:
            return page.keyboard.press("Enter")
    raise AssertionError(f"no button {label!r} within twenty steps")


def download(page, folder):
    """The CSV that the page gives, by keyboard, in a folder."""
    with page.expect_download() as downloading:
        press(page, "Download my answers")
    path = folder / downloading.value.suggested_filename
    downloading.value.save_as(path)
    return path


def violations(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    result = axe.Axe().run(page, options={"preload": False})
    return [(fault["id"], fault["impact"]) for fault in result.response["violations"]]


@pytest.mark.parametrize("width", [1280, 390])
def test_twenty_items_by_keyboard_with_a_reload_come_back_as_a_form(chromium, tmp_path, width):
    items = bigtom_items(tmp_path)
    checks = default_checks("answers")
    write_pages(items, ["p1"], tmp_path, seed=1, checks=checks, intro="Welcome.\n\nThank you.")
    asked = read_record(tmp_path / RECORD)
    wanted = {item.item_id: item.options[number % 2] for number, item in enumerate(items)}
    wanted |= asked.checks
    with opened(chromium, tmp_path / "p1.html", width) as page:
        assert violations(page) == []
        press(page, "Begin")
        for number, (item_id, options) in enumerate(asked.pages["p1"].items(), start=1):
            assert heading(page) == f"Question {number} of 22"
            assert page.evaluate("document.documentElement.scrollWidth") == width
            page.keyboard.press(str(options.index(wanted[item_id]) + 1))
            if number == 11:
                assert violations(page) == []
                page.reload()
                assert heading(page) == "Question 11 of 22"
            page.keyboard.press("Enter")
        assert heading(page) == "All done"
        assert violations(page) == []
        path = download(page, tmp_path)
        assert path.read_text(encoding="utf-8") == page.input_value("#csv")
    answers, [participant] = rows_of(tmp_path, path)
    item_ids = [item_id for item_id in asked.pages["p1"] if not item_id.startswith(CHECK)]
    expected = [[item_id, wanted[item_id]] for item_id in item_ids]
    assert answers[["item_id", "answer"]].values.tolist() == expected
    assert answers["seconds"].astype(float).between(0, 60).all()
    expected = {"answered": 20, "asked": 20, "checks_passed": "2 of 2", "passed": "yes"}
    assert participant == {"participant": "p1"} | expected


def rows_of(folder, path):
    """The form of one CSV, and how each participant did."""
    answers, participants = read_returned(folder / RECORD, [path])
    return answers, participants.to_dict("records")


def test_markup_of_any_kind_is_text_and_comes_back_as_it_was(chromium, tmp_path):
    width = 390  # where a long word would make the page scroll
    items = []
    given = {}
    for number, text in enumerate(HOSTILE):
        free = Item(f'=free/{number}, "é"', f"{text}?", story=f"{text} {text}")
        choice = Item(f"choice/{number}", f"{text}?", story=text, options=(text, f"not {text}"))
        items += [free, choice]
        # White space around a free answer goes; what is between stays.
        given[free.item_id] = text.strip()
        given[choice.item_id] = text
    write_pages(items, ["p1"], tmp_path, seed=1, intro="\n\n".join(HOSTILE))
    asked = read_record(tmp_path / RECORD).pages["p1"]
    texts = {item.item_id: item for item in items}
    with opened(chromium, tmp_path / "p1.html", width) as page:
        press(page, "Begin")
        for item_id, options in asked.items():
            item = texts[item_id]
            story = page.locator("section p").all_text_contents()
            assert "\n".join(story) == item.story
            assert page.evaluate("document.documentElement.scrollWidth") == width
            if options:
                assert page.locator("label > span").all_text_contents() == options
                page.keyboard.press(str(options.index(item.options[0]) + 1))
            else:
                page.locator("textarea").fill(given[item_id])
            page.keyboard.press("Enter")
        assert page.evaluate("window.hacked === undefined && document.images.length === 0")
        path = download(page, tmp_path)
    answers, _ = rows_of(tmp_path, path)
    assert answers.set_index("item_id")["answer"].to_dict() == given


def test_three_ratings_of_each_item_are_given_by_digits(chromium, tmp_path):
    items = bigtom_items(tmp_path)[:2]
    write_pages(
        items,
        ["p1"],
        tmp_path,
        seed=1,
        checks=default_checks("ratings")[:1],
        ratings=default_ratings(),
    )
    asked = read_record(tmp_path / RECORD)
    with opened(chromium, tmp_path / "p1.html", 390) as page:
        press(page, "Begin")
        for item_id in asked.pages["p1"]:
            for digit in asked.checks.get(item_id, "543"):
                page.keyboard.press(digit)
            page.keyboard.press("Enter")
        press(page, "Back")
        assert violations(page) == []
        page.keyboard.press("Enter")
        path = download(page, tmp_path)
        assert path.read_text().startswith("participant,item_id,question,rating\n")
    ratings, [participant] = rows_of(tmp_path, path)
    names = [rating.question for rating in default_ratings()]
    given = ratings.pivot(index="item_id", columns="question", values="rating")[names]
    assert given.to_numpy().tolist() == [["5", "4", "3"]] * 2
    assert (participant["answered"], participant["checks_passed"]) == (2, "1 of 1")


def test_who_skips_stops_or_goes_back_loses_nothing(chromium, tmp_path):
    items = [Item(f"i{n}", f"Question {n}?", options=("yes", "no")) for n in range(3)]
    write_pages(items, ["p1"], tmp_path, seed=1)
    with opened(chromium, tmp_path / "p1.html") as page:
        press(page, "Begin")
        page.keyboard.press("Enter")
        assert "Please answer" in page.locator("[role=alert]").inner_text()
        press(page, "Skip")
        page.keyboard.press("1")
        press(page, "Stop and get my answers")
        assert "2 questions are not answered" in page.inner_text("main")
        assert page.input_value("#csv").count("\n") == 2
        press(page, "Go to the first of them")
        assert heading(page) == "Question 1 of 3"
        page.keyboard.press("2")
        press(page, "Next")
        assert page.locator("input:checked").count() == 1
        page.on("dialog", lambda dialog: dialog.accept())
        press(page, "Stop and get my answers")
        press(page, "Erase my answers from this browser")
        page.reload()
        assert heading(page) == "Questionnaire"
        assert page.evaluate("localStorage.length") == 0


def test_a_browser_that_saves_nothing_says_so(chromium, tmp_path):
    write_pages([Item("i", "What?", options=("yes", "no"))], ["p1"], tmp_path, seed=1)
    full = "Storage.prototype.setItem = () => { throw new Error('full'); }"
    with opened(chromium, tmp_path / "p1.html", script=full) as page:
        press(page, "Begin")
        assert "cannot save your answers" in page.inner_text("#saved")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        assert download(page, tmp_path).read_text().splitlines()[1].startswith("p1,i,yes,")


def test_two_windows_of_one_page_keep_each_others_answers(chromium, tmp_path):
    items = [Item(f"i{n}", f"Question {n}?", options=("yes", "no")) for n in range(2)]
    write_pages(items, ["p1"], tmp_path, seed=1)
    with opened(chromium, tmp_path / "p1.html") as first:
        second = first.context.new_page()
        second.goto(first.url)
        for page in (first, second):
            press(page, "Begin")
        first.keyboard.press("1")
        press(second, "Skip")
        second.keyboard.press("1")
        first.wait_for_function("Object.keys(state.answers).length === 2")
        first.keyboard.press("Enter")
        first.keyboard.press("Enter")
        assert heading(first) == "All done"
