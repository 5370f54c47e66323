"""What a calibration leaves in its folder."""

import json

import pandas as pd
from matplotlib.colors import same_color

from tomlab.reporting import judges
from tomlab.reporting.plotting import COLOURS


def test_winner_and_tables_are_written(tmp_path):
    table = pd.DataFrame({"judge": ["exact"], "agreement": [0.5]})
    text = judges.save(tmp_path, {"judge": "exact", "margin": None}, agreement=table)
    assert text == (tmp_path / "winner.json").read_text()
    assert json.loads(text) == {"judge": "exact", "margin": None}
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "agreement.csv"), table)


def by_kind(**kinds: tuple[bool, float]) -> pd.DataFrame:
    """One row a kind of case: its truth, and how much of it the judge gets right."""
    rows = [(name, *told) for name, told in kinds.items()]
    found = pd.DataFrame(rows, columns=["kind", "truth", "agreement"])
    ends = {"ci_low": found["agreement"] / 2, "ci_high": found["agreement"] / 2 + 0.5}
    return found.sort_values("agreement").assign(judge="embedding", n=40, n_groups=9, **ends)


def test_errors_by_kind_are_red_and_the_worst_kind_stands_on_top():
    found = by_kind(paraphrase=(True, 0.875), negation=(False, 0.0), sibling=(False, 0.25))
    figure, caption = judges.by_kind(found, "OmniToM, constructed edits", "stories")
    yes, no = figure.axes
    assert [label.get_text() for label in yes.get_yticklabels()] == [
        "negation",
        "sibling",
        "paraphrase",
    ]
    red = [bar for bar in no.patches if same_color(bar.get_facecolor(), COLOURS["red"])]
    wrong = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in red}
    assert wrong == {0: 1.0, 1: 0.75}
    counts = [text.get_text() for text in no.texts if text.get_gid() == "n"]
    assert counts == ["40/9", "40/9"]
    assert "negation, where no is right (.00 [.00, .50] right, n = 40); sibling" in caption
    assert "embedding can't see" in caption and "paraphrase" not in caption


def test_without_a_kind_that_is_mostly_wrong_the_worst_one_is_named():
    found = by_kind(paraphrase=(True, 0.875), sibling=(False, 0.75))
    _, caption = judges.by_kind(found, "BigToM", "templates")
    assert "at least half of every kind right; least often sibling, where no is right" in caption
