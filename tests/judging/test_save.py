"""What a calibration leaves in its folder."""

import json

import pandas as pd

from tomlab.judging import agreement


def test_winner_and_tables_are_written(tmp_path):
    table = pd.DataFrame({"judge": ["exact"], "agreement": [0.5]})
    agreement.save(tmp_path, {"judge": "exact", "margin": None}, agreement=table)
    assert json.loads((tmp_path / "winner.json").read_text()) == {"judge": "exact", "margin": None}
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "agreement.csv"), table)
