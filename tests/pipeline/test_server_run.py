"""A run of BigToM by a model behind a server, from the templates to the pages, beside a log.

Questions are asked twice, in both orders of options and in a user's own wording. The model names the
second letter, whatever it is asked. Stories and answers try to get into the pages: what stands in them
is shown as text, and nothing of it lives. The log was asked elsewhere, and has every answer right.
"""

import json
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from chapters import check_figures_and_tables, check_judges, check_stages
from faulty_server import Act, FaultyServer
from laboratory import Laboratory, laboratory, with_results_of, without_code
from tomlab.paths import ROOT
from tomlab.records import tidy

STAGES = [
    *("generation@bigtom", "filtering@bigtom", "evaluation@bigtom-evil"),
    *("evaluation@bigtom-log", "judge_calibration@bigtom", "figures@bigtom", "documents"),
]
RUN = "document['title']='pwned'"  # without a full stop, which would end a sentence
# One sentence each, so that no filter drops the story that holds it.
ITEMS = [
    f"<img src=x onerror={RUN}>",
    f"<script>{RUN}</script>",
    f"[look](javascript:{RUN})",
    f"<svg onload={RUN}></svg>",
    "$\\href{javascript:pwned()}{x}$",
    f"<body onload={RUN}>",  # with six templates, the gate can tell an answer from a guess
]
ANSWER = f"b) </td></table></pre><script>{RUN}</script><img src=x onerror={RUN}><b onclick=x>b</b>"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, front: Path) -> Laboratory:
    root = tmp_path_factory.mktemp("server")
    lines = (ROOT / "data/bigtom/bigtom.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    lines = [
        line.replace(" is ", f" {text} is ", 1) for line, text in zip(lines, ITEMS, strict=False)
    ]
    (root / "templates.csv").write_text("".join(lines), encoding="utf-8")
    (root / "curt" / "bigtom").mkdir(parents=True)
    own = root / "curt" / "bigtom" / "instruction.txt"
    own.write_text("Pick one: Answer:<option>)<answer>\n")

    with FaultyServer(Act(text=ANSWER)) as server:

        def change(content: dict) -> None:
            entry = {"provider": "openai", "model": "toy", "base_url": f"{server.url}/v1"}
            content["models"]["evil"] = entry | {"temperature": 0.7}
            content["models"]["log"] = {"provider": "taken", "model": "knows", "folder": "log"}
            given = {"source": "templates.csv", "writer": "evil", "reader": "evil"}
            own = content["run"]["benchmarks"]["bigtom"] | given
            content["run"] |= {"benchmarks": {"bigtom": own}, "models": ["evil", "log"]}
            content["run"]["judge"] = "evil"
            content["run"] |= {"samples": 2, "orders": 2, "wordings": ["curt"]}
            content["bigtom"]["generation"]["writers"] = ["authored", "llm"]
            content["bigtom"]["judges"]["llm_answers"] = 4

        (root / "log").mkdir()
        prepared = laboratory(root, change)
        for path in (ROOT / "docs").glob("*.md"):
            shutil.copyfile(path, root / "docs" / path.name)
        (root / "notebooks").unlink()
        shutil.copytree(ROOT / "notebooks", root / "notebooks")
        # They have tests of their own, and no other page reads what they write.
        for name in ("fresh", "09_no_mind", "10_recompute"):
            without_code(root / f"notebooks/{name}.ipynb")
        # Whatever the run is, it is the same.
        with_results_of(front, "real_models", root / "notebooks/05_real_models.ipynb")
        before = STAGES.index("evaluation@bigtom-log")
        prepared.run(*STAGES[:before])
        take_log(prepared)
        prepared.run(*STAGES[before:])
    return prepared


def take_log(lab: Laboratory) -> None:
    """Take in the log of who knows everything, asked in both orders of the options."""
    items = tidy.read("items", lab.root / "results/items/bigtom.parquet")
    rows = []
    for item in items.to_dict("records"):
        for options in ([*item["choices"]], [*item["choices"]][::-1]):
            answer = f"{'ab'[options.index(item['answer'])]}) {item['answer']}"
            row = {"item_id": item["item_id"], "answer": answer, "options": json.dumps(options)}
            rows.append(row | {"model": "knows", "method": "0-shot"})
    pd.DataFrame(rows).to_csv(lab.root / "log.csv", index=False)
    command = [sys.executable, "-m", "tomlab.pipeline.answers", "take", "log.csv"]
    command += ["--benchmark", "bigtom", "--to", "log"]
    subprocess.run(command, cwd=lab.root, env=lab.environment, check=True)


def result(lab: Laboratory, kind: str, model: str = "evil") -> pd.DataFrame:
    return tidy.read(kind, lab.root / f"results/{kind}/bigtom/{model}.parquet")


