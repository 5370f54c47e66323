"""The registries of claims: a wrong entry is named, and every claim has its numbers."""

from functools import cache
from importlib import import_module

import pandas as pd
import pytest
import yaml

from one_cell import ran
from tomlab.benchmarks.bigtom.paper import PUBLICATION
from tomlab.errors import InputError
from tomlab.paths import PUBLISHED
from tomlab.records import claims as registry

PAGE = ran(".", "06_claims", "cell-compared")
compared, of_paper = PAGE["compared"], PAGE["of_paper"]
BENCHMARKS = ["bigtom", "fantom", "omnitom", "simpletom"]
needs_data = pytest.mark.skipif(
    not (PUBLISHED / "bigtom" / "claims.yaml").is_file(),
    reason="data/published/*/claims.yaml is missing: `make data` pulls it",
)
SIDES = {"a": "0-shot accuracy {what}/1", "b": 0.5, "each": {"what": ["x"]}}
TEST = SIDES | {"direction": "above", "over": "most"}
CLAIM = {"id": "first", "claim": "It holds.", "place": "§1", "scope": "most models", "test": TEST}
FILE = {"groups": "group_id", "printed": [], "claims": [CLAIM]}


def read(tmp_path, content):
    folder = tmp_path / "bigtom"
    folder.mkdir()
    text = content if isinstance(content, str) else yaml.safe_dump(content)
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    return registry.read("bigtom", tmp_path)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"place": None}, "place"),
        ({"scope": ""}, "scope"),
        ({"plaice": "§1"}, "plaice"),
        ({"test": "none"}, "reason"),
        ({"test": TEST | {"b": "0-shot accuracy"}}, "test: '0-shot accuracy'"),
        ({"test": TEST | {"direction": "over"}}, "test.direction"),
        ({"test": TEST | {"each": {"which": ["x"]}}}, "what"),
        ({"test": TEST | {"a": "0-shot accuracy {/1"}}, "test"),
        ({"test": TEST | {"direction": "none"}}, "reason"),
        ({"test": SIDES | {"direction": "above"}}, "test.over"),
        ({"id": "first"}, "stands in claim 1 too"),
    ],
)
def test_a_bad_entry_is_named_with_file_id_and_field(tmp_path, change, field):
    second = CLAIM | {"id": "second"} | change
    with pytest.raises(InputError, match=r"bigtom/claims\.yaml") as caught:
        read(tmp_path, FILE | {"claims": [CLAIM, second]})
    message = str(caught.value)
    assert f"claim 2, id '{second['id']}'" in message
    assert field in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("claims: [", "YAML"),
        ("- a list", "expected"),
        (FILE | {"claims": "none"}, "claims"),
        (FILE | {"printed": [{"table": "t", "value": "v", "at": ""}]}, "printed.0.at"),
        (FILE | {"clams": []}, "did you mean 'claims'"),
    ],
)
def test_a_bad_file_is_named_with_its_fault(tmp_path, content, message):
    with pytest.raises(InputError, match=rf"(?s)bigtom/claims\.yaml.*{message}"):
        read(tmp_path, content)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"claims\.yaml"):
        registry.read("bigtom", tmp_path)


def test_an_address_fills_its_names_and_may_name_a_model(tmp_path):
    test = TEST | {"a": "GPT-4 (June): 0-shot accuracy {what}/a: b", "b": "0-shot tb_and_fb {what}"}
    (claim,) = read(tmp_path, FILE | {"claims": [CLAIM | {"test": test}]}).claims
    a = ("GPT-4 (June)", "0-shot", "accuracy", "x/a: b")
    b = ("any", "0-shot", "tb_and_fb", "x")
    assert claim.test.comparisons("any") == [("what x", a, b)]


# The four files


@cache
def printed(benchmark):
    """The claims on a benchmark, and its paper's numbers by their addresses."""
    paper = import_module(f"tomlab.benchmarks.{benchmark}.paper").PUBLICATION
    claims = registry.read(benchmark)
    return claims, of_paper(claims, paper)


