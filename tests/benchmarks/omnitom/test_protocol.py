"""OmniToM's requests beside App. C: roles, order, closing, limits, and whose words are sent."""

import json
import re
from functools import partial
from itertools import pairwise

import pytest
import yaml

from faulty_server import Act
from omnitom_extraction import RECORDS, answers
from one_cell import ran
from tomlab.asking import evaluation, prompts
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import calibration, judges
from tomlab.benchmarks.omnitom.alignment import Alignment
from tomlab.benchmarks.omnitom.items.compose import KEYS, table_text
from tomlab.benchmarks.omnitom.items.records import CATEGORIES, rows
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.models.ask import ask
from tomlab.paths import PARAMS, ROOT

ITEMS = omnitom.compose(RECORDS, examples=RECORDS, examples_shown=2)
TABLES = [f"stage{stage}-L{level}" for stage in (1, 2) for level in (1, 2, 3, 4)]
TABLES += ["stage1-L3-json", "stage2-L3-json"]
FIELD = re.compile(r"\{(\w+)\}")
LINKED = {
    "item_id": "1/linked",
    "question_type": "linked",
    "story": "Ada waits.",
    "question": "Who waits?",
    "choices": ["Ada", "Ben"],
}


def item(method):
    return omnitom.asked(ITEMS, method).iloc[0].to_dict()


def data_of(row, method):
    """The data that a method shows in the user's message, in their order."""
    shown = [row["group_id"], CATEGORIES[row["category"]], row["story"]]
    return [*shown, row["question"]] if method.startswith("stage2") else shown


def in_order(text, parts):
    places = [text.find(part) for part in parts]
    return places[0] >= 0 and all(before < after for before, after in pairwise(places))


@pytest.mark.parametrize("method", TABLES)
def test_the_system_directs_and_the_user_shows_data_and_closes(method):
    """App. C.1: system-role defined, single-turn, instruction-style."""
    row = item(method)
    system, user = omnitom.messages(row, method)
    assert (system["role"], user["role"]) == ("system", "user")
    assert row["story"] not in system["content"]
    assert in_order(user["content"], data_of(row, method))
    # Behind the data stands the order to write only the table.
    closing = user["content"].rpartition(data_of(row, method)[-1])[2]
    assert len(closing.split()) > 5
    assert not FIELD.search(system["content"] + user["content"])


@pytest.mark.parametrize("level", ["L1", "L2", "L3", "L4"])
def test_each_stage_has_a_directive_of_its_own(level):
    extraction, labelling = (
        omnitom.messages(item(f"stage{stage}-{level}"), f"stage{stage}-{level}")[0]["content"]
        for stage in (1, 2)
    )
    assert extraction != labelling
    assert extraction.partition("{")[0].startswith(beginning(f"omnitom/extract-{level}"))
    assert labelling.startswith(beginning(f"omnitom/label-{level}"))


def beginning(name):
    """A prompt of ours up to its first field."""
    return FIELD.split(prompts.load(name))[0]


def test_level_3_has_neither_examples_nor_emphasis():
    for method in ("stage1-L3", "stage2-L3"):
        row = item(method)
        system, user = omnitom.messages(row, method)
        for example in json.loads(row["examples"]):
            assert example["story"] not in system["content"] + user["content"]
        emphasis = prompts.load(f"omnitom/emphasis-{row['category']}")
        assert emphasis not in system["content"] + user["content"]


def test_level_4_of_extraction_has_emphasis_and_then_as_many_examples_as_asked_for():
    """App. C.2: content, the category's instruction, format, then examples of the category."""
    row = item("stage1-L4")
    examples = json.loads(row["examples"])
    assert len(examples) == 2
    emphasis = prompts.load(f"omnitom/emphasis-{row['category']}")
    shown = [emphasis]
    for example in examples:
        assert example["story_category"] == CATEGORIES[row["category"]]
        shown += [example["story"], table_text(rows(example), 1)]
    before, after, _ = FIELD.split(prompts.load("omnitom/extract-L4"))[0::2]
    system, _ = omnitom.messages(row, "stage1-L4")
    assert in_order(system["content"], [before, emphasis, after, *shown[1:]])
    assert before.startswith(prompts.load("omnitom/extract-L3"))


def test_level_4_of_labelling_has_labelled_examples_and_no_emphasis():
    row = item("stage2-L4")
    system, _ = omnitom.messages(row, "stage2-L4")
    shown = [prompts.load("omnitom/label-L3")]
    for example in json.loads(row["examples"]):
        shown += [example["story"], table_text(rows(example), 0), table_text(rows(example), 2)]
    assert in_order(system["content"], shown)
    assert prompts.load(f"omnitom/emphasis-{row['category']}") not in system["content"]


