"""The front page: of which models it tells, by what was run. A book of one benchmark that it does
not name is `tests/test_adding`.
"""

import json
import re
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from laboratory import environment, start
from tomlab.paths import ROOT
from tomlab.pipeline.book import chapter, relink
from tomlab.records import tidy

HEADLINE = {"method": "0-shot", "name": "backward-belief", "value": 0.1, "low": 0.05, "high": 0.15}
METRIC = {"benchmark": "bigtom", "method": "0-shot", "value": 0.1, "ci_low": 0.05, "ci_high": 0.15}
METRIC |= {"ci_method": "cluster jackknife"}


# A run of BigToM: of how many templates each model was asked, and who does not pass the gate.
TEMPLATES = {"random": 100, "smollm2-135m": 100, "mine": 100, "other": 100, "few": 9}
GUESSING = ("mine", "random")


def write(results: Path) -> None:
    """What the front page reads of a run, and its settings."""
    (results / "plots").mkdir(parents=True)
    for model, n in TEMPLATES.items():
        cells = [("accuracy", f"{part}_belief") for part in ("true", "false")]
        run = [
            METRIC | {"metric": metric, "condition": f"forward_belief/{part}/0"}
            for metric, part in (*cells, ("tb_and_fb", "tb_and_fb"))
        ]
        run = pd.DataFrame(run).assign(model=model, n=n, n_groups=n)
        tidy.write(run, "metrics", results / f"metrics/bigtom/{model}.parquet")
    rows = [HEADLINE | {"model": name, "n": n, "groups": n} for name, n in TEMPLATES.items()]
    pd.DataFrame(rows).to_csv(results / "plots/bigtom.csv", index=False)
    (results / "tables/bigtom").mkdir(parents=True)
    kept = {"method": "0-shot", "questions": "choices", "metric": "same_answer", "value": 0.1}
    gated = [
        {"model": m, **kept, "gate": "fails" if m in GUESSING else "passes"} for m in TEMPLATES
    ]
    pd.DataFrame(gated).to_csv(results / "tables/bigtom/gate.csv", index=False)
    values = {"parameters": {"benchmarks": ["bigtom"], "models": [*TEMPLATES]}}
    (results / "settings.json").write_text(json.dumps(values), encoding="utf-8")


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """The run's folder with its front page."""
    root = tmp_path_factory.mktemp("front")
    for name in ("data", "docs", "notebooks"):
        (root / name).symlink_to(ROOT / name)
    page = "python -m tomlab.pipeline.run_notebook notebooks/00_index.ipynb"
    page += " results/index/00_index.ipynb results/settings.json"
    write(root / "results")
    start([page], environment(root))
    return root / "results"


def front(results: Path) -> tuple[str, list[str]]:
    """What a run is said to find, and the texts and the figures' titles of its page."""
    cells = nbformat.read(results / "index/00_index.ipynb", as_version=4).cells
    outputs = [out for cell in cells for out in cell.get("outputs", []) if "data" in out]
    texts = [out["data"].get("text/markdown", "") for out in outputs]
    texts += [out.metadata.get("image/png", {}).get("alt", "") for out in outputs]
    findings = json.loads((results / "index/findings.json").read_text(encoding="utf-8"))
    return findings.get("bigtom", ""), [text for text in texts if text]


def drawn(results: Path) -> pd.DataFrame:
    return pd.read_csv(results / "figures/real_models/front_bigtom.csv")


def others_findings(results: Path) -> list[str]:
    """What the page says of models that others asked, by paragraph."""
    _, texts = front(results)
    [findings] = [text for text in texts if "asked by others" in text]
    return findings.split("\n\n")


def test_front_page_tells_of_all_models_but_baselines_the_users_first(results):
    finding, texts = front(results)
    places = [finding.index(f"**{name}**") for name in ("mine", "other", "SmolLM2-135M")]
    assert places == sorted(places)
    assert not [text for text in (finding, *texts) if "random" in text.lower()]
    [table] = [text for text in texts if "All chapters" in text]
    assert (table.count("/bigtom.ipynb)"), table.count("ipynb")) == (5, 5)


def test_front_page_says_only_that_a_model_does_not_answer_where_the_gate_stops_it(results):
    finding, _ = front(results)
    assert "**mine** keeps .10 of them when options are swapped" in finding
    assert finding.count("falls below guessing") == 2
    rows = drawn(results)
    run = rows.loc[rows["panel"].str.startswith("This run"), "model"]
    assert {"mine §", "other"} <= {*run}


def test_front_page_draws_others_models_in_panels_of_their_own_what_can_be_gated_first(results):
    rows = drawn(results)
    panels = rows.groupby("panel", sort=False)["model"].agg(set)
    [copied] = [panel for panel in panels.index if "always A" in panel]
    [by_likelihood] = [panel for panel in panels.index if "likelihood" in panel]
    assert len(panels) == 4
    assert (len(panels[copied]), len(panels[by_likelihood])) == (8, 20)
    assert [*panels.index].index(by_likelihood) < [*panels.index].index(copied)
    assert "§" in copied and "§" not in by_likelihood
    values = rows[rows["panel"] == copied].set_index(["model", "part"])["value"]
    assert values["Claude Opus 4.6", "both right"] == 0.975


def test_front_page_counts_only_differences_that_chance_does_not_explain(results):
    """Of the models that copied an answer, one finds true belief harder after Holm's correction."""
    _, gated, ungated, simpletom, *_ = others_findings(results)
    assert "for 12 of 20 models" in gated
    assert "for 1 of 9 models (Claude Sonnet 4.6)" in ungated
    assert ["§" in text for text in (gated, ungated, simpletom)] == [False, True, True]


def test_front_page_draws_peoples_three_scores_with_both_intervals(results):
    rows = drawn(results)
    people = rows[rows["panel"].str.startswith("People")]
    wide = people.pivot(index="model", columns="part", values="value")
    assert wide["true belief"].tolist() == wide["false belief"].tolist() == [0.9875, 0.9875]
    assert wide["both right"].tolist() == [0.975, 0.975]
    assert people["ci_low"].isna().sum() == 1  # the authors draw none for false belief alone


def test_each_figure_of_the_front_page_is_told_by_its_own_text(results):
    """A picture in the book takes its text from its cell, so a cell draws one."""
    notebook = nbformat.read(results / "index/00_index.ipynb", as_version=4)
    cells = [cell for cell in chapter(notebook).cells if "mystnb" in cell.metadata]
    for cell in cells:
        assert sum("image/png" in output.get("data", {}) for output in cell.outputs) == 1
    alts = [cell.metadata["mystnb"]["image"]["alt"] for cell in cells]
    assert [alt.split(":")[0] for alt in alts] == ["BigToM", "SimpleToM"]


@pytest.mark.parametrize("name", ["00_index", "02_coverage"])
def test_links_that_a_cell_writes_lead_to_the_books_pages(name):
    """A cell's links start where executed notebooks lie."""
    cells = nbformat.read(ROOT / f"notebooks/{name}.ipynb", as_version=4).cells
    source = "".join(cell.source for cell in cells if cell.cell_type == "code")
    links = re.findall(r"\]\((\S+?)\)\"", source.replace("{path}", "notebooks/5_figures/b.ipynb"))
    pages = {"notebooks/5_figures/b.ipynb": "results/book/5_figures/b.html"}
    assert links
    for link in links:
        text = f"[it]({link.replace('{benchmark}', 'b')})"
        here, there = f"results/notebooks/{name}.ipynb", f"results/book/{name}.ipynb"
        assert relink(text, here, there, pages) == "[it](5_figures/b.html)"
