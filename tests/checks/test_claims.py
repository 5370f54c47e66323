"""`checks/claims.py`: what `make claims` prints of the page's table."""

from importlib.util import module_from_spec, spec_from_file_location

import pandas as pd

from tomlab.paths import ROOT

_SPEC = spec_from_file_location("claims", ROOT / "checks" / "claims.py")
script = module_from_spec(_SPEC)
_SPEC.loader.exec_module(script)


def test_what_the_gate_stops_is_told_apart_from_what_nobody_asked(monkeypatch, capsys):
    no, gate = "not testable here", "the gate stops it"
    rows = [("a", no, gate, None), ("b", no, None, None), ("c", "holds", None, 0.01)]
    table = pd.DataFrame(rows, columns=["id", "verdict", "why", "p_holm"])
    table = table.assign(benchmark="bigtom", evidence="Taken logs")
    monkeypatch.setattr(script, "found", lambda: table)
    assert script.main() == 0
    told = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert "stopped by the gate" in told["a"] and no in told["b"] and "holds †" in told["c"]
