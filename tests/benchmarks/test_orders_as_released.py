"""`run.orders_as: release`: the order of two options as the released code draws it."""

import random
from collections.abc import Iterator

import pandas as pd
import pytest

from bigtom_templates import MEI
from fantom_sets import question_set
from tomlab.benchmarks import bigtom, fantom
from tomlab.benchmarks.bigtom.items.templates import read_templates, template_table
from tomlab.errors import InputError
from tomlab.paths import ROOT

RELEASED_BIGTOM = ROOT.parent / "shared" / "datasets" / "bigtom" / "bigtom.csv"
CONDITION = ["variable", "condition", "initial_belief"]
# Which option is right in the first twenty choices of the released FANToM, in the order of the
# file, as a public copy of its questions with their options shows them; "?" where the words of the
# options alone do not tell which is right.
FIRST_CHOICES_OF_FANTOM = "aa?bbbb??abababaabba"


def templates_of(names: str) -> pd.DataFrame:
    rows = []
    for letter in names:
        row = {field: text.replace("Mei", f"Mei{letter}") for field, text in MEI.items()}
        rows.append(row | {"template_id": letter})
    return template_table(rows)


def letters_by_the_released_script(templates: int) -> str:
    """Its loop over the rows of one condition, with the module's own random numbers."""
    state = random.getstate()
    random.seed(0)
    letters = ""
    for _ in range(templates):
        answers = ["true answer", "wrong answer"]
        random.shuffle(answers)
        letters += "ab"[answers.index("true answer")]
    random.setstate(state)
    return letters


def letters_by_condition(items: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """The letters of the options that the release counts as right, in the order of the file."""
    for (variable, *_), cell in items.groupby(CONDITION, sort=False):
        letters = ""
        for item in cell.to_dict("records"):
            letter = bigtom.KEYS[list(item["choices"]).index(item["answer"])]
            if variable == "percept_to_belief":
                # Here the release counts the other option as right.
                letter = "ba"["ab".index(letter)]
            letters += letter
        yield variable, letters


def test_bigtom_draws_the_same_order_in_every_condition_as_the_released_script():
    items = bigtom.compose(templates_of("abcdefghijklmnop"), orders_as="release")
    found = dict(letters_by_condition(items))
    assert set(found.values()) == {letters_by_the_released_script(16)}
    assert len(found) == 4


@pytest.mark.skipif(not RELEASED_BIGTOM.exists(), reason="needs ../shared/datasets/bigtom")
def test_released_bigtom_has_the_released_order_of_all_5000_items():
    items = bigtom.read_released(RELEASED_BIGTOM, orders_as="release")
    expected = letters_by_the_released_script(len(read_templates(RELEASED_BIGTOM)))
    assert len(items) == 5000
    for _, letters in letters_by_condition(items):
        assert letters == expected


def test_fantom_puts_the_right_option_where_a_public_copy_of_the_release_has_it():
    sets = [question_set(f"{number}-0-0") for number in range(10)]  # two choices each
    items = fantom.compose(sets, orders_as="release")
    choices = items[items["question_type"] == "belief_choice"]
    letters = [
        fantom.KEYS[list(item["choices"]).index(item["answer"])]
        for item in choices.to_dict("records")
    ]
    compared = zip(letters, FIRST_CHOICES_OF_FANTOM, strict=True)
    assert all(letter == known for letter, known in compared if known != "?")


def test_released_order_depends_on_no_seed_of_ours_and_keeps_every_option():
    for benchmark, records in ((bigtom, templates_of("abc")), (fantom, [question_set()])):
        first = benchmark.compose(records, 0, orders_as="release")
        again = benchmark.compose(records, 7, orders_as="release")
        pd.testing.assert_frame_equal(first, again)
        by_seed = benchmark.compose(records, 0)
        for ours, theirs in zip(by_seed["choices"], first["choices"], strict=True):
            assert sorted(ours) == sorted(theirs)


def test_another_word_for_whose_order_is_an_error():
    with pytest.raises(InputError, match="expected 'ours' or 'release'"):
        bigtom.compose(templates_of("a"), orders_as="released")


@pytest.mark.skipif(not RELEASED_BIGTOM.exists(), reason="needs ../shared/datasets/bigtom")
@pytest.mark.parametrize(
    ("orders_as", "low", "high"), [("release", 0.51, 0.53), ("ours", 0.2, 0.3)]
)
def test_always_picking_the_second_option_has_both_versions_right(orders_as, low, high):
    """In half of the templates with the release's orders, in a quarter with ours."""
    items = bigtom.read_released(RELEASED_BIGTOM, orders_as=orders_as)
    items = items[items["condition"].isin(["true_belief", "false_belief"])]
    is_second = [
        list(choices)[1] == answer
        for choices, answer in zip(items["choices"], items["answer"], strict=True)
    ]
    both = items.assign(right=is_second).query("variable != 'percept_to_belief'")
    pairs = both.groupby(["variable", "initial_belief", "group_id"])["right"].all()
    assert low < pairs.mean() < high
