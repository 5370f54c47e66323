"""A change of one seed changes what it names, and nothing else."""

import asyncio
import re
from functools import partial

import nbformat
import pandas as pd
import pytest

from simpletom_stories import our_stories
from tomlab.asking import evaluation
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.bigtom.items import templates, writing
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.benchmarks.omnitom.items import records
from tomlab.benchmarks.omnitom.items import writing as omnitom_writing
from tomlab.models.specs import model_spec
from tomlab.paths import DATA, ROOT
from tomlab.pipeline.run_notebook import declared

TEMPLATES = templates.read_templates(DATA / "bigtom/bigtom.csv")
STORIES = our_stories()
SETS = read_sets(DATA / "fantom/fantom.json")[:16]
GROUPS = 4
SOURCES = sorted((ROOT / "notebooks").glob("*/*.ipynb"))
EVALUATIONS = [path for path in SOURCES if path.parent.name == "3_evaluation"]


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, pd.DataFrame]:
    """The responses of `random` on a few templates: with all seeds 0 (""), and with one of them 1."""
    entry = {"provider": "baseline", "model": "random", "groups": {"bigtom": {"0-shot": GROUPS}}}
    spec = model_spec("random", {"random": entry})
    items = bigtom.compose(TEMPLATES.head(3 * GROUPS))
    tables = {}
    for name in ("", "draw_seed", "sampling_seed"):
        questions = evaluation.plan(bigtom, items, spec, ["0-shot"], seed=int(name == "draw_seed"))
        seed = int(name == "sampling_seed")
        tables[name] = asyncio.run(evaluation.evaluate(bigtom, questions, spec, seed=seed))
    return tables


def test_draw_seed_chooses_other_groups_and_asks_them_the_same(answers):
    before = answers[""].set_index("item_id").sort_index()
    after = answers["draw_seed"].set_index("item_id").sort_index()
    groups = [set(table.index.str.split("/").str[0]) for table in (before, after)]
    assert len(groups[0]) == len(groups[1]) == GROUPS
    assert groups[0] != groups[1]
    shared = before.index.intersection(after.index)
    assert len(shared) > 0
    pd.testing.assert_frame_equal(before.loc[shared], after.loc[shared])


def test_sampling_seed_changes_what_is_answered_and_nothing_that_is_asked(answers):
    before, after = answers[""], answers["sampling_seed"]
    # The key of a baseline's answer is made of the answer.
    own = ["response", "request_key"]
    pd.testing.assert_frame_equal(before.drop(columns=own), after.drop(columns=own))
    assert 0.2 < (before["response"] != after["response"]).mean() < 0.8


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_notebook_names_the_seeds_that_it_uses_and_no_others(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    code = [cell.source for cell in cells if "parameters" not in cell.metadata.get("tags", [])]
    # Not the name of a key or of an argument.
    used = set(re.findall(r"\b\w+_seed\b(?![\"=])", "\n".join(code)))
    assert used == {name for name in declared(path) if "seed" in name}


@pytest.mark.parametrize(
    "compose",
    [
        partial(bigtom.compose, TEMPLATES),
        partial(fantom.compose, SETS),
        partial(simpletom.compose, STORIES),
    ],
    ids=["bigtom", "fantom", "simpletom"],
)
def test_option_seed_turns_the_order_of_options_and_nothing_else(compose):
    before, after = compose(0), compose(1)
    pd.testing.assert_frame_equal(before.drop(columns="choices"), after.drop(columns="choices"))
    orders = [table["choices"].map(tuple) for table in (before, after)]
    assert (orders[0] != orders[1]).any()
    assert orders[0].map(sorted).equals(orders[1].map(sorted))


def test_draw_seed_changes_the_example_that_an_omnitom_prompt_shows_and_nothing_else():
    gold = records.read_records(DATA / "omnitom/stories.jsonl")
    before, after = (omnitom.compose(gold, seed, examples=gold) for seed in (0, 1))
    pd.testing.assert_frame_equal(before.drop(columns="examples"), after.drop(columns="examples"))
    assert not before["examples"].equals(after["examples"])


def written(**seeds):
    """What BigToM's writer and OmniToM's are asked."""
    drawn, seed = seeds.get("examples_seed", 0), seeds.get("seed", 0)
    for draft in writing.drafts(TEMPLATES, 2, "smol", seed=drawn):
        yield writing.TEMPLATE.request(draft, seed=seed)
    gold = records.read_records(DATA / "omnitom/stories.jsonl")
    for story in gold[:9]:
        options = {"examples": gold, "examples_seed": drawn, "seed": seed, "max_tokens": 50}
        yield omnitom_writing.EXTRACTION.request(story, **options)


def test_examples_shown_to_a_writer_and_the_sampling_seed_go_apart():
    plain, drawn, sampled = [*written()], [*written(examples_seed=1)], [*written(seed=1)]
    assert [r.messages for r in plain] == [r.messages for r in sampled]
    differs = [a.messages != b.messages for a, b in zip(plain, drawn, strict=True)]
    assert all(differs[:2]) and any(differs[2:])
    assert {r.seed for r in [*plain, *drawn]} == {0}
    assert {r.seed for r in sampled} == {1}
