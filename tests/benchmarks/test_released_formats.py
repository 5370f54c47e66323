"""The rows that docs/data_released.md shows of each release are read as they stand there."""

import re

from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.paths import DOCS

SECTION = (DOCS / "data_released.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^```(?:text|json)\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)[:4]


def test_rows_shown_of_each_release_are_read(tmp_path):
    rows_of_bigtom, sets_of_fantom, rows_of_simpletom, row_of_omnitom = SHOWN
    (tmp_path / "bigtom.csv").write_text(rows_of_bigtom, encoding="utf-8")
    (tmp_path / "fantom_v1.json").write_text(sets_of_fantom, encoding="utf-8")
    (tmp_path / "o.jsonl").write_text(row_of_omnitom, encoding="utf-8")
    folders = dict.fromkeys(re.findall(r"`([\w-]+)/test.jsonl`", SECTION))
    for folder, row in zip(folders, rows_of_simpletom.splitlines(), strict=True):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test.jsonl").write_text(row, encoding="utf-8")
    assert len(bigtom.read_released(tmp_path / "bigtom.csv")) == 25
    assert len(fantom.read_released(tmp_path / "fantom_v1.json")) == 7
    assert len(simpletom.read_released(tmp_path)) == 7
    assert len(omnitom.read_released(tmp_path / "o.jsonl")) == 2
