"""Questions asked without the story: which, what they show, and what the story adds."""

import asyncio
import random

import pandas as pd
import pytest

from fantom_sets import question_set
from faulty_server import Act, FaultyServer
from simpletom_stories import stories
from tomlab.asking.evaluation import evaluate, plan, requested
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.bigtom.items.compose import main_cells
from tomlab.benchmarks.omnitom.items.records import read_records
from tomlab.models.specs import model_spec
from tomlab.paths import DATA
from tomlab.records.asked import INSTEAD_OF_STORY, options_of
from tomlab.records.tidy import NO_STORY, REVERSED
from tomlab.scoring.variants import gain_from_story, protocol, variants
from toy_models import toy

TEMPLATES = bigtom.read_released(DATA / "bigtom" / "bigtom.csv")
ITEMS = {
    bigtom: TEMPLATES[TEMPLATES["group_id"].isin(TEMPLATES["group_id"].unique()[:16])],
    fantom: fantom.compose([question_set(), question_set("0-1-0", "accessible")]),
    simpletom: simpletom.compose(stories({}, {}, {})),
}
# Methods that ask without a story, and others that do not.
METHODS = {
    bigtom: ["0-shot", "1-shot", "0-shot-cot"],
    fantom: ["short", "full"],
    simpletom: ["none", "sysp", "cot"],
}
GROUPS = {bigtom: "group_id", fantom: "conversation_id", simpletom: "group_id"}
KINDS = {bigtom: "condition", fantom: "scenario", simpletom: "question_type"}
BENCHMARKS = pytest.mark.parametrize("benchmark", ITEMS, ids=lambda b: b.NAME)


def baseline(name: str, **options):
    return model_spec("mine", {"mine": {"provider": "baseline", "model": name, **options}})


def planned(benchmark, spec, **options) -> list:
    return plan(benchmark, ITEMS[benchmark], spec, METHODS[benchmark], **options)


def without_story(questions) -> list:
    return [question for question in questions if question.asked_as == NO_STORY]


def answered(benchmark, spec, folder, **options) -> tuple[pd.DataFrame, pd.DataFrame]:
    questions = planned(benchmark, spec, **options)
    store = folder / "s.sqlite"
    responses = asyncio.run(evaluate(benchmark, questions, spec, store=store))
    return responses, benchmark.score(ITEMS[benchmark], responses)


def gains(benchmark, scores, **options) -> pd.DataFrame:
    return gain_from_story(scores, GROUPS[benchmark], KINDS[benchmark], **options)


@BENCHMARKS
def test_questions_with_options_are_asked_without_the_story_by_plain_methods_alone(benchmark):
    asked = without_story(planned(benchmark, baseline("gold", no_story=True), orders=2))
    for method in METHODS[benchmark]:
        items = benchmark.asked(ITEMS[benchmark], method).to_dict("records")
        expected = []
        if method in benchmark.WITHOUT_STORY:
            expected = [item["item_id"] for item in items if options_of(item)]
        assert [q.item["item_id"] for q in asked if q.method == method] == expected


@BENCHMARKS
def test_no_story_is_asked_about_unless_the_entry_says_so(benchmark):
    questions = planned(benchmark, baseline("gold"), orders=2)
    assert not without_story(questions)
    asked_so = planned(benchmark, baseline("gold", no_story=True), orders=2)
    # What else is asked, and how it is numbered, stays as it is.
    others = [q for q in asked_so if q.asked_as != NO_STORY]
    assert [(q.item["item_id"], q.number) for q in others] == [
        (q.item["item_id"], q.number) for q in questions
    ]


def test_omnitom_has_nothing_to_ask_without_a_story():
    items = omnitom.compose(list(read_records(DATA / "omnitom" / "stories.jsonl"))[:3])
    methods = ["stage1-L3", "stage2-L3"]
    assert not without_story(plan(omnitom, items, baseline("gold", no_story=True), methods))


