"""What a run would cost: requests counted as they would be asked, at the tokens of kept answers."""

import pandas as pd
import pytest

from tomlab import paths
from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.errors import InputError
from tomlab.models.specs import model_spec
from tomlab.pipeline import cost
from tomlab.records import tidy

ENTRY = {"provider": "openai", "model": "m", "price": {"input": 2, "output": 10}}


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """A run of BigToM with two templates, and kept answers by one of its two methods."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    source = paths.ROOT / "data/bigtom/templates.csv"
    items = bigtom.compose(read_templates(source).head(2))
    paths.result("items", "bigtom").parent.mkdir(parents=True)
    items.to_parquet(paths.result("items", "bigtom"))
    taken = {"m": (100, 10), "free": (0, 0)}
    for model, (prompt, completion) in taken.items():
        row = {"item_id": "x", "model": model, "method": "0-shot", "sample": 0, "asked_as": ""}
        row |= {"messages": "[]", "prompt_hash": "", "response": "a)", "finish_reason": "stop"}
        row |= {"prompt_tokens": prompt, "completion_tokens": completion}
        row |= {"error": None, "request_key": ""}
        path = paths.result("responses", "bigtom", model)
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame([row]).to_parquet(path)
    return {
        "run": {"benchmarks": ["bigtom"], "models": ["m", "free"], "orders": 2},
        "bigtom": {"evaluation": {"methods": ["0-shot", "1-shot"]}},
    }


def test_questions_times_tokens_times_price(settings):
    spec = model_spec("m", {"m": ENTRY})
    items = tidy.read("items", paths.result("items", "bigtom"))
    asked = sum(len(bigtom.asked(items, method)) for method in ("0-shot", "1-shot"))
    table = cost.cost(settings, spec)
    assert table.index.tolist() == ["bigtom", "all"]
    found = table.loc["bigtom"]
    # Each question in both orders; what no answer tells takes what the others took.
    assert found[["requests", "varied"]].tolist() == [asked, asked]
    assert found["prompt_mtok"] == pytest.approx(2 * asked * 100 / 1e6)
    assert found["usd"] == pytest.approx(asked * (100 * 2 + 10 * 10) / 1e6)
    assert found["usd_with_varied"] == pytest.approx(2 * found["usd"])
    assert table.loc["all"].equals(found.rename("all"))


def test_fewer_groups_cost_less(settings):
    every = cost.cost(settings, model_spec("m", {"m": ENTRY}))
    few = ENTRY | {"groups": {"bigtom": {"0-shot": 1, "1-shot": 1}}}
    assert cost.cost(settings, model_spec("m", {"m": few}))["usd"]["all"] == pytest.approx(
        every["usd"]["all"] / 2
    )


def test_what_has_no_price_or_no_tokens_is_refused(settings):
    with pytest.raises(InputError, match=r"models\.m: no price"):
        cost.cost(settings, model_spec("m", {"m": {"provider": "openai", "model": "m"}}))
    settings["run"]["models"] = ["free"]
    with pytest.raises(InputError, match="bigtom: no answer of this run took tokens"):
        cost.cost(settings, model_spec("m", {"m": ENTRY}))
