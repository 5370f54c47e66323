"""The forms in a real JupyterLab, driven by keys and clicks in headless Chromium."""

import os
import shutil

import pandas as pd
import pytest

from bigtom_templates import MEI
from lab import browser, jupyter_lab
from tomlab.benchmarks.bigtom.items import filtering, templates
from tomlab.benchmarks.bigtom.items.compose import compose
from tomlab.benchmarks.bigtom.items.writing import raw_table, templates_of
from tomlab.models import specs
from tomlab.paths import DATA, ROOT
from tomlab.records import tidy
from tomlab.scoring.embeddings import embed

SOURCE = DATA / "bigtom" / "templates.csv"
pytestmark = pytest.mark.skipif(not SOURCE.is_file(), reason="data is missing: `make data`")
WAIT = 300_000  # ms, for a machine that does much else


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A folder with three templates to rate, and the address of a JupyterLab on it."""
    pytest.importorskip("playwright", reason="playwright is not installed")
    root = tmp_path_factory.mktemp("lab")
    shutil.copy(ROOT / "params.yaml", root / "params.yaml")
    shutil.copytree(ROOT / "forms", root / "forms")
    (root / "data").symlink_to(DATA)
    (root / "results/raw/bigtom").mkdir(parents=True)
    raw = raw_table(templates.read_templates(SOURCE).head(3))
    raw.to_parquet(root / "results/raw/bigtom/templates.parquet", index=False)
    (root / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks/forms.ipynb", root / "notebooks/forms.ipynb")
    with jupyter_lab(root) as address:
        yield root, address.format("notebooks/forms.ipynb")


@pytest.fixture
def page(lab, request):
    """The notebook, run, at 1280 px or as many as are asked for."""
    width = getattr(request, "param", 1280)
    with browser(width) as page:
        page.set_default_timeout(WAIT)
        faults = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.goto(lab[1])
        page.wait_for_selector("text=Python 3 (ipykernel) | Idle")
        if width < 1000:
            page.keyboard.press("Control+b")  # the list of files away
        page.get_by_role("menuitem", name="Kernel").click()
        page.get_by_text("Restart Kernel and Run All Cells…").click()
        page.get_by_role("button", name="Confirm Kernel Restart").click()
        page.wait_for_selector("button:has-text('Start')")
        yield page
        assert faults == []


def fits(page):
    """Whether no form is wider than its place."""
    wide = "forms => forms.every(form => form.scrollWidth <= form.clientWidth)"
    return page.eval_on_selector_all(".tomlab-form", wide)


def look(page, name):
    """Keep a picture where the environment says so, to be looked at."""
    if folder := os.environ.get("TOMLAB_PICTURES"):
        page.screenshot(path=f"{folder}/{name}_{page.viewport_size['width']}.png")


def rate(page, name, keys):
    page.get_by_placeholder("as it shall stand in the file").fill(name)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(f"text=0 of {len(keys)}")
    for number, key in enumerate(keys, start=1):
        page.keyboard.press(key)
        page.wait_for_selector(f"text={number} of {len(keys)}")


@pytest.mark.parametrize("page", [768], indirect=True)
def test_two_people_rate_by_keys_and_see_how_far_they_agree(lab, page):
    path = lab[0] / "forms/bigtom/ratings.csv"
    cells = page.locator(".jp-Cell").count()
    rate(page, "Ana", "151503")
    page.wait_for_selector("text=Nobody else has answered so far")
    page.keyboard.press("u")
    page.wait_for_selector("text=5 of 6")
    page.keyboard.press("x")  # which cuts a cell in Jupyter
    page.keyboard.press("9")
    page.keyboard.press("2")
    page.wait_for_selector("text=6 of 6")
    rate(page, "Ben", "141502")
    page.wait_for_selector(".tomlab-form table")
    assert page.locator(".jp-Cell").count() == cells
    assert fits(page)
    look(page, "rated")
    names = templates.read_templates(SOURCE)["template_id"].head(3)
    given = filtering.read_ratings(path, set(names))
    marks = given.pivot(index="template_id", columns="rater", values="tests_behavior")
    assert marks.loc[names].astype(int).to_dict("list") == {"Ana": [5, 5, 2], "Ben": [4, 5, 2]}
    told = page.locator(".tomlab-form table tbody tr").nth(1).inner_text().split("\t")
    found = filtering.rating_report(given).query("rater == 'all'").set_index("question")
    expected = found.loc["tests_behavior"]
    assert told[1:5] == [
        *("2", "3"),
        *(f"{expected[name]:.2f}" for name in ("percent_agreement", "alpha")),
    ]


def test_a_story_by_the_embedded_model_is_edited_saved_and_back_after_filtering(lab, page):
    path = lab[0] / "forms/bigtom/templates.csv"
    # Its first lines: a whole answer, which goes in circles, takes it half a minute.
    page.get_by_label("Tokens at most").fill("60")
    page.get_by_label("Tokens at most").press("Tab")
    page.get_by_role("button", name="Generate", exact=True).click()
    page.wait_for_selector("text=1 written.")
    fields = {
        name: page.get_by_label(templates.label(name), exact=True) for name in templates.FIELDS
    }
    drafted = {name: field.input_value() for name, field in fields.items()}
    assert any(drafted.values())
    agent = {**drafted, "agent": "Mei"}
    faulty = {told.partition(":")[0] for told in templates.structure_problems(agent)}
    own = {name for name in templates.FIELDS if drafted[name] and name not in faulty}
    own -= {name for name in templates.FIELDS if "answer" in name}
    for name in templates.FIELDS:
        if name not in own:
            fields[name].fill(MEI[name])
    page.get_by_label("Your name").first.fill("Ana")
    page.wait_for_selector("text=Filtering finds no fault in its structure.")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_selector("text=Saved as own-001 in templates.csv.")
    assert fits(page)
    look(page, "written")
    written = templates.read_own(path)
    assert written["source"].tolist() == ["edited:smollm2-135m"]
    assert own
    assert written.loc[0, list(own)].to_dict() == {name: drafted[name] for name in own}
    # As the notebooks of generation and filtering do it.
    raw = raw_table(pd.concat([templates.read_templates(SOURCE).head(3), written]))
    table = templates_of(raw)
    vectors = embed(templates.stories(table), specs.model("minilm"))
    left = filtering.kept(table, filtering.screen(table, vectors, 0.9))
    items = tidy.check(compose(left), "items", "items")
    assert (items["group_id"] == "own-001").sum() == 25
