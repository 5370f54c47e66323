"""Questions in both orders of two options and in other wordings: which, and how they are told."""

import asyncio
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from fantom_sets import question_set
from faulty_server import FaultyServer
from simpletom_stories import stories
from tomlab.asking import evaluation
from tomlab.asking.evaluation import evaluate, plan, requested
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.omnitom.items.records import read_records
from tomlab.errors import InputError
from tomlab.models.specs import model_spec
from tomlab.paths import DATA
from tomlab.records.tidy import REVERSED
from tomlab.scoring.variants import protocol, variants

REWORDED = DATA / "wordings" / "reworded"


def items_of(benchmark) -> pd.DataFrame:
    if benchmark is bigtom:
        items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv")
        return items[items["group_id"].isin(items["group_id"].unique()[:3])].reset_index(drop=True)
    if benchmark is fantom:
        return fantom.compose([question_set(), question_set("0-1-0", "accessible")])
    if benchmark is omnitom:
        return omnitom.compose(list(read_records(DATA / "omnitom" / "stories.jsonl"))[:3])
    return simpletom.compose(stories({}, {}, {}))


ITEMS = {each.NAME: items_of(each) for each in (bigtom, fantom, omnitom, simpletom)}
PLAIN = {"bigtom": "0-shot", "fantom": "short", "omnitom": "stage1-L3", "simpletom": "none"}
GROUPS = {"bigtom": "group_id", "fantom": "conversation_id", "simpletom": "group_id"}
each_of_two_options = pytest.mark.parametrize(
    "benchmark", [bigtom, fantom, simpletom], ids=lambda b: b.NAME
)
every = pytest.mark.parametrize(
    "benchmark", [bigtom, fantom, omnitom, simpletom], ids=lambda b: b.NAME
)


def model(provider: str = "baseline", name: str = "gold", **options):
    return model_spec("mine", {"mine": {"provider": provider, "model": name, **options}})


def planned(benchmark, spec=None, **options) -> list[evaluation.Question]:
    name = benchmark.NAME
    return plan(benchmark, ITEMS[name], spec or model(), [PLAIN[name]], **options)


def by_variant(questions) -> Counter:
    return Counter(question.asked_as for question in questions)


def request(benchmark, question):
    [made] = requested(benchmark, [question], model())
    return made


def shown(benchmark, question) -> str:
    return request(benchmark, question).messages[-1]["content"]


# What is asked


@every
def test_without_variants_all_is_as_it_was(benchmark):
    questions = planned(benchmark, samples=2)
    asked = benchmark.asked(ITEMS[benchmark.NAME], PLAIN[benchmark.NAME])
    assert by_variant(questions) == {"": 2 * len(asked)}
    assert all(q.number == q.sample == request(benchmark, q).sample for q in questions)


@each_of_two_options
def test_both_orders_show_the_options_exchanged_and_all_else_alike(benchmark):
    questions = planned(benchmark, orders=2)
    asked = benchmark.asked(ITEMS[benchmark.NAME], PLAIN[benchmark.NAME])
    two = asked[asked["choices"].map(len) == 2]
    assert by_variant(questions) == {"": len(asked), REVERSED: len(two)}
    plain = {q.item["item_id"]: q for q in questions if not q.asked_as}
    for question in (q for q in questions if q.asked_as == REVERSED):
        before, after = (shown(benchmark, q) for q in (plain[question.item["item_id"]], question))
        first, second = question.item["choices"]
        assert before != after
        assert after.index(f"){first}" if benchmark is bigtom else f") {first}") < after.index(
            f"){second}" if benchmark is bigtom else f") {second}"
        )
        assert sorted(before) == sorted(after)


@every
def test_another_wording_is_asked_where_it_changes_what_is_read(benchmark):
    folder = REWORDED / benchmark.NAME
    questions = planned(benchmark, model("openai", "toy"), wordings=[folder])
    plain = {q.item["item_id"]: q for q in questions if not q.asked_as}
    others = [q for q in questions if q.asked_as == "reworded"]
    told = {q.item["item_id"]: request(benchmark, q).messages for q in others}
    before = {name: request(benchmark, plain[name]).messages for name in told}
    assert told and all(told[name] != before[name] for name in told)
    if benchmark is fantom:
        kinds = {q.item["question_type"] for q in others}
        assert kinds == {"belief_choice", "answerability_yn", "infoaccess_yn"}
    else:
        assert set(told) == set(plain)


def test_baseline_reads_no_prompt_so_it_is_asked_in_no_other_wording():
    questions = planned(bigtom, orders=2, wordings=[REWORDED / "bigtom"])
    assert by_variant(questions) == {"": 75, REVERSED: 75}


def test_tries_that_come_in_orders_by_lot_are_not_turned_round():
    tries = ITEMS["simpletom"].assign(tried="{}")
    assert by_variant(plan(simpletom, tries, model(), ["none"], orders=2)).keys() == {""}


def test_model_may_be_asked_variants_of_a_part_of_its_groups():
    spec = model(groups={"bigtom": {"0-shot": 2}}, variants={"bigtom": {"0-shot": 1}})
    questions = planned(bigtom, spec, orders=2)
    assert by_variant(questions) == {"": 50, REVERSED: 25}
    with pytest.raises(InputError, match=r"models\.mine\.variants\.bigtom: no method '2-shot'"):
        planned(bigtom, model(variants={"bigtom": {"2-shot": 1}}))


