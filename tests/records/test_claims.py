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


def refused(tmp_path, content) -> str:
    with pytest.raises(InputError, match=r"bigtom/claims\.yaml") as caught:
        read(tmp_path, content)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"place": None}, "place"),
        ({"scope": None}, "scope"),
        ({"scope": ""}, "scope"),
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
        ({"test": TEST | {"direction": "none"}}, "reason"),
        ({"test": {key: TEST[key] for key in TEST if key != "b"}}, "test.b"),
        ({"test": {key: TEST[key] for key in TEST if key != "over"}}, "test.over"),
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
    assert claim.test.comparisons("any") == [
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
def test_each_claim_has_its_place_and_scope_and_a_reason_where_it_has_no_verdict(benchmark):
    claims = registry.read(benchmark).claims
    assert len(claims) >= 12
    for claim in claims:
        assert claim.place.strip() and claim.scope.strip(), claim.id
        if claim.test is None or claim.test.direction == "none":
            assert claim.reason.strip(), claim.id


@needs_data
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_each_test_finds_its_printed_numbers_or_says_why_not(benchmark):
    claims = registry.read(benchmark)
    cells = of_paper(claims, paper(benchmark))
    assert all(0 <= cell["value"] <= 1 for cell in cells.values() if cell["n"])
    for claim in claims.claims:
        if claim.test is None:
            continue
        pairs = compared(claim.test, cells)
        if not pairs:
            assert claim.reason, claim.id
            continue
        models = claim.test.models or {at.model for at in cells}
        by_model = {model: claim.test.comparisons(model) for model in models}
        combinations = {pair["combination"] for pair in pairs.values()}
        expected = {comparison.combination for comparison in next(iter(by_model.values()))}
        assert combinations == expected, claim.id
        for model in claim.test.models:  # each model that is named has a number
            assert any((c.a, c.b) in pairs for c in by_model[model]), (claim.id, model)


@needs_data
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_what_only_a_run_can_tell_names_methods_that_there_are(benchmark):
    face = import_module(f"tomlab.benchmarks.{benchmark}")
    claims = registry.read(benchmark)
    cells = of_paper(claims, paper(benchmark))
    for claim in claims.claims:
        if claim.test is None or compared(claim.test, cells):
            continue
        for comparison in claim.test.comparisons("any"):
            sides = [side for side in comparison[1:] if not isinstance(side, float)]
            assert {side.method for side in sides} <= {*face.METHODS}, claim.id


@needs_data
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_where_no_number_of_independent_answers_is_printed_no_number_has_an_interval(benchmark):
    cells = of_paper(registry.read(benchmark), paper(benchmark))
    has_interval = {
        at: bool(cell["n"]) or cell["ci_low"] == cell["ci_low"] for at, cell in cells.items()
    }
    with_interval = {at.metric for at in cells if has_interval[at] and at.model != "raters"}
    expected = {
        "bigtom": {"accuracy", "tb_and_fb"},
        "fantom": set(),
        "omnitom": {"unusable"},
        "simpletom": {"accuracy"},
    }
    assert with_interval == expected[benchmark]
    assert not any(has_interval[at] for at in cells if at.model == registry.PEOPLE)


@needs_data
def test_both_versions_right_is_compared_with_both_versions_right():
    claims = registry.read("bigtom")
    cells = of_paper(claims, paper("bigtom"))
    n_with_people = 0
    for claim in (claim for claim in claims.claims if claim.test):
        for a, b in compared(claim.test, cells):
            if isinstance(b, float):
                continue
            assert a.metric == b.metric, claim.id
            assert "false_belief" not in f"{a.condition} {b.condition}", claim.id
            n_with_people += registry.PEOPLE in (a.model, b.model)
    assert n_with_people > 0


@needs_data
def test_people_have_one_score_for_a_version_and_another_for_both():
    cells = of_paper(registry.read("bigtom"), paper("bigtom"))
    single = cells["Human", "0-shot", "accuracy", "backward_belief/false_belief/1"]
    both = cells["Human", "0-shot", "tb_and_fb", "backward_belief/tb_and_fb/1"]
    assert (single["value"], both["value"]) == (0.9, 0.725)


@needs_data
def test_a_printed_number_has_its_value_and_n_at_its_address():
    cells = of_paper(registry.read("bigtom"), paper("bigtom"))
    both = cells["dav-003", "0-shot", "tb_and_fb", "forward_belief/tb_and_fb/1"]
    assert (both["value"], both["n"]) == (0.25, 200)
    cells = of_paper(registry.read("fantom"), paper("fantom"))
    assert cells["ChatGPT 0613", "short-cot", "all", "inaccessible"]["value"] == 0.037
    assert cells["Human", "short", "all", "inaccessible"]["value"] == 0.875
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
