"""The page that recomputes headline numbers, run as the book runs it, on a small run of BigToM."""

import json
from itertools import cycle, islice
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from laboratory import environment, start
from one_cell import ran
from replies import answered
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.paper import HEADLINES
from tomlab.paths import DATA, ROOT
from tomlab.records import tidy

RULE = ran(".", "10_recompute", "cell-rule")
# One text of each form; None is a failed request. The last is unclear to the page's short rule.
TEXTS = [
    "a) the first",
    "Answer: b) the second",
    "b)",
    None,
    "",
    "a) the first\nb) the second",
    "I can't tell.",
    "a) the first\n\nThe answer is b).",
    "The answer is a).",
]
UNCLEAR = "**b**"


def write(root: Path, texts: list) -> Path:
    """What the page reads of a run of BigToM in which one model gave these answers, in turn."""
    for name in ("data", "docs", "notebooks"):
        (root / name).symlink_to(ROOT / name)
    items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv")
    items = items[items["group_id"].isin(items["group_id"].unique()[:12])]
    tables = []
    for method in ("0-shot", "0-shot-cot"):
        asked = bigtom.asked(items, method)
        tables.append(answered(asked, [*islice(cycle(texts), len(asked))], method))
    responses = pd.concat(tables, ignore_index=True).assign(asked_as="")
    tidy.write(items, "items", root / "results/items/bigtom.parquet")
    tidy.write(responses, "responses", root / "results/responses/bigtom/model.parquet")
    metrics = bigtom.metrics(bigtom.score(items, responses))
    names = {condition: name for name, (_, condition) in HEADLINES.items()}
    headlines = metrics[metrics["condition"].isin(names)]
    headlines = headlines.assign(name=headlines["condition"].map(names))
    (root / "results/plots").mkdir()
    headlines.to_csv(root / "results/plots/bigtom.csv", index=False)
    values = {"parameters": {"benchmarks": ["bigtom"], "models": ["model"]}}
    (root / "settings.json").write_text(json.dumps(values), encoding="utf-8")
    return root


def change_verdict(root: Path) -> None:
    plots = pd.read_csv(root / "results/plots/bigtom.csv")
    plots.loc[plots.index[0], "value"] += 1 / plots["n"].iloc[0]
    plots.to_csv(root / "results/plots/bigtom.csv", index=False)


def change_answers(root: Path) -> None:
    path = root / "results/responses/bigtom/model.parquet"
    responses = pd.read_parquet(path)
    responses["response"] = "a) the first"
    responses.to_parquet(path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """The folder of all runs with the page, each with its exit code in `code` and its `errors`."""
    folder = tmp_path_factory.mktemp("recompute")
    texts = {"as it was": TEXTS, "verdict": TEXTS, "unclear": [*TEXTS, UNCLEAR]}
    texts["answer"] = ["a) the first", "b) the second"]
    commands = []
    for name, given in texts.items():
        root = folder / name
        root.mkdir()
        write(root, given)
        page = "notebooks/10_recompute.ipynb results/index/page.ipynb settings.json"
        run = f"TOMLAB_ROOT=$PWD python -m tomlab.pipeline.run_notebook {page} 2> errors"
        commands.append(f"(cd '{root}'; {run} && echo 0 > code || echo $? > code)")
    change_verdict(folder / "verdict")
    change_answers(folder / "answer")
    start(commands, environment(folder))
    return folder


def told(root: Path) -> tuple[int, str]:
    """The exit code of a run, and what it wrote to stderr."""
    return int((root / "code").read_text()), (root / "errors").read_text(encoding="utf-8")


def test_numbers_are_those_of_the_run_and_what_is_not_in_it_is_named(runs):
    code, errors = told(runs / "as it was")
    assert code == 0, errors
    cells = nbformat.read(runs / "as it was/results/index/page.ipynb", as_version=4).cells
    texts = "".join(out.get("text", "") for cell in cells for out in cell.get("outputs", []))
    assert "Not in this run: simpletom" in texts
    assert "6 of 6 numbers are equal" in texts


def test_changed_verdict_is_an_error_that_names_the_number(runs):
    code, errors = told(runs / "verdict")
    assert code == 1
    assert "1 numbers differ" in errors
    assert "0-shot" in errors


def test_changed_answer_is_an_error(runs):
    code, errors = told(runs / "answer")
    assert code == 1
    assert "numbers differ" in errors


def test_unclear_answers_may_be_read_otherwise(runs):
    code, errors = told(runs / "unclear")
    assert code == 0, errors


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        # BigToM and SimpleToM, without reasoning and with it
        ("(A) Yes", "A A A -"),
        ("(A)", "A A A A"),
        ("Answer: (B) No", "B B B B"),
        ("(A) Yes\nThe answer is (B).", "A B - B"),
        ("(A) Yes\n(B) No", "- - - -"),
        ("She left. The answer is (B) No.", "B B B B"),
        ("The answer is not (A).", "- - - -"),
        ("I can't tell.", "- - - -"),
        ("She left.\n(B)", "- - - B"),
    ],
)
def test_letters_that_answers_choose(text, letters):
    chosen = []
    for reasons in (False, True):
        for benchmark in ("bigtom", "simpletom"):
            letter = RULE["chosen_letter"](benchmark, text.upper(), reasons, False)
            chosen.append(letter or "-")
    assert chosen == letters.split()


def test_answer_that_was_cut_off_counts_its_first_announcement_or_the_closing_one():
    letter = RULE["chosen_letter"]
    text = "(A) YES\nTHE ANSWER IS (A). THE ANSWER IS (B)"
    assert letter("simpletom", text, False, True) == "A"
    assert letter("simpletom", text, True, True) is None
    assert letter("simpletom", text + ". THEREFORE, THE ANSWER IS: (B)", True, True) == "B"
