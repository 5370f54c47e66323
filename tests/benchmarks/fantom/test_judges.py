"""FANToM's distance rule: answers known by construction, candidates and margins, a run's verdicts."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_sets import SAID, question_set, random_sets
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom import ignorance, rewordings
from tomlab.benchmarks.fantom import judges as distance
from tomlab.benchmarks.fantom.rewordings import KNOWING, UNAWARE
from tomlab.errors import InputError
from tomlab.judging import people
from tomlab.judging.agreement import agreement_by_judge
from tomlab.paths import DATA
from tomlab.scoring.embeddings import MINILM, embed


def whippet(set_id: str) -> dict:
    """The same question of another owner, whose dog is of another breed."""
    text = json.dumps(question_set(set_id))
    for old, new in (("Linda", "Ruth"), ("Kailey", "Noah"), ("golden retriever", "whippet")):
        text = text.replace(old, new)
    return json.loads(text)


SETS = [question_set(), question_set("1-0-0", "accessible"), whippet("2-0-0")]
ITEMS = fantom.compose(SETS)
FIRST, SECOND = "0-0-0/belief_dist:0", "0-0-0/belief_dist:1"
ABOUT = "about the breed of Linda's dog"
HAS = "Linda's dog is a golden retriever"
SURE = f"Kailey is convinced that {HAS}."


@pytest.fixture(scope="module")
def said():
    """The texts by item, truth and operation, over many seeds."""
    found: dict[tuple, set[str]] = {}
    for seed in range(60):
        for row in rewordings.constructed(ITEMS, 60, seed).itertuples():
            found.setdefault((row.item_id, row.truth, row.operation), set()).add(row.text)
    return found


@pytest.mark.parametrize(
    ("truth", "operation", "texts"),
    [
        (True, "as it stands", {f"Kailey does not know anything {ABOUT}."}),
        (
            True,
            "was not told",
            {
                f"Kailey was not told {ABOUT}.",
                f"Nobody has told Kailey {ABOUT}.",
                f"Kailey has heard nothing {ABOUT}.",
            },
        ),
        (True, "fact told", {f"{HAS}. Kailey did not hear of it, though."}),
        (True, "fragment", {"No idea.", "Nothing.", "Kailey does not know.", "Unknown."}),
        (
            False,
            "quoted",
            {f'Kailey would say: "{HAS}."', f'Kailey would answer: "{HAS}."'},
        ),
        (
            False,
            "more sentences",
            {
                f"People come and go in this conversation. {SURE}",
                f"Looking at who was there when, I would say this: {SURE}",
                f"{SURE} That is what follows from the conversation above.",
                f"The others talk about a number of things. {SURE} Later they turn to something else.",
            },
        ),
        (False, "other value", {"Kailey believes that Linda's dog is a whippet."}),
        (False, "fragment", {"A golden retriever.", f"{HAS}."}),
    ],
)
def test_wordings_of_an_operation(said, truth, operation, texts):
    assert said[FIRST, truth, operation] == texts


def test_every_operation_is_used(said):
    assert {key[2] for key in said if key[:2] == (FIRST, True)} == set(UNAWARE)
    assert {key[2] for key in said if key[:2] == (FIRST, False)} == set(KNOWING)


def test_second_order_keeps_whose_belief_it_is(said):
    assert f"Linda believes that Kailey has no idea {ABOUT}." in said[SECOND, True, "has no idea"]
    assert said[SECOND, True, "fact told"] == {
        f"{HAS}. Linda believes that Kailey did not hear of it, though."
    }
    assert said[SECOND, False, "as it stands"] == {
        f"Linda believes that Kailey believes that {HAS}."
    }


def test_who_was_there_is_right_to_know(said):
    item = "1-0-0/belief_dist:0"
    assert said[item, True, "as it stands"] == {f"Kailey believes that {HAS}."}
    assert said[item, False, "fact told"] == {f"{HAS}. Kailey did not hear of it, though."}
    # Another value is neither belief there.
    assert not [key for key in said if key[0] == item and key[2] == "other value"]


@pytest.fixture(scope="module")
def own_items():
    return fantom.read_released(DATA / "fantom" / "fantom.json")


def test_constructed_set_is_balanced_and_says_what_it_is(own_items):
    table = rewordings.constructed(own_items, 200, seed=0)
    assert table.groupby(["truth", "scenario"]).size().tolist() == [50, 50, 50, 50]
    # No fact question of ours is asked about two values.
    assert set(table["operation"]) == {*UNAWARE, *KNOWING} - {"other value"}
    assert set(table["source"]) == {"known by construction"}
    assert table["unit"].is_unique and not table.duplicated(["item_id", "text"]).any()
    right = own_items.set_index("item_id").loc[table["item_id"], "conversation_id"]
    assert table["group"].tolist() == right.tolist()


def test_constructed_set_depends_on_the_seed_alone(own_items):
    first = rewordings.constructed(own_items, 40, seed=3)
    pd.testing.assert_frame_equal(first, rewordings.constructed(own_items, 40, seed=3))
    assert set(first["text"]) != set(rewordings.constructed(own_items, 40, seed=4)["text"])


# Kinds with wordings that state no ignorance of anybody, such as "Unknown.".
SILENT = {"fragment", "could not say", "was not told", "quoted"}


@pytest.fixture(scope="module")
def many(own_items) -> pd.DataFrame:
    return rewordings.constructed(own_items, 800, seed=0)


@pytest.mark.parametrize("operation", sorted({*UNAWARE, *KNOWING}))
def test_ignorance_is_stated_by_the_kinds_that_mean_it_and_by_no_other(own_items, many, operation):
    own = many[many["operation"] == operation]
    items = (
        own_items[own_items["item_id"].isin(own["item_id"])].set_index("item_id").to_dict("index")
    )
    means_ignorance = own["truth"] == own["scenario"].eq("inaccessible")
    states = [ignorance.states_ignorance(items[row.item_id], row.text) for row in own.itertuples()]
    states = pd.Series(states, own.index)
    assert not states[~means_ignorance].any()
    assert operation in SILENT or states[means_ignorance].all()


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_label_is_the_operations_view_in_the_items_scenario(seed):
    """An answer by an unaware operation is right where PersonX is unaware, else wrong."""
    items = fantom.compose(random_sets(seed))
    table = rewordings.constructed(items, 24, seed)
    answer = items.set_index("item_id")["answer"][table["item_id"]]
    nothing = answer.str.contains("does not know anything").to_numpy()
    only = table["operation"].isin(set(UNAWARE) - set(KNOWING)).to_numpy()
    assert (table["truth"].to_numpy() == nothing)[only].all()
    only = table["operation"].isin(set(KNOWING) - set(UNAWARE)).to_numpy()
    assert (table["truth"].to_numpy() != nothing)[only].all()


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [
        (
            "Gina is unaware of Anna's pets.",
            "Gina believes Anna has a cat.",
            "Gina does not know anything about Anna's pets.",
        ),
        (
            "Ben thinks Gina has no information on Anna's pets.",
            "Ben believes that Gina thinks that Anna has a cat.",
            "Ben believes that Gina does not know anything about Anna's pets.",
        ),
    ],
)
def test_beliefs_in_other_forms_are_taken_apart(right, wrong, expected):
    items = ITEMS[ITEMS["item_id"] == FIRST].assign(answer=right, wrong_answer=wrong)
    tables = [rewordings.constructed(items, 24, seed) for seed in range(8)]
    texts = set(pd.concat(tables)["text"])
    lead = expected.partition("Gina")[0]
    assert {expected, f"{lead}Gina believes that Anna has a cat."} <= texts


def test_two_beliefs_that_both_claim_something_are_left_out():
    own = ITEMS[ITEMS["item_id"] == FIRST]
    with pytest.raises(InputError, match="no belief items of the forms"):
        rewordings.constructed(
            own.assign(answer="Kailey believes that Linda has a cat."), 4, seed=0
        )


def test_too_many_answers_wanted_are_an_error():
    with pytest.raises(InputError, match=r"found \d+ texts of truth False, scenario accessible"):
        rewordings.constructed(ITEMS, 4000, seed=0)


# ---- Distances -----------------------------------------------------------------------------------


def table_of(*texts: str, item_id: str = FIRST) -> pd.DataFrame:
    return pd.DataFrame({"item_id": item_id, "text": list(texts)})


def test_token_f1_counts_the_words_shared_with_either_belief():
    # The right belief has 11 words, the wrong one 9; "know." is not "know".
    table = table_of("She believes that it is a golden retriever.", "Kailey does not know.")
    [knows, not_] = distance.distance_scores(table, ITEMS, "token_f1")
    assert knows == pytest.approx(0 - 2 * 6 / (8 + 9))
    assert not_ == pytest.approx(2 * 3 / (4 + 11) - 2 * 1 / (4 + 9))


def test_cosines_are_to_both_beliefs():
    item = ITEMS.set_index("item_id").loc[FIRST]
    vectors = {
        item["answer"]: np.array([1.0, 0.0]),
        item["wrong_answer"]: np.array([0.0, 1.0]),
        "No idea.": np.array([0.8, 0.6]),
    }
    found = distance.distance_scores(table_of("No idea.", ""), ITEMS, vectors)
    assert found[0] == pytest.approx(0.2)
    assert np.isnan(found[1])


@given(st.lists(st.sampled_from(SAID), min_size=1, max_size=6))
def test_swapping_the_two_beliefs_turns_the_sign(texts):
    table = table_of(*texts)
    swapped = ITEMS.rename(columns={"answer": "wrong_answer", "wrong_answer": "answer"})
    one = distance.distance_scores(table, ITEMS, "token_f1")
    assert one.tolist() == (-distance.distance_scores(table, swapped, "token_f1")).tolist()


# ---- Decisions and margins -----------------------------------------------------------------------


def test_margin_zero_is_the_papers_rule():
    table = pd.DataFrame({"unit": list("abcd"), "group": list("wxyz"), "truth": [True] * 4})
    found = distance.to_decisions(table, {"f1": pd.Series([0.1, 0.0, -0.1, np.nan])}, folds=2)
    assert found["judge"].unique().tolist() == ["f1, margin 0", "f1, margin chosen"]
    assert found["decision"].tolist()[:4] == [True, False, False, pd.NA]


def test_both_margins_of_each_candidate_are_reported(own_items):
    table = rewordings.constructed(own_items, 120, seed=0)
    scores = {
        "token_f1": distance.distance_scores(table, own_items, "token_f1"),
        # A score that knows the truth, but is off by a half.
        "shifted": table["truth"].astype(float) + 0.5,
    }
    found = agreement_by_judge(distance.to_decisions(table, scores, folds=3)).set_index("judge")
    names = [f"{name}, margin {rule}" for name in scores for rule in ("0", "chosen")]
    assert set(found.index) == set(names)
    assert found["agreement"]["shifted, margin chosen"] == 1
    assert found["agreement"]["shifted, margin 0"] == pytest.approx(0.5, abs=0.2)
    assert found["recall"]["shifted, margin 0"] == 1
    assert distance.chosen_margin(table, scores["shifted"], folds=3).final == 1.0


def test_margin_is_chosen_on_other_conversations(own_items):
    """What one conversation's answers score does not move the margin that they are judged by."""
    table = rewordings.constructed(own_items, 160, seed=0)
    scores = distance.distance_scores(table, own_items, "token_f1")
    own = table["group"] == table["group"].iloc[0]
    found = distance.chosen_margin(table, scores, folds=4)
    again = distance.chosen_margin(table.assign(truth=table["truth"] ^ own), scores, folds=4)
    fold = found.decisions["fold"][own]
    assert fold.nunique() == 1
    assert found.decisions["decision"][own].equals(again.decisions["decision"][own])
    margins = [one.decisions["threshold"][own] for one in (found, again)]
    pd.testing.assert_series_equal(*margins)


