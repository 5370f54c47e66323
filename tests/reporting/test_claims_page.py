"""The page on claims: differences of each kind of number, and the rule that decides a claim."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from one_cell import ran
from tomlab.benchmarks.simpletom.items.compose import QUESTIONS
from tomlab.benchmarks.simpletom.metrics import metrics
from tomlab.paths import PUBLISHED, ROOT
from tomlab.records import tidy
from tomlab.records.claims import Address, Claim
from tomlab.scoring import paired
from tomlab.scoring.series import Series

PAGE = {}
for cell in ("compared", "printed", "answered", "rule", "verdict"):
    PAGE = ran(".", "06_claims", f"cell-{cell}", **PAGE)
needs_data = pytest.mark.skipif(
    not (PUBLISHED / "bigtom" / "claims.yaml").is_file(),
    reason="data/published/*/claims.yaml is missing: `make data` pulls it",
)
verdict, decided = PAGE["verdict"], PAGE["decided"]
printed, answered = PAGE["printed"], PAGE["answered"]


def claim(**test):
    sides = {"a": "m accuracy a", "b": "m accuracy b", "direction": "above", "over": "all"}
    about = {"id": "c", "claim": "A claim.", "place": "§1", "scope": "all models"}
    return Claim(**about, test=sides | test, reason="its numbers are in a figure")


def share(value, n=None, **more):
    return {"value": value, "n": n, "ci_low": np.nan, "ci_high": np.nan} | more


def paper(**by_model):
    """Numbers of a table: of each model a and b, or more by letter."""
    return {
        Address(model, "m", "accuracy", letter): cell
        for model, cells in by_model.items()
        for letter, cell in cells.items()
    }


def answers(letter, values, units=None, groups=None):
    units = units or [f"{letter}{number}" for number in range(len(values))]
    groups = groups or [f"g{number}" for number in range(len(values))]
    values = pd.Series(values, units, dtype=float)
    return Series("accuracy", letter, values, pd.Series(groups, units))


def measure(a, b, by):
    return answered(a, b, by, "group_id")


# Each kind of comparison, on a printed table


TWO = {"x": {"a": share(0.9, 200), "b": share(0.5, 200)}, "y": {"a": share(0.2, 200)}}
CLOSE = {"x": {"a": share(0.9, 1000), "b": share(0.7, 1000)}}
PEOPLE = {"x": {"a": share(0.5, 200)}, "Human": {"a": share(0.95, 80)}}
BASELINE = {
    "x": {"a": share(0.9, 500)},
    "y": {"a": share(0.5, 500)},
    "random": {"a": share(1, 500)},
}
INTERVAL = {"x": {"a": share(0.263, ci_low=0.178, ci_high=0.347)}}


@pytest.mark.parametrize(
    ("cells", "test", "expected"),
    [
        (TWO, {}, ("holds", 1, "x")),
        (TWO, {"b": 0.5}, ("fails", 2, "y")),
        (TWO, {"b": 0.5, "models": ["x"]}, ("holds", 1, "x")),
        (TWO, {"b": 0.5, "direction": "none"}, ("numbers only", 2, None)),
        (CLOSE, {"by": 0.1}, ("holds", 1, "x")),
        (CLOSE, {"by": 0.2}, ("inconclusive", 1, "x")),
        (CLOSE, {"by": 0.3}, ("fails", 1, "x")),
        (PEOPLE, {"b": "Human: m accuracy a", "direction": "below"}, ("holds", 1, "x and Human")),
        (BASELINE, {"a": "x: m accuracy a", "b": "m accuracy a"}, ("holds", 1, "x and y")),
        (INTERVAL, {"b": 0.0}, ("holds", 1, "x")),
    ],
)
def test_each_kind_of_comparison(cells, test, expected):
    row = verdict(claim(**test), paper(**cells), printed)
    assert (row["verdict"], row["comparisons"], row.get("decides")) == expected


def test_without_an_interval_there_is_the_printed_order_and_no_verdict():
    cells = paper(
        x={"a": share(0.9), "b": share(0.5)},
        y={"a": share(0.51), "b": share(0.5)},
        z={"a": share(0.4), "b": share(0.5)},
    )
    for over in ("all", "most", "any", "average"):
        row = verdict(claim(over=over), cells, printed)
        assert row["verdict"] == "printed order only"
        assert np.isnan([row["ci_low"], row["p"], row["n"]]).all()
    row = verdict(claim(), cells, printed)
    assert (row["in_order"], row["comparisons"]) == (2, 3)
    assert (row["lowest"], row["highest"]) == pytest.approx((-0.1, 0.4))


def test_the_average_is_over_models_in_each_combination():
    cells = paper(
        x={"a": share(0.9, 800), "b": share(0.4, 800), "c": share(0.7, 800)},
        y={"a": share(0.6, 800), "b": share(0.7, 800), "c": share(0.6, 800)},
    )
    test = {"b": "m accuracy {other}", "each": {"other": ["b", "c"]}}
    row = verdict(claim(over="average", **test), cells, printed)
    assert (row["verdict"], row["comparisons"]) == ("holds", 2)
    assert (row["lowest"], row["highest"]) == pytest.approx((0.1, 0.2))
    assert verdict(claim(over="all", **test), cells, printed)["verdict"] == "fails"


shares_of_models = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda pair: [round(v, 2) for v in pair]),
    min_size=1,
    max_size=6,
)
scopes = st.sampled_from(["all", "most", "any", "average"])


@settings(max_examples=30, deadline=None)
@given(shares_of_models, scopes, st.sampled_from(["above", "below"]))
def test_a_claim_fails_only_where_an_interval_lies_on_the_other_side(pairs, over, direction):
    by_model = {}
    for number, (a, b) in enumerate(pairs):
        by_model[f"x{number}"] = {"a": share(a, 100), "b": share(b, 100)}
    cells = paper(**by_model)
    row = verdict(claim(over=over, direction=direction), cells, printed)
    opposite = "below" if direction == "above" else "above"
    if row["verdict"] == "fails":
        assert row["contradicting"] > 0
        assert verdict(claim(over="any", direction=opposite), cells, printed)["verdict"] == "holds"
    if row["verdict"] == "holds":
        assert row["in_order"] >= row["supporting"] >= row["needed"]
        if over != "any":  # one comparison may be this way and another the other way
            of_opposite = verdict(claim(over=over, direction=opposite), cells, printed)
            assert of_opposite["verdict"] != "holds"


def test_p_and_interval_agree_about_every_distance():
    for by in (0.0, 0.1, 0.25, 0.3, 0.5):
        row = printed(share(0.9, 100), share(0.6, 100), by)
        assert (row["p"] < 0.05) == (not row["ci_low"] <= by <= row["ci_high"])


# And on answers


@pytest.mark.parametrize("units", [None, [f"i{number}" for number in range(40)]])
def test_two_conditions_are_paired_on_their_answers_or_their_groups(units):
    a = answers("a", [1] * 36 + [0] * 4, units)
    b = answers("b", [1] * 20 + [0] * 20, units)
    cells = {Address("x", "m", "accuracy", series.condition): series for series in (a, b)}
    row = verdict(claim(), cells, measure)
    assert (row["verdict"], row["n"]) == ("holds", 40)
    assert row["difference"] == pytest.approx(0.4)
    # By either way: 16 gains, no loss.
    same = [
        answers(letter, [*series.values], [*range(40)])
        for letter, series in zip("ab", (a, b), strict=True)
    ]
    assert row["ci_low"] == pytest.approx(paired.difference(*same)["ci_low"])


def test_answers_beside_a_number():
    cells = {Address("x", "m", "accuracy", "a"): answers("a", [1] * 36 + [0] * 4)}
    row = verdict(claim(b=0.5), cells, measure)
    assert (row["verdict"], row["difference"]) == ("holds", pytest.approx(0.4))
    assert verdict(claim(b=0.95), cells, measure)["verdict"] == "inconclusive"


def test_what_the_gate_stops_is_not_testable_and_says_so():
    stopped = [Address("x", "m", "accuracy", letter) for letter in "ab"]
    assert verdict(claim(), {}, measure, stopped)["why"] == "the gate stops it"
    assert verdict(claim(), {}, measure)["why"] == ""
    about = {"id": "c", "claim": "A claim.", "place": "§1", "scope": "all models"}
    untested = Claim(**about, test=None, reason="in a figure")
    assert verdict(untested, {}, measure) == {"verdict": "not testable here", "why": "in a figure"}


# The rule


def rows(*signs, p=0.01):
    """Comparisons that are for (1), against (-1) or open (0)."""
    gains = [sign or 0.01 for sign in signs]
    low = [gain - (0.5 if sign else 1) for gain, sign in zip(gains, signs, strict=True)]
    high = [gain + (0.5 if sign else 1) for gain, sign in zip(gains, signs, strict=True)]
    p = [p if sign else 0.5 for sign in signs]
    margins = pd.DataFrame({"margin": gains, "margin_low": low, "margin_high": high, "p": p})
    names = ["a", "b", "difference", "ci_low", "ci_high", "n"]
    return margins.assign(whose="x", combination="", **dict.fromkeys(names, 0.0))


@pytest.mark.parametrize(
    ("over", "signs", "expected"),
    [
        ("all", (1, 1, 1), "holds"),
        ("all", (1, 1, 0), "inconclusive"),
        ("all", (1, 1, -1), "fails"),
        ("all", (0, 0, -1), "fails"),
        ("most", (1, 1, 0), "holds"),
        ("most", (1, 1, -1), "holds"),
        ("most", (1, 0, -1), "inconclusive"),
        ("most", (1, -1, -1), "fails"),
        ("most", (1, 1, -1, -1), "fails"),  # half is not most
        ("most", (1, 1, 0, -1), "inconclusive"),
        ("any", (1, -1, -1), "holds"),
        ("any", (0, -1, -1), "inconclusive"),
        ("any", (-1, -1, -1), "fails"),
    ],
)
def test_a_claim_holds_fails_or_is_undecided(over, signs, expected):
    row = decided(over, rows(*signs))
    assert row["verdict"] == expected
    assert (row["supporting"], row["contradicting"]) == (signs.count(1), signs.count(-1))


def test_p_is_that_of_as_many_comparisons_as_are_needed():
    table = rows(1, 1, 1).assign(p=[0.001, 0.01, 0.04])
    assert decided("all", table)["p"] == 0.04
    assert decided("most", table)["p"] == pytest.approx(0.01 * 2)
    assert decided("any", table)["p"] == pytest.approx(0.001 * 3)
    # One against of three is one of three that could have been.
    assert decided("all", rows(1, 1, -1, p=0.01))["p"] == pytest.approx(0.01 * 3)
    assert decided("all", rows(1, 1, 0))["p"] == 0.5
    assert np.isnan(decided("all", table.assign(p=[0.001, np.nan, 0.04]))["p"])


# The page, run on a small run


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """What the page finds in a run of SimpleToM of three models that know but do not predict: one
    that passes the gate, one that does not, and one whose answers were taken in.
    """
    root = tmp_path_factory.mktemp("run")
    for name in ("data", "notebooks"):
        (root / name).symlink_to(ROOT / name)
    entries = {"mine": "openai", "odd": "openai", "log": "taken", "random": "baseline"}
    models = {name: {"provider": provider} for name, provider in entries.items()}
    (root / "params.yaml").write_text(yaml.safe_dump({"models": models}), encoding="utf-8")
    places = [(f"s{number}", kind) for number in range(30) for kind in QUESTIONS]
    scores = pd.DataFrame(places, columns=["story_id", "question_type"])
    scores["item_id"] = scores["story_id"] + "/" + scores["question_type"]
    right = scores["question_type"].eq("mental_state")
    scores = scores.assign(
        group_id=scores["story_id"],
        method="none",
        sample=0,
        variant="main",
        scenario="food item in grocery store",
        severity=1,
        completion_tokens=2,
        outcome=np.where(right, "correct", "wrong"),
        score=right.astype(float),
        by_released_rule=right,
    )
    for kind in ("scores", "metrics"):
        (root / "results" / kind / "simpletom").mkdir(parents=True)
    for name in models:
        own = scores.assign(model=name)
        tidy.write(own, "scores", root / f"results/scores/simpletom/{name}.parquet")
        tidy.write(metrics(own), "metrics", root / f"results/metrics/simpletom/{name}.parquet")
    gated = [{"model": m, "method": "none", "questions": "choices"} for m in models]
    gated = pd.DataFrame(gated).assign(metric="same_answer", value=0.9, gate="passes")
    gated["gate"] = gated["gate"].mask(gated["model"].eq("odd"), "fails")
    (root / "results/tables/simpletom").mkdir(parents=True)
    gated.to_csv(root / "results/tables/simpletom/gate.csv", index=False)
    values = {"parameters": {"benchmarks": ["simpletom"], "models": [*models]}}
    (root / "settings.json").write_text(json.dumps(values), encoding="utf-8")
    command = [sys.executable, "-m", "tomlab.pipeline.run_notebook", "notebooks/06_claims.ipynb"]
    command += ["results/index/06_claims.ipynb", "settings.json"]
    subprocess.run(command, cwd=root, env=os.environ | {"TOMLAB_ROOT": str(root)}, check=True)
    return pd.read_csv(root / "results/tables/claims/claims.csv").set_index(["id", "evidence"])


@needs_data
@pytest.mark.parametrize(("evidence", "model"), [("This run", "mine"), ("Logs", "log")])
def test_a_run_and_taken_logs_are_read_in_the_same_way(page, evidence, model):
    row = page.loc[("knows-but-does-not-predict", evidence)]
    assert (row["verdict"], row["supporting"], row["comparisons"]) == ("holds", 1, 1)
    assert (row["decides"], row["difference"], row["n"]) == (model, 1.0, 30)
    assert page.loc[("judgment-harder-than-behavior", evidence), "verdict"] == "inconclusive"
    assert page.loc[("chain-of-thought-helps", evidence), "verdict"] == "not testable here"


@needs_data
def test_holm_is_over_the_claims_of_each_kind_of_evidence(page):
    for _, own in page.groupby("evidence"):
        expected = paired.holm(own["p"])
        pd.testing.assert_series_equal(own["p_holm"], expected, check_names=False)
    assert (page["p_holm"].dropna() >= page["p"].dropna()).all()
