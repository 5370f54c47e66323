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
from tomlab.benchmarks.omnitom.items.compose import KEYS, table_text
from tomlab.benchmarks.omnitom.items.records import CATEGORIES, rows
from tomlab.models import specs
from tomlab.models.ask import ask
from tomlab.paths import ROOT

PAPER = ROOT / "../shared/seeds/omnitom.txt"
ITEMS = omnitom.compose(RECORDS, examples=RECORDS, examples_shown=2)
LEVELS = ("L1", "L2", "L3", "L4")
TABLES = [f"stage{stage}-{level}" for stage in (1, 2) for level in (*LEVELS, "L3-json")]
FIELD = re.compile(r"\{(\w+)\}")
[JUDGED] = calibration.calibration_set(RECORDS, 1, 0)
LINKED = {
    "group_id": "1",
    "category": "FBT",
    "story": "Ada waits.",
    "question": "Who waits?",
    "choices": ["Ada", "Ben"],
}


def item(method):
    return LINKED if method == "linked" else omnitom.asked(ITEMS, method).iloc[0].to_dict()


def demand_order(text, parts):
    places = [text.find(part) for part in parts]
    assert places[0] >= 0
    assert all(place < later for place, later in pairwise(places))


@pytest.mark.parametrize("method", TABLES)
def test_the_system_directs_and_the_user_shows_data_and_closes(method):
    """App. C.1: system-role defined, single-turn, instruction-style."""
    row = item(method)
    system, user = omnitom.messages(row, method)
    assert (system["role"], user["role"]) == ("system", "user")
    stage = "extract" if method.startswith("stage1") else "label"
    directive = prompts.load(f"omnitom/{stage}-{method[7:9]}")
    assert system["content"].startswith(FIELD.split(directive)[0])
    assert row["story"] not in system["content"]
    data = [row["group_id"], CATEGORIES[row["category"]], row["story"]]
    if stage == "label":
        data.append(row["question"])
    demand_order(user["content"], data)
    # Behind the data stands the order to write only the table.
    closing = user["content"].rpartition(data[-1])[2]
    assert len(closing.split()) > 5
    assert not FIELD.search(system["content"] + user["content"])


@pytest.mark.parametrize("method", ["stage1-L4", "stage2-L4"])
def test_level_4_adds_emphasis_to_extraction_and_two_examples_of_the_category(method):
    """App. C.2: content, the category's instruction, format, then examples of the category."""
    row = item(method)
    stage = int(method[5])
    examples = json.loads(row["examples"])
    assert [example["story_category"] for example in examples] == [CATEGORIES[row["category"]]] * 2
    shown = []
    for example in examples:
        shown += [example["story"], table_text(rows(example), stage)]
    emphasis = prompts.load(f"omnitom/emphasis-{row['category']}")
    system = omnitom.messages(row, method)[0]["content"]
    if stage == 1:
        before, _, after, *_ = FIELD.split(prompts.load("omnitom/extract-L4"))
        assert before.startswith(prompts.load("omnitom/extract-L3"))
        demand_order(system, [before, emphasis, FIELD.split(after)[0], *shown])
    else:
        demand_order(system, [prompts.load("omnitom/label-L3"), *shown])
        assert emphasis not in system
    plain = omnitom.messages(row, method.replace("4", "3"))[0]["content"]
    assert emphasis not in plain
    assert not any(example["story"] in plain for example in examples)


def test_a_category_with_fewer_stories_shows_all_of_its_others():
    few = [record for record in RECORDS if record["story_category"] == CATEGORIES["HT"]][:3]
    items = omnitom.compose(few, examples=few, examples_shown=5)
    assert items["examples"].map(json.loads).map(len).tolist() == [2] * 6


@pytest.mark.parametrize("level", LEVELS)
def test_the_judge_is_directed_by_the_system_and_shown_both_tables_by_the_user(level):
    """App. C.4, and the release: story, Prediction, Ground Truth, then the order to close."""
    [request] = judges.requests([JUDGED], level)
    assert request.max_tokens == 6000  # the released limit
    system, user = request.messages
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] == prompts.load(f"judges/align-{level}")
    beliefs = [JUDGED.predicted[0].belief, JUDGED.gold[-1].belief]
    demand_order(user["content"], [JUDGED.group, JUDGED.story, *beliefs])
    assert len(user["content"].rpartition(beliefs[-1])[2].split()) > 5


# A user's own words


def own_files(folder, names):
    """Files that hold the fields of our prompts and a mark each, and no word."""
    paths = {}
    for name in names:
        fields = [f"{{{field}}}" for field in FIELD.findall(prompts.load(name))]
        path = folder / f"{name.replace('/', '-')}.txt"
        path.write_text(" ".join(["§", *fields]), encoding="utf-8")
        paths[name] = str(path)
    return paths


def words(text):
    return set(re.findall(r"[^\W\d_]+", text))


@pytest.mark.parametrize("method", [*TABLES, "linked", "stage1-L3-perspective-first"])
def test_a_users_files_replace_every_word_but_the_data(method, tmp_path):
    row = item(method)
    files = own_files(tmp_path, omnitom.METHODS[method].prompts)
    data = [CATEGORIES[row["category"]], row["story"], row["question"], *row["choices"], *KEYS]
    if method.endswith("L4"):
        for example in json.loads(row["examples"]):
            stage = int(method[5])
            gold = rows(example)
            data += [example["story"], table_text(gold, 0), table_text(gold, stage)]
    for message in omnitom.messages(row, method, files):
        assert "§" in message["content"]
        assert words(message["content"]) <= words(" ".join(data))


def test_a_users_files_replace_every_word_of_the_judges_request(tmp_path):
    files = own_files(tmp_path, ["judges/align-L3", "judges/align-data"])
    [request] = judges.requests([JUDGED], "L3", replaced=files)
    data = ["Actor Belief", JUDGED.story]
    for row in (*JUDGED.predicted, *JUDGED.gold):
        data += [row.actor, row.belief]
    for message in request.messages:
        assert words(message["content"]) <= words(" ".join(data))


@pytest.mark.skipif(not PAPER.is_file(), reason="the paper's text is not here")
@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("omnitom/extract-L3", "Extraction: Level 3 Zero-Shot Base Prompt", "### Stage 1"),
        ("omnitom/label-L3", "Labeling: Level 3 Zero-Shot Base Prompt", "### Stage 2"),
        ("judges/align-L3", "Judge: Level 3 Zero-Shot Base Prompt", "### Semantic"),
    ],
)
def test_the_printed_prompts_can_be_sent_as_printed(name, start, end, tmp_path):
    """With the texts of the paper, the system's message is the printed one to the letter."""
    text = PAPER.read_text(encoding="utf-8")
    printed = text.partition(start)[2].partition(end)[0].strip()
    path = tmp_path / "printed.txt"
    path.write_text(printed, encoding="utf-8")
    files = {name: str(path)}
    if name.startswith("judges"):
        [request] = judges.requests([JUDGED], "L3", replaced=files)
        system, _ = request.messages
    else:
        method = "stage1-L3" if "extract" in name else "stage2-L3"
        system, _ = omnitom.messages(item(method), method, files)
    assert system["content"] == printed


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
    faulty_server.default = Act(text=ONE_MATCH.format(JUDGED.gold[0]))
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
