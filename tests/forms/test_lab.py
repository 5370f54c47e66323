"""The forms in a real JupyterLab, driven by keys and clicks in headless Chromium."""

import shutil

import pytest

from lab import browser, jupyter_lab
from tomlab.asking.attempts import stacked
from tomlab.benchmarks.bigtom.items import filtering, templates
from tomlab.paths import DATA, ROOT
from tomlab.records.files import read_form

SOURCE = DATA / "bigtom" / "bigtom.csv"
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
    raw = stacked("template", templates.read_templates(SOURCE).head(3))
    raw.to_parquet(root / "results/raw/bigtom/templates.parquet", index=False)
    (root / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks/forms.ipynb", root / "notebooks/forms.ipynb")
    with jupyter_lab(root) as address:
        yield root, address.format("notebooks/forms.ipynb")


@pytest.fixture
def page(lab):
    """The notebook, run, on a narrow screen."""
    with browser(768) as page:
        page.set_default_timeout(WAIT)
        faults = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console", lambda entry: faults.append(entry.text) if entry.type == "error" else None
        )
        page.goto(lab[1])
        page.wait_for_selector("text=Python 3 (ipykernel) | Idle")
        page.keyboard.press("Control+b")  # the list of files away
        page.get_by_role("menuitem", name="Kernel").click()
        page.get_by_text("Restart Kernel and Run All Cells…").click()
        page.get_by_role("button", name="Confirm Kernel Restart").click()
        page.wait_for_selector("button:has-text('Start')")
        yield page
        assert faults == []


def rate(page, name, keys):
    page.get_by_placeholder("as it shall stand in the file").fill(name)
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(f"text=0 of {len(keys)}")
    for number, key in enumerate(keys, start=1):
        page.keyboard.press(key)
        page.wait_for_selector(f"text={number} of {len(keys)}")


def test_two_people_rate_by_keys(lab, page):
    path = lab[0] / "forms/bigtom/ratings.csv"
    cells = page.locator(".jp-Cell").count()
    rate(page, "Ana", "151503")
    page.wait_for_selector("text=Everything is answered.")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("text=Does it test what a person")
    page.keyboard.press("x")  # which cuts a cell in Jupyter
    page.keyboard.press("9")
    page.keyboard.press("2")
    page.wait_for_selector("text=Everything is answered.")
    rate(page, "Ben", "141502")
    page.wait_for_selector("text=Everything is answered.")
    assert page.locator(".jp-Cell").count() == cells
    is_within = "forms => forms.every(form => form.scrollWidth <= form.clientWidth)"
    assert page.eval_on_selector_all(".tomlab-form", is_within)
    names = templates.read_templates(SOURCE)["template_id"].head(3)
    ratings = read_form(path, filtering.ratings_form(set(names)))
    marks = ratings.pivot(index="template_id", columns="rater", values="tests_behavior")
    assert marks.loc[names].astype(int).to_dict("list") == {"Ana": [5, 5, 2], "Ben": [4, 5, 2]}
