"""The front page: every number of its sentences, computed a second time from the data by plain
pandas; and what it says of the models of a run. A book of one benchmark that it does not name is
`tests/test_adding`.
"""

import json
import re
import shutil
from itertools import combinations, product
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pandas as pd
import pytest
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests

from laboratory import environment, start
from tomlab import paths
from tomlab.paths import PUBLISHED, ROOT
from tomlab.pipeline import run_notebook
from tomlab.pipeline.book import chapter, relink

HEADLINE = {"method": "0-shot", "name": "backward-belief", "value": 0.1, "low": 0.05, "high": 0.15}
# A run of BigToM: the models that were asked, and those that do not pass the gate.
MODELS = ["random", "smollm2-135m", "mine", "other"]
GUESSING = ("mine", "random")


def write(results: Path) -> None:
    """What the front page reads of a run, and its settings."""
    (results / "tables/bigtom").mkdir(parents=True)
    same_answer = {"method": "0-shot", "questions": "choices", "metric": "same_answer"}
    gated = [
        {"model": model, **same_answer, "value": 0.1, "ci_low": 0.05, "ci_high": 0.15}
        | {"ci_method": "cluster jackknife", "n": 100, "n_groups": 100}
        | {"gate": "fails" if model in GUESSING else "passes"}
        for model in MODELS
    ]
    pd.DataFrame(gated).to_csv(results / "tables/bigtom/gate.csv", index=False)
    # The card of the user's first model, which the page shows.
    card = paths.writable(results / "figures/cards/mine")
    plt.figure().savefig(card.with_suffix(".png"))
    card.with_suffix(".caption.txt").write_text("The card of mine\n\nn = 100.", encoding="utf-8")
    values = {"benchmarks": ["bigtom"], "models": MODELS}
    declared = run_notebook.declared(ROOT / "notebooks/00_index.ipynb")
    settings = {"parameters": {key: values[key] for key in declared}}
    (results / "00_index.json").write_text(json.dumps(settings), encoding="utf-8")


@pytest.fixture(scope="module")
def results(tmp_path_factory, front) -> Path:
    """The run's folder with its front page, which shows what other pages draw."""
    root = tmp_path_factory.mktemp("front")
    for name in ("data", "docs", "notebooks"):
        (root / name).symlink_to(ROOT / name)
    shutil.copytree(front / "results", root / "results")
    write(root / "results")
    files = "notebooks/00_index.ipynb results/index/00_index.ipynb results/00_index.json"
    start([f"python -m tomlab.pipeline.run_notebook {files}"], environment(root))
    return root / "results"


@pytest.fixture(scope="module")
def text(results) -> str:
    """All sentences of the front page."""
    cells = nbformat.read(results / "index/00_index.ipynb", as_version=4).cells
    outputs = [out for cell in cells for out in cell.get("outputs", []) if "data" in out]
    return "\n".join(out["data"].get("text/markdown", "") for out in outputs)


@pytest.fixture(scope="module")
def verdicts() -> pd.DataFrame:
    """Others' verdicts on BigToM: a row for each series, model and row, `right` by version."""
    table = pd.read_csv(PUBLISHED / "bigtom/verdicts_forward_belief.csv")
    return by_version(table.assign(right=table["verdict"] == "correct"))


def by_version(table: pd.DataFrame) -> pd.DataFrame:
    wide = table.pivot(index=["scoring", "model", "row"], columns="contingency", values="right")
    wide = wide.dropna().astype(bool)
    return wide.assign(both=wide["true_belief"] & wide["false_belief"])


def mcnemar(only_a: int, only_b: int) -> float:
    """The two-sided p of McNemar's exact test."""
    return min(1.0, 2 * binom.cdf(min(only_a, only_b), only_a + only_b, 0.5))


def holm(values: list[float]) -> list[float]:
    return list(multipletests(values, method="holm")[1])


def numbers_in(text: str, pattern: str) -> list[str]:
    [groups] = re.findall(pattern, text)
    return list(groups)


