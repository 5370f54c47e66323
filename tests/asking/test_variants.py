"""Questions in both orders of two options and in other wordings: which, and how they are told."""

import asyncio
from collections import Counter

import pandas as pd
import pytest

from fantom_sets import question_set
from simpletom_stories import stories
from tomlab.asking.evaluation import evaluate, plan, requested
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.omnitom.items.records import read_records
from tomlab.errors import InputError
from tomlab.models.specs import model_spec
from tomlab.paths import DATA
from tomlab.records.tidy import REVERSED
from tomlab.scoring.variants import protocol, variants
from toy_models import toy

REWORDED = DATA / "wordings" / "reworded"
PLAIN = {bigtom: "0-shot", fantom: "short", omnitom: "stage1-L3", simpletom: "none"}
GROUPS = {bigtom: "group_id", fantom: "conversation_id", simpletom: "group_id"}
# An option as it is shown, and the second letter as an answer.
SHOWN = {bigtom: "){}", fantom: ") {}", simpletom: ") {}"}
SECOND = {bigtom: "b) so", fantom: "(b)", simpletom: "(B)"}
BENCHMARKS = pytest.mark.parametrize("benchmark", PLAIN, ids=lambda b: b.NAME)
OF_TWO_OPTIONS = pytest.mark.parametrize("benchmark", GROUPS, ids=lambda b: b.NAME)


BIGTOM = bigtom.read_released(DATA / "bigtom" / "bigtom.csv")
ITEMS = {
    bigtom: BIGTOM[BIGTOM["group_id"].isin(BIGTOM["group_id"].unique()[:3])],
    fantom: fantom.compose([question_set(), question_set("0-1-0", "accessible")]),
    omnitom: omnitom.compose(list(read_records(DATA / "omnitom" / "stories.jsonl"))[:3]),
    simpletom: simpletom.compose(stories({}, {}, {})),
}


def baseline(name: str = "gold", **options):
    return model_spec("mine", {"mine": {"provider": "baseline", "model": name, **options}})


def remote(**options):
    return toy("openai", "http://localhost:1", **options)


def planned(benchmark, spec=None, **options) -> list:
    return plan(benchmark, ITEMS[benchmark], spec or baseline(), [PLAIN[benchmark]], **options)


def ways(questions) -> Counter:
    return Counter(question.asked_as for question in questions)


def request(benchmark, question):
    [made] = requested(benchmark, [question], baseline())
    return made


# What is asked


@BENCHMARKS
def test_without_variants_all_is_asked_once_a_sample(benchmark):
    questions = planned(benchmark, samples=2)
    asked = benchmark.asked(ITEMS[benchmark], PLAIN[benchmark])
    assert ways(questions) == {"": 2 * len(asked)}
    assert all(q.number == q.sample == request(benchmark, q).sample for q in questions)


def texts_by_way(benchmark, questions) -> dict[str, dict[str, str]]:
    """What each question sends, by way of asking and item."""
    texts = {}
    for question in questions:
        contents = [message["content"] for message in request(benchmark, question).messages]
        texts_of_way = texts.setdefault(question.asked_as, {})
        texts_of_way[question.item["item_id"]] = "\n".join(contents)
    return texts


@OF_TWO_OPTIONS
def test_both_orders_show_the_options_exchanged_and_all_else_alike(benchmark):
    questions = planned(benchmark, orders=2)
    asked = benchmark.asked(ITEMS[benchmark], PLAIN[benchmark])
    assert ways(questions) == {"": len(asked), REVERSED: (asked["choices"].map(len) == 2).sum()}
    texts = texts_by_way(benchmark, questions)
    choices = {q.item["item_id"]: q.item["choices"] for q in questions if q.asked_as == REVERSED}
    for name, reversed_text in texts[REVERSED].items():
        first, second = [SHOWN[benchmark].format(option) for option in choices[name]]
        assert reversed_text.index(first) < reversed_text.index(second)
        assert reversed_text != texts[""][name]
        assert sorted(reversed_text) == sorted(texts[""][name])


@BENCHMARKS
def test_another_wording_is_asked_where_it_changes_what_is_read(benchmark):
    questions = planned(benchmark, remote(), wordings=[REWORDED / benchmark.NAME])
    texts = texts_by_way(benchmark, questions)
    assert texts["reworded"]
    for name, text in texts["reworded"].items():
        assert text != texts[""][name]
    if benchmark is fantom:
        kinds = {q.item["question_type"] for q in questions if q.asked_as}
        assert kinds == {"belief_choice", "answerability_yn", "infoaccess_yn"}
    else:
        assert texts["reworded"].keys() == texts[""].keys()


