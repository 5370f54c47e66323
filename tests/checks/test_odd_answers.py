"""`checks/odd_answers.py`: no form of an answer loses a row, and one that nobody reads does."""

from importlib.util import module_from_spec, spec_from_file_location

import pytest

from tomlab.benchmarks.omnitom.items.records import read_records
from tomlab.paths import DATA, ROOT

_SPEC = spec_from_file_location("odd_answers", ROOT / "checks" / "odd_answers.py")
script = module_from_spec(_SPEC)
_SPEC.loader.exec_module(script)
RECORDS = read_records(DATA / "omnitom" / "stories.jsonl")


@pytest.mark.parametrize("form", script.FORMS)
def test_no_row_of_an_odd_form_is_lost(form):
    found = script.counted(form, RECORDS, 25)
    assert found["rows"] > 100
    assert (found["lost"], found["misread"]) == (0, 0)


def test_rows_that_cannot_be_read_are_counted(monkeypatch):
    no_belief = [["Actor", "Belief", "Order"], ["Ines", "", "1"]]
    forms = {"no belief": lambda *_: no_belief, "order 7": script.orders(lambda _: "7")}
    monkeypatch.setattr(script, "FORMS", forms)
    lost, misread = (script.counted(form, RECORDS, 25) for form in forms)
    assert lost["lost"] == lost["rows"] > 100
    assert misread["misread"] == misread["rows"] > 100
