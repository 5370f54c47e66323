"""A figure as it is saved and displayed: what stands below it, what is folded, what is linked."""

import pandas as pd
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure

from tomlab import paths
from tomlab.reporting import plotting

SAID = {"paper": "gpt-4 .98 (Table 7).", "run": "toy .31.", "not shown": "Why < that is."}
NOTES = ["* fails a check: a < b."]


def figure(title="Toy beat chance on beliefs"):
    drawn = Figure(figsize=(3, 2), layout="constrained")
    drawn.subplots().plot([0, 1])
    plotting.entitle(drawn, title)
    return drawn


@pytest.fixture
def shown(monkeypatch):
    """What is displayed, by MIME type, with the metadata of the picture."""
    shell = InteractiveShell.instance()
    published = CapturingDisplayPublisher()
    monkeypatch.setattr(shell, "display_pub", published)
    yield published.outputs
    InteractiveShell.clear_instance()


def test_all_that_stands_with_a_figure_is_saved_beside_it(tmp_path):
    data = pd.DataFrame({"model": ["toy"], "value": [0.31]})
    saved = plotting.save(figure(), tmp_path, "figure3", "Accuracy. n = 3.", NOTES, SAID, data)
    texts = {path.name: path.read_text() for path in saved if path.suffix in (".txt", ".csv")}
    assert texts == {
        "figure3.caption.txt": "Toy beat chance on beliefs\n\nAccuracy. n = 3.\n",
        "figure3.notes.txt": "The paper said: gpt-4 .98 (Table 7).\nThis run says: toy .31.\n"
        "Not shown: Why < that is.\n* fails a check: a < b.\n",
        "figure3.csv": "model,value\ntoy,0.31\n",
    }


def test_without_notes_and_data_there_are_three_files(tmp_path):
    names = [path.name for path in plotting.save(figure(""), tmp_path, "a", "Accuracy.")]
    assert names == ["a.png", "a.pdf", "a.caption.txt"]
    assert (tmp_path / "a.caption.txt").read_text() == "Accuracy.\n"


def test_the_page_has_words_links_and_folded_notes(shown, monkeypatch, tmp_path):
    monkeypatch.setenv("TOMLAB_STAGE", "5_figures/bigtom.ipynb")
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    data, caption = pd.DataFrame({"value": [0.31]}), "Who believes what. This run: n = 3."
    folder, by = tmp_path / "figures" / "toy", plotting.looks
    plotting.draw(folder, "a", figure(), caption, NOTES, SAID, data, by)
    picture, below = shown
    told = picture["metadata"]["image/png"]["alt"]
    assert told == "Toy beat chance on beliefs. Who believes what."
    html = below["data"]["text/html"]
    assert "<li><b>Not shown</b>: Why &lt; that is.</li>" in html
    for kind in ("png", "pdf", "csv"):
        assert f'href="../../figures/toy/a.{kind}"' in html
    assert "/src/tomlab/reporting/plotting.py#L" in html
    before, folded = html.split("<details>")
    assert "a &lt; b" in folded and "a &lt; b" not in before


def test_a_long_title_makes_the_figure_higher_and_is_not_cut_off():
    words = "no model of this run gets both versions of a belief right more often than a guess "
    low, high = figure("short"), figure(words * 2)
    assert high.get_figheight() > low.get_figheight()
    high.draw_without_rendering()
    wide = Figure(figsize=(plotting.WIDTH, 2), layout="constrained")
    wide.subplots()
    plotting.entitle(wide, words * 2)
    wide.draw_without_rendering()
    box = wide._suptitle.get_window_extent()
    assert wide.bbox.x0 <= box.x0 < box.x1 <= wide.bbox.x1
    assert wide.axes[0].get_window_extent().y1 < box.y0


def test_lines_of_a_title_are_of_like_length_and_names_stay_whole():
    first, second = figure("smollm2-135m " * 7).get_suptitle().split("\n")
    assert first.split() == ["smollm2-135m"] * 4 and second.split() == ["smollm2-135m"] * 3
