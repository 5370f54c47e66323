"""`run.orders_as: release`: the order of two options as the released code draws it."""

import random

import pandas as pd
import pytest

from bigtom_templates import divers
from fantom_sets import question_set
from tomlab.benchmarks import bigtom, fantom
from tomlab.paths import ROOT

RELEASED_BIGTOM = ROOT.parent / "shared" / "datasets" / "bigtom" / "bigtom.csv"
# Which option is right in the first twenty choices of the released FANToM, in the order of the
# file, as a public copy of its questions with their options shows them; "?" where the words of the
# options alone do not tell which is right.
FIRST_CHOICES_OF_FANTOM = "aa?bbbb??abababaabba"

needs_release = pytest.mark.skipif(
    not RELEASED_BIGTOM.exists(), reason="needs ../shared/datasets/bigtom"
)


def letters_by_the_released_script(n: int) -> str:
    """Its loop over the rows of one condition."""
    draw = random.Random(0)
    letters = ""
    for _ in range(n):
        answers = ["true answer", "wrong answer"]
        draw.shuffle(answers)
        letters += "ab"[answers.index("true answer")]
    return letters


def letters_of(items: pd.DataFrame) -> str:
    """The letters of the right options, in the order of the file."""
    choices = zip(items["choices"], items["answer"], strict=True)
    return "".join("ab"[list(options).index(answer)] for options, answer in choices)


def assert_orders_are_released(items: pd.DataFrame):
    for (variable, *_), cell in items.groupby(["variable", "condition", "initial_belief"]):
        expected = letters_by_the_released_script(len(cell))
        if variable == "percept_to_belief":
            # Here the release counts the other option as right.
            expected = expected.translate(str.maketrans("ab", "ba"))
        assert letters_of(cell) == expected


def test_bigtom_draws_the_same_order_in_every_condition_as_the_released_script():
    items = bigtom.compose(divers(16), orders_as="release")
    assert_orders_are_released(items)


@needs_release
def test_released_bigtom_has_the_released_order_of_all_5000_items():
    items = bigtom.read_released(RELEASED_BIGTOM, orders_as="release")
    assert len(items) == 5000
    assert_orders_are_released(items)


def test_fantom_puts_the_right_option_where_a_public_copy_of_the_release_has_it():
    sets = [question_set(f"{number}-0-0") for number in range(10)]  # two choices each
    items = fantom.compose(sets, orders_as="release")
    letters = letters_of(items[items["question_type"] == "belief_choice"])
    for letter, expected in zip(letters, FIRST_CHOICES_OF_FANTOM, strict=True):
        assert expected in (letter, "?")


@pytest.mark.parametrize(
    ("benchmark", "records"), [(bigtom, divers(3)), (fantom, [question_set()])]
)
def test_released_order_depends_on_no_seed_of_ours_and_keeps_every_option(benchmark, records):
    released = benchmark.compose(records, 0, orders_as="release")
    pd.testing.assert_frame_equal(released, benchmark.compose(records, 7, orders_as="release"))
    ours = benchmark.compose(records, 0)
    assert ours["choices"].map(sorted).equals(released["choices"].map(sorted))
