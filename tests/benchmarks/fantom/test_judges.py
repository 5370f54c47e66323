"""FANToM's distance rule: answers known by construction, candidates and margins, a run's verdicts."""

import numpy as np
import pandas as pd
import pytest

from fantom_sets import SAID, question_set
from replies import answered
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.ignorance import states_ignorance
from tomlab.benchmarks.fantom.judges import answers, distance_scores, to_decisions
from tomlab.benchmarks.fantom.rewordings import constructed
from tomlab.errors import InputError
from tomlab.judging import people
from tomlab.judging.agreement import agreement_by_judge
from tomlab.paths import DATA
from tomlab.scoring.embeddings import MINILM, embed

ITEMS = fantom.compose([question_set(), question_set("1-0-0", "accessible")])
FIRST = "0-0-0/belief_dist:0"
SECOND = "0-0-0/belief_dist:1"
HEARD = "1-0-0/belief_dist:0"


@pytest.fixture(scope="module")
def own_items():
    return fantom.read_released(DATA / "fantom" / "fantom.json")


@pytest.fixture(scope="module")
def table(own_items):
    return constructed(own_items, 400, seed=0)


def test_constructed_set_is_balanced_and_says_what_it_is(own_items, table):
    assert table.groupby(["truth", "scenario"]).size().tolist() == [100] * 4
    assert set(table["source"]) == {"known by construction"}
    assert table["unit"].is_unique
    assert not table.duplicated(["item_id", "text"]).any()
    conversations = own_items.set_index("item_id")["conversation_id"]
    assert table["group"].tolist() == conversations[table["item_id"]].tolist()


def test_ignorance_is_stated_by_the_operations_that_mean_it_and_by_no_other(own_items, table):
    items = own_items.set_index("item_id").to_dict("index")
    # Kinds with wordings that state no ignorance of anybody, such as "Unknown.".
    silent = {"fragment", "could not say", "was not told", "quoted"}
    for row in table.itertuples():
        means_ignorance = row.truth == (row.scenario == "inaccessible")
        if not means_ignorance or row.operation not in silent:
            assert states_ignorance(items[row.item_id], row.text) == means_ignorance, row.text


def test_beliefs_in_other_forms_are_taken_apart():
    beliefs = {
        "answer": "Ben thinks Gina has no information on Anna's pets.",
        "wrong_answer": "Ben believes that Gina thinks that Anna has a cat.",
    }
    texts = set(constructed(ITEMS[ITEMS["item_id"] == FIRST].assign(**beliefs), 28, 0)["text"])
    assert "Ben believes that Gina does not know anything about Anna's pets." in texts
    assert "Ben believes that Gina believes that Anna has a cat." in texts


def test_answers_that_cannot_be_made_are_an_error():
    two_claims = ITEMS[ITEMS["item_id"] == FIRST].assign(answer="Kailey believes that it rains.")
    with pytest.raises(InputError, match="no belief items of the forms"):
        constructed(two_claims, 4, seed=0)


# Distances


def test_token_f1_counts_the_words_shared_with_either_belief():
    # The right belief has 11 words, the wrong one 9; "know." is not "know".
    table = pd.DataFrame({"item_id": FIRST, "text": ["Kailey does not know.", ""]})
    scores = distance_scores(table, ITEMS, "token_f1")
    expected = [2 * 3 / (4 + 11) - 2 * 1 / (4 + 9), np.nan]
    assert scores.tolist() == pytest.approx(expected, nan_ok=True)


# Decisions and margins


def test_margin_zero_is_the_papers_rule():
    table = pd.DataFrame({"unit": list("abcd"), "group": list("wxyz"), "truth": [True] * 4})
    decisions = to_decisions(table, {"f1": pd.Series([0.1, 0.0, -0.1, np.nan])}, folds=2)
    assert decisions["judge"].unique().tolist() == ["f1, margin 0", "f1, margin chosen"]
    assert decisions["decision"].tolist()[:4] == [True, False, False, pd.NA]


def test_a_chosen_margin_mends_scores_that_are_off(table):
    scores = table["truth"].astype(float) + 0.5
    agreement = agreement_by_judge(to_decisions(table, {"shifted": scores}, folds=3))
    agreement = agreement.set_index("judge")
    assert agreement["agreement"]["shifted, margin 0"] == pytest.approx(0.5, abs=0.01)
    assert agreement["agreement"]["shifted, margin chosen"] == 1


# A run


def run_of(item_id: str, *texts: str | None, method: str = "short") -> pd.DataFrame:
    parts = []
    for sample, text in enumerate(texts):
        parts.append(answered(ITEMS.query("item_id == @item_id"), text, method, sample=sample))
    return pd.concat(parts, ignore_index=True)


def test_answers_are_those_of_the_scored_calls_to_the_distance_questions():
    beliefs = run_of(FIRST, "Thinking. Answer: No idea.", None)
    reasoning = run_of(FIRST, "Step by step.", method="short-reasoning")
    choice = run_of("0-0-0/belief_choice:0", "(a)")
    table = answers(ITEMS, pd.concat([beliefs, reasoning, choice], ignore_index=True))
    assert table["text"].tolist() == ["No idea.", ""]
    assert table["unit"].tolist() == [f"{FIRST}/model/short/0", f"{FIRST}/model/short/1"]
    assert table[["group", "scenario"]].values.tolist() == [["0", "inaccessible"]] * 2


def test_margin_zero_gives_the_verdicts_of_the_scores():
    """With the default encoder, as `fantom.score` has it."""
    responses = pd.concat([run_of(item_id, *SAID) for item_id in (FIRST, SECOND, HEARD)])
    table = answers(ITEMS, responses)
    texts = [*{*table["text"], *ITEMS["answer"], *ITEMS["wrong_answer"]}]
    vectors = dict(zip(texts, embed(texts, MINILM), strict=True))
    scores = distance_scores(table, ITEMS, vectors)
    assert (scores > 0).tolist() == (fantom.score(ITEMS, responses)["score"] == 1).tolist()


def test_people_are_asked_of_answers_in_words_other_than_either_belief():
    items = ITEMS[ITEMS["item_id"] == FIRST]
    options = sorted(items[["answer", "wrong_answer"]].iloc[0])
    items = items.assign(choices=[options])
    judged = answers(items, run_of(FIRST, "No idea.", options[0], "")).assign(judged=0)
    # One is a belief word for word, one is empty: nobody need say that they are wrong.
    assert judged["read"].tolist() == [False, True, True]
    form = people.to_label(judged, items, judged["group"])
    assert form[["option_a", "option_b", "answer"]].values.tolist() == [[*options, "No idea."]]