def test_the_lean_turns_with_the_question(text):
    table = pd.read_csv(PUBLISHED / "bigtom/table7_models.csv")
    keys = ["method", "initial_belief", "variable", "model"]
    wide = table.pivot(index=keys, columns="contingency", values="accuracy") * 200
    wide["p"] = [
        largest_p(cell.tb_and_fb, cell.false_belief, cell.true_belief)
        for cell in wide.round().astype(int).itertuples()
    ]
    possible = wide.dropna().copy()  # five cells are impossible
    possible["p"] = holm([*possible["p"]])
    possible["lean"] = possible["true_belief"] - possible["false_belief"]
    zero_shot = possible.loc["0-shot"].reset_index()
    is_action = zero_shot["variable"] == "forward_action"
    is_stated = zero_shot["initial_belief"] == 1
    counts = []
    for rows, sign in (
        (zero_shot[is_action & is_stated], 1),
        (zero_shot[~is_action & is_stated], -1),
        (zero_shot[~is_action & ~is_stated], 1),
    ):
        leans = rows[(rows["lean"] * sign).round(6) > 0]
        counts.append((len(leans), len(rows), (leans["p"] < 0.05).sum()))
    assert counts == [(6, 6, 5), (12, 12, 10), (10, 12, 4)]
    newer = pd.read_csv(PUBLISHED / "fantom/newer_models.csv")
    newer = newer[newer["column"].str.contains("choice")]
    newer = newer.pivot_table(index="model", columns="scenario", values="value").dropna()
    knows = (newer["control"] > newer["inaccessible"]).sum()
    assert (knows, len(newer)) == (11, 13)
    pattern = r"(\d+) of (\d+) cases \((\d+) by more than chance\)"
    found = [tuple(map(int, numbers)) for numbers in re.findall(pattern, text)]
    assert found == [*counts, (11, 13, 10)]


def largest_p(both: int, false_belief: int, true_belief: int) -> float:
    """The largest p of McNemar's test if each count may be one off; nan for impossible counts."""
    values = []
    for true, false, joint in product(
        *([n - 1, n, n + 1] for n in (true_belief, false_belief, both))
    ):
        if min(joint, true - joint, false - joint, 200 - true - false + joint) >= 0:
            values.append(mcnemar(true - joint, false - joint))
    return max(values, default=float("nan"))


def test_no_series_is_clearly_above_the_rule_that_counts_words(text, verdicts):
    rules = pd.read_csv(ROOT / "docs/readers_released.csv", comment="#")
    rules = rules[rules["kind"].eq("belief/forward_belief") & ~rules["control"]]
    rules = rules[rules["initial_belief"].eq("not stated")]
    assert rules.loc[rules["best"], "both_right"].tolist() == [0.95]
    both = verdicts.groupby(["scoring", "model"])["both"].agg(["mean", "size"])
    both = both[both["size"] == 200]
    best = both["mean"].idxmax()
    assert best == ("generated", "claude-opus-4-6")
    share = both["mean"].max()
    z = 1.96
    middle = share + z**2 / 400
    low = (middle - z * (share * (1 - share) / 200 + z**2 / 160000) ** 0.5) / (1 + z**2 / 200)
    assert low < 0.95  # Wilson's interval of the best series holds the rule's share
    assert f"None of {len(both)} results" in text
    assert (len(both), share) == (28, pytest.approx(0.975))
    assert ".95 [.91, .98] of 200 templates" in text
    rule = pd.read_csv(ROOT / "docs/readers_released.csv", comment="#")
    rule = rule[rule["reader"].eq("negation, new words before it")]
    rule = rule[rule["initial_belief"].eq("not stated")].set_index(["kind", "control"])[
        "both_right"
    ]
    assert rule["action/forward_action", False] == 0.63 and "it gets .63 [" in text
    assert rule["belief/backward_belief", False] == 0.005 and ", .005 [" in text
    assert rule["belief/forward_belief", True] == 0 and "and .00 [" in text
    controls = pd.read_csv(PUBLISHED / "bigtom/table8_controls.csv")
    controls = controls[
        controls["variable"].eq("forward_belief") & (controls["initial_belief"] == 0)
    ]
    controls = controls[controls["contingency"].eq("tb_and_fb") & controls["method"].eq("0-shot")]
    assert [controls["accuracy"].min(), controls["accuracy"].max()] == [0.79, 0.99]
    assert "get .79 to .99 by the paper's protocol" in text


