"""`checks/fidelity.py`: the page has what the file says, and the file what was measured."""

import re

import fidelity
import pytest

from tomlab.records import deviations

EFFECTS = {deviation.id: deviation.effect for deviation in deviations.read()}


def test_the_page_has_the_list_as_the_file_has_it():
    page = fidelity.PAGE.read_text(encoding="utf-8")
    assert fidelity.with_list(page) == page, "python checks/fidelity.py --write"


def test_every_id_that_the_page_names_is_in_the_list():
    page = fidelity.PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"\b[A-Z]{3}-[1-9][0-9]*\b", page.partition(fidelity.BEGIN)[0]))
    assert named <= set(EFFECTS)
    assert len(named) > 20


@pytest.mark.parametrize(
    ("name", "phrase"), [pytest.param(*row, id=row[0]) for row in fidelity.without_a_run()]
)
def test_a_number_that_is_measured_stands_in_the_effect(name, phrase):
    assert fidelity.stands_in(phrase, EFFECTS[name])


def test_a_number_does_not_stand_in_a_longer_one():
    assert fidelity.stands_in("6 go on", "and 6 go on")
    assert not fidelity.stands_in("6 go on", "and 16 go on")
    assert not fidelity.stands_in("from .5", "from .53")


def test_a_page_without_its_marks_is_not_written():
    with pytest.raises(SystemExit, match="marks"):
        fidelity.with_list(f"# A page\n{fidelity.BEGIN}\n")
