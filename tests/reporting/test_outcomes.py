"""What became of each answer: the bars of a figure, and how its caption tells them."""

import pandas as pd
import pytest

from tomlab.errors import InputError
from tomlab.records.published import Wording
from tomlab.records.tidy import OUTCOMES
from tomlab.reporting import says
from tomlab.reporting.outcomes import counts, outcomes, two_rules

WORDING = Wording("Demo", {"plain": "plain", "cot": "CoT"}, notes={"": "Always.", "two": "Asked."})


def metrics(*methods):
    keys = {"benchmark": "demo", "model": "m", "metric": "outcome_rate", "n": 40, "n_groups": 12}
    rows = [
        {**keys, "method": method, "condition": outcome, "value": value}
        for method in methods
        for outcome, value in (("correct", 0.75), ("refused", 0.25))
    ]
    return pd.DataFrame(rows)


def test_bars_have_every_outcome_and_methods_in_the_order_of_the_wording():
    figure, caption, notes, *_ = outcomes(metrics("own", "cot", "plain"), WORDING)
    bars = {
        part.get_label(): [bar.get_width() for bar in part] for part in figure.axes[0].containers
    }
    assert list(bars) == list(OUTCOMES)
    assert (bars["correct"], bars["refused"], bars["error"]) == ([0.75] * 3, [0.25] * 3, [0] * 3)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["m", "plain", "CoT", "own"]
    assert caption.startswith(
        "Demo: what became of each answer of m, as shares of all n = 40 answers"
    )
    assert notes[0].endswith("the request failed.") and notes[1:] == ["Always."]
    assert figure.get_suptitle() == "m: .25 of the answers could not be scored, by method"


def test_a_note_of_a_method_is_told_where_it_was_asked():
    assert outcomes(metrics("two"), WORDING).notes[1:] == ["Always.", "Asked."]


def test_the_share_without_a_verdict_is_told_if_the_benchmark_wants_it():
    told = Wording("Demo", {}, unit="output", tells_unscored=True)
    drawn = outcomes(metrics("plain"), told)
    assert "each output of m" in drawn.caption
    assert drawn.notes[-1].endswith("m .25.")


def test_metrics_without_outcome_rates_are_refused():
    with pytest.raises(InputError, match="no rows of benchmark 'demo' with metric 'outcome_rate'"):
        outcomes(metrics("plain").assign(metric="accuracy"), WORDING)
    with pytest.raises(InputError, match="benchmarks there: other"):
        outcomes(metrics("plain").assign(benchmark="other"), WORDING)


def test_counts_are_in_words_and_leave_out_what_no_answer_has():
    table = pd.DataFrame({"truncated": [2], "correct": [1], "error": [0]}, index=["plain"])
    counted = counts(table)
    assert counted.to_dict("records") == [{"Right": 1, "Wrong": 0, "Cut off": 2}]


def test_two_readings_are_told_of_enough_groups_only():
    rows = [
        {"method": method, "metric": metric, "value": value, "n_groups": n}
        for method, n, ours in (("plain", 40, 0.25), ("cot", 9, 0.0))
        for metric, value in (("outcome_rate", ours), ("released_rule", 0.5))
    ]
    both = two_rules(pd.DataFrame(rows))
    assert [one.to_dict() for one in both] == [{"plain": 0.25}, {"plain": 0.5}]
    told = says.two_rules(*both, WORDING)
    assert told.endswith("by plain: .25 by this project's rule, .50 by the released one.")
    none = two_rules(pd.DataFrame(rows).assign(n_groups=3))
    assert says.two_rules(*none, WORDING) == says.few(WORDING)
