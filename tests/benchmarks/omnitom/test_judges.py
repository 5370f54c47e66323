"""Judges at work: requests, what is read of their answers, the best one, its error in a score."""

import numpy as np
import pandas as pd
import pytest

from omnitom_extraction import EXACT, RECORDS, extraction_scores
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import alignment, calibration, judges, scoring
from tomlab.benchmarks.omnitom.alignment import precision_recall_f1
from tomlab.judging import agreement as judging
from tomlab.models.specs import Reply, Response, model_spec

TABLES = calibration.calibration_set(RECORDS, 6, 0)


def reply(text: str) -> Response:
    return Response("key", Reply(text, "stop", 1000, 200))


def judgement(table) -> str:
    """What a faultless judge would write of a table."""
    lines = []
    sides = (("Prediction", table.predicted, table.mc_predicted),)
    sides += (("Ground Truth", table.gold, table.mc_gold),)
    for name, rows, counts in sides:
        lines += [f"{name} Table", "Actor,Belief,MatchCount"]
        lines += [f'{r.actor},"{r.belief}",{n}' for r, n in zip(rows, counts, strict=True)]
    return "\n".join(lines)


def test_a_request_shows_story_and_both_tables():
    [request] = judges.requests(TABLES[:1], "L4", max_tokens=99)
    text = request.messages[-1]["content"]
    assert TABLES[0].story in text
    assert TABLES[0].predicted[0].belief in text
    assert TABLES[0].gold[-1].belief in text
    assert request.max_tokens == 99
    assert judges.requests(TABLES[:1], "L3")[0].max_tokens == 6000  # the released limit


def test_faultless_answers_agree_fully_and_unreadable_ones_are_undefined():
    answers = [reply(judgement(TABLES[0])), reply("I do not know."), Response("k", None, "gone")]
    found, reasons = judges.read(answers, TABLES[:3])
    assert found[0].mc_predicted == list(TABLES[0].mc_predicted)
    assert found[1:] == [None, None]
    assert reasons.tolist() == ["read", "no table of matches", "failed"]
    decisions = calibration.decisions(TABLES[:3], found, "toy")
    [row] = judging.agreement_by_judge(decisions).to_dict("records")
    assert row["agreement"] == 1
    assert row["undefined"] == sum(len(t.predicted) + len(t.gold) for t in TABLES[1:3])
    assert row["agreement_all"] < 1


def test_rows_missing_from_a_cut_answer_are_undefined_or_0_as_in_the_release():
    table, whole = TABLES[0], judgement(TABLES[0]).splitlines()
    truth = judges.Alignment(list(table.mc_predicted), list(table.mc_gold), [])
    # Cut off behind half of the gold rows.
    cut = "\n".join(whole[: -(len(table.gold) // 2)])
    found, _ = judges.read([reply(cut), reply("I do not know.")], TABLES[:2])
    assert found[0].mc_gold[-1] is None
    zeroed = judges.missing_as_0(found, TABLES[:2])
    assert zeroed[0].mc_predicted == list(table.mc_predicted)
    assert zeroed[0].mc_gold == [n or 0 for n in found[0].mc_gold]
    assert zeroed[1].mc_gold == [0] * len(TABLES[1].gold)
    f1 = judges.f1_of_tables(found[:1], TABLES[:1])
    assert f1["true F1"] == precision_recall_f1(truth)[2]
    assert f1["F1, missing as 0"] < f1["true F1"] < f1["F1"]
    assert f1["true F1"] - f1["F1, missing as 0"] > f1["F1"] - f1["true F1"]
    nothing = judges.f1_of_tables(found[1:], TABLES[1:2])
    assert np.isnan(nothing["F1"])
    assert nothing["F1, missing as 0"] == 0


def test_cost_is_that_of_the_answers_that_came():
    priced = {"provider": "openai", "model": "x", "price": {"input": 2, "output": 10}}
    spec = model_spec("x", {"x": priced})
    cost = judges.cost([reply("a"), reply("b"), Response("k", None, "gone")], spec)
    assert cost["answers"] == 2
    assert cost["list_price_usd"] == pytest.approx((2000 * 2 + 400 * 10) / 1e6)


def test_match_counts_and_f1_stand_by_judge():
    exact = [judges.Alignment(list(t.mc_predicted), list(t.mc_gold), []) for t in TABLES]
    table = judges.sensitivity({name: extraction_scores("gold") for name in ("exact", "other")})
    assert table[["judge", "model"]].to_numpy().tolist() == [["exact", "gold"], ["other", "gold"]]
    assert (table["value"] == 1).all()
    shares = judges.match_counts(TABLES, {"toy": exact})
    assert np.allclose(shares["truth"], shares["toy"])
    assert shares["truth"].sum() == pytest.approx(1)


def test_the_winner_is_the_judge_that_decided_all_and_agreed_most():
    agreement = pd.DataFrame(
        [
            ("exact", 0.6, 0.6, 100),
            ("embedding", 0.9, 0.9, 100),
            ("llm", 1.0, 0.99, 10),
            ("silent", 0.95, 0.2, 100),
        ],
        columns=["judge", "agreement", "agreement_all", "n"],
    ).assign(ci_low=0.1, ci_high=1.0, n_groups=5)
    assert judging.winner(agreement) == "embedding"
    chosen = judges.in_use("embedding", scoring.Judge("embedding", 0.78), agreement, "here")
    assert chosen["threshold"] == 0.78
    assert (chosen["agreement"], chosen["n"], chosen["truth"]) == (0.9, 100, "here")


def test_a_language_model_that_won_judges_the_tables_of_the_run():
    items = omnitom.compose(RECORDS[:3])
    keys = {"model": "m", "method": "stage1-L3"}
    said = [omnitom.reference(i, "stage1-L3", 0)["gold"] for i in items.to_dict("records")[::2]]
    said[1] = "No table."
    responses = pd.DataFrame(
        [
            {"item_id": item_id, "response": text, **keys}
            for item_id, text in zip(items["item_id"][::2], said, strict=True)
        ]
    )
    found_keys, tables = judges.tables_of(items, responses)
    assert [key[0] for key in found_keys] == [items["item_id"][0], items["item_id"][4]]
    none = [judges.Alignment([0] * len(t.predicted), [0] * len(t.gold), []) for t in tables]
    judged = dict(zip(found_keys, none, strict=True))
    scores = omnitom.score(items, responses, judge=EXACT, judged=judged)
    assert scores["score"].tolist() == [0, 0, 0]
    assert scores["judge"].tolist() == ["llm", "exact", "llm"]


def test_the_papers_worked_example_is_read_with_its_counts():
    example = judges.printed_example()
    assert example.mc_predicted == (1, 1, 1, 1, 1, 1)
    assert example.mc_gold == (1, 1, 2, 1, 1)
    assert example.gold[2].actor == "Xiao Hong"
    assert example.gold[2].belief == "Xiao Hong needs the bigger office that Xiao Li occupies"
    assert example.story.startswith("Xiao Hong wants to change to a bigger office, but")


def test_word_for_word_only_the_world_of_the_worked_example_matches():
    example = judges.printed_example()
    exact = alignment.align(example.predicted, example.gold, "exact", 1.0)
    found = judges.worked(example, {"exact": exact, "llm": None})
    counts = found.groupby(["judge", "side"])["matchcount"].agg(list)
    assert counts["exact", "predicted"] == [1, 1, 0, 0, 0, 0]
    assert counts["exact", "gold"] == [1, 1, 0, 0, 0]
    assert found.query("judge == 'llm'")["matchcount"].isna().sum() == 11
