"""The gate: models that answer, and models that only follow the form of a question."""

import numpy as np
import pandas as pd
import pytest

from tomlab.records.published import Wording
from tomlab.records.tidy import AS_ASKED, REVERSED
from tomlab.reporting.gate import gate, marked, says, stopped
from tomlab.scoring import paired
from tomlab.scoring.series import Series
from tomlab.scoring.variants import variants

WORDING = Wording("Demo", {"plain": "plainly"}, groups="templates")
OPTIONS = ["box", "bag"]


def asked(n: int = 100) -> pd.DataFrame:
    """Questions with two options of n templates; the option shown first is right in every other."""
    answers = [OPTIONS[i % 2] for i in range(n)]
    table = pd.DataFrame({"item_id": [f"{i}" for i in range(n)], "answer": answers})
    return table.assign(choices=[OPTIONS] * n, group_id=table["item_id"])


def scores(items: pd.DataFrame, asked_as: str, chosen: list, model: str = "mine") -> pd.DataFrame:
    """Scores of a model that chose these options, None where none could be read."""
    right = pd.Series(chosen).eq(items["answer"])
    outcome = right.map({True: "correct", False: "wrong"}).mask(
        pd.Series(chosen).isna(), "unparsed"
    )
    columns = {"model": model, "method": "plain", "sample": 0, "asked_as": asked_as}
    columns |= {"outcome": outcome, "score": right.astype(float), "chosen": chosen}
    return items[["item_id", "group_id"]].assign(**columns)


def found(items: pd.DataFrame, *tables: pd.DataFrame) -> pd.DataFrame:
    both = pd.concat(tables, ignore_index=True)
    return gate(both, items, variants(both, items, "group_id"), "group_id")


def verdicts(table: pd.DataFrame) -> dict[str, str]:
    return dict(zip(table["metric"], table["gate"], strict=True))


def always(option: str, model: str = "mine", items: pd.DataFrame | None = None) -> pd.DataFrame:
    """What passes the gate or not by who names the option shown first, or the right one."""
    items = asked() if items is None else items
    rights, n = list(items["answer"]), len(items)
    first = {"first": (["box"] * n, ["bag"] * n), "right": (rights, rights)}
    plain, swapped = first[option]
    tables = scores(items, AS_ASKED, plain, model), scores(items, REVERSED, swapped, model)
    return found(items, *tables)


def test_who_always_picks_the_first_option_fails_and_that_is_all_that_is_found():
    table = always("first")
    values = table.set_index("metric")["value"]
    assert values[["readable", "first_option", "same_answer"]].tolist() == [1, 1, 0]
    assert verdicts(table) == {
        "readable": "passes",
        "first_option": "fails",
        "same_answer": "fails",
    }
    assert table["guess"].tolist()[1:] == [0.5, 0.5]
    sentence = says(table, "mine", "plain", WORDING)
    assert "mine fails the check on Demo (plainly)" in sentence
    assert "picks the option shown first in 1.00 [" in sentence
    assert "gives the same answer in .00 [" in sentence


def test_who_is_right_in_both_orders_passes_and_nothing_is_said():
    table = always("right")
    assert {*verdicts(table).values()} == {"passes"}
    assert says(table, "mine", "plain", WORDING) == ""


@pytest.mark.parametrize(("unread", "verdict"), [(5, "passes"), (10, "passes"), (12, "fails")])
def test_readable_answers_fail_only_where_the_interval_lies_below_95_percent(unread, verdict):
    items = asked()
    chosen = [None] * unread + [*items["answer"][unread:]]
    table = found(items, scores(items, AS_ASKED, chosen), scores(items, REVERSED, chosen))
    row = table.set_index("metric").loc["readable"]
    assert bool(row["ci_high"] < 0.95) is (verdict == "fails")
    assert row["gate"] == verdict
    assert verdicts(table)["same_answer"] == "passes"
    assert (".88 [" in says(table, "mine", "plain", WORDING)) is (unread == 12)


