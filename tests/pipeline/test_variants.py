"""A run that asks in both orders and in a user's own wording, by the pipeline's own commands."""

import pandas as pd
import pytest
import yaml

from faulty_server import Act, FaultyServer
from laboratory import Laboratory, laboratory
from tomlab.paths import DATA
from tomlab.records import tidy

CHAIN = [f"{stage}@bigtom" for stage in ("generation", "filtering", "evaluation", "figures")]
CHAIN[2] += "-toy"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """Three templates put to a model that names the second letter, whatever it is asked."""
    own = tmp_path_factory.mktemp("own")
    pd.read_csv(DATA / "bigtom" / "templates.csv").head(3).to_csv(own / "three.csv", index=False)
    (own / "curt" / "bigtom").mkdir(parents=True)
    (own / "curt" / "bigtom" / "instruction.txt").write_text("Pick one: Answer:<option>)<answer>\n")

    with FaultyServer(Act(text="Answer: b)")) as server:

        def change(content: dict) -> None:
            entry = {"provider": "openai", "model": "toy", "base_url": f"{server.url}/v1"}
            content["models"]["toy"] = entry
            source = content["run"]["benchmarks"]["bigtom"]
            source |= {"source": str(own / "three.csv"), "reader": "omniscient"}
            content["run"] |= {"models": ["toy"], "orders": 2, "benchmarks": {"bigtom": source}}
            content["run"]["wordings"] = [str(own / "curt")]

        made = laboratory(tmp_path_factory.mktemp("lab"), change)
        for stage in CHAIN[:3]:
            made.run(stage)
        (made.root / "results/judges/bigtom").mkdir(parents=True)
        made.run(CHAIN[3])
        return made


def test_each_question_is_asked_once_in_each_way(lab):
    responses = tidy.read("responses", lab.root / "results/responses/bigtom/toy.parquet")
    assert responses["asked_as"].value_counts().to_dict() == {"": 75, "reversed": 75, "curt": 75}
    assert responses.groupby("asked_as")["sample"].unique().map(list).to_dict() == {
        "": [0],
        "reversed": [1],
        "curt": [2],
    }
    told = responses[responses["asked_as"] == "curt"]["messages"]
    assert told.str.contains("Pick one: ").all()


def test_metrics_count_each_question_once(lab):
    metrics = tidy.read("metrics", lab.root / "results/metrics/bigtom/toy.parquet")
    assert metrics.query("metric == 'outcome_rate'")["n"].eq(75).all()


def test_notebooks_show_that_the_place_decides(lab):
    shown = lab.executed("evaluation@bigtom-toy")
    texts = [o.data["text/plain"] for c in shown.cells for o in c.get("outputs", []) if "data" in o]
    assert any("First option" in text and ".00 [" in text for text in texts)
    found = pd.read_csv(lab.root / "results/tables/bigtom/variants.csv")
    values = found.set_index(["asked_as", "metric"])["value"]
    assert values["reversed", "first_option"] == values["reversed", "same_answer"] == 0
    assert values["reversed", "both"] == 0.5
    assert values["curt", "same_answer"] == 1
    assert (lab.root / "results/figures/bigtom/variants.png").stat().st_size > 10_000


def test_settings_name_the_wording_and_its_files(lab):
    read = lab.root / "results/settings/3_evaluation/bigtom-toy.json"
    named = yaml.safe_load(read.read_text(encoding="utf-8"))
    assert named["parameters"]["orders"] == 2
    [folder] = named["parameters"]["wordings"]
    assert folder.endswith("curt/bigtom")
    assert folder in named["files"]
