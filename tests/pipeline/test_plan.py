"""A plan asks what the run then asks, and costs what is then booked; nothing is asked for it."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

from bigtom_templates import MEI
from fantom_sets import question_set
from faulty_server import FaultyServer
from simpletom_stories import stories
from tomlab import paths
from tomlab.benchmarks import bigtom, fantom, simpletom
from tomlab.models.specs import UNLIMITED
from tomlab.models.store import Store
from tomlab.pipeline import plan
from tomlab.records import tidy

PRICE = {"input": 1000, "output": 3000}
TOY = {"provider": "openai", "model": "toy", "temperature": 0.7, "price": PRICE}
METHODS = {
    "bigtom": ["0-shot", "1-shot"],
    "fantom": ["short", "short-cot"],
    "simpletom": ["none", "cot", "ms-remind"],
}
COUNTS = ["benchmark", "method", "requests"]


def content(benchmarks: list[str], entry: dict, **run) -> dict:
    """The repository's parameters for a small run of one model."""
    params = yaml.safe_load((paths.ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["run"]["benchmarks"] = {name: params["run"]["benchmarks"][name] for name in benchmarks}
    params["run"] |= {"models": ["toy"], "answers": [], **run}
    params["models"]["toy"] = TOY | entry
    params["limits"]["max_cost_usd"] = 1.0
    for name in set(METHODS) & set(benchmarks):
        params[name]["evaluation"]["methods"] = METHODS[name]
    return params


def write_items(results: Path) -> None:
    ama = {name: text.replace("Mei", "Ama") for name, text in MEI.items()}
    two = [MEI, ama | {"template_id": "ama"}]
    moths = {"key_information": "The box of oats has moths in it."}
    items = {
        "bigtom": bigtom.compose(pd.DataFrame(two)),
        "fantom": fantom.compose([question_set(), question_set("1-0-0", "accessible")]),
        "simpletom": simpletom.compose(stories({}, moths)),
    }
    for name, table in items.items():
        tidy.write(table, "items", results / "items" / f"{name}.parquet")


# A run of three benchmarks, and then one of the first alone with a second sample of everything


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Iterator[SimpleNamespace]:
    root = tmp_path_factory.mktemp("root")
    for name in ("book", "data", "forms", "notebooks", "src"):
        (root / name).symlink_to(paths.ROOT / name)
    write_items(root / "results")

    def run(content: dict, *benchmarks: str) -> SimpleNamespace:
        content["limits"]["max_cost_usd"] = None
        (root / "params.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
        helper = Path(__file__).parents[1] / "helpers" / "planned.py"
        env = {**os.environ, "TOMLAB_ROOT": str(root)}
        command = [sys.executable, str(helper), *benchmarks]
        process = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr
        return SimpleNamespace(**json.loads(process.stdout), asked=list(server.asked))

    with FaultyServer() as server:
        entry = {"base_url": f"{server.url}/v1", "no_story": True}
        first = run(content([*METHODS], entry), *METHODS)
        again = run(content(["bigtom", "omnitom"], entry, samples=2), "bigtom")
    yield SimpleNamespace(first=first, again=again, store=root / ".responses" / "store.sqlite")


def test_requests_of_the_plan_are_those_that_the_server_then_sees(made):
    before, after = (pd.DataFrame(rows) for rows in (made.first.before, made.first.after))
    assert before["kept"].sum() == 0
    assert set(before["method"]) == {*chain(*METHODS.values()), "short-reasoning"}
    bodies = {json.dumps(asked.body) for asked in made.first.asked}
    assert before["requests"].sum() == len(made.first.asked) == len(bodies)
    # Once all is asked, each planned key is that of an answer that came.
    assert after["kept"].tolist() == after["requests"].tolist()
    assert after[COUNTS].equals(before[COUNTS])
    with Store(made.store) as store:
        # Of the first benchmark a second sample came later.
        for name, rows in before[before["benchmark"] != "bigtom"].groupby("benchmark"):
            came = Counter(row["uses"].split()[1] for row in store.kept(name))
            assert came == dict(zip(rows["method"], rows["requests"], strict=True))


def test_cost_of_the_plan_is_what_is_booked(made):
    before = pd.DataFrame(made.again.before)
    assert before["kept"].tolist() == (before["requests"] // 2).tolist()
    [(spent, *_), (spent_after, *_)] = made.again.spent
    n = len(made.again.asked) - len(made.first.asked)
    assert n == before["kept"].sum()
    assert before["usd"].sum() == pytest.approx(spent_after - spent, abs=1e-6)
    assert spent_after - spent == pytest.approx(n * (11 * 1000 + 7 * 3000) / 1e6)
    assert pd.DataFrame(made.again.after)["usd"].sum() == 0


def test_last_line_says_all_in_a_sentence(made):
    n = len(made.again.asked) - len(made.first.asked)
    assert "Without omnitom: no items yet; `dvc repro filtering@omnitom`" in made.again.said
    line = rf"In all: {2 * n:,} requests, {n:,} kept; left: [\d,]+ tokens of prompts, {7 * n:,} of "
    assert re.search(rf"{line}answers; about \${n * 0.032:.2f}\n", made.again.said)


# Plans alone: nothing listens


@pytest.fixture
def planned(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    write_items(tmp_path)

    def planned(benchmark: str, **entry) -> pd.DataFrame:
        with Store(tmp_path / "store.sqlite") as store:
            entry = {"base_url": "http://localhost:1/v1", **entry}
            params = content([benchmark], entry, orders=1, wordings=[])
            table = plan.plan(params, ["toy"], store)
        return table.set_index("method")

    return planned


def test_questions_without_the_story_are_counted_where_the_entry_asks_them(planned):
    before = planned("simpletom")
    after = planned("simpletom", no_story=True)
    more = after["requests"] - before["requests"]
    # Two stories, with three questions each; behavior and judgment are asked in the same words.
    assert more.to_dict() == {"none": 4, "cot": 0, "ms-remind": 0}
    assert after["varied"].equals(before["varied"] + more)


def write_answers(model: str) -> None:
    """A table with an answer by 0-shot, of five tokens to a hundred characters, which are twenty."""
    messages = [{"role": "user", "content": "x" * (100 - len('[{"role":"user","content":""}]'))}]
    answer = {"item_id": "i", "model": model, "method": "0-shot", "sample": 0, "asked_as": ""}
    answer |= {"messages": json.dumps(messages), "prompt_hash": "p", "response": "b"}
    answer |= {"finish_reason": "stop", "prompt_tokens": 20, "completion_tokens": 5}
    table = pd.DataFrame([answer | {"error": None, "request_key": "k"}])
    tidy.write(table, "responses", paths.result("responses", "bigtom", model))


def test_tokens_are_known_by_answers_or_estimated_and_say_so(planned):
    table = planned("bigtom")
    assert table["by"].tolist() == ["limit"] * 2
    row = table.loc["0-shot"]
    assert row["answer"] == row["requests"] * bigtom.METHODS["0-shot"].max_tokens
    estimated = row["prompt"]

    write_answers("other")
    row = planned("bigtom").loc["0-shot"]
    assert row["by"] == "others"
    assert row["answer"] == row["requests"] * 5
    assert row["prompt"] == pytest.approx(estimated * 3 / 5)
    assert row["usd"] == pytest.approx((row["prompt"] * 1000 + row["answer"] * 3000) / 1e6)


def test_without_a_store_entries_that_ask_alike_are_planned_as_with_one(planned):
    params = content(["bigtom"], {"base_url": "http://localhost:1/v1"}, orders=1, wordings=[])
    models = params["models"]
    models["twin"] = models["toy"] | {"price": {"input": 1, "output": 1}}
    models["half"] = models["toy"] | {"groups": {"bigtom": {"0-shot": 1}}}
    table = plan.plan(params, ["toy", "twin", "half"])
    plans = {name: rows.reset_index(drop=True) for name, rows in table.groupby("model")}
    toy = plans["toy"]
    twin = plans["twin"]
    half = plans["half"]
    assert toy.equals(planned("bigtom").reset_index()[toy.columns])
    assert twin[COUNTS].equals(toy[COUNTS])
    assert (twin["usd"] < toy["usd"]).all()
    assert half["requests"].tolist() == [24, 24]


def test_model_that_thinks_is_planned_without_and_with_all_its_thinking_until_it_answers(planned):
    thinks = {"thinking_tokens": 1000, "answer_tokens": {"bigtom": {"1-shot": None}}}
    write_answers("other")
    table = planned("bigtom", **thinks)
    for method, by, low in (("0-shot", "others", 5), ("1-shot", "limit", UNLIMITED)):
        row = table.loc[method]
        assert row["by"] == by
        assert row["answer"] == row["requests"] * low
        assert row["answer_high"] == row["requests"] * (low + 1000)
        assert row["usd_high"] - row["usd"] == pytest.approx(row["requests"] * 3)
