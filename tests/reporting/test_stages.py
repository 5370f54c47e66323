"""What the pages of a stage show alike: tables as texts, and one figure."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from tomlab.benchmarks.bigtom import METHODS
from tomlab.judging.agreement import agreement_by_judge, agreement_by_kind
from tomlab.records.published import Wording
from tomlab.reporting import stages

WORDING = Wording("FANToM", {})
# Two judges of four answers, two of each kind; the second one gives no decision on the last.
UNITS = {"group": ["a", "b", "c", "d"], "unit": ["a1", "b1", "c1", "d1"], "truth": [1, 0, 1, 0]}
DECISIONS = pd.concat(
    [
        pd.DataFrame(UNITS | {"judge": "first", "decision": [True, False, True, True]}),
        pd.DataFrame(UNITS | {"judge": "second", "decision": [True, False, False, None]}),
    ]
)


def test_prompts_are_named_once_for_all_methods_that_use_them():
    one = stages.prompts_of(METHODS, ["0-shot"], {}, WORDING)
    two = stages.prompts_of(METHODS, ["0-shot", "0-shot"], {}, WORDING)
    assert repr(one) == repr(two)


def test_code_is_shown_as_text_and_not_as_markup():
    shown = stages.source(stages.prompts)
    assert "def prompts(" in repr(shown)
    assert "<pre>" in shown.data


def test_items_whose_answers_say_the_same_are_listed_with_a_sentence():
    item = {"item_id": "1", "group_id": "g", "source": "authored", "question_type": "belief"}
    same = pd.DataFrame([item | {"choices": ["It is red.", "it is red"], "answer": "It is red."}])
    other = pd.DataFrame([item | {"choices": ["It is red.", "It is blue."], "answer": "x"}])
    assert "In 1 of 1 items" in repr(stages.same_keys(same, WORDING))
    assert "In none of 1 items" in repr(stages.same_keys(other, WORDING))


def test_qualities_are_texts_with_intervals_under_their_heads():
    agreement = agreement_by_judge(DECISIONS)
    texts = stages.qualities(agreement, {"agreement": "Agreement", "recall": "Recall"})
    assert list(texts) == ["Agreement", "Recall"]
    assert texts["Agreement"].str.startswith(".75 [").iloc[0]


def test_bars_show_what_is_right_by_kind_and_truth():
    kinds = pd.Series({"a1": "verbatim", "b1": "verbatim", "c1": "hedged", "d1": "denied"})
    by_kind = agreement_by_kind(DECISIONS, "first", kinds)
    grid = stages.bars_by_kind(by_kind, {True: "means it", False: "does not"})
    assert [axes.get_title() for axes in grid.axes.flat] == ["means it", "does not"]
    widths = [bar.get_width() for bar in grid.axes.flat[1].patches]
    assert np.isclose(sum(widths), 2)  # two kinds have answers that do not mean it
    plt.close(grid.figure)
