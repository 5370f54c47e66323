"""Methods of two calls: what both calls say on every benchmark, and what becomes of a lost one."""

import asyncio
import json
import re

import pandas as pd
import pytest

from bigtom_templates import MEI
from fantom_quince import question_set
from faulty_server import BROKEN, Act
from simpletom_stories import our_stories
from tomlab.asking import prompts, techniques
from tomlab.asking.evaluation import evaluate, plan
from tomlab.asking.techniques import perceived
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.omnitom.items.records import read_records
from tomlab.benchmarks.omnitom.scoring import Judge
from tomlab.errors import InputError
from tomlab.models.specs import Limits, model_spec
from tomlab.paths import DATA
from toy_models import toy

ITEMS = {
    bigtom: bigtom.compose(pd.DataFrame([MEI])),
    simpletom: simpletom.compose(our_stories().head(3)),
    fantom: fantom.compose([question_set()]),
    omnitom: omnitom.compose(read_records(DATA / "omnitom" / "stories.jsonl")[:2]),
}
PREFIXES = [
    (bigtom, ""),
    (simpletom, ""),
    (fantom, "short-"),
    (omnitom, "stage1-L3-"),
    (omnitom, "stage2-L3-"),
]
METHODS = []
for some_benchmark, prefix in PREFIXES:
    METHODS += [(some_benchmark, f"{prefix}{technique}") for technique in techniques.TECHNIQUES]
every = pytest.mark.parametrize(
    ("benchmark", "method"), METHODS, ids=[f"{b.NAME}-{method}" for b, method in METHODS]
)
PLAIN = {bigtom: "0-shot", simpletom: "none", fantom: "short"}


def item(benchmark, kind, **more):
    return {**ITEMS[benchmark].query(kind).iloc[0].to_dict(), **more}


def said(benchmark, kind, method, **more) -> str:
    """The last message on one item."""
    return benchmark.messages(item(benchmark, kind, **more), method)[-1]["content"]


def asked(benchmark, spec, methods, folder, **limits) -> pd.DataFrame:
    questions = plan(benchmark, ITEMS[benchmark], spec, methods)
    options = {"store": folder / "s.sqlite", "limits": Limits(**limits)}
    return asyncio.run(evaluate(benchmark, questions, spec, **options))


# What is asked, as named examples

FORWARD = "variable == 'forward_belief' and condition == 'false_belief' and initial_belief == 0"


def test_bigtom_perspective_asks_what_mei_knows_then_the_question_on_that_alone():
    row = item(bigtom, FORWARD)
    question = (
        "Question: Does Mei believe the oyster she spotted contains a pearl or that it is empty?"
    )
    instruction = prompts.load("techniques/perspective-first")
    [first] = bigtom.messages(row, "perspective-first")
    assert first["content"] == f"{row['story']}\n\n{question}\n\n{instruction}"
    second = said(bigtom, FORWARD, "perspective", reasoning="Mei spots an oyster.")
    assert second.startswith(
        f"Story: What the people in question know:\nMei spots an oyster.\n{question}\n"
        "Choose one of the following:\na)"
    )
    assert "octopus" not in second


PIECES = """\
1. Mei dives down. [Mei, Aiko]
2. An octopus opens the oyster. [Aiko]
- Mei comes up. [mei]"""


def test_bigtom_perception_asks_on_the_pieces_that_mei_perceives():
    second = said(bigtom, FORWARD, "perception", reasoning=PIECES)
    pieces = "Mei dives down. [Mei, Aiko]\nMei comes up. [mei]\nQuestion: Does Mei"
    assert f"in brackets all who did:\n{pieces}" in second
    assert "octopus" not in second


BEHAVIOR = "question_type == 'behavior'"


def test_simpletom_decomposition_keeps_the_story_and_the_form_of_the_answer():
    row = item(simpletom, BEHAVIOR)
    second = said(simpletom, BEHAVIOR, "decomposition", reasoning="Who pays? Nobody yet.")
    plain = said(simpletom, BEHAVIOR, "none")
    added = "Simpler questions about this, answered first:\nWho pays? Nobody yet.\n\n"
    assert second == plain.replace("\n\nQuestion:", f"\n\n{added}Question:", 1)
    assert second.startswith(simpletom.shared_prefix(row, "none"))


def test_fantom_names_the_information_and_takes_the_pieces_of_whom_it_asks_about():
    knows = "question == 'Does Bruno know this?' and question_type == 'infoaccess_yn'"
    first = said(fantom, knows, "short-perception-first")
    question = "Information: What did Ilse plant? Ilse planted a quince tree.\nQuestion: Does Bruno"
    assert f"{item(fantom, knows)['story']}\n\n{question} know this?\n\nAbove" in first
    pieces = "Ilse: I planted a tree. [Ilse, Noor]\nIlse: I water at dawn. [Ilse, Noor, Bruno]"
    second = said(fantom, knows, "short-perception", reasoning=pieces)
    assert "at dawn" in second
    assert "I planted" not in second
    assert second.endswith(f"\n\n{question} know this? Answer yes or no.\nAnswer:")


