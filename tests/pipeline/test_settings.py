"""`params.yaml` is checked as a whole: nothing that is misspelt or out of range gets through."""

import copy
import re
from pathlib import Path

import pytest
import yaml
from ruamel.yaml import YAML

from tomlab.errors import InputError
from tomlab.paths import PARAMS
from tomlab.pipeline import settings

RIGHT = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))


def changed(tmp_path: Path, change: str, value: object) -> Path:
    """The file of parameters with another value; dots in `change` lead into sections."""
    content = yaml.safe_load(PARAMS.read_text(encoding="utf-8"))
    *sections, name = change.split("/")
    part = content
    for each in sections:
        part = part[each]
    part[name] = value
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_the_projects_own_file_is_right():
    assert settings.check() == RIGHT


@pytest.mark.parametrize(
    ("change", "limits"),
    [
        ("fantom/evaluation/max_tokens", {"short": None, "full": 512}),
        ("models/gpt-4o/answer_tokens", {"fantom": {"short": None, "full": 512}}),
    ],
)
def test_an_answer_may_have_no_limit(change, limits, tmp_path):
    read = settings.check(changed(tmp_path, change, limits))
    for name in change.split("/"):
        read = read[name]
    assert read == limits


def test_a_model_that_is_asked_nothing_of_a_benchmark_is_refused(tmp_path):
    groups = {"fantom": dict.fromkeys(RIGHT["fantom"]["evaluation"]["methods"], 0)}
    content = settings.check(changed(tmp_path, "models/smollm2-135m/groups", groups))
    with pytest.raises(InputError, match=r"models.smollm2-135m.groups.fantom: all are 0"):
        settings.read_by_stages(content)


# One wrong value of each kind of check: each section, numbers and their bounds, names of models,
# methods and benchmarks, files and folders, and what may stand in a name or an address.
WRONG = [
    ("fresh/models", ["gpt-5x"], "fresh: .*models.0: .*'gpt-5x'"),
    ("fresh/question", 5, "did you mean 'questions'"),
    # Single items can't be counted out.
    ("bigtom/evaluation/items", 10, "items: no such option; .*groups.*whole templates"),
    ("run/samples", 100_000_000, "samples: found 100000000, expected less than or equal to 1000"),
    ("models/gpt-4o/groups", {"fantom": {"shrt": 1}}, "groups.fantom: no method 'shrt'"),
    ("models/gpt-4o/temperature", -1, "gpt-4o: .*temperature: found -1, expected 0 or more"),
    ("models/gpt-4o/base_url", "https://me:secret@host/v1", "no key or password"),
    ("models/gpt-4o/base_url", "https://host/v1?key=abc", "no key or password"),
    ("models/gpt-4o/provider", "opena", "provider|tag"),
    ("models/gpt 4", {"provider": "openai", "model": "x"}, "name: .*letters"),
    (
        "models/gpt-4o/variants",
        {"bigtom": {"2-shot": 1}},
        "gpt-4o.variants.bigtom: no method '2-sh",
    ),
    ("bigtom/generation/writers", ["authord"], "bigtom: .*generation.writers.0: .*'authored'"),
    ("bigtom/generation/writers", ["llm", "llm"], "none of them twice"),
    ("bigtom/evaluation/methods", ["0-shto"], "methods: no method '0-shto'; there are: 0-shot"),
    ("fantom/judges/labels", "no.csv", "labels: .*expected a file or folder that is there"),
    ("fantom/judges/embedders", ["maxilm"], "embedders.0: found 'maxilm', expected a name"),
    (
        "omnitom/judges/llm_tokens_of",
        {"smolm2-135m": 120},
        "omnitom: .*llm_tokens_of.smolm2-135m.*expected a name under `models`: .*minilm",
    ),
    ("omnitom/judges/scoring_judge", "L4", "found 'L4', expected best or one .*'embedding', 'L3'"),
    ("omnitom/evaluation/methods", ["linked"], "has `linked`, expected filtering.tombench"),
    ("run/orders_as", "paperlike", "orders_as.*'paperlike'.*'ours' or 'release'"),
    ("run/answers", ["data/answer"], "answers.0: .*data/answer', expected a folder that is there"),
    ("run/wordings", ["data/wordings/reworded"] * 2, "found the names ..reworded.. twice"),
    ("run/wordings", ["data/wordings"], "no section or benchmark 'reworded'; there are"),
    ("run/models", ["random", "random"], "none of them twice"),
    ("run/models", ["m;touch pwned"], "models.0: .*letters, digits, - and _ alone"),
    ("run/models", ["gpt-5"], "run: .*models.0: found 'gpt-5', expected a name under `models`:"),
    ("run/benchmarks", {}, "benchmarks: .*at least 1"),
    (
        "run/benchmarks/bigtom/source",
        "data/none.csv",
        "source: found 'data/none.csv', expected a file",
    ),
    ("run/prompts", {"bigtom/instruction": "no.txt"}, "instruction: .*expected a file"),
    ("run/prompts", {"bigtom/instructions": "README.md"}, "no prompt 'bigtom/instructions'"),
    ("limits/max_cost_usd", "20", "max_cost_usd: .*number"),
    ("bigtoms", {}, "no section or benchmark 'bigtoms'"),
    ("run", None, "run: 1 problem"),
]


