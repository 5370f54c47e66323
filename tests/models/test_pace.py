"""Before a model is asked, a run says how long that takes."""

import pandas as pd
import pytest

from tomlab.models import pace
from tomlab.models.specs import Reply, model_spec
from tomlab.models.store import Store, row

EMBEDDED = {"provider": "embedded", "model": "none.gguf", "engines": 2}
SPEC = model_spec("mine", {"mine": EMBEDDED})


@pytest.fixture
def pace_of(store, tmp_path):
    def announcement(requests: int) -> str:
        with Store(store) as opened:
            return pace.announcement(opened, [tmp_path / "kept"], SPEC, requests)

    return announcement


def test_the_pace_is_that_of_earlier_answers_in_the_store(store, pace_of):
    assert pace_of(10).startswith("no earlier answer")
    with Store(store) as opened:
        for key, seconds in {"k": 2.0, "l": 4.0}.items():
            opened.put(row(key, "mine", {}, Reply("a", "stop"), None, seconds))
    # 3 s each, two at a time
    assert pace_of(400) == "about 10 minutes at the pace of its earlier answers"
    assert "days" in pace_of(1_000_000)
    assert "less than a minute" in pace_of(1)
    assert "about a minute" in pace_of(50)


def test_without_a_store_the_pace_is_that_of_kept_answers(pace_of, tmp_path):
    (tmp_path / "kept" / "bigtom").mkdir(parents=True)
    table = pd.DataFrame({"seconds": [1.0, 1.0, None]})
    table.to_parquet(tmp_path / "kept" / "bigtom" / "mine.parquet")
    assert pace_of(240).startswith("about 2 minutes")
