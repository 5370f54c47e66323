"""`checks/claims.py`: what `make claims` prints of the page's table."""

import claims as script
import pandas as pd

COLUMNS = ["benchmark", "evidence", "id", "verdict", "why", "scope", "over"]
NUMBERS = ["comparisons", "in_order", "supporting", "contradicting", "lowest", "highest"]
NUMBERS += ["difference", "ci_low", "ci_high", "p_holm"]


def printed_lines(monkeypatch, capsys, rows):
    """The lines that `make claims` prints, by their first word."""
    table = pd.DataFrame([["bigtom", *row] for row in rows], columns=[*COLUMNS, *NUMBERS])
    monkeypatch.setattr(script, "verdicts", lambda: table)
    assert script.main() == 0
    return {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}


def test_a_row_has_its_scope_counts_and_interval(monkeypatch, capsys):
    about = ["", "most models", "most"]
    numbers = [12, 9, 7, 1, -0.1, 0.4]
    rows = [
        ["Paper", "a", "holds", *about, *numbers, 0.25, 0.125, 0.375, 0.01],
        ["Paper", "b", "printed order only", *about, *numbers, 0.25, None, None, None],
    ]
    lines = printed_lines(monkeypatch, capsys, rows)
    parts = ["holds †", "most models", "9 of 12", "7 support", "1 contradict", "[0.125, 0.375]"]
    for part in parts:
        assert part in lines["a"]
    assert "9 of 12" in lines["b"] and "-0.1 to 0.4" in lines["b"]
    assert "support" not in lines["b"] and "†" not in lines["b"]


def test_what_the_gate_stops_is_counted_apart_from_what_nobody_asked(monkeypatch, capsys):
    no_numbers = [None] * len(NUMBERS)
    rows = [
        ["This", "a", "not testable here", "the gate stops it", "all models", "all", *no_numbers],
        ["This", "b", "not testable here", None, "all models", "all", *no_numbers],
    ]
    lines = printed_lines(monkeypatch, capsys, rows)
    assert "a" not in lines and "b" not in lines  # no row without a verdict
    assert "1 stopped by the gate" in lines["This:"]
    assert "1 not testable here" in lines["This:"]