@BENCHMARKS
def test_a_prompt_without_the_story_differs_in_the_story_alone(benchmark):
    spec = toy("openai", "http://localhost:1", no_story=True)
    stories_by_item = ITEMS[benchmark].set_index("item_id")["story"]
    questions = planned(benchmark, spec)
    requests = requested(benchmark, questions, spec)
    texts = {}
    for question, request in zip(questions, requests, strict=True):
        text = request.messages[-1]["content"]
        texts[question.asked_as, question.method, question.item["item_id"]] = text
        assert text.startswith(request.shared_prefix)
    for (asked_as, method, item_id), text in texts.items():
        if asked_as == NO_STORY:
            usual = texts["", method, item_id]
            assert text == usual.replace(stories_by_item[item_id], INSTEAD_OF_STORY) != usual


@BENCHMARKS
def test_metrics_and_variants_are_the_same_with_and_without_these_questions(benchmark, tmp_path):
    items = ITEMS[benchmark]
    before, scores = answered(benchmark, baseline("random"), tmp_path, orders=2)
    after, with_others = answered(benchmark, baseline("random", no_story=True), tmp_path, orders=2)
    assert {*after["asked_as"]} == {"", REVERSED, NO_STORY}
    pd.testing.assert_frame_equal(protocol(after), protocol(before))
    pd.testing.assert_frame_equal(benchmark.metrics(with_others), benchmark.metrics(scores))
    varied = [variants(table, items, GROUPS[benchmark]) for table in (scores, with_others)]
    pd.testing.assert_frame_equal(*varied)
    assert gains(benchmark, scores).empty


@BENCHMARKS
def test_omniscient_gains_nothing_as_it_answers_from_the_items_record(benchmark, tmp_path):
    _, scores = answered(benchmark, baseline("omniscient", no_story=True), tmp_path)
    assert (gains(benchmark, scores)["gain"] == 0).all()


def test_random_gains_nothing_beyond_chance(tmp_path):
    _, scores = answered(bigtom, baseline("random", no_story=True), tmp_path)
    [row] = gains(bigtom, scores.assign(condition="all")).to_dict("records")
    assert row["n"] == 25 * 16
    assert row["ci_low"] < 0 < row["ci_high"]
    assert row["gain"] != 0  # it guesses anew


# Two scripted models behind a server: one reads, the other never does.


class Reader:
    """Answers BigToM's questions. With the story, a share `reads` of the questions is answered
    rightly; all others are guessed, by the question and its options alone.
    """

    def __init__(self, reads: float):
        self.reads = reads
        self.answers = {}
        for item in ITEMS[bigtom].to_dict("records"):
            self.answers[item["story"], item["question"]] = item["answer"]

    def answer(self, prompt: str) -> str:
        story, _, question = prompt.removeprefix("Story: ").partition("\nQuestion: ")
        question, _, options = question.partition("\nChoose one of the following:\n")
        draw = random.Random(prompt)
        right = self.answers.get((story, question))
        if right is not None and draw.random() < self.reads:
            return next(option for option in options.split("\n") if option.endswith(right))
        return random.Random(question + options).choice(options.split("\n"))


@pytest.mark.parametrize(("reads", "gain"), [(0.8, 0.4), (0, 0)])
def test_a_model_that_reads_gains_from_the_story_and_one_that_does_not_gains_nothing(
    reads, gain, tmp_path
):
    model = Reader(reads)
    with FaultyServer() as server:

        def prepare(_: int) -> None:
            server.script = [Act(text=model.answer(server.asked[-1].text))]

        server.on_asked = prepare
        spec = toy("openai", server.url, no_story=True)
        questions = plan(bigtom, main_cells(ITEMS[bigtom]), spec, ["0-shot"])
        responses = asyncio.run(evaluate(bigtom, questions, spec, store=tmp_path / "s.sqlite"))
    scores = bigtom.score(ITEMS[bigtom], responses)
    versions = ["group_id", "variable", "initial_belief"]
    table = gains(bigtom, scores, versions=versions).set_index("condition")
    assert table["n"].tolist() == [6 * 16] * 3
    assert table[["readable_with_story", "readable_without_story"]].eq(1).all(axis=None)
    beliefs = table.loc[["true_belief", "false_belief"]]
    assert ((beliefs["ci_low"] <= gain) & (gain <= beliefs["ci_high"])).all()
    if reads:
        assert (table["ci_low"] > 0).all()
    else:
        assert (table["gain"] == 0).all()
