"""How much of our prompts is word for word a printed one."""

import json

import prompt_overlap
import pytest

from tomlab.asking import prompts
from tomlab.paths import ROOT

PAPER = ROOT / "../shared/seeds/omnitom.txt"
BASE = "Level 3 Zero-Shot Base Prompt"
PRINTED = {
    "omnitom/extract-L3": (f"Extraction: {BASE}", "### Stage 1"),
    "omnitom/label-L3": (f"Labeling: {BASE}", "### Stage 2"),
    "judges/align-L3": (f"Judge: {BASE}", "### Semantic"),
}


@pytest.mark.parametrize(
    ("ours", "printed", "overlap"),
    [
        ("Read the story.", "read, the STORY", 1),
        ("Read the story.", "Write a table", 0),
        ("one two three four", "one two five six", 0.5),
        ("one two", "two one", 0.5),  # order counts
    ],
)
def test_overlap_is_of_words_in_their_order(ours, printed, overlap):
    assert prompt_overlap.overlap(ours, printed) == overlap


def test_the_evaluation_page_gives_the_overlap_with_the_papers_prompts():
    if not PAPER.is_file():
        pytest.skip("the paper's text is not here")
    text = PAPER.read_text(encoding="utf-8")
    page = ROOT / "notebooks/3_evaluation/omnitom.ipynb"
    opening = "".join(json.loads(page.read_text(encoding="utf-8"))["cells"][0]["source"])
    for name, (start, end) in PRINTED.items():
        printed = text.partition(start)[2].partition(end)[0]
        value = prompt_overlap.overlap(prompts.load(name), printed)
        assert f"{value:.2f}"[1:] in opening


def test_the_command_says_it_of_a_file(tmp_path, capsys):
    path = tmp_path / "printed.txt"
    path.write_text(prompts.load("omnitom/extract-L3"), encoding="utf-8")
    assert prompt_overlap.main(["omnitom/extract-L3", str(path)]) == 0
    assert capsys.readouterr().out == "omnitom/extract-L3: 1.00\n"
    assert prompt_overlap.main(["omnitom/extract-L9", str(path)]) == 1
