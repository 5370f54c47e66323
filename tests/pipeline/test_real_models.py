"""The page on real models, run as the book runs it: what it writes down of others' verdicts."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from tomlab.paths import DATA

SERIES = {"generated": 9, "loglikelihood": 20}


@pytest.fixture(scope="module")
def root(front) -> Path:
    return front


def table(root: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(root / f"results/tables/real_models/{name}.csv")


def test_page_warns_of_nothing_and_its_links_lead_to_files(root):
    cells = nbformat.read(root / "results/index/05_real_models.ipynb", as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []
    # Links start where the book takes the executed notebooks of all stages to lie.
    text = (root / "results/index/05_real_models.ipynb").read_text(encoding="utf-8")
    links = re.findall(r'href=\\"(\S+?\.(?:png|pdf|csv))\\"', text)
    assert len(links) == 3 * 6
    (root / "results/notebooks").mkdir(exist_ok=True)
    assert [link for link in links if not (root / "results/notebooks" / link).exists()] == []


def test_shares_that_move_when_the_wrong_key_is_corrected_move_by_one_template(root):
    """Counted from the file of verdicts: false belief of row 150 alone has a key that is wrong."""
    moved = table(root, "corrected").set_index(["series", "model", "contingency", "keys"])["value"]
    change = moved.xs("corrected", level="keys") - moved.xs("released", level="keys")
    given = pd.read_csv(DATA / "published/bigtom/verdicts_forward_belief.csv")
    given = given.query("row == 150").pivot(
        index=["scoring", "model"], columns="contingency", values="verdict"
    )
    false = change.xs("false_belief", level="contingency")
    assert len(false) == len(given) == 28
    assert (false > 0).sum() == given["false_belief"].eq("wrong").sum() == 27
    both = change.xs("both", level="contingency")
    assert len(both) == given["true_belief"].eq("correct").sum() == 27
    assert change.abs().round(9).eq(0.005).all()
    assert "true_belief" not in change.index.get_level_values("contingency")


def test_conclusions_are_those_of_the_page_and_few_change(root):
    """Against the table on true and false belief, whose p values `statsmodels` computes."""
    signs = table(root, "conclusions").set_index(["series", "kind", "of"])
    for name in SERIES:
        rows = table(root, f"harder_{name}").set_index("model")
        expected = np.sign(rows["value"]).where(rows["p_holm"] < 0.05, 0)
        own = signs.loc[name].loc["True against false belief", "released"]
        assert own.to_dict() == expected.to_dict()
    changed = signs[signs["released"] != signs["wrong keys corrected"]]
    assert len(changed) == len(table(root, "conclusions_changed")) == 5
