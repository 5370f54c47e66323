"""What stands in items and answers is shown as text: nothing of it lives in the published pages."""

import csv
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from faulty_server import Act, FaultyServer
from laboratory import Laboratory, laboratory
from tomlab.paths import ROOT

STAGES = [
    *("generation@bigtom", "filtering@bigtom", "evaluation@bigtom-evil"),
    *("judge_calibration@bigtom", "figures@bigtom", "documents"),
]
RUN = "document.title='pwned'"
# One sentence each, so that no filter drops the story that holds it.
ITEMS = [
    f"<img src=x onerror={RUN}>",
    f"<script>{RUN}</script>",
    f"[look](javascript:{RUN})",
    f"<svg onload={RUN}></svg>",
    "$\\href{javascript:pwned()}{x}$",
]
ANSWER = f"a) </td></table></pre><script>{RUN}</script><img src=x onerror={RUN}><b onclick=x>b</b>"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """BigToM's whole chain, on stories and with a model that try to get in."""
    root = tmp_path_factory.mktemp("hostile")
    with (ROOT / "data/bigtom/templates.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[:12]
    for row, text in zip(rows, ITEMS * 3, strict=False):
        row["context"] = row["context"].replace(" is ", f" {text} is ", 1)
    with (root / "templates.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)

    with FaultyServer(Act(text=ANSWER)) as server:

        def hostile(content: dict) -> None:
            entry = {"provider": "openai", "model": "toy", "base_url": f"{server.url}/v1"}
            content["models"]["evil"] = entry
            given = {"source": "templates.csv", "writer": "evil", "reader": "evil"}
            own = content["run"]["benchmarks"]["bigtom"] | given
            content["run"] |= {"benchmarks": {"bigtom": own}, "models": ["evil"], "judge": "evil"}
            content["bigtom"]["generation"]["writers"] = ["authored", "llm"]
            content["bigtom"]["judges"]["llm_answers"] = 4

        made = laboratory(root, hostile)
        for stage in STAGES:
            made.run(stage)
    return made


class Live(HTMLParser):
    """What in a page's article could run or call: scripts, handlers, links to code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.is_inside = False

    def handle_endtag(self, tag: str) -> None:
        self.is_inside &= tag != "article"

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.is_inside |= tag == "article"
        if not self.is_inside:
            return
        self.found += [tag] if tag in ("script", "iframe", "object", "embed") else []
        for name, value in attributes:
            if name.startswith("on") or (value or "").strip().lower().startswith("javascript:"):
                self.found.append(f"{tag} {name}={value}")


def pages(lab: Laboratory) -> list[Path]:
    return sorted((lab.root / "results/book").glob("[1-5i]*/*.html"))


def test_hostile_texts_are_in_the_pages(lab):
    shown = "".join(path.read_text(encoding="utf-8") for path in pages(lab))
    assert shown.count("onerror") >= 10
    assert "&lt;script&gt;" in shown


def test_nothing_in_a_page_is_live(lab):
    for path in pages(lab):
        page = Live()
        page.feed(path.read_text(encoding="utf-8"))
        assert page.found == [], path.name


def test_nothing_is_executed_in_a_browser(lab):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium is installed")
    for path in pages(lab):
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000"]
        command = [browser, *options, f"--user-data-dir={lab.root / 'browser'}", "--dump-dom"]
        shown = subprocess.run(
            [*command, path.as_uri()], capture_output=True, text=True, check=True, timeout=120
        )
        assert "tomlab</title>" in shown.stdout, path.name
        assert "<title>pwned" not in shown.stdout, path.name
