"""Released SimpleToM through generation, filtering and evaluation, by a model behind a server.

Of the parameters only `source` and the models are others than in the repository's file.
"""

import pandas as pd
import pytest

from chapters import check_stages
from faulty_server import Act, FaultyServer
from laboratory import laboratory
from simpletom_release import write_release
from simpletom_stories import our_stories

STAGES = ["generation@simpletom", "filtering@simpletom", "evaluation@simpletom-toy"]
SETS = 4
SEVERITIES = 3
ODD = {"question": "Was that reasonable?"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    root = tmp_path_factory.mktemp("released")
    ours = our_stories()
    of_few_sets = ours[ours["set_id"].isin(ours["set_id"].unique()[:SETS])]
    write_release(root / "hub", of_few_sets.reset_index(drop=True), **ODD)
    with FaultyServer() as server:

        def answer(_):
            prompt = server.asked[-1].text
            is_word = "one or two words" in prompt
            is_rating = "Reply with the number alone" in prompt
            server.default = Act(text="Careless" if is_word else "4" if is_rating else "(A)")

        server.on_asked = answer

        def change(content):
            content["models"]["toy"] = {
                "provider": "openai",
                "model": "toy",
                "base_url": f"{server.url}/v1",
            }
            own = content["run"]["benchmarks"]["simpletom"]
            own |= {"source": "hub", "writer": "toy", "reader": "toy"}
            content["run"] |= {"benchmarks": {"simpletom": own}, "models": ["toy"]}
            content["simpletom"]["filtering"]["llm_rated"] = 3

        prepared = laboratory(root, change)
        prepared.run(*STAGES)
        yield prepared


def page(lab, stage):
    """What the code of a page shows, as text."""
    outputs = [output for cell in lab.executed(stage).cells for output in cell.get("outputs", [])]
    texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs]
    return "\n".join(texts)


def test_stages_report_no_fault(lab):
    check_stages(lab, *STAGES)


def test_every_story_is_asked_in_every_wording_but_the_one_in_another_form(lab):
    responses = pd.read_parquet(lab.root / "results/responses/simpletom/toy.parquet")
    asked = responses[responses["asked_as"].eq("") & responses["method"].eq("wordings")]
    variants = asked["item_id"].str.split(":").str[-1].value_counts()
    assert set(variants) == {SETS * SEVERITIES - 1}
    assert len(variants) == 6


def test_pages_name_the_odd_question_the_ratings_and_the_method_left_out(lab):
    generation = page(lab, "generation@simpletom")
    assert "judgment-qa/test.jsonl, row 1" in generation
    assert ODD["question"] in generation
    ratings = page(lab, "filtering@simpletom")
    assert "rated 3 stories" in ratings and "unethicality" in ratings
    responses = pd.read_parquet(lab.root / "results/responses/simpletom/toy.parquet")
    assert "aware" not in set(responses["method"])
    assert "aware is left out" in page(lab, "evaluation@simpletom-toy")