@pytest.mark.parametrize(
    ("n", "readable", "verdict"),
    [(1, 0, "inconclusive"), (9, 8, "inconclusive"), (9, 9, "passes"), (10, 9, "passes")],
)
def test_a_share_below_the_requirement_needs_ten_groups_to_pass(n, readable, verdict):
    items = asked(n)
    chosen = [*items["answer"][:readable]] + [None] * (n - readable)
    table = found(items, scores(items, AS_ASKED, chosen))
    assert verdicts(table)["readable"] == verdict


def test_who_has_95_percent_readable_answers_is_hardly_ever_stopped():
    draw = np.random.default_rng(0)
    items = asked(240)
    items["group_id"] = [f"{i // 6}" for i in range(240)]
    stops = 0
    for _ in range(10):
        readable = draw.random(240) < 0.95
        chosen = [*items["answer"].where(readable, None)]
        table = found(items, scores(items, AS_ASKED, chosen))
        stops += verdicts(table)["readable"] == "fails"
    assert stops <= 1  # by the share itself, two in five


def test_tables_that_were_cut_off_are_not_readable():
    items = asked(12).assign(choices=[[]] * 12)
    plain = scores(items, AS_ASKED, [*items["answer"]]).drop(columns="chosen")
    for cut, verdict in ((11, "fails"), (0, "passes")):
        table = found(items, plain.assign(cut_off=[True] * cut + [False] * (12 - cut)))
        assert verdicts(table) == {"readable": verdict}
        assert table["value"].tolist() == pytest.approx([1 - cut / 12])


def test_few_questions_are_inconclusive_and_many_guesses_fail():
    for n, verdict in ((8, "inconclusive"), (400, "fails")):
        items = asked(n)
        chosen_words = [
            OPTIONS[i // 2 % 2] for i in range(n)
        ]  # of every other question another one
        table = found(
            items, scores(items, AS_ASKED, ["box"] * n), scores(items, REVERSED, chosen_words)
        )
        assert table.set_index("metric")["value"]["same_answer"] == 0.5
        assert verdicts(table)["same_answer"] == verdict
        assert ("no conclusion yet" in says(table, "mine", "plain", WORDING)) is (n == 8)


def test_without_swapped_options_nothing_is_known_about_their_place():
    table = found(asked(), scores(asked(), AS_ASKED, [*asked()["answer"]]))
    assert verdicts(table)["same_answer"] == "not asked"
    assert says(table, "mine", "plain", WORDING).endswith("no conclusion yet from its scores.")


@pytest.mark.parametrize(("others", "verdict"), [(3, "passes"), (6, "fails")])
def test_letters_have_to_come_with_their_own_words_where_there_are_words(others, verdict):
    items = asked()
    words = ["same"] * (50 - 2 * others) + ["other", "elsewhere"] * others + [""] * 50
    plain = scores(items, AS_ASKED, [*items["answer"]]).assign(words=words)
    table = found(items, plain, scores(items, REVERSED, [*items["answer"]]).assign(words=""))
    row = table.set_index("metric").loc["same_words"]
    assert (row["value"], row["n"]) == (1 - others / 25, 50)
    assert row["gate"] == verdict


def test_a_baseline_is_not_stopped_and_a_difference_from_who_is_stopped_is_marked():
    tables = always("first"), always("first", "random"), always("right", "yours")
    table = pd.concat(tables, ignore_index=True)
    assert len(stopped(table, "mine", "plain")) == 2
    assert stopped(table, "random", "plain").empty
    values = pd.Series([1.0, 0.0] * 6, [f"{i}" for i in range(12)])
    right = Series("right", "all", values, values.index.to_series())
    columns = [(model, "plain", right) for model in ("mine", "yours", "random")]
    pairs = marked(paired.differences("demo", columns, None, ["plain"]), table)
    assert dict(zip(pairs["a"] + pairs["b"], pairs["gate"], strict=True)) == {
        "mineyours": "fails",
        "minerandom": "fails",
        "yoursrandom": "",
    }
