"""What repeats would bring, as a sentence, a table and a figure."""

import numpy as np
import pandas as pd
import pytest

from tomlab.models.specs import model_spec
from tomlab.records.published import Wording
from tomlab.reporting import repeats
from tomlab.scoring.repeats import split

WORDING = Wording("Toy", {"plain": "plain", "cot": "chain of thought"}, groups="stories")


def scores(k: int = 4) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    rows = [
        {"group_id": f"g{group}", "item_id": f"g{group}/{item}", "method": m, "sample": s}
        for m in ("cot", "plain")
        for group in range(6)
        for item in range(3)
        for s in range(k)
    ]
    table = pd.DataFrame(rows)
    return table.assign(score=draw.integers(0, 2, len(table)).astype(float))


@pytest.fixture
def found():
    both = scores()
    return {m: split(both[both["method"] == m], "group_id") for m in ("plain", "cot")}


@pytest.fixture
def displayed(monkeypatch):
    shown = []
    monkeypatch.setattr(repeats, "display", shown.append)
    monkeypatch.setattr(repeats.plotting, "show", lambda *figure: shown.append(figure))
    return shown


def entry(**options):
    return model_spec("toy", {"toy": {"provider": "openai", "model": "toy", **options}})


def test_table_prints_parts_share_half_widths_and_the_number_that_pays(found):
    table = repeats.table(found, WORDING)
    row = table.printed.set_index("Method").loc["plain"]
    one = found["plain"]
    assert row["Between repeats"] == f"{one.repeats:.3f}"
    assert row["Between questions"].endswith("†") == ("questions" in one.below_0)
    assert row["±, K = 5"] == f"{one.half_width(5):.3f}"
    assert row["n"] == "72/6"
    assert row["K that pays"] == f"{one.pays():.0f}"
    assert table.tidy.set_index("method").loc["cot", "value"] == found["cot"].share.value
    assert "Where questions are left over" in table.notes[1]


def test_unknown_half_widths_are_dashes():
    one = split(scores().query("group_id == 'g0' and method == 'cot'"), "group_id")
    row = repeats.table({"cot": one}, WORDING).printed.loc[0]
    assert row["±, K = 1"] == row["K that pays"] == "–"


def test_figure_has_a_line_a_method_a_ring_where_it_pays_and_named_axes(found):
    figure, caption = repeats.figure(found, WORDING)
    [axes] = figure.axes
    lines = {line.get_gid(): line for line in axes.lines}
    assert list(lines) == ["plain", "cot"]
    for method, line in lines.items():
        assert list(line.get_xdata()) == list(repeats.REPEATS)
        assert line.get_ydata()[0] == found[method].half_width(1)
        assert line.get_color() == repeats.plotting.FEW  # of six groups
    assert caption.endswith("Grey: fewer than 10 stories, no finding.")
    rings = [float(ring.get_offsets()[0, 0]) for ring in axes.collections]
    assert rings == [one.pays() for one in found.values()]
    assert "K" in axes.get_xlabel()
    assert axes.get_ylabel().startswith("Half-width")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "plain (n = 72/6)",
        "cot (n = 72/6)",
    ]
    assert "n = 72 answers each; in brackets answers/stories" in caption


@pytest.mark.parametrize(
    ("k", "options"),
    [(1, {"temperature": 0.7}), (4, {"temperature": 0}), (4, {})],
    ids=["asked once", "temperature 0", "the protocol's temperature"],
)
def test_without_repeats_or_a_temperature_one_sentence_says_how(k, options, displayed):
    repeats.show(scores(k), "group_id", WORDING, entry(**options))
    [sentence] = displayed
    assert "run.samples" in sentence.data
    assert "temperature" in sentence.data


def test_baseline_has_no_temperature(displayed):
    baseline = model_spec("random", {"random": {"provider": "baseline", "model": "random"}})
    repeats.show(scores(), "group_id", WORDING, baseline)
    assert len(displayed) == 1


def test_with_repeats_methods_stand_in_their_order(displayed):
    repeats.show(scores(), "group_id", WORDING, entry(temperature=None))
    table, (figure, _) = displayed
    assert table.data.index("plain") < table.data.index("chain of thought")
    assert len(figure.axes) == 1