def test_scores_that_differ_by_rounding_alone_do_not_break_the_choice(own_items):
    table = rewordings.constructed(own_items, 40, seed=0)
    levels = [0.1, np.nextafter(0.1, 1), np.nextafter(np.nextafter(0.1, 1), 1), 0.2]
    scores = pd.Series([levels[i % 4] for i in range(len(table))])
    table["truth"] = scores > 0.15
    assert distance.chosen_margin(table, scores, folds=3).final == pytest.approx(0.15)


# ---- A run ---------------------------------------------------------------------------------------


def responses(*texts: str | None, method: str = "short", item_id: str = FIRST) -> pd.DataFrame:
    rows = [
        {"item_id": item_id, "model": "m", "method": method, "sample": i, "response": text}
        for i, text in enumerate(texts)
    ]
    return pd.DataFrame(rows).assign(error=None)


def test_answers_are_those_of_the_scored_calls_to_the_distance_questions():
    parts = [
        responses("Thinking. Answer: No idea.", None),
        responses("Step by step.", method="short-reasoning"),
        responses("(a)", item_id="0-0-0/belief_choice:0"),
    ]
    rows = pd.concat(parts, ignore_index=True)
    rows["error"] = rows["response"].isna().map({True: "timed out", False: None})
    found = distance.answers(ITEMS, rows)
    assert found["text"].tolist() == ["No idea.", ""]
    assert found["unit"].tolist() == [f"{FIRST}/m/short/0", f"{FIRST}/m/short/1"]
    assert found["group"].tolist() == ["0", "0"]
    assert set(found["scenario"]) == {"inaccessible"}


