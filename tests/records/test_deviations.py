"""The list of deviations: its file is read whole or refused, and pages have its rows."""

import re

import pandas as pd
import pytest
import yaml

from tomlab.errors import InputError
from tomlab.paths import ROOT
from tomlab.records import deviations

LISTED = deviations.read()
# A benchmark that somebody adds need not deviate from anything.
OURS = {"bigtom", "fantom", "omnitom", "simpletom"}
ROW = LISTED[0].model_dump()


def test_each_benchmark_has_deviations_under_a_letter_of_its_own():
    letters = {deviation.benchmark: deviation.id[:3] for deviation in LISTED}
    assert set(letters) == {deviations.ALL, *OURS}
    assert len(set(letters.values())) == len(letters)
    assert all(deviation.id[:3] == letters[deviation.benchmark] for deviation in LISTED)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"effect": ""}, "effect"),
        ({"stage": "asking"}, "stage"),
        ({"id": "one"}, "id"),
        ({"remark": "none"}, "remark"),
        ({"ours": 3}, "ours"),
        ({"id": LISTED[0].id}, "stands in deviation 1 too"),
    ],
)
def test_a_row_that_does_not_fit_is_named_with_its_field(tmp_path, change, complaint):
    text = yaml.safe_dump({"deviations": [ROW, ROW | {"id": LISTED[1].id} | change]})
    (tmp_path / "deviations.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"deviation 2.*{complaint}"):
        deviations.read(tmp_path)


@pytest.mark.parametrize("text", ["", "deviations: 3", "deviations: ["])
def test_a_file_that_is_no_list_of_deviations_is_an_input_error(tmp_path, text):
    (tmp_path / "deviations.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"deviations\.yaml"):
        deviations.read(tmp_path)


def test_a_table_has_the_rows_of_its_benchmark_and_stages_and_those_of_all_first():
    listed = pd.DataFrame(deviation.model_dump() for deviation in LISTED)
    of_omnitom = listed["benchmark"].isin([deviations.ALL, "omnitom"])
    ids = listed[of_omnitom & listed["stage"].isin(["judging", "scoring"])]["id"].tolist()
    assert deviations.table("omnitom", "judging", "scoring")["No."].tolist() == ids
    assert ids[0].startswith("ALL")
    assert "OMN-2" in ids


def test_what_restores_the_protocol_is_an_option_that_exists():
    """Of a name with dots: its last part stands in params.yaml, at that depth or as a comment."""
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    for deviation in LISTED:
        for name in re.findall(r"`([\w.]+)`", deviation.by_parameter):
            option = name.rpartition(".")[2]
            assert re.search(rf"\b{option}\b", text), (deviation.id, name)
