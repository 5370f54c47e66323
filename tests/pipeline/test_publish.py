"""Publishing: links of executed notebooks, and what goes to `docs/`."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from laboratory import environment, start
from one_cell import ran
from small_run import COPIES, publish, publishing, write
from tomlab.errors import InputError
from tomlab.paths import DOCS, ROOT
from tomlab.pipeline.book import relink, targets
from tomlab.pipeline.publish import texts_with_links, with_results

NOTEBOOKS = {f"notebooks/{name}": f"docs/notebooks/{names[0]}" for name, names in COPIES.items()}
NOTEBOOKS["notebooks/00_index.ipynb"] = "docs/notebooks/00_index.ipynb"
PAGES = {
    "notebooks/00_index.ipynb": "results/book/index.html",
    "notebooks/2_filtering/bigtom.ipynb": "results/book/2_filtering/bigtom.html",
    "notebooks/3_evaluation/bigtom.ipynb": "results/book/3_evaluation/bigtom-smol.html",
    "docs/data.md": "results/book/data.html",
    "results/figures/bigtom/figure3.png": "results/book/figures/bigtom/figure3.png",
}

# Names and links


@pytest.mark.parametrize(
    ("link", "in_notebook", "in_book"),
    [
        (  # was not run
            "[next](../1_generation/fantom.ipynb)",
            "[next](../../../notebooks/1_generation/fantom.ipynb)",
            "next",
        ),
        (
            "[next](../2_filtering/bigtom.ipynb)",
            "[next](../2_filtering/bigtom.ipynb)",
            "[next](../2_filtering/bigtom.html)",
        ),
        (
            "[asked](../3_evaluation/bigtom.ipynb#how)",
            "[asked](bigtom-smol.ipynb#how)",
            "[asked](bigtom-smol.html#how)",
        ),
        ("[up](../00_index.ipynb)", "[up](../00_index.ipynb)", "[up](../index.html)"),
        ("[`data`](../../docs/data.md)", "[`data`](../../data.md)", "[`data`](../data.html)"),
        (
            "[PNG](../../results/figures/bigtom/figure3.png)",
            "PNG (results/figures/bigtom/figure3.png)",
            "[PNG](../figures/bigtom/figure3.png)",
        ),
        (
            '<a href="../../results/book/x.html">a <b>page</b></a>',
            "a <b>page</b> (results/book/x.html)",
            "a <b>page</b> (results/book/x.html)",
        ),
        (
            '<a href="../../src/tomlab/paths.py#L1">code</a>',
            '<a href="../../../src/tomlab/paths.py#L1">code</a>',
            "code",
        ),
        *((same, same, same) for same in ("[a](https://x.org/docs/a.md)", "[b](#below)", "`[c]`")),
    ],
)
def test_links_lead_to_what_is_published(link, in_notebook, in_book):
    home, name = "notebooks/3_evaluation/bigtom.ipynb", "3_evaluation/bigtom-smol"
    there = ("notebooks/1_generation/fantom.ipynb", "docs/data.md", "src/tomlab/paths.py")
    assert relink(f"See {link}.", home, f"docs/notebooks/{name}.ipynb", NOTEBOOKS, there) == (
        f"See {in_notebook}."
    )
    assert relink(f"See {link}.", home, f"results/book/{name}.html", PAGES) == f"See {in_book}."


def test_a_link_that_an_executed_copy_displays_is_as_seen_from_there():
    home = "results/notebooks/5_figures/bigtom.ipynb"
    text = '<a href="../../figures/bigtom/figure3.png">PNG</a> [next](../2_filtering/bigtom.ipynb)'
    moved = '<a href="../figures/bigtom/figure3.png">PNG</a> next'
    moved += " (results/notebooks/2_filtering/bigtom.ipynb)"
    assert relink(text, home, "results/book/5_figures/bigtom.html", PAGES) == moved


# What git holds


def test_links_of_the_executed_notebooks_in_git_lead_to_files_in_git():
    """The last `make figures` wrote them; another one writes them anew."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    held = set()
    for line in listed.stdout.splitlines():
        held |= {line, *(folder.as_posix() for folder in Path(line).parents)}
    lost = []
    for path in sorted((DOCS / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:  # JupyterLab makes copies of what somebody opens
            continue
        name = path.relative_to(ROOT).as_posix()
        for part, field, _ in texts_with_links(nbformat.read(path, as_version=4), name):
            lost += [(name, target) for target in targets(part[field], name) - held]
    assert lost == []


# What there is


def test_a_book_holds_the_benchmarks_that_were_run_and_says_which_were_not(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("tomlab.pipeline.publish.RESULTS", tmp_path)
    with pytest.raises(InputError, match="no results of bigtom, fantom"):
        with_results(["bigtom", "fantom"])
    page = tmp_path / "notebooks" / "5_figures" / "fantom.ipynb"
    page.parent.mkdir(parents=True)
    page.touch()
    assert with_results(["bigtom", "fantom"]) == ["fantom"]
    assert "leaves out bigtom" in capsys.readouterr().err


def test_card_of_a_model_that_no_method_of_the_card_asked_says_so(tmp_path):
    for name in ("data", "notebooks", "params.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    values = {"benchmarks": ["doors"], "model": "my-vllm"}
    (tmp_path / "settings.json").write_text(json.dumps({"parameters": values}))
    page = "python -m tomlab.pipeline.run_notebook notebooks/card.ipynb card.ipynb settings.json"
    start([page], environment(tmp_path))
    card = (tmp_path / "card.ipynb").read_text(encoding="utf-8")
    assert "my-vllm was not asked by the methods of this card" in card
    assert not (tmp_path / "results/figures").exists()


@pytest.mark.parametrize(
    ("same_answer", "both", "follows_place", "guesses"),
    [
        (0.1, 0.5, True, True),
        (0.3, 0.3, True, False),  # wrong more often than a guess
        (0.5, 0.5, False, True),
        (1.0, 0.5, False, False),  # as if everybody knew everything: half is right, by reading
        (1.0, 1.0, False, False),
    ],
)
def test_card_says_of_a_model_whether_it_follows_a_place_or_guesses(
    same_answer, both, follows_place, guesses
):
    verdict = "passes" if same_answer > 0.55 else "fails"
    gates = pd.DataFrame([{"benchmark": "bigtom", "metric": "same_answer", "gate": verdict}])
    compared = pd.DataFrame({"metric": ["same_answer", "both"], "value": [same_answer, both]})
    compared = compared.assign(benchmark="bigtom")
    compared["ci_low"] = compared["value"] - 0.05
    compared["ci_high"] = compared["value"] + 0.05
    given = {"gates": gates, "compared": compared, "titles": {"bigtom": "BigToM"}}
    text = ran("", "card", "cell-guesses", **given, model_name="mine", first="")["first"]
    assert ("follow the place" in text) == follows_place
    assert ("guess about beliefs" in text) == guesses


def test_card_counts_models_with_the_same_extreme_and_names_the_tables_of_all():
    columns = ["model", "value", "table"]
    rows = [("a", 0.0, "Table 9"), ("b", 0.0, "a later table"), ("c", 0.4, "Table 9")]
    published = pd.DataFrame(rows, columns=columns)
    published = published.assign(benchmark="fantom", name="all-star", who=None)
    best, worst = ran("", "card", "cell-extremes", published=published)["extremes"]
    assert best[columns].to_numpy().tolist() == [["c", 0.4, "Table 9"]]
    assert worst[columns].to_numpy().tolist() == [["2 models", 0.0, "Table 9 and a later table"]]


# Runs that end early


def test_fault_in_the_index_is_told_and_nothing_is_published(tmp_path):
    path = write(tmp_path) / "notebooks/00_index.ipynb"
    source = nbformat.read(path, as_version=4)
    source.cells[-1].source = "1 / 0"
    nbformat.write(source, path)
    process = publish(tmp_path)
    assert process.returncode == 1
    assert "ZeroDivisionError" in process.stderr
    assert not (tmp_path / "results/book").exists()


def test_interruption_ends_pages_and_kernels_in_one_line(tmp_path):
    write(tmp_path)
    pages = ("01_drawn.ipynb", "02_drawn.ipynb")
    shutil.copyfile(*(tmp_path / "notebooks" / name for name in ("00_index.ipynb", pages[1])))
    for name in pages:
        path = tmp_path / "notebooks" / name
        source = nbformat.read(path, as_version=4)
        writes_its_id = f"Path('{path}.pid').write_text(str(os.getpid()))"
        code = f"import os, time\nfrom pathlib import Path\n{writes_its_id}\ntime.sleep(600)"
        source.cells.append(nbformat.v4.new_code_cell(code, id="waits"))
        nbformat.write(source, path)
    process = publishing(tmp_path, start_new_session=True)
    pids = [tmp_path / "notebooks" / f"{name}.pid" for name in pages]
    waited_for(lambda: all(path.exists() and path.read_text() for path in pids))
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=10) == 130
    # What the book leaves out is said before.
    *_, before, stopped, after = process.stderr.read().split("\n")
    assert (before, stopped, after) == ("", "Stopped; `make book` begins it anew.", "")
    waited_for(lambda: not any(Path(f"/proc/{path.read_text()}").exists() for path in pids))


def waited_for(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.1)