def test_margin_zero_gives_the_verdicts_of_the_scores():
    """With the default encoder, as `fantom.score` has it."""
    both = [responses(*SAID, item_id=item) for item in (FIRST, SECOND, "1-0-0/belief_dist:0")]
    given_ = pd.concat(both, ignore_index=True)
    answers = distance.answers(ITEMS, given_)
    texts = [*{*answers["text"], *ITEMS["answer"], *ITEMS["wrong_answer"]}]
    vectors = dict(zip(texts, embed(texts, MINILM), strict=True))
    scores = distance.distance_scores(answers, ITEMS, vectors)
    verdicts = fantom.score(ITEMS, given_)
    assert (scores > 0).tolist() == (verdicts["score"] == 1).tolist()


def test_people_are_asked_of_answers_in_words_other_than_either_belief():
    items = ITEMS[ITEMS["question_type"] == "belief_dist"]
    pairs = zip(items["answer"], items["wrong_answer"], strict=True)
    both = items.assign(choices=[sorted(pair) for pair in pairs])
    [options] = both[both["item_id"] == FIRST]["choices"]
    run = [responses("No idea."), responses("", method="full"), responses(options[0])]
    run[2]["sample"] = 1
    table = pd.concat(run, ignore_index=True)
    said = distance.answers(ITEMS, table)
    judged = said.merge(fantom.score(ITEMS, table)[[*people.KEY, "score"]], on=people.KEY)
    judged = judged.rename(columns={"score": "judged"})
    # The omniscient belief, word for word: nobody need say that it is wrong.
    assert judged["read"].tolist() == [False, True, True]
    assert judged["judged"][1:].tolist() == [0, 0]
    form = people.to_label(judged, both, judged["group"])
    assert form[["option_a", "option_b", "answer"]].values.tolist() == [[*options, "No idea."]]