# The stages


def test_stages_draw_judge_and_write_what_the_pipeline_says_and_report_no_fault(lab):
    check_stages(lab, *STAGES[:-1])
    check_figures_and_tables(lab, "bigtom", empty=set())
    check_judges(lab, "bigtom")


# What is asked


def test_each_question_is_asked_twice_in_each_way(lab):
    responses = result(lab, "responses")
    n = 2 * 25 * len(ITEMS)
    assert responses["asked_as"].value_counts().to_dict() == {"": n, "reversed": n, "curt": n}
    samples = responses.groupby("asked_as")["sample"].agg(lambda numbers: sorted(set(numbers)))
    assert samples.to_dict() == {"": [0, 1], "reversed": [2, 3], "curt": [4, 5]}
    messages = responses[responses["asked_as"] == "curt"]["messages"]
    assert messages.str.contains("Pick one: ").all()


def test_tables_say_that_the_place_decides_and_repeats_bring_nothing(lab):
    rows = pd.read_csv(lab.root / "results/tables/bigtom/variants.csv").query("model == 'evil'")
    values = rows.set_index(["asked_as", "metric"])["value"]
    assert values["reversed", "first_option"] == values["reversed", "same_answer"] == 0
    assert values["reversed", "both"] == 0.5
    assert values["curt", "same_answer"] == 1
    scores = result(lab, "scores")
    of_question = scores[scores["asked_as"] == ""].groupby(["method", "item_id"])["score"]
    assert (of_question.nunique() == 1).all()


def test_a_log_with_both_orders_is_drawn_passes_the_gate_and_decides_claims(lab):
    responses, n = result(lab, "responses", "log"), 25 * len(ITEMS)
    assert responses["asked_as"].value_counts().to_dict() == {"": n, "reversed": n}
    metrics = result(lab, "metrics", "log").query("metric in ['accuracy', 'tb_and_fb']")
    assert metrics["value"].eq(1).all() and metrics["n"].eq(len(ITEMS)).all()
    tables = lab.root / "results/tables"
    gated = pd.read_csv(tables / "bigtom/gate.csv").query("model == 'log'")
    assert len(gated) == 4 and gated["gate"].eq("passes").all()
    figure = pd.read_csv(lab.root / "results/figures/bigtom/figure3.csv")
    assert "log" in {*figure["model"]}
    claims = pd.read_csv(tables / "claims/claims.csv").set_index(["id", "evidence"])
    row = claims.loc[("stated-belief-anchors", "Logs")]
    assert (row["verdict"], row["difference"]) == ("inconclusive", 0)
    assert claims.loc[("stated-belief-anchors", "This run"), "why"] == "the gate stops it"


# The pages


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
    [book] = [path for path in lab.written("documents") if path.name == "book"]
    return sorted([*book.glob("[1-5i]*/*.html"), *book.glob("cards/*.html")])


def test_hostile_texts_are_in_the_pages_and_nothing_of_them_is_live(lab):
    text = "".join(path.read_text(encoding="utf-8") for path in pages(lab))
    assert text.count("onerror") >= 10
    assert "&lt;script&gt;" in text
    for path in pages(lab):
        page = Live()
        page.feed(path.read_text(encoding="utf-8"))
        assert page.found == [], path.name


def test_each_model_has_a_card_with_its_gate_its_headlines_and_three_answers(lab):
    for model, outcomes in {"evil": ["correct", "wrong"], "log": ["correct"]}.items():
        cells = nbformat.read(lab.root / f"docs/notebooks/cards/{model}.ipynb", as_version=4).cells
        shown = [output for cell in cells for output in cell.get("outputs", [])]
        text = "".join(str(output.get("data", {}).get("text/markdown", "")) for output in shown)
        assert ("passes the gate on none" in text) == (model == "evil")
        assert text.count("browse/bigtom.html") == len(outcomes)
        drawn = pd.read_csv(lab.root / f"results/figures/cards/{model}.csv")
        values = drawn[drawn["who"] == model].set_index("line")["value"]
        metrics = result(lab, "metrics", model).query("metric == 'tb_and_fb'")
        metrics = metrics.set_index("condition")["value"]
        for kind in ("backward", "forward"):
            expected = metrics[f"{kind}_belief/tb_and_fb/1"]
            assert values[f"BigToM, {kind} belief:\nboth versions"] == pytest.approx(expected)
        assert {"people", "shallow reader", "best published model"} < {*drawn["who"]}
        marks = drawn[drawn["who"] == model]["mark"].astype(object).fillna("")
        assert marks.unique().tolist() == ["§" if model == "evil" else ""]