def test_a_category_with_fewer_stories_shows_all_of_its_others():
    few = [record for record in RECORDS if record["story_category"] == CATEGORIES["HT"]][:3]
    items = omnitom.compose(few, examples=few, examples_shown=5)
    assert items["examples"].map(json.loads).map(len).tolist() == [2] * 6


@pytest.mark.parametrize("level", ["L1", "L2", "L3", "L4"])
def test_the_judge_is_directed_by_the_system_and_shown_both_tables_by_the_user(level):
    """App. C.4, and the release: story, Prediction, Ground Truth, then the order to close."""
    [table] = calibration.calibration_set(RECORDS, 1, 0)
    [request] = judges.requests([table], level)
    system, user = request.messages
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] == prompts.load(f"judges/align-{level}")
    beliefs = [table.predicted[0].belief, table.gold[-1].belief]
    assert in_order(user["content"], [table.group, table.story, *beliefs])
    assert len(user["content"].rpartition(beliefs[-1])[2].split()) > 5


def test_limits_are_the_released_ones_unless_a_model_has_its_own():
    assert {omnitom.METHODS[method].max_tokens for method in TABLES} == {6000}
    [table] = calibration.calibration_set(RECORDS, 1, 0)
    assert judges.requests([table], "L4")[0].max_tokens == 6000
    registry = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))["models"]
    own = {"stage1-L3": 500, "stage2-L3": 1000, "stage1-L3-json": 1100, "stage2-L3-json": 1500}
    for name, limits in (("my-vllm", {}), ("smollm2-135m", own)):
        spec = specs.model_spec(name, registry)
        questions = [evaluation.Question(item(method), method, 0) for method in TABLES]
        sent = evaluation.requested(omnitom, questions, spec)
        expected = {method: limits.get(method, 6000) for method in TABLES}
        assert dict(zip(TABLES, [one.max_tokens for one in sent], strict=True)) == expected


# A user's own words


def own_files(folder, names):
    """Files that hold the fields of our prompts and a mark each, and no word."""
    files = {}
    for name in names:
        fields = dict.fromkeys(FIELD.findall(prompts.load(name)))
        path = folder / f"{name.replace('/', '-')}.txt"
        path.write_text("§ " + " ".join(f"{{{field}}}" for field in fields), encoding="utf-8")
        files[name] = str(path)
    return files


def words(text):
    return set(re.findall(r"[^\W\d_]+", text))


@pytest.mark.parametrize("method", [*TABLES, "linked", "stage1-L3-perspective-first"])
def test_a_users_files_replace_every_word_but_the_data(method, tmp_path):
    row = LINKED | {"group_id": "1", "category": "FBT"} if method == "linked" else item(method)
    files = own_files(tmp_path, omnitom.METHODS[method].prompts)
    data = [row["story"], row["question"], *row["choices"], *KEYS]
    if method != "linked":
        data += [CATEGORIES[row["category"]], row["group_id"]]
    if method.endswith("L4"):
        for example in json.loads(row["examples"]):
            data += [example["story"], table_text(rows(example), 0)]
            data.append(table_text(rows(example), int(method[5])))
    for message in omnitom.messages(row, method, files):
        assert "§" in message["content"]
        assert words(message["content"]) <= words(" ".join(data))


def test_a_users_files_replace_every_word_of_the_judges_request(tmp_path):
    [table] = calibration.calibration_set(RECORDS, 1, 0)
    files = own_files(tmp_path, ["judges/align-L3", "judges/align-data"])
    [request] = judges.requests([table], "L3", replaced=files)
    beliefs = " ".join(f"{row.actor} {row.belief}" for row in (*table.predicted, *table.gold))
    sent = " ".join(message["content"] for message in request.messages)
    assert words(sent) <= words(f"{table.group} {table.story} {beliefs} Actor Belief")


def test_a_users_layout_may_show_no_category_but_must_show_the_story(tmp_path):
    path = tmp_path / "layout.txt"
    path.write_text("Narrative: {story}", encoding="utf-8")
    layout = {"omnitom/extract-data": str(path)}
    user = omnitom.messages(item("stage1-L3"), "stage1-L3", layout)[1]["content"]
    assert user == f"Narrative: {item('stage1-L3')['story']}"
    path.write_text("Category: {category}", encoding="utf-8")
    with pytest.raises(InputError, match=r"expected \{story\} in it"):
        omnitom.messages(item("stage1-L3"), "stage1-L3", layout)


