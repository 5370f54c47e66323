"""Titles and the lines below a figure: what is found, and nothing where nothing is."""

import pandas as pd
import pytest

from tomlab.reporting import headings
from tomlab.reporting.printed import PAPER, RUN

SAYS = {
    "above": "{who} beat chance on {what}",
    "below": "{who} fell below chance on {what}",
    "none": "{who} can be told from chance",
    "few": "Accuracy on beliefs, paper and this run",
}


def points(*rows, n_groups=20):
    """Rows of model, what, value, ci_low, ci_high; those without an interval are the paper's."""
    frame = pd.DataFrame(rows, columns=["model", "what", "value", "ci_low", "ci_high"])
    source = frame["ci_low"].isna().map({True: PAPER, False: RUN})
    return frame.assign(source=source, n=40, n_groups=n_groups)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("toy", "a", 0.7, 0.6, 0.8), ("toy", "b", 0.8, 0.7, 0.9)], "toy beat chance on a and b"),
        (
            [("toy", "a by x", 0.7, 0.6, 0.8), ("toy", "a by x*", 0.8, 0.7, 0.9)],
            "toy beat chance on a by x and x*",
        ),
        (
            [("toy", "a", 0.7, 0.6, 0.8), ("toy", "b", 0.2, 0.1, 0.3)],
            "toy beat chance on a; fell below chance on b",
        ),
        (
            [("toy", "a", 0.5, 0.4, 0.6), ("omniscient", "a", 1, 0.9, 1)],
            "toy can be told from chance",
        ),
        (
            [("x", "a", 0.7, 0.6, 0.8), ("y", "a", 0.7, 0.6, 0.8), ("z", "a", 0.5, 0.4, 0.6)],
            "2 of 3 models beat chance on a",
        ),
        ([("gpt-4", "a", 0.9, None, None)], "Accuracy on beliefs, paper and this run"),
    ],
)
def test_a_title_says_what_lies_above_or_below(rows, told):
    assert headings.title(points(*rows), 0.5, SAYS) == told


def test_of_too_few_groups_nothing_is_found():
    few = points(("toy", "a", 0.7, 0.6, 0.8), n_groups=9)
    assert headings.title(few, 0.5, SAYS) == SAYS["few"]


def test_the_lines_below_have_the_papers_ends_and_this_runs_numbers():
    rows = [("gpt-4", "a", 0.9, None, None), ("llama", "a", 0.4, None, None)]
    rows += [("toy", "a", 0.7, 0.6, 0.8), ("random", "a", 0.5, 0.4, 0.6)]
    assert headings.said(points(*rows), "Table 7", "Why.") == {
        "paper": "a .40 (llama) to .90 (gpt-4) (Table 7).",
        "run": "toy: a .70 [.60, .80] (n = 40/20).",
        "not shown": "Why.",
    }
    alone = headings.said(points(*rows[:2]), "Table 7", "Why.")
    assert alone["run"] == "This run has no such answers."