def test_true_beliefs_are_harder_by_likelihood(text, verdicts):
    rows = verdicts.loc["loglikelihood"]
    only_true = (rows["true_belief"] & ~rows["false_belief"]).groupby("model").sum()
    only_false = (rows["false_belief"] & ~rows["true_belief"]).groupby("model").sum()
    p = pd.Series(holm([*map(mcnemar, only_true, only_false)]), only_true.index)
    fewer = only_true < only_false
    expected = [fewer.sum(), len(fewer), (fewer & (p < 0.05)).sum(), (~fewer & (p < 0.05)).sum()]
    assert expected == [18, 20, 12, 0]
    pattern = r"(\d+) of (\d+) open models get fewer.*?for (\d+) of them, and the opposite for none"
    assert numbers_in(text, pattern) == ["18", "20", "12"]


def test_tuning_raises_true_beliefs(text, verdicts, results):
    pairs = pd.read_csv(results / "figures/real_models/tuning.csv")[["model", "base"]]
    card = (PUBLISHED / "bigtom/verdicts_forward_belief.yaml").read_text(encoding="utf-8")
    by_name = {name: file for file, name in re.findall(r"^ +(\S+): (\S+)$", card, re.MULTILINE)}
    tests = []
    for model, base in pairs.drop_duplicates().to_numpy():
        tuned = verdicts.loc["loglikelihood", by_name[model]]
        plain = verdicts.loc["loglikelihood", by_name[base]]
        for version in ("true_belief", "false_belief", "both"):
            up = (tuned[version] & ~plain[version]).sum()
            down = (plain[version] & ~tuned[version]).sum()
            tests.append({"version": version, "rises": up > down, "p": mcnemar(up, down)})
    tests = pd.DataFrame(tests)
    tests = tests[tests["rises"] & (pd.Series(holm([*tests["p"]])) < 0.05)]
    counts = tests["version"].value_counts()
    pattern = r"rise by more than chance in (\d+) and fall in (\d+); false beliefs rise in (\d+)"
    assert [counts["true_belief"], counts["false_belief"]] == [9, 1]
    assert numbers_in(text, pattern) == ["9", "1", "1"]


def test_simpletom_loses_from_mental_state_to_behavior(text):
    table = pd.read_csv(PUBLISHED / "simpletom/table2_main.csv")
    table = table.pivot(index="model", columns="question_type", values="accuracy")
    knowing = table[table["mental_state"] > 50]
    losses = knowing["mental_state"] - knowing["behavior"]
    assert (len(knowing), len(table)) == (9, 10)
    assert [losses.min(), losses.max()] == pytest.approx([11.5, 63.6])
    assert f"**{len(knowing)} of SimpleToM's {len(table)} models answer that" in text
    assert f"({losses.idxmin()}, asked" in text and f"({losses.idxmax()})" in text
    assert "lose .115" in text and ".636" in text


def test_keys_and_tables_err(text, verdicts):
    table = pd.read_csv(PUBLISHED / "bigtom/table7_models.csv")
    keys = ["model", "variable", "initial_belief", "method"]
    wide = table.pivot(index=keys, columns="contingency", values="accuracy")
    parts = wide[["true_belief", "false_belief"]]
    # Shares are rounded to .01 (half of it each), and 200 templates are counted.
    too_low = wide["tb_and_fb"] < parts.sum(axis=1) - 1 - 0.0151
    too_high = wide["tb_and_fb"] > parts.min(axis=1) + 0.0101
    impossible = (too_low | too_high).sum()
    assert f"{impossible} of {len(wide)} joint scores" in text
    ledgers = [pd.read_csv(PUBLISHED / f"{name}/ledger.csv") for name in ("bigtom", "omnitom")]
    entries = pd.concat(ledgers)
    n_wrong = (entries["verdict"] == "wrong").sum()
    assert f"read {len(entries)} contested items" in text
    assert f"took {n_wrong} keys to be wrong; people have confirmed none" in text
    assert set(entries["confirmed_by"]) == {"nobody yet"}


def test_conclusions_that_change_with_corrected_keys(text, verdicts, results):
    table = pd.read_csv(PUBLISHED / "bigtom/verdicts_forward_belief.csv")
    table["item"] = table["row"].astype(str) + "/forward_belief/" + table["contingency"] + "/0"
    ledger = pd.read_csv(PUBLISHED / "bigtom/ledger.csv")
    is_wrong_key = table["item"].isin(ledger.loc[ledger["verdict"].eq("wrong"), "item"])
    # An unreadable answer stays unreadable.
    right = table["verdict"].eq("correct").mask(is_wrong_key, table["verdict"].eq("wrong"))
    changed = by_version(table.assign(right=right))
    before, after = (
        pd.concat([two_models(table), two_versions(table)]) for table in (verdicts, changed)
    )
    saved = pd.read_csv(results / "tables/real_models/conclusions.csv")
    saved = saved[saved["kind"] != "Tuned against base"]
    assert (before != after).sum() == (saved["released"] != saved["wrong keys corrected"]).sum()
    assert len(before) == len(saved)


