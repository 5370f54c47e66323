"""The sample browser: its data, and its page in a real browser."""

import json
import shutil
from types import SimpleNamespace
from urllib.parse import urlencode

import browse_speed
import pandas as pd
import pytest

from tomlab.benchmarks import bigtom
from tomlab.errors import InputError
from tomlab.pipeline import browser, versions
from tomlab.pipeline.browser import data
from tomlab.records.published import Wording

TITLES = {"bigtom": "BigToM", "fantom": "FANToM"}
METHODS = {"0-shot": "0-shot", "1-shot": "one example"}
WORDING = Wording("BigToM", METHODS)
RIGHT, WRONG = "Mei believes that the kettle is full.", "Mei believes that the kettle is empty."
HOSTILE = (
    "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    "\u0000\u0007\u001b[31m\u2028\u2029\u202e'\"`${window.hacked = 1}&lt;"
)
LONG = "zebra " * 17_000


def item(number: int, condition: str = "true_belief") -> dict:
    """One BigToM item, in the columns that the browser reads."""
    story = f"Mei, number {number}, fills the kettle and leaves. A friend empties it. Mei sees it."
    own = {"group_id": f"g{number}", "variable": "forward_belief", "initial_belief": 0}
    own |= {"item_id": f"g{number}/{condition}", "condition": condition, "source": "authored"}
    asked = {"question": "Is the kettle full?", "choices": [RIGHT, WRONG], "answer": RIGHT}
    return own | asked | {"story": story}


def answered(item: dict, response: str | None, **of: str) -> dict:
    """A row of `responses`: what a model was asked and said."""
    user = f"Story: {item['story']}\nQuestion: {item['question']}\na){RIGHT}\nb){WRONG}"
    messages = [{"role": "system", "content": "Answer."}, {"role": "user", "content": user}]
    row = {"item_id": item["item_id"], "model": "one", "method": "0-shot", "sample": 0}
    row |= {"asked_as": "", "messages": json.dumps(messages), "response": response}
    row |= {"finish_reason": "stop", "error": None if response is not None else "no connection"}
    return row | {"completion_tokens": 3} | of


def page_data(items: list[dict], rows: list[dict]) -> dict:
    responses = pd.DataFrame(rows)
    table = pd.DataFrame(items)
    return data(bigtom, WORDING, table, responses, bigtom.score(table, responses))


def row(content: dict, number: int) -> dict:
    """One answer of the data by name."""
    values = {}
    for name, column in content["answers"].items():
        code = column["codes"][number]
        values[name] = None if code < 0 else column["values"][code]
    return values


# ---- The data


def test_a_row_tells_whose_answer_it_is_the_verdict_and_the_rule():
    content = page_data([item(1)], [answered(item(1), f"Answer: b){WRONG}", method="1-shot")])
    answer = row(content, 0)
    assert (answer["model"], answer["method"], answer["outcome"]) == ("one", "1-shot", "wrong")
    assert answer["score"] == 0
    assert answer["rule"] == 'leads with the key behind "Answer:"'
    assert json.loads(answer["details"]) == [
        ["Ended", "stop"],
        ["Read as", WRONG],
        ["By the released rule", "wrong"],
    ]


def test_of_two_options_that_were_exchanged_the_one_shown_under_the_key_counts():
    content = page_data([item(1)], [answered(item(1), "Answer: b)", sample=1, asked_as="reversed")])
    assert (row(content, 0)["asked_as"], row(content, 0)["outcome"]) == ("reversed", "correct")
    # A log from elsewhere has an order of its own, which the page shows.
    log = answered(item(1), "Answer: b)", sample=2, options_shown=json.dumps([WRONG, RIGHT]))
    content = page_data([item(1)], [answered(item(1), "Answer: b)"), log])
    assert [row(content, n)["options"] for n in (0, 1)] == [None, log["options_shown"]]
    assert [row(content, n)["outcome"] for n in (0, 1)] == ["wrong", "correct"]


def test_column_that_items_lack_is_named_with_the_file_that_asks_for_it():
    table, responses = pd.DataFrame([item(1)]), pd.DataFrame([answered(item(1), "a)")])
    scores = bigtom.score(table, responses)
    with pytest.raises(InputError, match=r"bigtom/browser\.yaml: found \['variable'\]"):
        data(bigtom, WORDING, table.drop(columns="variable"), responses, scores)


def of_omnitom(own: dict, score: dict) -> dict:
    """The data of one answer to one OmniToM item whose gold table is one belief."""
    gold = json.dumps([{"actor": "world", "belief": "rain falls", "labels": {"order": "0"}}])
    one = item(1) | {"category": "FBT", "choices": [], "answer": gold} | own
    responses = pd.DataFrame([answered(one, "world | it rains | 0", method="stage1-L3")])
    key = {name: responses[name][0] for name in ("item_id", "model", "method", "sample")}
    key |= {name: one[name] for name in ("question_type", "category", "source")}
    scores = pd.DataFrame([key | score])
    benchmark = SimpleNamespace(NAME="omnitom", rule=lambda item, answer: "with a match: 1 of 1")
    return data(benchmark, Wording("OmniToM", {}), pd.DataFrame([one]), responses, scores)


ALIGNED = {"predicted": [["world", "it rains", "0", 1]], "gold": [["world", "rain falls", "0", 2]]}
EXTRACTED = {
    "outcome": "correct",
    "score": 1.0,
    "judge": "embedding",
    "detail": json.dumps(ALIGNED),
}
LABELS = [["0", {"order": ["0", "1", "2"]}]]
LABELLED = {"outcome": "wrong", "score": 0.0, "judge": "", "detail": json.dumps(LABELS)}


def test_hostile_texts_reach_the_page_as_they_are_in_plain_ascii(tmp_path):
    content = page_data([item(1)], [answered(item(1), HOSTILE)])
    browser.write_page(tmp_path, "bigtom", TITLES, content)
    text = (tmp_path / "bigtom.js").read_text(encoding="utf-8")
    assert text.isascii() and "<" not in text
    written = json.loads(text.removeprefix("browse(").removesuffix(");\n"))
    assert row(written, 0)["response"] == HOSTILE


# ---- The page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page of 2,000 answers, some of them hostile."""
    items = [item(n, c) for n in range(125) for c in ("true_belief", "false_belief")]
    rows = [
        answered(
            each,
            f"Answer: {letter}) I take it to be number {i} of {model}.",
            model=model,
            method=method,
        )
        for i, each in enumerate(items)
        for model, letter in (("one", "ab"[i % 2]), ("two", "a"), ("three", "b"), ("four", "c"))
        for method in METHODS
    ]
    rows[0]["response"], rows[2]["response"] = HOSTILE, f"a) {LONG}"
    target = tmp_path_factory.mktemp("browse")
    browser.write_page(target, "bigtom", TITLES, page_data(items, rows))
    for name, score in {"extraction": EXTRACTED, "labelling": LABELLED}.items():
        content = of_omnitom({"question_type": name}, score)
        browser.write_page(target / name, "omnitom", {"omnitom": "OmniToM"}, content)
    for above in (target.parent, target):
        (above / "_static").mkdir()
        versions.write(above / "_static" / "versions.js")
    return target


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if not shutil.which("chromium"):
        pytest.skip("needs chromium")
    with playwright.sync_playwright() as driver:
        yield browse_speed.launched(driver)


@pytest.fixture
def opened(folder, chromium):
    """Opens the page at an address; fails on any error in its console."""
    errors, pages = [], []

    def at(width: int = 1280, name: str = "bigtom", **address: str | list[str]):
        own = chromium.new_page(viewport={"width": width, "height": 800})
        pages.append(own)
        own.set_default_timeout(120_000)
        own.on("pageerror", lambda error: errors.append(str(error)))
        own.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        own.goto(
            f"file://{folder}/{name}.html#{urlencode(address, doseq=True)}", wait_until="commit"
        )
        # Filtering at the start draws the rows anew, and what had the focus is gone.
        own.wait_for_selector("#table[aria-busy=false]")
        return own

    yield at
    for each in pages:
        each.close()
    assert errors == []


def address(number: int, condition: str, model: str, method: str = "0-shot") -> str:
    return f"g{number}/{condition}|{model}|{method}|0"


def test_filters_and_words_narrow_the_rows_and_stand_in_the_address(opened):
    page = opened()
    assert page.inner_text("#count") == "2,000 of 2,000 answers"
    page.get_by_role("checkbox", name="one 500").check()
    page.get_by_role("checkbox", name="wrong").check()
    assert page.inner_text("#count") == "250 of 2,000 answers"
    page.wait_for_function("location.hash.includes('outcome=wrong')")
    again = opened(model="one", outcome="wrong")
    assert again.inner_text("#count") == "250 of 2,000 answers"
    again.get_by_role("button", name="Clear").click()
    assert again.inner_text("#count") == "2,000 of 2,000 answers"
    page = opened(q="NUMBER 124, three")
    assert page.inner_text("#count") == "4 of 2,000 answers"
    assert opened(q="nowhere").inner_text("#count") == "0 of 2,000 answers"


def test_a_link_opens_its_sample_from_story_to_judge(opened):
    page = opened(open=address(7, "false_belief", "one", "1-shot"))
    sample = page.locator("#sample")
    assert "Mei, number 7, fills the kettle" in sample.inner_text()
    heads = [head.inner_text() for head in sample.locator("h3").all()]
    assert heads == ["Story", "Question", "Options", "one · one example · as in the protocol"]
    inner = [head.inner_text() for head in sample.locator("h4").all()]
    assert inner == ["Prompt", "Answer", "Verdict", "Judge"]
    assert 'wrong: leads with the key behind "Answer:"' in sample.inner_text()
    messages = json.loads(answered(item(7, "false_belief"), "")["messages"])
    told = sample.locator("article details pre").all_text_contents()
    assert told == [message["content"] for message in messages]
    assert sample.locator("li.gold").inner_text() == f"{RIGHT} (right)"


def test_a_row_is_opened_by_keyboard_and_closed_again(opened):
    page = opened()
    # In one step: a table that is still being drawn would take the focus away in between.
    page.locator("#table tbody a").nth(1).press("Enter")
    page.wait_for_selector("#sample h3")
    assert "g0%2Ftrue_belief%7Cone%7C1-shot%7C0" in page.url
    page.keyboard.press("Escape")
    page.wait_for_selector("#sample", state="hidden")
    page.wait_for_function("document.activeElement.closest('#table')")
    assert "g0%2Ftrue_belief%7Cone%7C1-shot%7C0" in page.evaluate("document.activeElement.href")


def test_a_head_sorts_the_rows_and_buttons_turn_pages_of_a_hundred(opened):
    page = opened(method="0-shot")
    page.get_by_role("button", name="Model").click()
    models = page.locator("#table tbody td:nth-child(4)")
    assert models.count() == 100 and set(models.all_inner_texts()) == {"one"}
    page.get_by_role("button", name="Model").click()
    assert set(models.all_inner_texts()) == {"four"}
    assert page.inner_text("#rows") == "1 to 100"
    page.get_by_role("button", name="Page after").click()
    assert page.inner_text("#rows") == "101 to 200"
    page.get_by_role("button", name="Page before").click()
    assert page.get_by_role("button", name="Page before").is_disabled()


def test_two_models_stand_side_by_side_and_stay_so_at_the_next_item(opened):
    page = opened(method="0-shot", model=["one"], open=address(1, "true_belief", "one"))
    page.locator("#beside").select_option(address(1, "true_belief", "two"))
    page.wait_for_function("document.querySelectorAll('article').length === 2")
    heads = "[...document.querySelectorAll('article > h3')].map((head) => head.textContent)"
    both = ["one · 0-shot · as in the protocol", "two · 0-shot · as in the protocol"]
    assert page.evaluate(heads) == both
    left, right = (each.bounding_box() for each in page.locator("article").all())
    assert left["y"] == right["y"] and left["x"] < right["x"]
    page.get_by_role("button", name="Next").click()
    page.wait_for_function("document.querySelector('#sample h2').textContent === 'g1/false_belief'")
    assert page.evaluate(heads) == both


def test_what_a_model_wrote_is_shown_and_never_run(opened):
    page = opened(open=address(0, "true_belief", "one"), beside=address(0, "true_belief", "two"))
    page.wait_for_selector("article")
    answers = page.locator("article pre").all_inner_texts()
    assert any("</script><script>window.hacked = 1</script><img" in text for text in answers)
    assert any("⟨U+0000⟩⟨U+0007⟩⟨U+001B⟩[31m⟨U+2028⟩⟨U+2029⟩⟨U+202E⟩" in text for text in answers)
    assert any(len(text) > 100_000 for text in answers)
    assert page.evaluate("window.hacked === undefined && document.images.length === 0")


@pytest.mark.parametrize(
    ("stage", "told"),
    [
        ("extraction", ["world it rains 0 1", "world rain falls 0 2"]),
        ("labelling", ["rain falls ✗ 1 (0)"]),
    ],
)
def test_tables_of_beliefs_show_what_was_made_of_them(opened, stage, told):
    page = opened(name=f"{stage}/omnitom", open="g1/true_belief|one|stage1-L3|0")
    page.wait_for_selector("article")
    lines = page.locator("article tbody tr").all_inner_texts()
    assert [" ".join(line.split()) for line in lines] == told


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_is_as_wide_as_its_window_and_accessible(opened, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    page = opened(
        width, open=address(0, "true_belief", "one"), beside=address(0, "true_belief", "two")
    )
    page.wait_for_selector("article")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#filters").get_attribute("open") == (None if width == 390 else "")
    found = axe.Axe().run(page, options={"preload": False}).response["violations"]
    assert [(each["id"], each["impact"]) for each in found] == []