def test_model_may_be_asked_other_orders_of_all_and_wordings_of_a_part():
    spec = model("openai", "toy", variants={"bigtom": {"0-shot": {"wordings": 1}}})
    folder, whole = REWORDED / "bigtom", len(plan(bigtom, ITEMS["bigtom"], spec, ["0-shot"]))
    questions = plan(bigtom, ITEMS["bigtom"], spec, ["0-shot"], orders=2, wordings=[folder])
    assert by_variant(questions) == {"": whole, REVERSED: whole, "reworded": 25}


def test_samples_have_numbers_of_their_own_and_requests_those_of_the_repeat():
    options = {"samples": 2, "orders": 2, "wordings": [REWORDED / "bigtom"]}
    questions = planned(bigtom, model("openai", "toy"), **options)
    one = [q for q in questions if q.item["item_id"] == questions[0].item["item_id"]]
    assert [(q.asked_as, q.number, request(bigtom, q).sample) for q in one] == [
        *(("", 0, 0), ("", 1, 1), (REVERSED, 2, 0), (REVERSED, 3, 1)),
        *(("reworded", 4, 0), ("reworded", 5, 1)),
    ]


# What is answered


def answered(benchmark, spec, store: Path, **options) -> tuple[pd.DataFrame, pd.DataFrame]:
    questions = planned(benchmark, spec, **options)
    responses = asyncio.run(evaluate(benchmark, questions, spec, store=store))
    return responses, benchmark.score(ITEMS[benchmark.NAME], responses)


@each_of_two_options
@pytest.mark.parametrize("policy", ["gold", "omniscient"])
def test_who_goes_by_what_options_say_answers_alike_in_both_orders(benchmark, policy, tmp_path):
    _, scores = answered(benchmark, model(name=policy), tmp_path / "s.sqlite", orders=2)
    table = variants(scores, ITEMS[benchmark.NAME], GROUPS[benchmark.NAME])
    values = table.set_index("metric")["value"]
    assert values["same_answer"] == 1
    assert values["first_option"] == 0.5
    assert values["difference"] == 0
    if policy == "gold":
        assert values["both_right"] == values["both"] == 1


@each_of_two_options
def test_who_names_the_second_letter_is_right_in_half_of_both_orders(benchmark, tmp_path):
    letter = {"bigtom": "b) so", "fantom": "(b)", "simpletom": "(B)"}[benchmark.NAME]
    responses, _ = answered(benchmark, model(), tmp_path / "s.sqlite", orders=2)
    scores = benchmark.score(ITEMS[benchmark.NAME], responses.assign(response=letter))
    table = variants(scores, ITEMS[benchmark.NAME], GROUPS[benchmark.NAME])
    values = table.set_index("metric")["value"]
    assert values["first_option"] == values["same_answer"] == values["both_right"] == 0
    assert values["both"] == 0.5


def test_who_guesses_guesses_anew(tmp_path):
    _, scores = answered(bigtom, model(name="random"), tmp_path / "s.sqlite", orders=2)
    values = variants(scores, ITEMS["bigtom"], "group_id").set_index("metric")["value"]
    assert 0.3 < values["same_answer"] < 0.7


@every
def test_metrics_are_of_what_the_protocol_asks(benchmark, tmp_path):
    spec = model(name="random")
    store, name = tmp_path / "s.sqlite", benchmark.NAME
    alone, scores = answered(benchmark, spec, store)
    both, with_others = answered(benchmark, spec, store, orders=2)
    pd.testing.assert_frame_equal(protocol(both), alone)
    pd.testing.assert_frame_equal(protocol(with_others), scores)
    assert benchmark.metrics(with_others).equals(benchmark.metrics(scores)), name


def test_a_variant_asks_only_what_is_new(tmp_path):
    with FaultyServer() as server:
        spec = model(
            "openai", "toy", base_url=f"{server.url}/v1", variants={"bigtom": {"0-shot": 1}}
        )
        before, _ = answered(bigtom, spec, tmp_path / "s.sqlite")
        count = len(server.asked)
        both, _ = answered(bigtom, spec, tmp_path / "s.sqlite", orders=2)
        # Two items of a template are one and the same question.
        asked = [before["request_key"].nunique(), both["request_key"].nunique()]
        assert [count, len(server.asked)] == asked
        assert 20 < asked[1] - asked[0] <= 25
    pd.testing.assert_frame_equal(protocol(both), before)
    told = both[both["asked_as"] == REVERSED].iloc[0]
    assert told["sample"] == 1


# Folders of wordings


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "bigtom/instructions.txt",
            "Pick.",
            r"instructions\.txt: no prompt 'bigtom/instructions'; .*bigtom/instruction,",
        ),
        ("bigtom/instruction.md", "Pick.", r"instruction\.md: no prompt 'bigtom/instruction\.md'"),
        (
            "bigtom/labels.txt",
            "Which labels?",
            r"labels\.txt: .*\n  expected \{story\} in it, found none",
        ),
        ("bigtom/instruction.txt", "Read {story}.", r"instruction\.txt: .*\n  found \{story\}"),
        ("bigtom/.keep", "", r"bigtom: found no file, expected <prompt>\.txt"),
    ],
)
def test_folder_that_does_not_stand_for_our_prompts_is_named(file, text, said, tmp_path):
    path = tmp_path / "mine" / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        planned(bigtom, model("openai", "toy"), wordings=[path.parent])
