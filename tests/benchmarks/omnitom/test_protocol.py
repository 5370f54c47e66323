"""OmniToM's requests beside App. C: roles, order, closing, limits, and whose words are sent."""

import json
import re
from functools import partial
from itertools import pairwise

import pytest

from faulty_server import Act
from omnitom_stories import RECORDS, answers
from one_cell import ran
from tomlab.asking import prompts
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import calibration, judges
from tomlab.benchmarks.omnitom.items.compose import table_text
from tomlab.benchmarks.omnitom.items.labels import HEADS
from tomlab.benchmarks.omnitom.items.records import CATEGORIES, rows
from tomlab.models import specs
from tomlab.models.ask import ask

ITEMS = omnitom.compose(RECORDS, examples=RECORDS, examples_shown=2)
LEVELS = ("L1", "L2", "L3", "L4")
METHODS = [f"stage{stage}-{level}" for stage in (1, 2) for level in (*LEVELS, "L3-json")]
FIELD = re.compile(r"\{\w+\}")
[TABLE] = calibration.calibration_set(RECORDS, 1, 0)


def item(method):
    return omnitom.asked(ITEMS, method).iloc[0].to_dict()


def contents(messages):
    """The texts of a system message and of the user message after it."""
    assert [message["role"] for message in messages] == ["system", "user"]
    return [message["content"] for message in messages]


def demand_order(text, parts):
    places = [text.find(part) for part in parts]
    assert places[0] >= 0
    assert all(place < later for place, later in pairwise(places))


@pytest.mark.parametrize("method", METHODS)
def test_the_system_directs_and_the_user_shows_data_and_closes(method):
    """App. C.1: system-role defined, single-turn, instruction-style."""
    row = item(method)
    system, user = contents(omnitom.messages(row, method))
    directive = prompts.load(omnitom.METHODS[method].prompts[0])
    assert system.startswith(FIELD.split(directive)[0])
    assert row["story"] not in system
    data = [row["group_id"], CATEGORIES[row["category"]], row["story"], row["question"]]
    data = data if row["question"] else data[:-1]
    demand_order(user, data)
    # Behind the data stands the order to write only the table.
    assert len(user.rpartition(data[-1])[2].split()) > 5
    assert not FIELD.search(system + user)


@pytest.mark.parametrize("stage", [1, 2])
def test_level_4_adds_emphasis_to_extraction_and_two_examples_of_the_category(stage):
    """App. C.2: content, the category's instruction, format, then examples of the category."""
    row = item(f"stage{stage}-L4")
    shown = []
    for example in json.loads(row["examples"]):
        assert example["story_category"] == CATEGORIES[row["category"]]
        shown += [example["story"], table_text(rows(example), stage)]
    assert len(shown) == 4
    system, _ = contents(omnitom.messages(row, f"stage{stage}-L4"))
    directive = prompts.load(f"omnitom/{'extract' if stage == 1 else 'label'}-L3")
    emphasis = prompts.load(f"omnitom/emphasis-{row['category']}")
    demand_order(system, [directive, *[emphasis][: 2 - stage], *shown])
    assert (emphasis in system) == (stage == 1)


@pytest.mark.parametrize("level", LEVELS)
def test_the_judge_is_directed_by_the_system_and_shown_both_tables_by_the_user(level):
    """App. C.4, and the release: story, Prediction, Ground Truth, then the order to close."""
    [request] = judges.requests([TABLE], level)
    assert request.max_tokens == 6000  # the released limit
    system, user = contents(request.messages)
    assert system == prompts.load(f"judges/align-{level}")
    beliefs = [TABLE.predicted[0].belief, TABLE.gold[-1].belief]
    demand_order(user, [TABLE.group, TABLE.story, *beliefs])
    assert len(user.rpartition(beliefs[-1])[2].split()) > 5


def own_files(folder, names):
    """Files that hold the fields of our prompts and a mark each, and no word."""
    files = {}
    for number, name in enumerate(names):
        path = folder / f"{number}.txt"
        path.write_text(" ".join(["§", *FIELD.findall(prompts.load(name))]), encoding="utf-8")
        files[name] = str(path)
    return files


def words(text):
    return set(re.findall(r"[^\W\d_]+", text.replace(r"\n", " ")))


@pytest.mark.parametrize("method", METHODS)
def test_a_users_files_replace_every_word_but_the_data(method, tmp_path):
    row = item(method)
    files = own_files(tmp_path, omnitom.METHODS[method].prompts)
    data = [*map(str, row.values()), *CATEGORIES.values(), *HEADS.values()]
    for text in contents(omnitom.messages(row, method, files)):
        assert text.startswith("§")
        assert words(text) <= words(" ".join(data))


def test_a_users_files_are_the_judges_request(tmp_path):
    files = own_files(tmp_path, ["judges/align-L3", "judges/align-data"])
    [request] = judges.requests([TABLE], "L3", replaced=files)
    system, user = contents(request.messages)
    assert (system, user[0]) == ("§", "§")


# The judge of a run

ONE_MATCH = """Prediction
Actor,Belief,MatchCount
{0.actor},"{0.belief}",1

Ground Truth
Actor,Belief,MatchCount
{0.actor},"{0.belief}",1"""


@pytest.mark.parametrize(
    ("scoring_judge", "scorer", "judge", "precision"),
    [
        ("best", "exact", "exact", 1),
        # It finds one match on each side; the rows that it leaves out are none, as in the release.
        ("L4", "toy L4", "llm", 1 / len(RECORDS[0]["beliefs"])),
    ],
)
def test_the_best_judge_scores_extraction_or_the_one_that_is_named(
    scoring_judge, scorer, judge, precision, faulty_server, tmp_path, monkeypatch
):
    """The cells of 4/5 that choose a judge and score, with a served language model."""
    faulty_server.default = Act(text=ONE_MATCH.format(TABLE.gold[0]))
    entry = {"provider": "openai", "model": "toy", "base_url": f"{faulty_server.url}/v1"}
    spec = specs.model_spec("toy", {"toy": entry})
    monkeypatch.setattr(specs, "model", lambda name: spec)
    monkeypatch.setattr(judges, "ask", partial(ask, store=tmp_path / "store.sqlite"))
    items = omnitom.compose(RECORDS[:1])
    extraction = answers(items, "gold")
    tables = calibration.calibration_set(RECORDS[:6], 6, 0)
    names = {
        "items": items,
        "extraction": extraction,
        "run_tables": judges.tables_of(items, extraction),
        "labelled": tables,
        "pairs": [(table.predicted, table.gold) for table in tables],
        "rows": calibration.labelled_rows(tables),
        "kinds": ["exact"],
        "vectors": {"exact": None},
        "folds": 3,
        "encoder": None,
        "judge": "toy",
        "judge_name": str,
        "scoring_judge": scoring_judge,
        "llm_levels": ["L4"],
        "llm_tables": 2,
        "llm_tokens": 6000,
        "llm_tokens_of": {},
        "sampling_seed": 0,
        "prompts": {},
        "MISSING_AS_0": ", missing as 0",
        "TOKENS": ("prompt_tokens", "completion_tokens"),
        "display": print,
    }
    for cell in ("cell-thresholds", "cell-04", "cell-26"):
        names.pop("name", None)  # which each cell imports
        names = ran("4_judge_calibration", "omnitom", cell, **names)
    [row] = names["scored"][scorer].to_dict("records")
    assert (names["scorer"], row["judge"]) == (scorer, judge)
    assert row["precision"] == pytest.approx(precision)
