"""Verdicts that others published: cards, series apart, and the numbers that were known before."""

import shutil

import pandas as pd
import pytest
import yaml
from statsmodels.stats.contingency_tables import mcnemar

from tomlab.errors import InputError
from tomlab.paths import PUBLISHED
from tomlab.scoring import verdicts

BIGTOM, SIMPLETOM = "bigtom/verdicts_forward_belief", "simpletom/verdicts_first_hundred"
FILES = [f"{p.parent.name}/{p.stem}" for p in sorted(PUBLISHED.glob("*/verdicts_*.csv"))]


@pytest.fixture(scope="module")
def series() -> dict[str, pd.DataFrame]:
    return verdicts.read(BIGTOM)[1]


@pytest.fixture
def copy(tmp_path):
    return shutil.copytree(PUBLISHED / "simpletom", tmp_path / "simpletom").parent


def change(folder, field, value=None):
    """The card of SimpleToM's verdicts with another value in a field, or without the field."""
    path = folder / f"{SIMPLETOM}.yaml"
    card = yaml.safe_load(path.read_bytes())
    *places, last = field.split(".")
    inner = card
    for place in places:
        inner = inner[place]
    inner.pop(last, None)
    if value is not None:
        inner[last] = value
    path.write_text(yaml.safe_dump(card), encoding="utf-8")


def right(series, name, model, condition="both") -> pd.Series:
    """What a model got right, by item; of `both` those alone of which both were asked."""
    return verdicts.by_item(series[name], "contingency").loc[model, condition].dropna()


# Cards


def test_both_files_are_there_and_every_one_has_a_card():
    assert {*FILES} >= {BIGTOM, SIMPLETOM}
    for name in FILES:
        card, series = verdicts.read(name)
        assert {*card.series} == {*series}
        for told, rows in zip(card.series.values(), series.values(), strict=True):
            assert {*told.models.values()} == {*rows["model"]}


@pytest.mark.parametrize(
    "field", ["licence", "caution", "series.generated.deviations.key_position", "series"]
)
def test_missing_field_of_a_card_is_named(copy, field):
    change(copy, field)
    with pytest.raises(InputError, match=rf"verdicts_first_hundred\.yaml.*\n.*field {field}: "):
        verdicts.read(SIMPLETOM, copy)


@pytest.mark.parametrize(
    ("field", "value"),
    [("commit", ""), ("series.generated.deviations.max_tokens", 32), ("pooled", "yes")],
)
def test_card_with_an_empty_a_wrong_or_an_unknown_field_is_refused(copy, field, value):
    change(copy, field, value)
    with pytest.raises(InputError, match=field):
        verdicts.read(SIMPLETOM, copy)


def test_missing_card_is_named(copy):
    (copy / f"{SIMPLETOM}.yaml").unlink()
    with pytest.raises(InputError, match=r"verdicts_first_hundred\.yaml"):
        verdicts.read(SIMPLETOM, copy)


def test_missing_verdicts_say_how_to_get_them(tmp_path):
    with pytest.raises(InputError, match="make data"):
        verdicts.read(BIGTOM, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("A,wrong", "A,mostly", "row 2, field verdict: found 'mostly'"),
        ("claude-sonnet-4,0", "claude-sonnet-5,0", "row 2, field model: found 'claude-sonnet-5'"),
        ("4,0,behavior,A", "4,first,behavior,A", "row 2, field row: found 'first'"),
        ("4,1,behavior,B", "4,0,behavior,B", "stands in row 2 too"),
    ],
)
def test_row_that_does_not_fit_the_card_is_named(copy, old, new, said):
    path = copy / f"{SIMPLETOM}.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"verdicts_first_hundred\.csv") as caught:
        verdicts.read(SIMPLETOM, copy)
    assert said in str(caught.value)


# Series


def test_series_are_never_pooled(series):
    """Two models are in both series, and each has the number of its own."""
    assert {name: len(rows) for name, rows in series.items()} == {
        "generated": 3434,
        "loglikelihood": 8000,
    }
    for name, rows in series.items():
        assert {*rows["scoring"]} == {name}
    twice = {*series["generated"]["model"]} & {*series["loglikelihood"]["model"]}
    assert twice == {"Qwen2.5-7B-Instruct", "OLMo-2-7B-Instruct"}
    for model, each in {
        "Qwen2.5-7B-Instruct": (0.855, 0.735),
        "OLMo-2-7B-Instruct": (0.41, 0.70),
    }.items():
        assert tuple(right(series, name, model).mean() for name in series) == each


def test_unreadable_answers_earn_nothing_and_are_those_of_one_model(series):
    rows = pd.concat(series)
    unreadable = rows[rows["verdict"] == "unreadable"]
    assert unreadable["model"].value_counts().to_dict() == {"OLMo-2-7B-Instruct": 31}
    assert unreadable["right"].eq(0).all()


def test_both_counts_only_items_of_which_both_were_answered():
    rows = pd.DataFrame({"model": "m", "row": [0, 0, 1, 2, 2], "right": [1.0, 1, 1, 1, 0]})
    rows["contingency"] = ["t", "f", "t", "t", "f"]
    result = verdicts.shares(rows, "contingency").set_index("contingency")
    assert result["n"].to_dict() == {"f": 2, "t": 3, "both": 2}
    assert result["value"].to_dict() == {"f": 0.5, "t": 1, "both": 0.5}


# What was computed from the files before they came here (Wilson's intervals)


def test_opus_is_right_alone_on_20_templates_and_sonnet_on_one(series):
    opus, sonnet = (right(series, "generated", f"Claude {m} 4.6") for m in ("Opus", "Sonnet"))
    assert ((opus > sonnet).sum(), (opus < sonnet).sum()) == (20, 1)


def test_simpletom_explicit_and_applied():
    _, series = verdicts.read(SIMPLETOM)
    result = verdicts.shares(series["generated"], "question")
    result = result.pivot(index="model", columns="question", values="value").round(2)
    assert result.loc["Claude Sonnet 4", ["mental_state", "behavior"]].tolist() == [0.99, 0.93]
    assert result.loc["gpt-oss-20b", ["mental_state", "behavior"]].tolist() == [0.99, 0.52]


# True against false belief


def test_only_claude_sonnet_finds_true_belief_harder_by_more_than_chance(series):
    """Of the models that copied an answer, after Holm's correction over all nine of them."""
    rows = series["generated"]
    result = verdicts.compare_conditions(rows, "contingency", "true_belief", "false_belief")
    result = result.set_index("model")
    assert len(result) == 9
    assert (result["value"] < 0).sum() == 7
    assert result.index[result["p_holm"] < 0.05].tolist() == ["Claude Sonnet 4.6"]
    sonnet = result.loc["Claude Sonnet 4.6"]
    assert (sonnet["only_a"], sonnet["only_b"]) == (2, 22)


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
