"""Verdicts that others published: cards, series apart, and comparisons."""

import shutil

import pandas as pd
import pytest
import yaml
from statsmodels.stats.contingency_tables import mcnemar

from tomlab.errors import InputError
from tomlab.paths import PUBLISHED
from tomlab.scoring import verdicts

BIGTOM = "bigtom/verdicts_forward_belief"
SIMPLETOM = "simpletom/verdicts_first_hundred"


@pytest.fixture(scope="module")
def series():
    return verdicts.read(BIGTOM)[1]


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(PUBLISHED / "simpletom", tmp_path / "simpletom").parent


@pytest.mark.parametrize("name", [BIGTOM, SIMPLETOM])
def test_card_tells_of_every_series_and_its_models(name):
    card, series = verdicts.read(name)
    models = {name: {*rows["model"]} for name, rows in series.items()}
    assert models == {name: {*series.models.values()} for name, series in card.series.items()}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("licence", None),
        ("series.generated.deviations.key_position", None),
        ("commit", ""),
        ("series.generated.deviations.max_tokens", 32),
        ("pooled", "yes"),
    ],
)
def test_card_with_a_missing_a_wrong_or_an_unknown_field_is_refused(copy, field, value):
    path = copy / f"{SIMPLETOM}.yaml"
    card = yaml.safe_load(path.read_bytes())
    *parents, last = field.split(".")
    entry = card
    for parent in parents:
        entry = entry[parent]
    entry.pop(last, None)
    if value is not None:
        entry[last] = value
    path.write_text(yaml.safe_dump(card), encoding="utf-8")
    with pytest.raises(InputError, match=rf"verdicts_first_hundred\.yaml.*\n.*field {field}: "):
        verdicts.read(SIMPLETOM, copy)


@pytest.mark.parametrize(
    ("suffix", "fault"), [("yaml", r"verdicts_first_hundred\.yaml"), ("csv", "make data")]
)
def test_missing_file_is_named(copy, suffix, fault):
    (copy / f"{SIMPLETOM}.{suffix}").unlink()
    with pytest.raises(InputError, match=fault):
        verdicts.read(SIMPLETOM, copy)


@pytest.mark.parametrize(
    ("text", "changed", "fault"),
    [
        ("A,wrong", "A,mostly", "row 2, field verdict: found 'mostly'"),
        ("claude-sonnet-4,0", "claude-sonnet-5,0", "row 2, field model: found 'claude-sonnet-5'"),
        ("4,0,behavior,A", "4,first,behavior,A", "row 2, field row: found 'first'"),
        ("4,1,behavior,B", "4,0,behavior,B", "stands in row 2 too"),
    ],
)
def test_row_that_does_not_fit_the_card_is_named(copy, text, changed, fault):
    path = copy / f"{SIMPLETOM}.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(text, changed, 1), encoding="utf-8")
    with pytest.raises(InputError, match=rf"(?s)verdicts_first_hundred\.csv.*{fault}"):
        verdicts.read(SIMPLETOM, copy)


def right(rows, model):
    """Which items a model got right in both conditions, of those of which both were asked."""
    return verdicts.by_item(rows, "contingency").loc[model, "both"].dropna()


@pytest.mark.parametrize(
    ("model", "generated", "loglikelihood"),
    [("Qwen2.5-7B-Instruct", 0.855, 0.735), ("OLMo-2-7B-Instruct", 0.41, 0.70)],
)
def test_series_are_never_pooled(series, model, generated, loglikelihood):
    """Two models are in both series, and each has the number of its own."""
    assert right(series["generated"], model).mean() == generated
    assert right(series["loglikelihood"], model).mean() == loglikelihood


def test_unreadable_answers_earn_nothing(series):
    rows = pd.concat(series)
    assert rows.loc[rows["verdict"] == "unreadable", "right"].eq(0).all()


def test_both_counts_only_items_of_which_both_were_answered():
    rows = pd.DataFrame({"model": "m", "row": [0, 0, 1, 2, 2], "right": [1.0, 1, 1, 1, 0]})
    rows["contingency"] = ["t", "f", "t", "t", "f"]
    result = verdicts.shares(rows, "contingency").set_index("contingency")
    assert result["n"].to_dict() == {"f": 2, "t": 3, "both": 2}
    assert result["value"].to_dict() == {"f": 0.5, "t": 1, "both": 0.5}


def test_only_claude_sonnet_finds_true_belief_harder_by_more_than_chance(series):
    """Of the models that copied an answer, after Holm's correction over all nine of them."""
    rows = series["generated"]
    result = verdicts.compare_conditions(rows, "contingency", "true_belief", "false_belief")
    assert (result["value"] < 0).tolist().count(True) == 7
    surprising = result[result["p_holm"] < 0.05]
    columns = ["model", "only_a", "only_b"]
    assert surprising[columns].values.tolist() == [["Claude Sonnet 4.6", 2, 22]]


@pytest.mark.parametrize(
    ("only_a", "only_b"), [(2, 22), (8, 24), (0, 0), (0, 1), (14, 134), (7, 7)]
)
def test_p_is_that_of_mcnemars_exact_test(only_a, only_b):
    expected = mcnemar([[5, only_a], [only_b, 3]], exact=True).pvalue
    assert verdicts.mcnemar_p(only_a, only_b) == pytest.approx(expected)


def test_only_items_that_both_sides_have_are_compared():
    a = pd.Series([1.0, 1, 0, 1], [0, 1, 2, 3])
    b = pd.Series([0.0, 1, 1], [0, 1, 2])
    result = verdicts.compare(a, b)
    assert (result["n"], result["only_a"], result["only_b"]) == (3, 1, 1)
    assert (result["value"], result["p"]) == (0, 1)