def test_omnitom_asks_who_knows_what_then_for_the_table_with_the_story_in_sight():
    row = item(omnitom, "question_type == 'extraction'")
    first = said(omnitom, "question_type == 'extraction'", "stage1-L3-perspective-first")
    assert f"{row['story']}\n\nQuestion: Who in this story believes what" in first
    system, second = omnitom.messages({**row, "reasoning": "Ana: all."}, "stage1-L3-perspective")
    assert system["content"] == prompts.load("omnitom/extract-L3")
    story = f"Story:\n{row['story']}\n\nWhat the people in question know:\nAna: all.\n\n"
    assert story in second["content"]


@every
def test_second_call_is_that_of_the_plain_method_with_what_the_first_said(benchmark, method):
    plain = PLAIN.get(benchmark, method.rpartition("-")[0])
    assert benchmark.METHODS[method].max_tokens == benchmark.METHODS[plain].max_tokens
    first = benchmark.METHODS[method].first
    for row in benchmark.asked(ITEMS[benchmark], method).to_dict("records"):
        answered = {**row, "reasoning": row["story"]}
        for name in (first, method):
            last = benchmark.messages(answered, name)[-1]["content"]
            assert not re.search(r"\{\w+\}", last)
            assert last.startswith(benchmark.shared_prefix(row, name))
        *system, ours = benchmark.messages(answered, method)
        *plain_system, theirs = benchmark.messages(row, plain)
        assert system == plain_system
        assert ours["content"].endswith(theirs["content"].partition(row["story"])[2])
        with pytest.raises(InputError, match=f"{benchmark.NAME}: {first} has to be answered"):
            benchmark.messages(row, method)


def test_users_own_prompts_take_the_place_of_ours(tmp_path):
    replaced = {}
    for call, text in {"first": "What does she know?", "second": "Known: {said}"}.items():
        path = tmp_path / f"{call}.txt"
        path.write_text(text)
        replaced[f"techniques/perspective-{call}"] = path
    row = item(bigtom, FORWARD, reasoning="An oyster.")
    [first] = bigtom.messages(row, "perspective-first", replaced)
    assert first["content"].endswith("\n\nWhat does she know?")
    second = bigtom.messages(row, "perspective", replaced)[-1]["content"]
    assert second.startswith("Story: Known: An oyster.\nQuestion")


# Which pieces are whose

PERCEIVED = "It rains. [Ana]\nIt snows. [Ben, Mrs. Ng]\nIt hails. []\nIt thaws. [An]"


@pytest.mark.parametrize(
    ("question", "pieces"),
    [
        ("Does Ana believe that Ben has it?", "It rains. [Ana]"),
        ("What does ben believe about Ana's key?", "It snows. [Ben, Mrs. Ng]"),
        ("Is Mrs. Ng likely to be aware of it?", "It snows. [Ben, Mrs. Ng]"),
        ("Who knows of it?", PERCEIVED),
        ("Does An know?", "It thaws. [An]"),  # a name is a whole word
    ],
)
def test_pieces_of_the_person_named_first(question, pieces):
    assert perceived(PERCEIVED, question) == pieces
    assert perceived("Ana sees it all.", question) == "Ana sees it all."


# Both calls, made


def test_evaluate_makes_both_calls_and_scores_the_second(faulty_server, tmp_path):
    faulty_server.default = Act(text="<think>Hm.</think>Answer: a)")
    spec = toy("openai", faulty_server.url)
    methods = ["perspective", "0-shot"]
    table = asked(bigtom, spec, methods, tmp_path)
    counts = table["method"].value_counts(sort=False)
    assert counts.to_dict() == {"0-shot": 25, "perspective-first": 12, "perspective": 12}
    assert {question.body["max_tokens"] for question in faulty_server.asked} == {100, 256}
    second = json.loads(table["messages"].iloc[-1])[-1]["content"]
    assert "know:\nAnswer: a)\nQuestion:" in second  # without its thinking
    scores = bigtom.score(ITEMS[bigtom], table)
    assert scores["method"].value_counts().to_dict() == {"0-shot": 25, "perspective": 12}


def test_a_lost_first_call_keeps_the_question_with_an_error(faulty_server, tmp_path):
    spec = toy("openai", faulty_server.url, max_concurrency=1, max_retries=0)
    faulty_server.script = [BROKEN]
    table = asked(bigtom, spec, ["perspective"], tmp_path, max_error_share=1)
    failed = table[table["error"].notna()]
    assert failed["method"].tolist() == ["perspective-first", "perspective"]
    assert failed["error"].iloc[1].startswith("first call: ")
    outcomes = bigtom.score(ITEMS[bigtom], table)["outcome"]
    assert len(outcomes) == 12
    assert (outcomes == "error").sum() == 1

    faulty_server.asked.clear()
    assert asked(bigtom, spec, ["perspective"], tmp_path)["error"].isna().all()
    assert len(faulty_server.asked) == 2


@every
def test_gold_answers_are_right_through_every_method(benchmark, method, tmp_path):
    spec = model_spec("gold", {"gold": {"provider": "baseline", "model": "gold"}})
    table = asked(benchmark, spec, [method], tmp_path)
    judge = {"judge": Judge("exact")} if benchmark is omnitom else {}
    scores = benchmark.score(ITEMS[benchmark], table, **judge)
    assert {*scores["method"]} == {method}
    assert len(scores) == (table["method"] == f"{method}-first").sum()
    assert (scores["score"] == 1).all()