def two_models(table: pd.DataFrame) -> pd.Series:
    """The sign of each clear difference between two models of a series, or 0."""
    signs = []
    for way, rows in table.groupby("scoring"):
        whole = rows.groupby("model").filter(lambda part: len(part) == 200)
        for version in ("true_belief", "false_belief", "both"):
            wide = whole[version].unstack("model").astype(bool)
            tests = []
            for a, b in combinations(wide.columns, 2):
                only = (wide[a] & ~wide[b]).sum(), (wide[b] & ~wide[a]).sum()
                tests.append({"of": f"{way} {version} {a} {b}", "sign": only[0] - only[1]})
                tests[-1]["p"] = mcnemar(*only)
            signs.append(clear(pd.DataFrame(tests)))
    return pd.concat(signs)


def two_versions(table: pd.DataFrame) -> pd.Series:
    """The sign of each clear difference between true and false belief in a model, or 0."""
    signs = []
    for way, rows in table.groupby("scoring"):
        tests = []
        for model, part in rows.groupby("model"):
            only = (
                (part["true_belief"] & ~part["false_belief"]).sum(),
                (part["false_belief"] & ~part["true_belief"]).sum(),
            )
            tests.append({"of": f"{way} {model}", "sign": only[0] - only[1], "p": mcnemar(*only)})
        signs.append(clear(pd.DataFrame(tests)))
    return pd.concat(signs)


def clear(tests: pd.DataFrame) -> pd.Series:
    is_clear = pd.Series(holm([*tests["p"]])) < 0.05
    signs = tests["sign"].clip(-1, 1).where(is_clear, 0).astype(int)
    return signs.set_axis(tests["of"])


def test_front_page_tells_of_all_models_but_baselines_the_users_first(text):
    [line] = [line for line in text.splitlines() if line.startswith("**This run.**")]
    places = [line.index(f"**{name}**") for name in ("mine", "other", "SmolLM2-135M")]
    assert places == sorted(places)
    assert "random" not in line.lower()
    assert line.count("its report card") == 3
    assert "**mine** does not pass the gate on BigToM" in line
    assert "**other** passes the gate on BigToM" in line
    [table] = [part for part in text.split("<details>") if "All chapters" in part]
    assert (table.count("/bigtom.ipynb)"), table.count("ipynb")) == (5, 5)


def test_pages_of_benchmarks_say_why_a_model_does_not_pass(results):
    findings = json.loads((results / "index/findings.json").read_text(encoding="utf-8"))
    assert "mine fails the check on BigToM" in findings["bigtom"]
    assert "same answer in .10 [.05, .15]" in findings["bigtom"]
    assert "other passes the check" in findings["bigtom"]


def test_each_figure_of_the_front_page_is_told_by_its_own_text(results):
    """A picture in the book takes its text from its cell, so a cell draws one."""
    notebook = nbformat.read(results / "index/00_index.ipynb", as_version=4)
    cells = [cell for cell in chapter(notebook).cells if "mystnb" in cell.metadata]
    assert len(cells) == 3  # SimpleToM is not in this run
    for cell in cells:
        assert sum("image/png" in output.get("data", {}) for output in cell.outputs) == 1


@pytest.mark.parametrize("name", ["00_index", "02_coverage"])
def test_links_that_a_cell_writes_lead_to_the_books_pages(name):
    """A cell's links start where executed notebooks lie."""
    cells = nbformat.read(ROOT / f"notebooks/{name}.ipynb", as_version=4).cells
    source = "".join(cell.source for cell in cells if cell.cell_type == "code")
    links = re.findall(r"\]\((\S+?)\)\"", source.replace("{path}", "notebooks/5_figures/b.ipynb"))
    pages = {"notebooks/5_figures/b.ipynb": "results/book/5_figures/b.html"}
    links = [link for link in links if "5_figures" in link or "{benchmark}" in link]
    assert links
    for link in links:
        text = f"[it]({link.replace('{benchmark}', 'b')})"
        here, there = f"results/notebooks/{name}.ipynb", f"results/book/{name}.ipynb"
        assert relink(text, here, there, pages) == "[it](5_figures/b.html)"