def test_the_printed_prompts_can_be_sent_as_printed(tmp_path):
    """With the texts of the paper, the system's message is the printed one to the letter."""
    paper = ROOT / "../shared/seeds/omnitom.txt"
    if not paper.is_file():
        pytest.skip("the paper's text is not here")
    text = paper.read_text(encoding="utf-8")
    ends = {
        "omnitom/extract-L3": ("Extraction: Level 3 Zero-Shot Base Prompt", "### Stage 1"),
        "omnitom/label-L3": ("Labeling: Level 3 Zero-Shot Base Prompt", "### Stage 2"),
        "judges/align-L3": ("Judge: Level 3 Zero-Shot Base Prompt", "### Semantic"),
    }
    printed, files = {}, {}
    for name, (start, end) in ends.items():
        printed[name] = text.partition(start)[2].partition(end)[0].strip()
        path = tmp_path / f"{name.replace('/', '-')}.txt"
        path.write_text(printed[name], encoding="utf-8")
        files[name] = str(path)
    for method, name in (("stage1-L3", "omnitom/extract-L3"), ("stage2-L3", "omnitom/label-L3")):
        assert omnitom.messages(item(method), method, files)[0]["content"] == printed[name]
    [table] = calibration.calibration_set(RECORDS, 1, 0)
    [request] = judges.requests([table], "L3", replaced=files)
    assert request.messages[0]["content"] == printed["judges/align-L3"]


# The judge


def test_a_judge_that_leaves_rows_out_finds_no_match_for_them_as_in_the_release():
    tables = calibration.calibration_set(RECORDS, 2, 0)
    counts = [None] * len(tables[0].predicted), [1] * len(tables[0].gold)
    first, second = judges.as_released([Alignment(*counts, []), None], tables)
    assert first.mc_predicted == [0] * len(tables[0].predicted)
    assert first.mc_gold == [1] * len(tables[0].gold)
    assert set(second.mc_predicted + second.mc_gold) == {0}


ONE_MATCH = """Prediction
Actor,Belief,MatchCount
{predicted},1

Ground Truth
Actor,Belief,MatchCount
{gold},1"""


@pytest.fixture
def calibration_cells(faulty_server, tmp_path, monkeypatch):
    """Runs the cells of 4/5 that choose a judge and score, with a served language model."""
    [table] = calibration.calibration_set(RECORDS[:1], 1, 0)
    sides = {"predicted": table.gold[0], "gold": table.gold[0]}
    lines = {side: f'{row.actor},"{row.belief}"' for side, row in sides.items()}
    faulty_server.default = Act(text=ONE_MATCH.format(**lines))
    entry = {"provider": "openai", "model": "toy", "base_url": f"{faulty_server.url}/v1"}
    spec = specs.model_spec("toy", {"toy": entry})
    monkeypatch.setattr(specs, "model", lambda name: spec)
    monkeypatch.setattr(judges, "ask", partial(ask, store=tmp_path / "store.sqlite"))
    items = omnitom.compose(RECORDS[:1])
    extraction = answers(items, "gold").assign(finish_reason="stop", completion_tokens=9)
    tables = calibration.calibration_set(RECORDS[:6], 6, 0)
    given = {"kinds": ["exact"], "folds": 3, "judge": "toy", "llm_levels": ["L4"], "llm_tables": 2}
    given |= {"llm_tokens": 6000, "llm_tokens_of": {}, "sampling_seed": 0, "prompts": {}}
    given |= {"labelled": tables, "pairs": [(one.predicted, one.gold) for one in tables]}
    given |= {"rows": calibration.labelled_rows(tables), "vectors": {"exact": None}}
    given |= {"MISSING_AS_0": ", missing as 0", "TOKENS": ("prompt_tokens", "completion_tokens")}
    given |= {"items": items, "extraction": extraction, "encoder": None, "judge_name": str}
    given["run_tables"] = judges.tables_of(items, extraction)
    given |= {"display": print}

    def run(scoring_judge):
        names = given | {"scoring_judge": scoring_judge}
        for cell in ("cell-thresholds", "cell-04", "cell-26"):
            names.pop("name", None)  # which each cell imports
            names = ran("4_judge_calibration", "omnitom", cell, **names)
        return names

    return run


def test_by_default_a_similarity_scores_extraction(calibration_cells):
    names = calibration_cells("best")
    assert names["scorer"] == "exact"
    assert names["scored"]["exact"]["score"].tolist() == [1.0]


def test_a_language_model_that_is_named_scores_extraction(calibration_cells, faulty_server):
    """It finds one match on each side; the rows that it leaves out are none, as in the release."""
    names = calibration_cells("L4")
    [scored] = names["scored"]["toy L4"].to_dict("records")
    assert names["scorer"] == "toy L4"
    assert scored["judge"] == "llm"
    assert scored["precision"] == pytest.approx(1 / len(RECORDS[0]["beliefs"]))
    assert [m["role"] for m in faulty_server.asked[-1].body["messages"]] == ["system", "user"]
