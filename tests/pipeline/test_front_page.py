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


# Runs of BigToM: of how many templates each model was asked, and who does not pass the gate.
RUNS = {
    "many models": ({"random": 100, "smollm2-135m": 100, "mine": 100, "other": 100, "few": 9}, ()),
    "stopped": ({"mine": 100, "other": 100, "random": 100}, ("mine", "random")),
    "baselines": ({"random": 100, "omniscient": 100}, ()),
    "one model": ({"mine": 100, "random": 100}, ()),
}


def write(results: Path, groups: dict[str, int], stopped: tuple[str, ...]) -> None:
    """What the front page reads of a run, and its settings."""
    (results / "plots").mkdir(parents=True)
    for model, n in groups.items():
        cells = [("accuracy", f"{part}_belief") for part in ("true", "false")]
        run = [
            METRIC | {"metric": metric, "condition": f"forward_belief/{part}/0"}
            for metric, part in (*cells, ("tb_and_fb", "tb_and_fb"))
        ]
        run = pd.DataFrame(run).assign(model=model, n=n, n_groups=n)
        tidy.write(run, "metrics", results / f"metrics/bigtom/{model}.parquet")
    rows = [HEADLINE | {"model": name, "n": n, "groups": n} for name, n in groups.items()]
    pd.DataFrame(rows).to_csv(results / "plots/bigtom.csv", index=False)
    (results / "tables/bigtom").mkdir(parents=True)
    kept = {"method": "0-shot", "questions": "choices", "metric": "same_answer", "value": 0.1}
    gated = [{"model": m, **kept, "gate": "fails" if m in stopped else "passes"} for m in groups]
    pd.DataFrame(gated).to_csv(results / "tables/bigtom/gate.csv", index=False)
    values = {"parameters": {"benchmarks": ["bigtom"], "models": [*groups]}}
    (results / "settings.json").write_text(json.dumps(values), encoding="utf-8")


@pytest.fixture(scope="module")
def fronts(tmp_path_factory) -> Path:
    """The folders of all runs with their front pages, made one after another in one root."""
    root = tmp_path_factory.mktemp("fronts")
    for name in ("data", "docs", "notebooks"):
        (root / name).symlink_to(ROOT / name)
    page = "python -m tomlab.pipeline.run_notebook notebooks/00_index.ipynb"
    page += " results/index/00_index.ipynb results/settings.json"
    commands = []
    for name, run in RUNS.items():
        write(root / "runs" / name, *run)
        commands += [f"ln -sfn 'runs/{name}' results", page]
    start(commands, environment(root))
    return root / "runs"


def front(results: Path) -> tuple[str, list[str]]:
    """What a run is said to find, and the texts and the figures' titles of its page."""
    cells = nbformat.read(results / "index/00_index.ipynb", as_version=4).cells
    outputs = [out for cell in cells for out in cell.get("outputs", []) if "data" in out]
    told = [out["data"].get("text/markdown", "") for out in outputs]
    told += [out.metadata.get("image/png", {}).get("alt", "") for out in outputs]
    found = json.loads((results / "index/findings.json").read_text(encoding="utf-8"))
    return found.get("bigtom", ""), [text for text in told if text]


def test_front_page_tells_of_all_models_but_baselines_the_users_first(fronts):
    found, told = front(fronts / "many models")
    places = [found.index(f"**{name}**") for name in ("mine", "other", "SmolLM2-135M")]
    assert places == sorted(places)
    assert found.count("falls below guessing") == 3
    assert not [text for text in (found, *told) if "random" in text.lower()]
    [table] = [text for text in told if "All chapters" in text]
    assert (table.count("/bigtom.ipynb)"), table.count("ipynb")) == (5, 5)


def test_front_page_says_only_that_a_model_does_not_answer_where_the_gate_stops_it(fronts):
    found, _ = front(fronts / "stopped")
    assert "**mine** keeps .10 of them when options are swapped" in found
    assert found.count("falls below guessing") == found.count("**other**") == 1
    assert "random" not in found
    drawn = pd.read_csv(fronts / "stopped/figures/real_models/front_bigtom.csv")
    mine = drawn.loc[drawn["panel"].str.startswith("This run"), "model"]
    assert {*mine} == {"mine §", "other"}


