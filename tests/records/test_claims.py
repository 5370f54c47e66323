"""The registries of claims: what a wrong entry is told, and that every claim has its numbers."""

from importlib import import_module

import pytest
import yaml

from one_cell import ran
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
TEST = {"a": "0-shot accuracy {what}/1", "b": 0.5, "each": {"what": ["x"]}, "direction": "above"}
CLAIM = {"id": "first", "claim": "It holds.", "place": "§1", "test": TEST}
FILE = {"groups": "group_id", "printed": [], "claims": [CLAIM]}


def read(tmp_path, content):
    folder = tmp_path / "bigtom"
    folder.mkdir()
    text = content if isinstance(content, str) else yaml.safe_dump(content)
    (folder / "claims.yaml").write_text(text, encoding="utf-8")
    return registry.read("bigtom", tmp_path)


def refused(tmp_path, content) -> str:
    with pytest.raises(InputError, match=r"bigtom/claims\.yaml") as caught:
        read(tmp_path, content)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"place": None}, "place"),
        ({"plaice": "§1"}, "plaice"),
        ({"test": "none"}, "reason"),
        ({"test": "some"}, "test"),
        ({"test": TEST | {"a": "0-shot accuracy"}}, "test: '0-shot accuracy'"),
        ({"test": TEST | {"b": "0-shot accuracy"}}, "test: '0-shot accuracy'"),
        ({"test": TEST | {"direction": "over"}}, "test.direction"),
        ({"test": TEST | {"over": "some"}}, "test.over"),
        ({"test": TEST | {"by": "a lot"}}, "test.by"),
        ({"test": TEST | {"each": {"which": ["x"]}}}, "what"),
        ({"test": TEST | {"a": "0-shot accuracy {/1"}}, "test"),
        ({"test": TEST | {"direction": "near"}}, "by"),
        ({"test": {key: TEST[key] for key in ("a", "each", "direction")}}, "test.b"),
    ],
)
def test_a_bad_entry_is_named_with_file_id_and_field(tmp_path, change, field):
    told = refused(tmp_path, FILE | {"claims": [CLAIM, CLAIM | {"id": "second"} | change]})
    assert "claim 2, id 'second'" in told
    assert field in told
    assert "'first'" not in told


def test_an_id_stands_once(tmp_path):
    assert "stands in claim 1 too" in refused(tmp_path, FILE | {"claims": [CLAIM, CLAIM]})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("claims: [", "YAML"),
        ("- a list", "expected"),
        ({"groups": "group_id", "printed": []}, "claims"),
        (FILE | {"claims": "none"}, "claims"),
        (FILE | {"printed": [{"table": "t", "value": "v", "at": ""}]}, "printed.0.at"),
        (FILE | {"clams": []}, "did you mean 'claims'"),
    ],
)
def test_a_bad_file_is_told_what_is_wrong(tmp_path, content, said):
    assert said in refused(tmp_path, content)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"claims\.yaml"):
        registry.read("bigtom", tmp_path)


def test_an_address_fills_its_names_and_may_name_a_model(tmp_path):
    test = TEST | {"a": "GPT-4 (June): 0-shot accuracy {what}/a: b", "b": "0-shot tb_and_fb {what}"}
    (claim,) = read(tmp_path, FILE | {"claims": [CLAIM | {"test": test}]}).claims
    assert claim.test.sides("any") == [
        (
            "what x",
            ("GPT-4 (June)", "0-shot", "accuracy", "x/a: b"),
            ("any", "0-shot", "tb_and_fb", "x"),
        )
    ]


# The four files


def paper(benchmark):
    return import_module(f"tomlab.benchmarks.{benchmark}.paper").PUBLICATION


@needs_data
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_each_paper_has_at_least_twelve_claims(benchmark):
    own = registry.read(benchmark).claims
    assert len(own) >= 12
    assert sum(bool(claim.test and not claim.reason) for claim in own) >= 12


@needs_data
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_no_claim_is_about_numbers_that_are_not_there(benchmark):
    own = registry.read(benchmark)
    cells = of_paper(own, paper(benchmark))
    assert all(0 <= cell["value"] <= 1 for cell in cells.values() if cell["n"])
    for claim in (claim for claim in own.claims if claim.test):
        found = set(compared(claim.test, cells))
        if claim.reason:
            assert found == set(), claim.id
            continue
        models = claim.test.models or {model for model, *_ in cells}
        told = [[(a, b) for _, a, b in claim.test.sides(model)] for model in models]
        for number, _ in enumerate(told[0]):  # each combination is there for some model
            assert any(pairs[number] in found for pairs in told), (claim.id, number)
        if claim.test.models:  # and each model that is named, for some combination
            assert all(found.intersection(pairs) for pairs in told), claim.id


@needs_data
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_what_only_a_run_can_tell_names_methods_that_there_are(benchmark):
    face = import_module(f"tomlab.benchmarks.{benchmark}")
    for claim in (c for c in registry.read(benchmark).claims if c.test and c.reason):
        sides = [side for _, *both in claim.test.sides("any") for side in both]
        assert {side[1] for side in sides if isinstance(side, tuple)} <= {*face.METHODS}, claim.id


@needs_data
def test_a_printed_number_has_its_value_and_n_at_its_address():
    cells = of_paper(registry.read("bigtom"), paper("bigtom"))
    both = cells["dav-003", "0-shot", "tb_and_fb", "forward_belief/tb_and_fb/1"]
    assert (both["value"], both["n"]) == (0.25, 200)
    assert cells["Human", "0-shot", "accuracy", "backward_belief/false_belief/1"]["value"] == 0.725
    cells = of_paper(registry.read("fantom"), paper("fantom"))
    assert cells["ChatGPT 0613", "short-cot", "all", "inaccessible"]["value"] == 0.037
    assert cells["Human", "short", "all", "inaccessible"]["n"] == 32
    cells = of_paper(registry.read("simpletom"), paper("simpletom"))
    assert cells["GPT-4o", "ms-remind", "accuracy", "judgment"]["value"] == 0.422


@needs_data
@pytest.mark.parametrize(
    "change",
    [
        {"at": "{nothing} accuracy x"},
        {"at": "accuracy"},
        {"where": "nothing == 1"},
        {"value": "nothing"},
    ],
)
def test_rows_that_cannot_be_addressed_name_file_and_table(tmp_path, change):
    entry = {"table": "table9_percept_to_belief", "value": "accuracy", "at": "{method} accuracy x"}
    own = read(tmp_path, FILE | {"printed": [entry | change]})
    with pytest.raises(InputError, match=r"bigtom/claims\.yaml: table9_percept_to_belief"):
        of_paper(own, paper("bigtom"))
