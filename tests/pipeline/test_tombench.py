"""OmniToM from its stories to the figures, by both baselines, with ToMBench's questions.

The stories are OmniToM's released sample where it is there, else our own.
"""

import json
from pathlib import Path

import pandas as pd
import pytest

from chapters import check_figures_and_tables, check_judges, check_stages
from laboratory import Laboratory, laboratory
from tomlab.benchmarks.omnitom import calibration
from tomlab.benchmarks.omnitom.items.records import CATEGORIES, read_records
from tomlab.paths import DATA, ROOT
from tomlab.records import tidy

RELEASED = ROOT.parent / "shared/datasets/omnitom/gold_sample.jsonl"
SOURCE = RELEASED if RELEASED.is_file() else DATA / "omnitom/stories.jsonl"
N_STORIES = len(read_records(SOURCE))
MODELS = ["random", "omniscient"]
STAGES = [
    *("generation@omnitom", "filtering@omnitom"),
    *(f"evaluation@omnitom-{model}" for model in MODELS),
    *("judge_calibration@omnitom", "figures@omnitom"),
]


def write_tombench(folder: Path) -> Path:
    """Files in ToMBench's format with a question on each of our stories, by turns with four options
    and with two.
    """
    folder.mkdir()
    lines_by_category = {category: [] for category in CATEGORIES.values()}
    for number, record in enumerate(read_records(SOURCE)):
        options = dict(zip("ABCD", ["Yes", "No", "Perhaps", "Never"], strict=True))
        if number % 2:
            options |= dict.fromkeys("CD", float("nan"))
        line = {"能力\nABILITY": "Belief", "STORY": record["story"], "QUESTION": "Is Ada right?"}
        line |= {f"OPTION-{letter}": text for letter, text in options.items()}
        lines_by_category[record["story_category"]].append(json.dumps(line | {"答案\nANSWER": "B"}))
    for category, lines in lines_by_category.items():
        (folder / f"{category}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    tombench = write_tombench(tmp_path_factory.mktemp("given") / "tombench")

    def with_tombench(content: dict) -> None:
        content["run"]["models"] = MODELS
        content["run"]["benchmarks"]["omnitom"]["source"] = str(SOURCE)
        content["omnitom"]["filtering"]["tombench"] = str(tombench)
        content["omnitom"]["evaluation"]["methods"] = ["linked", "stage1-L3", "stage2-L3"]

    prepared = laboratory(tmp_path_factory.mktemp("lab"), with_tombench)
    prepared.run(*STAGES)
    return prepared


def shown(lab: Laboratory, stage: str) -> str:
    outputs = [o for cell in lab.executed(stage).cells for o in cell.get("outputs", [])]
    return "\n".join(o.get("text") or o["data"].get("text/plain", "") for o in outputs)


def test_stages_draw_and_write_what_the_pipeline_says_and_report_no_fault(lab):
    check_stages(lab, *STAGES)
    # A baseline of tables has no other order or wording.
    check_figures_and_tables(lab, "omnitom", empty={"variants"})


def test_stories_are_scored_by_the_best_judge_and_people_have_a_form(lab):
    check_judges(lab, "omnitom")
    folder = lab.root / "results/judges/omnitom"
    scores = tidy.read("scores", folder / "scores.parquet")
    winner = json.loads((folder / "winner.json").read_text(encoding="utf-8"))
    assert set(scores.loc[scores["stage"] == 1, "judge"]) == {winner["similarity"]}
    form = pd.read_csv(folder / "to_label.csv", dtype=str)
    assert len(form) and form["match_count"].isna().all()
    assert form["system"].str.fullmatch("(random|omniscient)/stage1-[^/]+/0").all()
    form.assign(match_count="1", annotator="p1").to_csv(folder / "filled.csv", index=False)
    human = calibration.read_human(folder / "filled.csv")
    assert {table.table_id for table in human} == {*form["story_id"] + "/" + form["system"] + "/p1"}
    headline = lab.root / "docs/metrics/omnitom/omniscient/stage1-L3_f1.json"
    assert 0 < json.loads(headline.read_text(encoding="utf-8"))["value"] < 1


def test_linked_accuracy_is_over_questions(lab):
    metrics = tidy.read("metrics", lab.root / "results/metrics/omnitom/random.parquet")
    own = metrics[metrics["metric"] == "linked_accuracy"].set_index("condition")
    assert own.loc["all", ["n", "n_groups"]].tolist() == [N_STORIES, N_STORIES]
    unusable = metrics.query("method == 'linked' and metric == 'unusable'")
    assert unusable["n"].tolist() == [5 * N_STORIES]
    headline = lab.root / "docs/metrics/omnitom/random/linked_linked.json"
    assert json.loads(headline.read_text(encoding="utf-8"))["n"] == N_STORIES


def test_baseline_without_an_answer_is_left_out_and_says_so(lab):
    output = shown(lab, "evaluation@omnitom-omniscient")
    assert "omniscient is left out of linked: no omniscient answer to it is known" in output
    metrics = tidy.read("metrics", lab.root / "results/metrics/omnitom/omniscient.parquet")
    assert set(metrics["method"]) == {"stage1-L3", "stage2-L3"}