def test_front_page_of_baselines_alone_says_that_nothing_is_concluded(fronts):
    found, told = front(fronts / "baselines")
    assert found == ""
    assert [text for text in told if "only baselines" in text]
    drawn = pd.read_csv(fronts / "baselines/figures/real_models/front_bigtom.csv")
    assert not {"random", "omniscient"} & {*drawn["model"]}


def test_front_page_draws_others_models_and_this_runs_in_panels_of_their_own(fronts):
    _, told = front(fronts / "one model")
    drawn = pd.read_csv(fronts / "one model/figures/real_models/front_bigtom.csv")
    panels = drawn.groupby("panel")["model"].agg(set)
    [run] = [panel for panel in panels.index if panel.startswith("This run")]
    [copied] = [panel for panel in panels.index if "always A" in panel]
    [by_likelihood] = [panel for panel in panels.index if "likelihood" in panel]
    assert (len(panels), panels[run]) == (4, {"mine"})
    assert (len(panels[copied]), len(panels[by_likelihood])) == (8, 20)
    assert "Gemini 2.5 Pro" not in panels[copied]
    own = drawn[drawn["panel"] == copied].set_index(["model", "part"])["value"]
    assert own["Claude Opus 4.6", "both right"] == 0.975
    [findings] = [text for text in told if "asked by others" in text]
    assert findings.index("Claude Opus 4.6") < findings.index("this run")


def test_front_page_leads_with_what_can_be_gated_and_marks_what_cannot(fronts):
    _, told = front(fronts / "one model")
    drawn = pd.read_csv(fronts / "one model/figures/real_models/front_bigtom.csv")
    panels = [*dict.fromkeys(drawn["panel"])]
    marked = [panel for panel in panels if "§" in panel]
    assert len(marked) == 1
    assert "always A" in marked[0]
    [by_likelihood] = [panel for panel in panels if "likelihood" in panel]
    assert panels.index(by_likelihood) < panels.index(marked[0])
    [findings] = [text for text in told if "asked by others" in text]
    gated, ungated, simpletom = findings.split("\n\n")[1:4]
    assert "§" not in gated
    assert "§" in ungated
    assert "§" in simpletom


def test_front_page_counts_only_differences_that_chance_does_not_explain(fronts):
    """Of the models that copied an answer, one finds true belief harder after Holm's correction."""
    _, told = front(fronts / "one model")
    [findings] = [text for text in told if "asked by others" in text]
    gated, ungated = findings.split("\n\n")[1:3]
    assert "for 1 of 9 models (Claude Sonnet 4.6)" in ungated
    assert "for 12 of 20 models" in gated


def test_front_page_draws_peoples_three_scores_with_both_intervals(fronts):
    drawn = pd.read_csv(fronts / "one model/figures/real_models/front_bigtom.csv")
    people = drawn[drawn["panel"].str.startswith("People")]
    wide = people.pivot(index="model", columns="part", values="value")
    assert wide["true belief"].tolist() == wide["false belief"].tolist() == [0.9875, 0.9875]
    assert wide["both right"].tolist() == [0.975, 0.975]
    assert people["ci_low"].isna().sum() == 1  # the authors draw none for false belief alone


def test_each_figure_of_the_front_page_is_told_by_its_own_text(fronts):
    """A picture in the book takes its text from its cell, so a cell draws one."""
    cells = nbformat.read(fronts / "one model/index/00_index.ipynb", as_version=4).cells
    alts = []
    for cell in chapter(nbformat.from_dict({"cells": cells})).cells:
        pictures = [out for out in cell.get("outputs", []) if "image/png" in out.get("data", {})]
        assert len(pictures) <= 1
        if pictures:
            alts.append(cell.metadata["mystnb"]["image"]["alt"])
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
