"""What numbers mean, in a sentence: filled from the table, and silent about too few groups."""

import pandas as pd
import pytest

from tomlab.records.published import Wording
from tomlab.reporting import says

WORDING = Wording("Toy", {"cot": "chain of thought"}, groups="stories")


def metrics(*rows: tuple[str, float, float, float, int], method: str = "cot") -> pd.DataFrame:
    columns = ["condition", "value", "ci_low", "ci_high", "n_groups"]
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(method=method, n=found["n_groups"] * 2)


def test_lowest_and_highest_are_named_where_their_intervals_are_apart():
    found = metrics(("high_one", 0.8, 0.7, 0.9, 40), ("low/one", 0.2, 0.1, 0.3, 40))
    assert says.extremes(found, "Accuracy", WORDING) == (
        "Accuracy by chain of thought is lowest for low, one (.20 [.10, .30], n = 80 of 40 stories) "
        "and highest for high one (.80 [.70, .90], n = 80 of 40 stories)."
    )


def test_which_is_lower_is_open_where_intervals_overlap():
    found = metrics(("a", 0.5, 0.3, 0.7, 40), ("b", 0.6, 0.4, 0.8, 40))
    assert "can't be told" in says.extremes(found, "Accuracy", WORDING)


def test_nothing_is_concluded_from_fewer_than_ten_groups():
    found = metrics(("a", 0.5, 0.3, 0.7, 9), ("b", 0.9, 0.8, 1.0, 9))
    sentence = "These numbers are of fewer than 10 stories, so nothing is concluded from them."
    assert says.extremes(found, "Accuracy", WORDING) == sentence
    many = pd.concat([found, metrics(("c", 0.4, 0.3, 0.5, 10))])
    assert says.extremes(many, "Accuracy", WORDING) == (
        "Accuracy is .40 [.30, .50], n = 20 of 10 stories."
    )


def test_one_condition_is_compared_by_method():
    two = [metrics(("x", v, v - 0.1, v + 0.1, 20), method=m) for m, v in (("cot", 0.9), ("a", 0.1))]
    told = says.extremes(pd.concat(two), "Accuracy", WORDING)
    assert "lowest for a (" in told and "highest for chain of thought (" in told


def scores(**counts: int) -> pd.DataFrame:
    outcomes = [outcome for outcome, n in counts.items() for _ in range(n)]
    return pd.DataFrame({"outcome": outcomes}, dtype=str)


def test_lost_answers_are_counted_by_kind():
    assert says.outcomes(
        scores(correct=6, wrong=2, unparsed=1, truncated=1, scored=5), WORDING
    ) == (
        "Of 10 answers 6 are right (a share of .60). 2 could not be read and earn nothing "
        "(a share of .20): 1 unreadable, 1 cut off."
    )
    assert says.outcomes(scores(correct=1, wrong=1), WORDING).endswith("every one could be read.")
    assert says.outcomes(scores(scored=3), WORDING) == "No answer has a verdict here."


def test_what_was_asked_names_the_least_and_the_most_asked_method():
    asked = pd.DataFrame({"method": ["cot", "a", "a"], "group_id": ["x", "x", "y"]})
    told = says.asked(asked, pd.Series(["x", "y", "z"]), "toy", WORDING)
    assert told == "toy is asked 3 questions: on 2 of 3 stories by a, on 1 by chain of thought."


def by_kind(*rows: tuple[str, bool, float, int]) -> pd.DataFrame:
    found = pd.DataFrame(rows, columns=["kind", "truth", "agreement", "n_groups"])
    ends = {"ci_low": found["agreement"], "ci_high": found["agreement"]}
    return found.sort_values("agreement").assign(judge="token_f1", n=40, **ends)


def test_judge_is_blind_to_kinds_of_which_it_gets_fewer_than_half_right():
    told = says.unseen(
        by_kind(("negation", False, 0.1, 20), ("paraphrase", True, 0.9, 20)), WORDING
    )
    assert "“shared words”, can't see: “negation”, where no is right (.10" in told
    assert "paraphrase" not in told
    worst = says.unseen(by_kind(("sibling", False, 0.7, 20)), WORDING)
    assert "at least half of every kind right; worst is “sibling”" in worst
    assert says.unseen(by_kind(("rare", True, 0.0, 3)), WORDING) == says.few(WORDING)


def test_best_judge_is_better_where_the_interval_of_the_gain_lies_above_0():
    found = pd.DataFrame(
        {
            "judge": ["exact", "embedding", "toy"],
            "ci_low": [0.1, -0.1, None],
            "ci_high": [0.2, 0.1, None],
        }
    )
    told = says.gained(found)
    assert "more than “the option word for word”." in told
    assert "“sentence embedding” can't be told" in told
    assert "Of “toy” no decision" in told


def test_grader_that_changes_nothing_says_so():
    effect = pd.DataFrame({"answers": [5], "unparsed": [0], "becomes_correct": [0]})
    assert says.changes(effect, WORDING).startswith("All 5 answers name an option")


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_judge_may_stand_in_from_a_winning_rate_of_a_half(rate):
    told = says.stand_in(pd.DataFrame({"rejected": [rate]}))
    assert ("may not" in told) == (rate < 0.5)
    assert "Fewer than two" in says.stand_in(pd.DataFrame())


def test_cost_tells_answers_tokens_and_the_price_where_there_is_one():
    usage = pd.DataFrame(
        {"answers": [2], "failed": [1], "prompt_tokens": [1500], "completion_tokens": [20]}
    )
    told = "2 answers of toy took 1,500 tokens of prompts and 20 of answers; 1 failed."
    assert says.cost(usage, "toy") == told
    assert says.cost(usage.assign(list_price_usd=0.5), "toy").endswith("US$ 0.50.")


def test_judge_in_use_is_told_in_words():
    chosen = {"judge": "token_f1", "margin": 0.1, "truth": "known by construction"}
    assert says.in_use(chosen) == (
        "In use from here on: shared words. It decides by a margin of .10. "
        "It was chosen against what is known by construction."
    )