ONE = {"bigtom": {"0-shot": 1}}
# Of three templates with 25 items each.
COUNTS = {
    "baselines read no prompt": (baseline(), {"": 75, REVERSED: 75}),
    "a part of the groups": (
        baseline(groups={"bigtom": {"0-shot": 2}}, variants=ONE),
        {"": 50, REVERSED: 25},
    ),
    "all orders, a part of the wordings": (
        remote(variants={"bigtom": {"0-shot": {"wordings": 1}}}),
        {"": 75, REVERSED: 75, "reworded": 25},
    ),
}


@pytest.mark.parametrize(("spec", "counts"), COUNTS.values(), ids=COUNTS)
def test_a_model_may_be_asked_variants_of_a_part_of_its_groups(spec, counts):
    questions = planned(bigtom, spec, orders=2, wordings=[REWORDED / "bigtom"])
    assert ways(questions) == counts


def test_tries_that_come_in_orders_by_lot_are_not_turned_round():
    tries = ITEMS[simpletom].assign(tried="{}")
    assert ways(plan(simpletom, tries, baseline(), ["none"], orders=2)).keys() == {""}


def test_samples_have_numbers_of_their_own_and_requests_those_of_the_repeat():
    options = {"samples": 2, "orders": 2, "wordings": [REWORDED / "bigtom"]}
    questions = planned(bigtom, remote(), **options)
    item_id = questions[0].item["item_id"]
    of_item = [question for question in questions if question.item["item_id"] == item_id]
    ways_of_asking = ["", "", REVERSED, REVERSED, "reworded", "reworded"]
    assert [question.asked_as for question in of_item] == ways_of_asking
    assert [question.number for question in of_item] == [*range(6)]
    assert [request(bigtom, question).sample for question in of_item] == [0, 1] * 3


# What is answered


def answered(benchmark, spec, folder, **options) -> tuple[pd.DataFrame, pd.DataFrame]:
    questions = planned(benchmark, spec, **options)
    store = folder / "s.sqlite"
    responses = asyncio.run(evaluate(benchmark, questions, spec, store=store))
    return responses, benchmark.score(ITEMS[benchmark], responses)


def varied(benchmark, scores) -> pd.Series:
    return variants(scores, ITEMS[benchmark], GROUPS[benchmark]).set_index("metric")["value"]


@OF_TWO_OPTIONS
def test_who_goes_by_options_answers_alike_and_who_goes_by_letters_is_right_in_half(
    benchmark, tmp_path
):
    for policy in ("gold", "omniscient"):
        responses, scores = answered(benchmark, baseline(policy), tmp_path, orders=2)
        values = varied(benchmark, scores)
        assert values["same_answer"] == 1
        assert values["first_option"] == 0.5
        assert values["difference"] == 0
        if policy == "gold":
            assert values["both_right"] == values["both"] == 1
    scores = benchmark.score(ITEMS[benchmark], responses.assign(response=SECOND[benchmark]))
    values = varied(benchmark, scores)
    assert values["first_option"] == values["same_answer"] == values["both_right"] == 0
    assert values["both"] == 0.5


@BENCHMARKS
def test_metrics_are_of_what_the_protocol_asks_and_guesses_are_made_anew(benchmark, tmp_path):
    alone, scores = answered(benchmark, baseline("random"), tmp_path)
    both, with_others = answered(benchmark, baseline("random"), tmp_path, orders=2)
    pd.testing.assert_frame_equal(protocol(both), alone)
    pd.testing.assert_frame_equal(protocol(with_others), scores)
    assert benchmark.metrics(with_others).equals(benchmark.metrics(scores))
    if benchmark is bigtom:
        assert 0.3 < varied(bigtom, with_others)["same_answer"] < 0.7


def test_a_variant_asks_only_what_is_new(faulty_server, tmp_path):
    spec = toy("openai", faulty_server.url, variants=ONE)
    before, _ = answered(bigtom, spec, tmp_path)
    assert len(faulty_server.asked) == before["request_key"].nunique()
    faulty_server.asked.clear()
    both, _ = answered(bigtom, spec, tmp_path, orders=2)
    # Two items of a template are one and the same question.
    assert 20 < len(faulty_server.asked) <= 25
    assert both["request_key"].nunique() == before["request_key"].nunique() + len(
        faulty_server.asked
    )
    pd.testing.assert_frame_equal(protocol(both), before)


# Folders of wordings


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("instructions.txt", "Pick.", r"no prompt 'bigtom/instructions'; .*bigtom/instruction,"),
        ("instruction.md", "Pick.", r"no prompt 'bigtom/instruction\.md'"),
        ("labels.txt", "Which labels?", r"labels\.txt: .*\n  expected \{story\} in it, found none"),
        (".keep", "", r"bigtom: found no file, expected <prompt>\.txt"),
    ],
)
def test_folder_that_does_not_stand_for_our_prompts_is_named(file, text, message, tmp_path):
    path = tmp_path / "mine" / "bigtom" / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        planned(bigtom, remote(), wordings=[path.parent])