@pytest.mark.parametrize(("change", "value", "message"), WRONG, ids=lambda part: str(part)[:40])
def test_wrong_value_is_named_with_what_was_expected(change, value, message, tmp_path):
    with pytest.raises(InputError) as caught:
        settings.check(changed(tmp_path, change, value))
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)


def test_missing_keys_and_prices_of_the_runs_models_are_told_before_anything_is_asked(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    path = changed(tmp_path, "run/judge", "bare")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["models"]["bare"] = {"provider": "openai", "model": "x"}
    assert list(settings.unready(RIGHT, settings.read_by_stages(RIGHT))) == []
    price, key = settings.unready(content, settings.read_by_stages(content))
    assert re.match(r"models\.bare: .*max_cost_usd.* no price", price)
    assert re.match(r"models\.bare: .*OPENAI_API_KEY is not set", key)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"run: {seed: 0}\nrun: {seed: 1}\n", 'duplicate key "run" in line 2'),
        (b"run: {seed: 0, seed: 1}\n", 'duplicate key "seed" in line 1'),
        ("run: {judge: b\xe4r}\n".encode("latin-1"), "cannot be read as UTF-8"),
        (b"run: [\n", "not YAML"),
        (b"- run\n", "expected sections"),
    ],
)
def test_file_that_cannot_be_read_is_told(content, message, tmp_path):
    path = tmp_path / "params.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        settings.check(path)


NAMES = ("1e3", "017", "on", "null", "12:30")


@pytest.mark.parametrize(("name", "quote"), [*((name, "") for name in NAMES), ("1e3", '"')])
def test_a_name_that_yaml_may_take_for_something_else_is_a_text_or_refused(name, quote, tmp_path):
    """Names are read as DVC reads them, by YAML 1.2."""
    given = f"{quote}{name}{quote}"
    text = PARAMS.read_text(encoding="utf-8")
    text = text.replace("    - smollm2-135m\n", f"    - smollm2-135m\n    - {given}\n", 1)
    entry = f"models:\n  {given}: {{provider: baseline, model: random}}\n  smollm2-135m:"
    text = text.replace("models:\n  smollm2-135m:", entry, 1)
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    is_name = re.fullmatch("[A-Za-z0-9_-]+", name) is not None
    if is_name and YAML(typ="safe").load(given) == name:
        assert settings.check(path)["run"]["models"][1] == name
        return
    with pytest.raises(InputError, match=r"params\.yaml"):
        settings.check(path)


def test_settings_that_did_not_change_stay_for_a_run_that_reads_them(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "SETTINGS", tmp_path)
    settings.write({"5_figures/bigtom": {"n": 1}, "5_figures/fantom": {"n": 1}, "6_fresh/x": {}})
    same = (tmp_path / "5_figures" / "bigtom.json").stat()
    settings.write({"5_figures/bigtom": {"n": 1}, "5_figures/fantom": {"n": 2}})
    written = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert written == {"5_figures/bigtom.json", "5_figures/fantom.json"}
    assert (tmp_path / "5_figures" / "bigtom.json").stat() == same
    assert '"n": 2' in (tmp_path / "5_figures" / "fantom.json").read_text()


def test_figures_read_how_answers_were_read_and_fantom_may_have_an_encoder_of_its_own():
    content = copy.deepcopy(RIGHT)
    content["bigtom"]["evaluation"]["answers_without_letter"] = "grader"
    content["fantom"]["evaluation"]["embedder"] = "all-roberta-large-v1"
    read = settings.read_by_stages(content)
    figures = read["5_figures/bigtom"]["parameters"]
    assert figures["answers_without_letter"] == "grader"
    model = content["run"]["models"][0]
    of_fantom = read[f"3_evaluation/fantom-{model}"]["parameters"]
    of_omnitom = read[f"3_evaluation/omnitom-{model}"]["parameters"]
    assert of_fantom["embedder"] == "all-roberta-large-v1"
    assert of_omnitom["embedder"] == content["run"]["embedder"]


def test_pages_on_fresh_items_read_their_own_prompts_and_the_file_of_a_user(tmp_path):
    content = copy.deepcopy(RIGHT)
    own = str(tmp_path / "instruction.txt")
    Path(own).write_text("Choose A or B.\n", encoding="utf-8")
    content["run"]["prompts"] = {"fresh/instruction": own, "bigtom/instruction": own}
    content["fresh"]["source"] = str(tmp_path / "fresh.jsonl")
    Path(content["fresh"]["source"]).write_text("", encoding="utf-8")
    read = settings.read_by_stages(content)
    for page in ("models", "search", "changes"):
        assert read[f"6_fresh/{page}"]["parameters"]["prompts"] == {"fresh/instruction": own}
    assert set(read["6_fresh/models"]["files"]) == {own, content["fresh"]["source"]}
