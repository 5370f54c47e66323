"""Which option an answer names, held against what a reader makes of real answers."""

from pathlib import Path

import pytest
import yaml

from tomlab.scoring.options import read_answer

FORMS = yaml.safe_load(Path(__file__).with_name("option_forms.yaml").read_text("utf-8"))
# The first "answer is" that names a key counts, so that the denial before it confirms nothing.
READ_OTHERWISE = ["(A) No, the answer is not (B).\n\nThe correct answer is (B"]


def read(text, how="ended", prompt="plain"):
    return read_answer(text, "length" if how == "cut off" else "stop", prompt == "cot").key


def test_real_forms_are_read_as_a_reader_does():
    assert len(FORMS) >= 200
    told = [form for form in FORMS if (read(form[3], *form[1:3]) or "none") != form[0]]
    assert [text for *_, text in told] == READ_OTHERWISE


@pytest.mark.parametrize("how", ["ended", "cut off"])
@pytest.mark.parametrize(
    "denial",
    ["The answer is not (A)", "The answer isn't (A).", "The answer is not (A) or", "The answer is"],
)
def test_denial_takes_nothing_back(denial, how):
    assert read(f"(B) Reasonable. {denial}", how) == "B"
    assert read(f"The answer is (B). {denial}", how) == "B"


def test_denial_that_names_another_key_chooses_that():
    assert read("She looked. The answer is not (A) but (B).", prompt="cot") == "B"
    assert read("(B) and not (A)", "cut off") == "B"


def test_denial_alone_chooses_nothing():
    assert read("The answer is not (A).") is None
    assert read("The answer is not (A).", prompt="cot") is None


def test_key_that_leads_is_corrected_by_what_an_ended_answer_says_last():
    assert read("(B) Yes. The answer is (B). I mean, the answer is (A).") == "A"


def test_token_limit_does_not_choose():
    assert read("(B) Yes. The answer is (B). The answer is (A)", "cut off") == "B"
    assert read("(A) No, the answer is (B). Mary is", "cut off") == "B"


def test_chain_of_thought_that_was_cut_off_needs_its_closing_words():
    assert read("(B) pay. The answer is (B). The answer is not", "cut off", "cot") is None
    assert read("Therefore, the answer is: (B). The answer is not", "cut off", "cot") == "B"


def test_several_keys_behind_the_last_opening_stay_undecided():
    assert read("The answer is (A). Hm, the answer is (A) or (B).") is None