@needs_data
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_each_test_has_its_printed_numbers_or_a_reason_and_methods_that_there_are(benchmark):
    methods = import_module(f"tomlab.benchmarks.{benchmark}").METHODS
    claims, cells = printed(benchmark)
    for cell in cells.values():
        assert 0 <= cell["value"] <= 1 or not cell["n"]
    for claim in claims.claims:
        if claim.test is None:
            continue
        comparisons = claim.test.comparisons("any")
        pairs = compared(claim.test, cells)
        if not pairs:
            assert claim.reason, claim.id
            for comparison in comparisons:
                assert comparison.a.method in methods, claim.id
                assert getattr(comparison.b, "method", comparison.a.method) in methods, claim.id
            continue
        combinations = {pair["combination"] for pair in pairs.values()}
        assert combinations == {comparison.combination for comparison in comparisons}, claim.id
        for model in claim.test.models:
            of_model = {(c.a, c.b) for c in claim.test.comparisons(model)}
            assert of_model & pairs.keys(), claim.id


WITH_INTERVAL = {
    "bigtom": {"accuracy", "tb_and_fb"},
    "fantom": set(),
    "omnitom": {"unusable"},
    "simpletom": {"accuracy"},
}


@needs_data
@pytest.mark.parametrize(("benchmark", "metrics"), WITH_INTERVAL.items())
def test_where_no_number_of_independent_answers_is_printed_no_number_has_an_interval(
    benchmark, metrics
):
    _, cells = printed(benchmark)
    table = pd.DataFrame([{**address._asdict(), **cell} for address, cell in cells.items()])
    with_interval = table[table["n"].fillna(0).gt(0) | table["ci_low"].notna()]
    assert {*with_interval.query("model != 'raters'")["metric"]} == metrics
    assert registry.PEOPLE not in {*with_interval["model"]}


@needs_data
def test_both_versions_right_is_compared_with_both_versions_right():
    claims, cells = printed("bigtom")
    n_with_people = 0
    for claim in claims.claims:
        for a, b in compared(claim.test, cells) if claim.test else ():
            if isinstance(b, float):
                continue
            assert a.metric == b.metric, claim.id
            assert "false_belief" not in f"{a.condition} {b.condition}", claim.id
            n_with_people += registry.PEOPLE in (a.model, b.model)
    assert n_with_people > 0


PRINTED = [
    ("bigtom", ("Human", "0-shot", "accuracy", "backward_belief/false_belief/1"), 0.9),
    ("bigtom", ("Human", "0-shot", "tb_and_fb", "backward_belief/tb_and_fb/1"), 0.725),
    ("bigtom", ("dav-003", "0-shot", "tb_and_fb", "forward_belief/tb_and_fb/1"), 0.25),
    ("fantom", ("ChatGPT 0613", "short-cot", "all", "inaccessible"), 0.037),
    ("fantom", ("Human", "short", "all", "inaccessible"), 0.875),
    ("simpletom", ("GPT-4o", "ms-remind", "accuracy", "judgment"), 0.422),
]


@needs_data
@pytest.mark.parametrize(("benchmark", "address", "value"), PRINTED)
def test_a_printed_number_stands_at_its_address(benchmark, address, value):
    _, cells = printed(benchmark)
    assert cells[address]["value"] == value


@needs_data
@pytest.mark.parametrize(
    "change",
    [
        {"at": "{nothing} accuracy x"},
        {"at": "accuracy"},
        {"where": "nothing == 1"},
        {"value": "no"},
    ],
)
def test_rows_that_cannot_be_addressed_name_file_and_table(tmp_path, change):
    entry = {"table": "table9_percept_to_belief", "value": "accuracy", "at": "{method} accuracy x"}
    claims = read(tmp_path, FILE | {"printed": [entry | change]})
    with pytest.raises(InputError, match=r"bigtom/claims\.yaml: table9_percept_to_belief"):
        of_paper(claims, PUBLICATION)
